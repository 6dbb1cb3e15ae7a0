//! A replication as one page that needs nothing but itself.

use serde::Serialize;
use tolok_analysis::PublishedReading;
use tolok_analysis::figures::counted;
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, ReplicatedRatio, ReplicatedRow,
    ReplicationFindings,
};

use super::html_series::Seconds;
use crate::documents::replication::story::{Untold, name, judged, story, untold};
use crate::documents::replication::words::{
    RULE, SIZES, advice, beside, explains, machines, measured, measured_figure, of_level, part, picks, published,
    remark, sign, source, verdict,
};
use crate::document::Cell;
use crate::frame;
use crate::page::{piece, style};
use crate::svg;

const TEMPLATE: &str = include_str!("../../templates/replication.html");
/// Ratios closer to 1 than this lie in the light band of the chart.
const SMALLEST_EFFECT: f64 = 0.03;
/// So many ratios are drawn; all stand in the table.
const MOST_DRAWN: usize = 16;

/// The page.
pub fn html(found: &ReplicationFindings) -> String {
    frame::finish(piece("replication.html", TEMPLATE, &Page::of(found)))
}

#[derive(Serialize)]
struct Page<'a> {
    style: &'static str,
    version: &'static str,
    title: &'a str,
    source: String,
    verdict: String,
    story: Vec<(&'static str, Vec<String>)>,
    note: Option<&'a str>,
    machines: Vec<&'a str>,
    parts: Vec<Part<'a>>,
    claims: Vec<Claim<'a>>,
    untold: Vec<Reason<'a>>,
    rule: &'static str,
    factors: Vec<Factor<'a>>,
    chart: Option<String>,
    ratios: Vec<Ratio<'a>>,
    seconds: Option<Seconds>,
    rows: Vec<Row<'a>>,
    sizes: &'static str,
    recommendations: Vec<Advice<'a>>,
    without_advice: Vec<String>,
    key: &'a str,
}

#[derive(Serialize)]
struct Part<'a> {
    line: String,
    says: &'a str,
    left_out: &'a [String],
}

#[derive(Serialize)]
struct Claim<'a> {
    says: &'a str,
    place: Option<&'a str>,
    published: &'a str,
    measured: Option<&'a str>,
    sign: char,
    reading: &'static str,
    class: &'static str,
    explanation: Option<&'a str>,
}

/// Claims of which nothing can be told for one reason.
#[derive(Serialize)]
struct Reason<'a> {
    number: String,
    reason: &'a str,
    /// What is said, where, and the figures.
    claims: Vec<(&'a str, Option<&'a str>, String)>,
}

#[derive(Serialize)]
struct Factor<'a> {
    name: String,
    words: &'a str,
    explains: &'static str,
    chart: Option<String>,
    published: Option<&'a str>,
    levels: Vec<Level<'a>>,
    conclusion: &'a str,
}

#[derive(Serialize)]
struct Level<'a> {
    name: &'a str,
    of: &'a str,
    ratio: String,
    remark: String,
}

#[derive(Serialize)]
struct Ratio<'a> {
    setting: &'a str,
    words: &'a str,
    of: String,
    published: String,
    measured: String,
    reading: &'static str,
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: String,
    table: Option<&'a str>,
    stands: String,
    figures: Vec<[String; 3]>,
}

#[derive(Serialize)]
struct Advice<'a> {
    need: &'a str,
    part: &'a str,
    picks: String,
    because: &'a str,
    strength: &'static str,
    changes_if: &'a str,
}

impl<'a> Page<'a> {
    fn of(found: &'a ReplicationFindings) -> Self {
        let (taken, without_advice) = advice(found);
        let drawn = found.ratios.len().min(MOST_DRAWN);
        Self {
            style: style(),
            version: env!("CARGO_PKG_VERSION"),
            title: &found.title,
            source: source(found),
            verdict: verdict(found),
            story: story(found),
            note: found.note.as_deref(),
            machines: machines(found),
            parts: found.parts.iter().map(Part::of).collect(),
            claims: judged(found).into_iter().map(Claim::of).collect(),
            untold: untold(found).iter().map(Reason::of).collect(),
            rule: RULE,
            factors: found.factors.iter().map(Factor::of).collect(),
            chart: (drawn > 0).then(|| svg::published(&found.ratios[..drawn], SMALLEST_EFFECT)),
            ratios: found.ratios.iter().map(Ratio::of).collect(),
            seconds: Seconds::of(&found.series),
            rows: found.rows.iter().map(Row::of).collect(),
            sizes: SIZES,
            recommendations: taken.into_iter().map(Advice::of).collect(),
            without_advice,
            key: &found.key,
        }
    }
}

impl<'a> Part<'a> {
    fn of(one: &'a PartFinding) -> Self {
        Self { line: part(one), says: &one.says, left_out: &one.left_out }
    }
}

impl<'a> Claim<'a> {
    fn of(claim: &'a ClaimFinding) -> Self {
        Self {
            says: &claim.says,
            place: claim.place.as_deref(),
            published: &claim.published,
            measured: claim.measured.as_deref(),
            sign: sign(claim.reading),
            reading: claim.reading.words(),
            class: match claim.reading {
                PublishedReading::Reproduced => "ok",
                PublishedReading::Reversed => "warn",
                _ => "",
            },
            explanation: claim.explanation.as_deref(),
        }
    }
}

impl<'a> Reason<'a> {
    fn of(untold: &Untold<'a>) -> Self {
        let line = |claim: &&'a ClaimFinding| (claim.says.as_str(), claim.place.as_deref(), beside(claim));
        Self {
            number: counted(untold.claims.len() as u64, "claim"),
            reason: untold.reason,
            claims: untold.claims.iter().map(line).collect(),
        }
    }
}

impl<'a> Factor<'a> {
    fn of(factor: &'a FactorFinding) -> Self {
        Self {
            name: name(factor),
            words: &factor.words,
            explains: explains(factor),
            chart: svg::levels(factor, SMALLEST_EFFECT),
            published: factor.published.as_ref().map(|published| published.words.as_str()),
            levels: factor.levels.iter().map(Level::of).collect(),
            conclusion: &factor.conclusion,
        }
    }
}

impl<'a> Level<'a> {
    fn of(level: &'a FactorLevelFinding) -> Self {
        Self { name: &level.name, of: &level.of, ratio: of_level(level), remark: remark(level) }
    }
}

impl<'a> Ratio<'a> {
    fn of(one: &'a ReplicatedRatio) -> Self {
        Self {
            setting: &one.setting,
            words: &one.words,
            of: format!("{} ÷ {}", one.a, one.b),
            published: published(one),
            measured: match measured(one) {
                Cell { text, interval: Some(interval), .. } => format!("{} ({interval})", text.plain()),
                Cell { text, .. } => text.plain(),
            },
            reading: one.reading.words(),
            why: one.why.as_deref(),
        }
    }
}

impl<'a> Row<'a> {
    fn of(row: &'a ReplicatedRow) -> Self {
        let figures =
            row.figures.iter().map(|one| [one.words.clone(), one.published.clone(), measured_figure(one)]).collect();
        Self {
            name: if row.setting.is_empty() {
                row.subject.clone()
            } else {
                format!("{}, {}", row.subject, row.setting)
            },
            table: row.table.as_deref(),
            stands: row.stands_for_it.as_ref().map_or_else(|why| format!("nothing: {why}"), Clone::clone),
            figures,
        }
    }
}

impl<'a> Advice<'a> {
    fn of(one: &'a PartRecommendation) -> Self {
        let what = &one.recommendation;
        Self {
            need: &what.need,
            part: &one.part,
            picks: picks(what),
            because: &what.because,
            strength: what.strength.word(),
            changes_if: &what.changes_if,
        }
    }
}
