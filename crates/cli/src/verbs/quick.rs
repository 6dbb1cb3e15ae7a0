//! `tolok quick`: from a fresh checkout to a report.

use std::collections::BTreeSet;

use tolok_lab::run::machine_summary;
use tolok_lab::toolbox::{ProgramState, Remedy};

use tolok_model::{Engine, Subject};

use super::plan::{StudyRequest, make_in, whole_if_strict};
use super::report::open_in_browser;
use super::setup::offer;
use crate::args::QuickArgs;
use crate::bring::UserServers;
use crate::busy::Sharing;
use crate::closing::Next;
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::{announce_but, interruptible, measure};
use crate::output::say;
use crate::reports::check_places;

/// Shows what is installed, offers to fetch the rest, runs the quick study and opens the report.
pub fn quick(args: &QuickArgs) -> Result<Exit, CliError> {
    check_places(args.result.runs.as_deref(), args.result.output.as_deref())?;
    let mut bring = UserServers::of(&args.bring, true)?;
    bring.ask_urls()?;
    let mut opened = Lab::open_with(&bring)?;
    let machine = tolok_host::machine::Machine::read();
    say(format!(
        "tolok {} · {}\n",
        env!("CARGO_PKG_VERSION"),
        tolok_analysis::machine_line(&machine_summary(&machine))
    ));
    show_subjects(&opened);
    offer_missing(&mut opened, args.yes)?;
    let request = StudyRequest {
        study: Some("quick"),
        workloads: &[],
        bring: &args.bring,
        measure: &args.measure,
        whole: whole_if_strict(&args.measure),
        slurm: None,
    };
    let planned = make_in(&mut opened, &bring, request)?;
    // The list above already shows what each subject lacks.
    announce_but(&planned, |left_out| {
        let subject = opened.competitors().find(|subject| subject.id == left_out);
        subject.is_some_and(|subject| !lacking(&opened, subject).is_empty())
    });
    let sharing = Sharing::of(&args.sharing, args.measure.strict);
    let measured = measure(&opened, &planned, &args.result, (sharing, &interruptible("trial")?))?;
    let mut next = vec![
        Next::new("tolok quick --publish", "ten rounds, enough to quote, about five minutes"),
        Next::new("tolok run core", "all workloads, about half an hour"),
        Next::new("tolok run --subject DIR", "your own server, or --url http://127.0.0.1:3000"),
        Next::new("tolok report -v", "all figures, checks and cautions"),
        Next::new(measured.findings.run.command.as_str(), "this run again"),
    ];
    if args.measure.publish {
        next.remove(0);
    }
    measured.show(&args.result, &next)?;
    if !args.no_open && measured.exit == Exit::Done {
        let _ = open_in_browser(&measured.folder.join("report.html"));
    }
    Ok(measured.exit)
}

/// A line for each subject of the quick study: it is ready, or it lacks something, with a remedy.
fn show_subjects(opened: &Lab) {
    let subjects: Vec<&Subject> = opened.competitors().filter(|subject| takes_part(subject)).collect();
    let widest = subjects.iter().map(|subject| subject.title.chars().count()).max().unwrap_or_default();
    for subject in subjects {
        say(format!("  {:widest$}  {}", subject.title, standing(opened, subject, &lacking(opened, subject))));
    }
    say("");
}

/// The missing programs of a subject that the quick study needs.
fn lacking<'a>(opened: &Lab, subject: &'a Subject) -> Vec<&'a str> {
    let needs = subject.needs_for(&subject.default_variant, Engine::default().wire());
    needs.filter(|name| !opened.laboratory.programs.contains_key(*name)).collect()
}

/// `ready    Go 1.26.8`, `ready    Node.js 20.1; for the database: to be fetched`, `missing  sudo apt-get install …`
fn standing(opened: &Lab, subject: &Subject, lacking: &[&str]) -> String {
    let remedy = |name: &&str| match opened.states.get(*name)? {
        ProgramState::Ready(_) => None,
        ProgramState::Missing { remedy, .. } | ProgramState::Broken { remedy, .. } => Some(remedy),
    };
    let remedies: Vec<&Remedy> = lacking.iter().filter_map(remedy).collect();
    // The quick study does not fetch optional programs, whose build takes minutes.
    let is_fetched =
        |remedy: &Remedy| matches!(remedy, Remedy::Fetch { program, .. } if !opened.toolbox.is_optional(program));
    let by_hand = remedies.iter().find(|remedy| !is_fetched(remedy));
    let help = by_hand.map_or("to be fetched".to_owned(), ToString::to_string);
    let own: Vec<&str> = subject.needs_for(&subject.default_variant, None).collect();
    if own.iter().any(|name| lacking.contains(name)) {
        return format!("missing  {help}");
    }
    let ready = own.iter().filter_map(|name| opened.laboratory.programs.get(*name));
    let versions: Vec<String> = ready.map(|it| format!("{} {}", it.title, it.version)).collect();
    // A server may take part without its database library.
    let without = if lacking.is_empty() { String::new() } else { format!("; for the database: {help}") };
    format!("ready    {}{without}", versions.join(", "))
}

/// Whether the quick study measures a subject.
fn takes_part(subject: &Subject) -> bool {
    const WORKLOADS: [&str; 3] = ["hello", "json", "rows"];
    let variant = subject.variants.get(&subject.default_variant);
    variant.is_some_and(|variant| variant.workloads.iter().any(|workload| WORKLOADS.contains(&workload.as_str())))
}

/// Fetches what is missing: at once with `--yes`, after a question on a terminal, otherwise not at all.
fn offer_missing(opened: &mut Lab, yes: bool) -> Result<(), CliError> {
    // The quick study runs only default variants, and a first run should not wait for a compiler.
    let missing: BTreeSet<String> = opened
        .competitors()
        .flat_map(|subject| subject.needs_for(&subject.default_variant, Engine::default().wire()))
        .chain(Engine::default().program())
        .filter(|name| !opened.laboratory.programs.contains_key(*name) && !opened.toolbox.is_optional(name))
        .map(str::to_owned)
        .collect();
    if !offer(opened, &missing, yes)? {
        say("Going on without what is missing. To fetch it: --yes, or tolok setup\n");
    }
    Ok(())
}
