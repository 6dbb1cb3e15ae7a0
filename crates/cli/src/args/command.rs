//! The command as clap knows it, with what its derive cannot say: verbs in groups, and the words of `tolok help`.

use std::ffi::OsString;
use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};

use super::Args;
use super::topics::{Topic, exit_codes_in_short, wrapped};

/// Columns of the help at most; long lines are hard to read.
const WIDEST: usize = 100;

/// The verbs in the order in which somebody meets them. A test sees to it that each has its place.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Begin", &["quick", "doctor", "setup", "list"]),
    ("Measure", &["duel", "plan", "run", "resume", "replicate", "load", "fidelity"]),
    ("Read", &["report", "compare", "forecast", "verify", "serve", "audit"]),
    ("Write your own", &["new", "check"]),
    ("The command itself", &["help", "completions", "man"]),
];

/// Reads what was typed.
pub fn parse() -> Result<Args, clap::Error> {
    parse_from(std::env::args_os())
}

/// Reads a command line, the program's name first.
pub fn parse_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Args, clap::Error> {
    let words = understood(words.into_iter().map(Into::into).collect());
    let matches = command().try_get_matches_from(words).map_err(without_misleading_tip)?;
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// `--json` is what other tools call `--format json`.
fn understood(mut words: Vec<OsString>) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let Some(place) = words[..end].iter().position(|word| word == "--json") else { return words };
    let whole = command();
    let verb = words[1..end].iter().find_map(|word| whole.find_subcommand(word.to_str()?));
    let format = verb.and_then(|verb| verb.get_arguments().find(|argument| argument.get_id() == "format"));
    if format.is_some_and(|format| format.get_possible_values().iter().any(|value| value.get_name() == "json")) {
        words[place] = "--format=json".into();
    }
    words
}

/// Of an option that a verb does not have, clap says how to pass it as a value, which nobody means.
fn without_misleading_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
        let tip = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(word)) if word == "--yes" || word == "-y" => "this verb asks nothing",
            Some(ContextValue::String(word)) if word == "--open" => "to open a report: tolok report --open",
            _ => return error,
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The whole command, hidden verbs included.
pub fn command() -> Command {
    let command = Args::command();
    let words: Vec<String> = help_words(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        overview(&command)
    );
    command.help_template(template).after_help(exit_codes_in_short()).mut_subcommand("help", |help| {
        help.mut_arg("about", |about| about.value_parser(PossibleValuesParser::new(words)))
    })
}

/// The command without its hidden verbs, which are no business of a person: for completions, manual pages and the reference.
pub fn visible() -> Command {
    let whole = command();
    let verbs: Vec<Command> = visible_verbs(&whole).cloned().collect();
    let shown = Command::new("tolok").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let shown = match whole.get_about() {
        Some(about) => shown.about(about.clone()),
        None => shown,
    };
    shown.args(whole.get_arguments().cloned()).subcommand_required(true).subcommands(verbs)
}

fn visible_verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

/// What can be asked for behind `tolok help`: verbs and topics.
fn help_words(command: &Command) -> Vec<String> {
    let verbs = visible_verbs(command).map(|verb| verb.get_name().to_owned());
    verbs.chain(Topic::ALL.map(|topic| topic.word().to_owned())).collect()
}

/// All verbs, in groups, each with what it does.
fn overview(command: &Command) -> String {
    let names = visible_verbs(command).map(|verb| verb.get_name().len()).max().unwrap_or_default();
    let width = usize::from(crate::output::width()).min(WIDEST) - names - 4;
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for verb in verbs.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let lines = wrapped(&about, width);
            let _ = writeln!(text, "  {:names$}  {}", verb.get_name(), lines[0]);
            for line in lines.iter().skip(1) {
                let _ = writeln!(text, "  {:names$}  {line}", "");
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_that_people_see_stands_in_one_group() {
        let command = command();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        for verb in visible_verbs(&command) {
            let times = grouped.iter().filter(|name| **name == verb.get_name()).count();
            assert_eq!(times, 1, "`{}` stands in {times} of the groups of args/command.rs", verb.get_name());
        }
    }

    #[test]
    fn the_help_of_every_verb_fits_into_100_columns() {
        let mut command = command();
        assert!(command.render_long_help().to_string().lines().all(|line| line.chars().count() <= WIDEST));
        for verb in visible_verbs(&command).cloned().collect::<Vec<_>>() {
            let help = verb.clone().term_width(WIDEST).render_long_help().to_string();
            let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > WIDEST).collect();
            assert!(wide.is_empty(), "{}: {wide:?}", verb.get_name());
        }
    }

    #[test]
    fn json_is_understood_where_a_verb_has_it() {
        let words =
            |line: &str| understood(line.split(' ').map(OsString::from).collect()).join(std::ffi::OsStr::new(" "));
        assert_eq!(words("tolok report latest --json"), "tolok report latest --format=json");
        assert_eq!(words("tolok serve --json"), "tolok serve --json");
        assert_eq!(words("tolok run core -- --json"), "tolok run core -- --json");
        assert!(parse_from(["tolok", "doctor", "--json"]).is_ok());
    }

    #[test]
    fn an_option_that_a_verb_lacks_has_no_misleading_tip() {
        let said = |line: &str| parse_from(line.split(' ')).unwrap_err().to_string();
        assert!(said("tolok run core --yes").contains("this verb asks nothing"), "{}", said("tolok run core --yes"));
        assert!(said("tolok run core --open").contains("tolok report --open"));
        assert!(!said("tolok run core --nonsense").contains("as a value"));
    }

    #[test]
    fn clap_finds_nothing_wrong_with_the_command() {
        command().debug_assert();
        visible().debug_assert();
    }
}
