//! The requests of the workload `crud`: rows of the table `stock` that are read, changed, created and deleted.

use tolok_model::SplitMix64;

use super::answers::{Asked, PathAnswer, with_parameter};
use super::stock::{ROWS, first_amount};

/// Amounts have nine digits, so the length of each answer is known.
const LEAST_AMOUNT: u64 = 100_000_000;
const AMOUNTS: u64 = 900_000_000;
/// Rows that the load reads. The cache of a server may hold half as many.
const READ: usize = 1_024;
/// Rows that it changes, all of them among those it reads, and rows that it creates and deletes.
const WRITTEN: usize = 64;
/// The seed of the mix.
const SEED: u64 = 781_085;

/// The row as JSON in the answer.
pub(crate) fn row(amount: u64, id: u32) -> String {
    format!("{{\"amount\":{amount},\"id\":{id}}}")
}

/// The body of a write request.
pub(crate) fn sent(amount: u64) -> String {
    format!("{{\"amount\":{amount}}}")
}

pub(crate) fn any_amount(random: &mut SplitMix64) -> u64 {
    LEAST_AMOUNT + random.below(AMOUNTS)
}

/// Of twenty requests, sixteen read, two change a row, one creates one and one deletes one.
pub(super) fn loaded(path: &str) -> Vec<PathAnswer> {
    let mut random = SplitMix64::new(SEED);
    let mut keys: Vec<u32> = (1..=ROWS).collect();
    random.shuffle(&mut keys);
    let (read, created) = (&keys[..READ], ROWS + 1..=ROWS + WRITTEN as u32);
    let mut asked: Vec<PathAnswer> =
        read.iter().map(|id| one(path, "read", "GET", (*id, 200), row(first_amount(*id), *id))).collect();
    let mut write = |part, id| {
        let amount = any_amount(&mut random);
        PathAnswer { sent: Some(sent(amount).into_bytes()), ..one(path, part, "PUT", (id, 200), row(amount, id)) }
    };
    asked.extend(read[..WRITTEN].iter().flat_map(|id| [write("update", *id), write("update", *id)]));
    asked.extend(created.clone().map(|id| write("create", id)));
    asked.extend(created.map(|id| one(path, "delete", "DELETE", (id, 204), String::new())));
    asked
}

fn one(path: &str, part: &'static str, method: &'static str, (id, status): (u32, u16), body: String) -> PathAnswer {
    let asked = Some(Asked { part, method, status });
    PathAnswer { asked, ..PathAnswer::plain(with_parameter(path, "id", id), body.into_bytes()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_load_reads_most_and_what_it_reads_is_never_deleted() {
        let asked = loaded("/crud");
        let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &asked {
            *parts.entry(one.asked.as_ref().unwrap().part).or_default() += 1;
        }
        assert_eq!(parts, [("create", 64), ("delete", 64), ("read", 1_024), ("update", 128)].into());
        let paths = |part: &str| {
            let of_part = asked.iter().filter(|one| one.asked.as_ref().unwrap().part == part);
            of_part.map(|one| one.path.clone()).collect::<Vec<_>>()
        };
        let read = paths("read");
        assert!(paths("update").iter().all(|path| read.contains(path)));
        assert!(paths("delete").iter().all(|path| !read.contains(path)));
        assert_eq!(paths("create"), paths("delete"));
    }
}
