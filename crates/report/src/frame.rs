//! What the page gets once all its sections are written: a table of contents, and word of what is not on paper.
//!
//! Sections have their own templates, and whether there is one is decided there. So their headings are read from the page.

/// Stands in the template where the table of contents goes.
const CONTENTS: &str = "<!-- contents -->";
/// What is folded away and has more rows than this is left out on paper.
const MOST_ROWS_ON_PAPER: usize = 12;

/// A page with its table of contents, and with marks on what is too long for paper.
pub(crate) fn finish(page: String) -> String {
    long_details(&with_contents(&page))
}

/// A page with its table of contents.
pub(crate) fn with_contents(page: &str) -> String {
    page.replacen(CONTENTS, &contents(page), 1)
}

/// Links to all headings of sections, in their order.
fn contents(page: &str) -> String {
    let link = |part: &str| {
        let (id, rest) = part.split_once("\">")?;
        // What stands behind the words of a heading is a mark, not a part of its name.
        let name = rest.split('<').next()?.trim();
        Some(format!("<li><a href=\"#{id}\">{name}</a></li>\n"))
    };
    let links: String = page.split("<h2 id=\"").skip(1).filter_map(link).collect();
    if links.is_empty() {
        return links;
    }
    format!("<nav class=\"contents\" aria-label=\"On this page\">\n<ul>\n{links}</ul>\n</nav>")
}

/// Marks each folded part with too many rows, and says behind it where they stand.
fn long_details(page: &str) -> String {
    const START: &str = "<details>";
    const END: &str = "</details>";
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(START) {
        text += before;
        let Some((inner, behind)) = after.split_once(END) else {
            rest = after;
            text += START;
            continue;
        };
        // The head of a table is a row as well, and none that anybody misses.
        let rows = inner.matches("<tr").count().saturating_sub(inner.matches("<thead").count());
        if rows > MOST_ROWS_ON_PAPER {
            text += &format!(
                "<details class=\"long\">{inner}{END}\n<p class=\"note on-paper\">These {rows} rows are left out on paper: they \
                 stand in report.html and report.json in the run’s folder.</p>"
            );
        } else {
            text += &format!("{START}{inner}{END}");
        }
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_the_headings_of_the_page() {
        let page =
            "<!-- contents -->\n<h2 id=\"limits\">What limits</h2>\n<h2 id=\"diagnosis\">Diagnosis <span>x</span></h2>";
        let found = contents(page);
        assert!(found.contains("<li><a href=\"#limits\">What limits</a></li>"));
        assert!(found.contains("<li><a href=\"#diagnosis\">Diagnosis</a></li>"));
        assert_eq!(contents("no heading"), "");
    }

    #[test]
    fn what_is_long_and_folded_is_named_on_paper() {
        let folded = |rows: usize| format!("a<details>\n<table>{}</table></details>z", "<tr></tr>".repeat(rows));
        assert_eq!(long_details(&folded(12)), folded(12));
        let long = long_details(&folded(13));
        assert!(long.starts_with("a<details class=\"long\">") && long.ends_with("</p>z"), "{long}");
        assert!(long.contains("These 13 rows are left out on paper"));
    }

    #[test]
    fn what_is_not_closed_is_left_alone() {
        assert_eq!(long_details("a<details>b"), "a<details>b");
    }
}
