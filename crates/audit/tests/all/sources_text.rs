//! The five published comparisons: compares their text and method with their own figures.
//!
//! Each list is exact: it has all contradictions of these laws and no others. Each was worked out by hand beforehand.

use tolok_audit::AuditVerdict::{CannotTell, Contradicted, Holds};
use tolok_audit::{Audit, AuditFinding, Law, audit};
use tolok_model::transcription::Transcription;

const LAWS: [Law; 8] = [
    Law::Claims,
    Law::Grim,
    Law::Duplicates,
    Law::Noise,
    Law::Repetitions,
    Law::Generator,
    Law::Budgets,
    Law::Steadiness,
];

fn of(key: &str) -> Audit {
    let path = format!("{}/../../published/{key}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let transcription = Transcription::read(&text, key).unwrap_or_else(|problems| panic!("{key}: {problems:?}"));
    let mut audit = audit(&transcription);
    audit.findings.retain(|finding| LAWS.contains(&finding.law));
    audit
}

/// The contradicted findings, without the place in brackets.
fn contradicted(audit: &Audit) -> Vec<(Law, &str)> {
    let found = audit.findings.iter().filter(|finding| finding.verdict == Contradicted);
    found.map(|finding| (finding.law, finding.about.split(" (").next().unwrap_or_default())).collect()
}

/// Every finding as a reader sees it, except untestable claims.
fn told(audit: &Audit) -> String {
    let one = |finding: &AuditFinding| {
        let mut text =
            format!("{:?} · {:?} · {}\n  {}\n", finding.verdict, finding.law, finding.about, finding.statement);
        if !finding.arithmetic.is_empty() {
            text.push_str(&format!("  {}\n", finding.arithmetic));
        }
        text.push_str(&format!("  → {}\n", finding.sentence));
        if let Some(inference) = &finding.inference {
            text.push_str(&format!("  Inference: {inference}\n"));
        }
        if !finding.missing.is_empty() {
            text.push_str(&format!("  Missing: {}\n", finding.missing.join("; ")));
        }
        text
    };
    let testable = |finding: &&AuditFinding| !finding.statement.starts_with("The text is right");
    audit.findings.iter().filter(testable).map(one).collect::<Vec<_>>().join("\n")
}

fn find<'a>(audit: &'a Audit, law: Law, about: &str) -> &'a AuditFinding {
    let mut found = audit.findings.iter().filter(|finding| finding.law == law && finding.about.contains(about));
    found.next().unwrap_or_else(|| panic!("{law:?} has no finding about {about}"))
}

#[test]
fn kamarudin_go_bun_php() {
    let audit = of("kamarudin-go-bun-php");
    insta::assert_snapshot!("kamarudin", told(&audit));
    let claims = [
        "Go has the highest throughput in every scenario",
        "Bun comes second by throughput and PHP last",
        "PHP's error rate reaches from 81.4 to 99.9%",
        "70.38% of Go's requests took longer than k6's 30 s, so its p95 is above 30 s",
        "Go's memory falls with the data: from 10,000 to 5,000 rows it halves",
        "Go takes the least memory",
    ];
    assert_eq!(contradicted(&audit), claims.map(|claim| (Law::Claims, claim)));
    for ratio in ["Go has 7 times", "Go has 5.5 times", "Go has 5 times", "Go has 4.3 times", "Bun takes 5.5 times"] {
        assert_eq!(find(&audit, Law::Claims, ratio).verdict, Holds, "{ratio}");
    }
    assert_eq!(find(&audit, Law::Repetitions, "Tabel 4").missing, ["the number of runs", "their spread"]);
}

#[test]
fn srivastava_node_bun_go() {
    let audit = of("srivastava-node-bun-go");
    insta::assert_snapshot!("srivastava", told(&audit));
    assert_eq!(contradicted(&audit), []);
    for holds in ["about 55% more", "nearly double", "0.0129%", "0.0090%", "0.0072%"] {
        assert_eq!(find(&audit, Law::Claims, holds).verdict, Holds, "{holds}");
    }
    assert_eq!(find(&audit, Law::Repetitions, "Phase 1").missing, ["a second run"]);
    assert_eq!(find(&audit, Law::Budgets, "Phase 2").verdict, CannotTell);
}

#[test]
fn asshuffi_apache_node() {
    let audit = of("asshuffi-apache-node");
    insta::assert_snapshot!("asshuffi", told(&audit));
    let claims = [
        "Apache has 430 to 490 time-outs with 500 connections",
        "Apache's answers change little from 500 to 1000 connections with static answers",
        "Node's answers of the file differ by 6000 to 7000 between 500 and 1000 connections",
    ];
    let copied = "node, file of 534 KB, 100 connections and node, file of 534 KB, 500 connections";
    let expected: Vec<(Law, &str)> =
        claims.into_iter().map(|claim| (Law::Claims, claim)).chain([(Law::Duplicates, copied)]).collect();
    assert_eq!(contradicted(&audit), expected);
    for holds in ["5.8 time-outs", "4.5 to 5 times as many requests as Apache with static"] {
        assert_eq!(find(&audit, Law::Claims, holds).verdict, Holds, "{holds}");
    }
    let readings = audit.findings.iter().filter(|finding| finding.law == Law::Grim);
    let readings: Vec<bool> =
        readings.map(|finding| finding.verdict == Holds && finding.sentence.starts_with("All 378")).collect();
    assert_eq!(readings, [true, true], "756 means of 5 readings");
    assert!(
        find(&audit, Law::Generator, "node, static").sentence.contains("169.4 ms at 100, 169.4 ms at 500 and 169.5 ms")
    );
    let growing =
        audit.findings.iter().filter(|finding| finding.law == Law::Steadiness && finding.verdict == CannotTell);
    assert!(growing.into_iter().all(|finding| finding.about.starts_with("apache") && finding.about.contains("1000")));
}

#[test]
fn nunez_queue() {
    let audit = of("nunez-queue");
    insta::assert_snapshot!("nunez", told(&audit));
    let claims = [
        "Go takes more memory with 100 tasks than with as many steps of a loop",
        "Bun takes 2 to 3 times the memory of Go with 10,000,000 asynchronous tasks",
        "Bun takes 12 to 16 times the memory of Go with 1,000 asynchronous tasks",
        "Bun takes 480 Mb with 1,000,000 promises",
    ];
    assert_eq!(contradicted(&audit), claims.map(|claim| (Law::Claims, claim)));
    for holds in ["20% slower", "2% slower"] {
        assert_eq!(find(&audit, Law::Claims, holds).verdict, Holds, "{holds}");
    }
    let cpu = find(&audit, Law::Claims, "a third of the CPU of Go with 10,000,000");
    assert!(cpu.verdict == Holds && cpu.inference.as_ref().is_some_and(|text| text.contains("a factor of 2.173")));
    let close = find(&audit, Law::Noise, "1,000,000 asynchronous");
    assert!(close.verdict == CannotTell && close.arithmetic.contains("t = −1.83, 13.2 degrees of freedom"));
    assert!(find(&audit, Law::Noise, "go (Speed)").sentence.starts_with("Below 5 ms: 7 times of go"));
}

#[test]
fn astamal_swoole_node_go() {
    let audit = of("astamal-swoole-node-go");
    insta::assert_snapshot!("astamal", told(&audit));
    assert_eq!(contradicted(&audit), []);
    assert!(find(&audit, Law::Noise, "go and php-swoole").sentence.starts_with("go and php-swoole are 1.66% apart"));
    assert!(find(&audit, Law::Grim, "CPU").sentence.contains("fit 3 readings in steps of 1%"));
    let tie = find(&audit, Law::Generator, "hello world").inference.as_deref();
    assert!(
        tie.is_some_and(|text| text.contains("the load generator has one thread, and each request opens a connection"))
    );
}
