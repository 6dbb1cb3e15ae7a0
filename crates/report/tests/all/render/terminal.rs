//! The terminal report: the glance, and everything that `-v` prints.

use super::*;

fn at_width(findings: &Findings, width: u16) -> String {
    verbose(findings, &Style { colour: false, width })
}

fn glance(findings: &Findings, width: u16) -> String {
    render(findings, Format::Terminal, &Style { colour: false, width })
}

#[test]
fn an_ordinary_run_at_a_glance() {
    let [narrow, wide] = [60, 100].map(|width| glance(&ordinary().findings(), width));
    insta::assert_snapshot!(format!("{narrow}\n----\n\n{wide}"));
}

#[test]
fn a_subject_that_lacks_a_database_driver_alone_is_not_said_to_be_skipped_as_a_whole() {
    let mut run = ordinary();
    run.skip("node/http", "for workloads that ask a database, mysql2 is missing: tolok setup mysql2");
    run.plan.skipped.last_mut().expect("it was skipped").database_only = true;
    let shown = glance(&run.findings(), 100);
    assert!(shown.contains("Skipped  node/http, with a database: tolok setup mysql2\n"), "{shown}");
}

#[test]
fn a_glance_says_what_it_can_of_every_run() {
    let names = ["one-subject", "all-failed", "many-verdicts", "programs-at-odds", "database", "tools-at-a-rate"];
    let all = names.map(|name| format!("==== {name}\n\n{}", glance(&edge_case(name), 100)));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_glance_fits_a_screen_and_its_width() {
    for (name, findings) in every_edge_case() {
        for width in [60, 80, 100, 140] {
            let text = glance(findings, width);
            let is_breakable = |line: &&str| line.trim().contains(' ');
            let widest = text.lines().filter(is_breakable).map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= usize::from(width), "{name} at {width}: {text}");
        }
        let servers = findings.scenarios.iter().map(|scenario| scenario.cases.len()).max().unwrap_or(0);
        if findings.scenarios.len() <= 3
            && servers <= 8
            && findings.programs.is_empty()
            && findings.tools.is_empty()
            && findings.published.is_empty()
        {
            let lines = glance(findings, 100).lines().count();
            assert!(lines <= 40, "{name}: {lines} lines");
        }
    }
}

#[test]
fn an_ordinary_run_at_100_columns() {
    insta::assert_snapshot!(at_width(&ordinary().findings(), 100));
}

#[test]
fn a_scenario_at_64_columns() {
    insta::assert_snapshot!(part(&at_width(&ordinary().findings(), 64), "Hello: closed", "\nJSON: closed"));
}

#[test]
fn no_line_is_wider_than_asked() {
    for (name, findings) in every_edge_case() {
        for width in [60, 80, 100, 140] {
            // Only unbreakable text (a command, a word) may exceed the width.
            let is_breakable = |line: &&str| line.trim().contains(' ') && !line.contains("tolok run");
            let text = at_width(findings, width);
            let widest = text.lines().filter(is_breakable).max_by_key(|line| line.chars().count()).unwrap_or("");
            assert!(widest.chars().count() <= usize::from(width), "{name} at {width}: {widest:?}");
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let findings = ordinary().findings();
    let coloured = verbose(&findings, &Style { colour: true, width: 100 });
    assert!(coloured.contains("\u{1b}[1m"));
    let plain = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m"]
        .iter()
        .fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(plain, at_width(&findings, 100));
}

#[test]
fn a_servers_words_cannot_control_the_terminal() {
    let text = at_width(&edge_case("all-failed"), 100);
    assert!(text.contains("last lines of its log: panic") && !text.contains('\u{1b}'));
}

#[test]
fn edge_cases() {
    for name in [
        "one-subject",
        "all-failed",
        "huge-names",
        "open-loop",
        "database",
        "outage",
        "one-program",
        "tools-at-a-rate",
        "aa-pair",
        "checked",
        "published",
    ] {
        // The snapshot of the ordinary run already has what all runs share.
        let text = at_width(&edge_case(name), 100);
        insta::assert_snapshot!(name, text.split("\nCautions").next().unwrap_or(&text));
    }
}
