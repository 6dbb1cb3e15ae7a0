//! The inputs of a case's flags, gates and bottlenecks.

use tolok_model::{Connection, Disturbance, ExternalServer, LoadProfile, Measurement, Scenario, ToolWarning};

use crate::environment::Surroundings;
use crate::findings::{DatabaseFinding, DatabaseUse, ServerFigures, SteadyFinding};
use crate::flag::WAITING_TOLERATED;
use crate::observations::Observations;
use crate::usage::Cpus;

/// What a case is judged by.
pub(crate) struct CaseInputs<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) around: &'a Surroundings,
    pub(crate) cpus: &'a Cpus,
    pub(crate) figures: &'a ServerFigures,
    pub(crate) observations: &'a Observations<'a>,
    pub(crate) asked: Option<&'a DatabaseFinding>,
    pub(crate) steady: Option<&'a SteadyFinding>,
    /// The server that the subject is, where tolok did not start it.
    pub(crate) external: Option<&'a ExternalServer>,
}

impl CaseInputs<'_> {
    /// Whether the subject is an external server: tolok knows its responses and nothing else.
    pub(crate) fn is_external(&self) -> bool {
        self.external.is_some()
    }

    /// What the database did, or `None` without one.
    pub(crate) fn database(&self) -> Option<&DatabaseUse> {
        self.figures.database.as_ref()
    }

    /// Share of its CPUs that the database used.
    pub(crate) fn database_busy(&self) -> Option<f64> {
        self.database()?.busy
    }
}

/// The warnings of the tool that bar a case from the ranking.
///
/// A generator at its limit is judged here and not by the tool where the loop is closed: the tool does not know whether
/// the subject was at its limit as well, and then the figure is sound. Where requests start by the clock it is the other
/// way round: the tool may spend CPU time on waiting exactly, and only it knows whether it came too late.
pub(crate) fn warnings_that_count<'a>(
    trial: &'a Measurement,
    load: &LoadProfile,
) -> impl Iterator<Item = &'a ToolWarning> + use<'a> {
    let is_open = load.executor.is_open();
    trial.tool_warnings.iter().filter(move |warning| is_open || warning.gate != "generator-busy")
}

/// Share of the scheduled requests that never left.
pub(crate) fn unsent_share(trial: &Measurement) -> f64 {
    let scheduled = trial.ledger.sent.unwrap_or(trial.ledger.finished()) + trial.ledger.unsent;
    trial.ledger.unsent as f64 / scheduled.max(1) as f64
}

/// Most connections that waited when a trial ended, if that is many.
pub(crate) fn waiting_connections(observations: &Observations, load: &LoadProfile) -> Option<u64> {
    let connections = load.connections_max()?;
    let ledgers = observations.trials().map(|measurement| &measurement.ledger);
    let unanswered = ledgers.filter_map(|ledger| ledger.connections_unanswered);
    let most = unanswered.map(|unanswered| unanswered.min(u64::from(connections))).max()?;
    let is_many = most as f64 >= WAITING_TOLERATED * f64::from(connections);
    (load.connection == Connection::KeepAlive && is_many).then_some(most)
}

/// Each kind once, with the words of the trial in which it was worst.
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
