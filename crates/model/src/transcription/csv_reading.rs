//! Transcriptions from CSV: a line for each row of a table, a column for each figure.

use super::figure_key::{figure_key, figure_keys};
use super::number_reading::parse_number;
use super::{Conditions, Figure, Quantity, Row, Transcription, Unit};
use crate::text::{Problem, Span};
use crate::wording::closest;

/// How a CSV text is read: what its columns are, and what it does not say itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CsvOptions {
    /// Name of the file, without its ending.
    pub key: String,
    /// Title of the source. Default: `key`.
    pub title: Option<String>,
    /// The column that names what was measured. Default: `subject`.
    pub subject: Option<String>,
    /// The columns whose words together name the setting. Default: `scenario`, if there is one.
    pub scenario: Vec<String>,
    /// The column that names the source's table. Default: `table`, if there is one.
    pub table: Option<String>,
    /// Headers and what they are: the key of a figure or of `[method]`; empty for a column that is left out.
    pub columns: Vec<(String, String)>,
    /// What holds for every row.
    pub conditions: Conditions,
    /// Whether several rows of the same subject and setting are repetitions.
    pub repetitions: bool,
    /// Whether numbers are written as in `1.234,5`.
    pub decimal_comma: bool,
}

impl CsvOptions {
    /// Reads `Req/s=throughput_rps` as a header and what it is.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn column(text: &str) -> Result<(String, String), String> {
        // A header may have the sign itself; a key has none.
        match text.rsplit_once('=') {
            Some((header, key)) if !header.trim().is_empty() => Ok((header.trim().to_owned(), key.trim().to_owned())),
            _ => Err(format!("`{text}` names no column and what it is; for example: Req/s=throughput_rps")),
        }
    }
}

/// What a column is.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    Subject,
    Scenario,
    Table,
    Figure(String, Quantity, Unit),
    Condition(String),
    LeftOut,
}

impl Transcription {
    /// Reads a CSV text with a header; the separator is that of `,`, `;` and tab which the header has most of.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each problem with its line in the text.
    pub fn read_csv(text: &str, options: &CsvOptions) -> Result<Self, Vec<Problem>> {
        let mut reader = CsvReader { text, options, problems: Vec::new() };
        let rows = reader.read();
        if rows.is_empty() && reader.problems.is_empty() {
            reader.note(line_from(text, 0), "there is no row below the header", None);
        }
        if !reader.problems.is_empty() {
            return Err(reader.problems);
        }
        Ok(Self {
            key: options.key.clone(),
            title: options.title.clone().unwrap_or_else(|| options.key.clone()),
            conditions: options.conditions.clone(),
            rows,
            ..Self::default()
        })
    }
}

struct CsvReader<'a> {
    text: &'a str,
    options: &'a CsvOptions,
    problems: Vec<Problem>,
}

impl CsvReader<'_> {
    fn read(&mut self) -> Vec<Row> {
        let mut lines = csv::ReaderBuilder::new()
            .delimiter(separator(self.text))
            .trim(csv::Trim::All)
            .from_reader(self.text.trim_start_matches('\u{feff}').as_bytes());
        let skipped = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
        let columns = match lines.headers() {
            Ok(headers) => headers.iter().map(str::to_owned).collect::<Vec<_>>(),
            Err(error) => return self.refuse(&error, 0),
        };
        let columns: Vec<(String, Column)> =
            columns.into_iter().map(|header| (header.clone(), self.column(&header))).collect();
        self.require_columns(&columns);
        let mut rows: Vec<Row> = Vec::new();
        for line in lines.records() {
            match line {
                Err(error) => drop(self.refuse(&error, skipped)),
                Ok(cells) => {
                    let at = cells.position().map_or(0, |position| position.byte() as usize + skipped);
                    let span = line_from(self.text, at);
                    if let Some(row) = self.row(&cells, &columns, &span) {
                        self.add(row, &mut rows, span);
                    }
                }
            }
        }
        rows
    }

    /// What a column is: what the options say, else what its header says.
    fn column(&mut self, header: &str) -> Column {
        let options = self.options;
        let is = |named: Option<&String>, default: &str| named.map_or(default, String::as_str) == header;
        let given = options.columns.iter().find(|(name, _)| name == header);
        if let Some((_, key)) = given {
            return if key.is_empty() { Column::LeftOut } else { self.column_of_key(key, header) };
        }
        if is(options.subject.as_ref(), "subject") {
            return Column::Subject;
        }
        if options.scenario.iter().any(|name| name == header) || (options.scenario.is_empty() && header == "scenario") {
            return Column::Scenario;
        }
        if is(options.table.as_ref(), "table") {
            return Column::Table;
        }
        self.column_of_key(header, header)
    }

    fn column_of_key(&mut self, key: &str, header: &str) -> Column {
        if let Some((quantity, unit)) = figure_key(key) {
            return Column::Figure(key.to_owned(), quantity, unit);
        }
        if CONDITIONS.contains(&key) {
            return Column::Condition(key.to_owned());
        }
        let keys = figure_keys();
        let keys: Vec<&str> = keys.iter().map(String::as_str).chain(CONDITIONS).collect();
        let near = closest(key, &keys).unwrap_or("throughput_rps");
        let message = if key == header {
            format!("it is not said what the column `{header}` is")
        } else {
            format!("`{key}` is no key of a figure")
        };
        let help = format!("for example: --column \"{header}={near}\"; to leave it out: --column \"{header}=\"");
        self.note(line_from(self.text, 0), message, Some(help));
        Column::LeftOut
    }

    /// Columns that the options name have to be there.
    fn require_columns(&mut self, columns: &[(String, Column)]) {
        let headers: Vec<&str> = columns.iter().map(|(header, _)| header.as_str()).collect();
        let options = self.options;
        let subject = options.subject.clone().unwrap_or_else(|| "subject".to_owned());
        let scenario_and_table = options.scenario.iter().chain(&options.table).cloned();
        let given = options.columns.iter().map(|(header, _)| header.clone());
        for name in [subject].into_iter().chain(scenario_and_table).chain(given) {
            if !headers.contains(&name.as_str()) {
                let help =
                    format!("the columns are {}; --subject says which names what was measured", headers.join(", "));
                self.note(line_from(self.text, 0), format!("there is no column `{name}`"), Some(help));
            }
        }
    }

    fn row(&mut self, cells: &csv::StringRecord, columns: &[(String, Column)], span: &Span) -> Option<Row> {
        let text_of = |wanted: &Column| {
            let cells = columns.iter().zip(cells).filter(|((_, column), _)| column == wanted);
            cells.map(|(_, cell)| cell).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" ")
        };
        let own = |text: String| (!text.is_empty()).then_some(text);
        let (subject, scenario, table) =
            (own(text_of(&Column::Subject)), own(text_of(&Column::Scenario)), own(text_of(&Column::Table)));
        let mut conditions = Conditions::default();
        let mut figures = Vec::new();
        for ((header, column), cell) in columns.iter().zip(cells).filter(|(_, cell)| !is_absent(cell)) {
            match column {
                Column::Figure(key, quantity, unit) => {
                    figures.extend(self.figure(key, quantity, *unit, cell, header, span))
                }
                Column::Condition(key) => match Conditions::from_option(key, cell) {
                    Ok(one) => conditions = one.within(&conditions),
                    Err(wrong) => self.note(span.clone(), format!("column `{header}`: {wrong}"), None),
                },
                _ => {}
            }
        }
        if subject.is_none() && columns.iter().any(|(_, column)| *column == Column::Subject) {
            self.note(span.clone(), "the row does not say what was measured", None);
        }
        let line = self.text[..span.start].matches('\n').count() + 1;
        let conditions = conditions.within(&self.options.conditions);
        let raw = vec![self.text[span.clone()].to_owned()];
        Some(Row { line, table, subject: subject?, scenario, conditions, figures, raw })
    }

    fn figure(
        &mut self,
        key: &str,
        quantity: &Quantity,
        unit: Unit,
        cell: &str,
        header: &str,
        span: &Span,
    ) -> Option<Figure> {
        let digits = match self.options.decimal_comma {
            true => cell.replace('.', "").replace(',', "."),
            false => cell.to_owned(),
        };
        let Some(number) = parse_number(&digits, unit.factor()) else {
            let help =
                "digits and one decimal point, without unit and separators: 12345.60; --decimal-comma reads 12.345,60";
            let message = format!("column `{header}`: `{cell}` is no number as it is printed");
            self.note(span.clone(), message, Some(help.to_owned()));
            return None;
        };
        Some(Figure { quantity: quantity.clone(), unit, key: key.to_owned(), numbers: vec![number] })
    }

    /// Adds a row, to an earlier one of the same subject and setting if they are repetitions.
    fn add(&mut self, row: Row, rows: &mut Vec<Row>, span: Span) {
        let name = |row: &Row| (row.table.clone(), row.subject.clone(), row.scenario.clone());
        // The number of repetitions is made of the rows themselves.
        let under = |row: &Row| Conditions { repetitions: None, ..row.conditions.clone() };
        let same = |earlier: &&mut Row| name(earlier) == name(&row) && under(earlier) == under(&row);
        let Some(earlier) = rows.iter_mut().find(same) else {
            rows.push(row);
            return;
        };
        if !self.options.repetitions {
            let message = format!("line {} has the same subject and setting", earlier.line);
            let help =
                "--repetitions takes such rows for repetitions; --scenario names the columns that tell them apart";
            self.note(span, message, Some(help.to_owned()));
            return;
        }
        for figure in row.figures {
            match earlier.figures.iter_mut().find(|one| one.quantity == figure.quantity) {
                Some(one) => one.numbers.extend(figure.numbers),
                None => earlier.figures.push(figure),
            }
        }
        earlier.raw.extend(row.raw);
        earlier.conditions.repetitions = u64::try_from(earlier.raw.len()).ok();
    }

    fn refuse(&mut self, error: &csv::Error, skipped: usize) -> Vec<Row> {
        let at = error.position().map_or(0, |position| position.byte() as usize + skipped);
        let message = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("this line has {len} cells, and the header has {expected_len}")
            }
            _ => "this line cannot be read as CSV".to_owned(),
        };
        let help = "a cell that holds the separator stands in quotes: \"1,234\"".to_owned();
        self.note(line_from(self.text, at), message, Some(help));
        Vec::new()
    }

    fn note(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { span, message: message.into(), help });
    }
}

/// Keys of `[method]` that a column may have.
const CONDITIONS: [&str; 6] = ["connections", "duration", "subject-cpus", "subject-workers", "tool", "body"];

fn separator(text: &str) -> u8 {
    let header = &text[line_from(text, 0)];
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    // Of equally many the last is taken: a comma, as the name of the format says.
    [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator)).unwrap_or(b',')
}

/// Whether a cell says that there is no figure.
fn is_absent(cell: &str) -> bool {
    matches!(cell, "" | "-" | "–" | "—" | "N/A" | "n/a" | "NA")
}

/// The line that begins at a byte, or behind empty lines there.
fn line_from(text: &str, at: usize) -> Span {
    let at = text.floor_char_boundary(at.min(text.len()));
    let start = at + text[at..].len() - text[at..].trim_start_matches(['\n', '\r', '\u{feff}']).len();
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    start..start + text[start..end].trim_end().len()
}
