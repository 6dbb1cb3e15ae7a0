//! Problems of a study or another file, each with its line and a caret.

use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tolok_model::Problem;

/// Renders all problems of a file, one below the other, and their number.
pub fn render(path: &Path, text: &str, problems: &[Problem]) -> String {
    let name = path.display().to_string();
    let renderer = Renderer::styled();
    let mut rendered: Vec<String> = problems.iter().map(|problem| one(&renderer, &name, text, problem)).collect();
    let count = problems.len();
    rendered.push(format!("error: {name} has {count} problem{}", if count == 1 { "" } else { "s" }));
    rendered.join("\n\n")
}

fn one(renderer: &Renderer, name: &str, text: &str, problem: &Problem) -> String {
    let start = problem.span.start.min(text.len());
    let end = problem.span.end.clamp(start, text.len());
    let snippet = Snippet::source(text).path(name).annotation(AnnotationKind::Primary.span(start..end));
    let mut group: Group<'_> = Level::ERROR.primary_title(problem.message.clone()).element(snippet);
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.clone()));
    }
    renderer.render(&[group])
}
