//! The streams are frozen. The first words come from the authors' C program. An independent program computed the other figures,
//! before this generator replaced the four generators of the crates.

use tolok_rng::SplitMix64;

#[test]
fn words_are_the_published_ones() {
    let mut random = SplitMix64::new(1_234_567);
    let published =
        [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821];
    assert_eq!(published.map(|_| random.next_u64()), published);
}

#[test]
fn each_name_has_a_stream_of_its_own() {
    let first = |seed, name| SplitMix64::stream(seed, [name]).next_u64();
    assert_eq!((first(2026, 3), first(0, 0)), (4516914617432751806, 12035550249420947055));
    assert_eq!(SplitMix64::stream(2026, [3, 1]).next_u64(), 17765089181538783033);
}

#[test]
fn integers_below_a_bound_are_drawn_as_ever() {
    let mut random = SplitMix64::new(42);
    let drawn = [1, 2, 10, 1000, 1_000_000_000_000, 3 << 62].map(|bound| random.below(bound));
    assert_eq!(drawn, [0, 1, 8, 764, 786141963250, 4028864712777624925]);
}

#[test]
fn a_shuffle_gives_the_same_order_as_ever() {
    let mut items: Vec<u32> = (0..12).collect();
    SplitMix64::new(2026).shuffle(&mut items);
    assert_eq!(items, [3, 11, 9, 5, 10, 8, 2, 1, 0, 4, 6, 7]);
}

#[test]
fn units_lie_below_one_and_are_drawn_as_ever() {
    let mut random = SplitMix64::stream(2026, [1]);
    assert_eq!([0; 3].map(|_| random.unit()), [0.7584405759669515, 0.7399799275076081, 0.7041398935346015]);
    let units: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
    assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
    let mean = units.iter().sum::<f64>() / units.len() as f64;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}
