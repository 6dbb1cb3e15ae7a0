//! k6: the summary on the terminal, of version 0 or 1, and JSON from `--summary-export` and `handleSummary`.
//!
//! Its kB and MB are powers of 1,000 (`humanizeBytes` in its `internal/js/summary.js`).

use crate::block::{Block, Line, time_into};
use crate::digits::{number, shifted, time};
use crate::json::{Json, figure};
use crate::outputs::{JsonFormat, TextFormat, percentile_key};
use crate::row::{Remark, Row};

pub(super) const TEXT: TextFormat = TextFormat { tool: "k6", begins, last: "http_reqs", read };
pub(super) const JSON: JsonFormat = JsonFormat { tool: "k6", is: is_json, read: read_json };

const OF_CUT_OFF: &str = "k6 cuts off further decimals";
const OF_SHARE: &str = "printed as a share of 1";

/// A metric and its figures: the text before and after the dots of `http_reqs......: 13442  224.01/s`.
fn metric(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(['✓', '✗', ' ']);
    let (name, figures) = line.split_once(':')?;
    let name = name.strip_suffix("..").map(|name| name.trim_end_matches('.'))?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, figures.trim()))
}

/// A summary begins with its first metric. A repeated metric belongs to the next one.
fn begins(lines: &[Line<'_>]) -> Vec<usize> {
    let (mut begins, mut seen): (Vec<usize>, Vec<&str>) = Default::default();
    let mut is_k6 = false;
    for (at, line) in lines.iter().enumerate() {
        let Some((name, _)) = metric(line.text) else { continue };
        is_k6 |= name == "http_reqs" || name == "http_req_duration";
        if seen.is_empty() || seen.contains(&name) {
            begins.push(at);
            seen.clear();
        }
        seen.push(name);
    }
    if is_k6 { begins } else { Vec::new() }
}

fn read(mut block: Block<'_>) -> (Row, Vec<Remark>) {
    for at in 0..block.lines.len() {
        let Some((name, figures)) = metric(block.lines[at].text) else { continue };
        match name {
            "http_reqs" => block.at(at, |row| requests(row, figures)),
            "http_req_duration" => block.at(at, |row| times(row, figures)),
            "http_req_failed" => block.at(at, |row| failed(row, figures)),
            "vus_max" => {
                block.at(at, |row| figures.split_whitespace().next().is_some_and(|most| row.count("connections", most)))
            }
            "data_received" => block.at(at, |row| bytes(row, figures)),
            _ => {}
        }
    }
    // A script has its own metrics and checks, with any name.
    block.finish(|_| true)
}

/// `13442  224.019866/s`
fn requests(row: &mut Row, figures: &str) -> bool {
    let mut words = figures.split_whitespace();
    let count = words.next().and_then(number);
    let rate = words.next().and_then(|rate| rate.strip_suffix("/s")).and_then(number);
    count.is_some_and(|count| row.figure("requests", count))
        & rate.is_some_and(|rate| row.figure("throughput_rps", rate))
}

/// `avg=143.86ms min=… med=… max=… p(90)=… p(95)=…`
fn times(row: &mut Row, figures: &str) -> bool {
    let words: Vec<&str> = figures.split_whitespace().collect();
    let understood = words.iter().filter(|word| {
        let Some((name, time)) = word.split_once('=') else { return false };
        moment(name).is_some_and(|moment| time_cut_off(row, &format!("latency_{moment}"), time))
    });
    !words.is_empty() && understood.count() == words.len()
}

fn moment(name: &str) -> Option<String> {
    Some(match name {
        "avg" => "mean".to_owned(),
        "med" => "p50".to_owned(),
        "min" | "max" => name.to_owned(),
        _ => percentile_key(number(name.strip_prefix("p(")?.strip_suffix(')')?)?),
    })
}

/// `0.00%  0 out of 13442`; before version 1, `0.00%  ✓ 0  ✗ 13442`.
fn failed(row: &mut Row, figures: &str) -> bool {
    let Some((share, _)) = figures.split_once('%') else { return false };
    let share = number(share).and_then(|share| cut_off(share, 2));
    share.is_some_and(|share| row.figure_with("http_fail_rate_percent", &share, Some(OF_CUT_OFF)))
}

/// Adds a time under its key. k6 truncates after the second decimal, to whole nanoseconds, or to whole seconds if it
/// prints minutes, and drops trailing zeros (`humanizeGenericDuration`).
fn time_cut_off(row: &mut Row, key: &str, text: &str) -> bool {
    let decimals = match text {
        // Exactly zero.
        "0s" => return time_into(row, key, text),
        _ if text.ends_with("ns") => 3,
        _ if text.contains('m') && !text.ends_with("ms") => 0,
        _ => 2,
    };
    let Some((digits, unit)) = time(text) else { return false };
    let Some(range) = cut_off(&digits, decimals) else { return false };
    let comment = (range != digits).then_some(OF_CUT_OFF);
    row.figure_with(&format!("{key}_{unit}"), &range, comment)
}

/// The range of a number truncated after this many decimals: `143.8` with two decimals is `143.80..143.81`. A number
/// with more decimals was not truncated.
fn cut_off(digits: &str, decimals: usize) -> Option<String> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if part.len() > decimals {
        return Some(digits.to_owned());
    }
    let low: u64 = format!("{whole}{part:0<decimals$}").parse().ok()?;
    let [low, high] = [low, low.checked_add(1)?].map(|end| shifted(&end.to_string(), -(decimals as i32)));
    Some(format!("{}..{}", low?, high?))
}

/// `148 MB 2.5 MB/s`
fn bytes(row: &mut Row, figures: &str) -> bool {
    let words: Vec<&str> = figures.split_whitespace().collect();
    let [count, unit, rate, of_rate] = words.as_slice() else { return false };
    let unit_of = |unit| match unit {
        "B" => Some("bytes"),
        "kB" => Some("kb"),
        "MB" => Some("mb"),
        "GB" => Some("gb"),
        _ => None,
    };
    let all = unit_of(unit).is_some_and(|unit| row.figure(&format!("transferred_{unit}"), count));
    let rate_unit = of_rate.strip_suffix("/s").and_then(unit_of);
    all & rate_unit.is_some_and(|unit| row.figure(&format!("bandwidth_{unit}_s"), rate))
}

fn is_json(json: &Json<'_>) -> bool {
    json.at(&["metrics", "http_reqs"]).is_some()
}

/// `--summary-export` has the figures directly under the metric, `handleSummary` under `values`.
fn read_json(json: &Json<'_>, row: &mut Row) {
    let path = |metric: &'static str| -> Vec<&str> {
        let has_values = json.at(&["metrics", metric, "values"]).is_some();
        if has_values { vec!["metrics", metric, "values"] } else { vec!["metrics", metric] }
    };
    let at = |metric, name| [path(metric).as_slice(), &[name]].concat();
    figure(json, &["state", "testRunDurationMs"], row, |row, digits| row.duration(&format!("{digits}ms")));
    figure(json, &at("vus_max", "max"), row, |row, digits| row.count("connections", digits));
    figure(json, &at("http_reqs", "count"), row, |row, digits| row.figure("requests", digits));
    figure(json, &at("http_reqs", "rate"), row, |row, digits| row.figure("throughput_rps", digits));
    let times = json.at(&path("http_req_duration")).map(Json::entries).unwrap_or_default();
    for (name, _) in times {
        let Some(moment) = moment(name) else { continue };
        figure(json, &at("http_req_duration", name), row, |row, digits| {
            row.figure(&format!("latency_{moment}_ms"), digits)
        });
    }
    let share = if json.at(&at("http_req_failed", "rate")).is_some() { "rate" } else { "value" };
    figure(json, &at("http_req_failed", share), row, |row, digits| {
        let percent = shifted(digits, 2);
        percent.is_some_and(|percent| row.figure_with("http_fail_rate_percent", &percent, Some(OF_SHARE)))
    });
    figure(json, &at("data_received", "count"), row, |row, digits| row.figure("transferred_bytes", digits));
    figure(json, &at("data_received", "rate"), row, |row, digits| row.figure("bandwidth_bytes_s", digits));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_k6_cut_off_is_a_range() {
        for (digits, decimals, range) in
            [("143.86", 2, "143.86..143.87"), ("2", 2, "2.00..2.01"), ("0.99", 2, "0.99..1.00"), ("63", 0, "63..64")]
        {
            assert_eq!(cut_off(digits, decimals).as_deref(), Some(range));
        }
        let told = |text: &str| {
            let mut row = Row::default();
            time_cut_off(&mut row, "latency_max", text)
                .then(|| (row.figures[0].key.clone(), row.figures[0].numbers[0].clone()))
        };
        let expected = |key: &str, range: &str| Some((key.to_owned(), range.to_owned()));
        assert_eq!(told("1m3s"), expected("latency_max_s", "63..64"));
        assert_eq!(told("915ns"), expected("latency_max_us", "0.915..0.916"));
        assert_eq!(told("0s"), expected("latency_max_s", "0"));
        assert_eq!(told("fast"), None);
    }

    #[test]
    fn a_metric_is_a_name_with_dots_behind() {
        assert_eq!(metric("http_reqs......................: 5 1.0/s"), Some(("http_reqs", "5 1.0/s")));
        assert_eq!(metric("✓ http_req_duration..............: avg=1ms"), Some(("http_req_duration", "avg=1ms")));
        for none in ["{ expected_response:true }...: avg=1ms", "http_reqs: 5", "....: 5", "✓ status is 200"] {
            assert_eq!(metric(none), None, "{none}");
        }
    }
}
