//! A replication as GitHub shows it, to be kept beside the study.

use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, PartFinding, PartRecommendation, ReplicatedRatio, ReplicationFindings,
};

use super::words::{
    RULE, SIZES, beside, explains, in_order, level, machines, measured, measured_figure, part, published, sign, source,
    verdict,
};
use crate::markdown::{escaped, lines, list};

/// The replication as Markdown.
pub fn markdown(found: &ReplicationFindings) -> String {
    let mut text = format!("# {}\n\n{}\n\n", escaped(&found.title), escaped(&source(found)));
    text += &format!("**{}**\n", escaped(&verdict(found)));
    if let Some(note) = &found.note {
        text += &format!("\n{}\n", escaped(note));
    }
    text += &runs(found);
    text += &claims(&in_order(found).collect::<Vec<_>>());
    text += &factors(&found.factors);
    text += &ratios(&found.ratios);
    text += &figures(found);
    text + &recommendations(&found.recommendations)
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
        let place = claim.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let reading = format!("{} **{}**", sign(claim.reading), claim.reading.words());
        let explanation = claim.explanation.as_deref().unwrap_or_default();
        let says = escaped(&format!("{}{place}", claim.says));
        vec![says, escaped(&beside(claim)), reading, escaped(explanation)]
    };
    let rows: Vec<Vec<String>> = claims.iter().map(row).collect();
    let headings = ["the source says", "published and measured", "reading", "explanation"];
    format!("\n## Claims\n\n{}\n{RULE}\n", lines(&headings, &rows, 0))
}

fn factors(factors: &[FactorFinding]) -> String {
    if factors.is_empty() {
        return String::new();
    }
    let one = |factor: &FactorFinding| {
        let levels: String = factor.levels.iter().map(|one| format!("- {}\n", escaped(&level(one)))).collect();
        let heading = format!("{} ({}): {}", factor.name, factor.words, explains(factor));
        format!("\n### {}\n\n{levels}\n{}\n", escaped(&heading), escaped(&factor.sentence))
    };
    let all: String = factors.iter().map(one).collect();
    format!("\n## What explains it\n\nThe same ratio with one thing switched.\n{all}")
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

fn recommendations(all: &[PartRecommendation]) -> String {
    let line = |one: &PartRecommendation| {
        let what = &one.recommendation;
        let picks = if what.picks.is_empty() { "nothing can be said".to_owned() } else { what.picks.join(", ") };
        let head = format!("**{}** ({}): {}", escaped(&what.need), escaped(&one.part), escaped(&picks));
        format!("{head}, {}. {} {}", what.strength.word(), escaped(&what.because), escaped(&what.changes_if))
    };
    let items: Vec<String> = all.iter().map(line).collect();
    if items.is_empty() { String::new() } else { list("Which one for what", &items) }
}
