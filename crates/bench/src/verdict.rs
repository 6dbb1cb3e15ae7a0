//! The tables of the exercise `honesty`: what was reported beside what is true.

use crate::honesty::{Case, One, Outcome};
use crate::rated::Rated;
use crate::table::{NONE, Table, digits, grouped, or_dash};
use crate::tool::Tool;

/// A truth below this is the usual time of a request, which differs from tool to tool; a percentage of it says nothing.
const LEAST_S: f64 = 0.001;

const COLUMNS: [&str; 9] = [
    "generator",
    "sent of offered",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "max ms",
    "trusts itself",
    "CPU µs/request",
    "transfer ns",
];

/// One table a server.
pub fn tables(outcome: &Outcome, name: impl Fn(Rated) -> String) -> Vec<Table> {
    let cases = [Case::Stalls, Case::TooSlow].map(|case| {
        let of_case = || outcome.entries.iter().filter(move |entry| entry.case == case);
        let rows = of_case().filter_map(|entry| Some(row(entry.rated, entry.one.as_ref()?, name(entry.rated))));
        let notes = of_case().filter_map(|entry| {
            let problem = entry.one.as_ref()?.measurement.problem.as_ref()?;
            Some(format!("{}: {problem}", name(entry.rated)))
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

fn row(rated: Rated, one: &One, name: String) -> Vec<String> {
    let truth = one.truth.all();
    let reported = one.reported.map(|reported| reported.all()).unwrap_or_default();
    let [p50, p99, p999, max] = [0, 1, 2, 3].map(|which| beside(reported[which], truth[which]));
    let around = one.measurement.transfer;
    vec![
        name,
        sent(rated, one),
        p50,
        p99,
        p999,
        max,
        trust(rated, one),
        or_dash(one.measurement.cpu_us(), digits),
        or_dash(around, |around| format!("{:.0}, {:.0}", around.before_ns, around.after_ns)),
    ]
}

fn sent(rated: Rated, one: &One) -> String {
    let sent = grouped(one.measurement.answers() as f64);
    if rated == Rated::Wrk { sent } else { format!("{sent} of {}", grouped(one.offered as f64)) }
}

/// `449 of 450 (−0.2 %)`: reported, true, and the error.
fn beside(reported: Option<f64>, truth: Option<f64>) -> String {
    let (Some(reported), Some(truth)) = (reported, truth) else { return NONE.to_owned() };
    let both = format!("{} of {}", milliseconds(reported), milliseconds(truth));
    if truth < LEAST_S { both } else { format!("{both} ({})", signed(reported / truth - 1.0)) }
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

/// Only tolok judges its own figures.
fn trust(rated: Rated, one: &One) -> String {
    let (Tool::Tolok, Some(record)) = (rated.tool(), &one.record) else { return NONE.to_owned() };
    let code = or_dash(one.code, |code| format!("exit {code}"));
    match record.trusted {
        true => format!("yes, {code}"),
        false => format!("no: {}, {code}", record.gates.join(", ")),
    }
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
        assert_eq!(beside(Some(0.449), Some(0.45)), "449 of 450 (−0.2 %)");
        assert_eq!(beside(Some(0.000_06), Some(0.000_005)), "0.060 of 0.005");
        assert_eq!(beside(None, Some(0.45)), "–");
        assert_eq!([0.0, -0.000_1, 0.2].map(signed), ["0.0 %", "0.0 %", "+20.0 %"]);
    }

    #[test]
    fn a_row_holds_what_was_sent_what_was_said_and_how_tolok_judged() {
        let mut outcome = prepare(&peers(&[Tool::Tolok, Tool::Wrk]), Extent::of(Duration::from_secs(16)));
        let truth = Latencies { p50_s: Some(0.5), p99_s: Some(1.0), p999_s: Some(1.0), max_s: Some(1.0) };
        let reported = Some(Latencies { p50_s: Some(0.5), p99_s: Some(0.9), p999_s: None, max_s: Some(1.1) });
        let gates = vec!["offered-rate".to_owned()];
        let record = Record { lateness: Latencies::default(), scheduled: 1200, trusted: false, gates, start_ns: 0 };
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
            entry.one = (entry.case == Case::TooSlow || entry.rated == Rated::Wrk).then(|| one.clone());
        }
        let tables = tables(&outcome, |rated| rated.tool().name().to_owned());
        let wrk = "wrk | 1,000 | 500 of 500 (0.0 %) | 900 of 1000 (−10.0 %) | – | 1100 of 1000 (+10.0 %) | – | 20.0";
        assert_eq!(tables[0].rows[0][..8].join(" | "), wrk);
        assert_eq!(tables[1].rows[0][1], "1,000 of 1,200");
        assert_eq!(tables[1].rows[0][6..], ["no: offered-rate, exit 5", "20.0", "100, 100"]);
        assert!(tables[0].title.ends_with("stands still for 500 ms in every 5 s"), "{}", tables[0].title);
    }
}
