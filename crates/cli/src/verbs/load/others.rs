//! Detects other programs that took the CPUs from the load and its server.
//!
//! tolok cannot tell which processes are the server, its workers and its database. So it looks just before the load and just after
//! it, when those are idle. It assumes that a machine that is busy both times was also busy in between.

use std::time::Duration;

use tolok_analysis::figures::small_share;
use tolok_host::machine::{CpuReading, Others, TAKEN_TOLERATED, ThisHost, WatchedHost, judge};
use tolok_load::verdict::{Gate, Reason};

use crate::args::{IfBusy, LoadArgs};

/// Length of each look.
const EACH_LOOK: Duration = Duration::from_millis(250);
/// If more than this share of the CPUs was idle, there was enough for all.
const IDLE_ENOUGH: f64 = 0.10;

/// What other programs did before the load.
pub(super) struct Before {
    others: Others,
    began: CpuReading,
}

impl Before {
    /// Looks, if the user wants it. The laboratory, which reads `--events`, has its own check. Generators on other machines cannot be
    /// seen from here.
    pub(super) fn look(args: &LoadArgs) -> Option<Self> {
        let is_wanted = args.if_busy == IfBusy::Doubt && !args.events && args.generators.is_empty();
        let others = is_wanted.then(|| Others::look(EACH_LOOK)).flatten()?;
        Some(Self { others, began: ThisHost::default().reading()? })
    }

    /// Why the load's figures are in doubt. If the machine was quiet before the load, there is no second look.
    pub(super) fn doubt(&self) -> Option<Reason> {
        if self.others.share <= TAKEN_TOLERATED {
            return None;
        }
        let meanwhile = judge(&self.began, &ThisHost::default().reading()?)?;
        reason(&self.others, meanwhile.idle, &Others::look(EACH_LOOK)?)
    }
}

fn reason(before: &Others, idle: f64, after: &Others) -> Option<Reason> {
    let is_busy = before.share.min(after.share) > TAKEN_TOLERATED && idle < IDLE_ENOUGH;
    let by = after.busiest.as_ref().map(|words| format!(", {words}")).unwrap_or_default();
    let [before, after] = [before, after].map(|others| small_share(others.share));
    let text = format!(
        "other programs used {before} of the CPUs just before the load and {after} just after it{by}; the load and its server \
         got what was left. Stop those programs and measure again, or ignore them with --if-busy ignore"
    );
    is_busy.then_some(Reason { gate: Gate::BusyMachine, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(share: f64) -> Others {
        Others { share, busiest: Some("most of it by yes (pid 7, 0.98 CPUs)".to_owned()) }
    }

    #[test]
    fn programs_that_are_busy_before_and_after_took_the_cpus_unless_some_were_idle() {
        let found = |before, idle, after| reason(&others(before), idle, &others(after)).is_some();
        assert!(found(0.95, 0.0, 0.95));
        assert!(!found(0.95, 0.5, 0.95), "there was enough for all");
        assert!(!found(0.04, 0.0, 0.95), "the server still works on what was sent");
        assert!(!found(0.95, 0.0, 0.04), "something ended before the load began");
    }

    #[test]
    fn the_reason_names_them_and_says_what_to_do() {
        let text = reason(&others(0.95), 0.0, &others(0.96)).unwrap().text;
        assert!(
            text.starts_with("other programs used 95% of the CPUs just before the load and 96% just after it, most of"),
            "{text}"
        );
        assert!(text.contains("yes (pid 7, 0.98 CPUs)") && text.ends_with("--if-busy ignore"), "{text}");
    }
}
