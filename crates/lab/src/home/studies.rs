//! The studies and published tables of a checkout, and those of the user.

use std::io;
use std::path::{Path, PathBuf};

use tolok_model::limits::SCRIPT;
use tolok_model::{Catalogue, Study};
use tolok_store::Folder;

use super::{Home, HomeError, entries, read};

impl Home {
    /// Names of the studies that come with tolok.
    pub fn studies(&self) -> Result<Vec<String>, HomeError> {
        Ok(names_of_toml(entries(&self.root.join("studies"))?))
    }

    /// Names of the published tables that come with tolok; empty if their folder is missing.
    pub fn published(&self) -> Result<Vec<String>, HomeError> {
        let folder = self.root.join("published");
        if folder.is_dir() { Ok(names_of_toml(entries(&folder)?)) } else { Ok(Vec::new()) }
    }

    /// The file of a published table: `name` is one that comes with tolok, or a file.
    pub fn published_file(&self, name: &str) -> Result<PathBuf, HomeError> {
        let unknown = || HomeError::NoPublished { name: name.to_owned(), known: self.published().unwrap_or_default() };
        self.own_or_file("published", name, !name.contains('/')).ok_or_else(unknown)
    }

    /// Reads a study: `name` is one that comes with tolok, or a file. Returns its text as well.
    pub fn study(&self, name: &str, catalogue: &Catalogue) -> Result<(PathBuf, String, Study), HomeError> {
        let path = self.study_file(name)?;
        if let Some(what) = other_kind(&path) {
            return Err(HomeError::NoToml { path, what });
        }
        let text = read(&path)?;
        Self::read_study(path, text, catalogue).map_err(|error| match error {
            HomeError::Wrong { path, text, problems } => match other_text(&path, &text) {
                Some(what) => HomeError::NoToml { path, what },
                None => HomeError::Wrong { path, text, problems },
            },
            error => error,
        })
    }

    /// The text of a study, or `None` if it cannot be read.
    pub fn study_text(&self, name: &str) -> Option<String> {
        self.study_file(name).ok().and_then(|path| read(&path).ok())
    }

    /// Parses the text of a study whose scripts are beside `path`.
    pub fn read_study(
        path: PathBuf,
        text: String,
        catalogue: &Catalogue,
    ) -> Result<(PathBuf, String, Study), HomeError> {
        match Study::read(&text, catalogue) {
            Ok(mut study) => {
                // A bare name has an empty parent, which is not a folder.
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                read_scripts(&mut study, folder.unwrap_or(Path::new(".")))?;
                Ok((path, text, study))
            }
            Err(problems) => Err(HomeError::Wrong { path, text, problems }),
        }
    }

    fn study_file(&self, name: &str) -> Result<PathBuf, HomeError> {
        let unknown = || HomeError::NoStudy { name: name.to_owned(), known: self.studies().unwrap_or_default() };
        self.own_or_file("studies", name, !name.contains('/') || name.starts_with("sources/")).ok_or_else(unknown)
    }

    /// The file with this name in one of our folders, else the user's file, whose ending may be left out. A bare name means ours,
    /// even if the working folder has a file of that name, such as the `core` of a crashed program.
    fn own_or_file(&self, folder: &str, name: &str, may_be_ours: bool) -> Option<PathBuf> {
        let with_ending = format!("{name}.toml");
        let own = Some(self.root.join(folder).join(&with_ending)).filter(|_| may_be_ours);
        own.into_iter().chain([PathBuf::from(name), PathBuf::from(with_ending)]).find(|file| file.is_file())
    }
}

const IN_TOML: &str = "studies are written in TOML; tolok new study NAME begins one, and `tolok help docs/reference/study.md` lists its keys";

/// What a text is that is not TOML, and how to get a study. The first line decides: TOML has an equals sign after a key, and brackets
/// around a table name.
fn other_text(path: &Path, text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', '/']))?;
    let is_key =
        |key: &str| !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || "-_ ".contains(letter));
    if first == "---" || first.starts_with('{') || first.split_once(':').is_some_and(|(key, _)| is_key(key)) {
        return Some(format!("it is YAML or JSON, and {IN_TOML}"));
    }
    ["import ", "export "].iter().any(|word| first.starts_with(word)).then(|| of_script(path))
}

fn of_script(path: &Path) -> String {
    format!(
        "it is a script for k6, which a study names in a scenario: tool = {{ name = \"k6\", script = \"{}\" }}; tolok new study NAME \
         begins one, and `tolok help docs/tools.md` shows the rest",
        path.file_name().unwrap_or_default().to_string_lossy()
    )
}

/// What a file is that was mistaken for a study, and how to get one.
fn other_kind(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    match ending {
        "yaml" | "yml" | "json" => Some(IN_TOML.to_owned()),
        "js" | "mjs" | "ts" => Some(of_script(path)),
        "csv" | "tsv" => Some(format!("it is a table; to check its figures: tolok audit {}", path.display())),
        _ => None,
    }
}

/// The names of the `.toml` files without extension, sorted.
fn names_of_toml(paths: Vec<PathBuf>) -> Vec<String> {
    let mut names: Vec<String> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// Reads the scripts that a study in `folder` names into the study.
fn read_scripts(study: &mut Study, folder: &Path) -> Result<(), HomeError> {
    for script in study.scenarios.iter_mut().filter_map(|scenario| scenario.tool.script.as_mut()) {
        let path = folder.join(&script.file);
        let unreadable = |source| HomeError::NoScript { file: script.file.clone(), path: path.clone(), source };
        // The text becomes part of the plan, so a study by somebody else must not be able to name any of the user's files.
        let text = Folder::at(folder).read_up_to(&script.file, &SCRIPT);
        let text = text.and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        script.text = text.map_err(unreadable)?;
        if let Some(module) = imported_file(&script.text) {
            return Err(HomeError::Imports { path, module: module.to_owned() });
        }
    }
    Ok(())
}

/// The first file that a script imports, apart from k6's own modules and URLs.
fn imported_file(script: &str) -> Option<&str> {
    let statements = script.split(['\n', ';']).map(str::trim_start);
    statements
        .filter(|line| line.starts_with("import ") || line.contains("require(") || line.starts_with("} from "))
        .find_map(|line| {
            let is_quote = |letter: char| letter == '"' || letter == '\'';
            let quoted = &line[line.find(is_quote)? + 1..];
            Some(&quoted[..quoted.find(is_quote)?]).filter(|module| module.starts_with('.') || module.starts_with('/'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_study_is_told_by_its_ending() {
        let said = |path: &str| other_kind(Path::new(path)).unwrap_or_default();
        assert!(said("mine.yaml").contains("TOML"));
        assert!(said("a/users.js").contains(r#"script = "users.js""#));
        assert_eq!(said("t.csv"), "it is a table; to check its figures: tolok audit t.csv");
        assert_eq!(said("mine.toml") + &said("mine"), "");
    }

    #[test]
    fn other_formats_in_a_file_of_ours_are_told_by_their_first_line() {
        let said = |text: &str| other_text(Path::new("mine.toml"), text).unwrap_or_default();
        for text in ["# mine\n\ntitle: x\nsubjects:\n  - a\n", "---\na", "{\"title\": 1}", "- name: x"] {
            assert!(said(text).contains("YAML"), "{text}");
        }
        assert!(said("// load\nimport http from 'k6/http';").contains("script for k6"));
        for text in ["title = \"a: b\"", "[[scenario]]", "titel", "", "\"a:b\" = 1"] {
            assert_eq!(said(text), "", "{text}");
        }
    }

    #[test]
    fn a_script_may_import_what_k6_has_and_no_file() {
        let script =
            "import http from 'k6/http';\nimport { check } from \"k6\";\nimport x from 'https://example.com/x.js';\n";
        assert_eq!(imported_file(script), None);
        assert_eq!(imported_file(&format!("{script}import {{ helper }} from './lib.js';")), Some("./lib.js"));
        assert_eq!(imported_file("import http from 'k6/http'; import { a } from './a.js'"), Some("./a.js"));
        assert_eq!(imported_file("const lib = require(\"../lib.js\");"), Some("../lib.js"));
        assert_eq!(imported_file("import {\n  a,\n} from '/srv/lib.js';"), Some("/srv/lib.js"));
    }
}
