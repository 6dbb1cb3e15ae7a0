//! `tolok plan`: what a study would do, and the making of plans for the verbs that run them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tolok_lab::machine::{Machine, assign_cpus, format_cpu_list};
use tolok_model::{CpuMap, Plan, PlanError, Role, Skipped, Study};

use crate::args::{MeasureArgs, PlanArgs, PlanFormat};
use crate::exit::{Complaint, Exit};
use crate::laboratory::Opened;
use crate::output::{json, put};
use crate::progress::rough;

/// A study, its plan here, and the CPUs of its parts.
pub struct Planned {
    /// Name of the study file, without its ending.
    pub name: String,
    /// Command that runs the same plan again.
    pub command: String,
    /// The text of the study, as it will be stored.
    pub text: String,
    /// The plan.
    pub plan: Plan,
    /// CPUs of the parts.
    pub cpus: CpuMap,
    /// What is to be known about the CPUs.
    pub cpu_note: Option<String>,
    /// The machine.
    pub machine: Machine,
}

/// Shows the plan.
pub fn plan(args: &PlanArgs) -> Result<Exit, Complaint> {
    let opened = Opened::open()?;
    let planned = make(&opened, &args.study, &args.measure)?;
    let text = match args.format {
        PlanFormat::Text => describe(&planned),
        PlanFormat::Json => {
            let shown =
                serde_json::json!({ "plan": planned.plan, "cpus": planned.cpus, "sha256": planned.plan.hash() });
            json(&shown)?
        }
    };
    put(&text, None)?;
    Ok(Exit::Done)
}

/// Reads a study and expands it for this machine.
pub fn make(opened: &Opened, asked: &str, args: &MeasureArgs) -> Result<Planned, Complaint> {
    let catalogue = &opened.laboratory.catalogue;
    let (path, text, mut study) = opened.laboratory.home.study(asked, catalogue)?;
    if let Some(blocks) = args.blocks {
        study.blocks = blocks;
    }
    if !args.subjects.is_empty() {
        study.subjects = chosen_subjects(&args.subjects, catalogue)?;
    }
    let seed = args.seed.or(study.seed).map_or_else(drawn_seed, Ok)?;
    let ready = |subject: &tolok_model::Subject, variant: &str| opened.ready(subject, variant);
    let plan = Plan::expand(&study, catalogue, &ready, seed).map_err(|error| refuse(&error))?;
    if args.strict && !plan.skipped.is_empty() {
        return Err(missing("with --strict, every subject must be ready", &plan.skipped));
    }
    let machine = Machine::read();
    let (cpus, cpu_note) = cpu_map(&machine, &study);
    let command = command(asked, seed, args);
    Ok(Planned { name: stem(&path), command, text, plan, cpus, cpu_note, machine })
}

/// What to type to run the same plan again: the order follows from the seed.
fn command(study: &str, seed: u64, args: &MeasureArgs) -> String {
    let blocks = args.blocks.map(|blocks| format!(" --blocks {blocks}")).unwrap_or_default();
    let subjects = match args.subjects.as_slice() {
        [] => String::new(),
        subjects => format!(" --subjects '{}'", subjects.join(",")),
    };
    format!("tolok run {study} --seed {seed}{blocks}{subjects}")
}

fn chosen_subjects(
    names: &[String],
    catalogue: &tolok_model::Catalogue,
) -> Result<Vec<tolok_model::SubjectSelector>, Complaint> {
    let selectors = names.iter().map(|name| tolok_model::SubjectSelector::read(name, catalogue));
    selectors.collect::<Result<Vec<_>, _>>().map_err(|(message, help)| {
        let help = help.map(|help| format!("; {help}")).unwrap_or_default();
        Complaint::new(Exit::Usage, format!("--subjects: {message}{help}"))
    })
}

fn cpu_map(machine: &Machine, study: &Study) -> (CpuMap, Option<String>) {
    let environment = &study.environment;
    let wanted = (environment.subject_cpus as usize, environment.generator_cpus as usize);
    let map = assign_cpus(&machine.topology, &machine.allowed_cpus, wanted.0, wanted.1);
    (CpuMap { subject: map.subject, generator: map.generator, shared: map.shared }, map.note)
}

fn refuse(error: &PlanError) -> Complaint {
    match error {
        PlanError::NothingReady(skipped) => missing(&error.to_string(), skipped),
        PlanError::NothingToDo => Complaint::new(Exit::Usage, error),
    }
}

fn missing(what: &str, skipped: &[Skipped]) -> Complaint {
    let mut text = what.to_owned();
    for one in skipped {
        let _ = write!(text, "\n  {}: {}", one.subject, one.reason);
    }
    text.push_str("\nto fetch all that can be fetched: tolok setup");
    Complaint::new(Exit::Missing, text)
}

/// A seed from the kernel's random numbers, small enough to be typed again.
fn drawn_seed() -> Result<u64, Complaint> {
    let mut bytes = [0; 4];
    let read =
        std::fs::File::open("/dev/urandom").and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_err(|error| Complaint::new(Exit::Internal, format!("cannot draw a seed: {error}; give one with --seed")))?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}

fn stem(path: &Path) -> String {
    PathBuf::from(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The plan in words: what, in which order, on which CPUs, how long.
fn describe(planned: &Planned) -> String {
    let plan = &planned.plan;
    let mut text = format!("{}\n", plan.title);
    if !plan.question.is_empty() {
        let _ = writeln!(text, "{}", plan.question);
    }
    let _ = writeln!(text, "\nScenarios");
    for scenario in &plan.scenarios {
        let _ = writeln!(
            text,
            "  {:<20} {}, after {} of warm-up, time-out {}",
            scenario.id,
            scenario.load.describe(),
            tolok_model::format_duration(scenario.load.warmup_s),
            tolok_model::format_duration(scenario.load.timeout_s),
        );
        for objective in &scenario.objectives {
            let stops = if scenario.abort { ", or the trial stops" } else { "" };
            let _ = writeln!(text, "  {:<20} {objective}{stops}", "");
        }
    }
    let _ = writeln!(text, "\nCases");
    for (index, case) in plan.cases.iter().enumerate() {
        let role = if case.role == Role::Ceiling { "  the machine's limit" } else { "" };
        let parameters: Vec<String> =
            case.subject.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings = if parameters.is_empty() { String::new() } else { format!("  ({})", parameters.join(", ")) };
        let _ = writeln!(text, "  {:>3}  {:<20} {}{settings}{role}", index + 1, case.scenario, case.subject.label);
    }
    describe_order(&mut text, plan);
    let _ = writeln!(
        text,
        "\nCPUs   subject {}, generator {}{}",
        format_cpu_list(&planned.cpus.subject),
        format_cpu_list(&planned.cpus.generator),
        planned.cpu_note.as_ref().map(|note| format!("  ({note})")).unwrap_or_default(),
    );
    for skipped in &plan.skipped {
        let _ = writeln!(text, "Skipped  {}: {}", skipped.subject, skipped.reason);
    }
    let _ = writeln!(
        text,
        "Time   {} trials, about {} (nothing was run)\nPlan   seed {}, sha256 {}",
        plan.trials.len(),
        rough(plan.estimate_s()),
        plan.seed,
        plan.hash().get(..16).unwrap_or_default(),
    );
    text
}

/// The order of each block, by the numbers of the cases.
fn describe_order(text: &mut String, plan: &Plan) {
    let _ = writeln!(text, "\nOrder (cases by number; every block is shuffled on its own)");
    for block in 1..=plan.blocks {
        let in_block = plan.trials.iter().filter(|trial| trial.block == block);
        let numbers: Vec<String> = in_block
            .filter_map(|trial| plan.cases.iter().position(|case| case.id == trial.case))
            .map(|index| (index + 1).to_string())
            .collect();
        let _ = writeln!(text, "  block {block:<2} {}", numbers.join(" "));
    }
}
