//! The page around its sections, each subject's resources, and what was not tested.

use super::*;

fn html(name: &str) -> String {
    text(&edge_case(name), Format::Html)
}

#[test]
fn what_each_subject_had() {
    let text = text(&edge_case("ledger"), Format::Markdown);
    insta::assert_snapshot!("ledger_in_markdown", part(&text, "## Fairness", "## Resources"));
}

#[test]
fn a_terminal_says_only_what_was_not_the_same() {
    let text = verbose(&edge_case("ledger"), &Style::default());
    insta::assert_snapshot!("ledger_in_a_terminal", part(&text, "Fairness: what differed between servers", "Cautions"));
    assert!(text.contains("! Not tested: "));
    let equal = verbose(&edge_case("one-scenario"), &Style::default());
    assert!(!equal.contains("Fairness: what differed between servers"));
}

#[test]
fn what_was_not_tested() {
    let programs = text(&edge_case("programs"), Format::Markdown);
    insta::assert_snapshot!("untested_programs_in_markdown", part(&programs, "## Not tested", "## Isolation"));
}

#[test]
fn many_verdicts_are_sorted_by_who_is_first() {
    let page = html("many-verdicts");
    insta::assert_snapshot!(
        "verdicts_of_many_scenarios",
        part(&page, "<section class=\"verdict\"", "<summary>The verdict of each")
    );
    assert!(!html("ordinary").contains("The verdict of each scenario"));
}

/// Go is right behind Bun, but declares that it does less work.
#[test]
fn a_headline_ranks_no_reference() {
    let page = html("ledger");
    assert!(page.contains("<p class=\"big\">Bun.serve is fastest in both scenarios ("), "{page}");
    assert!(page.contains("Go net/http is a reference, not a competitor.") && !page.contains("the runner-up, Go"));
}

#[test]
fn folded_tables_too_long_for_paper_say_where_they_stand() {
    let page = html("many-verdicts");
    let pairs = part(&page, "<details class=\"long\">\n<summary>All pairs", "</section>");
    assert!(pairs.contains("rows; report.html and report.json"), "{pairs}");
}

/// Every page has its language, one `main`, a link that skips its head, and no dead links.
#[test]
fn a_page_can_be_walked_through() {
    for (name, findings) in every_edge_case() {
        let page = text(findings, Format::Html);
        for once in [
            "<html lang=\"en\">",
            "<main>",
            "<a class=\"skip\" href=\"#verdict\">",
            "id=\"verdict\" tabindex=\"-1\"",
            "<nav class=\"contents\"",
        ] {
            assert_eq!(page.matches(once).count(), 1, "{name}: {once}");
        }
        let targets = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let lost: Vec<&str> = targets.filter(|id| !page.contains(&format!("id=\"{id}\""))).collect();
        assert!(lost.is_empty(), "{name}: {lost:?}");
        let headings: Vec<&str> = page.split("<h2").skip(1).filter_map(|rest| rest.split('>').next()).collect();
        assert!(headings.iter().all(|it| it.contains("id=\"")), "{name}: {headings:?}");
        assert_eq!(page.matches("<li><a href=\"#").count(), headings.len(), "{name}: each heading has a link");
    }
}
