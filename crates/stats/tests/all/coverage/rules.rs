//! The rules of comparison as reports apply them, and how often they are wrong.

use tolok_stats::{Difference, Level, Naming, Rng, Sample, Twin, TwoWay, holm};

use super::noise::{Noise, SPREAD, sensitivity};

/// Smaller differences are never named.
const SMALLEST_EFFECT: f64 = 0.03;

/// How the difference of every two cases is estimated.
pub trait Rule {
    fn differences(rows: &[Vec<f64>]) -> Vec<((usize, usize), Difference)>;
}

/// All cases in one fit.
pub struct Together;

/// A paired t test for every two cases.
pub struct OnePairAtATime;

fn pairs(cases: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..cases).flat_map(move |a| (a + 1..cases).map(move |b| (a, b)))
}

impl Rule for Together {
    fn differences(rows: &[Vec<f64>]) -> Vec<((usize, usize), Difference)> {
        let known: Vec<Vec<Option<f64>>> = rows.iter().map(|row| row.iter().copied().map(Some).collect()).collect();
        let fitted = TwoWay::of(&known).unwrap();
        pairs(rows.len()).map(|(a, b)| ((a, b), fitted.difference(a, b).unwrap())).collect()
    }
}

impl Rule for OnePairAtATime {
    fn differences(rows: &[Vec<f64>]) -> Vec<((usize, usize), Difference)> {
        let of = |(a, b): (usize, usize)| {
            let differences: Vec<f64> = rows[a].iter().zip(&rows[b]).map(|(a, b)| a - b).collect();
            let sample = Sample::new(&differences).unwrap();
            let n = sample.len() as f64;
            let standard_error = sample.standard_deviation().unwrap() / n.sqrt();
            ((a, b), Difference { value: sample.mean(), standard_error, df: n - 1.0 })
        };
        pairs(rows.len()).map(of).collect()
    }
}

/// Results over many scenarios of equal cases.
#[derive(Debug, Clone, Copy)]
pub struct Verdicts {
    /// The share of scenarios in which any two were told apart.
    pub false_verdicts: f64,
    /// The share of 95% intervals that contain 0, over all pairs.
    pub covered: f64,
    /// The same for the pair with the lowest coverage.
    pub covered_worst: f64,
}

fn share(number: usize, of: u32) -> f64 {
    number as f64 / f64::from(of)
}

/// Whether each pair is told apart: by its p after Holm's adjustment, and by its size.
fn told(differences: &[Difference]) -> Vec<bool> {
    let p: Vec<f64> = differences.iter().map(|it| it.p(0.0).unwrap()).collect();
    let adjusted = holm(&p);
    adjusted.iter().zip(differences).map(|(p, it)| *p < 0.05 && it.value.abs() >= SMALLEST_EFFECT.ln_1p()).collect()
}

pub fn verdicts<R: Rule>(noise: Noise, cases: usize, blocks: usize, repetitions: u32) -> Verdicts {
    let mut rng = Rng::seeded(1_000 + blocks as u64);
    let mut covered = vec![0usize; cases * (cases - 1) / 2];
    let mut wrong = 0;
    for _ in 0..repetitions {
        let found: Vec<Difference> =
            R::differences(&noise.study(cases, blocks, &mut rng)).into_iter().map(|(_, it)| it).collect();
        wrong += usize::from(told(&found).contains(&true));
        found.iter().zip(&mut covered).for_each(|(it, covered)| {
            *covered += usize::from(it.interval(Level::P95).contains(0.0));
        });
    }
    let shares = || covered.iter().map(|number| share(*number, repetitions));
    Verdicts {
        false_verdicts: share(wrong, repetitions),
        covered: shares().sum::<f64>() / covered.len() as f64,
        covered_worst: shares().fold(1.0, f64::min),
    }
}

/// How often the verdicts name a case that is above the others by two standard deviations of a log ratio within a
/// block.
pub fn power<R: Rule>(cases: usize, blocks: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(2_000 + blocks as u64);
    let mut found = 0;
    for _ in 0..repetitions {
        let mut rows = Noise::Lognormal.study(cases, blocks, &mut rng);
        rows[0].iter_mut().for_each(|value| *value += 2.0 * std::f64::consts::SQRT_2 * SPREAD);
        let all = R::differences(&rows);
        let differences: Vec<Difference> = all.iter().map(|(_, it)| *it).collect();
        // Without Holm's steps, which other true differences make easier.
        let level = 0.05 / all.len() as f64;
        found += all.iter().zip(differences).filter(|(((a, _), _), it)| *a == 0 && it.p(0.0).unwrap() < level).count();
    }
    found as f64 / f64::from(repetitions) / (cases - 1) as f64
}

/// How often any other case is called equivalent to the first, which is faster by exactly the margin. The noise is
/// reduced to a tenth: with more, equivalence is never found.
pub fn false_equivalence(noise: Noise, cases: usize, blocks: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(3_000 + blocks as u64);
    let margin = SMALLEST_EFFECT.ln_1p();
    let wrong = (0..repetitions).filter(|_| {
        let mut rows = noise.study(cases, blocks, &mut rng);
        rows.iter_mut().flatten().for_each(|value| *value *= 0.1);
        rows[0].iter_mut().for_each(|value| *value += margin);
        let all = Together::differences(&rows);
        let p: Vec<f64> = all.iter().map(|(_, it)| it.p_equivalence(margin).unwrap()).collect();
        all.iter().zip(holm(&p)).any(|(((a, _), _), p)| *a == 0 && p < 0.05)
    });
    share(wrong.count(), repetitions)
}

/// Results over many scenarios in which each block enters one case twice, all in turn.
#[derive(Debug, Clone, Copy)]
pub struct Checked {
    /// The share of scenarios in which any two were told apart.
    pub told: f64,
    /// The share of pairs with the first case that were told apart, at Bonferroni's level.
    pub told_of_first: f64,
    /// The share of scenarios in which the check widened intervals.
    pub widened: f64,
    /// The share of scenarios in which the check told equals apart.
    pub told_from_itself: f64,
}

/// Equal cases, except that the first is above the others by this much.
pub fn checked(noise: Noise, cases: usize, blocks: usize, above: f64, repetitions: u32) -> Checked {
    let mut rng = Rng::seeded(10_000 + blocks as u64);
    // The rows of the second halves follow the cases.
    let sensitivities: Vec<f64> = (0..2 * cases).map(|row| sensitivity(row % cases, cases)).collect();
    let (mut told_in, mut told_of_first, mut widened, mut told_from_itself) = (0, 0, 0, 0);
    for _ in 0..repetitions {
        let mut rows = noise.study_of(&sensitivities, blocks, &mut rng);
        [0, cases].iter().for_each(|row| rows[*row].iter_mut().for_each(|value| *value += above));
        let mut turns: Vec<usize> = (0..cases).collect();
        (1..cases).rev().for_each(|at| turns.swap(at, rng.below(at as u64 + 1) as usize));
        let known: Vec<Vec<Option<f64>>> =
            rows[..cases].iter().map(|row| row.iter().copied().map(Some).collect()).collect();
        let fitted = TwoWay::of(&known).unwrap();
        let pair = |block: usize| {
            let case = turns[block % cases];
            Twin { case, difference: rows[case + cases][block] - rows[case][block] }
        };
        let check = fitted.twins(&(0..blocks).map(pair).collect::<Vec<_>>()).unwrap();
        let wider = |it: Difference| Difference { standard_error: it.standard_error * check.widening(), ..it };
        let all: Vec<((usize, usize), Difference)> =
            pairs(cases).map(|(a, b)| ((a, b), wider(fitted.difference(a, b).unwrap()))).collect();
        let differs_from_itself = told(&[check.mean])[0];
        let differences: Vec<Difference> = all.iter().map(|(_, it)| *it).collect();
        let is_believed = |it: &Difference| !differs_from_itself || it.value.abs() > check.mean.value.abs();
        told_in += usize::from(told(&differences).iter().zip(&differences).any(|(told, it)| *told && is_believed(it)));
        let level = 0.05 / all.len() as f64;
        told_of_first += all.iter().filter(|((a, _), it)| *a == 0 && it.p(0.0).unwrap() < level).count();
        widened += usize::from(check.widening() > 1.0);
        told_from_itself += usize::from(differs_from_itself);
    }
    let of_first = told_of_first as f64 / f64::from(repetitions) / (cases - 1) as f64;
    let [told, widened, told_from_itself] = [told_in, widened, told_from_itself].map(|it| share(it, repetitions));
    Checked { told, told_of_first: of_first, widened, told_from_itself }
}

/// How often this many slices, with this noise and of six cases in turn, make a machine seem to have two speeds.
pub fn said_to_have_two_speeds(noise: Noise, launches: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(11_000 + launches as u64);
    let said = (0..repetitions).filter(|_| {
        let pieces: Vec<Vec<f64>> = (0..launches).map(|_| noise.slices(6, 48, &mut rng)).collect();
        tolok_stats::states(&pieces).is_some()
    });
    share(said.count(), repetitions)
}

/// How often a subject that was entered twice among six differs from itself. The pair is judged on its own.
pub fn aa_false(noise: Noise, blocks: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(4_000 + blocks as u64);
    let mut sensitivities: Vec<f64> = (0..6).map(|case| sensitivity(case, 6)).collect();
    sensitivities.push(sensitivities[2]);
    let wrong = (0..repetitions).filter(|_| {
        let rows = noise.study_of(&sensitivities, blocks, &mut rng);
        let all = Together::differences(&rows);
        let (_, pair) = all.iter().find(|(places, _)| *places == (2, 6)).unwrap();
        told(&[*pair])[0]
    });
    share(wrong.count(), repetitions)
}

/// How often the intervals of the pairs cover in a run that ends once all half widths are small enough.
pub fn covered_when_stopped(noise: Noise, until: f64, at_least: usize, at_most: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(5_000 + at_least as u64);
    let mut covered = 0;
    for _ in 0..repetitions {
        let rows = noise.study(6, at_most, &mut rng);
        let after = |blocks: usize| -> Vec<tolok_stats::Interval> {
            let part: Vec<Vec<f64>> = rows.iter().map(|row| row[..blocks].to_vec()).collect();
            Together::differences(&part).iter().map(|(_, it)| it.interval(Level::P95)).collect()
        };
        let is_sure = |it: &tolok_stats::Interval| ((it.high - it.low) / 2.0).exp_m1() <= until;
        let ended = (at_least..at_most).find(|blocks| after(*blocks).iter().all(is_sure)).unwrap_or(at_most);
        covered += after(ended).iter().filter(|it| it.contains(0.0)).count();
    }
    covered as f64 / f64::from(repetitions) / 15.0
}

/// How often the best of slightly different cases is not recommended. Recommended are those before the first that is
/// significantly behind.
pub fn without_the_best(noise: Noise, cases: usize, blocks: usize, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(6_000 + blocks as u64);
    let missing = (0..repetitions).filter(|_| {
        let mut rows = noise.study(cases, blocks, &mut rng);
        // The best is any of them. The others are behind by up to one standard deviation.
        let best = rng.below(cases as u64) as usize;
        for (_, row) in rows.iter_mut().enumerate().filter(|(case, _)| *case != best) {
            let behind = SPREAD * (0.2 + 0.8 * rng.unit());
            row.iter_mut().for_each(|value| *value -= behind);
        }
        let all = Together::differences(&rows);
        let apart = told(&all.iter().map(|(_, it)| *it).collect::<Vec<Difference>>());
        let mean = |case: usize| rows[case].iter().sum::<f64>() / blocks as f64;
        let mut order: Vec<usize> = (0..cases).collect();
        order.sort_by(|a, b| mean(*b).total_cmp(&mean(*a)));
        let is_behind = |case: usize| {
            all.iter()
                .zip(&apart)
                .any(|(((a, b), it), told)| *told && ((*a == case && it.value < 0.0) || (*b == case && it.value > 0.0)))
        };
        !order.iter().take_while(|case| !is_behind(**case)).any(|case| *case == best)
    });
    share(missing.count(), repetitions)
}

/// How many blocks the power note of the median run requests to name twice the smallest effect in four of five runs.
pub fn blocks_by_note(noise: Noise, cases: usize, blocks: usize, repetitions: u32) -> usize {
    let mut rng = Rng::seeded(7_000 + blocks as u64);
    let mut asked: Vec<u32> = (0..repetitions)
        .map(|_| {
            let all = Together::differences(&noise.study(cases, blocks, &mut rng));
            let naming = |it: &Difference| Naming {
                sd: it.standard_error * (blocks as f64).sqrt(),
                df: it.df,
                blocks: blocks as u32,
                level: Level::P95,
                comparisons: all.len(),
                least_size: SMALLEST_EFFECT.ln_1p(),
            };
            let mut of_pairs: Vec<Naming> = all.iter().map(|(_, it)| naming(it)).collect();
            of_pairs.sort_by(|a, b| a.sd.total_cmp(&b.sd));
            let needed = of_pairs[of_pairs.len() / 2].blocks_needed((2.0 * SMALLEST_EFFECT).ln_1p(), 0.8);
            needed.unwrap_or(10_000)
        })
        .collect();
    asked.sort_unstable();
    asked[asked.len() / 2] as usize
}

/// How often the verdicts tell a middle case from one that is faster by `effect`.
pub fn named(noise: Noise, cases: usize, blocks: usize, effect: f64, repetitions: u32) -> f64 {
    let mut rng = Rng::seeded(8_000 + blocks as u64);
    let (a, b) = (cases / 2 - 1, cases / 2);
    let found = (0..repetitions).filter(|_| {
        let mut rows = noise.study(cases, blocks, &mut rng);
        rows[a].iter_mut().for_each(|value| *value += effect.ln_1p());
        let all = Together::differences(&rows);
        let p: Vec<f64> = all.iter().map(|(_, it)| it.p(0.0).unwrap()).collect();
        let is_named = |((places, it), p): (&((usize, usize), Difference), &f64)| {
            *places == (a, b) && *p < 0.05 && it.value >= SMALLEST_EFFECT.ln_1p()
        };
        all.iter().zip(&holm(&p)).any(is_named)
    });
    share(found.count(), repetitions)
}

/// For named differences: how often the observed value, and the corrected one, exceed the truth. The truth is about the
/// noise of a ratio, which few blocks seldom name.
pub fn too_large_if_named(cases: usize, blocks: usize, repetitions: u32) -> [f64; 2] {
    let mut rng = Rng::seeded(9_000 + blocks as u64);
    let truth = 1.2 * std::f64::consts::SQRT_2 * SPREAD;
    let (mut named, mut seen_too_large, mut left_too_large) = (0usize, 0usize, 0usize);
    for _ in 0..repetitions {
        let mut rows = Noise::Lognormal.study(cases, blocks, &mut rng);
        rows[0].iter_mut().for_each(|value| *value += truth);
        let all = Together::differences(&rows);
        let level = Level::P95.simultaneous(all.len());
        for (_, it) in all.iter().filter(|((a, _), _)| *a == 0) {
            let interval = it.interval(level);
            let threshold = ((interval.high - interval.low) / 2.0).max(SMALLEST_EFFECT.ln_1p());
            if it.value > threshold {
                named += 1;
                seen_too_large += usize::from(it.value > truth);
                left_too_large += usize::from(it.given_noticed(threshold) > truth);
            }
        }
    }
    [seen_too_large, left_too_large].map(|number| number as f64 / named as f64)
}
