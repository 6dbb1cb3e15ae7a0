//! `tolok plan`: shows what a study would do, and makes plans for the verbs that run them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use tolok_analysis::figures::{Quantity, amount, counted};
use tolok_analysis::{FEWEST_BLOCKS_TO_QUOTE, SHORTEST_WINDOW_TO_QUOTE_S, least_trials};
use tolok_host::machine::{BesideSubject, CpuWish, DatabaseCpus, Machine, SubjectCpus, format_cpu_list};
use tolok_host::shell::quoted;
use tolok_lab::home::Home;
use tolok_lab::run::{Capabilities, Slurm};
use tolok_model::{
    Catalogue, CpuMap, CpuMode, Database, Engine, Environment, Here, LoadTool, Plan, PlanError, PoolRequest, Quotable,
    Role, Scenario, Skipped, Study, Subject, SubjectSelector, Timer, bytes_words, describe_slices, duration_words,
    scale_words,
};

use crate::args::{BringArgs, MeasureArgs, PlanArgs, TextOrJson, WhatArgs};
use crate::bring::UserServers;
use crate::exit::{CliError, Exit, with_help};
use crate::laboratory::Lab;
use crate::made_study::study_of_workloads;
use crate::measuring::time_estimated;
use crate::output::{json, put, say};

/// A study, its plan here, and the CPUs of its parts.
pub struct Planned {
    /// Name of the study file, without its extension.
    pub name: String,
    /// Command that runs the same plan again.
    pub command: String,
    /// The text of the study, as stored with the run.
    pub text: String,
    pub plan: Plan,
    /// CPUs of the parts, by the id of the environment.
    pub cpus: BTreeMap<String, CpuMap>,
    /// Remarks about the CPUs.
    pub cpu_notes: Vec<String>,
    pub machine: Machine,
    /// What this machine offers to a trial.
    pub capabilities: Capabilities,
    /// The pool that runs the rounds, unless this machine does.
    pub pool: Option<PoolRequest>,
}

/// What the command line requests of a study.
#[derive(Clone, Copy)]
pub struct StudyRequest<'a> {
    /// Its file or name, if given.
    pub study: Option<&'a str>,
    /// The workloads to measure instead.
    pub workloads: &'a [String],
    pub bring: &'a BringArgs,
    pub measure: &'a MeasureArgs,
    /// If nothing may be left out: the error for a missing part.
    pub whole: Option<&'static str>,
    /// The Slurm that runs the rounds, unless this machine does.
    pub slurm: Option<&'a Slurm>,
}

/// The error of `--strict` if something would be left out.
pub fn whole_if_strict(measure: &MeasureArgs) -> Option<&'static str> {
    measure.strict.then_some("--strict does not allow leaving out parts of the study")
}

impl<'a> StudyRequest<'a> {
    pub fn of(what: &'a WhatArgs, bring: &'a BringArgs, measure: &'a MeasureArgs) -> Self {
        Self {
            study: what.study.as_deref(),
            workloads: &what.workloads,
            bring,
            measure,
            whole: whole_if_strict(measure),
            slurm: None,
        }
    }

    /// Whether a study or workloads define the requests.
    pub fn has_workloads(&self) -> bool {
        self.study.is_some() || !self.workloads.is_empty()
    }
}

pub fn plan(args: &PlanArgs) -> Result<Exit, CliError> {
    let request = StudyRequest::of(&args.what, &args.bring, &args.measure);
    let bring = UserServers::of(&args.bring, request.has_workloads())?;
    let (_, planned) = make(bring, request)?;
    let text = match args.format {
        TextOrJson::Text => describe(&planned),
        TextOrJson::Json => {
            let shown =
                serde_json::json!({ "plan": planned.plan, "cpus": planned.cpus, "sha256": planned.plan.hash() });
            json(&shown)?
        }
    };
    put(&text, None)?;
    Ok(Exit::Done)
}

/// Opens the laboratory with the user's subjects and servers, reads a study and expands it for this machine.
pub fn make(mut bring: UserServers, request: StudyRequest<'_>) -> Result<(Lab, Planned), CliError> {
    bring.ask_urls()?;
    bring.read_versions(request.study)?;
    let mut opened = Lab::open_with(&bring)?;
    let planned = make_in(&mut opened, &bring, request)?;
    Ok((opened, planned))
}

/// The named study, or the one for the user's workloads, folders or servers.
fn study(opened: &Lab, bring: &UserServers, request: StudyRequest<'_>) -> Result<(PathBuf, String, Study), CliError> {
    let (home, catalogue) = (&opened.laboratory.home, &opened.laboratory.catalogue);
    let named = match (request.study, request.workloads) {
        (Some(name), _) => (name.to_owned(), None),
        (None, []) => bring.study(),
        (None, workloads) => {
            let (name, text) = study_of_workloads(workloads, catalogue)?;
            (name, Some(text))
        }
    };
    Ok(match named {
        (name, Some(text)) => Home::read_study(PathBuf::from(name), text, catalogue)?,
        (name, None) => home.study(&name, catalogue)?,
    })
}

/// Reads a study and expands it for this machine.
pub fn make_in(opened: &mut Lab, bring: &UserServers, request: StudyRequest<'_>) -> Result<Planned, CliError> {
    let args = request.measure;
    let (path, text, mut study) = study(opened, bring, request)?;
    let left_out = bring.ask(&study, &mut opened.laboratory)?;
    let opened = &*opened;
    let catalogue = &opened.laboratory.catalogue;
    bring.select(&mut study, catalogue, request.study.is_none());
    let mut study = as_asked(study, args, catalogue)?;
    if let Some(title) = args.name.clone().or_else(|| bring.title().filter(|_| request.study.is_none())) {
        study.title = title;
    }
    let seed = args.seed.or(study.seed).map_or_else(drawn_seed, Ok)?;
    let ready = |subject: &Subject, variant: &str| opened.ready(subject, variant);
    let ready_for_database =
        |subject: &Subject, variant: &str, database: &Database| opened.ready_for(subject, variant, Some(database));
    let tolok = &opened.laboratory.tolok;
    let machine = request.slurm.map_or_else(
        || Ok(Machine::read()),
        |slurm| {
            say("Waiting for a node of Slurm, to read its hardware.");
            slurm.machine(tolok)
        },
    )?;
    let capabilities = Capabilities::prepare();
    let dealt = RefCell::new(CpuAssignment::default());
    // A plan without a generator shares nothing with one.
    let has_load = !study.scenarios.is_empty();
    let generators = request.slurm.map_or(0, |slurm| slurm.request().generators);
    let fits = |environment: &Environment| {
        let (mut cpus, note) = deal_cpus(&machine, environment, (args.allow_shared || !has_load, generators))?;
        cpus.shared &= has_load;
        let note = note.filter(|_| has_load);
        fits_memory(&machine, environment)?;
        // For a node this is not known yet; its trials find out.
        if request.slurm.is_none() {
            capabilities.try_out(tolok, environment, &cpus)?;
        }
        dealt.borrow_mut().add(environment, cpus, note);
        Ok(())
    };
    let database = |_: &Environment, database: &Database| opened.database_ready(database);
    let tool = |name: &str| opened.tool_ready(name);
    let here =
        Here { ready: &ready, ready_for_database: &ready_for_database, fits: &fits, tool: &tool, database: &database };
    let mut plan = Plan::expand(&study, catalogue, here, seed).map_err(|error| refuse(&error, &left_out))?;
    plan.skipped.retain(|skipped| left_out.iter().all(|known| known.subject != own_id(&skipped.subject)));
    plan.skipped.extend(left_out);
    (plan.diagnose, plan.rebuild) = (args.diagnose, args.rebuild);
    if request.slurm.is_some_and(|slurm| slurm.request().max_jobs > 1) {
        refuse_shared_database(&plan)?;
    }
    if let Some(why) = (generators > 0).then(|| plan.refuses_generators(generators)).flatten() {
        return Err(CliError::usage(why));
    }
    if let Some(why) = request.whole.filter(|_| !plan.skipped.is_empty()) {
        return Err(missing(why, &plan.skipped));
    }
    let CpuAssignment { cpus, notes: cpu_notes } = dealt.into_inner();
    let command = command(request, seed);
    let pool = request.slurm.map(|slurm| slurm.request().clone());
    Ok(Planned { name: stem(&path), command, text, plan, cpus, cpu_notes, machine, capabilities, pool })
}

/// Refuses an external database if rounds run at once, because all of them would load it together.
fn refuse_shared_database(plan: &Plan) -> Result<(), CliError> {
    let mut databases = plan.environments.iter().filter_map(|environment| environment.database.as_ref());
    match databases.any(|database| database.engine == Engine::External) {
        true => Err(CliError::usage("rounds at once would share the database of `dsn`; add --max-jobs 1")),
        false => Ok(()),
    }
}

/// Applies the options of the command line to a study.
fn as_asked(mut study: Study, args: &MeasureArgs, catalogue: &Catalogue) -> Result<Study, CliError> {
    if let Some(blocks) = args.blocks {
        // A fixed number also replaces a stopping rule or a budget.
        (study.blocks, study.stopping, study.budget_s) = (blocks, None, None);
    }
    if !args.subjects.is_empty() {
        study.subjects = chosen_subjects(&args.subjects, catalogue)?;
    }
    let least = Quotable { blocks: FEWEST_BLOCKS_TO_QUOTE, window_s: SHORTEST_WINDOW_TO_QUOTE_S };
    Ok(match args.scale {
        Some(scale) => study.scaled(scale),
        None if args.publish => study.to_publish(least),
        None => study,
    })
}

/// The CPUs of every environment that fits this machine.
#[derive(Default)]
struct CpuAssignment {
    cpus: BTreeMap<String, CpuMap>,
    notes: Vec<String>,
}

impl CpuAssignment {
    fn add(&mut self, environment: &Environment, cpus: CpuMap, note: Option<String>) {
        self.cpus.insert(environment.id.clone(), cpus);
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
    }
}

/// The command that runs the same plan again: the seed determines the order.
fn command(request: StudyRequest<'_>, seed: u64) -> String {
    let StudyRequest { study, workloads, bring, measure: args, whole: _, slurm } = request;
    let blocks = args.blocks.map(|blocks| format!(" --blocks {blocks}")).unwrap_or_default();
    let subjects = match args.subjects.as_slice() {
        [] => String::new(),
        subjects => format!(" --subjects {}", quoted(&subjects.join(","))),
    };
    let shared = if args.allow_shared { " --allow-shared" } else { "" };
    let diagnose = if args.diagnose { " --diagnose" } else { "" };
    let rebuild = if args.rebuild { " --rebuild" } else { "" };
    let name = args.name.as_deref().map(|name| format!(" --name {}", quoted(name))).unwrap_or_default();
    let scale = args.scale.map(|scale| format!(" --scale {scale}")).unwrap_or_default();
    let publish = if args.publish { " --publish" } else { "" };
    let study = study.map(|study| format!(" {}", quoted(study))).unwrap_or_default();
    let strict = if args.strict { " --strict" } else { "" };
    let workloads: String = workloads.iter().map(|name| format!(" --workload {}", quoted(name))).collect();
    let brought = brought_again(bring);
    let pool = slurm.map(|slurm| pool_again(slurm.request())).unwrap_or_default();
    format!(
        "tolok run{study}{workloads}{brought} --seed {seed}{blocks}{scale}{publish}{subjects}{shared}{rebuild}{diagnose}{strict}{name}{pool}"
    )
}

fn pool_again(request: &PoolRequest) -> String {
    let PoolRequest { hosts, partition, constraint, account, max_jobs, generators, mixed_hardware } = request;
    let named = [("partition", partition), ("constraint", constraint), ("account", account)];
    let named = named.iter().filter_map(|(name, value)| Some(format!(" --{name} {}", quoted(value.as_ref()?))));
    let mixed = if *mixed_hardware { " --mixed-hardware" } else { "" };
    let generators = if *generators > 0 { format!(" --generators {generators}") } else { String::new() };
    let on = hosts.as_ref().map_or_else(|| "slurm".to_owned(), |file| quoted(&file.display().to_string()));
    format!(" --on {on}{} --max-jobs {max_jobs}{generators}{mixed}", named.collect::<String>())
}

/// The options for the same subjects and servers, valid from any folder.
fn brought_again(brought: &BringArgs) -> String {
    let absolute = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()).display().to_string();
    let folders = brought.subject.iter().map(|path| format!(" --subject {}", quoted(&absolute(path))));
    let urls = brought.url.iter().map(|it| match &it.name {
        Some(name) => format!(" --url {}", quoted(&format!("{name}={}", it.url))),
        None => format!(" --url {}", quoted(&it.url)),
    });
    let pids = brought.pid.iter().map(|pid| format!(" --pid {pid}"));
    let remote = if brought.allow_remote { " --allow-remote" } else { "" };
    folders.chain(urls).chain(pids).chain([remote.to_owned()]).collect()
}

/// The id of a subject without its variant.
fn own_id(subject: &str) -> &str {
    subject.split(':').next().unwrap_or_default()
}

fn chosen_subjects(names: &[String], catalogue: &Catalogue) -> Result<Vec<SubjectSelector>, CliError> {
    let selectors = names.iter().map(|name| SubjectSelector::read(name, catalogue));
    let wrong = |wrong| CliError::usage(format!("--subjects: {}", with_help(wrong)));
    selectors.collect::<Result<Vec<_>, _>>().map_err(wrong)
}

/// Assigns CPUs to the parts of a trial, or returns why there are too few. If `generators` run on their own machines, the lab gets
/// one CPU in place of the generator.
pub fn deal_cpus(
    machine: &Machine,
    environment: &Environment,
    (shared_allowed, generators): (bool, u32),
) -> Result<(CpuMap, Option<String>), String> {
    let subject = match environment.subject.mode {
        CpuMode::Dedicated => SubjectCpus::Dedicated(environment.subject.whole_cpus() as usize),
        CpuMode::Quota => SubjectCpus::Quota(environment.subject.cpus),
    };
    // A user's own database server already has its CPUs.
    let database = environment.database.as_ref().filter(|database| database.engine != Engine::External);
    let of_database =
        database.map(|own| own.cpus.map_or(DatabaseCpus::WhereLeft, |cpus| DatabaseCpus::Own(cpus as usize)));
    let (generator, beside) = match generators {
        0 => (environment.generator.whole_cpus() as usize, BesideSubject::Generator),
        _ => (1, BesideSubject::Lab),
    };
    let wish = CpuWish { subject, generator, database: of_database, shared_allowed, beside };
    let map = machine.assign_cpus(wish).map_err(|refusal| refusal.to_string())?;
    let is_local = environment.link.is_local() && database.is_none_or(|database| database.link.is_local());
    let link = if is_local { Vec::new() } else { map.link };
    let (generator, lab) = if generators == 0 { (map.generator, Vec::new()) } else { (Vec::new(), map.generator) };
    let (subject, database, shared) = (map.subject, map.database, map.shared);
    Ok((CpuMap { subject, generator, lab, link, database, shared }, map.note))
}

fn fits_memory(machine: &Machine, environment: &Environment) -> Result<(), String> {
    match (environment.subject.memory_bytes, machine.memory.total_bytes) {
        (Some(asked), Some(there)) if asked > there => {
            let (asked, there) = (bytes_words(asked), there >> 20);
            Err(format!("it asks for {asked} of memory and this machine has {there}MiB; ask for less"))
        }
        _ => Ok(()),
    }
}

fn refuse(error: &PlanError, left_out: &[Skipped]) -> CliError {
    match error {
        PlanError::NothingReady(skipped) | PlanError::NoTool(skipped) | PlanError::NoDatabase(skipped) => {
            missing(&error.to_string(), skipped)
        }
        PlanError::TooLarge(why) => CliError::usage(why),
        PlanError::NothingToDo(_) | PlanError::NoProtocol(_) | PlanError::NoEnvironment(_) => {
            let idle = match error {
                PlanError::NothingToDo(idle) | PlanError::NoProtocol(idle) => idle.as_slice(),
                _ => &[],
            };
            let idle = idle.iter().filter(|one| left_out.iter().all(|known| known.subject != own_id(&one.subject)));
            let reasons = left_out.iter().chain(idle).map(|one| format!("\n  {}: {}", one.subject, one.reason));
            let text = format!("{error}{}", reasons.collect::<String>());
            if matches!(error, PlanError::NoEnvironment(_)) {
                CliError::lack(Exit::Usage, text)
            } else {
                CliError::usage(text)
            }
        }
    }
}

fn missing(what: &str, skipped: &[Skipped]) -> CliError {
    let mut text = what.to_owned();
    for one in skipped {
        let _ = write!(text, "\n  {}: {}", one.subject, one.reason);
    }
    if !skipped.iter().any(|one| one.reason.contains("tolok setup")) {
        text.push_str("\nto see what tolok can fetch: tolok setup");
    }
    CliError::lack(Exit::Missing, text)
}

/// A seed from the kernel's random numbers, short enough to retype.
fn drawn_seed() -> Result<u64, CliError> {
    let mut bytes = [0; 4];
    let read =
        std::fs::File::open("/dev/urandom").and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_err(|error| {
        CliError::new(Exit::Internal, format!("cannot read random numbers: {error}. Choose a seed with --seed"))
    })?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}

fn stem(path: &Path) -> String {
    PathBuf::from(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The plan in words: the cases, their order, CPUs and time.
fn describe(planned: &Planned) -> String {
    let plan = &planned.plan;
    let mut text = format!("{}\n", plan.title);
    if !plan.question.is_empty() {
        let _ = writeln!(text, "{}", plan.question);
    }
    if let Some(words) = scale_words(plan.scale) {
        let factor = plan.scale;
        let _ = writeln!(
            text,
            "\nScale  {factor}: warm-ups and measurements {words}; outages and numbers of requests × {factor}"
        );
    }
    let of_servers = plan.scenarios.iter().map(|scenario| &scenario.id);
    let ids = of_servers.chain(plan.programs.iter().map(|program| &program.id));
    let width = ids.map(|id| id.chars().count()).max().unwrap_or(0).max(20);
    describe_scenarios(&mut text, plan, width);
    describe_programs(&mut text, plan, width);
    let _ = writeln!(text, "\nCases");
    for (index, case) in plan.cases.iter().filter(|case| case.twin_of.is_none()).enumerate() {
        let role = if case.role == Role::Ceiling { "  the machine's limit" } else { "" };
        let parameters: Vec<String> =
            case.subject.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings = if parameters.is_empty() { String::new() } else { format!("  ({})", parameters.join(", ")) };
        let _ = writeln!(text, "  {:>3}  {:<width$} {}{settings}{role}", index + 1, case.scenario, case.subject.label);
    }
    if plan.cases.iter().any(|case| case.twin_of.is_some()) {
        let _ = writeln!(text, "  N': case N again, which shows how far apart equals come out");
    }
    describe_order(&mut text, plan);
    describe_environments(&mut text, planned);
    describe_published(&mut text, plan, width);
    if !plan.skipped.is_empty() {
        let _ = writeln!(text, "\nSkipped");
    }
    for skipped in &plan.skipped {
        let _ = writeln!(text, "  {}: {}", skipped.subject, skipped.reason);
    }
    let _ = writeln!(
        text,
        "\nTime   {}, {} (nothing was run)\nPlan   seed {}, sha256 {}",
        counted(plan.trials.len() as u64, "trial"),
        time_estimated(plan, 1),
        plan.seed,
        plan.hash().get(..16).unwrap_or_default(),
    );
    text
}

/// The requests to servers, and the load generator if it is not tolok's own.
fn describe_scenarios(text: &mut String, plan: &Plan, width: usize) {
    if !plan.scenarios.is_empty() {
        let _ = writeln!(text, "\nScenarios");
    }
    for scenario in &plan.scenarios {
        let script = scenario.tool.script.as_ref().map(|script| format!(" with {}", script.file)).unwrap_or_default();
        let tool = match scenario.tool.name {
            LoadTool::Tolok => String::new(),
            tool => format!("by {}{script}: ", tool.word()),
        };
        let _ = writeln!(
            text,
            "  {:<width$} {tool}{}, after {} of warm-up, time-out {}",
            scenario.id,
            described(scenario),
            tolok_model::duration_words(scenario.load.warmup_s),
            tolok_model::duration_words(scenario.load.timeout_s),
        );
        for objective in &scenario.objectives {
            let stops = if scenario.abort { ", or the trial stops" } else { "" };
            let _ = writeln!(text, "  {:<width$} {objective}{stops}", "");
        }
    }
}

/// The programs, how often each runs, and what times them.
fn describe_programs(text: &mut String, plan: &Plan, width: usize) {
    if !plan.programs.is_empty() {
        let _ = writeln!(text, "\nPrograms");
    }
    for program in &plan.programs {
        let timer = match program.timer {
            Timer::Tolok => String::new(),
            timer => format!("timed by {}: ", tolok_analysis::timer_title(timer.word())),
        };
        let _ = writeln!(
            text,
            "  {:<width$} {timer}{}, time-out {}",
            program.id,
            program.describe(),
            tolok_model::duration_words(program.runs.timeout_s),
        );
    }
}

/// The environments and their CPUs.
fn describe_environments(text: &mut String, planned: &Planned) {
    let ids = planned.plan.environments.iter().map(|environment| environment.id.chars().count());
    let width = ids.max().unwrap_or(0).max(20);
    let _ = writeln!(text, "\nEnvironments");
    for environment in &planned.plan.environments {
        let name = if environment.id.is_empty() { "of every case" } else { &environment.id };
        let _ = writeln!(text, "  {name:<width$} {}", environment.describe());
        if let Some(database) = &environment.database {
            let _ = writeln!(text, "  {:<width$} database: {}", "", database.describe_all());
        }
        let Some(cpus) = planned.cpus.get(&environment.id) else { continue };
        let part = |name: &str, cpus: &[u32]| match cpus {
            [] => String::new(),
            cpus => format!(", {name} {}", format_cpu_list(cpus)),
        };
        let (link, database) = (part("link", &cpus.link), part("database", &cpus.database));
        let (subject, lab) = (format_cpu_list(&cpus.subject), format_cpu_list(cpus.of_lab()));
        let generators = planned.pool.as_ref().map_or(0, |pool| pool.generators);
        let generator = match generators {
            0 => format!("generator {lab}"),
            1 => format!("lab {lab}, generator on a node of its own"),
            some => format!("lab {lab}, generators on {some} nodes of their own"),
        };
        let shared = if cpus.shared { " (shared)" } else { "" };
        let _ = writeln!(text, "  {:<width$} CPUs: subject {subject}, {generator}{link}{database}{shared}", "");
    }
    for note in &planned.cpu_notes {
        let _ = writeln!(text, "  {:<width$} {note}", "");
    }
}

/// The published figures to compare with the measured ones.
fn describe_published(text: &mut String, plan: &Plan, width: usize) {
    if !plan.published.is_empty() {
        let _ = writeln!(text, "\nPublished (compared with what is measured)");
    }
    for said in &plan.published {
        let place = said.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        let ratio = amount(Quantity::Ratio, said.ratio);
        let (metric, a, b) = (said.metric.word(), &said.a, &said.b);
        let _ =
            writeln!(text, "  {:<width$} {metric} of {a} over {b}: {ratio} ({}{place})", said.scenario, said.source);
    }
}

/// The number of a case in the list; the second half of an A/A pair is marked.
fn number_of(plan: &Plan, case: &str) -> Option<String> {
    let (first, mark) = match plan.case(case)?.twin_of.as_deref() {
        None => (case, ""),
        Some(first) => (first, "'"),
    };
    let place = plan.cases.iter().filter(|case| case.twin_of.is_none()).position(|case| case.id == first)?;
    Some(format!("{}{mark}", place + 1))
}

/// The order of each round, by case numbers.
fn describe_order(text: &mut String, plan: &Plan) {
    let _ = writeln!(text, "\nOrder (cases by number; every round is shuffled on its own)");
    for block in 1..=plan.blocks {
        let in_block = plan.trials.iter().filter(|trial| trial.block == block);
        let numbers: Vec<String> = in_block.filter_map(|trial| number_of(plan, &trial.case)).collect();
        let _ = writeln!(text, "  round {block:<2} {}", numbers.join(" "));
    }
    if let Some(rule) = plan.stopping {
        let (least, until) =
            (counted(u64::from(rule.at_least), "round"), tolok_analysis::figures::small_share(rule.until));
        let _ = writeln!(text, "  ends after {least} or more, once every ratio is known to ±{until}");
    }
    if let Some(budget_s) = plan.budget_s {
        let least = counted(u64::from(least_trials()), "round");
        let _ = writeln!(
            text,
            "  ends before the round that would exceed {}, but not before {least}",
            duration_words(budget_s)
        );
    }
}

/// The load, and its slices.
fn described(scenario: &Scenario) -> String {
    match &scenario.slices {
        None => scenario.describe_load(),
        Some(slices) => format!("{}, in {}", scenario.describe_load(), describe_slices(slices)),
    }
}
