//! Ratios that invented sources publish about invented runs.

use tolok_model::{PublishedMetric, PublishedRatio};

use super::{InventedRun, Server};

impl InventedRun {
    /// Adds a source's ratio of two servers in the last scenario.
    pub fn published(&mut self, metric: PublishedMetric, a: Server, b: Server, ratio: f64) -> &mut Self {
        let scenario = self.plan.scenarios.last().expect("a scenario comes first").id.clone();
        let number = self.plan.published.len() + 1;
        self.plan.published.push(PublishedRatio {
            source: "an invented source".to_owned(),
            place: Some(format!("Table {number}")),
            scenario,
            metric,
            a: a.label.to_owned(),
            b: b.label.to_owned(),
            ratio,
        });
        self
    }
}
