//! Runs a plan, for every verb that measures: the run's folder, the run, its reports, and the exit code.

use std::path::PathBuf;

use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{
    Duel, DuelOutcome, Findings, Names, ObjectiveOutcome, Records, analyse, blocks_settled, is_duel, least_trials,
    standing,
};
use tolok_lab::run::{NewRun, RunSetup, RunSummary, Slurm, Stop, StopRule, open_trials, run_plan, whole_blocks};
use tolok_model::{DatabaseAddress, Plan, RunRecord, TrialRecord, duration_words};
use tolok_report::document::Depth;
use tolok_report::print::{markdown, terminal};
use tolok_report::{Format as ReportFormat, data, documents};
use tolok_store::{RunFolder, StoredRun};

use crate::args::{Format, ResultArgs};
use crate::busy::{Sharing, ask_how_to_go_on};
use crate::closing::{Next, close};
use crate::exit::{CliError, Exit};
use crate::interrupts::on_interrupt;
use crate::laboratory::Lab;
use crate::output::{put, say, style};
use crate::progress::rough;
use crate::reports::{keep, print, report_format, runs_folder};
use crate::trust::remember;
use crate::verbs::plan::Planned;
use crate::watching::Watching;

/// Prints one line about the plan, and which subjects are left out.
pub fn announce(planned: &Planned) {
    announce_but(planned, |_| false);
}

/// Like [`announce`], without those whose absence `is_told` already.
pub fn announce_but(planned: &Planned, is_told: impl Fn(&str) -> bool) {
    let plan = &planned.plan;
    let competing = plan.cases.iter().filter(|case| case.competes());
    let mut subjects: Vec<&str> = competing.map(|case| case.subject.label.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let at_once = planned.pool.as_ref().map_or(1, |pool| pool.max_jobs.clamp(1, plan.blocks.max(1)));
    say(format!(
        "Plan: {} × {}, order shuffled (seed {}), {}.",
        tried(subjects.len(), plan.scenarios.len(), plan.programs.len()),
        blocks(plan),
        plan.seed,
        time_estimated(plan, at_once),
    ));
    too_small_a_budget(plan).into_iter().for_each(say);
    for skipped in plan.skipped.iter().filter(|skipped| !is_told(&skipped.subject)) {
        say(format!("  left out: {}: {}", skipped.subject, skipped.reason));
    }
    planned.cpu_notes.iter().for_each(|note| say(format!("  CPUs: {note}")));
    let databases = plan.environments.iter().filter_map(|environment| environment.database.as_ref());
    if databases.filter_map(|database| database.dsn.as_deref()).any(has_password) {
        say(
            "warning: the run stores the password of `dsn` in study.toml and plan.json. To keep it out, use dsn = \"env:NAME\"",
        );
    }
}

/// A notice that the first rounds exceed the budget. They run anyway, because fewer would give no interval.
fn too_small_a_budget(plan: &Plan) -> Option<String> {
    let (least, least_s) = (counted(u64::from(least_trials()), "round"), plan.beyond_budget_s()?);
    let budget = duration_words(plan.budget_s?);
    Some(format!(
        "  budget: {budget} is too little. {least} are the least that give an interval, and take {}.",
        rough(least_s)
    ))
}

/// `about 50s`, or `at most 2m` where programs are timed: their run time is not known in advance.
pub fn time_estimated(plan: &Plan, rounds_at_once: u32) -> String {
    let about = if plan.programs.is_empty() { "about" } else { "at most" };
    format!("{about} {}", rough(plan.estimate_s() / f64::from(rounds_at_once)))
}

/// `10 rounds`, `up to 30 rounds`
fn blocks(plan: &Plan) -> String {
    let blocks = counted(u64::from(plan.blocks), "round");
    if plan.may_end_early() { format!("up to {blocks}") } else { blocks }
}

/// `3 subjects × 2 scenarios`. A subject is a server or a program, so with both kinds there is no such product.
fn tried(subjects: usize, scenarios: usize, programs: usize) -> String {
    let subjects = counted(subjects as u64, "subject");
    let kinds = [(scenarios, "scenario"), (programs, "program")].into_iter().filter(|(number, _)| *number > 0);
    let kinds: Vec<String> = kinds.map(|(number, noun)| counted(number as u64, noun)).collect();
    match kinds.as_slice() {
        [only] => format!("{subjects} × {only}"),
        several => format!("({subjects} with {})", listed(several, "and")),
    }
}

/// Whether the address in a study contains a password.
fn has_password(dsn: &str) -> bool {
    !dsn.starts_with("env:") && DatabaseAddress::parse(dsn).is_ok_and(|address| !address.password.is_empty())
}

/// A run that has ended.
pub struct Measured {
    pub exit: Exit,
    pub findings: Findings,
    /// The folder of the run.
    pub folder: PathBuf,
    /// Remarks to print after the result, each with a label.
    remarks: Vec<(&'static str, String)>,
}

impl Measured {
    /// Prints the result in the requested format, then where the report is and what to do next. Returns the exit code. A duel has
    /// its own page and codes.
    pub fn show(&self, result: &ResultArgs, next: &[Next]) -> Result<Exit, CliError> {
        match (result.format, report_format(result.format), &self.findings.duel) {
            (Format::Id, ..) => put(&format!("{}\n", self.findings.run.id), result.output.as_deref())?,
            (_, None, _) => {}
            (_, Some(format), Some(found)) => show_duel(found, &self.findings, format, result)?,
            (_, Some(format), None) => print(&self.findings, format, result)?,
        }
        self.close(next);
        let of_duel = self.findings.duel.as_ref().map_or(Exit::Done, |found| code_of(found.outcome));
        Ok(if self.exit == Exit::Done { of_duel } else { self.exit })
    }

    /// Prints where the report is and what to do next. For a run that was stopped, that is to resume it.
    pub fn close(&self, next: &[Next]) {
        let resume = [Next::new(format!("tolok resume {}", self.findings.run.id), "go on where it stopped")];
        let is_whole = self.findings.trials_missing == 0;
        close(&self.folder, &self.remarks, if is_whole { next } else { &resume });
    }
}

/// Prints a duel. Formats without a page for duels show the report of the run.
fn show_duel(found: &Duel, findings: &Findings, format: ReportFormat, result: &ResultArgs) -> Result<(), CliError> {
    let output = result.output.as_deref();
    let text = match format {
        ReportFormat::Terminal => terminal(&documents::duel(found, Depth::Short), &style(output)),
        ReportFormat::Markdown => markdown(&documents::duel(found, Depth::Full)),
        ReportFormat::Json => data::json(found),
        other => return print(findings, other, result),
    };
    put(&text, output)
}

fn code_of(outcome: DuelOutcome) -> Exit {
    match outcome {
        DuelOutcome::NotWorse => Exit::Done,
        DuelOutcome::Worse => Exit::ThresholdCrossed,
        DuelOutcome::CannotTell => Exit::CannotTell,
    }
}

/// Creates the run's folder, measures until the plan is done or a stop is requested, and writes the reports.
pub fn measure(
    opened: &Lab,
    planned: &Planned,
    result: &ResultArgs,
    (sharing, stop): (Sharing, &Stop),
) -> Result<Measured, CliError> {
    sharing.let_others_end(stop)?;
    let (laboratory, plan) = (&opened.laboratory, &planned.plan);
    let new = NewRun {
        study: &planned.name,
        plan,
        cpus: &planned.cpus,
        machine: &planned.machine,
        command: &planned.command,
        pool: planned.pool.clone(),
    };
    let (workloads, programs) = (laboratory.workloads_of(plan), laboratory.program_workloads_of(plan));
    let names = Names::of(&laboratory.catalogue).with_workloads(&workloads).with_programs(&programs);
    let runs = runs_folder(result.runs.as_deref());
    let folder = RunFolder::create(&runs, &new.record(laboratory), plan, &planned.text, &names)?;
    remember(&folder, plan)?;
    warn_of(&planned.capabilities.leftovers);
    measure_in(opened, &folder, result, (sharing, stop))
}

/// Warns about leftovers of earlier sessions that could not be removed.
pub fn warn_of(leftovers: &[String]) {
    leftovers.iter().for_each(|leftover| say(format!("warning: {leftover}")));
}

/// The plan's own stopping rule, which the analysis evaluates.
struct PlanRule<'a> {
    run: &'a RunRecord,
    plan: &'a Plan,
    names: &'a Names,
}

impl<'a> PlanRule<'a> {
    fn records(&self, trials: &'a [TrialRecord]) -> Records<'a> {
        let Self { run, plan, names, .. } = *self;
        Records { run, plan, names, trials, diagnoses: &[], records_sha256: None }
    }
}

impl StopRule for PlanRule<'_> {
    fn blocks_settled(&self, trials: &[TrialRecord]) -> Option<u32> {
        blocks_settled(&self.records(trials))
    }

    fn standing(&self, trials: &[TrialRecord]) -> Option<String> {
        let records = self.records(trials);
        is_duel(self.run).then(|| standing(analyse(&records).duel.as_ref()?)).flatten()
    }
}

/// How many trials of a stored run remain.
pub fn trials_left(folder: &RunFolder, stored: &StoredRun) -> Result<usize, CliError> {
    let names = folder.names()?;
    let rule = PlanRule { run: &stored.run, plan: &stored.plan, names: &names };
    let last_block = rule.blocks_settled(&stored.trials).unwrap_or(stored.plan.blocks);
    let open = open_trials(&stored.plan, &stored.trials, last_block);
    // Nodes run only whole rounds.
    Ok(if stored.run.pool.is_some() { whole_blocks(&stored.plan, &open).len() } else { open.len() })
}

/// Runs the remaining trials of the run in `folder`, and writes the reports.
pub fn measure_in(
    opened: &Lab,
    folder: &RunFolder,
    result: &ResultArgs,
    (sharing, stop): (Sharing, &Stop),
) -> Result<Measured, CliError> {
    let (mut watching, mut losses) = (Watching::new(folder, result)?, sharing.losses());
    let (run, plan, names) = (folder.run()?, folder.plan()?, folder.names::<Names>()?);
    let rule = PlanRule { run: &run, plan: &plan, names: &names };
    let slurm = run.pool.clone().map(Slurm::reach).transpose()?;
    let setup =
        RunSetup { laboratory: &opened.laboratory, plan: &plan, folder, stop, rule: &rule, slurm: slurm.as_ref() };
    let mut hear = |event| {
        watching.tell(&event);
        losses.hear(&event, stop, |what, stop| watching.pause(|| ask_how_to_go_on(what, stop)));
    };
    let summary = run_plan(setup, &mut hear)?;
    let findings = keep(folder)?;
    watching.finish(&findings, folder.path());
    let (crossed, unsound) = (crossed(&findings), &findings.unsound);
    // A strict run that lost too many trials has failed, even if the last discarded trial was the run's last.
    let (interrupted, sound) = (stop.is_asked() && !losses.has_given_up, unsound.is_empty() && !losses.has_given_up);
    let exit = exit_of(summary, interrupted, sound, crossed.is_empty());
    let left = || format!("with {} left", counted(u64::from(summary.missing), "trial"));
    let mut remarks: Vec<(&str, String)> = crossed.into_iter().map(|line| ("Crossed", line)).collect();
    // A duel's result shows the caution nowhere else.
    let caution = findings.others.caution.clone().filter(|_| findings.duel.is_some());
    remarks.extend(caution.map(|caution| ("Caution", caution)));
    remarks.extend((!unsound.is_empty()).then(|| ("Unsound", listed(unsound, "and"))));
    remarks.extend((summary.missing > 0).then(|| ("Stopped", left())));
    Ok(Measured { exit, findings, folder: folder.path().to_owned(), remarks })
}

/// A run that is not sound proves nothing, not even that an objective was crossed: 5 comes before 3.
fn exit_of(summary: RunSummary, interrupted: bool, sound: bool, kept: bool) -> Exit {
    match summary {
        RunSummary { missing, .. } if missing > 0 && interrupted => Exit::Interrupted,
        RunSummary { missing, failed, .. } if missing > 0 || failed > 0 || !sound => Exit::GateFailed,
        _ if !kept => Exit::ThresholdCrossed,
        _ => Exit::Done,
    }
}

/// Every objective that a competing case crossed. The ceiling does not count: it is not a subject.
fn crossed(findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    for scenario in &findings.scenarios {
        for case in &scenario.cases {
            let crossed = case.objectives.iter().filter(|found| found.outcome == ObjectiveOutcome::Crossed);
            lines.extend(crossed.map(|found| format!("{} by {} in {}", found.objective, case.title, scenario.id)));
        }
    }
    lines
}

/// A stop request from Ctrl-C or SIGTERM. The first signal stops after what is `at_hand`, such as a trial; the second stops now.
pub fn interruptible(at_hand: &'static str) -> Result<Stop, CliError> {
    let stop = Stop::default();
    let wish = stop.clone();
    on_interrupt(move || {
        wish.ask();
        if wish.is_immediate() {
            say("\nStopping now.");
        } else {
            say(format!("\nStopping after this {at_hand}; the report follows. Press Ctrl-C again to stop now."));
        }
    })?;
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_announced_by_what_it_has() {
        assert_eq!(tried(3, 2, 0), "3 subjects × 2 scenarios");
        assert_eq!(tried(6, 0, 16), "6 subjects × 16 programs");
        assert_eq!(tried(9, 1, 16), "(9 subjects with 1 scenario and 16 programs)");
    }

    #[test]
    fn a_password_in_a_study_is_a_secret_that_is_kept_with_the_run() {
        assert!(has_password("mysql://me:secret@db/shop"));
        assert!(!has_password("mysql://me@db/shop") && !has_password("env:SHOP_DB"));
    }

    #[test]
    fn what_is_not_sound_comes_before_what_was_crossed() {
        let exit = |missing, failed, interrupted, sound, kept| {
            exit_of(RunSummary { run: 5, missing, failed }, interrupted, sound, kept)
        };
        assert_eq!(exit(0, 0, false, true, true), Exit::Done);
        assert_eq!(exit(0, 0, false, true, false), Exit::ThresholdCrossed);
        assert_eq!(exit(0, 0, false, false, false), Exit::GateFailed);
        assert_eq!(exit(0, 1, false, true, false), Exit::GateFailed);
        assert_eq!(exit(2, 0, false, true, false), Exit::GateFailed);
        assert_eq!(exit(2, 0, true, true, false), Exit::Interrupted);
        // The stop came during the last trial: nothing is missing.
        assert_eq!(exit(0, 0, true, true, false), Exit::ThresholdCrossed);
    }
}
