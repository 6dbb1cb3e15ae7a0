//! Invented replications, by name.

use tolok_analysis::replication::{
    ClaimFinding, ClaimedRatio, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, REPLICATION_SCHEMA,
    ReplicatedFigure, ReplicatedRatio, ReplicatedRow, ReplicatedSeries, ReplicationFindings, ReplicationTally,
    SeriesCourse,
};
use tolok_analysis::{Estimate, PublishedReading, Recommendation, Strength};

/// Every invented replication with its name.
pub fn all() -> Vec<(&'static str, ReplicationFindings)> {
    vec![("replication", whole()), ("replication-not-run", not_run()), ("replication-untrusted", untrusted())]
}

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low: Some(low), high: Some(high), trials: vec![low, value, value, value, high] }
}

/// One claim of each reading; one factor that explains, one that does not, and one that is undecided.
fn whole() -> ReplicationFindings {
    ReplicationFindings {
        schema_version: REPLICATION_SCHEMA,
        key: "doe-apache-node".to_owned(),
        title: "Apache and Node.js under a thousand connections".to_owned(),
        source: "Jane Doe, 2024".to_owned(),
        note: Some("Six children at the start instead of five, as five are less than this Apache allows.".to_owned()),
        parts: vec![
            part("wan", Some("2026-11-22-101010-wan-00c0de")),
            PartFinding {
                left_out: vec!["php/swoole: its extension is not installed".to_owned()],
                failed: 3,
                ..part("next-door", Some("2026-11-22-102010-next-door-00c0df"))
            },
            PartFinding {
                left_out: vec!["the whole part: it asks for 4 CPUs, and this machine has 2".to_owned()],
                ..part("four-cores", None)
            },
        ],
        tally: ReplicationTally {
            reproduced: 1,
            supported: 1,
            same_direction: 1,
            no_difference: 1,
            difference: 1,
            reversed: 1,
            cannot_tell: 1,
        },
        claims: claims(),
        restated: 2,
        rows: vec![
            row("node", "534 KB file, 500 connections", Ok("wan · node/http · file-534k-c500".to_owned())),
            row("iis", "534 KB file, 500 connections", Err("no part has a subject for iis".to_owned())),
        ],
        series: series(),
        ratios: ratios(),
        factors: factors(),
        recommendations: vec![
            advice("most answers a second: Hello", &["Node http"], Strength::Moderate),
            advice("least memory: Hello", &["Node http", "Apache prefork"], Strength::Weak),
            advice("fastest first answer: Hello", &[], Strength::None),
        ],
    }
}

fn advice(need: &str, picks: &[&str], strength: Strength) -> PartRecommendation {
    let (because, changes_if) = match strength {
        Strength::None => ("1 common block, and an interval needs 5.", "5 blocks or more."),
        _ => (
            "4.86× (4.80–4.92) as many as the next.",
            "Another distance: next door they are alike; to be sure: 10 blocks.",
        ),
    };
    PartRecommendation {
        part: "wan".to_owned(),
        recommendation: Recommendation {
            rule: "most-answers".to_owned(),
            rule_words: "Whoever gives most good answers a second.".to_owned(),
            need: need.to_owned(),
            scenarios: vec!["hello-c100".to_owned()],
            picks: picks.iter().copied().map(str::to_owned).collect(),
            because: because.to_owned(),
            strength,
            changes_if: changes_if.to_owned(),
        },
    }
}

/// Twenty seconds of two subjects, one of them measured; and a figure that was not measured.
fn series() -> Vec<ReplicatedSeries> {
    let ramp = |size: f64, from: f64, is_measured: bool| {
        let at_s: Vec<f64> = (0..20).map(|second| f64::from(second) + from).collect();
        let value: Vec<f64> = at_s.iter().map(|at_s| size * (1.0 - (-at_s / 5.0).exp())).collect();
        let side = |factor: f64| match is_measured {
            true => value.iter().map(|value| value * factor).collect(),
            false => Vec::new(),
        };
        SeriesCourse {
            start: value[0],
            end: value[19],
            mean: value.iter().sum::<f64>() / 20.0,
            highest: value[19],
            highest_at_s: at_s[19],
            slope_per_s: Some(size / 40.0),
            low: side(0.9),
            high: side(1.1),
            at_s,
            value,
        }
    };
    let one = |subject: &str, words: &str, unit: &str, size: f64, measured: Option<f64>| ReplicatedSeries {
        table: Some("Table II".to_owned()),
        subject: subject.to_owned(),
        setting: "534 KB file, 500 connections".to_owned(),
        key: format!("{words}_{unit}"),
        words: words.to_owned(),
        unit: unit.to_owned(),
        published: ramp(size, 0.0, false),
        published_meanwhile: measured.map(|size| ramp(size / 2.0, 0.0, false)),
        stands_for_it: match measured {
            Some(_) => Ok(format!("wan · {subject} · file-534k-c500")),
            None => Err("part four-cores was not run: it asks for 4 CPUs, and this machine has 2".to_owned()),
        },
        measured: measured.map(|size| ramp(size, 1.0, true)),
    };
    vec![
        one("apache", "memory", "MB", 187.0, Some(812.0)),
        one("node", "memory", "MB", 390.0, Some(301.0)),
        one("apache", "CPU", "%", 16.6, None),
    ]
}

fn part(name: &str, run: Option<&str>) -> PartFinding {
    PartFinding {
        name: name.to_owned(),
        says: "As the source did, with its network emulated.".to_owned(),
        study: format!("Apache and Node.js, {name}"),
        run: run.map(str::to_owned),
        machine: run.map(|_| "Invented CPU, 2 CPUs, 8 GiB, Linux 6.12".to_owned()),
        began: run.map(|_| "2026-11-22T10:10:10Z".to_owned()),
        blocks: if run.is_some() { 5 } else { 0 },
        windows_s: run.map(|_| [20.0, 20.4]),
        scale: if name == "next-door" { 0.25 } else { 1.0 },
        trials: if run.is_some() { 90 } else { 0 },
        failed: 0,
        left_out: Vec::new(),
    }
}

fn claims() -> Vec<ClaimFinding> {
    let claim = |id: &str, says: &str, published: &str, measured: Option<(f64, &str)>, reading| ClaimFinding {
        id: id.to_owned(),
        place: Some("Conclusion".to_owned()),
        says: says.to_owned(),
        raw: vec!["words of the source".to_owned()],
        measure: measured.map(|_| "correct responses per second".to_owned()),
        own_table: measured.map(|_| "node over apache: 2.30×".to_owned()),
        published: published.to_owned(),
        measured: measured.map(|(_, words)| words.to_owned()),
        ratio: measured.map(|(value, _)| estimate(value, value * 0.98, value * 1.02)),
        reading,
        explanation: None,
    };
    let explained = ClaimFinding {
        explanation: Some("Reproduced, and it is the distance that makes it: next door the ratio is 1.02×.".to_owned()),
        ..claim(
            "node-5x",
            "Node answers 4.5 to 5 times as much as Apache",
            "4.5–5×",
            Some((4.86, "4.86× (4.76–4.96)")),
            PublishedReading::Reproduced,
        )
    };
    let unmeasured = ClaimFinding {
        explanation: Some("No part has a subject for iis.".to_owned()),
        ..claim("iis", "IIS serves files fastest", "IIS highest", None, PublishedReading::CannotTell)
    };
    vec![
        explained,
        claim(
            "encoder",
            "An encoder would cost Go a fifth",
            "0.80–0.85×",
            Some((0.83, "0.830× (0.813–0.847)")),
            PublishedReading::Supported,
        ),
        claim(
            "file",
            "Node is 1.3 times as fast with files",
            "1.3×",
            Some((2.1, "2.10× (2.06–2.14)")),
            PublishedReading::SameDirection,
        ),
        claim(
            "quick",
            "Apache sorts 1.2 times as fast",
            "1.2×",
            Some((1.01, "1.01× (0.990–1.03)")),
            PublishedReading::NoDifference,
        ),
        claim(
            "same",
            "Both need the same memory",
            "1×",
            Some((1.8, "1.80× (1.76–1.84)")),
            PublishedReading::Difference,
        ),
        claim(
            "hello",
            "Apache is ahead with few users",
            "1.1×",
            Some((0.6, "0.600× (0.588–0.612)")),
            PublishedReading::Reversed,
        ),
        unmeasured,
    ]
}

fn row(subject: &str, setting: &str, stands_for_it: Result<String, String>) -> ReplicatedRow {
    let measured = stands_for_it.is_ok();
    let figure = |key: &str, words: &str, published: &str, value: f64, shown: &str| ReplicatedFigure {
        key: key.to_owned(),
        words: words.to_owned(),
        published: published.to_owned(),
        measured: measured.then(|| estimate(value, value * 0.97, value * 1.03)),
        measured_words: measured.then(|| shown.to_owned()),
    };
    ReplicatedRow {
        table: Some("Table II".to_owned()),
        subject: subject.to_owned(),
        setting: setting.to_owned(),
        stands_for_it,
        figures: vec![
            figure("requests", "requests of a run", "25,449", 24_870.0, "24.9k (24.1–25.6k)"),
            figure("memory_mb", "memory", "390 MB", 3.1e8, "310 MB (301–319 MB)"),
        ],
    }
}

fn ratios() -> Vec<ReplicatedRatio> {
    let ratio = |words: &str, published: f64, measured: Option<f64>, reading| ReplicatedRatio {
        setting: "534 KB file, 500 connections".to_owned(),
        words: words.to_owned(),
        a: "node".to_owned(),
        b: "apache".to_owned(),
        part: measured.map(|_| "file".to_owned()),
        published,
        measured: measured.map(|value| estimate(value, value * 0.96, value * 1.04)),
        reading,
        why: measured.is_none().then(|| "node is not ranked: a thread of it was the limit".to_owned()),
    };
    vec![
        ratio("good answers", 2.3, Some(2.2), PublishedReading::Reproduced),
        ratio("memory", 1.44, Some(0.7), PublishedReading::Reversed),
        ratio("CPU in use", 2.0, None, PublishedReading::CannotTell),
    ]
}

fn factors() -> Vec<FactorFinding> {
    let level = |name: &str, ratio: Option<f64>| FactorLevelFinding {
        name: name.to_owned(),
        part: "factors".to_owned(),
        scenario: "hello-c1000-wan-170ms".to_owned(),
        of: "node/http over apache/prefork".to_owned(),
        remark: ratio.is_none().then(|| "the part was not run".to_owned()),
        ratio: ratio.map(|value| estimate(value, value * 0.98, value * 1.02)),
    };
    let factor = |name: &str, levels: Vec<FactorLevelFinding>, explains, sentence: &str| FactorFinding {
        name: name.to_owned(),
        meaning: "Apache starts its children too slowly for a short run far away.".to_owned(),
        words: "good answers".to_owned(),
        claims: vec!["node-5x".to_owned()],
        published: (name != "four cores").then(|| ClaimedRatio { value: 4.75, words: "4.5–5×".to_owned() }),
        in_short: format!("{name}: 4.86× (4.76–4.96), and so on"),
        conclusion: sentence.to_owned(),
        levels,
        explains,
        share: explains.map(|does| if does { 0.98 } else { 0.04 }),
        sentence: sentence.to_owned(),
    };
    vec![
        factor(
            "the distance",
            vec![level("170 ms away", Some(4.86)), level("next door", Some(1.02))],
            Some(true),
            "Next door 98% of the difference is gone: the distance explains it.",
        ),
        factor(
            "the limit of workers",
            vec![level("150", Some(4.86)), level("1000", Some(4.6))],
            Some(false),
            "With 1,000 workers nearly all of the difference is left, so the limit does not explain it.",
        ),
        factor(
            "four cores",
            vec![level("one core", Some(4.86)), level("four cores", None)],
            None,
            "Four cores were not measured, so it is undecided.",
        ),
    ]
}

/// Nothing could be run, but the report is complete.
fn not_run() -> ReplicationFindings {
    let mut found = whole();
    found.parts.iter_mut().for_each(|part| {
        part.run = None;
        part.machine = None;
    });
    found.claims.retain(|claim| claim.measured.is_none());
    found.tally = ReplicationTally { cannot_tell: 1, ..ReplicationTally::default() };
    found.ratios.clear();
    found.factors.clear();
    found.recommendations.clear();
    found.series.retain(|one| one.measured.is_none());
    found.rows.retain(|row| row.stands_for_it.is_err());
    found
}

/// Untrusted words, long and hostile.
fn untrusted() -> ReplicationFindings {
    let mut found = whole();
    found.title =
        "<script>alert(1)</script> & a title that goes on and on, as titles of papers do when nobody stops them"
            .to_owned();
    found.claims[0].says = "|pipe| *star* <b>bold</b> \u{1b}[31mred and_an_underscore".to_owned();
    found.ratios[0].a = "a-subject-with-a-name-that-is-far-too-long-for-any-column-of-any-table".to_owned();
    found.ratios[0].setting =
        "a setting with many, many words, as nobody had thought of how it would be shown".to_owned();
    found.series[0].subject = found.ratios[0].a.clone();
    found.rows[0].subject = found.ratios[0].a.clone();
    found
}
