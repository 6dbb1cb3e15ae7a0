//! `tolok doctor`: reports what this machine can and cannot measure.

use std::collections::BTreeMap;

use tolok_host::guard::{Facts, Held, held};
use tolok_host::machine::{Ability, AbilityState, Advice, BearsOn, Machine, Others, Severity};
use tolok_lab::run::{Capabilities, machine_summary, protection_facts};
use tolok_lab::toolbox::ProgramState;

use super::load::style::{ALARM, CAUTION, FAINT, FINE, STRONG, columns, paint, wrap};
use crate::args::{DoctorArgs, TextOrJson};
use crate::busy::LOOKED_OVER;
use crate::exit::{CliError, Exit};
use crate::laboratory::{Lab, TOOLS};
use crate::measuring::warn_of;
use crate::output::{json, put, width};

/// Examines the machine and its programs, from the control group of a run and after the same cleanup as a run.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, CliError> {
    let opened = Lab::open()?;
    let (mut machine, capabilities) = (Machine::read(), Capabilities::prepare());
    machine.moment.others = Others::look(LOOKED_OVER);
    warn_of(&capabilities.leftovers);
    let text = match args.format {
        TextOrJson::Json => json(&serde_json::json!({
            "schema_version": 2, "machine": machine, "abilities": machine.abilities(), "advice": machine.advice(),
            "protections": protections_of(protection_facts(&opened.laboratory)),
            "programs": opened.states
        }))?,
        TextOrJson::Text => {
            let mut page = Page::of(usize::from(width()));
            page.title(&tolok_analysis::machine_line(&machine_summary(&machine)));
            programs(&mut page, &opened.states);
            subjects(&mut page, &opened);
            tools(&mut page, &opened.states);
            describe(
                &mut page,
                &machine.abilities(),
                &protections_of(protection_facts(&opened.laboratory)),
                &machine.advice(),
            );
            page.text
        }
    };
    put(&text, None)?;
    Ok(Exit::Done)
}

/// What isolates the programs of a trial from the rest of the machine.
fn protections_of(facts: Facts) -> Vec<Ability> {
    let ability = |(name, held): (&str, Held)| {
        let (state, how) = match held {
            Held::Wholly(how) => (AbilityState::Yes, how),
            Held::Partly(how) => (AbilityState::Partly, how),
            Held::Not(why) => (AbilityState::No, why),
        };
        Ability { name: name.to_owned(), state, how: how.to_owned() }
    };
    held(facts).map(ability).into()
}

/// Lines of a fixed width, under headings.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn of(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    fn title(&mut self, words: &str) {
        self.line(0, "", &paint(STRONG, words));
    }

    fn heading(&mut self, words: &str) {
        self.text.push('\n');
        self.line(0, "", &paint(STRONG, words));
    }

    /// Words after a label, or below it where it leaves too little room.
    fn line(&mut self, indent: usize, label: &str, words: &str) {
        let (blanks, column) = (" ".repeat(indent), indent + columns(label));
        if column > self.width / 2 {
            self.text += &format!("{blanks}{}\n", label.trim_end());
            return self.line(indent + 2, "", words);
        }
        self.text += &format!("{blanks}{label}{}\n", wrap(words, self.width, column));
    }
}

/// The programs that subjects need, and databases.
fn programs(page: &mut Page, states: &BTreeMap<String, ProgramState>) {
    page.heading("Programs");
    for (name, state) in states.iter().filter(|(name, _)| !TOOLS.contains(&name.as_str())) {
        program(page, "missing", name, state);
    }
}

/// Tools that measure instead of tolok. They are optional, so one that is not installed is not called missing.
fn tools(page: &mut Page, states: &BTreeMap<String, ProgramState>) {
    page.heading("Load generators and timers, for studies that name them");
    for name in TOOLS {
        if let Some(state) = states.get(name) {
            program(page, "absent", name, state);
        }
    }
}

fn program(page: &mut Page, missing: &str, name: &str, state: &ProgramState) {
    let (mark, name, words) = match state {
        ProgramState::Ready(program) => {
            ("ready", format!("{:<20} {:<10}", program.title, program.version), program.path.display().to_string())
        }
        ProgramState::Missing { reason, remedy } => {
            let reason = reason.as_ref().map(|reason| format!("{reason}; ")).unwrap_or_default();
            (missing, format!("{name:<20}"), format!("{reason}{remedy}"))
        }
        ProgramState::Broken { seen, remedy } => ("broken", format!("{name:<20}"), format!("{seen}; {remedy}")),
    };
    page.line(2, &format!("{}{name} ", readiness(mark)), &words);
}

fn subjects(page: &mut Page, opened: &Lab) {
    page.heading("Subjects");
    for subject in opened.competitors() {
        match opened.ready(subject, &subject.default_variant) {
            Ok(()) => page.line(2, &readiness("ready"), &subject.id),
            Err(reason) => page.line(2, &format!("{}{:<16} ", readiness("missing"), subject.id), &reason),
        }
    }
    page.line(2, "", &paint(FAINT, "Frameworks, and all variants: tolok list subjects"));
}

fn readiness(word: &str) -> String {
    let style = match word {
        "ready" => FINE,
        "absent" => FAINT,
        _ => CAUTION,
    };
    format!("{}{}", paint(style, word), " ".repeat(9 - word.len()))
}

/// What the machine can do, what it lacks with a remedy, and what makes its figures worse.
fn describe(page: &mut Page, abilities: &[Ability], protections: &[Ability], advice: &[Advice]) {
    list(page, "This machine can", abilities);
    list(page, "Programs of a trial are held by", protections);
    let key = "✓ yes   ~ in part   ✗ no   ? only a try shows";
    page.line(2, "", &paint(FAINT, key));
    for (bears_on, heading) in [(BearsOn::Abilities, "What is lacking"), (BearsOn::Figures, "Measuring here")] {
        let advice: Vec<&Advice> = advice.iter().filter(|advice| advice.bears_on == bears_on).collect();
        if advice.is_empty() && bears_on == BearsOn::Abilities {
            continue;
        }
        page.heading(heading);
        advice.iter().for_each(|advice| advise(page, advice));
        if advice.is_empty() {
            page.line(2, "", &paint(FINE, "nothing stands in the way"));
        }
    }
}

/// Abilities under a heading, each with a mark.
fn list(page: &mut Page, heading: &str, abilities: &[Ability]) {
    page.heading(heading);
    let widest = abilities.iter().map(|ability| columns(&ability.name)).max().unwrap_or_default();
    for ability in abilities {
        // The mark has the same meaning without the colour.
        let (mark, style) = match ability.state {
            AbilityState::Yes => ("✓", FINE),
            AbilityState::Partly => ("~", CAUTION),
            AbilityState::No => ("✗", ALARM),
            AbilityState::Unknown => ("?", CAUTION),
        };
        page.line(2, &format!("{} {:<widest$}  ", paint(style, mark), ability.name), &paint(FAINT, &ability.how));
    }
}

fn advise(page: &mut Page, advice: &Advice) {
    let (word, style) = match advice.severity {
        Severity::Problem => ("problem", ALARM),
        Severity::Warning => ("warning", CAUTION),
        Severity::Note => ("note", FAINT),
    };
    page.line(2, &format!("{}{}", paint(style, word), " ".repeat(9 - word.len())), &advice.what);
    page.line(11, "", &advice.why);
    page.line(11, "→ ", &advice.fix);
}

#[cfg(test)]
mod tests;
