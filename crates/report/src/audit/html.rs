//! Audits as one page that needs nothing but itself, in the style of the reports.

use minijinja::value::Serde;
use serde::Serialize;
use tolok_audit::{Audit, AuditFinding, AuditVerdict, Law, sentence_of_several};

use crate::documents::audit::words::{ByLaw, Lack, MEANINGS, OfLine, Part, Sorted, by_line, counts, subtitle, tallies};
use crate::frame::with_contents;
use crate::page;

const TEMPLATE: &str = include_str!("../../templates/audit.html");

/// The page; in short, only with what is contradicted.
pub fn html(audits: &[Audit], is_brief: bool) -> String {
    let mut environment = page::templates();
    // The name's ending turns escaping on.
    environment.add_template("audit.html", TEMPLATE).expect("the template is part of the program, and tests render it");
    let template = environment.get_template("audit.html").expect("it was added above");
    let text = template.render(Serde(&Page::of(audits, is_brief)));
    with_contents(&text.expect("the page has every name that the template reads, as tests show"))
}

/// All that the template reads.
#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    version: &'static str,
    title: String,
    /// About the only table; of several, each has its own.
    subtitle: String,
    sentence: String,
    is_brief: bool,
    tables: Vec<Table<'a>>,
    meanings: [(&'static str, &'static str); 5],
}

/// An audited table.
#[derive(Serialize)]
struct Table<'a> {
    id: String,
    key: &'a str,
    title: &'a str,
    subtitle: String,
    sentence: &'a str,
    tallies: Vec<Tally>,
    contradicted: Vec<Group<'a>>,
    lacking: Vec<Lacking<'a>>,
    held: Vec<Group<'a>>,
    held_count: usize,
    laws: Vec<OfLaw>,
}

#[derive(Serialize)]
struct Tally {
    words: String,
    class: &'static str,
    /// Where on the page they stand, if there are any.
    href: Option<String>,
}

#[derive(Serialize)]
struct Group<'a> {
    law: &'static str,
    says: &'static str,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Lacking<'a> {
    what: String,
    parts: Vec<Lacked<'a>>,
}

/// Findings from which the same is inferred, or nothing.
#[derive(Serialize)]
struct Lacked<'a> {
    findings: Vec<Finding<'a>>,
    label: String,
    inference: &'a str,
}

#[derive(Serialize)]
struct Finding<'a> {
    law: &'static str,
    about: &'a str,
    statement: &'a str,
    arithmetic: &'a str,
    sentence: &'a str,
    inference: &'a str,
    lines: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    place: String,
    figures: Vec<(&'a str, &'a str)>,
}

/// How a law came out.
#[derive(Serialize)]
struct OfLaw {
    title: &'static str,
    says: &'static str,
    counts: [String; 3],
    is_contradicted: bool,
}

impl<'a> Page<'a> {
    fn of(audits: &'a [Audit], is_brief: bool) -> Self {
        let (title, subtitle, sentence) = match audits {
            [only] => (only.title.clone(), subtitle(only), only.sentence.clone()),
            all => (format!("{} published tables", all.len()), String::new(), sentence_of_several(all)),
        };
        let number = |place: usize| if audits.len() == 1 { String::new() } else { format!("table-{}", place + 1) };
        Self {
            style: page::style(),
            version: env!("CARGO_PKG_VERSION"),
            title,
            subtitle,
            sentence,
            is_brief,
            tables: audits.iter().enumerate().map(|(place, audit)| Table::of(audit, number(place), is_brief)).collect(),
            meanings: MEANINGS,
        }
    }
}

impl<'a> Table<'a> {
    /// `id` is empty where the page has no other table.
    fn of(audit: &'a Audit, id: String, is_brief: bool) -> Self {
        let Sorted { contradicted, lacking, held } = Sorted::of(audit);
        let laws = Law::ALL.into_iter().map(|law| OfLaw::of(audit, law)).collect();
        Self {
            key: &audit.key,
            title: &audit.title,
            subtitle: subtitle(audit),
            sentence: &audit.sentence,
            tallies: tallies(audit)
                .into_iter()
                .map(|(verdict, count, words)| Tally::of(verdict, count, words, &id, is_brief))
                .collect(),
            contradicted: contradicted.into_iter().map(Group::of).collect(),
            lacking: lacking.into_iter().map(Lacking::of).collect(),
            held: held.into_iter().map(Group::of).collect(),
            held_count: audit.verdicts.holds,
            laws,
            id,
        }
    }
}

impl Tally {
    fn of(verdict: AuditVerdict, count: usize, words: String, id: &str, is_brief: bool) -> Self {
        let (class, part) = match verdict {
            AuditVerdict::Contradicted if count > 0 => ("warn", "contradicted"),
            AuditVerdict::Contradicted => ("", "contradicted"),
            AuditVerdict::CannotTell => ("", "cannot-tell"),
            AuditVerdict::Holds => ("ok", "holds"),
        };
        let is_shown = count > 0 && (verdict == AuditVerdict::Contradicted || !is_brief);
        let before = if id.is_empty() { String::new() } else { format!("{id}-") };
        Self { words, class, href: is_shown.then(|| format!("#{before}{part}")) }
    }
}

impl<'a> Group<'a> {
    fn of(own: ByLaw<'a>) -> Self {
        let findings = own.findings.into_iter().map(Finding::of).collect();
        Self { law: own.law.title(), says: own.law.says(), findings }
    }
}

impl<'a> Lacking<'a> {
    fn of(lack: Lack<'a>) -> Self {
        let part = |part: Part<'a>| Lacked {
            label: part.label(),
            inference: part.inference.unwrap_or_default(),
            findings: part.findings.into_iter().map(Finding::of).collect(),
        };
        Self { what: lack.what, parts: lack.parts.into_iter().map(part).collect() }
    }
}

impl<'a> Finding<'a> {
    fn of(finding: &'a AuditFinding) -> Self {
        let line = |line: OfLine<'a>| Line {
            place: line.place,
            figures: line.inputs.into_iter().map(|input| (input.name.as_str(), input.printed.as_str())).collect(),
        };
        Self {
            law: finding.law.title(),
            about: &finding.about,
            statement: &finding.statement,
            arithmetic: &finding.arithmetic,
            sentence: &finding.sentence,
            inference: finding.inference.as_deref().unwrap_or_default(),
            lines: by_line(&finding.inputs).into_iter().map(line).collect(),
        }
    }
}

impl OfLaw {
    fn of(audit: &Audit, law: Law) -> Self {
        let is_contradicted = audit.with(AuditVerdict::Contradicted).any(|finding| finding.law == law);
        Self { title: law.title(), says: law.says(), counts: counts(audit, law), is_contradicted }
    }
}
