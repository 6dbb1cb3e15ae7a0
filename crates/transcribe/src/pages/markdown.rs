//! Markdown pipe tables: a header, a line of dashes, and rows up to the next empty line.

use super::{PageRow, PageTable, on_one_line};

pub(super) fn tables(text: &str) -> Vec<PageTable> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut tables = Vec::new();
    let mut is_code = false;
    let mut at = 0;
    while at < lines.len() {
        if lines[at].starts_with("```") || lines[at].starts_with("~~~") {
            is_code = !is_code;
        }
        let dashes = lines.get(at + 1).filter(|line| is_delimiter(line));
        let header = cells(lines[at]);
        if is_code || dashes.is_none_or(|dashes| cells(dashes).len() != header.len()) || is_delimiter(lines[at]) {
            at += 1;
            continue;
        }
        let rows = lines.iter().enumerate().skip(at + 2).take_while(|(_, line)| line.contains('|'));
        let rows: Vec<PageRow> = rows
            .map(|(at, line)| {
                let mut cells = cells(line);
                // Missing cells are empty.
                cells.resize(header.len().max(cells.len()), String::new());
                PageRow { cells, line: at + 1 }
            })
            .collect();
        let below = at + 2 + rows.len();
        if !rows.is_empty() {
            tables.push(PageTable { header, line: at + 1, rows });
        }
        at = below;
    }
    tables
}

/// `|:--|--:|`
fn is_delimiter(line: &str) -> bool {
    let is_dashes = |cell: &str| {
        let dashes = cell.trim().trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    line.contains('|') && without_ends(line).split('|').all(is_dashes)
}

fn without_ends(line: &str) -> &str {
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(line)
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut letters = without_ends(line).chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'|') => cells.last_mut().expect("there is one").extend(letters.next()),
            '|' => cells.push(String::new()),
            letter => cells.last_mut().expect("there is one").push(letter),
        }
    }
    cells.iter().map(|cell| plain(cell)).collect()
}

/// The text of a cell without bold, code, links and line breaks.
fn plain(cell: &str) -> String {
    let mut text = cell.replace("<br>", " ").replace("<br/>", " ").replace("<br />", " ");
    text.retain(|letter| letter != '*' && letter != '`');
    while let Some((before, rest)) = text.split_once('[') {
        let Some((label, rest)) = rest.split_once("](") else { break };
        let Some((_, after)) = rest.split_once(')') else { break };
        text = format!("{}{label}{after}", before.trim_end_matches('!'));
    }
    on_one_line(&text)
}
