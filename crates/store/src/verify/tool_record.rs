//! Whether the record of tolok's load engine is consistent: percentiles with their histograms, rows with the ledger.

use serde_json::Value;
use tolok_load::histogram::{Histogram, QUANTILES, decode, percentile, quantile_s};
use tolok_load::record::{ClientRecords, LoopModel, Record, SecondRow};
use tolok_load::schedule::Phase;

/// Means and maxima are exact, whereas a histogram stores values to a thousandth.
const OF_BUCKETS: f64 = 1.1e-3;

/// An inconsistency.
#[derive(Debug, PartialEq)]
pub(super) struct Disagreement {
    /// The path to the value.
    pub(super) at: String,
    /// The stored value.
    pub(super) stored: Value,
    /// The expected value.
    pub(super) made: Value,
    /// The source of the expected value.
    pub(super) source: &'static str,
}

/// The number of compared figures, and the inconsistencies.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Agreement {
    pub(super) figures: u64,
    pub(super) disagreements: Vec<Disagreement>,
}

/// Compares the parts of a record with each other. The error says why it is not a record.
pub(super) fn agreement(text: &str) -> Result<Agreement, String> {
    let record: Record = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut found = Agreement::default();
    found.ledger(&record);
    found.clients(&record);
    let unanswered = record.unanswered_time.as_ref().filter(|_| record.plan.loop_model == LoopModel::Open);
    let unanswered = unanswered.map(|it| decode(&it.histogram)).transpose();
    let unanswered = unanswered.map_err(|error| format!("unanswered_time: {error}"))?;
    for (name, part) in value.as_object().into_iter().flatten() {
        if part.get("histogram").is_some() {
            let heeded = unanswered.as_ref().filter(|_| ["response_time", "punctual_time"].contains(&name.as_str()));
            found.distribution(name, part, heeded)?;
        }
    }
    for (name, clients) in value["clients"].as_object().into_iter().flatten() {
        found.distribution(&format!("clients.{name}.response_time"), &clients["response_time"], None)?;
    }
    for (place, row) in record.timeline.iter().enumerate() {
        found.row(place, row)?;
    }
    Ok(found)
}

impl Agreement {
    fn equal(&mut self, at: impl Into<String>, stored: Value, made: Value, source: &'static str) {
        self.figures += 1;
        if stored != made {
            self.disagreements.push(Disagreement { at: at.into(), stored, made, source });
        }
    }

    /// Fast and slow clients must add up to all.
    fn clients(&mut self, record: &Record) {
        let Some(ClientRecords { fast, slow }) = &record.clients else { return };
        let sent = record.ledger.sent + record.drain.sent;
        self.equal("clients", (fast.sent + slow.sent).into(), sent.into(), "its ledger");
        let good = record.ledger.good + record.drain.good;
        self.equal("clients", (fast.good + slow.good).into(), good.into(), "its ledger");
        let answers = |rate: Option<f64>| (rate.unwrap_or_default() * record.window_s).round() as u64;
        let all = record.ledger.good + record.warm_up.carried_over_good;
        self.equal("clients", (answers(fast.goodput_rps) + answers(slow.goodput_rps)).into(), all.into(), "its ledger");
    }

    /// The ledger must balance, the rate must follow from it, and the rows of the window must add up to it.
    fn ledger(&mut self, record: &Record) {
        let ledger = &record.ledger;
        let answered = ledger.good + record.warm_up.carried_over_good;
        let rate = (record.window_s > 0.0).then(|| answered as f64 / record.window_s);
        self.equal("goodput_rps", record.goodput_rps.into(), rate.into(), "its ledger");
        let sent = ledger.good + ledger.failed + ledger.in_flight_at_end;
        self.equal("ledger.sent", ledger.sent.into(), sent.into(), "good, failed and in flight");
        self.equal(
            "ledger.scheduled",
            ledger.scheduled.into(),
            (ledger.sent + ledger.unsent).into(),
            "sent and unsent",
        );
        let (warm_up, drain) = (&record.warm_up, &record.drain);
        let sent = warm_up.good + warm_up.failed + warm_up.carried_over;
        self.equal("warm_up.sent", warm_up.sent.into(), sent.into(), "good, failed and carried over");
        let left = drain.good + drain.failed + drain.abandoned + drain.never_sent;
        let owed = ledger.in_flight_at_end + ledger.unsent;
        self.equal("drain", left.into(), owed.into(), "what was in flight or unsent");
        let length_ns = record.window_end_monotonic_ns.saturating_sub(record.window_start_monotonic_ns);
        let length_s = std::time::Duration::from_nanos(length_ns).as_secs_f64();
        self.equal("window_s", record.window_s.into(), length_s.into(), "its start and end");
        let classes: u64 = ledger.failed_by_class.values().sum();
        self.equal("ledger.failed", ledger.failed.into(), classes.into(), "its classes");
        let rows = || record.timeline.iter().filter(|row| row.phase == Phase::Measure);
        let sum = |of: fn(&SecondRow) -> u64| rows().map(of).sum::<u64>();
        let source = "the rows of the timeline";
        self.equal("ledger.sent", ledger.sent.into(), sum(|row| row.sent).into(), source);
        self.equal("ledger.good", ledger.good.into(), sum(|row| row.good).into(), source);
        self.equal("ledger.failed", ledger.failed.into(), sum(|row| row.failed).into(), source);
        self.equal("sent_bytes", record.sent_bytes.into(), sum(|row| row.sent_bytes).into(), source);
        let classes = sum(|row| row.failed_by_class.values().sum());
        self.equal("ledger.failed", ledger.failed.into(), classes.into(), "the classes of the timeline's rows");
    }

    fn distribution(&mut self, name: &str, part: &Value, unanswered: Option<&Histogram<u64>>) -> Result<(), String> {
        const SOURCE: &str = "its histogram";
        let text = part["histogram"].as_str().unwrap_or_default();
        let histogram = decode(text).map_err(|error| format!("{name}: {error}"))?;
        self.equal(format!("{name}.count"), part["count"].clone(), histogram.len().into(), SOURCE);
        for (place, quantile) in QUANTILES.into_iter().enumerate() {
            let stored = &part["percentiles"][place];
            let made = percentile(&histogram, unanswered, quantile, stored["instants"].as_u64());
            let at = format!("{name}.percentiles[{place}]");
            self.equal(format!("{at}.quantile"), stored["quantile"].clone(), made.quantile.into(), SOURCE);
            let values = [("latency_s", made.latency_s), ("at_least_s", made.at_least_s), ("once_s", made.once_s)];
            for (what, made) in values {
                self.equal(format!("{at}.{what}"), stored[what].clone(), made.into(), SOURCE);
            }
        }
        let near = |stored: &Value, made_ns: f64| {
            let made_s = made_ns / 1e9;
            stored.as_f64().is_some_and(|stored| (stored - made_s).abs() <= made_s * OF_BUCKETS + 1e-9)
        };
        if !histogram.is_empty() {
            let beyond =
                part["max_s"].as_f64().is_some_and(|max_s| max_s >= tolok_load::histogram::LONGEST.as_secs_f64());
            let ends =
                [("min_s", histogram.min() as f64), ("mean_s", histogram.mean()), ("max_s", histogram.max() as f64)];
            for (what, made_ns) in ends {
                let stored = part[what].clone();
                let made = if beyond || near(&stored, made_ns) { stored.clone() } else { (made_ns / 1e9).into() };
                self.equal(format!("{name}.{what}"), stored, made, SOURCE);
            }
        }
        Ok(())
    }

    fn row(&mut self, place: usize, row: &SecondRow) -> Result<(), String> {
        let histogram = decode(&row.response_time).map_err(|error| format!("timeline[{place}]: {error}"))?;
        for (name, stored, quantile) in [("p50_s", row.p50_s, 0.5), ("p99_s", row.p99_s, 0.99)] {
            let made = quantile_s(&histogram, quantile);
            self.equal(format!("timeline[{place}].{name}"), stored.into(), made.into(), "its histogram");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tolok_load::histogram::{empty, encode};

    use super::*;

    /// A second after the start of the window.
    fn record_end() -> u64 {
        1_001_000_000_000
    }

    /// The record of a thousand responses of one millisecond in a window of one second.
    fn record() -> Value {
        let mut histogram = empty();
        histogram.record_n(1_000_000, 1_000).unwrap();
        let encoded = encode(&histogram);
        let told = |histogram| QUANTILES.map(|quantile| json!(percentile(histogram, None, quantile, None)));
        let of_values = told(&histogram);
        let full = json!({ "count": 1000, "min_s": 0.001, "mean_s": 0.001, "max_s": 0.001, "percentiles": of_values, "histogram": encoded });
        let nothing = empty();
        let none = told(&nothing);
        let none = json!({ "count": 0, "min_s": null, "mean_s": null, "max_s": null, "percentiles": none, "histogram": encode(&nothing) });
        let row = json!({
            "second": 0, "phase": "measure", "start_s": 0.0, "duration_s": 1.0, "sent": 1000, "good": 1000, "failed": 0,
            "received_bytes": 0, "sent_bytes": 495_000, "p50_s": quantile_s(&histogram, 0.5), "p99_s": quantile_s(&histogram, 0.99), "max_s": 0.001,
            "new_connections": 1, "in_flight": 0, "queued": 0, "response_time": encoded, "service_time": encoded,
            "lateness": encoded
        });
        let mut record: Value = serde_json::from_str(include_str!("engine_record.json")).unwrap();
        let mut put = |name: &str, value: Value| record[name] = value;
        put("window_s", json!(1.0));
        put("goodput_rps", json!(1000.0));
        put(
            "ledger",
            json!({ "scheduled": 1000, "sent": 1000, "unsent": 0, "good": 1000, "failed": 0, "failed_by_class": {}, "in_flight_at_end": 0 }),
        );
        put("drain", json!({ "sent": 0, "good": 0, "failed": 0, "abandoned": 0, "never_sent": 0 }));
        put("window_end_monotonic_ns", json!(record_end()));
        put("timeline", json!([row]));
        ["response_time", "service_time"].into_iter().for_each(|name| put(name, full.clone()));
        let empty_ones = ["lateness", "queue_time", "time_to_first_byte", "failure_time", "connect_time"];
        empty_ones.into_iter().for_each(|name| put(name, none.clone()));
        record
    }

    /// Inconsistencies in the record after a change.
    fn after(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut record = record();
        change(&mut record);
        let found = agreement(&record.to_string()).unwrap();
        assert!(found.figures > 100, "{}", found.figures);
        found.disagreements.into_iter().map(|one| one.at).collect()
    }

    #[test]
    fn a_sound_record_agrees_with_itself() {
        assert!(after(|_| {}).is_empty());
    }

    #[test]
    fn what_was_changed_disagrees_with_what_it_was_made_from() {
        assert_eq!(after(|it| it["goodput_rps"] = json!(1001.0)), ["goodput_rps"]);
        assert_eq!(after(|it| it["window_end_monotonic_ns"] = json!(record_end() + 1)), ["window_s"]);
        assert_eq!(after(|it| it["warm_up"]["failed"] = json!(1)), ["warm_up.sent"]);
        assert_eq!(after(|it| it["drain"]["abandoned"] = json!(1)), ["drain"]);
        assert_eq!(after(|it| it["timeline"][0]["failed"] = json!(1)), ["ledger.failed"]);
        assert_eq!(after(|it| it["timeline"][0]["p99_s"] = json!(0.0009)), ["timeline[0].p99_s"]);
        let changed = after(|it| it["response_time"]["percentiles"][4]["latency_s"] = json!(0.0009));
        assert_eq!(changed, ["response_time.percentiles[4].latency_s"]);
        assert_eq!(after(|it| it["service_time"]["mean_s"] = json!(0.0009)), ["service_time.mean_s"]);
        assert_eq!(after(|it| it["response_time"]["count"] = json!(999)), ["response_time.count"]);
        let of_a_ledger = after(|it| it["ledger"]["good"] = json!(999));
        assert_eq!(of_a_ledger, ["goodput_rps", "ledger.sent", "ledger.good"]);
        let min = after(|it| it["response_time"]["min_s"] = json!(0.0005));
        assert_eq!(min, ["response_time.min_s"]);
    }

    #[test]
    fn what_is_no_record_says_why() {
        assert!(agreement("{}").unwrap_err().contains("missing field"));
        let mut record = record();
        record["lateness"]["histogram"] = json!("moon");
        assert!(agreement(&record.to_string()).unwrap_err().starts_with("lateness: "));
    }
}
