//! `tolok run` and `tolok resume`: measure, store, analyse, report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{Findings, Flag, FlagKind, Names, ObjectiveOutcome, Records, blocks_settled};
use tolok_lab::home::Home;
use tolok_lab::machine::{BearsOn, Machine};
use tolok_lab::run::{Ground, Laboratory, RunSummary, Session, Stop, run_plan, start_again_in_an_own_group};
use tolok_lab::store::{RunFolder, sha256_of_file};
use tolok_lab::toolbox::{Program, Source};
use tolok_model::{
    CpuMap, DatabaseAddress, FailureKind, MachineSummary, Outcome, Plan, PlannedTrial, ProgramUsed, ProgramWorkload,
    RECORD_FORMAT, RunRecord, TrialRecord, URL_WORKLOAD, Workload,
};

use super::plan::{Planned, make};
use super::report::{keep, print, report_format};
use crate::args::{ResultArgs, ResumeArgs, RunArgs};
use crate::bring::Bring;
use crate::exit::{Complaint, Exit};
use crate::laboratory::Opened;
use crate::output::say;
use crate::progress::rough;
use crate::watching::Watching;

/// Runs a study.
pub fn run(args: &RunArgs) -> Result<Exit, Complaint> {
    start_again_in_an_own_group();
    let bring = Bring::of(&args.bring, args.study.is_some())?;
    let (opened, planned) = make(bring, args.study.as_deref(), (&args.bring, &args.measure))?;
    announce(&planned);
    let (exit, _) = measure(&opened, &planned, &args.result)?;
    Ok(exit)
}

/// Goes on with a run.
pub fn resume(args: &ResumeArgs) -> Result<Exit, Complaint> {
    start_again_in_an_own_group();
    let path = RunFolder::find(&runs_folder(&args.result)?, &args.run)?;
    let folder = RunFolder::open_to_write(&path)?;
    let stored = folder.read()?;
    let opened = Opened::open_with(&Bring::again(&stored.plan, args.allow_remote)?)?;
    let missing = stored.plan.cases.iter().find_map(|case| {
        let subject = opened.laboratory.catalogue.subject(&case.subject.subject)?;
        let scenario = stored.plan.scenario(&case.scenario);
        let asking = scenario.filter(|scenario| scenario.database);
        if let Err(reason) = opened.ready_for(subject, &case.subject.variant, asking.is_some()) {
            return Some(format!("{}: {reason}", case.subject.label));
        }
        // Every trial that is left would be recorded as the database's failure.
        let database = stored.plan.environment(asking?)?.database.as_ref()?;
        Some(format!("database [{}]: {}", database.describe(), opened.database_ready(database).err()?))
    });
    if let Some(missing) = missing.or_else(|| missing_tool(&opened, &stored.plan)) {
        let message = format!(
            "this run cannot go on, because something that it needs is missing: {missing}; then: tolok resume {}",
            run_name(&path)
        );
        return Err(Complaint::new(Exit::Missing, message));
    }
    refuse_another_machine(&stored.run, &stored.plan)?;
    warn_of_changes(&opened, &stored.run);
    // A trial that the lab itself spoilt is run again.
    let lab_failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(it) if it.reason == FailureKind::LabFailed);
    let names = folder.names::<Names>()?;
    let (run, plan, trials) = (&stored.run, &stored.plan, &stored.trials);
    let last_block =
        blocks_settled(&Records { run, plan, names: &names, trials, diagnoses: &[], records_sha256: None })
            .unwrap_or(plan.blocks);
    let is_settled = |trial: &&PlannedTrial| {
        let of_trial = trials.iter().find(|record| record.number == trial.number);
        trial.block > last_block || of_trial.is_some_and(|record| !lab_failed(&record.outcome))
    };
    let left = plan.trials.len() - plan.trials.iter().filter(is_settled).count();
    let all = counted(stored.plan.trials.len() as u64, "trial");
    say(match left {
        0 => format!("{} is finished: nothing of it is left to run.", stored.run.id),
        left => format!("Going on with {}: {left} of {all} left.", stored.run.id),
    });
    let ground = Ground::prepare();
    let stop = Stop::default();
    hear_interrupts(&stop, "trial")?;
    let (exit, findings) = go(&opened, &ground, &folder, (&stored.plan, &stored.run.cpus), (&args.result, &stop))?;
    show(&findings, &args.result)?;
    Ok(exit)
}

/// The first tool that a plan names and that is not here any more: every trial of it that is left would be recorded as its
/// failure.
fn missing_tool(opened: &Opened, plan: &Plan) -> Option<String> {
    let generators = plan.scenarios.iter().filter_map(|scenario| scenario.tool.name.program());
    let timers = plan.programs.iter().filter_map(|program| program.timer.program());
    generators.chain(timers).find_map(|name| Some(format!("tool [{name}]: {}", opened.tool_ready(name).err()?)))
}

/// One line on what is about to happen.
pub fn announce(planned: &Planned) {
    let plan = &planned.plan;
    let competing = plan.cases.iter().filter(|case| case.competes());
    let mut subjects: Vec<&str> = competing.map(|case| case.subject.label.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    say(format!(
        "Plan: {} × {}, order shuffled (seed {}). About {}.",
        tried(subjects.len(), plan.scenarios.len(), plan.programs.len()),
        blocks(plan),
        plan.seed,
        rough(plan.estimate_s()),
    ));
    for skipped in &plan.skipped {
        say(format!("  left out: {}: {}", skipped.subject, skipped.reason));
    }
    planned.cpu_notes.iter().for_each(|note| say(format!("  CPUs: {note}")));
    let databases = plan.environments.iter().filter_map(|environment| environment.database.as_ref());
    if databases.filter_map(|database| database.dsn.as_deref()).any(has_password) {
        say(
            "warning: the password in `dsn` is kept with the run, in study.toml and plan.json; dsn = \"env:NAME\" keeps it out",
        );
    }
}

/// `10 blocks`, `up to 30 blocks`
fn blocks(plan: &Plan) -> String {
    let blocks = counted(u64::from(plan.blocks), "block");
    if plan.stopping.is_some() { format!("up to {blocks}") } else { blocks }
}

/// `3 subjects × 2 scenarios`. No server is a program, so with both kinds there is no such product of numbers.
fn tried(subjects: usize, scenarios: usize, programs: usize) -> String {
    let subjects = counted(subjects as u64, "subject");
    let kinds = [(scenarios, "scenario"), (programs, "program")].into_iter().filter(|(number, _)| *number > 0);
    let kinds: Vec<String> = kinds.map(|(number, noun)| counted(number as u64, noun)).collect();
    match kinds.as_slice() {
        [only] => format!("{subjects} × {only}"),
        several => format!("({subjects} with {})", listed(several, "and")),
    }
}

/// Whether an address that stands in a study is a secret.
fn has_password(dsn: &str) -> bool {
    !dsn.starts_with("env:") && DatabaseAddress::parse(dsn).is_ok_and(|address| !address.password.is_empty())
}

/// Makes the run's folder, measures, reports; says how it ended and where the folder is.
pub fn measure(opened: &Opened, planned: &Planned, result: &ResultArgs) -> Result<(Exit, PathBuf), Complaint> {
    let stop = Stop::default();
    hear_interrupts(&stop, "trial")?;
    let (exit, findings, path) = measure_until(opened, planned, (result, &stop))?;
    show(&findings, result)?;
    Ok((exit, path))
}

/// The same without showing the findings, by a stop that is asked elsewhere.
pub fn measure_until(
    opened: &Opened,
    planned: &Planned,
    (result, stop): (&ResultArgs, &Stop),
) -> Result<(Exit, Findings, PathBuf), Complaint> {
    let record = run_record(opened, planned);
    let runs = runs_folder(result)?;
    let workloads = workloads(&opened.laboratory, &planned.plan);
    let programs = programs(&opened.laboratory, &planned.plan);
    let names = Names::of(&opened.laboratory.catalogue).with_workloads(&workloads).with_programs(&programs);
    let folder = RunFolder::create(&runs, &record, &planned.plan, &planned.text, &names)?;
    let (exit, findings) = go(opened, &planned.ground, &folder, (&planned.plan, &planned.cpus), (result, stop))?;
    Ok((exit, findings, folder.path().to_owned()))
}

fn show(findings: &Findings, result: &ResultArgs) -> Result<(), Complaint> {
    report_format(result.format).map_or(Ok(()), |format| print(findings, format, result))
}

/// Where runs are kept.
pub fn runs_folder(result: &ResultArgs) -> Result<PathBuf, Complaint> {
    folder_of_runs(result.runs.as_deref())
}

/// The folder that was named, or the usual one.
pub fn folder_of_runs(named: Option<&Path>) -> Result<PathBuf, Complaint> {
    match named {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(Home::find()?.runs_folder()),
    }
}

fn go(
    opened: &Opened,
    ground: &Ground,
    folder: &RunFolder,
    (plan, cpus): (&Plan, &BTreeMap<String, CpuMap>),
    (result, stop): (&ResultArgs, &Stop),
) -> Result<(Exit, Findings), Complaint> {
    for leftover in &ground.leftovers {
        say(format!("warning: {leftover}"));
    }
    // What a URL owes is asked for by each trial.
    let mut owed = workloads(&opened.laboratory, plan);
    owed.retain(|workload| workload.name != URL_WORKLOAD);
    let begun = Session::begin(&opened.laboratory, ground, cpus.clone(), &owed);
    let session = begun.map_err(|error| Complaint::new(Exit::Internal, error))?;
    let mut watching = Watching::new(folder, result)?;
    let (run, names) = (folder.run()?, folder.names::<Names>()?);
    let settled = |trials: &[TrialRecord]| {
        blocks_settled(&Records { run: &run, plan, names: &names, trials, diagnoses: &[], records_sha256: None })
    };
    let summary = run_plan(&session, plan, folder, (stop, &settled), &mut |event| watching.tell(&event))?;
    drop(session);
    let findings = keep(folder)?;
    watching.finish(&findings, folder.path());
    say(format!("\nreport  {}", folder.path().join("report.html").display()));
    if summary.missing > 0 {
        let name = folder.path().display();
        say(format!(
            "stopped with {} to go; go on with: tolok resume {name}",
            counted(u64::from(summary.missing), "trial")
        ));
    }
    let crossed = crossed(&findings);
    for line in &crossed {
        say(format!("crossed  {line}"));
    }
    let unsound = unsound(&findings);
    if !unsound.is_empty() {
        say(format!("not sound  {}", listed(&unsound, "and")));
    }
    let exit = exit_of(summary, stop.is_asked(), unsound.is_empty(), crossed.is_empty());
    Ok((exit, findings))
}

/// What the scenarios of a plan ask for. What is gone from the checkout is a failure of its trials.
fn workloads(laboratory: &Laboratory, plan: &Plan) -> Vec<Workload> {
    let named: BTreeSet<&str> = plan.scenarios.iter().map(|scenario| scenario.workload.as_str()).collect();
    let known = named.into_iter().filter_map(|name| laboratory.catalogue.choose_workload(name).ok());
    known.collect()
}

/// What a plan has programs do.
fn programs(laboratory: &Laboratory, plan: &Plan) -> Vec<ProgramWorkload> {
    let named: BTreeSet<&str> = plan.programs.iter().map(|program| program.workload.as_str()).collect();
    named.into_iter().filter_map(|name| laboratory.catalogue.choose_program(name).ok()).collect()
}

/// A run that is not sound says nothing for certain, not even that an objective was crossed: 5 comes before 3.
fn exit_of(summary: RunSummary, interrupted: bool, sound: bool, kept: bool) -> Exit {
    match summary {
        RunSummary { missing, .. } if missing > 0 && interrupted => Exit::Interrupted,
        RunSummary { missing, failed, .. } if missing > 0 || failed > 0 || !sound => Exit::GateFailed,
        _ if !kept => Exit::ThresholdCrossed,
        _ => Exit::Done,
    }
}

/// Every objective that a competing case crossed. What the ceiling crosses is no fault of a subject's.
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

/// How many cases each gate has put out of the ranking, in words; empty where the answers can be counted on. A generator at its
/// limit is no fault of the run: its figures are lower bounds.
pub fn unsound(findings: &Findings) -> Vec<String> {
    let of_servers = findings.scenarios.iter().flat_map(|scenario| scenario.cases.iter().chain(&scenario.ceiling));
    let of_programs = findings.programs.iter().flat_map(|program| &program.cases);
    let flags: Vec<&[Flag]> =
        of_servers.map(|case| case.flags.as_slice()).chain(of_programs.map(|case| case.flags.as_slice())).collect();
    let words = |kind: &FlagKind| {
        let words = kind.unsound()?;
        let is_out = |flags: &&&[Flag]| flags.iter().any(|flag| flag.voids_rank && flag.kind == *kind);
        let cases = flags.iter().filter(is_out).count();
        (cases > 0).then(|| format!("{} {words}", counted(cases as u64, "case")))
    };
    FlagKind::ALL.iter().filter_map(words).collect()
}

/// Ctrl-C (or a polite kill) once: after what is at hand, such as a trial. Twice: now.
pub fn hear_interrupts(stop: &Stop, at_hand: &'static str) -> Result<(), Complaint> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let failed = |error| {
        Complaint::new(
            Exit::Internal,
            format!("cannot listen for Ctrl-C: {error}; a sandbox or the limit of open files (`ulimit -n`) forbids it"),
        )
    };
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let stop = stop.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            stop.ask();
            if stop.is_immediate() {
                say("\nStopping now.");
            } else {
                say(format!("\nStopping after this {at_hand}; the report follows. Press Ctrl-C again to stop now."));
            }
        }
    });
    Ok(())
}

/// What is recorded of the run before its first trial.
fn run_record(opened: &Opened, planned: &Planned) -> RunRecord {
    let now = jiff::Zoned::now();
    let plan_sha256 = planned.plan.hash();
    let id = format!("{}-{}-{:06x}", now.strftime("%Y-%m-%d-%H%M%S"), planned.name, planned.plan.seed & 0xff_ffff);
    RunRecord {
        format: RECORD_FORMAT,
        id,
        study: planned.name.clone(),
        started_at: now.timestamp().to_string(),
        tolok_version: env!("CARGO_PKG_VERSION").to_owned(),
        git: tolok_lab::home::git_state(opened.laboratory.home.root()),
        seed: planned.plan.seed,
        plan_sha256,
        machine: summary(&planned.machine),
        fingerprint: serde_json::to_value(&planned.machine).unwrap_or_default(),
        programs: opened.laboratory.programs_of(&planned.plan).into_iter().map(used).collect(),
        cpus: planned.cpus.clone(),
        command: planned.command.clone(),
    }
}

fn used(program: &Program) -> ProgramUsed {
    let source = match program.source {
        Source::System => "system",
        Source::Toolbox => "toolbox",
    };
    ProgramUsed {
        name: program.title.clone(),
        version: program.version.clone(),
        path: program.path.display().to_string(),
        source: source.to_owned(),
        sha256: sha256_of_file(&program.path).ok(),
    }
}

pub fn summary(machine: &Machine) -> MachineSummary {
    let hypervisor = machine.virtualisation.hypervisor;
    let product = machine.virtualisation.product.clone();
    MachineSummary {
        cpu: machine.processor.model.clone().unwrap_or_else(|| "unknown CPU".to_owned()),
        cpus: machine.topology.cpus.len() as u32,
        memory_bytes: machine.memory.total_bytes.unwrap_or_default(),
        kernel: machine.kernel.release.clone().unwrap_or_default(),
        distribution: machine.kernel.distribution.clone().unwrap_or_default(),
        virtualisation: product.or_else(|| hypervisor.then(|| "virtual machine".to_owned())),
        remarks: remarks(machine),
    }
}

/// What a reader must know to judge the figures. What cannot be done on the machine is said where it was asked for.
fn remarks(machine: &Machine) -> Vec<String> {
    let advice = machine.advice().into_iter().filter(|advice| advice.bears_on == BearsOn::Figures);
    advice.map(|advice| format!("{}: {}", advice.what, advice.why)).collect()
}

/// What a person types to name a run.
fn run_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A run can only go on where it began, and with the plan that it began with.
fn refuse_another_machine(run: &RunRecord, plan: &Plan) -> Result<(), Complaint> {
    let here = Machine::read();
    let cpus =
        run.cpus.values().flat_map(|cpus| [&cpus.subject, &cpus.generator, &cpus.link, &cpus.database]).flatten();
    let cpus: BTreeSet<&u32> = cpus.collect();
    let gone: Vec<String> =
        cpus.into_iter().filter(|cpu| !here.allowed_cpus.contains(cpu)).map(u32::to_string).collect();
    if !gone.is_empty() {
        let message = format!(
            "this run cannot go on here: it uses CPU {}, which this process may not; start tolok where it may (taskset, the container's CPU set), or run the study anew: tolok run STUDY",
            gone.join(", ")
        );
        return Err(Complaint::new(Exit::Usage, message));
    }
    let cpu = summary(&here).cpu;
    if cpu != run.machine.cpu {
        let message = format!(
            "this run cannot go on here: it began on {}, and this is {cpu}; go on with it there, or run the study anew here. What is finished can be reported anywhere: tolok report",
            run.machine.cpu
        );
        return Err(Complaint::new(Exit::Usage, message));
    }
    if plan.hash() != run.plan_sha256 {
        return Err(Complaint::new(
            Exit::Usage,
            "this run cannot go on: its plan.json was changed after it began; put the file back as it was, or run the study anew: tolok run STUDY",
        ));
    }
    Ok(())
}

/// A run that goes on under other versions is still a run, but its reader must know.
fn warn_of_changes(opened: &Opened, run: &RunRecord) {
    let git = tolok_lab::home::git_state(opened.laboratory.home.root());
    if git != run.git {
        let words = |git: &Option<String>| git.clone().unwrap_or_else(|| "no commit".to_owned());
        say(format!(
            "warning: the run began with the checkout at {}, which is at {} now",
            words(&run.git),
            words(&git)
        ));
    }
    for before in &run.programs {
        let now = opened.laboratory.programs.values().find(|program| program.title == before.name);
        if let Some(now) = now.filter(|now| now.version != before.version) {
            let (name, old, new) = (&before.name, &before.version, &now.version);
            say(format!("warning: {name} was {old} when the run began and is {new} now; its trials will not compare"));
        } else if before.sha256.is_some() && now.is_some_and(|now| sha256_of_file(&now.path).ok() != before.sha256) {
            let (name, version) = (&before.name, &before.version);
            say(format!(
                "warning: {name} {version} is another file than when the run began; its trials will not compare"
            ));
        }
    }
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
        // Asked to stop during the last trial: nothing is missing.
        assert_eq!(exit(0, 0, true, true, false), Exit::ThresholdCrossed);
    }
}
