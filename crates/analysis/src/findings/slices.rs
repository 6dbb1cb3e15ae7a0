//! The slices of a scenario.

use serde::Serialize;

use crate::JsonSchema;
use crate::findings::Estimate;

/// How a scenario was sliced, and how precise its ratios are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SlicesFinding {
    /// Most scored launches of any case.
    pub launches: u32,
    /// Windows of each case in a launch.
    pub slices_per_case: u32,
    /// Length of a window; every fourth turn has windows twice as long.
    pub window_s: f64,
    /// Load before each window that no figure counts.
    pub lead_in_s: f64,
    /// Share of the time in which a window was open, from the first slice of a launch to its last.
    pub measured_share: f64,
    /// Whether all servers except the active one were frozen.
    pub frozen: bool,
    /// CPUs that other programs used, on average.
    pub foreign_cpus: f64,
    /// CPUs that the hypervisor took, on average.
    pub stolen_cpus: f64,
    /// Slices that ended with unanswered requests.
    pub not_drained: u64,
    /// Slices whose server was still busy at the end.
    pub not_frozen: u64,
    /// Standard deviation of the log ratio of the median pair within one launch, from the scatter of its slices.
    pub within_sd: Option<f64>,
    /// Standard deviation of the same between launches, in addition.
    pub between_sd: Option<f64>,
    /// Half width of the median pair's interval, as a share of its ratio.
    pub half_width: Option<f64>,
    /// The same, as expected from twice as many launches.
    pub half_width_of_twice_the_launches: Option<f64>,
    /// The same, as expected from launches of twice the length.
    pub half_width_of_twice_the_length: Option<f64>,
    /// Factor by which the median pair's ratio changes in windows of double length.
    pub longer_windows: Option<Estimate>,
    /// How much a comparison of the same duration would scatter with other window lengths; absent with too few short counts.
    pub lengths: Option<SliceLengths>,
    /// CPU time per correct response, over that of the first case; empty if it judges.
    pub cpu: Vec<SliceRatio>,
    /// Correct responses per second, over those of the first case; empty unless CPU time judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goodput: Vec<SliceRatio>,
    /// All of this in words.
    pub sentences: Vec<String>,
    /// What readers must know before quoting these figures.
    pub cautions: Vec<String>,
}

/// How the runs of programs alternated, and how precise their ratios are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TurnsFinding {
    /// Most scored launches of any case.
    pub launches: u32,
    /// Most runs of any case in a launch, after warm-up.
    pub runs_per_case: u32,
    /// CPUs that other programs used, on average.
    pub foreign_cpus: f64,
    /// CPUs that the hypervisor took, on average.
    pub stolen_cpus: f64,
    /// Standard deviation of the log ratio of the median pair within one launch, from the scatter of its turns.
    pub within_sd: Option<f64>,
    /// Standard deviation of the same between launches, in addition.
    pub between_sd: Option<f64>,
    /// Half width of the median pair's interval, as a share of its ratio.
    pub half_width: Option<f64>,
    /// The same, as expected from twice as many launches.
    pub half_width_of_twice_the_launches: Option<f64>,
    /// The same, as expected from launches with twice as many runs.
    pub half_width_of_twice_the_length: Option<f64>,
    /// CPU time of a run, over that of the first case.
    pub cpu: Vec<SliceRatio>,
    /// All of this in words.
    pub sentences: Vec<String>,
}

/// The best window length by short counts from the warm-ups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SliceLengths {
    /// The window length with the least scatter, in seconds.
    pub best_window_s: f64,
    /// The longest length that the counts cover, in seconds.
    pub longest_s: f64,
    /// How much more the ratios scatter with the study's own window length, as a share.
    pub excess: f64,
    /// Allan deviation of counts over one window of the study, as a share of a count.
    pub allan_deviation: f64,
}

/// A response of a case, or the CPU time of a program's run, over that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SliceRatio {
    /// The case, by its title.
    pub subject: String,
    /// The first case of the scenario.
    pub first: String,
    /// The ratio.
    pub ratio: Estimate,
}
