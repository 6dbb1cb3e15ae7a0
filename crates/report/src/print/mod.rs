//! Prints documents, one printer per format. No other module depends on formats.

mod columns;
pub(crate) mod html;
mod latex;
mod markdown;
mod terminal;

pub use html::{html, html_with_card, piece, style};
pub use latex::{latex, latex_figures};
pub use markdown::markdown;
pub use terminal::{Style, terminal};

/// Version of the words and markup of run reports. Markdown and HTML contain it, because `tolok verify` compares a stored report only
/// with one of its own layout. Increase it with every change of either, as [`PAGES`] requires.
pub const LAYOUT: u32 = 10;

/// A hash of the pages that tests print in this layout. The failing test prints the new value.
pub const PAGES: u64 = 0x2fe3_a460_06b7_7349;

/// The [`LAYOUT`] of a stored Markdown or HTML report. Reports from before 24 November 2026 name none and have the first.
pub fn layout_of(report: &str) -> u32 {
    let lines = report
        .lines()
        .filter(|line| line.starts_with("<!-- tolok report") || line.starts_with("<meta name=\"generator\""));
    let number = |line: &str| {
        let (_, rest) = line.split_once(", layout ")?;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    lines.filter_map(number).next().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_its_layout_and_the_first_ones_said_none() {
        assert_eq!(layout_of("# Title\n\n<!-- tolok report, layout 12 -->\n"), 12);
        assert_eq!(layout_of("<head>\n<meta name=\"generator\" content=\"tolok 0.1.0, layout 2\">\n"), 2);
        assert_eq!(layout_of("<meta name=\"generator\" content=\"tolok 0.1.0\">\n, layout 7 of the hall"), 1);
    }
}
