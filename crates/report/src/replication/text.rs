//! A replication for a terminal or a log.

use std::collections::BTreeSet;

use tolok_analysis::PublishedReading;
use tolok_analysis::figures::counted;
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, ReplicatedRow, ReplicatedSeries,
    ReplicationFindings, SeriesCourse,
};

use super::story::{heading, judged, story, untold};
use super::words::{
    RULE, SECONDS, SIZES, advice, beside, course, explains, machines, measured, measured_figure, of_level, part, picks,
    published, remark, series_name, sign, source, verdict, without_seconds,
};
use crate::Style;
use crate::sparkline;
use crate::terminal::{Column, INDENT, Look, Page, lines_of};

/// The replication in lines.
pub fn text(found: &ReplicationFindings, style: &Style) -> String {
    let mut page = Page::new(style);
    head(&mut page, found);
    claims(&mut page, &judged(found));
    of_reasons(&mut page, found);
    factors(&mut page, &found.factors);
    recommendations(&mut page, found);
    ratios(&mut page, found);
    series(&mut page, &found.series);
    figures(&mut page, found);
    page.list("Runs", "-", found.parts.iter().map(part).collect());
    page.list("Left out", "!", left_out(&found.parts));
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
    for (word, lines) in story(found) {
        page.paragraph(INDENT, word, Look::Dim);
        for line in lines {
            page.paragraph(&INDENT.repeat(2), &format!("- {line}"), Look::Plain);
        }
    }
    page.text.push('\n');
    page.paragraph("", found.note.as_deref().unwrap_or_default(), Look::Plain);
}

fn left_out(parts: &[PartFinding]) -> Vec<String> {
    let of_part = |part: &PartFinding| {
        let name = part.name.clone();
        part.left_out.clone().into_iter().map(move |what| format!("{name}: {what}"))
    };
    parts.iter().flat_map(of_part).collect()
}

fn claims(page: &mut Page, judged: &[&ClaimFinding]) {
    if judged.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "Claims that could be judged", Look::Bold);
    for claim in judged {
        let look = if claim.reading == PublishedReading::Reversed { Look::Warning } else { Look::Plain };
        page.text.push('\n');
        let heading = format!("{} {}: {}", sign(claim.reading), claim.reading.words(), says(claim));
        page.paragraph(INDENT, &heading, look);
        let deeper = INDENT.repeat(2);
        page.paragraph(&deeper, &beside(claim), Look::Plain);
        page.paragraph(&deeper, claim.explanation.as_deref().unwrap_or_default(), Look::Dim);
    }
    page.text.push('\n');
    page.paragraph(INDENT, RULE, Look::Dim);
}

fn says(claim: &ClaimFinding) -> String {
    let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{}{place}", claim.says)
}

/// Claims of one reason share a heading that says it.
fn of_reasons(page: &mut Page, found: &ReplicationFindings) {
    let untold = untold(found);
    if untold.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "Claims that cannot be told, by the reason", Look::Bold);
    for one in untold {
        page.text.push('\n');
        let number = counted(one.claims.len() as u64, "claim");
        page.paragraph(INDENT, &format!("? {number}: {}", one.reason), Look::Plain);
        for claim in one.claims {
            page.paragraph(&INDENT.repeat(2), &format!("- {}: {}", says(claim), beside(claim)), Look::Dim);
        }
    }
}

fn factors(page: &mut Page, factors: &[FactorFinding]) {
    if factors.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "What explains it: the same ratio with one thing switched", Look::Bold);
    for factor in factors {
        let levels = &factor.levels;
        let cells = |cell: &dyn Fn(&FactorLevelFinding) -> String| levels.iter().map(cell).collect::<Vec<String>>();
        let names = cells(&|level| format!("{}: {}", level.name, level.of));
        let columns: Vec<Column> = vec![(factor.words.as_str(), cells(&of_level))];
        table(page, &format!("{}: {}", heading(factor), explains(factor)), ("level", &names), &columns);
        for remark in levels.iter().map(remark).collect::<BTreeSet<String>>() {
            page.paragraph(&INDENT.repeat(2), &remark, Look::Dim);
        }
        let published =
            factor.published.as_ref().map(|published| format!("Published: {}. ", published.words)).unwrap_or_default();
        page.paragraph(&INDENT.repeat(2), &format!("{published}{}", factor.conclusion), Look::Dim);
    }
}

fn series(page: &mut Page, all: &[ReplicatedSeries]) {
    let shown: Vec<(&ReplicatedSeries, &SeriesCourse)> =
        all.iter().filter_map(|one| Some((one, one.measured.as_ref()?))).collect();
    if all.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "Second by second", Look::Bold);
    for (one, measured) in shown {
        page.text.push('\n');
        page.paragraph(INDENT, &series_name(one), Look::Plain);
        for (word, of) in [("published", &one.published), ("measured ", measured)] {
            let line = format!("{word} {} {}", sparkline::line(&of.value), course(of));
            page.paragraph(&INDENT.repeat(2), &line, Look::Plain);
        }
    }
    for line in without_seconds(all) {
        page.paragraph(INDENT, &format!("- {line}"), Look::Plain);
    }
    page.paragraph(INDENT, SECONDS, Look::Dim);
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
    let (taken, untold) = advice(found);
    if found.recommendations.is_empty() {
        return;
    }
    page.text.push('\n');
    page.paragraph("", "Which one for what", Look::Bold);
    for PartRecommendation { part, recommendation } in taken {
        let deeper = INDENT.repeat(2);
        page.text.push('\n');
        let (take, strength) = (picks(recommendation), recommendation.strength.word());
        page.paragraph(INDENT, &format!("{} ({part}): {take} ({strength})", recommendation.need), Look::Plain);
        page.paragraph(&deeper, &format!("evidence: {}", recommendation.because), Look::Dim);
        page.paragraph(&deeper, &format!("overturned by: {}", recommendation.changes_if), Look::Dim);
    }
    page.list("Nothing can be said of these needs", "-", untold);
}
