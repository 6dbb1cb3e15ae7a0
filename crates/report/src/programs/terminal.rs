//! Programs in a terminal.

use tolok_analysis::figures::Figure;
use tolok_analysis::{Findings, ProgramFinding, ProgramSeries, TimersFinding};

use super::{Grid, RULE, Row, Table, facts, heading, series_grids, series_heading, timers_grid, timers_heading};
use crate::documents::run::judgement;
use crate::printable::printable;
use crate::terminal::{Column, GAP, INDENT, Look, Page, figure_cells, lines_of, widest};

/// How much a table shows: intervals beside the figures, beneath them, or beneath them with the most important columns only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Wide,
    Narrow,
    Slim,
}

impl Page {
    /// What programs say together, then each of them, then their timers beside each other.
    pub(crate) fn programs(&mut self, findings: &Findings) {
        for series in &findings.program_series {
            self.program_series(series);
        }
        for program in &findings.programs {
            self.program(program);
        }
        for timers in &findings.timers {
            self.timers(timers);
        }
        if !findings.programs.is_empty() {
            self.text.push('\n');
            self.paragraph("", &format!("Programs: {RULE}"), Look::Dim);
        }
    }

    fn program(&mut self, program: &ProgramFinding) {
        self.text.push('\n');
        self.paragraph("", &heading(program), Look::Bold);
        self.paragraph(INDENT, &facts(program), Look::Dim);
        self.paragraph(INDENT, &program.verdict, Look::Plain);
        self.text.push('\n');
        let table = Table::of(program);
        self.program_table(&table);
        for (number, note) in table.notes.numbered() {
            self.paragraph(INDENT, &format!("[{number}] {}", note), Look::Warning);
        }
        self.sureness(&judgement::short_lines(program.noise_floor.as_ref(), program.power.as_ref()));
    }

    /// Heading, verdict and table alone, without notes.
    pub(crate) fn brief_program(&mut self, program: &ProgramFinding) {
        self.text.push('\n');
        self.paragraph("", &heading(program), Look::Bold);
        self.paragraph(INDENT, &program.verdict, Look::Plain);
        self.text.push('\n');
        let mut table = Table::of(program);
        table.rows.iter_mut().for_each(|row| row.notes.clear());
        self.program_table(&table);
    }

    /// The table in the widest layout that fits, and its legend.
    fn program_table(&mut self, table: &Table) {
        let subjects: Vec<String> = table.rows.iter().map(subject).collect();
        let fits = |layout: &Layout| {
            self.fits(&subjects, &columns(table, *layout), if *layout == Layout::Wide { 18 } else { 12 })
        };
        let layout = [Layout::Wide, Layout::Narrow].into_iter().find(fits).unwrap_or(Layout::Slim);
        self.rows(&subjects, &columns(table, layout));
        if layout == Layout::Slim {
            self.legend(vec!["CPU, memory and the start are left out: they need a wider terminal".to_owned()]);
        }
        self.legend(table.legend());
    }

    fn program_series(&mut self, series: &ProgramSeries) {
        self.text.push('\n');
        self.paragraph("", &series_heading(series), Look::Bold);
        for grid in series_grids(series) {
            self.program_grid(&grid);
        }
        for crossover in &series.crossovers {
            self.paragraph(INDENT, &format!("- {}", crossover.sentence), Look::Plain);
        }
    }

    fn timers(&mut self, timers: &TimersFinding) {
        self.text.push('\n');
        self.paragraph("", &format!("Timers: {}", timers_heading(timers)), Look::Bold);
        self.program_grid(&timers_grid(timers));
        for note in &timers.notes {
            self.paragraph(INDENT, &format!("- {note}"), Look::Dim);
        }
    }

    /// A table whose columns are set beneath each other, as many as fit, until all of them stand there.
    fn program_grid(&mut self, grid: &Grid) {
        let subjects: Vec<String> = grid.rows.iter().map(|row| printable(&row.title)).collect();
        let cells = |place: usize| grid.rows.iter().map(|row| row.cells[place].clone()).collect::<Vec<String>>();
        let columns: Vec<Column> =
            grid.columns.iter().enumerate().map(|(place, heading)| (heading.as_str(), cells(place))).collect();
        self.paragraph(INDENT, &grid.title, Look::Dim);
        let mut rest = columns.as_slice();
        while !rest.is_empty() {
            let fits = |number: &usize| self.fits(&subjects, &rest[..*number], 18);
            let number = (1..=rest.len()).rev().find(fits).unwrap_or(1);
            self.rows(&subjects, &rest[..number]);
            rest = &rest[number..];
        }
    }

    /// Whether the subjects' column keeps so many letters.
    fn fits(&self, subjects: &[String], columns: &[Column], letters: usize) -> bool {
        let taken = |(heading, cells): &Column| widest(cells).max(heading.chars().count()) + usize::from(GAP);
        widest(subjects).min(letters) + columns.iter().map(taken).sum::<usize>() <= self.width - INDENT.len()
    }

    fn rows(&mut self, subjects: &[String], columns: &[Column]) {
        for (place, line) in
            lines_of("subject", subjects, columns, subjects.len(), self.width - INDENT.len()).iter().enumerate()
        {
            self.line(format!("{INDENT}{line}").trim_end(), if place == 0 { Look::Dim } else { Look::Plain });
        }
    }
}

fn subject(row: &Row) -> String {
    let marks: String = row.notes.iter().map(|number| format!(" [{number}]")).collect();
    format!("{}{marks}", printable(&row.case.title))
}

fn columns(table: &Table, layout: Layout) -> Vec<Column<'static>> {
    let is_wide = layout == Layout::Wide;
    let plain = |cell: &dyn Fn(&Row) -> String| table.rows.iter().map(cell).collect::<Vec<String>>();
    let figures = |of: &dyn Fn(&Row) -> (Figure, &'static str)| {
        figure_cells(is_wide, &table.rows.iter().map(of).collect::<Vec<_>>())
    };
    let mut columns = vec![
        ("wall", figures(&|row| (row.wall.clone(), ""))),
        ("vs first", figures(&|row| (row.against_first.clone(), row.mark))),
    ];
    if table.is_compared() {
        columns.push(("tier", plain(&|row| row.tier.clone())));
    }
    if table.has_floor {
        columns.push(("above start", figures(&|row| (row.above_floor.clone(), ""))));
    }
    if layout != Layout::Slim {
        columns.push(("CPU", plain(&|row| row.cpu.clone())));
        columns.push(("MiB", plain(&|row| row.memory_mib.clone())));
        columns.extend(table.has_floor.then(|| ("start", plain(&|row| row.floor.clone()))));
    }
    columns.push(("runs", plain(&|row| row.runs.clone())));
    columns
}
