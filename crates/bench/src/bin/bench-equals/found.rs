//! The results of runs of equal servers, and of comparisons between these runs.

use std::fmt::Write as _;
use std::path::Path;

use tolok_analysis::{
    CompareOutcome, CompareRequest, ComparedRun, Findings, Names, Records, ScenarioFinding, analyse, compare_runs,
};
use tolok_bench::beside::{condition_of, folders_in};
use tolok_bench::error::{BenchError, failed};
use tolok_bench::machine::Machine;
use tolok_bench::rates::{middle, rate};
use tolok_bench::table::{Table, percent};
use tolok_store::{RunFolder, StoreError, StoredRun};

/// How often something happened, out of how many cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub hits: u32,
    pub of: u32,
}

impl Share {
    fn count(&mut self, is_so: bool) {
        self.hits += u32::from(is_so);
        self.of += 1;
    }

    fn words(self) -> String {
        if self.of == 0 {
            "–".to_owned()
        } else {
            format!("{} of {}: {}", self.hits, self.of, rate(self.hits, self.of))
        }
    }
}

/// The results of all runs under a condition.
#[derive(Debug, Default)]
pub struct Found {
    pub condition: String,
    pub runs: u32,
    /// Scenarios with a false verdict on at least one pair.
    pub scenarios: Share,
    pub pairs: Share,
    /// Pairs whose interval contains the true ratio, 1.
    pub covered: Share,
    /// Half widths of the intervals.
    pub half_widths: Vec<f64>,
    /// Noise checks that found a difference.
    pub noise_checks: Share,
    /// Comparisons of two runs with the outcome *changed*.
    pub changed: Share,
    /// Comparisons of two runs with two others, with the outcome *regression*.
    pub regressions: Share,
}

/// A run, read back.
struct Run {
    stored: StoredRun,
    names: Names,
    findings: Findings,
}

impl Found {
    /// Reads all runs in a folder.
    pub fn read(folder: &Path) -> Result<Self, BenchError> {
        let mut found = Self { condition: condition_of(folder), ..Self::default() };
        let runs = folders_in(folder)?.iter().map(|path| Run::read(path)).collect::<Result<Vec<_>, _>>()?;
        for run in &runs {
            found.runs += 1;
            run.findings.scenarios.iter().for_each(|scenario| found.count(scenario));
        }
        for group in by_server(&runs) {
            for pair in group.chunks_exact(2) {
                found.changed.count(outcome(&pair[..1], &pair[1..]) == Some(CompareOutcome::Changed));
            }
            for four in group.chunks_exact(4) {
                found.regressions.count(outcome(&four[..2], &four[2..]) == Some(CompareOutcome::Regression));
            }
        }
        Ok(found)
    }

    fn count(&mut self, scenario: &ScenarioFinding) {
        // A pair without an interval has no verdict that could be false.
        let judged: Vec<_> = scenario.comparisons.iter().filter(|it| it.ratio.low.is_some()).collect();
        if judged.is_empty() {
            return;
        }
        for pair in &judged {
            self.pairs.count(pair.verdict.is_told_apart());
            if let (Some(low), Some(high)) = (pair.ratio.low, pair.ratio.high) {
                self.covered.count(low <= 1.0 && 1.0 <= high);
                self.half_widths.push((high / low).sqrt() - 1.0);
            }
        }
        self.scenarios.count(judged.iter().any(|pair| pair.verdict.is_told_apart()));
        if let Some(check) = &scenario.noise_floor {
            self.noise_checks.count(check.verdict.is_told_apart());
        }
    }
}

impl Run {
    fn read(path: &Path) -> Result<Self, BenchError> {
        let folder = RunFolder::open(path);
        let (stored, names) = (folder.read().map_err(damaged)?, folder.names::<Names>().map_err(damaged)?);
        let findings = analyse(&records(&stored, &names));
        Ok(Self { stored, names, findings })
    }
}

fn records<'a>(stored: &'a StoredRun, names: &'a Names) -> Records<'a> {
    let StoredRun { run, plan, trials, .. } = stored;
    Records { run, plan, names, trials, diagnoses: &[], records_sha256: None }
}

/// Groups runs by server, in chronological order.
fn by_server(runs: &[Run]) -> Vec<Vec<&Run>> {
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs {
        let runtime = |run: &Run| run.names.subjects.values().map(|it| it.runtime.clone()).min();
        match groups.iter_mut().find(|group| runtime(group[0]) == runtime(run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

fn outcome(before: &[&Run], after: &[&Run]) -> Option<CompareOutcome> {
    let records: Vec<Records<'_>> =
        before.iter().chain(after).map(|run| self::records(&run.stored, &run.names)).collect();
    let all: Vec<ComparedRun<'_>> = records
        .iter()
        .zip(before.iter().chain(after))
        .map(|(records, run)| ComparedRun { records, findings: &run.findings })
        .collect();
    let (before, after) = all.split_at(before.len());
    compare_runs(before, after, &CompareRequest::default()).ok().map(|found| found.outcome)
}

/// One row for each condition.
pub fn table(found: &[Found]) -> Table {
    let row = |found: &Found| {
        vec![
            found.condition.clone(),
            found.runs.to_string(),
            found.scenarios.words(),
            found.pairs.words(),
            found.covered.words(),
            percent(Some(middle(&found.half_widths))),
            found.noise_checks.words(),
            found.changed.words(),
            found.regressions.words(),
        ]
    };
    Table {
        title: "Equal servers".to_owned(),
        columns: vec![
            "beside",
            "runs",
            "scenarios with a false verdict",
            "pairs with a false verdict",
            "1 in interval",
            "half width",
            "noise checks that differ",
            "compare: changed",
            "compare 2 × 2: regression",
        ],
        rows: found.iter().map(row).collect(),
        notes: vec!["Intervals of shares are Wilson's. Pairs of a run are not independent.".to_owned()],
    }
}

pub fn document(machine: &Machine, table: &Table) -> String {
    let mut text = String::from("# Equal servers\n\nMade by `script/bench-equals --markdown`; not edited by hand.\n\n");
    let _ = writeln!(text, "Machine: {}.\n", machine.words("subject on the first, generator on the second"));
    text + &table.markdown()
}

fn damaged(error: StoreError) -> BenchError {
    failed("read a run")(std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_words_only_where_something_could_happen() {
        let mut share = Share::default();
        assert_eq!(share.words(), "–");
        share.count(true);
        share.count(false);
        assert_eq!(share.words(), "1 of 2: 50.0% (9.5–90.5)");
    }
}
