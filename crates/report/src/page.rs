//! What a page needs that shows findings beside something else: the looks of the reports, and pieces of HTML in them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

/// The style sheet of the reports: their colours in light and dark, tables, charts.
pub fn style() -> &'static str {
    crate::svg::palette::STYLE
}

/// The marker of a runtime, as a small drawing that repeats what the text beside it says.
pub fn marker(runtime: &str) -> String {
    crate::svg::palette::marker(runtime)
}

/// A piece of HTML from a template that is a part of the program. Its name ends in `.html`, which turns escaping on.
pub(crate) fn piece(name: &str, template: &str, values: &impl Serialize) -> String {
    let text = templates().render_named_str(name, template, Serde(values));
    text.expect("the template is part of the program, and tests render it")
}

/// What all templates are rendered by: no name may be missing, and what is for the program alone leaves no empty lines.
pub(crate) fn templates() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters are sound"));
    environment
}
