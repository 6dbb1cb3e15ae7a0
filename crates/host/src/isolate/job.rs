//! The jobs of hidden verbs, which tolok passes to itself. A user who calls such a verb has none.

use std::io::{self, IsTerminal};

use serde::de::DeserializeOwned;

/// A hidden verb was called without the job that only tolok's own processes get.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`tolok {0}` is a step of a run, which tolok starts itself; see `tolok --help` for what you can call")]
pub struct NotForPeople(pub &'static str);

/// Parses the job of a hidden verb, or refuses text that tolok did not write.
pub fn job_of<T: DeserializeOwned>(verb: &'static str, text: &str) -> io::Result<T> {
    match serde_json::from_str(text) {
        // tolok never passes the user's terminal on to another of its processes.
        Ok(job) if !io::stdin().is_terminal() => Ok(job),
        _ => Err(refuse(verb)),
    }
}

/// The refusal, for callers that already know that tolok did not write the job.
pub fn refuse(verb: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotForPeople(verb))
}

/// Whether the error is the refusal of a hidden verb.
pub fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotForPeople>())
}
