//! `design` and `slices` of a study as written, and their meaning.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::environment::{CpuMode, Environment};
use crate::load::profile::{Connection, Executor, LoadProfile, Pace};
use crate::reading::table::{Spanned, Table};
use crate::reading::text::Reading;
use crate::study::Scenario;
use crate::tool::is_own_tool;
use crate::units::{Seconds, duration_words};
use crate::workload::Workload;
use crate::workload::data::DataBody;

/// Every fourth round has windows of double length. They show reports how slicing itself affects a ratio.
const DOUBLE_EVERY: u32 = 4;
/// A shorter window has too few responses, and its borders are too large a share of it.
const SHORTEST_WINDOW_S: f64 = 0.01;

/// How cases take turns on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Each case has the machine for a whole window, with a server of its own.
    #[default]
    Trials,
    /// The servers of a launch live together, and load goes to one at a time, for a slice. Programs alternate run by
    /// run.
    Slices,
}

/// How a scenario is sliced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceDesign {
    /// Length of a window, in seconds.
    pub window_s: f64,
    /// Length of the load before the window, in seconds.
    pub lead_in_s: f64,
}

impl Default for SliceDesign {
    fn default() -> Self {
        Self { window_s: 0.1, lead_in_s: 0.02 }
    }
}

impl SliceDesign {
    /// Length of the windows of a round, counted from 1, in seconds.
    pub fn window_s_of(&self, round: u32) -> f64 {
        if round.is_multiple_of(DOUBLE_EVERY) { 2.0 * self.window_s } else { self.window_s }
    }

    /// Rounds needed to measure each case for at least this long, in seconds. A round has two windows of each case.
    pub fn rounds(&self, duration_s: f64) -> u32 {
        let (mut rounds, mut measured_s) = (0, 0.0);
        // Rounding may leave a sum of tenths just short of the whole.
        while measured_s < duration_s * (1.0 - 1e-9) {
            rounds += 1;
            measured_s += 2.0 * self.window_s_of(rounds);
        }
        rounds.max(1)
    }
}

/// `slices` of a study or scenario, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SlicesFile {
    /// Length of a slice's window: `100ms` (default). Every fourth turn has windows of double length, as a check.
    pub window: Option<Spanned<Seconds>>,
    /// Length of the load before the window: `20ms` (default). It must be longer than responses take.
    pub lead_in: Option<Spanned<Seconds>>,
}

/// A study's slices, with `base` for missing keys.
pub(super) fn read_slices(written: Option<Table<SlicesFile>>, base: SliceDesign, reading: &mut Reading) -> SliceDesign {
    let Some(written) = written.map(|table| table.entries) else { return base };
    let mut slices = base;
    if let Some(window) = written.window {
        slices.window_s = window.get_ref().0;
        let is_short = slices.window_s < SHORTEST_WINDOW_S;
        reading.note_if(is_short, window.span(), "`window` must be at least 10ms", None);
    }
    if let Some(lead_in) = written.lead_in {
        slices.lead_in_s = lead_in.get_ref().0;
    }
    slices
}

/// Why a scenario cannot be sliced, if it cannot.
pub(super) fn not_sliced(scenario: &Scenario, workload: Option<&Workload>) -> Option<&'static str> {
    let LoadProfile { executor, connection, think_time, pace, .. } = &scenario.load;
    let counts = workload.and_then(|it| it.body.data()).is_some_and(DataBody::counts);
    let reasons = [
        (!is_own_tool(&scenario.tool), "only tolok's own load engine gives slices"),
        (!matches!(executor, Executor::ConstantVus { .. }), "slices need the executor `constant-vus`"),
        (*connection != Connection::KeepAlive, "slices need connections that are kept alive"),
        (!scenario.protocol.is_default(), "slices need HTTP/1.1 without TLS"),
        (scenario.streams > 1, "slices need a connection for each user"),
        (think_time.is_some(), "users that pause leave slices empty"),
        (*pace != Pace::default(), "slow clients outlast a slice"),
        (!scenario.objectives.is_empty(), "an `objective` holds for a whole window, and slices have none"),
        (counts, "the sum of a counter is checked over a whole window"),
    ];
    reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
}

/// Why nothing can be sliced in an environment, if it cannot.
pub(super) fn not_sliced_in(environment: &Environment) -> Option<&'static str> {
    let outage = environment.database.as_ref().is_some_and(|database| database.outage.is_some());
    let reasons = [
        (
            environment.subject.mode == CpuMode::Quota,
            "a quota is given out in periods of 100 ms, which slices cut apart",
        ),
        (outage, "an outage of the database would hit one case and not the others"),
    ];
    reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
}

/// The slices of a scenario, in a few words.
pub fn describe(slices: &SliceDesign) -> String {
    format!("slices of {}", duration_words(slices.window_s))
}
