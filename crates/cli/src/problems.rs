//! Renders problems of a study or another file, each with its line and a caret.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tolok_model::Problem;
use tolok_model::secrets::{masked, masked_in_place};
use tolok_model::shown::{quotable, visible};

/// Most problems to show. More are usually one problem, repeated.
const MOST_SHOWN: usize = 50;
/// The most bytes of a file to show for one problem, and the bytes around the problem if its lines are longer.
const MOST_BYTES: usize = 2_000;
const AROUND_BYTES: usize = 80;
/// Extensions of files that tolok reads. It shows no lines of any other file, which may contain passwords.
const OWN: [&str; 8] = ["toml", "csv", "tsv", "jsonl", "md", "markdown", "html", "htm"];

/// Renders the problems of a file, one below the other, with their number.
pub fn render(path: &Path, text: &str, problems: &[Problem]) -> String {
    let name = visible(&path.display().to_string()).into_owned();
    let renderer = Renderer::styled();
    let is_own = path.extension().is_some_and(|ending| OWN.iter().any(|own| ending.eq_ignore_ascii_case(own)));
    let is_input = path.extension().is_none() && !path.exists();
    let mut rendered: Vec<String> = Vec::new();
    for problem in problems.iter().take(MOST_SHOWN) {
        rendered.push(if is_own || is_input {
            one(&renderer, &name, text, problem)
        } else {
            let line = text[..text.floor_char_boundary(problem.span.start)].lines().count().max(1);
            format!("error: {name}:{line}: it is no TOML")
        });
    }
    let count = problems.len();
    if count > MOST_SHOWN {
        rendered.push(format!("… and {} more", count - MOST_SHOWN));
    }
    rendered.push(format!("error: {name} has {count} problem{}", if count == 1 { "" } else { "s" }));
    rendered.join("\n\n")
}

fn one(renderer: &Renderer, name: &str, text: &str, problem: &Problem) -> String {
    let Shown { line, source, span } = Shown::of(text, problem.span.start..problem.span.end);
    let snippet = Snippet::source(source).path(name).line_start(line).annotation(AnnotationKind::Primary.span(span));
    let title = quotable(&masked(&problem.message));
    let mut group: Group<'_> = Level::ERROR.primary_title(title).element(snippet);
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(quotable(&masked(help))));
    }
    renderer.render(&[group])
}

/// The excerpt of a file around a problem: short, without passwords and control characters.
struct Shown {
    /// The number of its first line.
    line: usize,
    source: String,
    /// The problem, in `source`.
    span: Range<usize>,
}

impl Shown {
    fn of(text: &str, span: Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[end..].find('\n').map_or(text.len(), |at| end + at);
        let (before, within, after) = if to - from <= MOST_BYTES {
            (from, end, to)
        } else {
            let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
            let within = text.floor_char_boundary(end.min(start + AROUND_BYTES).min(line_end));
            (
                from.max(text.floor_char_boundary(start.saturating_sub(AROUND_BYTES))),
                within,
                text.floor_char_boundary((within + AROUND_BYTES).min(line_end)),
            )
        };
        // Masking needs whole words to find passwords.
        let (first, last) = (before.max(from), after);
        let masked = masked_in_place(&text[first..last]);
        let [a, b] = [start - first, within - first];
        let parts = [&masked[..a], &masked[a..b], &masked[b..]].map(|part| visible(part).into_owned());
        let span = parts[0].len()..parts[0].len() + parts[1].len();
        Self { line: text[..first].matches('\n').count() + 1, source: parts.concat(), span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str, span: Range<usize>) -> String {
        let problem = Problem { span, message: "wrong".to_owned(), help: None };
        anstream::adapter::strip_str(&render(Path::new(path), text, &[problem])).to_string()
    }

    #[test]
    fn a_password_is_never_shown() {
        let text = "[database]\ndsn = \"mysq://me:s3cret@db/shop\"\n";
        let said = shown("a.toml", text, 17..43);
        assert!(said.contains("2 | dsn = \"mysq://me:******@db/shop\""), "{said}");
    }

    #[test]
    fn a_file_that_is_none_of_tolok_is_not_shown() {
        let said = shown("/etc/shadow", "root:$6$hash:19000::\n", 0..4);
        assert_eq!(said, "error: /etc/shadow:1: it is no TOML\n\nerror: /etc/shadow has 1 problem");
    }

    #[test]
    fn of_a_long_line_only_what_is_around_the_problem_is_shown() {
        let text = format!("a = 1\nb = \"{}\u{1b}[31mü{}\"\n", "x".repeat(500_000), "y".repeat(500_000));
        let place = text.find('\u{1b}').unwrap();
        let said = shown("a.toml", &text, place..place + 5);
        assert!(said.len() < 1_000 && said.contains("xx␛[31mü") && said.contains("2 |"), "{said}");
    }

    #[test]
    fn of_many_problems_the_first_are_shown() {
        let problem = Problem { span: 0..1, message: "x".repeat(9_999), help: None };
        let said = render(Path::new("a.toml"), "a", &vec![problem; 100_000]);
        assert!(said.contains("… and 99950 more") && said.len() < 100_000, "{}", said.len());
    }
}
