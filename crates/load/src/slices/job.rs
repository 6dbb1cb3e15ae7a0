//! The job of a run in slices, read from a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A file of slices: servers, their loads, and the order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicesJob {
    /// Version of this format: [`SlicesJob::FORMAT`].
    pub format: u32,
    /// How long to wait for responses in flight at the end of a slice, in seconds.
    pub drain_limit_s: f64,
    /// The servers, each frozen outside its slices.
    pub servers: Vec<SlicedServer>,
    /// Source of the CPU time of the servers' database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_cpu: Option<CpuAccount>,
    /// The loads. Several targets may share a server.
    pub targets: Vec<SlicedTarget>,
    /// The slices.
    pub order: Vec<Turn>,
}

impl SlicesJob {
    /// The only supported version.
    pub const FORMAT: u32 = 1;

    /// Why it is invalid, or `None`.
    pub fn problem(&self) -> Option<String> {
        let is_time = |seconds: f64| seconds.is_finite() && (0.0..=3600.0).contains(&seconds);
        if self.format != Self::FORMAT {
            return Some(format!("its format is {}, and {} is known", self.format, Self::FORMAT));
        }
        if let Some(target) = self.targets.iter().find(|target| target.server >= self.servers.len()) {
            return Some(format!("target `{}` names server {}, which does not exist", target.name, target.server));
        }
        for (slice, turn) in self.order.iter().enumerate() {
            if turn.target >= self.targets.len() {
                return Some(format!("slice {slice} names target {}, which does not exist", turn.target));
            }
            if !is_time(turn.lead_in_s) || !is_time(turn.window_s) || turn.window_s == 0.0 {
                return Some(format!(
                    "slice {slice} has no sound length; a window is longer than 0 and at most an hour"
                ));
            }
        }
        if self.order.is_empty() {
            return Some("it has no slices".to_owned());
        }
        (!is_time(self.drain_limit_s)).then(|| "`drain_limit_s` is no time between 0 and 3600 s".to_owned())
    }
}

/// A server to load in slices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicedServer {
    /// A name for messages.
    pub name: String,
    /// How to freeze it, or `None` if it cannot be frozen; then it idles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freezer: Option<FreezerFiles>,
    /// Source of its CPU time, or `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuAccount>,
}

/// The files of a control group that freeze it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum FreezerFiles {
    /// Version 1 of control groups.
    #[serde(rename = "v1")]
    V1 {
        /// `freezer.state`
        state: PathBuf,
    },
    /// Version 2 of control groups.
    #[serde(rename = "v2")]
    V2 {
        /// `cgroup.freeze`
        freeze: PathBuf,
        /// `cgroup.events`
        events: PathBuf,
    },
}

/// Where to read the CPU time of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of", rename_all = "kebab-case")]
pub enum CpuAccount {
    /// `cpuacct.usage` of a control group: a number of nanoseconds.
    Cpuacct(PathBuf),
    /// `cpu.stat` of a control group, with a line `usage_usec`.
    CpuStat(PathBuf),
    /// The clocks of these processes and of all their descendants. What a process used between its last reading and its end is lost.
    Processes(Vec<u32>),
}

/// A load on a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicedTarget {
    /// A name for the record.
    pub name: String,
    /// Index of its server in the list.
    pub server: usize,
    /// The arguments of `tolok load` for this load only. Its `--warmup` comes before the first slice.
    pub arguments: Vec<String>,
}

/// A slice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Index of its target in the list.
    pub target: usize,
    /// How long load runs before the window, in seconds.
    pub lead_in_s: f64,
    /// Length of the window, in seconds.
    pub window_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> SlicesJob {
        let target =
            SlicedTarget { name: "one".to_owned(), server: 0, arguments: vec!["http://127.0.0.1:1/".to_owned()] };
        SlicesJob {
            format: SlicesJob::FORMAT,
            drain_limit_s: 1.0,
            servers: vec![SlicedServer::default()],
            database_cpu: None,
            targets: vec![target],
            order: vec![Turn { target: 0, lead_in_s: 0.02, window_s: 0.1 }],
        }
    }

    #[test]
    fn what_points_nowhere_is_named() {
        assert_eq!(job().problem(), None);
        let wrong = |change: fn(&mut SlicesJob)| {
            let mut job = job();
            change(&mut job);
            job.problem().unwrap_or_default()
        };
        assert_eq!(wrong(|job| job.format = 9), "its format is 9, and 1 is known");
        assert_eq!(wrong(|job| job.targets[0].server = 3), "target `one` names server 3, which does not exist");
        assert_eq!(wrong(|job| job.order[0].target = 1), "slice 0 names target 1, which does not exist");
        assert!(wrong(|job| job.order[0].window_s = 0.0).starts_with("slice 0 has no sound length"));
        assert!(wrong(|job| job.order[0].lead_in_s = f64::NAN).starts_with("slice 0 has no sound length"));
        assert_eq!(wrong(|job| job.order.clear()), "it has no slices");
        assert!(wrong(|job| job.drain_limit_s = -1.0).starts_with("`drain_limit_s`"));
    }

    #[test]
    fn a_job_is_read_as_it_is_written() {
        let mut job = job();
        job.servers[0].freezer = Some(FreezerFiles::V1 { state: "/g/freezer.state".into() });
        job.servers[0].cpu = Some(CpuAccount::CpuStat("/g/cpu.stat".into()));
        let text = serde_json::to_string(&job).unwrap();
        assert!(text.contains(r#""freezer":{"version":"v1","state":"/g/freezer.state"}"#), "{text}");
        assert!(text.contains(r#""cpu":{"kind":"cpu-stat","of":"/g/cpu.stat"}"#), "{text}");
        assert_eq!(serde_json::from_str::<SlicesJob>(&text).unwrap(), job);
    }
}
