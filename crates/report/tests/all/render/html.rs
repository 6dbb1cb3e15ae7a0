//! The HTML page: its checks, and what pages must not contain.

use super::*;
use crate::invented::{CEILING, GO, InventedRun};
use tolok_model::Measurement;

#[test]
fn every_check_that_failed_is_marked() {
    let failed = |name: &str| -> Vec<String> { failed_checks(&text(&edge_case(name), Format::Html)) };
    assert_eq!(failed("one-scenario"), Vec::<String>::new());
    assert_eq!(failed("shared-cpus")[0], "Subject and generator had CPUs of their own");
    assert_eq!(failed("above-ceiling"), ["No subject was above the machine’s limit"]);
    assert_eq!(failed("unprivileged"), ["All planned isolation was active"]);
    assert_eq!(
        failed("boxed"),
        [
            "Every planned trial was measured",
            "Every goodput has an interval",
            "All planned isolation was active",
            "Others left the CPU to the servers",
            "No subject ran out of memory",
            "The link’s emulator kept its times",
        ]
    );
    assert_eq!(
        failed("ordinary"),
        [
            "Every planned trial was measured",
            "Every goodput has an interval",
            "The generator was not the limit",
            "Every request got a correct response",
        ]
    );
}

/// The generator limited the case and the ceiling, so both are lower bounds, and nobody knows which one is higher.
#[test]
fn a_share_of_the_ceiling_that_cannot_be_told_fails_no_check() {
    let bound = |_: u32, trial: &mut Measurement| {
        trial.subject.as_mut().expect("tolok started it").cpu_s = 0.71 * trial.window_s;
        trial.generator.cpu_s = 0.973 * trial.window_s;
    };
    let mut run = InventedRun::new(5);
    run.scenario("json-c64", "json", "JSON", 64);
    run.steady(CEILING, 30_000.0).change(bound).steady(GO, 34_300.0).change(bound);
    let page = text(&run.findings(), Format::Html);
    assert!(!failed_checks(&page).contains(&"No subject was above the machine’s limit".to_owned()));
    let words = seen(&page, "No subject was above the machine’s limit");
    assert!(words.contains("there is no figure and ceiling to compare"), "{words}");
}

#[test]
fn no_case_is_bold_where_nothing_has_an_interval() {
    let bold = |name: &str| text(&edge_case(name), Format::Html).matches("class=\"l b\"").count();
    assert_eq!([bold("two-blocks"), bold("one-subject")], [0, 0]);
    assert_eq!(bold("one-scenario"), 3, "name, figure and tier of the first");
    assert_eq!(bold("ordinary"), 3 * 5, "two that tie, one alone, two that show no clear difference");
}

#[test]
fn names_are_shown_and_not_obeyed() {
    let page = text(&edge_case("huge-names"), Format::Html);
    assert!(!page.contains("<script") && !page.contains("<b>markup") && !page.contains("<i>each"));
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn the_page_asks_for_nothing_but_itself() {
    for (name, findings) in every_edge_case() {
        let page = text(findings, Format::Html);
        // The icon is a drawing embedded in the page.
        let (before, after) = page.split_once("<link rel=\"icon\" href=\"data:image/svg+xml,").unwrap();
        let page = format!("{before}{}", after.split_once('>').unwrap().1);
        for outside in ["http://", "https://", "src=", "url(", "@import", "<link", "<script", "<img", "<iframe"] {
            assert!(!page.contains(outside), "{name} has {outside}");
        }
        assert!(page.contains("default-src 'none'"), "{name}");
    }
}

#[test]
fn every_element_that_is_opened_is_closed() {
    for (name, findings) in every_edge_case() {
        let page = text(findings, Format::Html);
        assert_eq!(unclosed(&page), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn no_figure_is_a_word_of_the_machine() {
    for (name, findings) in every_edge_case() {
        for format in Format::ALL {
            let text = text(findings, format);
            for word in ["NaN", "inf ", "None", "Some(", "undefined"] {
                assert!(!text.contains(word), "{name} as {format:?} has {word}");
            }
        }
    }
}

/// Names of elements that are not closed, or closed in the wrong order.
fn unclosed(page: &str) -> Vec<String> {
    let body = page.split_once("</style>").expect("the page has a style sheet").1;
    let mut open: Vec<String> = vec!["html".into(), "head".into()];
    let mut wrong = Vec::new();
    for tag in body.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or(tag);
        let name: String = tag.trim_start_matches('/').chars().take_while(|it| it.is_alphanumeric()).collect();
        if tag.starts_with('/') {
            if open.pop().as_deref() != Some(name.as_str()) {
                wrong.push(name);
            }
        } else if !tag.ends_with('/') && name != "br" {
            open.push(name);
        }
    }
    wrong.extend(open);
    wrong
}
