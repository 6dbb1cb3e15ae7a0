//! The table of the workload `updates`: keys and amounts, and the answers that follow from them.

use tolok_model::SplitMix64;

use super::answers::{LARGEST_SEED, PathAnswer, with_parameter};
use super::body::lehmer;

/// Rows of the table; their keys count from 1.
pub(super) const ROWS: u32 = 10_000;
/// Rows in one statement.
const ROWS_A_STATEMENT: usize = 1_000;
/// Number of seeds that the load uses: enough that users seldom wait for each other's rows.
const SEEDS: usize = 512;

/// The initial amount of a row. The number of digits never changes, so the length of each answer is known.
pub(super) fn first_amount(key: u32) -> u64 {
    100_000_000 + u64::from(key) * 7_919
}

/// The statements that fill the table.
pub(super) fn inserts() -> impl Iterator<Item = String> {
    let keys: Vec<u32> = (1..=ROWS).collect();
    let statement = |keys: &[u32]| {
        let rows: Vec<String> = keys.iter().map(|key| format!("({},{key})", first_amount(*key))).collect();
        format!("INSERT INTO stock VALUES\n{};", rows.join(",\n"))
    };
    keys.chunks(ROWS_A_STATEMENT).map(statement).collect::<Vec<_>>().into_iter()
}

/// The keys of the rows that a request changes: distinct and ascending.
pub(crate) fn stock_keys(n: u32, seed: u32) -> Vec<u32> {
    let mut keys: Vec<u32> =
        lehmer(seed).take(n as usize).map(|number| 1 + (number % u64::from(ROWS)) as u32).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A request, and its correct answer if rows have these amounts afterwards.
pub(crate) fn update(path: &str, (n, seed): (u32, u32), amount: &dyn Fn(u32) -> u64) -> PathAnswer {
    let rows: Vec<String> =
        stock_keys(n, seed).iter().map(|key| format!("{{\"amount\":{},\"id\":{key}}}", amount(*key))).collect();
    let path = with_parameter(&with_parameter(path, "n", n), "seed", seed);
    PathAnswer::plain(path, format!("[{}]", rows.join(",")).into_bytes())
}

/// The requests of the load. Each changes exactly `n` rows, so their sum is known.
pub(super) fn loaded(path: &str, n: u32) -> Vec<PathAnswer> {
    let mut random = SplitMix64::new(u64::from(ROWS));
    let seeds = std::iter::repeat_with(|| 1 + random.below(LARGEST_SEED) as u32);
    let seeds = seeds.filter(|seed| stock_keys(n, *seed).len() == n as usize);
    seeds.take(SEEDS).map(|seed| update(path, (n, seed), &|key| first_amount(key) + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_of_the_load_changes_as_many_rows_as_it_says() {
        for n in [1, 20, 100] {
            let asked = loaded("/updates", n);
            assert_eq!(asked.len(), SEEDS);
            let rows = asked.iter().map(|one| String::from_utf8(one.body.clone()).unwrap().matches("\"id\"").count());
            assert!(rows.into_iter().all(|rows| rows == n as usize));
        }
    }

    /// 16807, 282475249 and 1622650073 follow from the seed 1.
    #[test]
    fn rows_ascend_and_stand_there_once() {
        let body = update("/updates?n=5", (3, 1), &first_amount).body;
        let owed = r#"[{"amount":100586006,"id":74},{"amount":141574750,"id":5250},{"amount":153912552,"id":6808}]"#;
        assert_eq!(String::from_utf8(body).unwrap(), owed);
        let keys = stock_keys(100, 2);
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
