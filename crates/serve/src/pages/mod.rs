//! The pages. Each is rendered completely and is readable without a script.

mod at_work;
mod compare;
mod history;
pub(crate) mod list;
mod metrics;
mod overlay;
mod refusal;
mod run;
mod standing;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use tolok_report::Format;

pub use compare::{compare, in_order};
pub use history::history;
pub use list::{Asked, PATIENCE, list};
pub use metrics::metrics;
pub use overlay::overlay;
pub use refusal::Refusal;
pub use run::{live, run};

/// The templates by name. The extension of a name enables escaping.
const TEMPLATES: [(&str, &str); 9] = [
    ("page.html", include_str!("../../templates/page.html")),
    ("list.html", include_str!("../../templates/list.html")),
    ("run.html", include_str!("../../templates/run.html")),
    ("live.html", include_str!("../../templates/live.html")),
    ("at-work.html", include_str!("../../templates/at-work.html")),
    ("compare.html", include_str!("../../templates/compare.html")),
    ("history.html", include_str!("../../templates/history.html")),
    ("overlay.html", include_str!("../../templates/overlay.html")),
    ("refusal.html", include_str!("../../templates/refusal.html")),
];

/// The formats in which a report can be downloaded: all except the terminal's, which has its own command.
pub fn downloads() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Terminal)
}

/// Renders a page from its template.
fn page(name: &str, values: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters are sound"));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the template is part of the program, and tests render it");
    }
    let template = environment.get_template(name).expect("it was added above");
    template.render(Serde(values)).expect("the page has every name that the template reads, as tests show")
}

/// Percent-encodes a name for a URL.
pub fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

/// The URL of a run.
fn address(id: &str) -> String {
    format!("/runs/{}/", encoded(id))
}

/// The remaining time: `45 s`, `2 min 10 s`, `1 h 5 min`.
fn time_left(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_own_page_whatever_is_in_it() {
        assert_eq!(address("2026-11-21-quick_7.f"), "/runs/2026-11-21-quick_7.f/");
        assert_eq!(address("a b/ä?#%\"<"), "/runs/a%20b%2F%C3%A4%3F%23%25%22%3C/");
    }

    #[test]
    fn time_is_told_in_two_units_at_most() {
        assert_eq!([0.4, 45.0, 130.4, 3_900.0].map(time_left), ["0 s", "45 s", "2 min 10 s", "1 h 5 min"]);
    }
}
