//! A trial of a server that tolok does not start: whether it is reachable, and what it must answer.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tolok_load::target::Target;
use tolok_model::{ExternalServer, FailureKind, OwedBody, OwnRequest, URL_WORKLOAD};

use crate::run::server::trial::{Trial, TrialError};
use crate::subject::{Answer, ProbeError, ProbeTarget, Question, ask_by_name};
use crate::user_servers::differs;
use tolok_tools::Answers;

/// A running server needs no preparation: one that does not answer within this time is unreachable.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a server listens.
pub(in crate::run) fn address_of(server: &ExternalServer) -> Result<SocketAddr, TrialError> {
    let target = Target::parse(&server.base).and_then(|target| target.resolve());
    target.map_err(|error| TrialError::failed(FailureKind::Unreachable, format!("failed to {error}")))
}

impl Trial<'_> {
    /// Fails if the server does not answer, or answers wrongly. A body is kept for the load tool only after its fingerprint has matched
    /// the one recorded before the run.
    pub(in crate::run) fn is_there(&self, server: &ExternalServer, address: SocketAddr) -> Result<(), TrialError> {
        let answer = self.answer_of(server, address).map_err(|error| match error {
            ProbeError::Malformed(_) => TrialError::failed(FailureKind::WrongAnswer, error),
            error => TrialError::failed(FailureKind::Unreachable, format!("{} gave no answer: {error}", server.base)),
        })?;
        let wrong = |difference| TrialError::Failed(FailureKind::WrongAnswer, difference);
        let Some(own) = self.own_request() else {
            return self.session.assets.check(&answer, &self.workload).map_err(wrong);
        };
        differs(&answer, own).map_err(wrong)?;
        fs::write(self.owed_file(), &answer.body).map_err(TrialError::lab)
    }

    /// If the server is unreachable, that explains the failure better than the load tool's message.
    pub(in crate::run) fn or_unreachable<T>(&self, failed: TrialError, address: SocketAddr) -> Result<T, TrialError> {
        match self.external.map(|server| self.is_there(server, address)) {
            Some(Err(gone @ TrialError::Failed(FailureKind::Unreachable, _))) => Err(gone),
            _ => Err(failed),
        }
    }

    /// The request that the server's URL names, if the study names none.
    pub(in crate::run) fn own_request(&self) -> Option<&OwnRequest> {
        self.external?.own.as_ref().filter(|_| self.workload.name == URL_WORKLOAD)
    }

    /// How to recognise its correct responses.
    pub(in crate::run) fn owed(&self, own: &OwnRequest) -> Answers {
        match own.body {
            OwedBody::Bytes { .. } => Answers::Body(self.owed_file()),
            OwedBody::Length { bytes } => Answers::Length(bytes),
            OwedBody::Nothing => Answers::Status,
        }
    }

    fn owed_file(&self) -> PathBuf {
        let name = self.launch.subject.id.replace('/', "-");
        self.session.assets.folder().join(format!("owed-{name}"))
    }

    fn answer_of(&self, server: &ExternalServer, address: SocketAddr) -> Result<Answer, ProbeError> {
        let url = format!("{}{}", server.base, self.session.assets.path(&self.workload));
        let target = Target::parse(&url).map_err(|_| ProbeError::Malformed("its URL is wrong"))?;
        let request = Question { path: target.path(), ..self.session.assets.question(&self.workload) };
        let is_wanted = || !self.stop.is_immediate();
        ask_by_name(ProbeTarget::directly(address), &target.authority(), request, PATIENCE, &is_wanted)
    }
}
