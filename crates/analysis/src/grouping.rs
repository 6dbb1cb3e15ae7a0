//! Lists without duplicates, groups, and pairs.

use std::collections::BTreeSet;

/// Groups items for which `is_same` holds. Groups, and the items in them, keep their order.
pub(crate) fn grouped<T>(items: impl IntoIterator<Item = T>, is_same: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| is_same(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Each value once, in order of first appearance.
pub(crate) fn each_once<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().fold(Vec::new(), |mut known, value| {
        if !known.contains(&value) {
            known.push(value);
        }
        known
    })
}

/// Each value once, the smallest first.
pub(crate) fn sorted_once<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}

/// All pairs of indexes below `number`, the lower one first.
pub(crate) fn pairs_of(number: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..number).flat_map(move |a| (a + 1..number).map(move |b| (a, b)))
}
