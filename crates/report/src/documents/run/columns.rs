//! Tables of subjects, without empty columns.

use tolok_analysis::figures::{Figure, NONE};
use tolok_analysis::{CaseFinding, ScenarioFinding};

use crate::document::{Block, Cell, Column, Look, Row, Table, Text};

/// A column: its heading, and its cell for a row.
pub(crate) type Filled<T> = (&'static str, fn(&T) -> Option<String>);

/// The competing cases of a scenario and then its ceiling, each with whether it is the ceiling.
pub(crate) fn with_ceiling(scenario: &ScenarioFinding) -> impl Iterator<Item = (&CaseFinding, bool)> {
    let competing = scenario.cases.iter().map(|case| (case, false));
    competing.chain(scenario.ceiling.iter().map(|case| (case, true)))
}

/// A row with the name of its subject and no figures yet.
pub(crate) fn named(title: &str, runtime: &str, is_ceiling: bool) -> Row {
    let name = match is_ceiling {
        true => Text::of("ceiling:", Look::Emphasis).and(format!(" {title}"), Look::Plain),
        false => title.into(),
    };
    let look = if is_ceiling { Look::Muted } else { Look::Plain };
    Row { runtime: Some(runtime.to_owned()), look, cells: vec![name.into()] }
}

/// A column, and its cell for the object of a row.
pub(crate) type Of<C> = (Column, fn(&C) -> Cell);

/// A table of named rows and their objects: each row gets a cell for each column after its name.
pub(crate) fn of_rows<C>(
    caption: impl Into<String>,
    columns: Vec<Of<C>>,
    rows: impl Iterator<Item = (Row, C)>,
) -> Table {
    let (headings, cells): (Vec<Column>, Vec<_>) = columns.into_iter().unzip();
    let whole = |(mut row, of): (Row, C)| {
        row.cells.extend(cells.iter().map(|cell| cell(&of)));
        row
    };
    let columns = std::iter::once(Column::words("subject")).chain(headings).collect();
    Table::of(caption, columns, rows.map(whole).collect())
}

/// Priority of a column by position: if there is little room, the last columns are dropped first.
pub(crate) fn falling(place: usize) -> u8 {
    Column::ALWAYS - 1 - u8::try_from(place).unwrap_or(u8::MAX - 2).min(u8::MAX - 3)
}

/// A value and its interval.
pub(crate) fn cell(figure: Figure) -> Cell {
    Cell { interval: figure.interval, ..figure.value.into() }
}

/// A table of a scenario's cases, or `None` if no case has any of these figures.
pub(crate) fn of_cases(title: &str, scenario: &ScenarioFinding, columns: &[Filled<CaseFinding>]) -> Option<Block> {
    let rows = with_ceiling(scenario).map(|(case, is_ceiling)| (named(&case.title, &case.runtime, is_ceiling), case));
    filled(title, &scenario.id, rows.collect(), columns)
}

/// A table of any kind of rows about something, or `None` if it has no figures.
pub(crate) fn filled<T>(title: &str, about: &str, rows: Vec<(Row, &T)>, columns: &[Filled<T>]) -> Option<Block> {
    let has_any = |(_, cell): &&Filled<T>| rows.iter().any(|(_, of)| cell(of).is_some());
    let shown: Vec<&Filled<T>> = columns.iter().filter(has_any).collect();
    if shown.is_empty() {
        return None;
    }
    let headings = shown.iter().map(|(heading, _)| Column::numbers(*heading));
    let columns = std::iter::once(Column::words("subject")).chain(headings).collect();
    let whole = |(mut row, of): (Row, &T)| {
        row.cells.extend(shown.iter().map(|(_, cell)| Cell::from(cell(of).unwrap_or_else(|| NONE.to_owned()))));
        row
    };
    let rows = rows.into_iter().map(whole).collect();
    Some(Block::Table(Table { caption: format!("{title}, {about}"), title: title.to_owned(), columns, rows }))
}
