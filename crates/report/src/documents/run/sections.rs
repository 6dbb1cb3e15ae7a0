//! The sections of a report: a scenario each, or all scenarios with one subject that differ only in their tools.
//!
//! The second kind is one table, because tools are only interesting side by side.

use std::borrow::Cow;

use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{CaseFinding, Findings, FlagKind, ScenarioFinding, ToolRow, ToolsFinding};

/// Mentioned once for each tool when tools are side by side.
pub(crate) const UNTOLD: FlagKind = FlagKind::ToolTellsLittle;

/// All sections, in the order of the study.
pub(crate) fn sections(findings: &Findings) -> Vec<Cow<'_, ScenarioFinding>> {
    let mut sections = Vec::new();
    for scenario in &findings.scenarios {
        let of_tools = findings.tools.iter().find(|tools| tools.rows.iter().any(|row| row.scenario == scenario.id));
        match of_tools.map(|tools| (tools, members(findings, tools))) {
            None => sections.push(Cow::Borrowed(scenario)),
            // The first of them represents all.
            Some((tools, Some(group))) if group[0].1.id == scenario.id => {
                sections.push(Cow::Owned(together(tools, &group)));
            }
            Some((_, Some(_))) => {}
            Some((_, None)) => sections.push(Cow::Owned(without_untold(scenario.clone()))),
        }
    }
    sections
}

/// Whether a section compares tools; then it has no tool of its own.
pub(crate) fn is_of_tools(section: &ScenarioFinding) -> bool {
    section.tool.is_empty()
}

/// The scenarios of several tools with their rows, if they can share a table without loss: each has one case, and
/// all have the same conditions.
fn members<'a>(findings: &'a Findings, tools: &'a ToolsFinding) -> Option<Vec<(&'a ToolRow, &'a ScenarioFinding)>> {
    let of = |row: &'a ToolRow| Some((row, findings.scenarios.iter().find(|it| it.id == row.scenario)?));
    let group: Vec<(&ToolRow, &ScenarioFinding)> = tools.rows.iter().map(of).collect::<Option<_>>()?;
    let (_, first) = group.first()?;
    let is_alike = |(_, it): &(&ToolRow, &ScenarioFinding)| {
        let is_alone = it.cases.len() == 1 && it.ceiling.is_none();
        let memory = [it.memory_source, first.memory_source];
        is_alone
            && it.objectives == first.objectives
            && it.link == first.link
            && (memory[0] == memory[1] || memory.contains(&None))
    };
    group.iter().all(is_alike).then_some(group)
}

/// Their cases as cases of one scenario, each named after its tool.
fn together(tools: &ToolsFinding, group: &[(&ToolRow, &ScenarioFinding)]) -> ScenarioFinding {
    let (_, first) = group[0];
    let title = |row: &ToolRow| {
        let script = row.script.as_ref().map(|file| format!(" with {file}")).unwrap_or_default();
        format!("{} by {}{script}", tools.subject_title, row.tool)
    };
    let case = |(row, scenario): &(&ToolRow, &ScenarioFinding)| {
        let mut case = CaseFinding { title: title(row), short: row.tool.clone(), ..scenario.cases[0].clone() };
        // A scenario's only case is not the first of anything.
        case.of_first = None;
        case
    };
    let diagnoses = group.iter().flat_map(|(row, scenario)| {
        scenario.unscored_diagnoses.iter().cloned().map(|mut diagnosis| {
            diagnosis.title = title(row);
            diagnosis
        })
    });
    without_untold(ScenarioFinding {
        tool: String::new(),
        is_own_tool: true,
        memory_source: group.iter().find_map(|(_, scenario)| scenario.memory_source),
        verdict: format!(
            "{}, measured by {}: {}. “What each tool says” compares them.",
            tools.subject_title,
            counted(group.len() as u64, "tool"),
            listed(&tools.rows.iter().map(|row| row.tool.clone()).collect::<Vec<_>>(), "and")
        ),
        cases: group.iter().map(case).collect(),
        unscored_diagnoses: diagnoses.collect(),
        ..first.clone()
    })
}

fn without_untold(mut scenario: ScenarioFinding) -> ScenarioFinding {
    for case in scenario.cases.iter_mut().chain(&mut scenario.ceiling) {
        case.flags.retain(|flag| flag.kind != UNTOLD);
    }
    scenario
}
