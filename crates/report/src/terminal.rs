//! Tables and sentences for a terminal or a log.
//!
//! Everything is said in words and marks; colour only helps the eye and can be left out. Lines are at most as wide as
//! asked, down to [`NARROWEST`]. A wide terminal has an interval beside its value, a narrow one beneath it, and a very narrow
//! one leaves columns out and says so.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, TableStyle};
use tolok_analysis::figures::{Figure, counted, moment};
use tolok_analysis::{Findings, ScenarioFinding, ToolRow};

use crate::Style;
use crate::documents::run::database;
use crate::documents::run::failures::{FailedTrials, failed_trials};
use crate::documents::run::fairness;
use crate::documents::run::gates;
use crate::documents::run::isolation;
use crate::documents::run::judgement::{self, Line};
use crate::documents::run::limits;
use crate::documents::run::objectives::{self, RULE};
use crate::documents::run::published;
use crate::documents::run::recommendations;
use crate::documents::run::resources::diagnosis_line;
use crate::documents::run::sections::sections;
use crate::documents::run::surroundings::{common_environment, environment, heading, link_did};
use crate::documents::run::table::{Row, Table, percentiles};
use crate::documents::run::tool_remarks::Remarks;
use crate::documents::run::tools;
use crate::documents::run::untested;
use crate::printable::printable;
use crate::sparkline::Sparklines;

/// Tables for less than this would be one word a line.
const NARROWEST: usize = 64;
/// Between two columns.
pub(crate) const GAP: u16 = 2;
/// Before everything that belongs to a heading.
pub(crate) const INDENT: &str = "  ";

/// A column after the subject's: its heading, and its cells.
pub(crate) type Column<'a> = (&'a str, Vec<String>);

pub(crate) fn render(findings: &Findings, style: &Style) -> String {
    let mut page = Page::new(style);
    let sections = sections(findings);
    let common = common_environment(sections.iter().map(AsRef::as_ref));
    page.head(findings, common.as_deref());
    // What a study of tools is about comes before what each of them measured.
    page.tools(findings);
    page.sensitivity(findings);
    for section in &sections {
        page.scenario(section, common.is_some());
    }
    page.programs(findings);
    page.list("Published and measured", "-", published::short_lines(findings));
    page.list("Which one for what", "-", recommendations::short_lines(findings));
    page.list("Failed trials", "-", failed_trials(findings).iter().map(FailedTrials::sentence).collect());
    let skipped = findings.skipped.iter().map(|skipped| format!("{}: {}", skipped.subject, skipped.reason));
    page.list("Left out", "-", skipped.collect());
    page.gates(findings);
    page.list("Not the same for all", "!", fairness::short(findings));
    page.list(
        "Before quoting these figures",
        "!",
        findings.cautions.iter().cloned().chain(untested::line(findings)).collect(),
    );
    page.list("Run it again", "$", vec![findings.run.command.clone()]);
    page.text
}

/// The title, and of each scenario its verdict and its table; then `warnings`, `line`, and the command that repeats the run.
pub(crate) fn brief(findings: &Findings, style: &Style, line: &str, warnings: &[String]) -> String {
    let mut page = Page::new(style);
    page.paragraph("", &findings.run.title, Look::Bold);
    for section in sections(findings) {
        page.brief_scenario(&section);
    }
    findings.programs.iter().for_each(|program| page.brief_program(program));
    page.text.push('\n');
    warnings.iter().for_each(|warning| page.paragraph("", &format!("! {warning}"), Look::Warning));
    page.paragraph("", line, Look::Dim);
    page.paragraph("", &format!("$ {}", findings.run.command), Look::Plain);
    page.text
}

/// The text so far, and how it is to look.
pub(crate) struct Page {
    pub(crate) text: String,
    colour: bool,
    pub(crate) width: usize,
    /// What marks and words mean, as far as it was said.
    said: Vec<String>,
}

/// How a line stands out, where there is colour.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    Plain,
    Bold,
    Dim,
    Warning,
    Good,
}

impl Page {
    /// An empty one.
    pub(crate) fn new(style: &Style) -> Self {
        Self {
            text: String::new(),
            colour: style.colour,
            width: usize::from(style.width).max(NARROWEST),
            said: Vec::new(),
        }
    }

    fn head(&mut self, findings: &Findings, environment: Option<&str>) {
        let run = &findings.run;
        self.paragraph("", &run.title, Look::Bold);
        self.paragraph("", &run.question, Look::Plain);
        let blocks = counted(u64::from(run.blocks), "block");
        let facts = format!("{} · {} · tolok {} · {blocks}", run.id, moment(&run.started_at), run.tolok_version);
        self.paragraph("", &facts, Look::Dim);
        self.paragraph("", &run.machine, Look::Dim);
        self.paragraph("", environment.unwrap_or_default(), Look::Dim);
        self.paragraph("", &isolation::line(findings), Look::Dim);
        self.paragraph("", &judgement::stopping(findings), Look::Dim);
        self.paragraph("", &findings.scaled().unwrap_or_default(), Look::Warning);
    }

    fn scenario(&mut self, scenario: &ScenarioFinding, is_in_common: bool) {
        self.text.push('\n');
        self.paragraph("", &format!("{}: {}", heading(scenario), scenario.load), Look::Bold);
        if !is_in_common {
            self.paragraph(INDENT, &environment(scenario), Look::Dim);
        }
        self.paragraph(INDENT, &link_did(scenario).map(|did| format!("link: {did}")).unwrap_or_default(), Look::Dim);
        self.paragraph(INDENT, &scenario.verdict, Look::Plain);
        self.text.push('\n');
        let table = Table::of(scenario);
        self.table_and_legend(&table, scenario);
        for (number, note) in table.notes.numbered() {
            self.paragraph(INDENT, &format!("[{number}] {}", note), Look::Warning);
        }
        self.sureness(&judgement::short_lines(scenario.noise_floor.as_ref(), scenario.power.as_ref()));
        self.limits(scenario);
        self.objectives(scenario);
        self.database(scenario);
        self.diagnoses(scenario);
    }

    /// Heading, verdict and table alone, without notes.
    fn brief_scenario(&mut self, scenario: &ScenarioFinding) {
        self.text.push('\n');
        self.paragraph("", &format!("{}: {}", heading(scenario), scenario.load), Look::Bold);
        self.paragraph(INDENT, &scenario.verdict, Look::Plain);
        self.text.push('\n');
        let mut table = Table::of(scenario);
        table.rows.iter_mut().chain(&mut table.ceiling).for_each(|row| row.notes.clear());
        self.table_and_legend(&table, scenario);
    }

    fn table_and_legend(&mut self, table: &Table, scenario: &ScenarioFinding) {
        let sparklines = Sparklines::of(scenario);
        let (layout, has_sparklines) = self.table(table, sparklines.as_ref());
        let mut legend = table.legend();
        if layout != Layout::Slim && !table.memory.is_empty() {
            legend.push(format!("MiB {}", table.memory));
        }
        let percentiles = percentiles(scenario);
        legend.push(if layout == Layout::Slim { percentiles.replace("p50 and p99", "p99") } else { percentiles });
        legend.extend(sparklines.filter(|_| has_sparklines).map(|it| it.meaning.to_owned()));
        self.legend(legend);
    }

    /// What the marks and words of a table mean; what was said before is not said again, unless something else was meanwhile.
    pub(crate) fn legend(&mut self, mut meanings: Vec<String>) {
        meanings.retain(|meaning| !self.said.contains(meaning));
        let says_else = |said: &String| meanings.iter().all(|meaning| about(meaning) != about(said));
        self.said.retain(says_else);
        self.said.extend(meanings.iter().cloned());
        self.paragraph(INDENT, &meanings.join(" · "), Look::Dim);
    }

    /// How sure the comparisons of a table are.
    pub(crate) fn sureness(&mut self, lines: &[Line]) {
        for Line { word, text, is_warning } in lines {
            let (mark, look) = if *is_warning { ("! ", Look::Warning) } else { ("", Look::Plain) };
            self.paragraph(INDENT, &format!("{mark}{word}: {text}"), look);
        }
        let of_words = judgement::MEANING.iter().filter(|(word, _)| lines.iter().any(|line| line.word == *word));
        self.legend(of_words.map(|(_, meaning)| (*meaning).to_owned()).collect());
    }

    fn limits(&mut self, scenario: &ScenarioFinding) {
        let lines = limits::lines(scenario);
        if lines.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph(INDENT, "Bottlenecks", Look::Dim);
        for line in lines {
            self.paragraph(INDENT, &format!("- {}: {}", line.word, line.cases), Look::Plain);
        }
    }

    fn database(&mut self, scenario: &ScenarioFinding) {
        let mut columns = database::columns(scenario);
        if columns.is_empty() {
            return;
        }
        let competing = scenario.cases.iter().map(|case| printable(&case.title));
        let ceiling = scenario.ceiling.iter().map(|case| format!("ceiling: {}", printable(&case.title)));
        let subjects: Vec<String> = competing.chain(ceiling).collect();
        self.text.push('\n');
        self.fitting("subject", &subjects, &mut columns, scenario.cases.len());
        let meanings = columns.iter().filter_map(|(heading, _)| database::meaning(heading));
        self.legend(meanings.map(str::to_owned).collect());
        self.outage(scenario);
    }

    /// A table with as many of the columns as there is room for; those that are left out are named, and gone.
    fn fitting(&mut self, first: &str, subjects: &[String], columns: &mut Vec<Column>, cases: usize) {
        let inner = self.width - INDENT.len();
        let taken = |(heading, cells): &Column| widest(cells).max(heading.chars().count()) + usize::from(GAP);
        let wanted = widest(subjects).min(18);
        let fitting = (0..=columns.len())
            .rev()
            .find(|&number| wanted + columns[..number].iter().map(taken).sum::<usize>() <= inner);
        let left_out: Vec<&str> = columns.split_off(fitting.unwrap_or(0)).iter().map(|(heading, _)| *heading).collect();
        for (place, line) in lines_of(first, subjects, columns, cases, inner).iter().enumerate() {
            self.line(format!("{INDENT}{line}").trim_end(), if place == 0 { Look::Dim } else { Look::Plain });
        }
        if !left_out.is_empty() {
            self.legend(vec![format!("{} left out: the terminal is too narrow", left_out.join(", "))]);
        }
    }

    fn tools(&mut self, findings: &Findings) {
        let remarks = Remarks::of(findings);
        let legends = tools::legends(&findings.tools);
        for (place, finding) in findings.tools.iter().enumerate() {
            self.text.push('\n');
            if place == 0 {
                self.paragraph("", "What each tool says", Look::Bold);
            }
            self.paragraph(INDENT, &format!("{}: {}", tools::heading(finding), finding.load), Look::Bold);
            self.paragraph(INDENT, &finding.verdict, Look::Plain);
            self.text.push('\n');
            let marks = |row: &ToolRow| {
                remarks.numbers(place, row).iter().map(|number| format!(" [{number}]")).collect::<String>()
            };
            let name = |row: &ToolRow| format!("{}{}", printable(&row.short_words()), marks(row));
            let names: Vec<String> = finding.rows.iter().map(name).collect();
            self.fitting("tool", &names, &mut tools::short_columns(finding), names.len());
            if place == 0 {
                self.paragraph(INDENT, tools::COSTS_IN_SHORT, Look::Dim);
            }
            self.paragraph(INDENT, &legends[place].join(" · "), Look::Dim);
            self.paragraph(INDENT, remarks.unchecked(place), Look::Dim);
            for remark in remarks.beneath(place) {
                self.paragraph(INDENT, &format!("- {}: {}", remark.tool, remark.text), Look::Plain);
            }
        }
        if remarks.numbered().next().is_some() {
            self.text.push('\n');
            self.paragraph(INDENT, "In several of these tables", Look::Bold);
        }
        for (number, remark) in remarks.numbered() {
            self.paragraph(INDENT, &format!("[{number}] {}: {}", remark.tool, remark.text), Look::Plain);
        }
    }

    fn outage(&mut self, scenario: &ScenarioFinding) {
        let Some(gone) = database::gone(scenario) else { return };
        self.text.push('\n');
        self.paragraph(INDENT, &gone, Look::Dim);
        for (line, is_failing) in database::outage_lines(scenario) {
            let (mark, look) = if is_failing { ("!", Look::Warning) } else { ("-", Look::Plain) };
            self.paragraph(INDENT, &format!("{mark} {line}"), look);
        }
    }

    fn diagnoses(&mut self, scenario: &ScenarioFinding) {
        if scenario.unscored_diagnoses.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph(INDENT, "Unscored: counted for each answer while the counting slowed it down", Look::Dim);
        for diagnosis in &scenario.unscored_diagnoses {
            self.paragraph(INDENT, &format!("- {}", diagnosis_line(diagnosis)), Look::Dim);
        }
    }

    fn objectives(&mut self, scenario: &ScenarioFinding) {
        let lines = objectives::lines(scenario);
        if lines.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph(INDENT, &format!("Objectives ({RULE})"), Look::Dim);
        for line in lines {
            let (mark, look) = if line.is_crossed { ("!", Look::Warning) } else { ("-", Look::Plain) };
            self.paragraph(INDENT, &format!("{mark} {}: {}", line.objective, line.sentence), look);
        }
    }

    /// Puts a table in the widest layout that fits, and says which it was, and whether sparklines had room as well.
    fn table(&mut self, table: &Table, sparklines: Option<&Sparklines>) -> (Layout, bool) {
        let inner = self.width - INDENT.len();
        let layout = Layout::ALL.into_iter().find(|layout| layout.fits(table, inner, None)).unwrap_or(Layout::Slim);
        let sparklines = sparklines.filter(|_| layout.fits(table, inner, sparklines));
        let lines = layout.grid(table, inner, sparklines);
        for (place, line) in lines.iter().enumerate() {
            let look = if place == 0 { Look::Dim } else { Look::Plain };
            self.line(format!("{INDENT}{line}").trim_end(), look);
        }
        if layout == Layout::Slim {
            self.legend(vec!["CPU, memory and p50 are left out: they need a wider terminal".to_owned()]);
        }
        (layout, sparklines.is_some())
    }

    fn gates(&mut self, findings: &Findings) {
        let lines = gates::lines(findings);
        if let [line] = lines.as_slice() {
            self.text.push('\n');
            return self.paragraph("", &format!("Checks of the trials: {}", line.text), Look::Plain);
        }
        for (place, line) in lines.into_iter().enumerate() {
            if place == 0 {
                self.text.push('\n');
                self.paragraph("", "Checks of the trials", Look::Bold);
            }
            let (mark, look) = if line.is_failed { ("!", Look::Warning) } else { ("-", Look::Plain) };
            self.paragraph(INDENT, &format!("{mark} {}", line.text), look);
        }
    }

    pub(crate) fn list(&mut self, heading: &str, mark: &str, items: Vec<String>) {
        if items.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph("", heading, Look::Bold);
        for item in items {
            let look = if mark == "!" { Look::Warning } else { Look::Plain };
            self.paragraph(INDENT, &format!("{mark} {item}"), look);
        }
    }

    /// Text broken into lines (none if there is no text), the later ones indented like the text after a mark.
    pub(crate) fn paragraph(&mut self, indent: &str, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        let hanging = match text.split_once(' ') {
            Some((mark, _)) if !indent.is_empty() && is_mark(mark) => mark.chars().count() + 1,
            _ => 0,
        };
        for (place, line) in wrapped(text, self.width - indent.len(), hanging).into_iter().enumerate() {
            let extra = if place == 0 { 0 } else { hanging };
            self.line(&format!("{indent}{}{line}", " ".repeat(extra)), look);
        }
    }

    pub(crate) fn line(&mut self, text: &str, look: Look) {
        let code = match look {
            Look::Plain => None,
            Look::Bold => Some("1"),
            Look::Dim => Some("2"),
            Look::Warning => Some("33"),
            Look::Good => Some("32"),
        };
        match code.filter(|_| self.colour && !text.is_empty()) {
            Some(code) => self.text += &format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => self.text += text,
        }
        self.text.push('\n');
    }
}

/// The mark or word that a meaning is of.
fn about(meaning: &str) -> &str {
    let meaning = meaning.strip_prefix("p50 and ").unwrap_or(meaning);
    meaning.split(' ').next().unwrap_or(meaning)
}

fn is_mark(word: &str) -> bool {
    matches!(word, "!" | "-" | "$" | "?") || word.starts_with('[')
}

/// Breaks `text` at spaces into lines of at most `width` characters; later lines are shorter by `hanging`.
pub(crate) fn wrapped(text: &str, width: usize, hanging: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in printable(text).split(' ').filter(|word| !word.is_empty()) {
        let room = if lines.len() == 1 { width } else { width - hanging };
        let count = lines.len();
        let last = &mut lines[count - 1];
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= room {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// What a table has room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Intervals stand beside their values.
    Wide,
    /// Intervals stand beneath their values.
    Narrow,
    /// Besides, only the most important columns are there.
    Slim,
}

impl Layout {
    const ALL: [Self; 3] = [Self::Wide, Self::Narrow, Self::Slim];

    /// Whether the subjects' column keeps enough of `width`. Sparklines are the last to have room: they neither break names nor come
    /// before columns that were left out.
    fn fits(self, table: &Table, width: usize, sparklines: Option<&Sparklines>) -> bool {
        let taken = |(heading, cells): &Column| widest(cells).max(heading.chars().count()) + usize::from(GAP);
        let names = widest(&subjects(table));
        let wanted = match (self, sparklines) {
            (Self::Slim, Some(_)) => return false,
            (_, Some(_)) => names,
            // Where intervals make a row two lines high, a name of two lines costs nothing.
            (_, None) => names.min(if self == Self::Wide { 18 } else { 12 }),
        };
        wanted + self.columns(table, sparklines).iter().map(taken).sum::<usize>() <= width
    }

    /// The lines of a table, at most `width` wide.
    fn grid(self, table: &Table, width: usize, sparklines: Option<&Sparklines>) -> Vec<String> {
        lines_of("subject", &subjects(table), &self.columns(table, sparklines), table.rows.len(), width)
    }

    /// The columns after the subject's.
    fn columns(self, table: &Table, sparklines: Option<&Sparklines>) -> Vec<Column<'static>> {
        let rows = rows(table);
        let column = |cell: &dyn Fn(&Row) -> String| rows.iter().map(|row| cell(row)).collect::<Vec<String>>();
        let costs = [
            ("CPU µs", column(&|row| row.cpu_us.clone())),
            ("MiB", column(&|row| row.memory_mib.clone())),
            ("p50 ms", column(&|row| row.p50_ms.clone())),
        ];
        let mut columns = vec![(
            if self == Self::Wide { "good answers/s" } else { "good/s" },
            self.figures(&rows, &|row| (row.goodput.clone(), "")),
        )];
        if table.is_compared {
            columns.push(("vs first", self.figures(&rows, &|row| (row.against_first.clone(), row.mark))));
            columns.push(("tier", column(&|row| row.tier.clone())));
        }
        if table.has_ceiling {
            columns.push(("ceiling", column(&|row| row.of_ceiling.clone())));
        }
        if table.has_quota {
            columns.push(("throttled", column(&|row| row.throttled.clone())));
        }
        columns.extend(costs.into_iter().filter(|_| self != Self::Slim));
        columns.push(("p99 ms", column(&|row| row.p99_ms.clone())));
        columns.extend(sparklines.map(|it| (it.heading, it.cells.clone())));
        columns
    }

    fn figures(self, rows: &[&Row], of: &dyn Fn(&Row) -> (Figure, &'static str)) -> Vec<String> {
        figure_cells(self == Self::Wide, &rows.iter().map(|row| of(row)).collect::<Vec<_>>())
    }
}

/// A column of figures with their intervals, beside them or beneath, each of the two parts aligned by itself, and marks at
/// the end.
pub(crate) fn figure_cells(is_wide: bool, figures: &[(Figure, &str)]) -> Vec<String> {
    let interval_width = widest(&figures.iter().map(|(figure, _)| interval(figure)).collect::<Vec<_>>());
    let mark_width = figures.iter().map(|(_, mark)| mark.chars().count()).max().unwrap_or(0);
    let cell = |(figure, mark): &(Figure, &str)| {
        let value = &figure.value;
        let mark = if mark_width == 0 { String::new() } else { format!(" {mark:mark_width$}") };
        let interval = interval(figure);
        match is_wide {
            true if interval_width == 0 => format!("{value}{mark}"),
            true => format!("{value} {interval:<interval_width$}{mark}"),
            false if interval.is_empty() => format!("{value}{mark}"),
            // The blanks keep the interval below its value and not below the mark.
            false => format!("{value}{mark}\n{interval}{}", " ".repeat(mark.chars().count())),
        }
    };
    figures.iter().map(cell).collect()
}

/// The lines of a table of subjects and figures; what comes after so many cases stands apart.
pub(crate) fn lines_of(
    first: &str,
    subjects: &[String],
    columns: &[Column],
    cases: usize,
    width: usize,
) -> Vec<String> {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    grid.set_header(std::iter::once(first).chain(columns.iter().map(|(heading, _)| *heading)));
    for (place, subject) in subjects.iter().enumerate() {
        if place == cases && place > 0 {
            grid.add_row(vec![""; columns.len() + 1]);
        }
        let cells = columns.iter().map(|(_, cells)| cells[place].clone());
        grid.add_row(std::iter::once(subject.clone()).chain(cells).map(Cell::new));
    }
    for (place, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if place == columns.len() { 0 } else { GAP }));
        if place > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth).set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().collect()
}

/// All rows of a table, the ceiling last.
fn rows<'a>(table: &'a Table) -> Vec<&'a Row<'a>> {
    table.rows.iter().chain(&table.ceiling).collect()
}

/// What stands in the subjects' column.
fn subjects(table: &Table) -> Vec<String> {
    let before = |place: usize| if place == table.rows.len() { "ceiling: " } else { "" };
    let words = |(place, row): (usize, &Row)| {
        let marks: String = row.notes.iter().map(|number| format!(" [{number}]")).collect();
        format!("{}{}{marks}", before(place), printable(&row.case.title))
    };
    rows(table).into_iter().enumerate().map(words).collect()
}

fn interval(figure: &Figure) -> String {
    figure.interval.clone().unwrap_or_default()
}

pub(crate) fn widest(cells: &[String]) -> usize {
    cells.iter().flat_map(|cell| cell.lines()).map(|line| line.chars().count()).max().unwrap_or(0)
}
