//! `tolok setup`: fetch runtimes into the toolbox.

use tolok_lab::toolbox::{FetchEvent, FetchPlan, ProgramState};

use crate::args::SetupArgs;
use crate::exit::{Complaint, Exit};
use crate::laboratory::Opened;
use crate::output::{ask, put, say};

/// Fetches what is missing, after asking.
pub fn setup(args: &SetupArgs) -> Result<Exit, Complaint> {
    let mut opened = Opened::open()?;
    let missing = if args.programs.is_empty() {
        opened.missing_for(opened.laboratory.catalogue.subjects.iter())
    } else {
        let named: Vec<&str> = args.programs.iter().map(String::as_str).collect();
        // Of programs that no subject needs, the laboratory knows nothing yet.
        opened.states.extend(opened.toolbox.detect_some(&named)?);
        let is_missing = |name: &&String| opened.states.get(*name).is_none_or(|state| state.ready().is_none());
        args.programs.iter().filter(is_missing).cloned().collect()
    };
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let plan = opened.toolbox.plan(&names)?;
    if args.dry_run {
        put(&if missing.is_empty() { "nothing is missing\n".to_owned() } else { plan.to_string() }, None)?;
        return Ok(Exit::Done);
    }
    if missing.is_empty() {
        say("Nothing is missing.");
        return Ok(Exit::Done);
    }
    let folder = opened.toolbox.folder().display().to_string();
    if !plan.is_empty() && !args.yes {
        say(plan.to_string());
        if !ask(&format!("Fetch {} into {folder}? Nothing outside that folder changes.", what(&plan))) {
            say("Nothing was fetched. To fetch without being asked: tolok setup --yes");
            return Ok(Exit::Missing);
        }
    }
    fetch(&mut opened, &plan)?;
    opened.states.extend(opened.toolbox.detect_some(&names)?);
    Ok(if still_missing(&opened, &missing, &plan) { Exit::Missing } else { Exit::Done })
}

/// Fetches, tells of each command, and looks again at what is there.
pub fn fetch(opened: &mut Opened, plan: &FetchPlan) -> Result<(), Complaint> {
    let mut tell = |event: FetchEvent| match event {
        FetchEvent::Waiting { lock } => say(format!("  waiting for another tolok that holds {}", lock.display())),
        FetchEvent::Started { .. } => {}
        FetchEvent::Finished { command, duration, succeeded } => {
            let mark = if succeeded { "done" } else { "failed" };
            let short: String = command.chars().take(88).collect();
            let dots = if short.len() < command.len() { "…" } else { "" };
            say(format!("  {mark:<6} {:>5.1} s  {short}{dots}", duration.as_secs_f64()));
        }
    };
    let outcome = opened.toolbox.fetch(plan, &mut tell);
    let outcome = outcome.map_err(|error| Complaint::new(Exit::Internal, format!("failed to {error}")))?;
    for failure in &outcome.failed {
        let weight = if failure.optional { "optional, so tolok goes on" } else { "needed by a subject" };
        say(format!("  {} could not be fetched ({weight}): failed to {}", failure.programs.join(", "), failure.error));
    }
    opened.look_again()
}

/// What would be fetched, in a few words.
pub fn what(plan: &FetchPlan) -> String {
    let programs: Vec<&str> = plan.steps.iter().flat_map(|step| &step.programs).map(String::as_str).collect();
    programs.join(", ")
}

/// Says what is not ready after all; true if any of it is needed.
fn still_missing(opened: &Opened, wanted: &[String], plan: &FetchPlan) -> bool {
    let optional = |name: &String| {
        plan.by_hand.iter().any(|step| step.program == *name && step.optional)
            || plan.steps.iter().any(|step| step.optional && step.programs.contains(name))
    };
    let mut needed = false;
    for name in wanted {
        match opened.states.get(name) {
            Some(ProgramState::Ready(program)) => say(format!("  {:<20} {} ready", program.title, program.version)),
            Some(ProgramState::Missing { reason, remedy }) => {
                needed |= !optional(name);
                let reason = reason.as_deref().unwrap_or("not found");
                say(format!("  {name:<20} missing ({reason}): {remedy}"));
            }
            Some(ProgramState::Broken { seen, remedy }) => {
                needed |= !optional(name);
                say(format!("  {name:<20} does not work ({seen}): {remedy}"));
            }
            None => {}
        }
    }
    needed
}
