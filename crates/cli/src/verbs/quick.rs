//! `tolok quick`: from nothing to a report.

use std::collections::BTreeSet;

use tolok_lab::run::machine_summary;
use tolok_lab::toolbox::{ProgramState, Remedy};

use tolok_model::Engine;

use super::plan::{StudyRequest, make_in};
use super::report::open_in_browser;
use super::setup::offer;
use crate::args::QuickArgs;
use crate::bring::UserServers;
use crate::exit::{CliError, Exit};
use crate::laboratory::{Lab, TOOLS};
use crate::measuring::{announce, interruptible, measure};
use crate::output::say;

/// Shows what is there, offers to fetch the rest, runs the quick study and opens the report.
pub fn quick(args: &QuickArgs) -> Result<Exit, CliError> {
    let mut bring = UserServers::of(&args.bring, true)?;
    bring.ask_urls()?;
    let mut opened = Lab::open_with(&bring)?;
    let machine = tolok_host::machine::Machine::read();
    say(format!(
        "tolok {} · {}\n",
        env!("CARGO_PKG_VERSION"),
        tolok_analysis::machine_line(&machine_summary(&machine))
    ));
    show_programs(&opened);
    offer_missing(&mut opened, args.yes)?;
    let request = StudyRequest { study: Some("quick"), bring: &args.bring, measure: &args.measure };
    let planned = make_in(&mut opened, &bring, request)?;
    announce(&planned);
    let measured = measure(&opened, &planned, &args.result, &interruptible("trial")?)?;
    measured.show(&args.result)?;
    say("next    tolok run core   longer windows and all workloads, about half an hour");
    if !args.no_open && measured.exit == Exit::Done {
        open_in_browser(&measured.folder.join("report.html"));
    }
    Ok(measured.exit)
}

fn show_programs(opened: &Lab) {
    for (name, state) in &opened.states {
        // Another database is for those who ask for it, and so are other tools that measure.
        let is_extra = Engine::Mysql.program() == Some(name.as_str()) || TOOLS.contains(&name.as_str());
        if state.ready().is_none() && is_extra {
            continue;
        }
        say(match state {
            // The state first, as names and versions are of any length.
            ProgramState::Ready(program) => format!("  ready    {} {}", program.title, program.version),
            ProgramState::Missing { remedy: Remedy::Fetch { from, .. }, .. } => format!("  missing  {name} ({from})"),
            ProgramState::Missing { .. } => format!("  missing  {name} (by hand: see tolok doctor)"),
            ProgramState::Broken { seen, .. } => format!("  broken   {name} ({seen})"),
        });
    }
    say("");
}

/// Fetches what is missing: at once with `--yes`, after a question on a terminal, not at all elsewhere.
fn offer_missing(opened: &mut Lab, yes: bool) -> Result<(), CliError> {
    // The quick study runs default variants only, and a first run should not wait for a compiler.
    let missing: BTreeSet<String> = opened
        .competitors()
        .flat_map(|subject| subject.needs_for(&subject.default_variant, true))
        .chain(Engine::default().program())
        .filter(|name| !opened.laboratory.programs.contains_key(*name))
        .map(str::to_owned)
        .collect();
    offer(opened, &missing, yes)
}
