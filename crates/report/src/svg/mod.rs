//! Static drawings without scripts, coloured by class, so that they follow the page into dark mode and onto paper.

mod bars;
mod courses;
mod curves;
mod factors;
mod history;
mod levels;
mod lines;
mod overlay;
pub(crate) mod palette;
mod published;
mod ratios;
mod seconds;
mod series;
mod shared;
mod shares;
mod starts;
mod tools;
mod trace;

use std::fmt::Write as _;

use tolok_analysis::Estimate;

use crate::apart::shortened_apart;
use crate::printable::printable;

pub(crate) use bars::{costs, has_costs, throughput};
pub(crate) use courses::courses;
pub(crate) use curves::{MOST_LINES, curves, quantile_words};
pub(crate) use factors::{cell, factor_panel};
pub(crate) use history::history;
pub(crate) use levels::levels;
pub(crate) use lines::ways;
pub(crate) use overlay::{overlaid_latency, overlaid_throughput};
pub(crate) use published::published;
pub(crate) use ratios::ratios;
pub(crate) use seconds::{Part, Scales, seconds, stroke};
pub(crate) use series::{Time, series};
pub(crate) use shared::{Shared, SharedCase, letter};
pub(crate) use shares::shares;
pub(crate) use starts::{Start, starts};
pub(crate) use tools::tools;

/// Width of every chart. Three fit side by side on a wide page and one fills a phone, with text as large as
/// the page's in both.
const WIDTH: f64 = 352.0;
/// Height of the heading of a chart.
const HEAD: f64 = 52.0;
/// Height of one row: a line of text with a bar below.
const ROW: f64 = 33.0;
/// Approximate width of a letter in a label.
const LETTER: f64 = 6.7;
const DOT: &str = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";

/// An SVG drawing under construction.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

/// The part of a text that is at its point.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Draws a path at a point.
    pub(crate) fn path_at(&mut self, class: &str, x: f64, y: f64, path: &str) {
        _ = write!(self.body, r#"<path class="{class}" transform="translate({} {})" d="{path}"/>"#, short(x), short(y));
    }

    fn path(&mut self, class: &str, path: &str) {
        _ = write!(self.body, r#"<path class="{class}" d="{path}"/>"#);
    }

    fn text(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let text = escaped(text);
        _ = write!(self.body, r#"<text class="{class}" x="{}" y="{}"{anchor}>{text}</text>"#, short(x), short(y));
    }

    /// A rectangle with a text for tooltips and screen readers.
    fn bar(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(short);
        let title = escaped(title);
        _ = write!(
            self.body,
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"><title>{title}</title></rect>"#
        );
    }

    /// A horizontal line from `low` to `high` with a short stroke at both ends.
    fn whisker(&mut self, low: f64, high: f64, y: f64) {
        let (low, high, top) = (short(low), short(high), short(y - 3.5));
        let y = short(y);
        let path = format!("M{low} {y}H{high}M{low} {top}v7M{high} {top}v7");
        self.path("ci", &path);
    }

    /// The whisker of an estimate that has an interval.
    fn interval(&mut self, estimate: &Estimate, at: impl Fn(f64) -> f64, y: f64) {
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            self.whisker(at(low), at(high), y);
        }
    }

    /// A vertical line from `low` to `high` with a short stroke at both ends.
    fn upright_whisker(&mut self, x: f64, low: f64, high: f64) {
        let (low, high, left, x) = (short(low), short(high), short(x - 3.0), short(x));
        self.path("ci", &format!("M{x} {low}V{high}M{left} {low}h6M{left} {high}h6"));
    }

    /// A path at a point, with a tooltip.
    pub(crate) fn point(&mut self, class: &str, [x, y]: [f64; 2], path: &str, title: &str) {
        let (x, y, title) = (short(x), short(y), escaped(title));
        _ = write!(
            self.body,
            r#"<path class="{class}" transform="translate({x} {y})" d="{path}"><title>{title}</title></path>"#
        );
    }

    /// The heading of every chart.
    fn heading(&mut self, title: &str, below: &str) {
        let width = self.width;
        self.text("h", Anchor::Start, 0.0, 14.0, &fitted(title, width / 8.4));
        self.text("m", Anchor::Start, 0.0, 30.0, &fitted(below, width / 6.3));
    }

    /// The drawn elements, to embed them in another drawing.
    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    /// The finished drawing, with a label for screen readers.
    fn finish(self, label: &str) -> String {
        let (width, height, body, label) = (short(self.width), short(self.height), self.body, escaped(label));
        format!(r#"<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{body}</svg>"#)
    }

    /// The finished drawing, hidden from screen readers because the text beside it says the same.
    pub(crate) fn finish_hidden(self) -> String {
        let (width, height, body) = (short(self.width), short(self.height), self.body);
        format!(r#"<svg class="marker" viewBox="0 0 {width} {height}" aria-hidden="true">{body}</svg>"#)
    }
}

/// The upper end of an estimate's interval, or its value without one.
fn highest(estimate: &Estimate) -> f64 {
    estimate.high.unwrap_or(estimate.value)
}

/// The lower end of an interval, if a logarithmic axis can show it.
fn lowest(estimate: &Estimate) -> f64 {
    estimate.low.filter(|low| *low > 0.0).unwrap_or(estimate.value)
}

/// A text of at most this many letters. The middle is cut, because the end shows how a subject is run.
pub(crate) fn fitted(text: &str, letters: f64) -> String {
    let most = letters as usize;
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let tail = most.saturating_sub(1) / 2;
    let head = most.saturating_sub(1) - tail;
    let (start, end): (String, String) = (text.chars().take(head).collect(), text.chars().skip(count - tail).collect());
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Shortens the names of one chart to at most this many letters each, so different ones stay different.
fn fitted_apart(names: &[&str], letters: f64) -> Vec<String> {
    shortened_apart(names, letters as usize, |name, most| fitted(name, most as f64))
}

/// `closed loop, 64 users, in slices of 50 ms`: a load without what most charts share, and without what has no room.
fn few_words(load: &str) -> String {
    let is_said = |part: &&str| *part != "keep-alive" && !part.ends_with(" a launch");
    let parts: Vec<String> =
        load.split(", ").filter(is_said).map(|part| part.replace("virtual user", "user")).collect();
    parts.join(", ")
}

/// With at most one decimal, a tenth of a pixel.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

pub(crate) fn escaped(text: &str) -> String {
    crate::print::html::escaped(&printable(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_text() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text("m", Anchor::Start, 0.0, 0.05, "</text><script>\"&\u{1b}");
        let expected = r#"<svg viewBox="0 0 10 10" role="img" aria-label="a &lt;b&gt;"><text class="m" x="0" y="0.1">&lt;/text&gt;&lt;script&gt;&quot;&amp; </text></svg>"#;
        assert_eq!(drawing.finish("a <b>"), expected);
    }

    #[test]
    fn a_load_in_few_words_fits_into_a_chart() {
        let sliced = few_words("closed loop, 64 virtual users, keep-alive, 300 ms a launch, in slices of 50 ms");
        assert_eq!(sliced, "closed loop, 64 users, in slices of 50 ms");
        assert!(sliced.chars().count() as f64 <= WIDTH / 6.3);
        assert_eq!(
            few_words("closed loop, 1 virtual user, a new connection each, 10 s"),
            "closed loop, 1 user, a new connection each, 10 s"
        );
        assert_eq!(
            few_words("open loop, 300/s, keep-alive, 1 min 30 s, the fields 40s5"),
            "open loop, 300/s, 1 min 30 s, the fields 40s5"
        );
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        let check = |letters: f64, text: &str| assert_eq!(fitted("Node http (cluster)", letters), text);
        check(19.0, "Node http (cluster)");
        check(12.9, "Node h…ster)");
        check(11.0, "Node…ster)");
    }
}
