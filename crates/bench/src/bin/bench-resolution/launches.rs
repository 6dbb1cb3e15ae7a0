//! The launches of all duels under one condition, as the product stored them.

use std::path::Path;

use tolok_analysis::{ComparedMetric, Duel, Findings, Names, Records, Verdict, analyse, duel};
use tolok_bench::beside::{condition_of, folders_in};
use tolok_bench::error::{BenchError, failed};
use tolok_bench::rates::middle;
use tolok_model::{Case, Judge, Outcome, Plan, RunRecord, TrialRecord};
use tolok_store::{RunFolder, StoreError};
use tolok_tools::slices::StoredSlice;

use crate::planted::Planted;

/// The measurements under one condition.
pub struct Launches {
    pub condition: String,
    run: RunRecord,
    plan: Plan,
    names: Names,
    /// Trials of complete launches only. Launches are numbered from 1 across all runs.
    trials: Vec<TrialRecord>,
    /// Findings of the first run. Its titles and ranks apply to all.
    findings: Findings,
    /// The result of each run.
    pub duels: Vec<Duel>,
    /// The numbers of the launches of each run.
    pub of_duels: Vec<Vec<u32>>,
    /// Launches in which a case failed.
    pub void: u32,
    /// CPU share of other programs and of the hypervisor, as the median of each run's base.
    pub foreign: Vec<f64>,
    pub stolen: Vec<f64>,
    /// How long each launch took, in seconds.
    pub took_s: Vec<f64>,
    pub overhead: Overhead,
}

/// Where the time in slices went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overhead {
    pub thaw_s: f64,
    pub freeze_s: f64,
    pub drain_s: f64,
    pub load_s: f64,
}

impl Overhead {
    /// Share of the time without load.
    pub fn share(&self) -> f64 {
        let lost_s = self.thaw_s + self.freeze_s + self.drain_s;
        lost_s / (lost_s + self.load_s)
    }
}

/// Two cases to tell apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pair {
    /// The base and the noise check's second entry.
    Equals,
    /// The base and a server with a planted slowness.
    Slower(Planted),
}

/// The result of a duel of two.
pub struct Judged {
    pub verdict: Verdict,
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Launches {
    /// Reads all runs in a folder.
    pub fn read(folder: &Path) -> Result<Self, BenchError> {
        let mut all: Option<Self> = None;
        for path in folders_in(folder)? {
            let stored = RunFolder::open(&path);
            let (read, names) = (stored.read().map_err(damaged)?, stored.names::<Names>().map_err(damaged)?);
            let records = Records {
                run: &read.run,
                plan: &read.plan,
                names: &names,
                trials: &read.trials,
                diagnoses: &[],
                records_sha256: None,
            };
            let findings = analyse(&records);
            let launches = all.get_or_insert_with(|| Self {
                condition: condition_of(folder),
                run: read.run.clone(),
                plan: Plan { blocks: 0, trials: Vec::new(), ..read.plan.clone() },
                names: names.clone(),
                trials: Vec::new(),
                findings: findings.clone(),
                duels: Vec::new(),
                of_duels: Vec::new(),
                void: 0,
                foreign: Vec::new(),
                stolen: Vec::new(),
                took_s: Vec::new(),
                overhead: Overhead::default(),
            });
            launches.take(&findings, read.trials);
            launches.take_overhead(&path)?;
        }
        all.ok_or_else(|| failed("find runs")(std::io::Error::other(format!("{} has none", folder.display()))))
    }

    /// Adds the launches of a run.
    fn take(&mut self, findings: &Findings, trials: Vec<TrialRecord>) {
        self.duels.extend(findings.duel.clone());
        let first = findings.scenarios.first().and_then(|scenario| scenario.cases.first());
        self.foreign.extend(first.and_then(|case| case.foreign_busy));
        self.stolen.extend(first.and_then(|case| case.stolen));
        let begin = self.plan.blocks + 1;
        let last = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        for launch in 1..=last {
            let mut of_launch: Vec<TrialRecord> = trials.iter().filter(|it| it.block == launch).cloned().collect();
            let measured = of_launch.iter().filter(|it| matches!(it.outcome, Outcome::Completed(_))).count();
            if measured < self.plan.cases.len() {
                self.void += 1;
                continue;
            }
            self.plan.blocks += 1;
            self.took_s.extend(of_launch.first().map(|it| it.took_s));
            of_launch.iter_mut().for_each(|it| it.block = self.plan.blocks);
            self.trials.append(&mut of_launch);
        }
        self.of_duels.push((begin..=self.plan.blocks).collect());
    }

    fn take_overhead(&mut self, run: &Path) -> Result<(), BenchError> {
        for trial in folders_in(&run.join("trials"))? {
            let Ok(text) = std::fs::read_to_string(trial.join("slices.jsonl")) else { continue };
            for line in text.lines() {
                let slice: StoredSlice = serde_json::from_str(line).map_err(failed("read a slice"))?;
                let (slice, overhead) = (slice.line, &mut self.overhead);
                overhead.thaw_s += slice.thaw_s;
                overhead.freeze_s += slice.freeze_s;
                overhead.drain_s += slice.drain_s;
                overhead.load_s += slice.lead_in_s + slice.window_s;
            }
        }
        Ok(())
    }

    /// The number of complete launches.
    pub fn number(&self) -> u32 {
        self.plan.blocks
    }

    /// The median number of launches in a duel.
    pub fn usual_duel(&self) -> u32 {
        let numbers: Vec<f64> = self.of_duels.iter().map(|own| own.len() as f64).collect();
        middle(&numbers).round() as u32
    }

    /// A duel of two cases over some of the launches, judged by the product's own rule.
    pub fn judge(&self, pair: Pair, launches: &[u32], by: ComparedMetric, smallest_effect: f64) -> Option<Judged> {
        let cases = self.cases_of(pair)?;
        let of_launch = |(place, launch): (usize, &u32)| {
            let is_meant =
                |trial: &&TrialRecord| trial.block == *launch && cases.iter().any(|case| case.id == trial.case);
            let again = |trial: &TrialRecord| TrialRecord { block: place as u32 + 1, ..trial.clone() };
            self.trials.iter().filter(is_meant).map(again).collect::<Vec<_>>()
        };
        let trials: Vec<TrialRecord> = launches.iter().enumerate().flat_map(of_launch).collect();
        let judge = if by == ComparedMetric::Cpu { Judge::Cpu } else { Judge::Goodput };
        let plan = Plan { blocks: launches.len() as u32, cases, judge, smallest_effect, ..self.plan.clone() };
        let Self { run, names, findings, .. } = self;
        let records = Records { run, plan: &plan, names, trials: &trials, diagnoses: &[], records_sha256: None };
        let found = duel(&records, findings).pairs.pop()?;
        let ratio = if by == ComparedMetric::Cpu { found.cpu } else { found.goodput }?;
        Some(Judged { verdict: found.verdict, value: ratio.value, low: ratio.low?, high: ratio.high? })
    }

    /// The base, the noise check's second entry, and the challenger. For equals, that entry is the challenger.
    fn cases_of(&self, pair: Pair) -> Option<Vec<Case>> {
        let base = self.plan.cases.iter().find(|case| case.competes())?;
        let twin = self.plan.cases.iter().find(|case| case.twin_of.as_ref() == Some(&base.id))?;
        Some(match pair {
            Pair::Equals => vec![base.clone(), Case { twin_of: None, ..twin.clone() }],
            Pair::Slower(planted) => {
                let is_it = |case: &&Case| case.subject.subject.ends_with(planted.name);
                vec![base.clone(), twin.clone(), self.plan.cases.iter().find(is_it)?.clone()]
            }
        })
    }
}

fn damaged(error: StoreError) -> BenchError {
    failed("read a run")(std::io::Error::other(error))
}
