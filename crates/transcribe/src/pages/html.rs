//! Tables of HTML. A nested table is part of its cell's text.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use super::{PageRow, PageTable, on_one_line};

/// The most columns or rows that a cell may span, as in browsers.
const MOST_SPANNED: usize = 1_000;

pub(super) fn tables(text: &str) -> Vec<PageTable> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut reader = Reader { text, ..Reader::default() };
    for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
        match token {
            Token::StartTag(tag) => reader.start(&tag),
            Token::EndTag(tag) => reader.end(&tag.name),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text.value)),
            _ => {}
        }
    }
    reader.tables
}

/// The cell being read.
#[derive(Default)]
struct Cell {
    text: String,
    columns: usize,
    rows: usize,
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    tables: Vec<PageTable>,
    /// The number of open tables.
    depth: usize,
    /// The rows of the outermost table.
    rows: Vec<PageRow>,
    row: Option<PageRow>,
    cell: Option<Cell>,
    /// Cells that span following rows: for each column, the text and the number of rows left.
    below: Vec<(String, usize)>,
    /// The open element whose text is invisible, if any.
    hidden: Option<Vec<u8>>,
}

impl Reader<'_> {
    fn start(&mut self, tag: &StartTag<usize>) {
        match tag.name.as_slice() {
            b"table" => {
                self.depth += 1;
                if self.depth == 1 {
                    self.rows.clear();
                    self.below.clear();
                }
            }
            b"tr" if self.depth == 1 => {
                self.end_row();
                let line = self.text[..tag.span.start.min(self.text.len())].matches('\n').count() + 1;
                self.row = Some(PageRow { cells: Vec::new(), line });
            }
            b"td" | b"th" if self.depth == 1 && self.row.is_some() => {
                self.end_cell();
                let span = |name: &[u8]| {
                    let value = tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned());
                    value.and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, MOST_SPANNED)
                };
                self.cell = Some(Cell { text: String::new(), columns: span(b"colspan"), rows: span(b"rowspan") });
            }
            b"script" | b"style" => self.hidden = Some(tag.name.to_vec()),
            // Elements separate words, except inline elements.
            b"b" | b"i" | b"em" | b"strong" | b"a" | b"code" | b"span" | b"sup" | b"sub" => {}
            _ => self.text(" "),
        }
    }

    fn end(&mut self, name: &[u8]) {
        match name {
            b"table" if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end_table();
                }
            }
            b"tr" | b"thead" | b"tbody" | b"tfoot" if self.depth == 1 => self.end_row(),
            b"td" | b"th" if self.depth == 1 => self.end_cell(),
            _ if self.hidden.as_deref() == Some(name) => self.hidden = None,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_none()
            && let Some(cell) = &mut self.cell
        {
            cell.text.push_str(text);
        }
    }

    fn end_cell(&mut self) {
        let Some(Cell { text, columns, rows }) = self.cell.take() else { return };
        self.fill();
        let Some(row) = &mut self.row else { return };
        let text = on_one_line(&text);
        for _ in 0..columns {
            let at = row.cells.len();
            row.cells.push(text.clone());
            if rows > 1 {
                self.below.resize(self.below.len().max(at + 1), (String::new(), 0));
                self.below[at] = (text.clone(), rows);
            }
        }
    }

    /// Adds the cells that span down into this row, up to its next own cell.
    fn fill(&mut self) {
        let Some(row) = &mut self.row else { return };
        while let Some((text, _)) = self.below.get(row.cells.len()).filter(|(_, rows)| *rows > 0) {
            row.cells.push(text.clone());
        }
    }

    fn end_row(&mut self) {
        if self.row.is_none() {
            return;
        }
        self.end_cell();
        self.fill();
        self.below.iter_mut().for_each(|(_, rows)| *rows = rows.saturating_sub(1));
        self.rows.extend(self.row.take().filter(|row| !row.cells.is_empty()));
    }

    fn end_table(&mut self) {
        self.end_row();
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        let Some(PageRow { cells: header, line }) = rows.next() else { return };
        let rows: Vec<PageRow> = rows.collect();
        if !rows.is_empty() {
            self.tables.push(PageTable { header, line, rows });
        }
    }
}
