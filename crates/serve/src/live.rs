//! The progress of an active run, added up from its events.

use std::path::Path;

use serde::Deserialize;

use crate::tail::{Tail, last_line};

/// An event of a run. Unknown and malformed events are skipped.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Told {
    RunStarted {
        finished: Option<u32>,
        estimate_s: Option<f64>,
    },
    Building {
        subject: String,
    },
    LoadingData {
        database: String,
    },
    Waiting {
        #[serde(default)]
        reasons: Vec<String>,
    },
    TrialStarted {
        trial: u32,
        case: String,
    },
    Phase {
        phase: String,
    },
    TrialFinished {
        left_s: Option<f64>,
    },
    Diagnosing {},
    Diagnosed {},
    RunEnded {
        missing: Option<u32>,
    },
    #[serde(other)]
    Other,
}

/// The current activity of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Doing {
    /// There is no event yet.
    #[default]
    Beginning,
    /// Work before the first trial or between two, as a sentence.
    Preparing(String),
    Trial {
        trial: u32,
        case: String,
        /// Its phase, such as `measuring`; `None` before the first.
        phase: Option<String>,
    },
    /// Trials that are not scored.
    Diagnosing,
    Ended,
}

/// The progress of a run according to its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Live {
    pub doing: Doing,
    /// Estimated seconds to the end, or `None` without an estimate.
    pub left_s: Option<f64>,
    /// Finished trials, including those of earlier sessions.
    pub finished: u32,
    /// Trials missing at the end of the run; `None` while it is active.
    pub missing: Option<u32>,
}

impl Live {
    /// Adds up the events of a run, or `None` if it has none.
    pub fn read(run: &Path) -> Option<Self> {
        let mut tail = Tail::after(run, 0);
        let mut live = None;
        loop {
            let lines = tail.next().ok()?;
            if lines.is_empty() {
                return live;
            }
            let live = live.get_or_insert_with(Self::default);
            lines.iter().for_each(|line| live.hear(&line.text));
        }
    }

    /// The state from the last event only: whether the run has ended, and how many trials are missing. Fast, and enough for a list.
    pub fn read_end(run: &Path) -> Option<Self> {
        let line = last_line(run)?;
        let mut live = Self::default();
        live.hear(&line);
        Some(live)
    }

    fn hear(&mut self, text: &str) {
        let Ok(told) = serde_json::from_str(text) else { return };
        match told {
            Told::RunStarted { finished, estimate_s } => {
                *self = Self { left_s: estimate_s, finished: finished.unwrap_or(0), ..Self::default() };
            }
            Told::Building { subject } => self.doing = Doing::Preparing(format!("Building {subject}")),
            Told::LoadingData { database } => {
                self.doing = Doing::Preparing(format!("Loading the data of {database}"));
            }
            Told::Waiting { reasons } => {
                self.doing = Doing::Preparing(format!("Waiting for a quiet machine: {}", reasons.join("; ")));
            }
            Told::TrialStarted { trial, case } => self.doing = Doing::Trial { trial, case, phase: None },
            Told::Phase { phase: next } => {
                if let Doing::Trial { phase, .. } = &mut self.doing {
                    *phase = Some(next.replace('-', " "));
                }
            }
            Told::TrialFinished { left_s } => {
                self.finished += 1;
                self.left_s = left_s.or(self.left_s);
            }
            Told::Diagnosing {} => self.doing = Doing::Diagnosing,
            Told::RunEnded { missing } => {
                self.doing = Doing::Ended;
                (self.left_s, self.missing) = (None, Some(missing.unwrap_or(0)));
            }
            Told::Diagnosed {} | Told::Other => {}
        }
    }
}

/// Whether a line is the last event of its run.
pub fn is_end(line: &str) -> bool {
    matches!(serde_json::from_str(line), Ok(Told::RunEnded { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> Live {
        let mut live = Live::default();
        lines.iter().for_each(|line| live.hear(line));
        live
    }

    const STARTED: &str = r#"{"t_s":0.0,"event":"run-started","schema_version":1,"run":"a","folder":"/runs/a","title":"A","pid":7,"trials":4,"finished":1,"estimate_s":12.5}"#;
    const TRIAL: &str = r#"{"t_s":1.0,"event":"trial-started","trial":2,"round":1,"case":"json--go","subject":"go/nethttp","scenario":"json"}"#;
    const PHASE: &str = r#"{"t_s":1.5,"event":"phase","trial":2,"phase":"warming-up"}"#;
    const SECOND: &str = r#"{"t_s":2.5,"event":"second","trial":2,"phase":"warming-up","start_s":-1.0,"duration_s":1.0,"good":7,"failed":0,"p50_s":null,"p99_s":null}"#;
    const FINISHED: &str = r#"{"t_s":5.0,"event":"trial-finished","trial":2,"round":1,"case":"json--go","subject":"go/nethttp","scenario":"json","outcome":"completed","goodput_rps":3.5,"left_s":8.25}"#;
    const ENDED: &str = r#"{"t_s":9.0,"event":"run-ended","missing":2,"failed":0}"#;

    #[test]
    fn a_run_is_followed_from_its_beginning_to_its_end() {
        let begun = after(&[STARTED, r#"{"t_s":0.2,"event":"building","subject":"go/nethttp"}"#]);
        let preparing = Doing::Preparing("Building go/nethttp".to_owned());
        assert_eq!(begun, Live { doing: preparing, left_s: Some(12.5), finished: 1, missing: None });
        let warm = after(&[STARTED, TRIAL, PHASE, SECOND]);
        let phase = Some("warming up".to_owned());
        assert_eq!(warm.doing, Doing::Trial { trial: 2, case: "json--go".to_owned(), phase });
        let one = after(&[STARTED, TRIAL, PHASE, FINISHED]);
        assert_eq!((one.finished, one.left_s), (2, Some(8.25)));
        let ended = after(&[STARTED, TRIAL, FINISHED, ENDED]);
        assert_eq!(ended, Live { doing: Doing::Ended, left_s: None, finished: 2, missing: Some(2) });
        assert!(is_end(ENDED) && !is_end(FINISHED));
    }

    #[test]
    fn a_session_that_goes_on_is_not_over() {
        let again = after(&[STARTED, TRIAL, FINISHED, ENDED, &STARTED.replace("\"finished\":1", "\"finished\":2")]);
        assert_eq!(again, Live { doing: Doing::Beginning, left_s: Some(12.5), finished: 2, missing: None });
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let strange = [r#"{"event":"tea-break"}"#, r#"{"event":"trial-started"}"#, "7", "{}"];
        assert_eq!(after(&[&[STARTED], &strange[..]].concat()), after(&[STARTED]));
    }
}
