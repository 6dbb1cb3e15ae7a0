//! Tiers: letters that show which cases of a scenario were told apart, and which were not.
//!
//! A table of ranks claims an order of all cases, and the verdicts of all pairs are too many to read. A *compact letter display*
//! expresses those verdicts in a letter or two per row: two cases share a letter exactly if neither is faster by its verdict.
//! That relation is not transitive (the first may differ from the third, and the second from neither), so a case can have several
//! letters. They come from the insert-and-absorb algorithm of H.-P. Piepho, "An algorithm for a letter-based representation of
//! all-pairwise comparisons", Journal of Computational and Graphical Statistics 13(2), 2004.

/// A letter of the display: for each case, whether it has it.
type Letter = Vec<bool>;

/// The letters of `cases` cases, in order. `apart` has the pairs that were told apart, by their indexes.
///
/// The first case has an `a`, and further letters follow. `A` comes after `z`, and `a2` after `Z`.
pub(crate) fn tiers(cases: usize, apart: &[(usize, usize)]) -> Vec<String> {
    let mut letters: Vec<Letter> = vec![vec![true; cases]];
    for &(a, b) in apart {
        letters = split(letters, a, b);
    }
    // The letter whose cases are higher in the table comes first.
    letters.sort_by(|left, right| right.cmp(left));
    let words = |case: usize| letters.iter().enumerate().filter(move |(_, letter)| letter[case]).map(|(n, _)| name(n));
    (0..cases).map(|case| words(case).collect()).collect()
}

/// Splits each letter that both have in two, one without the first case and one without the second. A part stays only if it is
/// not within another letter. A letter that was not split cannot be within a part, because it was not within the original.
fn split(letters: Vec<Letter>, a: usize, b: usize) -> Vec<Letter> {
    let (split, mut found): (Vec<Letter>, Vec<Letter>) = letters.into_iter().partition(|letter| letter[a] && letter[b]);
    let is_within = |inner: &Letter, outer: &Letter| inner.iter().zip(outer).all(|(inner, outer)| *outer || !inner);
    let kept = found.len();
    for left_out in [a, b] {
        // Two parts without the same case are never within each other. Neither are two parts if each has a case that the other
        // lacks.
        for letter in &split {
            let mut part = letter.clone();
            part[left_out] = false;
            if !found[..kept].iter().any(|other| is_within(&part, other)) {
                found.push(part);
            }
        }
    }
    found
}

/// `a` to `z`, `A` to `Z`, and then the same with a number, so letters can be written next to each other.
fn name(number: usize) -> String {
    let alphabet = || ('a'..='z').chain('A'..='Z');
    let (round, place) = (number / alphabet().count(), number % alphabet().count());
    let letter: String = alphabet().nth(place).into_iter().collect();
    if round == 0 { letter } else { format!("{letter}{}", round + 1) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The separate letters of a case: `ab2` gives `a` and `b2`.
    fn single(letters: &str) -> BTreeSet<String> {
        let mut found: Vec<String> = Vec::new();
        for sign in letters.chars() {
            match found.last_mut().filter(|_| sign.is_ascii_digit()) {
                Some(last) => last.push(sign),
                None => found.push(sign.to_string()),
            }
        }
        found.into_iter().collect()
    }

    fn share(a: &str, b: &str) -> bool {
        !single(a).is_disjoint(&single(b))
    }

    #[test]
    fn groups_that_exclude_each_other_have_a_letter_each() {
        let apart = [(0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (1, 4), (2, 4), (3, 4)];
        assert_eq!(tiers(5, &apart), ["a", "a", "b", "b", "c"]);
    }

    #[test]
    fn cases_that_are_not_told_apart_share_one_tier() {
        assert_eq!(tiers(3, &[]), ["a", "a", "a"]);
        assert_eq!(tiers(1, &[]), ["a"]);
        assert_eq!(tiers(0, &[]), Vec::<String>::new());
    }

    /// The second does not differ from either neighbour, although these differ from each other.
    #[test]
    fn not_being_told_apart_is_not_transitive() {
        assert_eq!(tiers(3, &[(0, 2)]), ["a", "ab", "b"]);
        assert_eq!(tiers(4, &[(0, 2), (0, 3), (1, 3)]), ["a", "ab", "bc", "c"]);
    }

    /// The wide interval of the last case reaches the first, while the two in between differ from the first.
    #[test]
    fn a_case_of_wide_intervals_shares_letters_across_the_table() {
        assert_eq!(tiers(4, &[(0, 1), (0, 2)]), ["a", "b", "b", "ab"]);
    }

    #[test]
    fn every_letter_is_a_largest_set_that_was_not_told_apart() {
        let apart = [(0, 3), (0, 4), (1, 4), (2, 4)];
        assert_eq!(tiers(5, &apart), ["a", "ab", "ab", "bc", "c"]);
    }

    #[test]
    fn more_than_an_alphabet_of_tiers_stays_readable() {
        let all = |cases: usize| -> Vec<(usize, usize)> {
            (0..cases).flat_map(|a| (a + 1..cases).map(move |b| (a, b))).collect()
        };
        let found = tiers(60, &all(60));
        assert_eq!([25, 26, 51, 52, 59].map(|place| found[place].as_str()), ["z", "A", "Z", "a2", "h2"]);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 60);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn two_cases_share_a_letter_exactly_if_they_were_not_told_apart(
            (cases, told) in (2usize..9).prop_flat_map(|cases| {
                (Just(cases), prop::collection::vec(any::<bool>(), cases * (cases - 1) / 2))
            })
        ) {
            let pairs = (0..cases).flat_map(|a| (a + 1..cases).map(move |b| (a, b)));
            let apart: Vec<(usize, usize)> = pairs.clone().zip(&told).filter(|(_, told)| **told).map(|it| it.0).collect();
            let letters = tiers(cases, &apart);
            for (a, b) in pairs {
                prop_assert_eq!(share(&letters[a], &letters[b]), !apart.contains(&(a, b)), "{:?} {:?}", (a, b), &letters);
            }
            prop_assert!(letters[0].starts_with('a'));
        }
    }
}
