//! A document as floats for a paper: a table or a figure for each section, in LaTeX with only booktabs or graphicx.
//!
//! A float is self-contained: the paragraphs of its section are its caption, and notes and legends its footnotes. Sections without a
//! float are not printed.

mod escape;

use std::fmt::Write as _;

use crate::document::{Align, Block, Cell, Chart, Column, Document, Look, Row, Span, Table, Text};
use crate::printable::printable;
use escape::escaped;

/// A longer row name, including marks, is broken.
const LONGEST_NAME: usize = 48;

const OF_TABLES: &str = "\
% Tables of a run of tolok, for a paper. In the preamble of yours:
%   \\usepackage{booktabs}
% Then \\input this file, or copy a table out of it. The tables are about 16 cm wide, as a page's text is with
% \\usepackage[margin=2.5cm]{geometry}; in a paper of two columns write table* for table.
";

const OF_FIGURES: &str = "\
% Figures of a run of tolok, for a paper. In the preamble of yours:
%   \\usepackage{graphicx}
%   \\graphicspath{{figures/}}  % the folder in which this file lies
% Each is 88 mm wide, as a column of most papers is, and its text has 8 to 9 points at that width.
";

/// LaTeX cannot include SVG drawings.
const NO_PDF: &str =
    "% LaTeX cannot include SVG: make PDFs of the files first, such as by rsvg-convert -f pdf -o NAME.pdf NAME.svg\n";

/// The tables of a document.
pub fn latex(document: &Document) -> String {
    document.blocks.iter().fold(format!("{OF_TABLES}{}", title(document)), |text, block| text + &float(block, ""))
}

/// The charts of a document, whose files are named after their sections. `ending` is the extension of files that LaTeX can include
/// (`pdf`), if there are any.
pub fn latex_figures(document: &Document, ending: Option<&str>) -> String {
    let head = format!("{OF_FIGURES}{}{}", if ending.is_none() { NO_PDF } else { "" }, title(document));
    let ending = ending.map(|ending| format!(".{ending}")).unwrap_or_default();
    document.blocks.iter().fold(head, |text, block| text + &float(block, &ending))
}

/// A single-line comment; nothing in the title can end it.
fn title(document: &Document) -> String {
    format!("% {}\n", printable(&document.title))
}

/// The environment of a section. A table's caption is above it, a figure's below.
fn float(block: &Block, ending: &str) -> String {
    let Block::Section { id, blocks } = block else { return String::new() };
    let (mut name, mut caption, mut body, mut notes) = (String::new(), Vec::new(), String::new(), Vec::new());
    let mut kind = "table";
    for block in blocks {
        match block {
            Block::Heading(heading) => name = spans(&heading.text),
            Block::Paragraph(text) => caption.push(spans(text)),
            Block::Table(table) => body = tabular(table),
            Block::Charts(charts) => {
                kind = "figure";
                body = format!("\\includegraphics[width=88mm]{{{id}{ending}}}\n");
                caption.extend(charts.iter().map(|Chart { caption, .. }| escaped(caption)));
            }
            Block::Notes(all) => {
                notes.extend(all.iter().map(|(number, note)| format!("$^{{{number}}}$~{}", spans(note))))
            }
            Block::Legend(meanings) if !meanings.is_empty() => notes.push(legend(meanings)),
            _ => {}
        }
    }
    let caption = format!("\\caption[{name}]{{{}}}\n", caption.join("\n"));
    let label = format!("\\label{{{}:{id}}}\n", &kind[..3]);
    let inside = match kind {
        "table" => format!("{caption}{label}{body}{}", footnotes(&notes)),
        _ => format!("{body}{caption}{label}"),
    };
    format!("\n% {name}\n\\begin{{{kind}}}[tbp]\n\\centering\n{inside}\\end{{{kind}}}\n")
}

/// Each mark beside its meaning: `=~equivalent; ?~cannot tell.`
fn legend(meanings: &[String]) -> String {
    format!("{}.", meanings.iter().map(|meaning| escaped(meaning).replacen(' ', "~", 1)).collect::<Vec<_>>().join("; "))
}

fn footnotes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let notes = notes.join("\\par\n");
    format!("\\par\\smallskip\n\\begin{{minipage}}{{\\linewidth}}\n\\raggedright\n{notes}\n\\end{{minipage}}\n")
}

/// A column in LaTeX. A column of the document becomes up to three: its values, their intervals, and their marks.
struct Set {
    side: char,
    heading: String,
    unit: String,
    cells: Vec<String>,
}

fn tabular(table: &Table) -> String {
    let all: Vec<Set> =
        table.columns.iter().enumerate().flat_map(|(place, column)| sets(table, place, column)).collect();
    // Only names that are too long are broken. Others get the room they need.
    let is_broken = table.rows.iter().any(|row| name(row).chars().count() > LONGEST_NAME);
    let (names, before) = if is_broken { ("p{3.2cm}", "\\raggedright ") } else { ("l", "") };
    let sides: String = all.iter().skip(1).map(|set| set.side).collect();
    let line = |of: &dyn Fn(&Set) -> &str| format!("{} \\\\\n", all.iter().map(of).collect::<Vec<_>>().join(" & "));
    let mut text = format!(
        "\\smallskip\n\\footnotesize\n\\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{tabular}}{{@{{}}{names}{sides}@{{}}}}\n\\toprule\n\
         {}{}\\midrule\n",
        line(&|set| &set.heading),
        line(&|set| &set.unit)
    );
    for (place, row) in table.rows.iter().enumerate() {
        text += if row.look == Look::Muted { "\\midrule\n" } else { "" };
        _ = write!(text, "{before}{}", line(&|set| &set.cells[place]));
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

fn sets(table: &Table, place: usize, column: &Column) -> Vec<Set> {
    let (heading, unit) = column.heading.split_once(", ").unwrap_or((&column.heading, ""));
    let is_number = column.align == Align::Right;
    let set =
        |heading: &str, unit: &str, side, cells| Set { side, heading: escaped(heading), unit: escaped(unit), cells };
    if place == 0 {
        return vec![set(heading, unit, 'l', table.rows.iter().map(name).collect())];
    }
    let cells = || table.rows.iter().filter_map(|row| row.cells.get(place));
    let values: Vec<String> =
        cells().map(|cell| if is_number { number(&cell.text) } else { spans(&cell.text) }).collect();
    let side = if is_number { 'r' } else { 'l' };
    let mut sets = vec![set(heading, unit, side, if is_number { aligned(&values) } else { values })];
    if cells().any(|cell| cell.interval.is_some()) {
        sets.push(set("interval", "", 'r', cells().map(interval).collect()));
    }
    if cells().any(|cell| !cell.mark.is_empty()) {
        sets.push(set("", "", 'c', cells().map(|cell| escaped(cell.mark)).collect()));
    }
    sets
}

/// The name of a row, with its mark and note numbers as superscript.
fn name(row: &Row) -> String {
    let Some(cell) = row.cells.first() else { return String::new() };
    let mark = (!cell.mark.is_empty()).then(|| escaped(cell.mark).replace(['$', '^', '{', '}'], ""));
    let marks: Vec<String> = mark.into_iter().chain(cell.notes.iter().map(usize::to_string)).collect();
    let marks = if marks.is_empty() { String::new() } else { format!("$^{{{}}}$", marks.join(",")) };
    format!("{}{marks}", spans(&cell.text))
}

/// A number with thin spaces between its thousands.
fn number(text: &Text) -> String {
    let words = spans(text);
    if is_number(&words) { words.replace(',', "\\,") } else { words }
}

/// An interval in brackets, or a dash.
fn interval(cell: &Cell) -> String {
    let ends =
        cell.interval.as_deref().map(|interval| interval.split('–').map(|end| number(&end.into())).collect::<Vec<_>>());
    ends.map_or_else(|| "--".to_owned(), |ends| format!("[{}]", ends.join(", ")))
}

fn is_number(words: &str) -> bool {
    words.ends_with(|last: char| last.is_ascii_digit())
}

/// Pads numbers on the right, so that their decimal points are aligned.
fn aligned(cells: &[String]) -> Vec<String> {
    let decimals = |cell: &str| cell.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let most = cells.iter().filter(|cell| is_number(cell)).map(|cell| decimals(cell)).max().unwrap_or(0);
    let cell = |cell: &String| {
        let lacking = most - decimals(cell).min(most);
        if !is_number(cell) || lacking == 0 {
            return cell.clone();
        }
        let point = if cell.contains('.') { "" } else { "." };
        format!("{cell}\\phantom{{{point}{}}}", "0".repeat(lacking))
    };
    cells.iter().map(cell).collect()
}

fn spans(text: &Text) -> String {
    text.0.iter().map(span).collect()
}

fn span(Span { words, look }: &Span) -> String {
    let words = escaped(words);
    match look {
        _ if words.is_empty() => words,
        Look::Strong | Look::Warning => format!("\\textbf{{{words}}}"),
        Look::Code => format!("\\texttt{{{words}}}"),
        Look::Plain | Look::Muted | Look::Good | Look::Emphasis => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_beneath_each_other() {
        let cells = ["34\\,300", "21.4", "0.50", "--", "did not start"].map(str::to_owned);
        let set = ["34\\,300\\phantom{.00}", "21.4\\phantom{0}", "0.50", "--", "did not start"];
        assert_eq!(aligned(&cells), set);
    }

    #[test]
    fn numbers_have_thin_spaces_and_intervals_have_brackets() {
        let cell = Cell { interval: Some("−33,900–34,800".to_owned()), ..Cell::from("34,300") };
        assert_eq!(format!("{} {}", number(&cell.text), interval(&cell)), "34\\,300 [$-$33\\,900, 34\\,800]");
        assert_eq!(number(&"wrong, twice".into()), "wrong, twice");
    }
}
