//! ClickBench: a system on a machine, with three times in seconds for each query. The first is cold, the others are
//! hot.

use super::{Form, Reading, digits};
use crate::json::Json;

pub(super) const FORM: Form = Form { is, read };

fn is(json: &Json<'_>) -> bool {
    json.at(&["system"]).is_some() && json.at(&["result"]).is_some_and(|result| !result.items().is_empty())
}

fn read(json: &Json<'_>, _: &str, reading: &mut Reading<'_>) {
    let of = |key| json.at(&[key]).map(Json::shown);
    let subject = match (of("system"), of("machine")) {
        (Some(system), Some(machine)) => format!("{system}, {machine}"),
        (system, _) => system.unwrap_or_default().to_owned(),
    };
    reading.row(json, &subject, |measurement| {
        measurement.scenario("loading");
        for (key, name) in [("load_time", "load time [s]"), ("data_size", "data size [bytes]")] {
            if let Some(value) = json.at(&[key]) {
                measurement.value(key, value, |row, value| digits(row, name, value));
            }
        }
    });
    for (number, times) in (1..).zip(json.at(&["result"]).map(Json::items).unwrap_or_default()) {
        let (cold, hot) = times.items().split_at(times.items().len().min(1));
        for (state, times_of) in [("cold", cold), ("hot", hot)] {
            query(times, &subject, &format!("query {number}, {state}"), times_of, reading);
        }
    }
}

/// The times of a query in one state, one for each run. A failed run has `null`.
fn query(json: &Json<'_>, subject: &str, scenario: &str, times: &[Json<'_>], reading: &mut Reading<'_>) {
    let printed: Vec<String> = times.iter().filter_map(Json::digits).collect();
    let failed = times.iter().filter(|time| time.shown() == "null").count();
    if printed.len() + failed != times.len() {
        return reading.remark(json, format!("not understood: times of {scenario}"));
    }
    reading.row(json, subject, |measurement| {
        measurement.scenario(scenario);
        let row = &mut measurement.row;
        let Some((first, others)) = printed.split_first() else { return };
        if row.figure("time_mean_s", first) {
            row.figures[0].numbers.extend(others.iter().cloned());
            row.raw.push(format!("result: {}", printed.join(", ")));
        }
    });
}
