//! `tool` of a scenario as written, and its meaning.

use serde::Deserialize;

use crate::load::profile::LoadProfile;
use crate::reading::kinds::read_kinds;
use crate::reading::several::Several;
use crate::reading::table::Spanned;
use crate::reading::text::{Reading, Span};
use crate::reading::wording::suggestion;
use crate::tool::{LoadTool, Script, Timer, ToolChoice};
use crate::workload::Workload;

/// A tool by name, or k6 with the user's own script.
#[derive(Debug, Clone)]
pub struct ToolFile {
    name: String,
    script: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    name: String,
    script: Option<String>,
}

pub(crate) const TOOL: &str = "the name of a tool, or a table such as { name = \"k6\", script = \"users.js\" }";

read_kinds!(ToolFile, TOOL,
    visit_str(name: &str) Some(ToolFile { name: name.to_owned(), script: None });
    [table: ToolTable] Ok(ToolFile { name: table.name, script: table.script });
);

/// The tools of a scenario, each with its place; tolok's own if none is named.
pub(crate) fn read_tools(
    written: Option<Spanned<Several<ToolFile>>>,
    reading: &mut Reading,
) -> Vec<(ToolChoice, Option<Span>)> {
    let Some(written) = written else { return vec![(ToolChoice::default(), None)] };
    let span = written.span();
    let listed = written.into_inner().0;
    reading.note_if(listed.is_empty(), span, "no tool is listed", "for example: tool = [\"tolok\", \"wrk\"]");
    let mut tools: Vec<(ToolChoice, Option<Span>)> = Vec::new();
    for tool in listed {
        let span = tool.span();
        let Some(choice) = read_tool(tool, reading) else { continue };
        if tools.iter().any(|(earlier, _)| *earlier == choice) {
            reading.note(span, format!("tool `{}` is listed twice", choice.name.word()), None);
        } else {
            tools.push((choice, Some(span)));
        }
    }
    tools
}

fn read_tool(tool: Spanned<ToolFile>, reading: &mut Reading) -> Option<ToolChoice> {
    let span = tool.span();
    let ToolFile { name, script } = tool.into_inner();
    let Some(tool) = LoadTool::ALL.into_iter().find(|tool| tool.word() == name) else {
        let help = match name.as_str() {
            "hyperfine" | "time" => "it times programs: name it in a [[program]]".to_owned(),
            _ => suggestion(&name, &LoadTool::ALL.map(LoadTool::word)),
        };
        reading.note(span, format!("there is no tool `{name}`"), help);
        return None;
    };
    if script.is_some() && tool != LoadTool::K6 {
        reading.note(span, format!("`{name}` is driven without a script"), "only k6 runs one");
        return None;
    }
    if let Some(problem) = script.as_deref().and_then(problem_of_script_name) {
        reading.note(span, problem, "for example: script = \"users.js\"");
        return None;
    }
    let script = script.map(|file| Script { file, text: String::new() });
    Some(ToolChoice { name: tool, script })
}

/// The problem of a script's name, if any. A copy with the bare name is stored next to each trial's files, none of
/// which is a script, and the lab's own script quotes the name.
fn problem_of_script_name(file: &str) -> Option<String> {
    let name = file.rsplit('/').next().unwrap_or_default();
    let is_script =
        [".js", ".mjs", ".ts"].iter().any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()));
    if !is_script {
        return Some(format!("`{file}` is no script of k6's; their names end in .js, .mjs or .ts"));
    }
    let is_safe = name.chars().all(|letter| letter.is_alphanumeric() || "-_. ".contains(letter));
    (!is_safe)
        .then(|| format!("the script's name `{name}` has a sign other than letters, digits, `-`, `_`, `.` and blanks"))
}

/// Checks that `tool` can generate `load` and request `workload`, and reports the reason if not.
pub(crate) fn check_tool(
    (tool, span): (&ToolChoice, &Option<Span>),
    (workload, load): (&Workload, &LoadProfile),
    reading: &mut Reading,
) -> bool {
    let Some(span) = span else { return true };
    let of_workload = || tool.refuses_workload(workload);
    let Some(refusal) = tool.name.refuses_load(load).or_else(of_workload) else { return true };
    reading.note(span.clone(), refusal, "leave it out here, or give it a [[scenario]] of its own");
    false
}

/// Reports a tool that cannot stop at an objective although it should.
pub(crate) fn check_abort(tool: &ToolChoice, abort: bool, span: &Option<Span>, reading: &mut Reading) {
    let can = matches!(tool.name, LoadTool::Tolok | LoadTool::K6);
    if let Some(span) = span.as_ref().filter(|_| abort && !can) {
        let message = format!("{} cannot stop at an objective", tool.name.word());
        reading.note(span.clone(), message, "tolok and k6 can: leave out `abort`, or the tool");
    }
}

/// The timers of a program's scenario; tolok's own if none is named.
pub(crate) fn read_timers(written: Option<Spanned<Several<String>>>, reading: &mut Reading) -> Vec<Timer> {
    let Some(written) = written else { return vec![Timer::Tolok] };
    let span = written.span();
    let listed = written.into_inner().0;
    reading.note_if(listed.is_empty(), span, "no timer is listed", "for example: timer = [\"tolok\", \"hyperfine\"]");
    let mut timers = Vec::new();
    for name in listed {
        match Timer::ALL.into_iter().find(|timer| timer.word() == name.get_ref()) {
            None => reading.note_unknown(&name, "there is no timer", &Timer::ALL.map(Timer::word)),
            Some(timer) if timers.contains(&timer) => {
                reading.note(name.span(), format!("timer `{}` is listed twice", timer.word()), None);
            }
            Some(timer) => timers.push(timer),
        }
    }
    timers
}
