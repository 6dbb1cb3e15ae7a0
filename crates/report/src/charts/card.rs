//! A card to share: the answer of a run, and the bars of its first scenario, as a picture of 1200 × 630.
//!
//! Like the files of charts, it is self-contained: common fonts, the light page's colours, no style sheet.

use std::fmt::Write as _;

use tolok_analysis::figures::{counted, moment};
use tolok_analysis::{Findings, ScenarioFinding};
use tolok_model::Judge;

use super::raster;
use super::sheet::Sheet;
use super::standalone::{FONTS, with_looks};
use crate::apart::shortened_apart;
use crate::document::{Look, Matrix, MatrixRow};
use crate::documents::run::{headline, matrix, sections};
use crate::print::LAYOUT;
use crate::svg::{Drawing, escaped, fitted, palette};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 630.0;
/// The distance of everything from the left and right edges.
const MARGIN: f64 = 64.0;
/// Letters in a line of the headline, and the number of its lines.
const HEADLINE_LETTERS: usize = 56;
const HEADLINE_LINES: usize = 3;
const HEADLINE_STEP: f64 = 42.0;
/// The left end of the bars, and the length of the longest.
const BARS_FROM: f64 = 330.0;
const LONGEST_BAR: f64 = 640.0;
/// The most subjects with a bar.
const MOST_ROWS: usize = 8;
/// The baseline of the footer, and the largest height of a row.
const FOOT: f64 = 596.0;
const WIDEST_ROW: f64 = 44.0;

/// The card of a run as a PNG.
pub(crate) fn picture(findings: &Findings) -> Vec<u8> {
    raster::png(&card(findings), WIDTH as usize, HEIGHT as usize)
}

/// The card of a run as SVG.
pub(crate) fn card(findings: &Findings) -> String {
    let sections = sections::sections(findings);
    let sections: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).collect();
    let answer = headline::headline(findings, &sections).map_or(findings.run.question.clone(), |text| text.plain());
    let mut card = Card::default();
    card.head(&findings.run.title);
    let below = card.headline(&answer);
    let (matrix, _) = matrix::matrix(findings, &sections);
    if let Some(matrix) = &matrix {
        card.bars(matrix, below, measure(findings));
    }
    let cells = || matrix.iter().flat_map(|matrix| &matrix.rows).filter_map(|row| row.cells.first());
    card.foot(findings, cells().any(|cell| !cell.tier.is_empty()));
    card.finish(&findings.run.title, &answer)
}

/// The meaning of a run's bars.
fn measure(findings: &Findings) -> &'static str {
    match findings.scenarios.first().map(|scenario| scenario.judged_by) {
        None => "longer bars are faster",
        Some(Judge::Goodput) => "correct responses per second",
        Some(Judge::Cpu) => "CPU time per correct response, less is a longer bar",
    }
}

#[derive(Default)]
struct Card {
    body: String,
}

impl Card {
    fn head(&mut self, title: &str) {
        _ = write!(self.body, "<rect fill=\"#ffffff\" x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
        _ = write!(self.body, "<rect fill=\"#15181d\" x=\"0\" y=\"0\" width=\"14\" height=\"{HEIGHT}\"/>");
        self.text("brand", MARGIN, 78.0, "tolok");
        self.text_before("side", WIDTH - MARGIN, 78.0, &fitted(title, 70.0));
    }

    /// Draws the headline and returns its lower end.
    fn headline(&mut self, answer: &str) -> f64 {
        let mut top = 138.0;
        for line in lines(answer, HEADLINE_LETTERS, HEADLINE_LINES) {
            self.text("headline", MARGIN, top, &line);
            top += HEADLINE_STEP;
        }
        top
    }

    /// The first scenario: a bar for each ranked subject, the best first.
    fn bars(&mut self, matrix: &Matrix, top: f64, what: &str) {
        let Some(column) = matrix.columns.first() else { return };
        let words = [column.heading.as_str(), column.beside.as_str(), what];
        let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
        self.text("side", MARGIN, top + 6.0, &fitted(&words.join(" · "), 90.0));
        let share = |row: &&MatrixRow| row.cells.first().and_then(|cell| cell.share).unwrap_or(-1.0);
        let takes_part = |row: &&MatrixRow| {
            row.look != Look::Muted
                && row.cells.first().is_some_and(|cell| cell.share.is_some() || !cell.below.is_empty())
        };
        let mut rows: Vec<&MatrixRow> = matrix.rows.iter().filter(takes_part).collect();
        rows.sort_by(|one, other| share(other).total_cmp(&share(one)));
        let left_out = rows.len().saturating_sub(MOST_ROWS);
        rows.truncate(MOST_ROWS);
        let from = top + 24.0;
        let step = ((FOOT - 40.0 - from) / rows.len().max(1) as f64).min(WIDEST_ROW);
        let names: Vec<&str> = rows.iter().map(|row| row.short.as_str()).collect();
        let names = shortened_apart(&names, 20, |name, most| fitted(name, most as f64));
        for (place, (row, name)) in rows.iter().zip(&names).enumerate() {
            self.row((row, name), from + step * (place as f64 + 0.5), step);
        }
        if left_out > 0 {
            self.text_before("side", WIDTH - MARGIN, FOOT - 40.0, &format!("and {left_out} more"));
        }
    }

    fn row(&mut self, (row, name): (&MatrixRow, &str), middle: f64, step: f64) {
        let Some(cell) = row.cells.first() else { return };
        let look = palette::look(&row.runtime);
        let mut marker = Drawing::new(0.0, 0.0);
        look.draw(&mut marker, 0.0, 0.0);
        _ = write!(
            self.body,
            "<g transform=\"translate({} {middle:.1}) scale(1.8)\">{}</g>",
            MARGIN + 8.0,
            marker.body()
        );
        let baseline = middle + 7.5;
        self.text(if cell.is_best { "best" } else { "name" }, MARGIN + 28.0, baseline, name);
        let Some(share) = cell.share else {
            self.text("side", BARS_FROM, baseline, &cell.below);
            return;
        };
        let (length, height) = (LONGEST_BAR * share.clamp(0.0, 1.0), (step * 0.62).min(26.0));
        let top = middle - height / 2.0;
        _ = write!(
            self.body,
            "<rect class=\"{} bar\" x=\"{BARS_FROM}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{height:.1}\"/>",
            look.class
        );
        let value = format!("{} {}", cell.value, cell.tier);
        self.text(if cell.is_best { "best" } else { "name" }, BARS_FROM + length + 14.0, baseline, value.trim_end());
    }

    fn foot(&mut self, findings: &Findings, has_tiers: bool) {
        let run = &findings.run;
        let rounds = counted(u64::from(run.blocks), "round");
        let machine: Vec<&str> = run.machine.split(" · ").take(2).collect();
        let words = format!("{} · mean of {rounds} · {}", machine.join(" · "), day(&run.started_at));
        self.text("side", MARGIN, FOOT, &fitted(&words, 66.0));
        if has_tiers {
            self.text_before("side", WIDTH - MARGIN, FOOT, "same letter: no clear difference");
        }
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        _ = write!(self.body, "<text {} x=\"{x:.0}\" y=\"{y:.0}\">{}</text>", looks(class), escaped(text));
    }

    /// A text whose right end is at a point.
    fn text_before(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let looks = looks(class);
        _ = write!(self.body, "<text {looks} text-anchor=\"end\" x=\"{x:.0}\" y=\"{y:.0}\">{}</text>", escaped(text));
    }

    fn finish(self, title: &str, answer: &str) -> String {
        let sheet = Sheet::of_the_page();
        let body = with_looks(&self.body, &sheet);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}: {}</title>\n\
             {body}</svg>\n<!-- tolok report, layout {LAYOUT} -->\n",
            escaped(title),
            escaped(answer)
        )
    }
}

/// `2026-11-25`
fn day(started_at: &str) -> String {
    moment(started_at).split(' ').next().unwrap_or_default().to_owned()
}

/// Sizes and colours of texts that only the card has.
fn looks(class: &str) -> &'static str {
    match class {
        "brand" => "font-size=\"32\" font-weight=\"700\" fill=\"#15181d\"",
        "headline" => "font-size=\"33\" font-weight=\"700\" fill=\"#15181d\"",
        "best" => "font-size=\"22\" font-weight=\"700\" fill=\"#15181d\"",
        "name" => "font-size=\"22\" fill=\"#15181d\"",
        _ => "font-size=\"20\" fill=\"#596170\"",
    }
}

/// Breaks a text into lines of at most `letters`. `…` replaces clauses without room, or words if the first clause has none.
fn lines(text: &str, letters: usize, most: usize) -> Vec<String> {
    let clauses: Vec<&str> = text.split("; ").collect();
    let fewer = (1..clauses.len()).rev().map(|kept| clauses[..kept].join("; ") + "; …");
    let texts = std::iter::once(text.to_owned()).chain(fewer).map(|text| wrapped(&text, letters));
    let fitting = texts.into_iter().find(|lines| lines.len() <= most);
    fitting.unwrap_or_else(|| {
        let mut lines = wrapped(text, letters);
        lines.truncate(most);
        lines.iter_mut().skip(most - 1).for_each(|last| *last += " …");
        lines
    })
}

fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < letters => *line += &format!(" {word}"),
            _ => lines.push(fitted(word, letters as f64)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_is_cut_between_clauses_or_words_and_says_that_it_was() {
        assert_eq!(lines("one two; three four; five", 12, 3), ["one two;", "three four;", "five"]);
        assert_eq!(lines("one two; three four; five", 15, 2), ["one two; three", "four; five"]);
        assert_eq!(lines("one two; three four; five six seven", 15, 2), ["one two; three", "four; …"]);
        assert_eq!(lines("one two three four", 8, 3), ["one two", "three", "four"]);
        assert_eq!(lines("one two three four", 8, 2), ["one two", "three …"]);
        assert_eq!(lines("incomprehensibilities", 8, 2), ["inco…ies"]);
    }
}
