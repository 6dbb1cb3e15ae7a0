//! Why a study yields no plan on a machine.

use crate::plan::skipped::Skipped;

/// Why no plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("none of the study's subjects is ready on this machine")]
    NothingReady(Vec<Skipped>),
    /// No environment of the study is available here.
    #[error("{}", environments_refused(.0))]
    NoEnvironment(Vec<Skipped>),
    #[error("none of the tools that the study names is on this machine")]
    NoTool(Vec<Skipped>),
    /// Everything in the study needs a database, and none of its databases is available here.
    #[error("everything in the study needs a database, and this machine has none")]
    NoDatabase(Vec<Skipped>),
    #[error(
        "none of the study's subjects serves any of its workloads; `workloads` of a subject.toml names what it serves, and `tolok \
         list subjects` what all of them do"
    )]
    NothingToDo(Vec<Skipped>),
    /// Its subjects serve its workloads, but over none of the requested protocols.
    #[error(
        "none of the study's subjects speaks the `protocol` that its scenarios ask for; `protocols` of a subject.toml names what \
         it speaks"
    )]
    NoProtocol(Vec<Skipped>),
    /// The exceeded limit, and how to avoid it.
    #[error("{0}")]
    TooLarge(String),
}

fn environments_refused(refused: &[Skipped]) -> String {
    let what =
        if refused.len() == 1 { "the study's environment cannot" } else { "none of the study's environments can" };
    let each: Vec<String> = refused.iter().map(|one| format!("{}: {}", one.subject, one.reason)).collect();
    format!("{what} be set up on this machine\n  {}", each.join("\n  "))
}
