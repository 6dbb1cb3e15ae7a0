//! The figures that two runs are compared by, the better direction of each, and its place in the findings.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;
use tolok_model::Measurement;

use crate::figure::server::SERVER_TRIALS;
use crate::figure::table::Around;
use crate::figure::{Figure, PROGRAM, Rows, SERVER};
use crate::figures::Quantity;
use crate::findings::{Better, CaseFinding, Estimate, ProgramCaseFinding};

worded! {
    /// A figure that is compared across two runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ComparedMetric by word {
        /// Correct responses per second: `goodput_rps`.
        Goodput = "goodput",
        /// Wall time of a program: `wall_s`.
        Wall = "wall",
        /// Median response time: `latency_p50_s`.
        P50 = "p50",
        /// The 99th percentile of response times: `latency_p99_s`.
        P99 = "p99",
        /// CPU time per correct response (`cpu_s_per_good`), or of a program (`cpu_s`).
        Cpu = "cpu",
        /// Memory of the subject (`memory_bytes`), or the largest resident set of a program (`rss_bytes`).
        Memory = "memory",
        /// From the start to the first correct response: `cold_start_s`.
        ColdStart = "cold-start",
    }
}

worded! {
    /// How a scenario loads its subjects, which decides its main figure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ScenarioKind by word {
        /// A closed loop: its main figure is goodput.
        Closed = "closed",
        /// An open loop: its main figures are p50 and p99.
        Open = "open",
        /// A program that runs to its end: its main figure is wall time.
        Program = "program",
    }
}

impl ComparedMetric {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] =
        [Self::Goodput, Self::Wall, Self::P50, Self::P99, Self::Cpu, Self::Memory, Self::ColdStart];

    /// Its name in a scenario of this kind. Times of a closed loop are marked, because there a slow response delays the next
    /// request.
    pub fn title(self, kind: ScenarioKind) -> &'static str {
        match (self, kind) {
            (Self::Goodput, _) => "goodput",
            (Self::Wall, _) => "wall time",
            (Self::P50, ScenarioKind::Closed) => "p50 (closed loop)",
            (Self::P50, _) => "p50",
            (Self::P99, ScenarioKind::Closed) => "p99 (closed loop)",
            (Self::P99, _) => "p99",
            (Self::Cpu, ScenarioKind::Program) => "CPU time",
            (Self::Cpu, _) => "CPU per response",
            (Self::Memory, _) => "memory",
            (Self::ColdStart, _) => "cold start",
        }
    }

    /// The quantity, which gives its unit.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Goodput => Quantity::Number,
            Self::Memory => Quantity::Bytes,
            Self::Wall | Self::P50 | Self::P99 | Self::Cpu | Self::ColdStart => Quantity::Seconds,
        }
    }

    /// Its unit in files.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Goodput => "per_s",
            Self::Memory => "bytes",
            Self::Wall | Self::P50 | Self::P99 | Self::Cpu | Self::ColdStart => "s",
        }
    }

    /// Which way is better.
    pub fn better(self) -> Better {
        if self == Self::Goodput { Better::Higher } else { Better::Lower }
    }

    /// Whether it is a main figure in scenarios of this kind.
    pub(super) fn is_main_of(self, kind: ScenarioKind) -> bool {
        match kind {
            ScenarioKind::Closed => self == Self::Goodput,
            ScenarioKind::Open => matches!(self, Self::P50 | Self::P99),
            ScenarioKind::Program => self == Self::Wall,
        }
    }

    /// Whether scenarios of this kind are judged by it if the user names no figures.
    fn is_usual_in(self, kind: ScenarioKind) -> bool {
        self.is_main_of(kind)
            || match kind {
                ScenarioKind::Closed | ScenarioKind::Open => matches!(self, Self::Goodput | Self::Cpu | Self::Memory),
                ScenarioKind::Program => self == Self::Cpu,
            }
    }

    /// Whether scenarios of this kind have it at all.
    fn is_known_in(self, kind: ScenarioKind) -> bool {
        match kind {
            ScenarioKind::Closed | ScenarioKind::Open => self != Self::Wall,
            ScenarioKind::Program => matches!(self, Self::Wall | Self::Cpu | Self::Memory),
        }
    }

    /// The figures that judge scenarios of this kind, and whether each is a main figure. Every figure that the user names is one.
    pub(super) fn of(kind: ScenarioKind, asked: &[Self]) -> Vec<(Self, bool)> {
        let is_wanted = |metric: &Self| match asked {
            [] => metric.is_usual_in(kind),
            asked => asked.contains(metric) && metric.is_known_in(kind),
        };
        let all = Self::ALL.into_iter().filter(is_wanted);
        all.map(|metric| (metric, !asked.is_empty() || metric.is_main_of(kind))).collect()
    }

    /// Its rows in the tables of servers and of programs.
    fn ids(self) -> [Option<&'static str>; 2] {
        match self {
            Self::Goodput => [Some("goodput_rps"), None],
            Self::Wall => [None, Some("wall_s")],
            Self::P50 => [Some("latency_p50_s"), None],
            Self::P99 => [Some("latency_p99_s"), None],
            Self::Cpu => [Some("cpu_s_per_good"), Some("cpu_s")],
            Self::Memory => [Some("memory_bytes"), Some("rss_bytes")],
            Self::ColdStart => [Some("cold_start_s"), None],
        }
    }

    /// Finds it in a server's case.
    pub(crate) fn of_server(self, case: &CaseFinding) -> Option<&Estimate> {
        estimate(SERVER, self.ids()[0]?, &case.figures)
    }

    /// The value of a server's case as tables show it.
    pub(crate) fn shown_of_server(self, case: &CaseFinding) -> Option<&Estimate> {
        match self {
            Self::Goodput => case.shown_goodput_rps(),
            Self::Cpu => case.shown_cpu_s_per_good(),
            Self::Memory => case.shown_memory_bytes(),
            Self::Wall | Self::P50 | Self::P99 | Self::ColdStart => self.of_server(case),
        }
    }

    /// Finds it in a program's case.
    pub(super) fn of_program(self, case: &ProgramCaseFinding) -> Option<&Estimate> {
        estimate(PROGRAM, self.ids()[1]?, &case.figures)
    }

    /// Reads it from a server's trial.
    pub(crate) fn read(self, trial: &Measurement, around: &Around) -> Option<f64> {
        let id = self.ids()[0]?;
        let row = SERVER_TRIALS.iter().copied().flatten().find(|row| row.name == id)?;
        (row.read)(trial, around)
    }
}

fn estimate<'a, F>(rows: Rows<Figure<F>>, id: &str, figures: &'a F) -> Option<&'a Estimate> {
    let row = rows.iter().copied().flatten().find(|row| row.id == id)?;
    (row.estimate)(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kind: ScenarioKind, asked: &[ComparedMetric]) -> Vec<(&'static str, bool)> {
        ComparedMetric::of(kind, asked).into_iter().map(|(metric, is_main)| (metric.word(), is_main)).collect()
    }

    #[test]
    fn what_a_scenario_is_judged_by_follows_from_its_kind() {
        assert_eq!(words(ScenarioKind::Closed, &[]), [("goodput", true), ("cpu", false), ("memory", false)]);
        assert_eq!(
            words(ScenarioKind::Open, &[]),
            [("goodput", false), ("p50", true), ("p99", true), ("cpu", false), ("memory", false)]
        );
        assert_eq!(words(ScenarioKind::Program, &[]), [("wall", true), ("cpu", false)]);
    }

    #[test]
    fn what_is_asked_for_is_a_main_figure_where_it_is_known() {
        let asked = [ComparedMetric::ColdStart, ComparedMetric::P99];
        assert_eq!(words(ScenarioKind::Closed, &asked), [("p99", true), ("cold-start", true)]);
        assert_eq!(words(ScenarioKind::Program, &asked), []);
    }
}
