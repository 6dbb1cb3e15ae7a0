//! The tables of the exercise `honesty`: what was reported beside what is true.

use tolok_stats::Sample;

use crate::honesty::{Case, One, Outcome};
use crate::rated::Rated;
use crate::table::{NONE, Table, digits, grouped, or_dash};
use crate::tool::Tool;

/// A truth below this is the usual time of a request, which differs from tool to tool; a percentage of it says nothing.
const LEAST_S: f64 = 0.001;

const COLUMNS: [&str; 10] = [
    "generator",
    "sent of offered",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "max ms",
    "trusts itself",
    "CPU µs/request",
    "transfer ns",
    "rounds",
];

/// One table a server.
pub fn tables(outcome: &Outcome, name: impl Fn(Rated) -> String) -> Vec<Table> {
    let cases = [Case::Stalls, Case::TooSlow].map(|case| {
        let of_case = || outcome.entries.iter().filter(move |entry| entry.case == case);
        let rows = of_case().filter_map(|entry| {
            let ones: Vec<&One> = entry.rounds.iter().flatten().collect();
            (!ones.is_empty()).then(|| row(entry.rated, &ones, name(entry.rated)))
        });
        let notes = of_case().flat_map(|entry| {
            let problems = entry.rounds.iter().flatten().filter_map(|one| one.measurement.problem.as_ref());
            problems.map(|problem| format!("{}: {problem}", name(entry.rated))).collect::<Vec<_>>()
        });
        Table { title: title(case, outcome), columns: COLUMNS.to_vec(), rows: rows.collect(), notes: notes.collect() }
    });
    cases.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn title(case: Case, outcome: &Outcome) -> String {
    let (extent, rate) = (outcome.extent, grouped(f64::from(case.rate_rps())));
    let load_s = extent.load(case).as_secs_f64();
    match case {
        Case::Stalls => {
            let (stall_ms, period_s) = (extent.stall.as_millis(), extent.period.as_secs_f64());
            format!(
                "honesty: {rate}/s for {load_s} s at a server that stands still for {stall_ms} ms in every {period_s} s"
            )
        }
        Case::TooSlow => {
            format!("honesty: {rate}/s for {load_s} s at a server that takes 1 ms for each, one at a time")
        }
    }
}

fn row(rated: Rated, ones: &[&One], name: String) -> Vec<String> {
    let [p50, p99, p999, max] = [0, 1, 2, 3].map(|which| {
        let pairs = ones.iter().filter_map(|one| one.reported?.all()[which].zip(one.truth.all()[which]));
        beside(&pairs.collect::<Vec<_>>())
    });
    let cpu_us: Vec<f64> = ones.iter().filter_map(|one| one.measurement.cpu_us()).collect();
    let around =
        ones.iter().filter_map(|one| one.measurement.transfer).flat_map(|around| [around.before_ns, around.after_ns]);
    vec![
        name,
        sent(rated, ones),
        p50,
        p99,
        p999,
        max,
        trust(rated, ones),
        or_dash(median(&cpu_us), digits),
        range(around, |ns| format!("{ns:.0}")),
        ones.len().to_string(),
    ]
}

fn median(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

/// `58..63`, or one of them where they read the same.
fn range(values: impl Iterator<Item = f64> + Clone, words: impl Fn(f64) -> String) -> String {
    let (least, most) = values
        .clone()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
    match values.count() {
        0 => NONE.to_owned(),
        _ if words(least) == words(most) => words(least),
        _ => format!("{}..{}", words(least), words(most)),
    }
}

/// Of all rounds together.
fn sent(rated: Rated, ones: &[&One]) -> String {
    let sum = |of: fn(&One) -> u64| grouped(ones.iter().map(|one| of(one)).sum::<u64>() as f64);
    let sent = sum(|one| one.measurement.answers());
    if rated == Rated::Wrk { sent } else { format!("{sent} of {}", sum(|one| one.offered)) }
}

/// `449 of 450 (−0.2 %..+0.1 %)`: reported and true in the round in the middle of those errors, and the least and the greatest error.
fn beside(pairs: &[(f64, f64)]) -> String {
    let error = |pair: &(f64, f64)| pair.0 / pair.1 - 1.0;
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|one, other| error(one).total_cmp(&error(other)));
    let Some((reported, truth)) = sorted.get(sorted.len().saturating_sub(1) / 2).copied() else {
        return NONE.to_owned();
    };
    let both = format!("{} of {}", milliseconds(reported), milliseconds(truth));
    if truth < LEAST_S { both } else { format!("{both} ({})", range(sorted.iter().map(error), signed)) }
}

/// `449`, `0.50`, and `0.005`, because the usual time of a request is short.
fn milliseconds(seconds: f64) -> String {
    let value = seconds * 1e3;
    if value < 0.0995 { format!("{value:.3}") } else { digits(value) }
}

fn signed(share: f64) -> String {
    let text = format!("{:.1}", share.abs() * 100.0);
    let sign = match share {
        _ if text == "0.0" => "",
        _ if share < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{text} %")
}

/// Only tolok judges its own figures. Rounds that end alike are counted.
fn trust(rated: Rated, ones: &[&One]) -> String {
    let mut said: Vec<(String, usize)> = Vec::new();
    for one in ones.iter().filter(|_| rated.tool() == Tool::Tolok) {
        let Some(record) = &one.record else { continue };
        let code = or_dash(one.code, |code| format!("exit {code}"));
        let words = match record.trusted {
            true => format!("yes, {code}"),
            false => format!("no: {}, {code}", record.gates.join(", ")),
        };
        match said.iter_mut().find(|(other, _)| *other == words) {
            Some((_, times)) => *times += 1,
            None => said.push((words, 1)),
        }
    }
    let alike = said.len() == 1;
    let words = said.into_iter().map(|(words, times)| if alike { words } else { format!("{times} × {words}") });
    let words = words.collect::<Vec<_>>().join("; ");
    if words.is_empty() { NONE.to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::honesty::{Extent, prepare};
    use crate::reported::Record;
    use crate::summary::tests::{measurement, peers};
    use crate::truth::Latencies;

    #[test]
    fn the_error_is_told_where_the_truth_is_long_enough() {
        assert_eq!(beside(&[(0.449, 0.45)]), "449 of 450 (−0.2 %)");
        assert_eq!(beside(&[(0.000_06, 0.000_005)]), "0.060 of 0.005");
        assert_eq!(beside(&[]), "–");
        assert_eq!(beside(&[(0.45, 0.45), (0.3, 0.4), (0.449, 0.4)]), "450 of 450 (−25.0 %..+12.3 %)");
        assert_eq!([0.0, -0.000_1, 0.2].map(signed), ["0.0 %", "0.0 %", "+20.0 %"]);
    }

    #[test]
    fn a_row_holds_what_was_sent_what_was_said_and_how_tolok_judged() {
        let mut outcome = prepare(&peers(&[Tool::Tolok, Tool::Wrk]), Extent::of(Duration::from_secs(16)), 3);
        let truth = Latencies { p50_s: Some(0.5), p99_s: Some(1.0), p999_s: Some(1.0), max_s: Some(1.0) };
        let reported = Some(Latencies { p50_s: Some(0.5), p99_s: Some(0.9), p999_s: None, max_s: Some(1.1) });
        let gates = vec!["offered-rate".to_owned()];
        let record =
            Record { lateness: Latencies::default(), scheduled: 1200, trusted: false, gates, start_ns: 0, seed: 1 };
        let one = One {
            measurement: measurement(20.0),
            offered: 1200,
            truth,
            reported,
            record: Some(record),
            code: Some(5),
            stalls_ns: Vec::new(),
        };
        for entry in &mut outcome.entries {
            entry.rounds[0] = (entry.case == Case::TooSlow || entry.rated == Rated::Wrk).then(|| one.clone());
        }
        let tables = tables(&outcome, |rated| rated.tool().name().to_owned());
        let wrk = "wrk | 1,000 | 500 of 500 (0.0 %) | 900 of 1000 (−10.0 %) | – | 1100 of 1000 (+10.0 %) | – | 20.0";
        assert_eq!(tables[0].rows[0][..8].join(" | "), wrk);
        assert_eq!(tables[1].rows[0][1], "1,000 of 1,200");
        assert_eq!(tables[1].rows[0][6..], ["no: offered-rate, exit 5", "20.0", "100", "1"]);
        assert!(tables[0].title.ends_with("stands still for 500 ms in every 5 s"), "{}", tables[0].title);
    }

    #[test]
    fn rounds_are_added_up_and_those_that_ended_otherwise_are_told_apart() {
        let mut outcome = prepare(&peers(&[Tool::Tolok]), Extent::of(Duration::from_secs(16)), 3);
        let truth = Latencies { p99_s: Some(0.4), ..Latencies::default() };
        let one = |reported_s: f64, trusted: bool| One {
            measurement: measurement(20.0),
            offered: 1001,
            truth,
            reported: Some(Latencies { p99_s: Some(reported_s), ..Latencies::default() }),
            record: Some(Record {
                lateness: Latencies::default(),
                scheduled: 1001,
                trusted,
                gates: vec!["lateness".to_owned()],
                start_ns: 0,
                seed: 1,
            }),
            code: Some(if trusted { 0 } else { 5 }),
            stalls_ns: Vec::new(),
        };
        outcome.entries.truncate(1);
        outcome.entries[0].rounds = vec![Some(one(0.404, true)), Some(one(0.4, false)), Some(one(0.401, true))];
        let tables = tables(&outcome, |rated| rated.tool().name().to_owned());
        let row = "tolok | 3,000 of 3,003 | – | 401 of 400 (0.0 %..+1.0 %) | – | – | 2 × yes, exit 0; 1 × no: lateness, exit 5";
        assert_eq!(tables[0].rows[0][..7].join(" | "), row);
        assert_eq!(tables[0].rows[0][9], "3");
    }
}
