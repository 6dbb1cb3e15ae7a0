//! `tolok setup`: fetches runtimes and tools into the toolbox.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tolok_lab::toolbox::{FetchEvent, FetchPlan, ProgramState};
use tolok_model::{Role, Subject};

use crate::args::SetupArgs;
use crate::exit::{CliError, Exit};
use crate::laboratory::{Lab, TOOLS};
use crate::output::{ask, put, say};
use crate::progress::Screen;

/// The argument for all tools that measure.
const ALL_TOOLS: &str = "tools";

/// Fetches what is missing, after asking.
pub fn setup(args: &SetupArgs) -> Result<Exit, CliError> {
    let mut opened = Lab::open()?;
    if let Some(archive) = &args.from {
        opened.toolbox = opened.toolbox.with_swoole_source(source_archive(archive, &args.programs)?);
    }
    let missing = if args.programs.is_empty() {
        // Users who want frameworks name the programs that they need.
        let is_meant = |subject: &&Subject| subject.role != Role::Framework;
        opened.missing_for(opened.laboratory.catalogue.subjects.iter().filter(is_meant))
    } else {
        let named: Vec<&str> = asked_for(&args.programs).into_iter().collect();
        // The laboratory has not yet detected programs that no subject needs.
        opened.states.extend(opened.toolbox.detect_some(&named)?);
        let is_missing = |name: &&str| opened.states.get(*name).is_none_or(|state| state.ready().is_none());
        named.into_iter().filter(is_missing).map(str::to_owned).collect()
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
            say("Nothing was fetched. To fetch without a question: tolok setup --yes");
            return Ok(Exit::Missing);
        }
    }
    fetch(&mut opened, &plan)?;
    opened.states.extend(opened.toolbox.detect_some(&names)?);
    Ok(if still_missing(&opened, &missing, &plan, &args.programs) { Exit::Missing } else { Exit::Done })
}

/// The archive to build Swoole from; no other program has one.
fn source_archive(archive: &Path, programs: &[String]) -> Result<PathBuf, CliError> {
    if !programs.iter().any(|name| ["swoole", "swoole_pgsql"].contains(&name.as_str())) {
        return Err(CliError::new(
            Exit::Usage,
            "--from names a source of Swoole: tolok setup swoole --from FILE".to_owned(),
        ));
    }
    let found = std::fs::canonicalize(archive);
    found.map_err(|error| CliError::new(Exit::Usage, format!("cannot read {}: {error}", archive.display())))
}

/// Fetches what is missing: at once with `yes`, after a question on a terminal, otherwise not at all. Returns whether everything
/// that can be fetched has been.
pub fn offer(opened: &mut Lab, missing: &BTreeSet<String>, yes: bool) -> Result<bool, CliError> {
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let mut plan = opened.toolbox.plan(&names)?;
    plan.steps.retain(|step| !step.optional);
    if plan.is_empty() {
        return Ok(true);
    }
    let folder = opened.toolbox.folder().display().to_string();
    let is_wanted = yes || ask(&format!("Fetch {} into {folder}? Nothing outside that folder changes.", what(&plan)));
    if is_wanted {
        say(format!("Fetching {} into {folder}", what(&plan)));
        fetch(opened, &plan)?;
        say("");
    }
    Ok(is_wanted)
}

/// The programs that the arguments mean: each is a program's name, except `tools`, and `time`, the name of GNU time in studies.
fn asked_for(words: &[String]) -> BTreeSet<&str> {
    let programs = |word| match word {
        ALL_TOOLS => TOOLS.to_vec(),
        "time" => vec!["gnu_time"],
        name => vec![name],
    };
    words.iter().map(String::as_str).flat_map(programs).collect()
}

/// Fetches, reports each command, and detects the programs again.
pub fn fetch(opened: &mut Lab, plan: &FetchPlan) -> Result<(), CliError> {
    let screen = Screen::new();
    let outcome = opened.toolbox.fetch(plan, &mut |event| show(&screen, &event));
    screen.step_ends();
    screen.end();
    let outcome = outcome.map_err(|error| CliError::new(Exit::Internal, format!("failed to {error}")))?;
    for failure in &outcome.failed {
        let weight = if failure.optional { "optional" } else { "needed by a subject" };
        say(format!("  {} could not be fetched ({weight}): failed to {}", failure.programs.join(", "), failure.error));
    }
    opened.look_again()
}

/// Shows the progress of a fetch: on a terminal the current step, and everywhere what is done.
fn show(screen: &Screen, event: &FetchEvent) {
    match event {
        FetchEvent::Waiting { lock } => {
            screen.line(&format!("waiting for another tolok that holds {}", lock.display()));
        }
        FetchEvent::Step { programs, number, of } => {
            screen.step_begins(&format!("fetching {} ({number} of {of})", programs.join(", ")));
        }
        FetchEvent::Started { .. } => {}
        FetchEvent::Finished { command, duration, succeeded } => {
            let mark = if *succeeded { "done" } else { "failed" };
            let command = without_settings(command);
            let short: String = command.chars().take(88).collect();
            let dots = if short.len() < command.len() { "…" } else { "" };
            screen.line(&format!("{mark:<6} {:>5.1} s  {short}{dots}", duration.as_secs_f64()));
        }
    }
}

/// A command without its environment settings, which would fill the line.
fn without_settings(command: &str) -> &str {
    let is_setting = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '-', '\'']));
    let mut rest = command;
    while let Some((word, after)) = rest.split_once(' ') {
        if !is_setting(word) {
            break;
        }
        rest = after;
    }
    rest
}

/// The programs to fetch, as a list.
pub fn what(plan: &FetchPlan) -> String {
    let programs: Vec<&str> = plan.steps.iter().flat_map(|step| &step.programs).map(String::as_str).collect();
    programs.join(", ")
}

/// Reports what is still missing, and returns whether any of it is required. A named program is always required; an optional tool
/// only if a fetch of all `tools` included it.
fn still_missing(opened: &Lab, wanted: &[String], plan: &FetchPlan, words: &[String]) -> bool {
    let (groups, names): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| *word == ALL_TOOLS);
    let names = names.into_iter().cloned().collect::<Vec<_>>();
    let named = asked_for(&names);
    let optional = |name: &String| {
        let step = plan.steps.iter().find(|step| step.programs.contains(name));
        let is_optional = plan.by_hand.iter().any(|step| step.program == *name && step.optional)
            || step.is_some_and(|step| step.optional && groups.is_empty());
        is_optional && !named.contains(name.as_str())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_asked_for_one_by_one_or_all_at_once() {
        let asked = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            asked_for(&words).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(asked(&["wrk", "mariadb", "wrk"]), ["mariadb", "wrk"]);
        assert_eq!(asked(&["time"]), ["gnu_time"], "the name that studies use");
        assert_eq!(asked(&["tools"]).len(), TOOLS.len());
        assert_eq!(asked(&["nginx", "tools"]).len(), TOOLS.len() + 1);
        assert!(asked(&[]).is_empty());
    }

    #[test]
    fn of_a_command_the_program_is_shown_first() {
        assert_eq!(without_settings("CGO_ENABLED=0 GOBIN=/t/bin go install a/b@v1"), "go install a/b@v1");
        assert_eq!(without_settings("npm ci --prefix=/t"), "npm ci --prefix=/t");
        assert_eq!(without_settings("cd /t && make -j2"), "cd /t && make -j2");
    }
}
