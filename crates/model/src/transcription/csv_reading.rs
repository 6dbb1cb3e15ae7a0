//! Reads transcriptions from CSV: one line for each row of a table, one column for each figure.

use std::collections::HashMap;
use std::sync::Arc;

use super::figure_key::{figure_key, figure_keys};
use super::header::{Guess, guess};
use super::lines::Lines;
use super::number_reading::parse_number;
use super::{Conditions, Figure, Row, Transcription};
use crate::limits::ROWS;
use crate::reading::text::{Problem, Span};
use crate::reading::wording::{closest, likely};

/// How to read a CSV text: the meaning of its columns, and what it omits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CsvOptions {
    /// Name of the file, without its extension.
    pub key: String,
    /// Title of the source. Default: `key`.
    pub title: Option<String>,
    /// The column that names what was measured. Default: `subject`.
    pub subject: Option<String>,
    /// The columns whose values together name the setting. Default: `scenario`, if present.
    pub scenario: Vec<String>,
    /// The column that names the source's table. Default: `table`, if present.
    pub table: Option<String>,
    /// Maps headers to the key of a figure or of `[method]`; empty to leave the column out.
    pub columns: Vec<(String, String)>,
    pub conditions: Conditions,
    /// Whether several rows of the same subject and setting are repetitions.
    pub repetitions: bool,
    /// Whether numbers are written like `1.234,5`.
    pub decimal_comma: bool,
}

impl CsvOptions {
    /// Reads `Req/s=throughput_rps` as a header and its key.
    ///
    /// # Errors
    ///
    /// If the text has no `=`, or nothing before it.
    pub fn column(text: &str) -> Result<(String, String), String> {
        // A header may contain `=`; a key cannot.
        match text.rsplit_once('=') {
            Some((header, key)) if !header.trim().is_empty() => Ok((header.trim().to_owned(), key.trim().to_owned())),
            _ => Err(format!("`{text}` names no column and what it is; for example: Req/s=throughput_rps")),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Column {
    Subject,
    Scenario,
    Table,
    Figure(String),
    Condition(String),
    LeftOut,
    /// Neither the options nor its header tell what it is.
    Unknown,
}

impl Transcription {
    /// Reads a CSV text with a header. The separator is whichever of `,`, `;` and tab is most frequent in the header.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each problem with its line in the text.
    pub fn read_csv(text: &str, options: &CsvOptions) -> Result<Self, Vec<Problem>> {
        let (problems, no_numbers, known, conditions, conditions_before, of_row_before) = Default::default();
        let lines = Lines::of(text);
        let mut reader = CsvReader {
            text,
            lines,
            options,
            problems,
            no_numbers,
            known,
            conditions,
            conditions_before,
            of_row_before,
        };
        let rows = reader.read();
        reader.refuse_cells();
        if rows.is_empty() && reader.problems.is_empty() {
            reader.note(line_from(text, 0), "there is no row below the header", None);
        }
        if !reader.problems.is_empty() {
            // Reported last, as one problem for each column, so this restores text order.
            reader.problems.sort_by_key(|problem| problem.span.start);
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
    lines: Lines,
    options: &'a CsvOptions,
    problems: Vec<Problem>,
    no_numbers: Vec<NoNumber>,
    /// Index of the row that others with its name and conditions repeat.
    known: HashMap<(Option<String>, String, Option<String>, usize), usize>,
    /// An index for each distinct set of conditions.
    conditions: HashMap<String, usize>,
    /// The previous row's conditions and their index: most rows share them.
    conditions_before: Option<(Conditions, usize)>,
    of_row_before: Option<Arc<Conditions>>,
}

/// The first non-numeric cell of a column.
struct NoNumber {
    header: String,
    cell: String,
    span: Span,
    /// How many more there are.
    more: usize,
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
        for (number, line) in (1..).zip(lines.records()) {
            if let Err(why) = ROWS.holds(number) {
                self.problems.clear();
                self.note(line_from(self.text, 0), why, None);
                break;
            }
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

    /// The meaning of a column: from the options, else from its header.
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
        if figure_key(key).is_some() {
            return Column::Figure(key.to_owned());
        }
        if CONDITIONS.contains(&key) {
            return Column::Condition(key.to_owned());
        }
        if key == header {
            return Column::Unknown;
        }
        let keys = figure_keys();
        let keys: Vec<&str> = keys.iter().map(String::as_str).chain(CONDITIONS).collect();
        let near = likely(key, &keys);
        let help = format!(
            "{near} `tolok help docs/reference/transcription.md` lists all keys; to leave the column out: --column \"{header}=\""
        );
        self.note(line_from(self.text, 0), format!("`{key}` is no key of a figure"), Some(help));
        Column::LeftOut
    }

    /// Requires the columns that the options name, and a meaning for every other column.
    fn require_columns(&mut self, columns: &[(String, Column)]) {
        let headers: Vec<&str> = columns.iter().map(|(header, _)| header.as_str()).collect();
        let options = self.options;
        let named = options.subject.iter().chain(&options.scenario).chain(&options.table);
        let given = options.columns.iter().map(|(header, _)| header);
        for name in named.chain(given).filter(|name| !headers.contains(&name.as_str())) {
            let near = closest(name, &headers).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let help = format!("{near}the columns are {}", headers.join(", "));
            self.note(line_from(self.text, 0), format!("there is no column `{name}`"), Some(help));
        }
        let unknown: Vec<&str> = columns
            .iter()
            .filter(|(_, column)| *column == Column::Unknown)
            .map(|(header, _)| header.as_str())
            .collect();
        if headers.iter().all(|header| header.is_empty()) {
            let help = "the first line names the columns, such as subject,throughput_rps".to_owned();
            self.note(line_from(self.text, 0), "there is no header", Some(help));
            return;
        }
        let has_subject = options.subject.is_some() || columns.iter().any(|(_, column)| *column == Column::Subject);
        if !unknown.is_empty() || !has_subject {
            let help = suggestion(&unknown, &headers, has_subject, options.scenario.is_empty());
            let message = match unknown.as_slice() {
                [] => "no column says what was measured".to_owned(),
                [one] => format!("the meaning of the column `{one}` is not given"),
                some => format!("the meaning of these columns is not given: {}", some.join(", ")),
            };
            self.note(line_from(self.text, 0), message, Some(help));
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
                Column::Figure(key) => figures.extend(self.figure(key, cell, header, span)),
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
        let line = self.lines.number(span.start);
        let conditions = self.shared(conditions.within(&self.options.conditions));
        figures.shrink_to_fit();
        let raw = vec![self.text[span.clone()].to_owned()];
        Some(Row { line, table, subject: subject?, scenario, conditions, figures, raw })
    }

    /// Shares one allocation among consecutive rows with equal conditions.
    fn shared(&mut self, conditions: Conditions) -> Arc<Conditions> {
        match &self.of_row_before {
            Some(before) if **before == conditions => Arc::clone(before),
            _ => Arc::clone(self.of_row_before.insert(Arc::new(conditions))),
        }
    }

    /// A cell's number, in the unit given in the cell, or else in the column's.
    fn figure(&mut self, key: &str, cell: &str, header: &str, span: &Span) -> Option<Figure> {
        let (digits, key) = with_own_unit(cell, key);
        let digits = match self.options.decimal_comma {
            true => digits.replace('.', "").replace(',', "."),
            false => without_separators(digits),
        };
        let (quantity, unit) = figure_key(&key)?;
        let Some(number) = parse_number(&digits, unit.factor()) else {
            match self.no_numbers.iter_mut().find(|one| one.header == header) {
                Some(one) => one.more += 1,
                None => {
                    let (header, cell) = (header.to_owned(), cell.to_owned());
                    self.no_numbers.push(NoNumber { header, cell, span: span.clone(), more: 0 });
                }
            }
            return None;
        };
        Some(Figure { quantity, unit, key, numbers: vec![number] })
    }

    /// Reports non-numeric cells, once for each column.
    fn refuse_cells(&mut self) {
        for NoNumber { header, cell, span, more } in std::mem::take(&mut self.no_numbers) {
            let is_ambiguous = !self.options.decimal_comma && cell.contains(',');
            let help = if is_ambiguous {
                "a comma may stand before thousands or decimals: leave it out, or let --decimal-comma read 12.345,60"
            } else {
                "digits and one decimal point, with a mark or the unit of the column at most: 12345.60, ~14000, 5.03 ms"
            };
            let others = match more {
                0 => String::new(),
                1 => ", and one more like it".to_owned(),
                more => format!(", and {more} more like it"),
            };
            let message = format!("column `{header}`: `{cell}` is no number as it is printed{others}");
            self.note(span, message, Some(help.to_owned()));
        }
    }

    /// Adds a row, or merges it into an earlier one of the same subject and setting if they are repetitions.
    fn add(&mut self, row: Row, rows: &mut Vec<Row>, span: Span) {
        // The number of repetitions follows from the rows themselves.
        let under = self.place_of(Conditions { repetitions: None, ..row.conditions.as_ref().clone() });
        let name = (row.table.clone(), row.subject.clone(), row.scenario.clone(), under);
        let place = *self.known.entry(name).or_insert(rows.len());
        let Some(earlier) = rows.get_mut(place) else {
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
        Arc::make_mut(&mut earlier.conditions).repetitions = u64::try_from(earlier.raw.len()).ok();
    }

    /// An index for these conditions. Equal conditions share it.
    fn place_of(&mut self, under: Conditions) -> usize {
        if let Some((_, place)) = self.conditions_before.as_ref().filter(|(before, _)| *before == under) {
            return *place;
        }
        let next = self.conditions.len();
        let place = *self.conditions.entry(format!("{under:?}")).or_insert(next);
        self.conditions_before = Some((under, place));
        place
    }

    fn refuse(&mut self, error: &csv::Error, skipped: usize) -> Vec<Row> {
        let at = error.position().map_or(0, |position| position.byte() as usize + skipped);
        let message = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("this line has {len} cells, and the header has {expected_len}")
            }
            _ => "this line cannot be read as CSV".to_owned(),
        };
        let help = "a cell with the separator needs quotes: \"1,234\"".to_owned();
        self.note(line_from(self.text, at), message, Some(help));
        Vec::new()
    }

    fn note(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { span, message: message.into(), help });
    }
}

/// Keys of `[method]` that a column may have.
pub(super) const CONDITIONS: [&str; 6] = ["connections", "duration", "subject-cpus", "subject-workers", "tool", "body"];

/// Suggests options for the unknown columns, with remarks on what to check.
fn suggestion(unknown: &[&str], headers: &[&str], has_subject: bool, may_have_scenario: bool) -> String {
    let is_of_programs = headers.iter().any(|header| header.eq_ignore_ascii_case("command"));
    let guesses: Vec<(&str, Guess)> = unknown.iter().map(|header| (*header, guess(header, is_of_programs))).collect();
    let names = || guesses.iter().filter(|(_, guess)| *guess == Guess::Subject).map(|(header, _)| *header);
    // Of several names, the last is the most specific: language, framework.
    let subject = names().next_back().or_else(|| unknown.first().copied()).or_else(|| headers.first().copied());
    let subject = subject.filter(|_| !has_subject);
    let mut options: Vec<String> = subject.iter().map(|header| format!("--subject {}", quoted(header))).collect();
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for (header, guess) in guesses.iter().filter(|(header, _)| subject != Some(*header)) {
        let key = match guess {
            Guess::Scenario if may_have_scenario => {
                options.push(format!("--scenario {}", quoted(header)));
                continue;
            }
            Guess::Key(key, _) if !taken.contains(&key.as_str()) => key.as_str(),
            _ => "",
        };
        taken.extend((!key.is_empty()).then_some(key));
        options.push(format!("--column {}", quoted(&format!("{header}={key}"))));
        if let Guess::Key(_, Some(see)) | Guess::Nothing(Some(see)) = guess {
            match remarks.iter_mut().find(|(known, _)| known == see) {
                Some((_, headers)) => headers.push(header),
                None => remarks.push((see, vec![header])),
            }
        }
    }
    let leaves_out = options.iter().any(|option| option.ends_with("=\""));
    let remarks = remarks.iter().map(|(see, headers)| format!("{}: {see}", headers.join(", ")));
    let left_out = leaves_out.then(|| "HEADER= leaves a column out".to_owned());
    let all = [format!("perhaps {}", options.join(" "))].into_iter().chain(remarks).chain(left_out);
    all.chain(["`tolok help docs/reference/transcription.md` lists all keys".to_owned()]).collect::<Vec<_>>().join("; ")
}

/// Quotes a word for a command line.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_alphanumeric() || "_-./".contains(letter));
    if is_plain && !word.is_empty() { word.to_owned() } else { format!("\"{word}\"") }
}

fn separator(text: &str) -> u8 {
    let header = &text[line_from(text, 0)];
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    // Of equal counts, `max_by_key` takes the last: the comma, which gave the format its name.
    [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator)).unwrap_or(b',')
}

/// Splits off a cell's own unit, and returns the key with that unit. For `1.02s` in a column of `latency_mean_ms`, the
/// digits are `1.02` and the key is `latency_mean_s`.
fn with_own_unit<'a>(cell: &'a str, key: &str) -> (&'a str, String) {
    let digits = cell.trim_end_matches(|letter: char| letter.is_alphabetic() || "%/".contains(letter)).trim_end();
    let is_binary = ["_kib", "_mib", "_gib"].iter().any(|unit| key.contains(unit));
    // wrk omits that a rate is per second.
    let end = match cell[digits.len()..].trim().trim_end_matches("/s") {
        "%" => "percent",
        "us" | "µs" | "μs" => "us",
        end @ ("s" | "ms") => end,
        // In a column declared as MiB, `MB` means MiB.
        "kB" | "KB" if is_binary => "kib",
        "MB" if is_binary => "mib",
        "GB" if is_binary => "gib",
        "kB" => "kb",
        "MB" => "mb",
        "GB" => "gb",
        "KiB" => "kib",
        "MiB" => "mib",
        "GiB" => "gib",
        _ => return (cell, key.to_owned()),
    };
    let of_rate =
        key.strip_suffix("_s").and_then(|rate| rate.rsplit_once('_')).map(|(stem, _)| format!("{stem}_{end}_s"));
    let of_value = key.rsplit_once('_').map(|(stem, _)| format!("{stem}_{end}"));
    let quantity = |key: &str| figure_key(key).map(|(quantity, _)| quantity);
    let is_same = |own: &String| quantity(own).is_some() && quantity(own) == quantity(key);
    match of_value.into_iter().chain(of_rate).find(is_same) {
        Some(own) => (digits, own),
        None => (cell, key.to_owned()),
    }
}

/// Removes thousands separators where they are unambiguous: 19,876.30 and 1,538,000, but not 1,234.
fn without_separators(digits: &str) -> String {
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let groups: Vec<&str> = whole.split(',').collect();
    let are_groups =
        groups[1..].iter().all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    let is_plain = groups.len() > 2 || groups.len() == 2 && !decimals.is_empty();
    if is_plain && are_groups { digits.replace(',', "") } else { digits.to_owned() }
}

/// Whether a cell marks a missing figure.
fn is_absent(cell: &str) -> bool {
    matches!(cell, "" | "-" | "–" | "—" | "N/A" | "n/a" | "NA")
}

/// The line that begins at a byte, or after the empty lines there.
fn line_from(text: &str, at: usize) -> Span {
    let at = text.floor_char_boundary(at.min(text.len()));
    let start = at + text[at..].len() - text[at..].trim_start_matches(['\n', '\r', '\u{feff}']).len();
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    start..start + text[start..end].trim_end().len()
}
