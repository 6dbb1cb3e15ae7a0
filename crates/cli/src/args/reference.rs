//! Generates docs/reference/cli.md from the command's own description, which keeps the page up to date.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Arg, Command};

use super::command::visible;
use super::topics::Topic;

const HOW: &str = "TOLOK_WRITE_REFERENCE=1 cargo test -p tolok-model -p tolok-cli reference";

/// Lists of values longer than this are explained once.
const LONG: usize = 150;

/// Maps rows of arguments and lists of values to the verb that explains each.
type Explained = BTreeMap<String, String>;

/// The whole page.
fn page() -> String {
    let mut whole = visible();
    whole.build();
    let mut text =
        "# The command line\n\n<!-- Generated, as CONTRIBUTING.md says -->\n\n\
         The verbs and options of tolok. `--color auto|always|never` (default `auto`, which obeys the terminal, `NO_COLOR` \
         and `CLICOLOR_FORCE`) and `-h`, `--help` go with every verb.\n"
        .to_owned();
    let mut explained = Explained::new();
    whole.get_subcommands().for_each(|verb| section(&mut text, verb, "tolok", &mut explained));
    // docs/formats.md and the other pages describe the files.
    for topic in [Topic::ExitCodes, Topic::Environment] {
        let _ = writeln!(text, "\n## {}\n", topic.title());
        for (name, words) in topic.entries() {
            let _ = writeln!(text, "- `{name}`: {words}");
        }
    }
    text
}

/// Writes a verb, then its own verbs.
fn section(text: &mut String, verb: &Command, above: &str, explained: &mut Explained) {
    let name = format!("{above} {}", verb.get_name());
    let about = verb.get_long_about().or(verb.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace(" [OPTIONS]", "");
    let _ = writeln!(text, "\n## {name}\n\n{}", sentences(&about));
    // Without a positional argument, the usage would only repeat the name.
    if usage != name {
        let _ = writeln!(text, "\n`{usage}`");
    }
    let (new, repeated): (Vec<&Arg>, Vec<&Arg>) = verb
        .get_arguments()
        .filter(|arg| is_own(arg))
        .partition(|arg| !explained.contains_key(&row(arg, &Explained::new())));
    let (arguments, options): (Vec<&Arg>, Vec<&Arg>) = new.into_iter().partition(|arg| arg.is_positional());
    for group in [arguments, options] {
        list(text, group.iter().map(|arg| row(arg, explained)));
        for arg in group {
            explained.insert(row(arg, &Explained::new()), name.clone());
            explained.entry(values(arg)).or_insert_with(|| name.clone());
        }
    }
    refer(text, &repeated, explained);
    verb.get_subcommands().for_each(|below| section(text, below, &name, explained));
}

/// Whether an argument is not one of those that every verb has.
fn is_own(arg: &Arg) -> bool {
    !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version" | "color")
}

fn list(text: &mut String, rows: impl ExactSizeIterator<Item = String>) {
    if rows.len() > 0 {
        text.push('\n');
        rows.for_each(|row| text.push_str(&row));
    }
}

/// An argument as one row. It does not repeat values that an earlier verb explains.
fn row(arg: &Arg, explained: &Explained) -> String {
    let (default, meaning) = default_and_meaning(arg);
    let default = match default.as_str() {
        "" => String::new(),
        "required" => " Required.".to_owned(),
        default => format!(" Default: {default}."),
    };
    let values = match (values(arg), explained.get(&values(arg))) {
        (own, Some(verb)) if own.len() > LONG => format!(" Values: as for {}.", link(verb)),
        (own, _) => own,
    };
    let meaning = meaning + &values;
    // Help that ends in brackets has no full stop, but a sentence after it needs one.
    let stop = if default.is_empty() || meaning.ends_with(['.', '?', ':']) { "" } else { "." };
    format!("- {}: {meaning}{stop}{default}\n", spelling(arg)).replace("\n\n", " ")
}

/// Lists the arguments that other verbs explain, with links to those verbs.
fn refer(text: &mut String, repeated: &[&Arg], explained: &Explained) {
    let mut by_verb: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for arg in repeated {
        let name = arg.get_long().map_or_else(|| spelling(arg), |long| format!("`--{long}`"));
        by_verb.entry(&explained[&row(arg, &Explained::new())]).or_default().push(name);
    }
    for (verb, arguments) in by_verb {
        let _ = writeln!(text, "\nAs for {}: {}.", link(verb), arguments.join(", "));
    }
}

fn link(verb: &str) -> String {
    format!("[{}](#{})", verb.trim_start_matches("tolok "), verb.replace(' ', "-"))
}

/// `-o`, `--output FILE`.
fn spelling(arg: &Arg) -> String {
    let value = arg.get_value_names().unwrap_or_default().iter().map(|name| format!(" {name}")).collect::<String>();
    let value = if arg.get_action().takes_values() { value } else { String::new() };
    if arg.is_positional() {
        return format!("`{}`", value.trim());
    }
    let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    format!("{short}`--{}{value}`", arg.get_long().unwrap_or_default())
}

/// The default, from clap or from the brackets in the help, and the help without it.
fn default_and_meaning(arg: &Arg) -> (String, String) {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = sentences(&help);
    let known: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let known = if arg.get_action().takes_values() { known } else { Vec::new() };
    if let Some((before, rest)) = help.split_once("[default: ")
        && let Some((default, after)) = rest.split_once(']')
    {
        let default = if known.is_empty() { default.to_owned() } else { known.join(", ") };
        let meaning = format!("{}{after}", before.trim_end());
        return (default, sentences(&meaning));
    }
    let none = if arg.is_required_set() { "required" } else { "" };
    (if known.is_empty() { none.to_owned() } else { known.join(", ") }, help)
}

/// The possible values, with what each means.
fn values(arg: &Arg) -> String {
    let values = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    let is_switch = !arg.get_action().takes_values();
    let named: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set() && !is_switch)
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}`: {help}", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if named.is_empty() { String::new() } else { format!(" {}.", named.join("; ")) }
}

/// Joins the text into one paragraph that ends with a full stop.
fn sentences(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let ended = paragraphs.filter(|paragraph| !paragraph.is_empty()).map(|paragraph| {
        let is_ended = paragraph.ends_with(['.', ':', '?', ')']) && !paragraph.ends_with(" )");
        if is_ended { paragraph } else { paragraph + "." }
    });
    ended.collect::<Vec<_>>().join(" ")
}

#[test]
fn reference_of_the_command_line_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    let generated = page();
    if std::env::var_os("TOLOK_WRITE_REFERENCE").is_some() {
        std::fs::write(file, generated).unwrap();
        return;
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(written == generated, "docs/reference/cli.md is out of date; regenerate it with\n{HOW}");
}
