//! The short report for a README.

use tolok_report::brief;

use super::*;

fn short(name: &str, format: Format) -> String {
    brief(&edge_case(name), format, &Style::default()).unwrap()
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(short("one-scenario", Format::Markdown));
}

#[test]
fn with_programs_and_names_that_are_markup_in_markdown() {
    insta::assert_snapshot!(short("programs-at-odds", Format::Markdown));
}

#[test]
fn in_a_terminal() {
    insta::assert_snapshot!(short("one-scenario", Format::Terminal));
}

#[test]
fn it_is_short_and_never_a_bare_figure() {
    for (name, findings) in every_edge_case() {
        for format in [Format::Markdown, Format::Terminal] {
            let (short, whole) = (brief(findings, format, &Style::default()).unwrap(), text(findings, format));
            assert!(short.len() < whole.len(), "{name}");
            let (command, words) = match &findings.duel {
                Some(duel) => ("", duel.sentence.as_str()),
                None => (findings.run.command.as_str(), "geometric means of"),
            };
            assert!(short.contains(command) && short.replace("\n", " ").contains(words), "{name}: {short}");
        }
        assert_eq!(brief(findings, Format::Html, &Style::default()), None);
    }
}
