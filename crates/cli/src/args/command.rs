//! The clap command, with what derive cannot express: verbs in groups, and the words of `tolok help`.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};

use tolok_model::wording::closest;

use super::Args;
use super::documents;
use super::topics::{Topic, exit_codes_in_short, wrapped};

/// Maximum width of the help; long lines are hard to read.
const WIDEST: usize = 100;

/// The verbs in the order in which a new user needs them. A test checks that each has its place.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Begin", &["quick", "doctor", "setup", "list"]),
    ("Measure", &["duel", "plan", "run", "resume", "replicate", "load", "fidelity", "pool"]),
    ("Read", &["report", "compare", "forecast", "verify", "serve", "audit"]),
    ("Write your own", &["new", "check"]),
    ("The command itself", &["help", "completions", "man"]),
];

/// File name endings and their formats.
const ENDINGS: [(&str, &str); 10] = [
    ("txt", "text"),
    ("json", "json"),
    ("jsonl", "jsonl"),
    ("md", "md"),
    ("csv", "csv"),
    ("tex", "tex"),
    ("html", "html"),
    ("svg", "svg"),
    ("svg", "badge"),
    ("xml", "junit"),
];

/// Parses the command line of this process.
pub fn parse() -> Result<Args, clap::Error> {
    parse_from(std::env::args_os())
}

/// Parses a command line, the program's name first.
pub fn parse_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Args, clap::Error> {
    let mut words = understood(words.into_iter().map(Into::into).collect());
    let read = |words: &[OsString]| command().try_get_matches_from(words).map_err(|e| with_fitting_tip(e, words));
    let mut matches = read(&words)?;
    let of_ending = format_of_ending(&matches).map_err(|why| command().error(ErrorKind::ValueValidation, why))?;
    if let Some((verb, format)) = of_ending
        && let Some(place) = words.iter().position(|word| *word == *verb)
    {
        words.insert(place + 1, format!("--format={format}").into());
        matches = read(&words)?;
    }
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// Replaces `--json`, which other tools have, by `--format json`.
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

/// The verb, and the format that the ending of `--output` implies, if `--format` is not given. Returns an error if the
/// verb has no such format, because text in a file with another ending would mislead its readers.
fn format_of_ending(matches: &ArgMatches) -> Result<Option<(String, &'static str)>, String> {
    let Some((name, file, formats)) = output_of(matches) else { return Ok(None) };
    let Some(ending) = Path::new(&file).extension() else { return Ok(None) };
    let has = |format: &str| formats.iter().any(|known| known == format);
    match ENDINGS.iter().find(|(known, format)| ending == *known && has(format)) {
        Some((_, format)) => Ok(Some((name, format))),
        None => {
            let known = ENDINGS.iter().filter(|(_, format)| has(format)).map(|(ending, _)| format!(".{ending}"));
            let known = known.collect::<Vec<_>>().join(", ");
            let ending = ending.to_string_lossy();
            Err(format!(
                "--output: `tolok {name}` has no format with the ending .{ending}; known here: {known}. Or name one: --format"
            ))
        }
    }
}

/// The verb, the file of its result, and its formats. `None` if the user named the format, or the verb has only one.
fn output_of(matches: &ArgMatches) -> Option<(String, OsString, Vec<String>)> {
    let (name, given) = matches.subcommand()?;
    let whole = command();
    let verb = whole.find_subcommand(name)?;
    let argument = |id: &str| verb.get_arguments().find(|argument| argument.get_id() == id);
    let (format, _) = argument("format").zip(argument("output"))?;
    let is_open = given.value_source("format") == Some(ValueSource::DefaultValue);
    let file = given.get_raw("output")?.next().filter(|_| is_open)?;
    let formats = format.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    Some((name.to_owned(), file.to_owned(), formats))
}

/// The command that a command line most likely refers to.
fn meant<'a>(whole: &'a mut Command, words: &[OsString]) -> &'a mut Command {
    let verb = words.iter().skip(1).filter_map(|word| word.to_str()).find(|word| whole.find_subcommand(word).is_some());
    match verb.map(str::to_owned) {
        Some(verb) => whole.find_subcommand_mut(verb).expect("it was found"),
        None => whole,
    }
}

/// Replaces clap's tips where they mislead. For an unknown option, clap explains how to pass it as a value, which users do not want. For an
/// unknown verb, it gives no tip or names verbs that only look alike.
fn with_fitting_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let wrong = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    };
    let mut whole = command();
    whole.build();
    let mut command = meant(&mut whole, words);
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => match wrong(ContextKind::InvalidArg).as_str() {
            "--yes" | "-y" => Some("leave it out: this verb asks nothing".to_owned()),
            "--open" => Some("to open a report: tolok report --open".to_owned()),
            _ => None,
        },
        ErrorKind::InvalidSubcommand => {
            // Words after the wrong one are not verbs: in `tolok runn quick`, `runn` was meant as one.
            let wrong = wrong(ContextKind::InvalidSubcommand);
            let before = words.iter().position(|word| *word == *wrong).unwrap_or(words.len());
            command = meant(&mut whole, &words[..before]);
            Some(meant_verb(command, &wrong))
        }
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    // Without the given options: clap would show them as if they were required.
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    error
}

/// Words that users type to remove runs.
const REMOVING: [&str; 7] = ["clean", "delete", "gc", "prune", "purge", "remove", "rm"];

/// What other tools call our verbs.
const OTHER_NAMES: [(&str, &[&str]); 9] = [
    ("run", &["bench", "benchmark", "measure", "start", "test"]),
    ("list", &["ls"]),
    ("compare", &["diff"]),
    ("new", &["add", "create", "init"]),
    ("new audit", &["transcribe"]),
    ("report", &["open", "show", "view"]),
    ("setup", &["install"]),
    ("doctor", &["info", "status"]),
    ("--version", &["version"]),
];

/// A tip with the verb that a word most likely means.
fn meant_verb(command: &Command, word: &str) -> String {
    if word.contains("://") {
        return format!("to put load on a URL: tolok load {word}");
    }
    if word.ends_with(".toml") {
        return format!("to run a study: tolok run {word}");
    }
    if REMOVING.contains(&word) {
        return "no verb removes runs: delete their folders, which `tolok list runs` names".to_owned();
    }
    let verbs: Vec<&str> = visible_verbs(command).map(Command::get_name).collect();
    let other = OTHER_NAMES.iter().find(|(_, names)| command.get_name() == "tolok" && names.contains(&word));
    let name = command.get_bin_name().unwrap_or("tolok");
    match other.map(|(verb, _)| *verb).or_else(|| closest(word, &verbs)) {
        Some(verb) => format!("did you mean `{name} {verb}`?"),
        None => format!("`{name} --help` lists what there is"),
    }
}

/// The whole command, hidden verbs included.
pub fn command() -> Command {
    let command = taking_negative_numbers(Args::command());
    let words: Vec<String> = help_words(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        overview(&command)
    );
    command.help_template(template).after_help(exit_codes_in_short()).mut_subcommand("help", |help| {
        help.mut_arg("about", |about| about.value_parser(PossibleValuesParser::new(words)))
    })
}

/// Makes `-1` after an option its value, so the option's own error explains what is wrong. By default clap treats it as an unknown option.
fn taking_negative_numbers(command: Command) -> Command {
    let may_be_negative = |argument: Arg| {
        let takes = argument.get_long().is_some() && argument.get_action().takes_values();
        argument.allow_negative_numbers(takes)
    };
    command.mut_args(may_be_negative).mut_subcommands(taking_negative_numbers)
}

/// The command without its hidden verbs, which are internal: for completions, manual pages and the reference.
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

/// The words that `tolok help` accepts: verbs, topics and documents.
fn help_words(command: &Command) -> Vec<String> {
    let verbs = visible_verbs(command).map(|verb| verb.get_name().to_owned());
    let topics = Topic::ALL.map(|topic| topic.word().to_owned());
    verbs.chain(topics).chain(documents::paths().map(str::to_owned)).collect()
}

/// All verbs in groups, each with its description.
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
    use crate::args::{LoadFormat, Verb};

    #[test]
    fn every_verb_that_people_see_stands_in_one_group() {
        let command = command();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        for verb in visible_verbs(&command) {
            let times = grouped.iter().filter(|name| **name == verb.get_name()).count();
            assert_eq!(times, 1, "`{}` is in {times} groups of args/command.rs", verb.get_name());
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
    fn the_ending_of_the_output_chooses_the_format_unless_it_is_told() {
        let meant = |line: &str| format_of_ending(&command().try_get_matches_from(line.split(' ')).unwrap());
        let some = |verb: &str, format| Ok(Some((verb.to_owned(), format)));
        assert_eq!(meant("tolok load -o x.json http://localhost"), some("load", "json"));
        assert_eq!(meant("tolok report -o x.html"), some("report", "html"));
        assert_eq!(meant("tolok run quick -o results.xml"), some("run", "junit"));
        assert_eq!(meant("tolok forecast latest --users 9 -o x.txt"), some("forecast", "text"));
        for line in ["tolok report --format md -o x.foo", "tolok load -o x http://localhost", "tolok man -o pages.d"] {
            assert_eq!(meant(line), Ok(None), "{line}");
        }
        let Verb::Load(load) = parse_from(["tolok", "load", "-o", "x.csv", "http://localhost"]).unwrap().verb else {
            panic!()
        };
        assert_eq!(load.format, LoadFormat::Csv);
    }

    #[test]
    fn an_ending_that_stands_for_no_format_of_the_verb_is_refused() {
        let said = |line: &str| parse_from(line.split(' ')).unwrap_err().to_string();
        let of_load = said("tolok load -o x.html http://localhost");
        assert!(
            of_load.contains("`tolok load` has no format with the ending .html; known here: .txt, .json, .md"),
            "{of_load}"
        );
        for verb in [
            "report",
            "run core",
            "quick",
            "audit t.csv",
            "compare a b",
            "duel a b",
            "verify r",
            "fidelity",
            "replicate x",
        ] {
            let said = said(&format!("tolok {verb} -o out.foo"));
            assert!(said.contains("has no format with the ending .foo; known here: .txt, ."), "{said}");
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
    fn a_negative_number_is_the_value_of_its_option() {
        let said = |line: &str| parse_from(line.split(' ')).unwrap_err().to_string();
        assert!(said("tolok run quick --seed -1").contains("it is a whole number from 0"));
        assert!(said("tolok new subject x --runtime -1").contains("possible values: go"));
        assert!(said("tolok run -1").contains("unexpected argument"), "it is not an option's value");
    }

    #[test]
    fn an_option_that_a_verb_lacks_has_no_misleading_tip() {
        let said = |line: &str| parse_from(line.split(' ')).unwrap_err().to_string();
        assert!(said("tolok run core --yes").contains("this verb asks nothing"), "{}", said("tolok run core --yes"));
        assert!(said("tolok run core --open").contains("tolok report --open"));
        assert!(!said("tolok run core --nonsense").contains("as a value"));
    }

    #[test]
    fn a_verb_that_there_is_not_is_answered_with_the_one_that_is_meant() {
        let said = |line: &str| parse_from(line.split(' ')).unwrap_err().to_string();
        let meant = [
            ("tolok rn core", "`tolok run`?"),
            ("tolok qiuck", "`tolok quick`?"),
            ("tolok dule a b", "`tolok duel`?"),
            ("tolok bench core", "`tolok run`?"),
            ("tolok version", "`tolok --version`?"),
            ("tolok transcribe wrk.txt", "`tolok new audit`?"),
            ("tolok clean", "`tolok list runs`"),
            ("tolok new subjct x", "`tolok new subject`?"),
            ("tolok http://127.0.0.1:3000/", "tolok load http://127.0.0.1:3000/"),
            ("tolok mine.toml", "tolok run mine.toml"),
        ];
        for (line, verb) in meant {
            assert!(said(line).contains(verb), "{line}: {}", said(line));
        }
        assert!(said("tolok xyzzy").contains("`tolok --help`") && !said("tolok xyzzy").contains("similar"));
    }

    #[test]
    fn lists_and_formats_have_the_names_that_people_try() {
        for line in [
            "tolok list tables",
            "tolok report --format paper",
            "tolok report --format latex",
            "tolok forecast --users 10",
        ] {
            assert!(parse_from(line.split(' ')).is_ok(), "{line}");
        }
    }

    #[test]
    fn the_usage_shown_with_a_wrong_option_names_no_other() {
        let said = parse_from(["tolok", "run", "quick", "--json", "--yes"]).unwrap_err().to_string();
        assert!(said.contains("Usage: tolok run [OPTIONS] [STUDY]"), "{said}");
    }

    #[test]
    fn clap_finds_nothing_wrong_with_the_command() {
        command().debug_assert();
        visible().debug_assert();
    }
}
