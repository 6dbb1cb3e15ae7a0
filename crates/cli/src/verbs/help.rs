//! `tolok help` and `tolok completions`.

use crate::args::{CompletionsArgs, HelpArgs, Topic, document, parse_from, visible};
use crate::exit::{CliError, Exit, of_clap};
use crate::output::{put, width};

/// Explains a topic, a verb, or all of tolok, or prints a document.
pub fn help(args: &HelpArgs) -> Result<Exit, CliError> {
    let about = args.about.as_deref();
    if let Some(topic) = about.and_then(|word| Topic::ALL.into_iter().find(|topic| topic.word() == word)) {
        put(&topic.text(usize::from(width()).min(100)), None)?;
        return Ok(Exit::Done);
    }
    if let Some(text) = about.and_then(document) {
        put(text, None)?;
        return Ok(Exit::Done);
    }
    // Prints exactly what `tolok VERB --help` prints, including the usage line.
    let words = ["tolok"].into_iter().chain(about).chain(["--help"]);
    if let Err(shown) = parse_from(words) {
        let _ = of_clap(&shown);
    }
    Ok(Exit::Done)
}

/// Prints the completion script of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "tolok", &mut script);
    put(&String::from_utf8_lossy(&script), None)?;
    Ok(Exit::Done)
}
