//! Resolves the arguments of `tolok duel`: subjects of the catalogue, versions, folders, states in git.

use std::path::{Path, PathBuf};

use tolok_lab::home::Home;
use tolok_lab::user_servers::{GitError, local_subject, state_of_folder, titled, with_version};
use tolok_model::{Catalogue, Role, Subject};

use super::states;
use crate::args::DuelArgs;
use crate::exit::{CliError, Exit};

/// The sides of a duel, the base first.
pub struct Sides {
    /// Subjects that are not in the checkout's catalogue.
    pub folders: Vec<Subject>,
    /// All sides, as named in a study.
    pub selectors: Vec<String>,
    pub catalogue: Catalogue,
}

impl Sides {
    pub fn read(args: &DuelArgs) -> Result<Self, CliError> {
        let home = Home::find()?;
        let catalogue = home.catalogue()?;
        let mut sides = Self { folders: Vec::new(), selectors: Vec::new(), catalogue };
        match (&args.git, args.subjects.as_slice()) {
            (None, subjects) => subjects.iter().try_for_each(|word| sides.add(word, &home))?,
            (Some(range), [folder]) => sides.add_states(Path::new(folder), range)?,
            (Some(_), _) => return Err(CliError::usage("--git compares two states of one folder; name one folder")),
        }
        sides.tell_apart();
        match sides.selectors.len() {
            0 | 1 => {
                Err(CliError::usage("a duel takes two: name a second subject, or compare states with --git OLD..NEW"))
            }
            _ => Ok(sides),
        }
    }

    fn add(&mut self, word: &str, home: &Home) -> Result<(), CliError> {
        // A folder has no variants, and an id of the catalogue is not a path.
        let (name, variant) = word.split_once(':').map_or((word, ""), |(name, _)| (name, &word[name.len()..]));
        let (name, version) = name.split_once('@').map_or((name, None), |(name, version)| (name, Some(version)));
        let selector = match (self.named(name)?, version) {
            (Some(subject), None) => format!("{}{variant}", subject.id),
            (Some(subject), Some(version)) => {
                let program = runtime_program(&subject)?;
                let versioned = with_version(&subject, &home.sources_of(&subject), &program, version)?;
                let selector = format!("{}{variant}", versioned.id);
                if self.folders.iter().all(|known| known.id != versioned.id) {
                    self.folders.push(versioned);
                }
                selector
            }
            (None, _) if Path::new(word).is_dir() => {
                let subject = local_subject(Path::new(word))?;
                let id = subject.id.clone();
                self.folders.push(subject);
                id
            }
            (None, _) => return Err(unknown(word, &self.catalogue)),
        };
        if self.selectors.contains(&selector) {
            return Err(CliError::usage(format!(
                "`{word}` is named twice; a duel always enters its base twice, as a noise check"
            )));
        }
        self.selectors.push(selector);
        Ok(())
    }

    /// The subject with this id, or the only one of this runtime.
    fn named(&self, name: &str) -> Result<Option<Subject>, CliError> {
        if let Some(subject) = self.catalogue.subject(name) {
            return Ok(Some(subject.clone()));
        }
        let is_server = |subject: &&Subject| subject.role == Role::Subject && subject.program.is_none();
        let is_of = |subject: &&Subject| subject.runtime == name || subject.id.split('/').next() == Some(name);
        let of_runtime: Vec<&Subject> = self.catalogue.subjects.iter().filter(is_server).filter(is_of).collect();
        match of_runtime.as_slice() {
            [] => Ok(None),
            [subject] => Ok(Some((*subject).clone())),
            several => {
                let ids: Vec<&str> = several.iter().map(|subject| subject.id.as_str()).collect();
                Err(CliError::usage(format!("`{name}` may be any of {}; name one", ids.join(", "))))
            }
        }
    }

    fn add_states(&mut self, folder: &Path, range: &str) -> Result<(), CliError> {
        let (old, new) = match range.split_once("..") {
            Some((old, "")) => (old, Some("HEAD")),
            Some((old, new)) => (old, Some(new.trim_start_matches('.'))),
            None => (range, None),
        };
        let state =
            |revision: &str| -> Result<PathBuf, CliError> { Ok(state_of_folder(folder, revision, &states()?)?) };
        let named = |path: &Path, revision: &str| -> Result<Subject, CliError> {
            let subject = local_subject(path)?;
            let title = format!("{} @ {revision}", subject.title);
            Ok(titled(subject, title))
        };
        let before = named(&state(old)?, old)?;
        let after = match new {
            Some(new) => named(&state(new)?, new)?,
            None => named(folder, "working tree")?,
        };
        if before.id == after.id {
            return Err(CliError::usage(format!("`{range}` names one state twice")));
        }
        self.selectors = vec![before.id.clone(), after.id.clone()];
        self.folders = vec![before, after];
        Ok(())
    }

    /// Adds the name to the title of folders that share one.
    fn tell_apart(&mut self) {
        let titles: Vec<String> = self.folders.iter().map(|subject| subject.title.clone()).collect();
        let taken = |title: &String| titles.iter().filter(|other| *other == title).count() > 1;
        for subject in &mut self.folders {
            if taken(&subject.title) {
                let name = subject.id.rsplit('/').next().unwrap_or_default();
                let title = format!("{} ({name})", subject.title);
                *subject = titled(subject.clone(), title);
            }
        }
    }
}

/// The program whose versions a duel compares: the first that the subject needs.
fn runtime_program(subject: &Subject) -> Result<String, CliError> {
    let program = subject.needs.first().cloned();
    program.ok_or_else(|| CliError::usage(format!("{} needs no program that has versions", subject.id)))
}

fn unknown(word: &str, catalogue: &Catalogue) -> CliError {
    let ids: Vec<&str> = catalogue.subjects.iter().map(|subject| subject.id.as_str()).collect();
    let help = tolok_model::wording::suggestion(word, &ids);
    CliError::usage(format!("there is no subject and no folder `{word}`; {help}"))
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Git { .. } => Self::usage(error),
            GitError::Files { .. } => Self::new(Exit::Internal, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Verb;
    use crate::args::parse_from;

    fn read(words: &[&str]) -> Result<Sides, String> {
        let line = ["tolok", "duel"].into_iter().chain(words.iter().copied());
        let Verb::Duel(args) = parse_from(line).unwrap().verb else { panic!("it is a duel") };
        Sides::read(&args).map_err(|error| error.text)
    }

    fn selectors(words: &[&str]) -> Vec<String> {
        read(words).unwrap_or_else(|error| panic!("{error}")).selectors
    }

    #[test]
    fn a_side_is_a_subject_a_runtime_or_a_version_of_one() {
        assert_eq!(selectors(&["go", "node/http:cluster"]), ["go/nethttp", "node/http:cluster"]);
        assert_eq!(
            selectors(&["bun@1.0.0", "bun/serve@1.2.0:reuseport"]),
            ["bun/serve@1.0.0", "bun/serve@1.2.0:reuseport"]
        );
        let sides = read(&["bun@1.0.0", "bun"]).unwrap_or_else(|error| panic!("{error}"));
        let [versioned] = sides.folders.as_slice() else { panic!("only one side is a folder") };
        assert_eq!(
            (versioned.title.as_str(), versioned.needs.as_slice()),
            ("Bun.serve 1.0.0", &["bun@1.0.0".to_owned()][..])
        );
    }

    #[test]
    fn what_is_no_duel_is_refused_with_what_would_be_one() {
        let said = |words: &[&str]| read(words).err().expect("it is refused");
        assert!(said(&["go"]).contains("a duel takes two"));
        assert!(said(&["go", "go/nethttp"]).contains("enters its base twice"));
        assert!(said(&["go", "php"]).contains("php/fpm, php/swoole"));
        assert!(said(&["go", "bnu/serve"]).contains("no subject and no folder `bnu/serve`"));
        assert!(said(&["go", "node", "--git", "main"]).contains("name one folder"));
    }
}
