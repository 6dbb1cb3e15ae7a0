//! Where things are: the checkout with its subjects, workloads and studies, and the folders for runs and builds.

mod comparisons;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use tolok_model::wording::suggestion;
use tolok_model::{Catalogue, Problem, ProgramWorkload, Study, Subject, Workload};

/// Names the folder that holds `subjects/`, `workloads/` and `studies/`, where another is meant than the nearest one.
pub const HOME_VARIABLE: &str = "TOLOK_HOME";

/// The folder that holds `subjects/`, `workloads/` and `studies/`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Home {
    root: PathBuf,
}

/// Why the catalogue or a study cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// The variable is not set, and neither the working folder nor the program's own place lies in one.
    #[error(
        "no folder with subjects/ and workloads/ here or above; run tolok from its checkout, or set {HOME_VARIABLE} to it"
    )]
    NotFound,
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}; {}", path.display(), readable(source))]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A study names a script that cannot be read.
    #[error(
        "the study names the script `{file}`, and {} cannot be read: {source}; its place is relative to the study's", path.display()
    )]
    NoScript {
        /// As the study names it.
        file: String,
        /// Where it was looked for.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file says something wrong; all of it is listed.
    #[error("{} has {} problem(s)", path.display(), problems.len())]
    Wrong {
        /// The file.
        path: PathBuf,
        text: String,
        /// What is wrong in it.
        problems: Vec<Problem>,
    },
    /// No published comparison has this name.
    #[error(
        "there is no source `{name}` that can be measured again; {}; tolok list sources shows all",
        comparisons::meant(name, known)
    )]
    NoSource {
        /// As it was asked for.
        name: String,
        /// The sources there are.
        known: Vec<String>,
    },
    /// No study has this name.
    #[error("there is no study `{name}`, neither a file nor one that comes with tolok; {}", meant(name, known))]
    NoStudy {
        /// As it was asked for.
        name: String,
        /// The studies there are.
        known: Vec<String>,
    },
    /// No published table has this name.
    #[error(
        "there is no published table `{name}`, neither a file nor one that comes with tolok; {}",
        transcribed(name, known)
    )]
    NoPublished {
        /// As it was asked for.
        name: String,
        /// The tables there are.
        known: Vec<String>,
    },
}

impl Home {
    /// Finds the folder: where the variable says, else the working folder or one above it, else one above the program.
    pub fn find() -> Result<Self, HomeError> {
        // What the user names is believed: to go on with another folder would run other subjects than those that were meant.
        if let Some(named) = std::env::var_os(HOME_VARIABLE).filter(|named| !named.is_empty()) {
            // Servers are told paths below it, and work elsewhere.
            return Ok(Self::at(std::path::absolute(&named).unwrap_or(named.into())));
        }
        let starts = [std::env::current_dir(), std::env::current_exe()].into_iter().flatten();
        Self::above(starts).ok_or(HomeError::NotFound)
    }

    /// The first folder that holds subjects and workloads, from each of `starts` upwards.
    fn above(starts: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let is_home = |folder: &&Path| folder.join("subjects").is_dir() && folder.join("workloads").is_dir();
        starts.into_iter().find_map(|start| start.ancestors().find(is_home).map(Self::at))
    }

    /// A home at a known place, for tests and tools.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a subject's sources.
    pub fn subject_folder(&self, id: &str) -> PathBuf {
        self.root.join("subjects").join(id)
    }

    /// The folder of a subject's sources, wherever it lies.
    pub fn sources_of(&self, subject: &Subject) -> PathBuf {
        match &subject.folder {
            Some(brought) => PathBuf::from(&brought.folder),
            None => self.subject_folder(&subject.id),
        }
    }

    /// The folder of a workload's files.
    pub fn workload_folder(&self, name: &str) -> PathBuf {
        self.root.join("workloads").join(name)
    }

    /// Where runs are kept: beside the subjects in a checkout that can be written, else in the user's data folder.
    pub fn runs_folder(&self) -> PathBuf {
        let beside = self.root.join("runs");
        let writable = rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK).is_ok();
        if beside.is_dir() || writable {
            return beside;
        }
        user_folder("XDG_DATA_HOME", ".local/share").join("runs")
    }

    /// Every subject and workload.
    pub fn catalogue(&self) -> Result<Catalogue, HomeError> {
        let (workloads, programs) = self.workloads()?;
        Ok(Catalogue { subjects: self.subjects()?, workloads, programs })
    }

    fn subjects(&self) -> Result<Vec<Subject>, HomeError> {
        let mut subjects = Vec::new();
        for runtime in sorted_folders(&self.root.join("subjects"))? {
            for folder in sorted_folders(&runtime)? {
                let id = format!("{}/{}", file_name(&runtime), file_name(&folder));
                subjects.extend(read_if_there(&folder.join("subject.toml"), |text| Subject::read(&id, text))?);
            }
        }
        Ok(subjects)
    }

    /// Those of servers, and those of programs.
    fn workloads(&self) -> Result<(Vec<Workload>, Vec<ProgramWorkload>), HomeError> {
        let (mut workloads, mut programs) = (Vec::new(), Vec::new());
        for folder in sorted_folders(&self.root.join("workloads"))? {
            let (name, file) = (file_name(&folder), folder.join("workload.toml"));
            let is_program = read_if_there(&file, |text| Ok(ProgramWorkload::is_meant(text)))?;
            if is_program == Some(true) {
                programs.extend(read_if_there(&file, |text| ProgramWorkload::read(&name, text))?);
            } else {
                workloads.extend(read_if_there(&file, |text| Workload::read(&name, text))?);
            }
        }
        Ok((workloads, programs))
    }

    /// Names of the studies that come with tolok.
    pub fn studies(&self) -> Result<Vec<String>, HomeError> {
        Ok(names_of_toml(entries(&self.root.join("studies"))?))
    }

    /// Names of the published tables that come with tolok; none where their folder is not.
    pub fn published(&self) -> Result<Vec<String>, HomeError> {
        let folder = self.root.join("published");
        if folder.is_dir() { Ok(names_of_toml(entries(&folder)?)) } else { Ok(Vec::new()) }
    }

    /// The file of a published table: `name` is that of one that comes with tolok, or a file.
    pub fn published_file(&self, name: &str) -> Result<PathBuf, HomeError> {
        let own = self.root.join("published").join(format!("{name}.toml"));
        if !name.contains('/') && own.is_file() {
            return Ok(own);
        }
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        Err(HomeError::NoPublished { name: name.to_owned(), known: self.published().unwrap_or_default() })
    }

    /// Reads a study: `name` is that of one that comes with tolok, or a file. Returns its text as well.
    pub fn study(&self, name: &str, catalogue: &Catalogue) -> Result<(PathBuf, String, Study), HomeError> {
        let path = self.study_file(name)?;
        let text = read(&path)?;
        Self::read_study(path, text, catalogue)
    }

    /// Reads the text of a study, whose scripts lie beside `path`.
    pub fn read_study(
        path: PathBuf,
        text: String,
        catalogue: &Catalogue,
    ) -> Result<(PathBuf, String, Study), HomeError> {
        match Study::read(&text, catalogue) {
            Ok(mut study) => {
                read_scripts(&mut study, path.parent().unwrap_or(Path::new(".")))?;
                Ok((path, text, study))
            }
            Err(problems) => Err(HomeError::Wrong { path, text, problems }),
        }
    }

    fn study_file(&self, name: &str) -> Result<PathBuf, HomeError> {
        let own = self.root.join("studies").join(format!("{name}.toml"));
        // A bare name means ours, even where a file of that name lies about, such as the `core` of a crashed program.
        if (!name.contains('/') || name.starts_with("sources/")) && own.is_file() {
            return Ok(own);
        }
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        Err(HomeError::NoStudy { name: name.to_owned(), known: self.studies().unwrap_or_default() })
    }
}

fn readable(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => {
            "it belongs to the checkout: get it back with git, or set TOLOK_HOME to a whole checkout"
        }
        std::io::ErrorKind::InvalidData => "save it as UTF-8",
        _ => "see whether you may read it",
    }
}

/// Which of the known studies may be meant, and how to have one that is not known.
fn meant(name: &str, known: &[String]) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    // Of a path the name counts: a file that was looked for in the wrong folder may be one of these.
    let bare = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    format!("{}; to begin one: tolok new study NAME", suggestion(&bare, &known))
}

/// Which of the known tables may be meant, and how to have one that is not known.
fn transcribed(name: &str, known: &[String]) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let bare = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let known = if known.is_empty() { String::new() } else { suggestion(&bare, &known) + "; " };
    format!("{known}docs/audit.md says how to write one")
}

/// What the files that end in `.toml` are called, sorted.
fn names_of_toml(paths: Vec<PathBuf>) -> Vec<String> {
    let mut names: Vec<String> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// tolok's folder under one of the XDG base folders.
pub fn user_folder(variable: &str, below_home: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)));
    base.unwrap_or_else(std::env::temp_dir).join("tolok")
}

/// Commit of the checkout at `root`, with a mark if it was changed, or `None` where there is no git or no checkout.
pub fn git_state(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{commit}, changed") } else { commit })
}

/// Takes the texts of the scripts that a study in `folder` names into it.
fn read_scripts(study: &mut Study, folder: &Path) -> Result<(), HomeError> {
    for script in study.scenarios.iter_mut().filter_map(|scenario| scenario.tool.script.as_mut()) {
        let path = folder.join(&script.file);
        let unreadable = |source| HomeError::NoScript { file: script.file.clone(), path: path.clone(), source };
        script.text = fs::read_to_string(&path).map_err(unreadable)?;
    }
    Ok(())
}

fn read_if_there<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Vec<Problem>>) -> Result<Option<T>, HomeError> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read(path)?;
    let parsed = parse(&text).map_err(|problems| HomeError::Wrong { path: path.to_owned(), text, problems });
    parsed.map(Some)
}

fn read(path: &Path) -> Result<String, HomeError> {
    fs::read_to_string(path).map_err(|source| HomeError::Unreadable { path: path.to_owned(), source })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let unreadable = |source| HomeError::Unreadable { path: folder.to_owned(), source };
    let listed = fs::read_dir(folder).map_err(unreadable)?;
    listed.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable)).collect()
}

fn sorted_folders(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let mut folders: Vec<PathBuf> = entries(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const SUBJECT: &str = r#"
title     = "Go net/http"
runtime   = "go"
workloads = ["hello"]
[[process]]
name    = "server"
command = ["server"]
[variant.plain]
"#;
    const WORKLOAD: &str = r#"
title = "Hello"
[request]
path = "/hello"
[answer]
content-type = "text/html"
body         = "body.html"
"#;
    const STUDY: &str = r#"
title    = "Example"
subjects = ["go/nethttp"]
[[scenario]]
workload = "hello"
load     = { executor = "constant-vus", vus = 1, duration = "1s" }
"#;

    /// A checkout with these files.
    fn home(files: &[(&str, &str)]) -> (TempDir, Home) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let home = Home::at(root.path());
        (root, home)
    }

    fn whole() -> (TempDir, Home) {
        home(&[
            ("subjects/go/nethttp/subject.toml", SUBJECT),
            ("subjects/go/notes/README.md", "no subject here"),
            ("workloads/hello/workload.toml", WORKLOAD),
            ("studies/small.toml", STUDY),
            ("studies/README.md", "no study"),
        ])
    }

    #[test]
    fn the_nearest_folder_with_subjects_and_workloads_is_taken() {
        let (root, _) = whole();
        let inside = root.path().join("subjects/go/nethttp");
        let elsewhere = PathBuf::from("/nonexistent/bin");
        let found = |starts: &[&Path]| Home::above(starts.iter().map(|start| start.to_path_buf()));
        assert_eq!(found(&[&inside]).unwrap().root(), root.path());
        assert_eq!(found(&[&elsewhere, &inside]).unwrap().root(), root.path());
        assert!(found(&[&elsewhere]).is_none());
    }

    #[test]
    fn the_catalogue_lists_what_has_a_file() {
        let (_root, home) = whole();
        let catalogue = home.catalogue().unwrap();
        let ids: Vec<&str> = catalogue.subjects.iter().map(|subject| subject.id.as_str()).collect();
        assert_eq!(ids, ["go/nethttp"]);
        assert_eq!(catalogue.workload("hello").unwrap().path, "/hello");
        assert_eq!(home.studies().unwrap(), ["small"]);
    }

    #[test]
    fn a_broken_subject_is_reported_with_its_file_and_all_its_problems() {
        let broken = "title = 3\nworkload = [\"hello\"]\n";
        let (root, home) = home(&[("subjects/go/nethttp/subject.toml", broken), ("workloads/README.md", "")]);
        let Err(HomeError::Wrong { path, text, problems }) = home.catalogue() else { panic!("it is wrong") };
        assert_eq!(path, root.path().join("subjects/go/nethttp/subject.toml"));
        assert_eq!(text, broken);
        assert!(problems.len() > 1, "{problems:?}");
        let error = HomeError::Wrong { path: "a/subject.toml".into(), text, problems: Vec::new() };
        assert_eq!(error.to_string(), "a/subject.toml has 0 problem(s)");
    }

    #[test]
    fn a_checkout_without_workloads_says_what_it_could_not_read() {
        let (root, home) = home(&[("subjects/go/nethttp/subject.toml", SUBJECT)]);
        let folder = root.path().join("workloads");
        let expect = format!(
            "cannot read {}: No such file or directory (os error 2); it belongs to the checkout: get it back with git, or set \
             TOLOK_HOME to a whole checkout",
            folder.display()
        );
        assert_eq!(home.catalogue().unwrap_err().to_string(), expect);
    }

    #[test]
    fn a_study_is_found_by_its_name_and_by_its_path() {
        let (root, home) = whole();
        let catalogue = home.catalogue().unwrap();
        let own = root.path().join("studies/small.toml");
        let mine = root.path().join("mine.toml");
        fs::write(&mine, STUDY.replace("Example", "Mine")).unwrap();
        let (path, text, study) = home.study("small", &catalogue).unwrap();
        assert_eq!((path, text.as_str(), study.title.as_str()), (own, STUDY, "Example"));
        let (path, _, study) = home.study(mine.to_str().unwrap(), &catalogue).unwrap();
        assert_eq!((path, study.title.as_str()), (mine, "Mine"));
    }

    #[test]
    fn an_unknown_study_lists_the_known_ones() {
        let (_root, home) = whole();
        let error = home.study("smal", &home.catalogue().unwrap()).unwrap_err();
        let expect = "there is no study `smal`, neither a file nor one that comes with tolok; did you mean `small`? known here: \
                      small; to begin one: tolok new study NAME";
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn a_published_table_is_found_by_its_name_and_by_its_path() {
        let (root, home) = home(&[("published/blog.toml", "title = \"A blog post\"")]);
        assert_eq!(home.published().unwrap(), ["blog"]);
        let own = root.path().join("published/blog.toml");
        assert_eq!(home.published_file("blog").unwrap(), own);
        assert_eq!(home.published_file(own.to_str().unwrap()).unwrap(), own);
        let expect = "there is no published table `blok`, neither a file nor one that comes with tolok; did you mean `blog`? known \
                      here: blog; docs/audit.md says how to write one";
        assert_eq!(home.published_file("blok").unwrap_err().to_string(), expect);
        assert!(whole().1.published().unwrap().is_empty());
    }

    #[test]
    fn a_study_with_mistakes_is_returned_with_its_text() {
        let (_root, home) = whole();
        fs::write(home.root().join("studies/small.toml"), STUDY.replace("go/nethttp", "go/nethtp")).unwrap();
        let Err(HomeError::Wrong { text, problems, .. }) = home.study("small", &home.catalogue().unwrap()) else {
            panic!("there is no such subject")
        };
        let problem = &problems[0];
        assert_eq!(&text[problem.span.clone()], "\"go/nethtp\"");
        assert_eq!(problem.message, "there is no subject `go/nethtp`");
    }
}
