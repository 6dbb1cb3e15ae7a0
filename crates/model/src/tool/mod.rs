//! The tools that measure: load generators for servers, and timers for programs.

pub(crate) mod reading;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::load::profile::{Arrivals, Connection, Executor, LoadProfile, Pool};
use crate::reading::wording::words;
use crate::units::format_duration;
use crate::workload::data::DataBody;
use crate::workload::{Body, Workload};

/// A load generator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadTool {
    /// `tolok load`, which reports everything that a record stores.
    #[default]
    Tolok,
    /// k6, with a script from the lab or from the user.
    K6,
    /// wrk: a closed loop for a given time.
    Wrk,
    /// ab, `ApacheBench`: a closed loop with HTTP/1.0, in one thread.
    Ab,
    /// h2load of nghttp2, with HTTP/1.1.
    H2load,
    /// hey.
    Hey,
    /// oha.
    Oha,
}

/// A program that times another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// tolok's own, with `wait4`.
    #[default]
    Tolok,
    /// hyperfine, without a shell.
    Hyperfine,
    /// GNU time, run once for each run.
    Time,
}

/// The load generator of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolChoice {
    pub name: LoadTool,
    /// The user's script for its virtual users, instead of the lab's; k6 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

/// A script from the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its file, relative to the study's.
    pub file: String,
    /// Its text. It is part of the plan, so that the plan's fingerprint covers it and a run can continue without the
    /// file.
    pub text: String,
}

words!(LoadTool { Tolok: "tolok", K6: "k6", Wrk: "wrk", Ab: "ab", H2load: "h2load", Hey: "hey", Oha: "oha" });
words!(Timer { Tolok: "tolok", Hyperfine: "hyperfine", Time: "time" });

impl LoadTool {
    /// Name of its program in the toolbox, or `None` for tolok's own.
    pub fn program(self) -> Option<&'static str> {
        (self != Self::Tolok).then(|| self.word())
    }

    /// Why it cannot generate this load, if it cannot; a sentence without its full stop.
    pub fn refuses_load(self, load: &LoadProfile) -> Option<String> {
        let executors: &[&str] = match self {
            Self::Tolok => return None,
            Self::K6 => &[],
            Self::Wrk => &["constant-vus"],
            Self::Ab => &["constant-vus", "shared-iterations"],
            Self::H2load | Self::Hey | Self::Oha => &["constant-vus", "shared-iterations", "constant-arrival-rate"],
        };
        let (word, executor) = (self.word(), load.executor.name());
        if !executors.is_empty() && !executors.contains(&executor) {
            return Some(format!("{word} has no executor `{executor}`; it has {}", executors.join(", ")));
        }
        if let Some(refusal) = self.refuses_window(load) {
            return Some(refusal);
        }
        let knows_whole_seconds = matches!(self, Self::Wrk | Self::Ab | Self::Hey);
        if knows_whole_seconds && load.timeout_s.fract() != 0.0 {
            let timeout = format_duration(load.timeout_s);
            return Some(format!("{word} takes time-outs of whole seconds only, and `timeout` is {timeout}"));
        }
        if let Connection::Requests(_) = load.connection {
            return Some(format!("{word} cannot close a connection after a number of requests"));
        }
        if self == Self::H2load && load.connection == Connection::PerRequest {
            return Some("h2load keeps its connections".to_owned());
        }
        if load.think_time.is_some() && self != Self::K6 {
            return Some(format!("{word} has no `think-time`"));
        }
        if !load.pace.is_unlimited() {
            let key = if load.pace.read_bytes_per_s.is_some() { "read-rate" } else { "write-rate" };
            return Some(format!("{word} has no `{key}`; tolok has"));
        }
        match (&load.executor, load.pool) {
            (
                Executor::ConstantArrivalRate { arrivals: Arrivals::Poisson, .. }
                | Executor::RampingArrivalRate { arrivals: Arrivals::Poisson, .. },
                _,
            ) => Some(format!("{word} spaces arrivals evenly only")),
            (_, Some(Pool::Unbounded)) => Some(format!("{word} needs a number of connections as `pool`")),
            _ => None,
        }
    }

    /// Why it cannot use a window of this length, if it cannot: it would measure for longer than the other tools. A
    /// longer warm-up than requested does no harm.
    fn refuses_window(self, load: &LoadProfile) -> Option<String> {
        let is_ramp = matches!(load.executor, Executor::RampingVus { .. } | Executor::RampingArrivalRate { .. });
        if is_ramp || (self.nearest_window_s(load.duration_s) - load.duration_s).abs() < 1e-9 {
            return None;
        }
        let length = if self == Self::K6 { "a second at least" } else { "whole seconds only" };
        Some(format!("{} takes {length}, and `duration` is {}", self.word(), format_duration(load.duration_s)))
    }

    /// The shortest time of at least `seconds` for which it can generate load.
    pub fn nearest_window_s(self, seconds: f64) -> f64 {
        match self {
            Self::Tolok | Self::H2load | Self::Hey | Self::Oha => seconds,
            Self::K6 => seconds.max(1.0),
            // Multiplication may leave a value just above a whole number.
            Self::Wrk | Self::Ab => (seconds - 1e-9).ceil().max(1.0),
        }
    }

    /// Why it cannot request this workload, if it cannot; a sentence without its full stop.
    pub fn refuses_workload(self, workload: &Workload) -> Option<String> {
        if self == Self::Tolok {
            return None;
        }
        if let Some(refusal) = self.refuses_account(workload) {
            return Some(refusal);
        }
        let (word, name) = (self.word(), &workload.name);
        if workload.method != "GET" {
            return Some(format!("{word} is driven with GET only, and `{name}` is asked with {}", workload.method));
        }
        let draws = match &workload.body {
            Body::Data { data } => {
                matches!(data, DataBody::Query | DataBody::Queries | DataBody::Fortunes | DataBody::Crud)
            }
            Body::Computed { .. } | Body::Mixed { .. } | Body::List { .. } => true,
            body => body.is_mix(),
        };
        draws.then(|| format!("{word} asks for one path, and `{name}` draws its requests"))
    }

    /// Why it cannot check a counter, if it cannot. The other tools do not report how many requests of the whole run,
    /// including warm-up, were sent and answered.
    fn refuses_account(self, workload: &Workload) -> Option<String> {
        let counts = workload.body.data().is_some_and(DataBody::counts);
        (counts && self != Self::Tolok).then(|| {
            let (word, name) = (self.word(), &workload.name);
            format!("{word} does not report how many requests it sent in all, and `{name}` is checked by that")
        })
    }
}

impl ToolChoice {
    /// Why it cannot request this workload, if it cannot. A script's requests are its author's responsibility, except
    /// for counts that tolok must check.
    pub(crate) fn refuses_workload(&self, workload: &Workload) -> Option<String> {
        match self.script {
            Some(_) => self.name.refuses_account(workload),
            None => self.name.refuses_workload(workload),
        }
    }
}

impl Timer {
    /// Name of its program in the toolbox, or `None` for tolok's own.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::Tolok => None,
            Self::Hyperfine => Some("hyperfine"),
            Self::Time => Some("gnu_time"),
        }
    }
}

impl ToolChoice {
    /// A suffix that distinguishes scenarios of one workload and load: empty for tolok, `-wrk`, or `-k6-users` with a
    /// script of that name.
    pub(crate) fn suffix(&self) -> String {
        let script = self.script.as_ref().map(|script| {
            let name = script.file.rsplit('/').next().unwrap_or_default();
            let stem = name.split('.').next().unwrap_or_default();
            format!("-{}", stem.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"))
        });
        match self.name {
            LoadTool::Tolok => String::new(),
            tool => format!("-{}{}", tool.word(), script.unwrap_or_default()),
        }
    }
}

pub(crate) fn is_own_tool(choice: &ToolChoice) -> bool {
    *choice == ToolChoice::default()
}

pub(crate) fn is_own_timer(timer: &Timer) -> bool {
    *timer == Timer::Tolok
}
