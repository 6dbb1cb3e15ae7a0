//! What changes it, in a terminal: a sentence for what matters, a table for a factor with one panel, and a line for each of several.

use tolok_analysis::figures::{NONE, Quantity, amount};
use tolok_analysis::{FactorPanel, Findings};

use super::{Factor, factors, grid, rests_on};
use crate::printable::printable;
use crate::terminal::{Column, GAP, INDENT, Look, Page, lines_of, widest};

impl Page {
    /// Nothing where scenarios do not differ in a factor.
    pub(crate) fn sensitivity(&mut self, findings: &Findings) {
        if findings.sensitivity.is_empty() && findings.variance.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph("", "What changes it", Look::Bold);
        for finding in &findings.variance {
            let fixed = if finding.fixed.is_empty() { String::new() } else { format!(" · {}", finding.fixed) };
            let who = format!("{}{fixed}: ", finding.workload_title);
            self.paragraph(INDENT, &format!("{who}{}", finding.sentence), Look::Plain);
            self.paragraph(INDENT, &rests_on(finding), Look::Dim);
        }
        let factors = factors(findings);
        for factor in &factors {
            self.text.push('\n');
            self.paragraph(INDENT, &factor.heading(), Look::Bold);
            match factor.panels.as_slice() {
                [panel] => self.factor_panel(panel),
                _ => self.factor_summary(factor),
            }
        }
        if factors.iter().any(|factor| factor.panels.len() > 1) {
            let text = "least, most: what becomes of goodput from the lowest value to the highest, of the subject that keeps least and of the one that keeps most · flips: orders of two subjects that change for sure · every table stands in the HTML and Markdown reports";
            self.paragraph(INDENT, text, Look::Dim);
        }
    }

    fn factor_panel(&mut self, panel: &FactorPanel) {
        self.paragraph(INDENT, &panel.sentence, Look::Plain);
        let grid = grid(panel);
        let subjects: Vec<String> = grid.rows.iter().map(|row| printable(&row.title)).collect();
        // The intervals stand in the sentence and in the other reports.
        let cell = |text: &String| text.split(" (").next().unwrap_or(text).to_owned();
        let cells = |place: usize| grid.rows.iter().map(|row| cell(&row.cells[place])).collect::<Vec<String>>();
        let columns: Vec<Column> =
            grid.columns.iter().enumerate().map(|(place, heading)| (heading.as_str(), cells(place))).collect();
        self.columns("subject", &subjects, &columns);
    }

    fn factor_summary(&mut self, factor: &Factor) {
        let names: Vec<String> = factor.panels.iter().map(|panel| printable(&panel.fixed)).collect();
        let of = |cell: &dyn Fn(&FactorPanel) -> String| factor.panels.iter().map(|panel| cell(panel)).collect();
        let columns: Vec<Column> = vec![
            ("from – to", of(&from_to)),
            ("least", of(&|panel| ends(panel).0)),
            ("most", of(&|panel| ends(panel).1)),
            ("flips", of(&|panel| panel.crossovers.iter().filter(|crossing| crossing.sure).count().to_string())),
        ];
        self.columns("with", &names, &columns);
    }

    /// Columns that are set beneath each other, as many as fit, until all of them stand there.
    fn columns(&mut self, first: &str, names: &[String], columns: &[Column]) {
        let inner = self.width - INDENT.len();
        let taken = |(heading, cells): &Column| widest(cells).max(heading.chars().count()) + usize::from(GAP);
        let mut rest = columns;
        while !rest.is_empty() {
            let fits =
                |number: &usize| widest(names).min(18) + rest[..*number].iter().map(taken).sum::<usize>() <= inner;
            let number = (1..=rest.len()).rev().find(fits).unwrap_or(1);
            for (place, line) in lines_of(first, names, &rest[..number], names.len(), inner).iter().enumerate() {
                let look = if place == 0 { Look::Dim } else { Look::Plain };
                self.line(format!("{INDENT}{line}").trim_end(), look);
            }
            rest = &rest[number..];
        }
    }
}

fn from_to(panel: &FactorPanel) -> String {
    match panel.levels.as_slice() {
        [first, .., last] => format!("{} – {}", first.label, last.label),
        _ => NONE.to_owned(),
    }
}

/// What is kept of the goodput at the highest value, by whoever keeps least and by whoever keeps most.
fn ends(panel: &FactorPanel) -> (String, String) {
    let highest = panel.levels.last().map(|level| level.value);
    let points = panel.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point)));
    let mut kept: Vec<(f64, &str)> = points
        .filter(|(_, point)| Some(point.value) == highest)
        .filter_map(|(line, point)| Some((point.of_lowest.as_ref()?.value, line.title.as_str())))
        .collect();
    kept.sort_by(|left, right| left.0.total_cmp(&right.0));
    let words = |end: Option<&(f64, &str)>| {
        end.map_or(NONE.to_owned(), |(ratio, title)| {
            format!("{} {}", amount(Quantity::Ratio, *ratio), printable(title))
        })
    };
    (words(kept.first()), words(kept.last()))
}
