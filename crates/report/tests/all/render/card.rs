//! The card of a run, which is shared as a picture.

use super::*;

/// The values of an attribute of the bars, in order.
fn of_bars(card: &str, name: &str) -> Vec<f64> {
    let rects = card.split("<rect ").skip(1).filter_map(|part| part.split('>').next());
    let bars = rects.filter(|rect| rect.contains("x=\"330\""));
    let value =
        |bar: &str| bar.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
    bars.filter_map(value).collect()
}

#[test]
fn a_card_has_the_headline_and_the_bars_of_the_first_scenario() {
    insta::assert_snapshot!(text(&edge_case("ordinary"), Format::Card));
}

#[test]
fn a_bar_is_as_long_as_its_share_of_the_best() {
    let findings = edge_case("ordinary");
    let widths = of_bars(&text(&findings, Format::Card), "width");
    let mut goodputs: Vec<f64> = findings.scenarios[0].cases.iter().filter(|case| case.ranked).map(goodput).collect();
    goodputs.sort_by(|one, other| other.total_cmp(one));
    assert_eq!(widths.len(), goodputs.len());
    for (width, goodput) in widths.iter().zip(&goodputs) {
        // Shares are computed from the printed figures.
        assert!((width / 640.0 - goodput / goodputs[0]).abs() < 0.01, "{width} for {goodput}");
    }
}

fn goodput(case: &tolok_analysis::CaseFinding) -> f64 {
    case.shown_goodput_rps().expect("it is ranked").value
}

#[test]
fn every_card_has_its_size_stays_inside_and_needs_nothing_but_itself() {
    for (name, findings) in every_edge_case() {
        let card = text(findings, Format::Card);
        assert!(card.contains("width=\"1200\" height=\"630\" viewBox=\"0 0 1200 630\""), "{name}");
        for foreign in ["class=", "var(", "<style", "href", "<script"] {
            assert!(!card.contains(foreign), "{name} has {foreign}");
        }
        let [from, tall] = ["y", "height"].map(|attribute| of_bars(&card, attribute));
        assert!(from.iter().zip(&tall).all(|(y, height)| *height >= 8.0 && y + height < 580.0), "{name}");
        assert!(from.is_sorted(), "{name}");
    }
}

#[test]
fn words_of_a_study_cannot_leave_their_place() {
    let mut findings = edge_case("ordinary").clone();
    findings.run.title = "</title><script>alert(1)</script>".to_owned();
    let card = text(&findings, Format::Card);
    assert!(card.contains("&lt;script&gt;") && !card.contains("<script"), "{card}");
}

#[test]
fn the_page_of_a_run_names_its_card_and_no_other_page_names_one() {
    let page = text(&edge_case("ordinary"), Format::Html);
    assert!(page.contains("<meta property=\"og:image\" content=\"share.png\">"));
    let document = tolok_report::documents::run(&edge_case("ordinary"), tolok_report::document::Depth::Page);
    assert!(!tolok_report::print::html(&document).contains("og:image"));
}

#[test]
fn the_picture_of_a_card_has_its_size_and_is_no_empty_page() {
    let picture = tolok_report::card_picture(&edge_case("ordinary"));
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(picture[16..24], [0, 0, 4, 176, 0, 0, 2, 118]);
    // Unlike an empty picture, letters and bars do not compress well.
    assert!((20_000..200_000).contains(&picture.len()), "{} bytes", picture.len());
}
