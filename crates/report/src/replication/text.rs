//! A replication for a terminal or a log.

use std::collections::BTreeSet;

use tolok_analysis::PublishedReading;
use tolok_analysis::replication::{PartFinding, ReplicatedRow, ReplicationFindings};

use super::words::{
    RULE, SIZES, beside, explains, in_order, level, machines, measured, measured_figure, part, published, sign, source,
    verdict,
};
use crate::Style;
use crate::terminal::{Column, INDENT, Look, Page, lines_of};

/// The replication in lines.
pub fn text(found: &ReplicationFindings, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, found);
    page.list("Runs", "-", found.parts.iter().map(part).collect());
    page.list("Left out", "!", left_out(&found.parts));
    claims(&mut page, found);
    factors(&mut page, found);
    ratios(&mut page, found);
    figures(&mut page, found);
    recommendations(&mut page, found);
    page.text
}

fn head(page: &mut Page, found: &ReplicationFindings) {
    page.paragraph("", &found.title, Look::Bold);
    page.paragraph("", &source(found), Look::Dim);
    for machine in machines(found) {
        page.paragraph("", machine, Look::Dim);
    }
    page.text.push('\n');
    page.paragraph("", &verdict(found), Look::Bold);
    page.paragraph("", found.note.as_deref().unwrap_or_default(), Look::Plain);
}

fn left_out(parts: &[PartFinding]) -> Vec<String> {
    let of_part = |part: &PartFinding| {
        let name = part.name.clone();
        part.left_out.clone().into_iter().map(move |what| format!("{name}: {what}"))
    };
    parts.iter().flat_map(of_part).collect()
}

fn claims(page: &mut Page, found: &ReplicationFindings) {
    if found.claims.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "What the source says, and what was measured", Look::Bold);
    for claim in in_order(found) {
        let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let look = if claim.reading == PublishedReading::Reversed { Look::Warning } else { Look::Plain };
        page.text.push('\n');
        let heading = format!("{} {}: {}{place}", sign(claim.reading), claim.reading.words(), claim.says);
        page.paragraph(INDENT, &heading, look);
        let deeper = INDENT.repeat(2);
        page.paragraph(&deeper, &beside(claim), Look::Plain);
        page.paragraph(&deeper, claim.explanation.as_deref().unwrap_or_default(), Look::Dim);
    }
    page.text.push('\n');
    page.paragraph(INDENT, RULE, Look::Dim);
}

fn factors(page: &mut Page, found: &ReplicationFindings) {
    if found.factors.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "What explains it: the same ratio with one thing switched", Look::Bold);
    for factor in &found.factors {
        page.text.push('\n');
        page.paragraph(INDENT, &format!("{} ({}): {}", factor.name, factor.words, explains(factor)), Look::Plain);
        for one in &factor.levels {
            page.paragraph(&INDENT.repeat(2), &format!("- {}", level(one)), Look::Plain);
        }
        page.paragraph(&INDENT.repeat(2), &factor.sentence, Look::Dim);
    }
}

fn ratios(page: &mut Page, found: &ReplicationFindings) {
    if found.ratios.is_empty() {
        return;
    }
    let cells = |cell: &dyn Fn(usize) -> String| (0..found.ratios.len()).map(cell).collect::<Vec<String>>();
    let ratio = |place: usize| &found.ratios[place];
    let columns: Vec<Column> = vec![
        ("published", cells(&|place| published(ratio(place)))),
        ("measured", cells(&|place| measured(ratio(place)))),
        ("reading", cells(&|place| ratio(place).reading.words().to_owned())),
    ];
    let names = cells(&|place| {
        let one = ratio(place);
        format!("{} ÷ {}, {}, {}", one.a, one.b, one.words, one.setting)
    });
    table(page, "Ratios that the tables imply", ("ratio", &names), &columns);
}

fn figures(page: &mut Page, found: &ReplicationFindings) {
    let all: Vec<_> = found.rows.iter().flat_map(|row| row.figures.iter().map(move |figure| (row, figure))).collect();
    let shown: Vec<_> = all.into_iter().filter(|(_, figure)| figure.measured.is_some()).collect();
    if shown.is_empty() {
        return;
    }
    let column = |cell: &dyn Fn(usize) -> String| (0..shown.len()).map(cell).collect::<Vec<String>>();
    let name = |row: &ReplicatedRow| {
        let setting = if row.setting.is_empty() { String::new() } else { format!(", {}", row.setting) };
        format!("{}{setting}", row.subject)
    };
    let columns: Vec<Column> = vec![
        ("published", column(&|place| shown[place].1.published.clone())),
        ("measured", column(&|place| measured_figure(shown[place].1))),
    ];
    let names = column(&|place| format!("{}: {}", name(shown[place].0), shown[place].1.words));
    table(page, "Figures", ("of", &names), &columns);
    page.paragraph(INDENT, SIZES, Look::Dim);
    let absent: BTreeSet<&str> =
        found.rows.iter().filter_map(|row| row.stands_for_it.as_ref().err().map(String::as_str)).collect();
    page.list("Rows that nothing stands for", "-", absent.into_iter().map(str::to_owned).collect());
}

fn table(page: &mut Page, heading: &str, (first, names): (&str, &[String]), columns: &[Column]) {
    page.text.push('\n');
    page.paragraph("", heading, Look::Bold);
    let inner = page.width - INDENT.len();
    for (place, line) in lines_of(first, names, columns, names.len(), inner).iter().enumerate() {
        page.line(format!("{INDENT}{line}").trim_end(), if place == 0 { Look::Dim } else { Look::Plain });
    }
}

fn recommendations(page: &mut Page, found: &ReplicationFindings) {
    let line = |one: &tolok_analysis::replication::PartRecommendation| {
        let what = &one.recommendation;
        let picks = if what.picks.is_empty() { "nothing can be said".to_owned() } else { what.picks.join(", ") };
        format!(
            "{} ({}): {picks} ({}). {} {}",
            what.need,
            one.part,
            what.strength.word(),
            what.because,
            what.changes_if
        )
    };
    page.list("Which one for what", "-", found.recommendations.iter().map(line).collect());
}
