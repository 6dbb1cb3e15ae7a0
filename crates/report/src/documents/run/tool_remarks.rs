//! What readers must know about single tools: differences that affect their figures, and what they do not report.
//!
//! A remark on a tool in several tables appears once, after the last of them, and has a number in each.

use tolok_analysis::figures::listed;
use tolok_analysis::{Findings, ToolRow, ToolsFinding};

use super::limits::labelled;
use super::sections::UNTOLD;
use crate::document::Text;

/// A remark on one tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Remark {
    tool: String,
    text: String,
}

impl Remark {
    /// `**tool**: text`
    pub(crate) fn words(&self) -> Text {
        labelled(&self.tool, &self.text)
    }
}

/// All remarks of a report.
#[derive(Debug)]
pub(crate) struct Remarks {
    shared: Vec<Shared>,
    /// By table: remarks that hold only there.
    own: Vec<Vec<Remark>>,
    /// By table: what could not be checked of its tools.
    unchecked: Vec<String>,
}

/// A remark, and the tables in which it holds.
#[derive(Debug)]
struct Shared {
    remark: Remark,
    places: Vec<usize>,
}

/// The remarks on a tool in one table.
struct Said {
    place: usize,
    tool: String,
    /// Whether it is a fragment naming something that the tool does not report.
    is_untold: bool,
    text: String,
}

impl Remarks {
    pub(crate) fn of(findings: &Findings) -> Self {
        let mut own = vec![Vec::new(); findings.tools.len()];
        let mut shared = Vec::new();
        for found in gathered(&said(findings)) {
            match found.places.as_slice() {
                [only] => own[*only].push(found.remark),
                _ => shared.push(found),
            }
        }
        Self { shared, own, unchecked: findings.tools.iter().map(|tools| unchecked(findings, tools)).collect() }
    }

    /// The remarks below this table.
    pub(crate) fn beneath(&self, place: usize) -> &[Remark] {
        &self.own[place]
    }

    /// What could not be checked of this table's tools, in a sentence; empty if everything could.
    pub(crate) fn unchecked(&self, place: usize) -> &str {
        &self.unchecked[place]
    }

    /// Remarks that hold in several tables, with their numbers.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Remark)> {
        (1..).zip(self.shared.iter().map(|shared| &shared.remark))
    }

    /// Numbers of the remarks on a row of this table.
    pub(crate) fn numbers(&self, place: usize, row: &ToolRow) -> Vec<usize> {
        let is_of_row = |shared: &Shared| shared.remark.tool == row.short_words() && shared.places.contains(&place);
        (1..).zip(&self.shared).filter(|(_, shared)| is_of_row(shared)).map(|(number, _)| number).collect()
    }
}

/// All remarks of all tables.
fn said(findings: &Findings) -> Vec<Said> {
    let mut said = Vec::new();
    for (place, finding) in findings.tools.iter().enumerate() {
        for row in &finding.rows {
            let in_full = Some(row.words()).filter(|words| *words != row.short_words());
            let notes = in_full.map(|words| format!("In full: {words}.")).into_iter().chain(row.notes.iter().cloned());
            let untold = row.does_not_tell.iter().map(|what| (true, what.clone()));
            let all = notes.map(|note| (false, note)).chain(untold);
            said.extend(all.map(|(is_untold, text)| Said { place, tool: row.short_words(), is_untold, text }));
        }
    }
    said
}

/// Remarks on a tool in the same tables, combined.
fn gathered(said: &[Said]) -> Vec<Shared> {
    let places = |one: &Said| -> Vec<usize> {
        let is_same = |it: &&Said| (&it.tool, &it.text) == (&one.tool, &one.text);
        said.iter().filter(is_same).map(|it| it.place).collect()
    };
    let mut found: Vec<(&str, Vec<usize>)> = Vec::new();
    for one in said {
        let key = (one.tool.as_str(), places(one));
        if !found.contains(&key) {
            found.push(key);
        }
    }
    let remark = |(tool, at): (&str, Vec<usize>)| {
        let is_of = |it: &&Said| it.tool == tool && it.place == at[0] && places(it) == at;
        let (untold, notes): (Vec<&Said>, Vec<&Said>) = said.iter().filter(is_of).partition(|it| it.is_untold);
        let untold: Vec<&str> = untold.iter().map(|it| it.text.as_str()).collect();
        let untold = (!untold.is_empty()).then(|| format!("It does not report: {}.", untold.join(", ")));
        let sentences: Vec<String> = notes.iter().map(|it| it.text.clone()).chain(untold).collect();
        Shared { remark: Remark { tool: tool.to_owned(), text: sentences.join(" ") }, places: at }
    };
    found.into_iter().map(remark).collect()
}

/// The checks that a table's cases could not pass or fail, from their flags: `not checked, as wrk does not tell: whether …`.
fn unchecked(findings: &Findings, tools: &ToolsFinding) -> String {
    let mut gates: Vec<(&str, Vec<String>)> = Vec::new();
    for row in &tools.rows {
        let scenario = findings.scenarios.iter().find(|scenario| scenario.id == row.scenario);
        let cases = scenario.into_iter().flat_map(|it| it.cases.iter().chain(&it.ceiling));
        let flags = cases.filter(|case| case.case == row.case).flat_map(|case| &case.flags);
        for flag in flags.filter(|flag| flag.kind == UNTOLD) {
            let all = flag.message.split_once(": ").map_or(flag.message.as_str(), |(_, gates)| gates);
            for gate in all.split(", ").flat_map(|part| part.split(" and ")) {
                match gates.iter_mut().find(|(known, _)| *known == gate) {
                    Some((_, names)) => names.push(row.tool.clone()),
                    None => gates.push((gate, vec![row.tool.clone()])),
                }
            }
        }
    }
    let words: Vec<String> = gates.iter().map(|(gate, names)| format!("{gate} ({})", listed(names, "and"))).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!("Not checked, because the tool does not report it: {}.", words.join(", "))
    }
}
