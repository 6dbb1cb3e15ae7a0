//! The inputs of a case's flags, gates and bottlenecks.

use tolok_model::{Connection, Disturbance, ExternalServer, LoadProfile, Measurement, Scenario, ToolWarning};

use crate::environment::Surroundings;
use crate::findings::{DatabaseFinding, DatabaseUse, ServerFigures, SteadyFinding};
use crate::flag::WAITING_TOLERATED;
use crate::observations::Observations;
use crate::usage::Cpus;

pub(crate) struct CaseInputs<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) around: &'a Surroundings,
    pub(crate) cpus: &'a Cpus,
    pub(crate) figures: &'a ServerFigures,
    pub(crate) observations: &'a Observations<'a>,
    pub(crate) asked: Option<&'a DatabaseFinding>,
    pub(crate) steady: Option<&'a SteadyFinding>,
    /// The subject's server, if tolok did not start it.
    pub(crate) external: Option<&'a ExternalServer>,
}

impl CaseInputs<'_> {
    /// Whether the subject is an external server, of which tolok sees only the responses.
    pub(crate) fn is_external(&self) -> bool {
        self.external.is_some()
    }

    /// What the database used and did, or `None` without one.
    pub(crate) fn database(&self) -> Option<&DatabaseUse> {
        self.figures.database.as_ref()
    }

    pub(crate) fn database_busy(&self) -> Option<f64> {
        self.database()?.busy
    }
}

/// The tool's warnings that bar a case from the ranking.
///
/// In a closed loop, tolok judges a saturated generator here and ignores the tool's warning. The tool cannot see whether the
/// subject was at its limit as well, in which case the figure is sound. In an open loop, the tool's warning counts. The tool may
/// spend CPU time on precise waiting, and only it can tell whether requests started late.
pub(crate) fn warnings_that_count<'a>(
    trial: &'a Measurement,
    load: &LoadProfile,
) -> impl Iterator<Item = &'a ToolWarning> + use<'a> {
    let is_open = load.executor.is_open();
    trial.tool_warnings.iter().filter(move |warning| is_open || warning.gate != "generator-busy")
}

/// Share of the scheduled requests that were never sent.
pub(crate) fn unsent_share(trial: &Measurement) -> f64 {
    let scheduled = trial.ledger.sent.unwrap_or(trial.ledger.finished()) + trial.ledger.unsent;
    trial.ledger.unsent as f64 / scheduled.max(1) as f64
}

/// The most connections that waited at the end of a trial, or `None` if there were few.
pub(crate) fn waiting_connections(observations: &Observations, load: &LoadProfile) -> Option<u64> {
    let connections = load.connections_max()?;
    let ledgers = observations.trials().map(|measurement| &measurement.ledger);
    let unanswered = ledgers.filter_map(|ledger| ledger.connections_unanswered);
    let most = unanswered.map(|unanswered| unanswered.min(u64::from(connections))).max()?;
    let is_many = most as f64 >= WAITING_TOLERATED * f64::from(connections);
    (load.connection == Connection::KeepAlive && is_many).then_some(most)
}

/// Lists each kind of disturbance once, with the words of its worst trial.
pub(crate) fn causes_of<'a>(all: impl Iterator<Item = &'a Disturbance>) -> String {
    let mut causes: Vec<&Disturbance> = Vec::new();
    for cause in all {
        match causes.iter_mut().find(|known| known.kind == cause.kind) {
            Some(known) if cause.value > known.value => *known = cause,
            Some(_) => {}
            None => causes.push(cause),
        }
    }
    causes.iter().map(|cause| cause.text.trim_end_matches('.')).collect::<Vec<_>>().join("; ")
}
