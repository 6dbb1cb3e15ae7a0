//! What a generator says of itself: answers and failures, read from its output. Shown beside the server's count, and used
//! for nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::Tool;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Requests that were answered, well or not.
    pub requests: u64,
    /// Requests that failed by its own judgement, answers with a bad status included.
    pub failed: u64,
}

/// Reads the output, or finds no count in it.
pub fn read(tool: Tool, output: &str) -> Option<Claim> {
    match tool {
        Tool::Floor | Tool::K6 => json(output).and_then(|value| serde_json::from_value(value).ok()),
        Tool::Tolok => tolok(&json(output)?),
        Tool::Wrk | Tool::Wrk2 => wrk(output),
        // It leaves its first tenth of a second out.
        Tool::Gcannon => None,
        Tool::Ab => ab(output),
        Tool::H2load => h2load(output),
        Tool::Hey => hey(output),
        Tool::Oha => oha(&json(output)?),
    }
}

/// The object in the output; some say other things before it.
pub fn json(output: &str) -> Option<Value> {
    serde_json::from_str(output.get(output.find('{')?..)?).ok()
}

/// What was in flight when the window ended is answered afterwards, and the server counts that as well.
fn tolok(record: &Value) -> Option<Claim> {
    let count = |part: &str, name: &str| record[part][name].as_u64();
    let good = count("ledger", "good")? + count("drain", "good")?;
    let failed = count("ledger", "failed")? + count("drain", "failed")?;
    Some(Claim { requests: good + failed, failed })
}

fn wrk(output: &str) -> Option<Claim> {
    let requests = before(output, " requests in ")?;
    let bad_status = after(output, "Non-2xx or 3xx responses:").unwrap_or(0);
    let errors = output.lines().find_map(|line| line.trim().strip_prefix("Socket errors:"));
    Some(Claim { requests, failed: bad_status + errors.map_or(0, sum_of_numbers) })
}

fn ab(output: &str) -> Option<Claim> {
    let requests = after(output, "Complete requests:")?;
    let failed = ["Failed requests:", "Write errors:", "Non-2xx responses:"];
    Some(Claim { requests, failed: failed.iter().filter_map(|label| after(output, label)).sum() })
}

/// `requests: 10 total, 10 started, 10 done, 10 succeeded, 0 failed, 0 errored, 0 timeout`; the errored ones are among the
/// failed.
fn h2load(output: &str) -> Option<Claim> {
    let line = output.lines().find(|line| line.starts_with("requests:"))?;
    let requests = before(line, " done")?;
    Some(Claim { requests, failed: before(line, " failed")? + before(line, " timeout")? })
}

/// One line a status, `[200] 34867 responses`, and one an error, `[3] Get "http://…": …`.
fn hey(output: &str) -> Option<Claim> {
    let (_, statuses) = output.split_once("Status code distribution:")?;
    let (statuses, errors) = statuses.split_once("Error distribution:").unwrap_or((statuses, ""));
    let entries = |text: &str| -> Vec<(u64, String)> {
        let entry = |line: &str| {
            let (number, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
            Some((number.parse().ok()?, rest.trim().to_owned()))
        };
        text.lines().filter_map(entry).collect()
    };
    let mut claim = Claim { requests: 0, failed: entries(errors).iter().map(|(count, _)| count).sum() };
    for (status, rest) in entries(statuses) {
        let count: u64 = before(&rest, " responses")?;
        claim.requests += count;
        claim.failed += if (200..300).contains(&status) { 0 } else { count };
    }
    Some(claim)
}

/// What was under way at the end it calls an error of its own kind, which is none.
fn oha(result: &Value) -> Option<Claim> {
    let counts = |name: &str| -> Option<Vec<(String, u64)>> {
        let entries = result[name].as_object()?.iter();
        entries.map(|(key, count)| Some((key.clone(), count.as_u64()?))).collect()
    };
    let statuses = counts("statusCodeDistribution")?;
    let errors = counts("errorDistribution")?;
    let errors = errors.iter().filter(|(words, _)| words != "aborted due to deadline").map(|(_, count)| count);
    let bad = statuses.iter().filter(|(status, _)| !status.starts_with('2')).map(|(_, count)| count);
    Some(Claim { requests: statuses.iter().map(|(_, count)| count).sum(), failed: errors.chain(bad).sum() })
}

/// The number that stands directly before these words.
fn before(text: &str, words: &str) -> Option<u64> {
    let (front, _) = text.split_once(words)?;
    front.rsplit(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The number after the label at the front of a line.
fn after(text: &str, label: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix(label))?;
    rest.trim().parse().ok()
}

fn sum_of_numbers(text: &str) -> u64 {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: Tool, output: &str, requests: u64, failed: u64) {
        assert_eq!(read(tool, output), Some(Claim { requests, failed }), "{tool:?}");
    }

    #[test]
    fn counts_are_found_in_what_the_tools_printed_in_real_runs() {
        check(Tool::Wrk, include_str!("../recordings/wrk.txt"), 270_311, 0);
        check(Tool::Ab, include_str!("../recordings/ab.txt"), 200_000, 0);
        check(Tool::Ab, include_str!("../recordings/ab-close.txt"), 56_658, 0);
        check(Tool::H2load, include_str!("../recordings/h2load.txt"), 249_430, 0);
        check(Tool::Hey, include_str!("../recordings/hey.txt"), 34_867, 0);
        check(Tool::Hey, include_str!("../recordings/hey-close.txt"), 12_711, 0);
        check(Tool::Oha, include_str!("../recordings/oha.txt"), 68_920, 0);
        check(Tool::K6, "{\"requests\":29346,\"failed\":0}\n", 29_346, 0);
    }

    #[test]
    fn answers_with_a_bad_status_are_failures() {
        check(Tool::Wrk, include_str!("../recordings/wrk-404.txt"), 152_660, 152_660);
        check(Tool::Ab, include_str!("../recordings/ab-404.txt"), 100, 100);
        check(Tool::Hey, include_str!("../recordings/hey-404.txt"), 18_003, 18_003);
        let line =
            "requests: 121408 total, 121412 started, 121408 done, 0 succeeded, 121408 failed, 0 errored, 0 timeout";
        check(Tool::H2load, line, 121_408, 121_408);
        check(Tool::Oha, r#"{"statusCodeDistribution":{"404":5,"200":2},"errorDistribution":{"refused":3}}"#, 7, 8);
    }

    #[test]
    fn errors_without_an_answer_are_failures() {
        let wrk = "  5 requests in 1.00s, 1MB read\n  Socket errors: connect 1, read 2, write 0, timeout 4\n";
        check(Tool::Wrk, wrk, 5, 7);
        let hey =
            "Status code distribution:\n\nError distribution:\n  [19391]\tGet \"http://h/\": connection refused\n";
        check(Tool::Hey, hey, 0, 19_391);
        let tolok = r#"{"ledger":{"good":10,"failed":1},"drain":{"good":4,"failed":2,"abandoned":0}}"#;
        check(Tool::Tolok, tolok, 17, 3);
    }

    #[test]
    fn without_a_count_there_is_no_claim() {
        for tool in Tool::ALL {
            assert_eq!(read(tool, ""), None, "{tool:?}");
            assert_eq!(read(tool, "error: connection refused {"), None, "{tool:?}");
        }
    }
}
