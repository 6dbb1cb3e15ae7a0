//! `tolok man`: manual pages of tolok and of each verb, from the same source as the help.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use tolok_model::wording::suggestion;

use crate::args::{ManArgs, Topic, visible};
use crate::exit::{CliError, Exit};
use crate::output::{put, say};

/// Prints a page, or writes one or all of them into a folder.
pub fn man(args: &ManArgs) -> Result<Exit, CliError> {
    let pages = pages();
    let wanted = match (&args.verb, &args.output) {
        (Some(verb), _) => vec![named(&pages, verb)?],
        (None, None) => pages.iter().take(1).collect(),
        (None, Some(_)) => pages.iter().collect(),
    };
    match &args.output {
        None => wanted.iter().try_for_each(|page| put(&page.text()?, None))?,
        Some(folder) => {
            wanted.iter().try_for_each(|page| write(folder, page))?;
            let number = if wanted.len() == 1 { "1 page".to_owned() } else { format!("{} pages", wanted.len()) };
            say(format!("{number} written into {}", folder.display()));
        }
    }
    Ok(Exit::Done)
}

struct Page {
    /// Its name, such as `tolok-run`.
    title: String,
    command: Command,
}

/// The pages of tolok and its verbs, each before those of its own verbs.
fn pages() -> Vec<Page> {
    let mut whole = visible();
    whole.build();
    let mut pages = Vec::new();
    add(&whole, "tolok".to_owned(), &mut pages);
    pages
}

fn add(command: &Command, title: String, pages: &mut Vec<Page>) {
    pages.push(Page { title: title.clone(), command: command.clone() });
    command.get_subcommands().for_each(|verb| add(verb, format!("{title}-{}", verb.get_name()), pages));
}

fn named<'a>(pages: &'a [Page], verb: &str) -> Result<&'a Page, CliError> {
    let wanted = format!("tolok-{}", verb.replace(' ', "-"));
    let verbs: Vec<&str> = pages.iter().filter_map(|page| page.title.strip_prefix("tolok-")).collect();
    let unknown = || format!("there is no verb `{verb}` to have a page; {}", suggestion(verb, &verbs));
    pages.iter().find(|page| page.title == wanted).ok_or_else(|| CliError::usage(unknown()))
}

fn write(folder: &Path, page: &Page) -> Result<(), CliError> {
    let cannot = |error: std::io::Error| {
        let message =
            format!("cannot write into {}: {error}; name a folder that you may write with -o DIR", folder.display());
        CliError::new(Exit::of_writing(&error), message)
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    fs::write(folder.join(format!("{}.1", page.title)), page.text()?).map_err(cannot)
}

impl Page {
    fn text(&self) -> Result<String, CliError> {
        let (is_whole, below) = (self.title == "tolok", self.command.has_subcommands());
        let extra = self.command.get_after_help().map(ToString::to_string);
        let source = concat!("tolok ", env!("CARGO_PKG_VERSION"));
        let man = Man::new(self.command.clone()).title(self.title.to_uppercase()).source(source).manual("tolok");
        let mut page = Vec::new();
        let written = man
            .render_title(&mut page)
            // Long option names would leave wide gaps in justified lines.
            .and_then(|()| page.write_all(b".ad l\n"))
            .and_then(|()| man.render_name_section(&mut page))
            .and_then(|()| man.render_synopsis_section(&mut page))
            .and_then(|()| man.render_description_section(&mut page))
            .and_then(|()| man.render_options_section(&mut page))
            .and_then(|()| if below { man.render_subcommands_section(&mut page) } else { Ok(()) })
            .and_then(|()| own_sections(is_whole, extra.as_deref()).to_writer(&mut page));
        written.map_err(|error| CliError::new(Exit::Internal, format!("cannot write a manual page: {error}")))?;
        Ok(String::from_utf8_lossy(&page).into_owned())
    }
}

/// The sections that clap does not write: notes, exit codes, variables, files, and other pages.
fn own_sections(is_whole: bool, extra: Option<&str>) -> Roff {
    let mut roff = Roff::new();
    // tolok's page has a section with all exit codes, so it does not repeat them here.
    if let Some(extra) = extra.filter(|_| !is_whole) {
        roff.control("SH", ["NOTES"]).control("nf", []);
        for line in extra.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    let own = [(Topic::ExitCodes, "EXIT STATUS"), (Topic::Environment, "ENVIRONMENT"), (Topic::Files, "FILES")];
    // Only tolok's page has the topics that apply to every verb.
    for (topic, heading) in own.into_iter().filter(|(topic, _)| is_whole || *topic == Topic::ExitCodes) {
        roff.control("SH", [heading]);
        for (name, words) in topic.entries() {
            roff.control("TP", []).text([bold(name)]).text(with_code(words));
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    let other = if is_whole { "tolok-quick" } else { "tolok" };
    roff.text([bold(other), roman("(1), "), bold("tolok help exit-codes"), roman(", and docs/ of the checkout")]);
    roff
}

/// Formats words in backquotes as bold, as usual in manual pages.
fn with_code(words: &str) -> Vec<Inline> {
    let parts = words.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { bold(part) } else { roman(part) }).collect()
}
