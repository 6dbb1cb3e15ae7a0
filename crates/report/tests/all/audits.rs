//! Invented audits for edge cases of reports, by name.

use tolok_audit::{Audit, AuditFinding, AuditVerdict, Input, Law};
use tolok_model::transcription::{Figure, Mark, Number, Quantity, Row, Transcription, Unit};

/// Every edge case with its name.
pub fn all() -> Vec<(&'static str, Vec<Audit>)> {
    vec![
        ("audit-ordinary", vec![ordinary()]),
        ("audit-empty", vec![empty()]),
        ("audit-all-hold", vec![all_hold()]),
        ("audit-nothing-told", vec![nothing_told()]),
        ("audit-many", vec![many()]),
        ("audit-huge-names", vec![huge_names()]),
        ("audit-untrusted", vec![untrusted()]),
        ("audit-several", vec![ordinary(), all_hold(), empty()]),
    ]
}

/// A table of two servers, with these findings.
fn audit(key: &str, title: &str, findings: Vec<AuditFinding>) -> Audit {
    let number = |value: f64, printed: &str| Number {
        value,
        half_unit: 0.5,
        printed: printed.to_owned(),
        decimals: 0,
        mark: Mark::Plain,
    };
    let row = |line: usize, subject: &str, throughput: &str| Row {
        line,
        table: Some("Table 2".to_owned()),
        subject: subject.to_owned(),
        scenario: None,
        conditions: Default::default(),
        figures: vec![Figure {
            quantity: Quantity::Throughput,
            unit: Unit::PerSecond,
            key: "throughput_rps".to_owned(),
            numbers: vec![number(throughput.parse().unwrap_or_default(), throughput)],
        }],
        raw: Vec::new(),
    };
    let transcription = Transcription {
        key: key.to_owned(),
        title: title.to_owned(),
        authors: Some("A. Author".to_owned()),
        year: Some(2024),
        rows: vec![row(31, "left", "11705"), row(38, "right", "14310")],
        ..Transcription::default()
    };
    Audit::of(&transcription, findings)
}

fn finding(law: Law, verdict: AuditVerdict, about: &str, sentence: &str) -> AuditFinding {
    AuditFinding {
        law,
        statement: String::new(),
        about: about.to_owned(),
        verdict,
        inputs: Vec::new(),
        arithmetic: String::new(),
        sentence: sentence.to_owned(),
        inference: None,
        missing: Vec::new(),
    }
}

fn input(name: &str, printed: &str, line: usize) -> Input {
    Input { name: name.to_owned(), printed: printed.to_owned(), line }
}

fn little() -> AuditFinding {
    AuditFinding {
        statement: "The mean response time of left is 200 connections ÷ 11,705/s, within rounding.".to_owned(),
        arithmetic: "200 / 11,705/s = 17.1 ms; printed 29.13 ms, which is 1.70 times as much".to_owned(),
        inputs: vec![
            input("connections", "200", 6),
            input("throughput_rps of left", "11705", 31),
            input("latency_mean_ms of left", "29.13", 31),
        ],
        inference: Some(
            "wrk adds made-up samples to its averages when answers stall, and this is what that looks like: the true mean is \
             about 17.1 ms."
                .to_owned(),
        ),
        ..finding(
            Law::LittlesLaw,
            AuditVerdict::Contradicted,
            "left, hello (Table 2)",
            "With 200 connections and 11,705 answers per second, the mean cannot be 29.13 ms: it is 17.1 ms.",
        )
    }
}

fn ratio() -> AuditFinding {
    AuditFinding {
        statement: "right has 2 times the throughput of left.".to_owned(),
        arithmetic: "14,310 / 11,705 = 1.22; claimed 2".to_owned(),
        inputs: vec![
            input("throughput_rps of right", "14310", 38),
            input("throughput_rps of left", "11705", 31),
            input("claim twice", "2", 52),
        ],
        ..finding(
            Law::Claims,
            AuditVerdict::Contradicted,
            "right is twice as fast (Abstract)",
            "The text says 2 times, and its own table says 1.22 times.",
        )
    }
}

fn lacking(law: Law, about: &str, sentence: &str, missing: &[&str]) -> AuditFinding {
    AuditFinding {
        missing: missing.iter().map(|it| (*it).to_owned()).collect(),
        ..finding(law, AuditVerdict::CannotTell, about, sentence)
    }
}

fn holding(law: Law, about: &str, arithmetic: &str) -> AuditFinding {
    AuditFinding {
        arithmetic: arithmetic.to_owned(),
        ..finding(law, AuditVerdict::Holds, about, "The figures agree with each other.")
    }
}

/// Two contradictions of different laws, three checks that lack something, three that hold.
fn ordinary() -> Audit {
    let generator = AuditFinding {
        inference: Some("The tie at the top may be the generator’s own limit.".to_owned()),
        ..lacking(
            Law::Generator,
            "left and right, hello (Table 2)",
            "Both are within 3 % of each other, and it is not known how busy the load generator was.",
            &["CPU of the load generator"],
        )
    };
    let findings = vec![
        ratio(),
        little(),
        lacking(Law::Totals, "Table 2", "The totals cannot be compared with the rates.", &["length of a run"]),
        lacking(Law::Steadiness, "Table 2", "Whether a run was long enough is not known.", &["length of a run"]),
        generator,
        lacking(Law::Noise, "left and right", "The difference lies within the spread of either.", &[]),
        holding(Law::Percentages, "left (Table 2)", "0 ≤ 0.3 % ≤ 100%"),
        holding(Law::Percentages, "right (Table 2)", "0 ≤ 0.1 % ≤ 100%"),
        holding(Law::CpuTime, "left (Table 2)", "1.51 CPUs ÷ 11,705/s = 129 µs; printed 129 µs"),
    ];
    audit("invented-two-servers", "Two servers, one machine", findings)
}

fn empty() -> Audit {
    audit("invented-empty", "A table without figures", Vec::new())
}

fn all_hold() -> Audit {
    let own = |place: usize| {
        let about = format!("server {place} (Table 1)");
        holding(Law::LittlesLaw, &about, &format!("64 / {place},000/s agrees with the mean"))
    };
    audit("invented-sound", "A sound table", (1..=9).map(own).collect())
}

fn nothing_told() -> Audit {
    let findings =
        vec![lacking(Law::LittlesLaw, "all rows", "The law needs them both.", &["connections", "mean time"])];
    audit("invented-bare", "A table that says nothing of its method", findings)
}

fn many() -> Audit {
    let contradicted = (1..=30).map(|place| AuditFinding { about: format!("row {place} (Table 7)"), ..little() });
    let lacking = (1..=30).map(|place| {
        lacking(
            Law::Bytes,
            &format!("row {place} (Table 7)"),
            "The size of a response is not known.",
            &["bytes of a response"],
        )
    });
    let held = (1..=30).map(|place| holding(Law::Order, &format!("row {place} (Table 7)"), "p50 1 ≤ p95 2 ≤ p99 3 ms"));
    audit("invented-many", "A large table", contradicted.chain(lacking).chain(held).collect())
}

fn huge_names() -> Audit {
    let name = "a-configuration-that-somebody-gave-all-of-its-settings-in-its-name".repeat(4);
    let mut finding = little();
    finding.about = format!("{name}, 10,000 rows (Table 7)");
    finding.inputs.iter_mut().for_each(|input| input.name += &name);
    finding.arithmetic = format!("{} = 1", "1+".repeat(150));
    let findings = vec![finding, lacking(Law::Bytes, &name, &name, &[&name]), holding(Law::Order, &name, &name)];
    audit(&name, &name, findings)
}

/// Texts from an untrusted file: none may become markup, move a cursor or break a table.
fn untrusted() -> Audit {
    let evil = "<script>alert(1)</script>\u{1b}[31mred\u{1b}[2J | `x` *b*\nnext";
    let mut finding = little();
    for text in [&mut finding.about, &mut finding.statement, &mut finding.arithmetic, &mut finding.sentence] {
        evil.clone_into(text);
    }
    finding.inference = Some(evil.to_owned());
    finding.inputs = vec![input(evil, evil, 7)];
    let findings = vec![finding, lacking(Law::Bytes, evil, evil, &[evil]), holding(Law::Order, evil, evil)];
    audit("untrusted", evil, findings)
}
