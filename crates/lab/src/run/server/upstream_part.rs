//! The upstream service that a subject's workload calls: started for the trial, and its count compared with the subject's responses.

use tolok_host::isolate::TrialBox;
use tolok_model::{FailureKind, Workload};
use tolok_tools::ToolReport;

use crate::run::server::trial::{Trial, TrialError};
use crate::upstream::Upstream;

impl Trial<'_> {
    /// Starts the service if the workload calls it.
    pub(in crate::run) fn start_upstream(&self, trial_box: &mut TrialBox) -> Result<Option<Upstream>, TrialError> {
        if self.external.is_some() && self.workload.asks_upstream() {
            let why = "the workload asks a service whose address only a server that tolok starts can know";
            return Err(TrialError::failed(FailureKind::Unreachable, why));
        }
        start_upstream(trial_box, [&self.workload].into_iter())
    }
}

/// Starts the service beside the subject of a box, if one of these workloads calls it.
pub(in crate::run) fn start_upstream<'a>(
    trial_box: &mut TrialBox,
    mut workloads: impl Iterator<Item = &'a Workload>,
) -> Result<Option<Upstream>, TrialError> {
    if !workloads.any(Workload::asks_upstream) {
        return Ok(None);
    }
    let listener = trial_box.listen_beside_subject().map_err(TrialError::lab)?;
    Upstream::start(listener).map(Some).map_err(TrialError::lab)
}

/// Fails if the service was called less often than the subject has answered.
pub(in crate::run) fn check_asked(upstream: &Upstream, report: &ToolReport) -> Result<(), TrialError> {
    let (asked, answered) = (upstream.asked(), report.answered_in_all.unwrap_or_default());
    if asked >= answered {
        return Ok(());
    }
    let why = format!(
        "it gave {answered} answers and asked the service beside it {asked} times; every answer must come from a question of its own"
    );
    Err(TrialError::failed(FailureKind::WrongAnswer, why))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn answers_without_a_question_are_wrong() {
        let upstream = Upstream::start(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        let answered = |number| ToolReport { answered_in_all: Some(number), ..ToolReport::default() };
        assert!(check_asked(&upstream, &answered(0)).is_ok());
        let Err(TrialError::Failed(kind, message)) = check_asked(&upstream, &answered(5)) else { panic!("it passed") };
        assert_eq!(kind, FailureKind::WrongAnswer);
        assert!(message.starts_with("it gave 5 answers and asked the service beside it 0 times"), "{message}");
    }
}
