//! The jobs of hidden verbs, which tolok gives itself. A person who calls such a verb has none.

use std::io::{self, IsTerminal};

use serde::de::DeserializeOwned;

/// A hidden verb was called without the job that only tolok's own processes get.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`tolok {0}` is a step of a run, which tolok starts itself; see `tolok --help` for what you can call")]
pub struct NotForPeople(pub &'static str);

/// The job of a hidden verb, or a refusal of one that no tolok wrote.
pub fn job_of<T: DeserializeOwned>(verb: &'static str, text: &str) -> io::Result<T> {
    match serde_json::from_str(text) {
        // No process of tolok gives another the user's keyboard.
        Ok(job) if !io::stdin().is_terminal() => Ok(job),
        _ => Err(refuse(verb)),
    }
}

/// The same where it is known that nobody meant it.
pub fn refuse(verb: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotForPeople(verb))
}

/// Whether a hidden verb was refused to a person.
pub fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotForPeople>())
}
