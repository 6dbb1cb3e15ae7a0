//! Tables of saved pages: Markdown and HTML.

mod html;
mod markdown;
mod reading;

pub use reading::{from_transcription, read_page_table};

/// A table of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageTable {
    pub header: Vec<String>,
    /// Line of the header, from 1.
    pub line: usize,
    pub rows: Vec<PageRow>,
}

/// A row of a table, below its header.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageRow {
    pub cells: Vec<String>,
    /// Line of the page where it begins, from 1.
    pub line: usize,
}

/// The tables of a page, in order: those of Markdown, which may contain HTML, or of HTML.
pub fn page_tables(text: &str) -> Vec<PageTable> {
    let is_html = text.to_ascii_lowercase().contains("<table");
    let mut tables = if is_html { html::tables(text) } else { Vec::new() };
    tables.extend(markdown::tables(text));
    tables.sort_by_key(|table| table.line);
    tables
}

/// Joins words with single blanks.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let tables = page_tables(text).into_iter().map(|table| {
            let rows = table.rows.iter().map(|row| format!("{}: {}\n", row.line, row.cells.join(" | ")));
            format!("{}: {}\n{}", table.line, table.header.join(" | "), rows.collect::<String>())
        });
        tables.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn markdown_tables_are_found_among_text_and_code() {
        let text = "# Results\n\nA | b\n\n| Server | `Req/s` | [p99](x.html) |\n|:--|--:|---|\n| **Go** | 1,234.50 | 5\\|6 |\n| Bun | 2 |\n\n\
                    ```\n| not | a |\n|--|--|\n| table | 1 |\n```\n\nServer | ms\n--- | ---\nphp<br>fpm | 7\n";
        let expected =
            "5: Server | Req/s | p99\n7: Go | 1,234.50 | 5|6\n8: Bun | 2 | \n\n16: Server | ms\n18: php fpm | 7\n";
        assert_eq!(told(text), expected);
    }

    #[test]
    fn html_tables_are_read_as_browsers_show_them() {
        let text = "<!doctype html><p>Hi<table class=x>\n<caption>no cell</caption>\n<thead><tr><th>Server<th colspan=2>Req&#47;s</thead>\n\
                    <tbody>\n<tr><td rowspan='2'>Go<script>x<y</script></td><td>1 &lt; 2</td><td>3</td></tr>\n\
                    <tr><td><b>4</b>\n k</td><td>5\n</table>\n<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>";
        let expected = "3: Server | Req/s | Req/s\n5: Go | 1 < 2 | 3\n6: Go | 4 k | 5\n\n9: a | b\n9: 1 | 2\n";
        assert_eq!(told(text), expected);
    }

    #[test]
    fn a_page_without_a_table_has_none() {
        for text in ["", "a | b", "| a |\n", "<table>", "<table><tr></table>", "--|--\n|--|--|"] {
            assert_eq!(told(text), "", "{text}");
        }
    }
}
