//! The thresholds of a load as JUnit's XML.

use tolok_load::record::Record;
use tolok_load::threshold::KeptOrCrossed;
use tolok_report::data::{self, Judged};

use super::document::seen;

/// A test case for each threshold, and one that fails if the figures cannot be trusted.
pub fn junit(record: &Record) -> String {
    let url = &record.plan.url;
    let reasons: Vec<&str> = record.verdict.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let doubt = (!record.verdict.trusted).then(|| reasons.join("; "));
    let thresholds = record.thresholds.iter().map(|judged| {
        let failure = match judged.outcome {
            KeptOrCrossed::Kept => None,
            KeptOrCrossed::Crossed => Some(format!("crossed: {}", seen(judged))),
            KeptOrCrossed::Unknown => Some(format!("not known: {}", seen(judged))),
        };
        Judged::new(url, &judged.text, failure)
    });
    let judged: Vec<Judged> =
        [Judged::new(url, "the figures can be trusted", doubt)].into_iter().chain(thresholds).collect();
    data::junit(&format!("tolok load {url}"), Some(record.window_s), &judged)
}
