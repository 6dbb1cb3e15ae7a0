//! A replication as GitHub shows it, to be kept beside the study.

use std::fmt::Write as _;

use tolok_analysis::figures::{NONE, counted};
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, ReplicatedRatio,
    ReplicatedSeries, ReplicationFindings, SeriesCourse,
};

use super::story::{Untold, heading, judged, story, untold};
use super::words::{
    RULE, SECONDS, SIZES, advice, beside, course, explains, machines, measured, measured_figure, of_level, part, picks,
    published, remark, series_name, sign, source, verdict, without_seconds,
};
use crate::markdown::{escaped, lines};
use crate::sparkline;

/// The replication as Markdown.
pub fn markdown(found: &ReplicationFindings) -> String {
    let mut text = format!("# {}\n\n{}\n\n", escaped(&found.title), escaped(&source(found)));
    text += &format!("**{}**\n\n", escaped(&verdict(found)));
    for (word, lines) in story(found) {
        let nested: String = lines.iter().map(|line| format!("  - {}\n", escaped(line))).collect();
        _ = write!(text, "- **{word}**\n{nested}");
    }
    if let Some(note) = &found.note {
        _ = write!(text, "\n{}\n", escaped(note.trim()));
    }
    text += &claims(&judged(found));
    text += &of_reasons(&untold(found));
    text += &factors(&found.factors);
    text += &recommendations(found);
    text += &ratios(&found.ratios);
    text += &series(&found.series);
    text += &figures(found);
    text + &runs(found)
}

fn runs(found: &ReplicationFindings) -> String {
    let line = |one: &PartFinding| {
        let left_out = one.left_out.iter().map(|what| format!("\n  - left out: {}", escaped(what)));
        format!("- {}. {}{}\n", escaped(&part(one)), escaped(&one.says), left_out.collect::<String>())
    };
    let machines: String = machines(found).iter().map(|machine| format!("\n{}\n", escaped(machine))).collect();
    format!("\n## Runs\n\n{}{machines}", found.parts.iter().map(line).collect::<String>())
}

fn claims(claims: &[&ClaimFinding]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let row = |claim: &&ClaimFinding| {
        let reading = format!("{} **{}**", sign(claim.reading), claim.reading.words());
        let explanation = claim.explanation.as_deref().unwrap_or_default();
        vec![escaped(&says(claim)), escaped(&beside(claim)), reading, escaped(explanation)]
    };
    let rows: Vec<Vec<String>> = claims.iter().map(row).collect();
    let headings = ["the source says", "published and measured", "reading", "explanation"];
    format!("\n## Claims that could be judged\n\n{}\n{RULE}\n", lines(&headings, &rows, 0))
}

/// Claims of one reason share a heading that says it.
fn of_reasons(untold: &[Untold]) -> String {
    let line = |claim: &&ClaimFinding| format!("- {}: {}\n", escaped(&says(claim)), escaped(&beside(claim)));
    let one = |one: &Untold| {
        let number = counted(one.claims.len() as u64, "claim");
        format!("\n**{number}**: {}\n\n{}", escaped(one.reason), one.claims.iter().map(line).collect::<String>())
    };
    let all: String = untold.iter().map(one).collect();
    if all.is_empty() { all } else { format!("\n## Claims that cannot be told\n{all}") }
}

fn says(claim: &ClaimFinding) -> String {
    let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{}{place}", claim.says)
}

fn factors(factors: &[FactorFinding]) -> String {
    if factors.is_empty() {
        return String::new();
    }
    let one = |factor: &FactorFinding| {
        let row = |level: &FactorLevelFinding| {
            vec![escaped(&level.name), escaped(&level.of), of_level(level), escaped(&remark(level))]
        };
        let rows: Vec<Vec<String>> = factor.levels.iter().map(row).collect();
        let headings = ["level", "ratio of", factor.words.as_str(), "remark"];
        let heading = format!("{}: {}", heading(factor), explains(factor));
        let table = lines(&headings, &rows, 0);
        let published =
            factor.published.as_ref().map(|published| format!("Published: {}. ", published.words)).unwrap_or_default();
        format!("\n### {}\n\n{table}\n{published}{}\n", escaped(&heading), escaped(&factor.conclusion))
    };
    let all: String = factors.iter().map(one).collect();
    format!("\n## What explains it\n\nThe same ratio with one thing switched, and nothing else.\n{all}")
}

fn ratios(ratios: &[ReplicatedRatio]) -> String {
    if ratios.is_empty() {
        return String::new();
    }
    let row = |one: &ReplicatedRatio| {
        let why = one.why.as_ref().map(|why| format!(": {}", escaped(why))).unwrap_or_default();
        let reading = format!("{}{why}", one.reading.words());
        let of = escaped(&format!("{} ÷ {}", one.a, one.b));
        vec![escaped(&one.setting), one.words.clone(), of, published(one), measured(one), reading]
    };
    let rows: Vec<Vec<String>> = ratios.iter().map(row).collect();
    let headings = ["setting", "of", "ratio", "published", "measured", "reading"];
    format!("\n## Ratios that the tables imply\n\n{}", lines(&headings, &rows, 0))
}

fn series(all: &[ReplicatedSeries]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let cell = |one: &SeriesCourse| format!("{} {}", sparkline::line(&one.value), course(one));
    let row = |one: &ReplicatedSeries| {
        let measured = one.measured.as_ref().map_or(NONE.to_owned(), cell);
        vec![escaped(&series_name(one)), cell(&one.published), measured]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let why: String = without_seconds(all).iter().map(|line| format!("\n{}\n", escaped(line))).collect();
    format!("\n## Second by second\n\n{SECONDS}\n\n{}{why}", lines(&["series", "published", "measured"], &rows, 0))
}

fn figures(found: &ReplicationFindings) -> String {
    if found.rows.is_empty() {
        return String::new();
    }
    let rows = found.rows.iter().flat_map(|row| {
        let stands = row.stands_for_it.as_ref().map_or_else(|why| format!("nothing: {why}"), Clone::clone);
        row.figures.iter().map(move |figure| {
            let table = row.table.as_ref().map(|table| format!(" ({table})")).unwrap_or_default();
            let name = escaped(&format!("{}, {}{table}", row.subject, row.setting));
            let measured = measured_figure(figure);
            vec![name, figure.words.clone(), escaped(&figure.published), measured, escaped(&stands)]
        })
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let headings = ["row", "of", "published", "measured", "what stands for it"];
    format!("\n## Figures\n\n{SIZES}\n\n{}", lines(&headings, &rows, 0))
}

fn recommendations(found: &ReplicationFindings) -> String {
    if found.recommendations.is_empty() {
        return String::new();
    }
    let row = |one: &&PartRecommendation| {
        let what = &one.recommendation;
        let need = format!("{} ({})", what.need, one.part);
        let take = format!("**{}**", escaped(&picks(what)));
        let strength = what.strength.word().to_owned();
        vec![escaped(&need), take, escaped(&what.because), strength, escaped(&what.changes_if)]
    };
    let (taken, untold) = advice(found);
    let rows: Vec<Vec<String>> = taken.iter().map(row).collect();
    let headings = ["need", "take", "evidence", "strength", "what would overturn it"];
    let table = if rows.is_empty() { String::new() } else { lines(&headings, &rows, 0) };
    let untold: String = untold.iter().map(|line| format!("- {}\n", escaped(line))).collect();
    let untold = if untold.is_empty() { untold } else { format!("\nNothing can be said of these:\n\n{untold}") };
    format!("\n## Which one for what\n\n{table}{untold}")
}
