//! The work of an emulated link.

use serde::Serialize;

use crate::JsonSchema;

/// An emulated link in the scored trials of one case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkUse {
    /// From client to subject.
    pub to_subject: LinkDirectionUse,
    /// From subject to client.
    pub to_client: LinkDirectionUse,
    /// Whether the emulator had real-time priority in every trial.
    pub realtime: bool,
    /// Share of a CPU that the emulator used in the median trial.
    pub emulator_busy: Option<f64>,
}

/// One direction of an emulated link, over all scored trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkDirectionUse {
    /// Packets received.
    pub packets: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets dropped because the study asks for loss.
    pub dropped_loss: u64,
    /// Mean delay of packets beyond their due time, in seconds.
    pub lateness_s_mean: f64,
    /// Largest delay of a packet beyond its due time, in seconds.
    pub lateness_s_max: f64,
    /// Received bits over the bits that the rate allows, in the median trial. By the utilisation law, this is the share of time
    /// in which the link was busy. Above 1 if more arrived than fits. Absent without a rate.
    pub rate_offered: Option<f64>,
}

impl LinkUse {
    /// Both directions.
    pub fn directions(&self) -> [&LinkDirectionUse; 2] {
        [&self.to_subject, &self.to_client]
    }

    /// The larger of the two directions' shares of the rate.
    pub fn rate_offered(&self) -> Option<f64> {
        self.directions().into_iter().filter_map(|direction| direction.rate_offered).reduce(f64::max)
    }

    /// A figure in the direction where it is larger.
    pub fn worse(&self, of: fn(&LinkDirectionUse) -> f64) -> Option<f64> {
        self.directions().into_iter().map(of).reduce(f64::max)
    }

    /// A count of both directions together.
    pub fn total(&self, of: fn(&LinkDirectionUse) -> u64) -> u64 {
        self.directions().into_iter().map(of).sum()
    }
}
