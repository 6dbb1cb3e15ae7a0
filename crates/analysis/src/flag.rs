//! Flags: what readers must know about a case before they trust its figures. This is the only list of flags.
//!
//! The rules that raise them are in `flags.rs`, `tool_flags.rs`, `database_flags.rs`, `gates/` and `programs/flags.rs`. A
//! disturbed trial counts only for [`FlagKind::Disturbed`], [`FlagKind::OutOfMemory`] and [`FlagKind::CounterWrong`].

use std::fmt;

use serde::Serialize;

use crate::JsonSchema;

/// A part that uses at least this share of its CPUs is at its limit.
pub const SATURATED: f64 = 0.90;
/// A larger share of failed requests voids the rank: the subject did a different workload.
pub const ERRORS_TOLERATED: f64 = 0.01;
/// Up to this share of the connections may still wait for their first response when a trial ends.
pub const WAITING_TOLERATED: f64 = 0.10;
/// Up to this share of the scheduled requests may still wait for a connection when a trial ends.
pub const BACKLOG_TOLERATED: f64 = 0.01;
/// A quota may stop its subject in up to this share of its periods without a flag.
pub const THROTTLING_TOLERATED: f64 = 0.05;
/// From this share of the limit on, memory counts as used up: the page cache must shrink.
pub const MEMORY_LIMIT_NEAR: f64 = 0.98;
/// From this share of its rate on, a link counts as full. There are gaps between packets, so a link never reaches its rate.
pub const LINK_FULL: f64 = 0.90;
/// Packets may leave the link's emulator late on average by up to this share of the median latency.
pub const LINK_LATENESS_OF_LATENCY: f64 = 0.10;

/// A flag of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Flag {
    /// The kind of flag.
    pub kind: FlagKind,
    /// The reason in a sentence, with the measured figure.
    pub message: String,
    /// Whether it bars the case from the ranking.
    pub voids_rank: bool,
}

/// Whether a flag voids the rank of its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voids {
    /// Always.
    Always,
    /// Under this condition.
    If(&'static str),
    /// Never.
    Never,
}

impl Voids {
    /// `yes`, `no`, or the condition.
    pub fn words(self) -> &'static str {
        match self {
            Self::Always => "yes",
            Self::If(condition) => condition,
            Self::Never => "no",
        }
    }
}

/// The properties of a kind of flag.
struct About {
    word: &'static str,
    voids: Voids,
    why: &'static str,
    unsound: Option<&'static str>,
}

macro_rules! flags {
    ($($kind:ident $word:literal $voids:expr, $why:literal $(; unsound: $unsound:literal)?)+) => {
        /// The kinds of flags, by their stable words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum FlagKind {
            $(#[doc = $why] #[serde(rename = $word)] $kind,)+
        }

        impl FlagKind {
            /// All kinds, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            fn about(self) -> About {
                match self {
                    $(Self::$kind => About {
                        word: $word,
                        voids: $voids,
                        why: $why,
                        unsound: None$(.or(Some($unsound)))?,
                    },)+
                }
            }
        }
    };
}

use Voids::{Always, If, Never};

flags! {
    Errors "errors" If("above 1% of the requests"), "A request failed."; unsound: "with failed requests"
    NoGoodAnswers "no-good-answers" Always, "A measured trial had no correct response at all."; unsound: "without a correct response"
    LedgerOpen "ledger-open" Always, "The requests of a trial are not all accounted for."; unsound: "whose requests do not add up"
    NotTrusted "not-trusted" Always, "The load generator reports its own figures of a trial as invalid.";
        unsound: "whose tool does not stand by its figures"
    Disturbed "disturbed" If("if no trial is left"),
        "Other programs disturbed a trial each time it was measured; no figure includes the trial.";
        unsound: "disturbed by others in every trial, so run again when the machine is quiet"
    LinkLate "link-late" Always, "Packets left the link's emulator late, on average by a tenth of the median latency or more.";
        unsound: "whose emulated link was late"
    CounterWrong "counter-wrong" Always, "A number that must be exactly right was wrong, in any measured trial.";
        unsound: "whose counter is wrong"
    WireContradicts "wire-contradicts" Always,
        "The tool and the kernel disagree on the number of correct responses: by more than the connections, by more than 1%, and by more than can have crossed outside the tool's window.";
        unsound: "whose tool counted something else than the wire"
    Little "little" Always, "In a trial, users or requests in flight were not rate × time (Little's law).";
        unsound: "against Little’s law"
    Utilisation "utilisation" Always, "In a trial, a part used more CPU time than it was given."; unsound: "against the utilisation law"
    LinkBytes "link-bytes" Always,
        "In a trial, more bytes of bodies came over the client's link than its rate lets through or its emulator carried.";
        unsound: "with more bytes than the link carries"
    NotSteady "not-steady" If("if more than half of the trials were not steady"), "The seconds of a trial's window had no single level.";
        unsound: "that found no steady state"
    GeneratorBound "generator-bound" Always,
        "In a closed loop, the generator used 90% of its CPUs, or its quota stopped it in more than 5% of its periods, while the subject used less than 90% of its own."
    Aborted "aborted" Always, "A trial stopped at the first crossed objective, as the study asks."
    OutOfMemory "out-of-memory" Always, "The kernel killed a process of the subject because memory ran out, in any trial."
    WindowTooShort "window-too-short" Always, "A measured trial had correct responses, but none to a request of its own window."
    Outage "outage" Always, "The study takes the database away during the window."
    TasksRefused "tasks-refused" Always, "The subject could not start a process or thread because it had reached its limit."
    FailedTrials "failed-trials" Never, "A trial could not be measured."
    TooFewTrials "too-few-trials" Never, "There are fewer trials than an interval needs, so the case differs from no other."
    Backlog "backlog" Never, "When a trial ended, 1% of the scheduled requests or more still waited for a connection."
    ConnectionsWaiting "connections-waiting" Never, "When a trial ended, a tenth of the connections or more still waited for their first answer."
    Throttled "throttled" Never, "The subject's quota stopped it in more than 5% of its periods."
    MemoryLimitNear "memory-limit-near" Never, "Memory with page cache came within 2% of its limit."
    LinkFull "link-full" Never, "A link was offered 90% of its rate or more, so it may have been the limit."
    DatabaseRefused "database-refused" Never, "The database refused a connection because it had reached its limit."
    PoolWaits "pool-waits" Never, "Requests waited for a connection to the database, once in ten correct responses or more often."
    ToolTellsLittle "tool-tells-little" Never, "The load generator does not report what some of these flags rest on."
    SharedCpus "shared-cpus" Never, "Subject and generator had the same CPUs."
    External "external" Never, "tolok did not start the server, so it knows neither what the server used nor what it shared with others."
    MemoryGrows "memory-grows" Never, "The subject's memory grew by more than 1% over a window, in an interval that excludes 0."
    CoarseTimer "coarse-timer" Always, "The timer's step is more than 5% of the median wall time of a program's trial."
    AtFloor "at-floor" Never,
        "The interval of a program's time above its start reaches 0, or that time is less than 10% of the wall time; it is not compared."
    FewRuns "few-runs" Never, "A trial of a program has a single run."
    Outliers "outliers" Never, "A run of a program lies far from the others of its trial; every figure keeps it."
    FirstRun "first-run" Never, "The first counted run is an outlier in more than half of a program's trials, as after too short a warm-up."
}

impl FlagKind {
    /// The stable word used in files.
    pub fn word(self) -> &'static str {
        self.about().word
    }

    /// When it is raised, in a sentence.
    pub fn why(self) -> &'static str {
        self.about().why
    }

    /// Whether it voids the rank of its case.
    pub fn voids(self) -> Voids {
        self.about().voids
    }

    /// A description of cases whose results are unreliable because of this flag, or `None` if the flag is not a fault of the run.
    pub fn unsound(self) -> Option<&'static str> {
        self.about().unsound
    }

    /// Raises this flag, whose effect on the rank is unconditional.
    pub(crate) fn raised(self, message: String) -> Option<Flag> {
        self.raised_voiding(self.voids() == Always, message)
    }

    /// Raises this flag under a condition. Its effect on the rank is unconditional.
    pub(crate) fn raised_if(self, is_raised: bool, message: impl FnOnce() -> String) -> Option<Flag> {
        is_raised.then(message).and_then(|message| self.raised(message))
    }

    /// Raises this flag, whose effect on the rank the caller decides.
    pub(crate) fn raised_voiding(self, voids_rank: bool, message: String) -> Option<Flag> {
        Some(Flag { kind: self, message, voids_rank })
    }
}

impl fmt::Display for FlagKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl PartialEq<&str> for FlagKind {
    fn eq(&self, word: &&str) -> bool {
        self.word() == *word
    }
}

impl PartialEq<str> for FlagKind {
    fn eq(&self, word: &str) -> bool {
        self.word() == word
    }
}
