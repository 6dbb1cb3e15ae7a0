//! Templates: files of a subject, a workload, a study or a transcription that work at once, with comments that give reasons.
//!
//! They never overwrite a file. The texts are in `files/`; names in `@` marks are replaced.

mod recorded;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use clap::ValueEnum;
pub use recorded::{Recording, body_file, recorded_workload};

/// A runtime with a template for subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Runtime {
    /// The standard library's net/http.
    Go,
    /// node:http.
    Node,
    /// Bun.serve.
    Bun,
    /// PHP-FPM behind nginx.
    Php,
    /// The standard library's http.server.
    Python,
    /// Rack on Puma.
    Ruby,
    /// The JDK's HttpServer.
    Java,
    /// Whatever a command starts.
    Other,
}

impl Runtime {
    /// The folder of its subjects, below `subjects/`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Php => "php",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Java => "java",
            Self::Other => "other",
        }
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Go => &[
                ("subject.toml", include_str!("files/go/subject.toml")),
                ("go.mod", include_str!("files/go/go.mod.txt")),
                ("main.go", include_str!("files/go/main.go.txt")),
            ],
            Self::Node => &[
                ("subject.toml", include_str!("files/node/subject.toml")),
                ("server.js", include_str!("files/node/server.js.txt")),
            ],
            Self::Bun => &[
                ("subject.toml", include_str!("files/bun/subject.toml")),
                ("server.js", include_str!("files/bun/server.js.txt")),
            ],
            Self::Php => &[
                ("subject.toml", include_str!("files/php/subject.toml")),
                ("php.ini", include_str!("files/php/php.ini.txt")),
                ("fpm.conf", include_str!("files/php/fpm.conf.txt")),
                ("nginx.conf", include_str!("files/php/nginx.conf.txt")),
                ("index.php", include_str!("files/php/index.php.txt")),
            ],
            Self::Python => &[
                ("subject.toml", include_str!("files/python/subject.toml")),
                ("server.py", include_str!("files/python/server.py.txt")),
            ],
            Self::Ruby => &[
                ("subject.toml", include_str!("files/ruby/subject.toml")),
                ("config.ru", include_str!("files/ruby/config.ru.txt")),
            ],
            Self::Java => &[
                ("subject.toml", include_str!("files/java/subject.toml")),
                ("Server.java", include_str!("files/java/Server.java.txt")),
            ],
            Self::Other => &[
                ("subject.toml", include_str!("files/other/subject.toml")),
                ("start.sh", include_str!("files/other/start.sh.txt")),
            ],
        }
    }
}

const SUBJECT_README: (&str, &str) = ("README.md", include_str!("files/subject-README.md"));

const WORKLOAD: [(&str, &str); 3] = [
    ("workload.toml", include_str!("files/workload/workload.toml")),
    ("body.json", include_str!("files/workload/body.json")),
    ("README.md", include_str!("files/workload/README.md")),
];

/// Why nothing was created.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    #[error(
        "invalid name `{0}`: use lower-case letters, digits and hyphens, beginning with a letter, such as my-server"
    )]
    Name(String),
    #[error("{} exists and was not overwritten; choose another name, or move it away first", .0.display())]
    Exists(PathBuf),
    #[error("cannot write {}: {source}; choose a folder that you may write with --in DIR", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The schema that checks a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Study,
    Subject,
    Workload,
    Transcription,
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Self::Study => "study.schema.json",
            Self::Subject => "subject.schema.json",
            Self::Workload => "workload.schema.json",
            Self::Transcription => "transcription.schema.json",
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Self::Study => include_str!("../../../../schemas/study.schema.json"),
            Self::Subject => include_str!("../../../../schemas/subject.schema.json"),
            Self::Workload => include_str!("../../../../schemas/workload.schema.json"),
            Self::Transcription => include_str!("../../../../schemas/transcription.schema.json"),
        }
    }
}

/// What to put into a new study.
#[derive(Debug)]
pub struct StudyWish<'a> {
    /// How the user refers to it: by its name in a checkout, else by its file.
    pub called: &'a str,
    /// Subjects, as a study names them.
    pub subjects: &'a [String],
    /// The workload, as a study names it.
    pub workload: &'a str,
    /// Whether the workload is a program that runs to its end.
    pub is_program: bool,
    /// Seed of the order.
    pub seed: u64,
}

/// The data from files for a new transcription.
#[derive(Debug)]
pub struct Begun {
    pub title: String,
    /// Lines of `[method]`.
    pub method: String,
    /// Its rows, in TOML.
    pub rows: String,
}

/// Creates the folder of a subject: `folder/name`. `schemas` is the checkout's folder of schemas, if there is a checkout. `brought`
/// is how the user names it for `tolok run`.
pub fn subject(
    folder: &Path,
    name: &str,
    runtime: Runtime,
    schemas: Option<&Path>,
    (called, brought): (&str, &str),
) -> Result<Vec<PathBuf>, ScaffoldError> {
    let own = new_folder(folder, name)?;
    let schema = schema_for(&own, Kind::Subject, schemas)?;
    let words = [("NAME", name), ("SUBJECT", called), ("BROUGHT", brought), ("SCHEMA", &schema.reference)];
    let files = runtime.files().iter().chain([&SUBJECT_README]);
    let written =
        files.map(|(file, text)| write(own.join(file), filled(text, &words).as_bytes())).collect::<Result<Vec<_>, _>>();
    Ok(written?.into_iter().chain(schema.written).collect())
}

/// Creates the folder of a workload: `folder/name`.
pub fn workload(folder: &Path, name: &str, schemas: Option<&Path>) -> Result<Vec<PathBuf>, ScaffoldError> {
    let own = new_folder(folder, name)?;
    let schema = schema_for(&own, Kind::Workload, schemas)?;
    let words = [("NAME", name), ("SCHEMA", &schema.reference)];
    let written = WORKLOAD.iter().map(|(file, text)| write(own.join(file), filled(text, &words).as_bytes()));
    Ok(written.collect::<Result<Vec<_>, _>>()?.into_iter().chain(schema.written).collect())
}

/// Creates the file of a study: `folder/name.toml`.
pub fn study(
    folder: &Path,
    name: &str,
    schemas: Option<&Path>,
    wish: &StudyWish<'_>,
) -> Result<Vec<PathBuf>, ScaffoldError> {
    let own = new_file(folder, name)?;
    let schema = schema_for(folder, Kind::Study, schemas)?;
    let question = if wish.is_program {
        format!("How long does {} take each of the programs, and how sure is that?", wish.workload)
    } else {
        format!("Which of the subjects gives the most correct responses to {}, and how sure is that?", wish.workload)
    };
    let scenario = if wish.is_program {
        include_str!("files/study/program.toml")
    } else {
        include_str!("files/study/scenario.toml")
    };
    let subjects: Vec<String> = wish.subjects.iter().map(|subject| in_toml(subject)).collect();
    let words = [
        ("SCENARIO", scenario.trim_end()),
        ("WORKLOAD", &inside_quotes(wish.workload)),
        ("QUESTION", &inside_quotes(&question)),
        ("SUBJECTS", &subjects.join(", ")),
        ("SEED", &wish.seed.to_string()),
        ("NAME", name),
        ("STUDY", wish.called),
        ("SCHEMA", &schema.reference),
    ];
    let written = write(own, filled(include_str!("files/study/study.toml"), &words).as_bytes())?;
    Ok([written].into_iter().chain(schema.written).collect())
}

/// Creates the file of a transcription: `folder/name.toml`. `called` is how the user refers to it. It begins with the data from
/// files, or with invented rows.
pub fn transcription(
    folder: &Path,
    name: &str,
    schemas: Option<&Path>,
    called: &str,
    begun: Option<&Begun>,
) -> Result<Vec<PathBuf>, ScaffoldError> {
    let own = new_file(folder, name)?;
    let schema = schema_for(folder, Kind::Transcription, schemas)?;
    let words = [("NAME", name), ("AUDIT", called), ("SCHEMA", &schema.reference)];
    let text = match begun {
        Some(Begun { title, method, rows }) => {
            let text = filled(include_str!("files/audit/from.toml"), &words);
            filled(&text, &[("TITLE", &in_toml(title)), ("METHOD", method), ("ROWS", rows)])
        }
        None => filled(include_str!("files/audit/audit.toml"), &words),
    };
    let written = write(own, text.as_bytes())?;
    Ok([written].into_iter().chain(schema.written).collect())
}

/// Replaces every mark, in the order of `words`: a replacement may itself contain marks.
fn filled(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (mark, word)| text.replace(&format!("@{mark}@"), word))
}

/// A text as a TOML string. JSON's escapes are a subset of TOML's.
fn in_toml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn inside_quotes(text: &str) -> String {
    let quoted = in_toml(text);
    quoted[1..quoted.len() - 1].to_owned()
}

fn refuse_name(name: &str) -> Result<(), ScaffoldError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 64 && name.chars().all(is_plain);
    if fits { Ok(()) } else { Err(ScaffoldError::Name(name.to_owned())) }
}

/// The path of a new file. It creates the folder if that is missing.
fn new_file(folder: &Path, name: &str) -> Result<PathBuf, ScaffoldError> {
    let own = refuse_name(name).map(|()| folder.join(format!("{name}.toml")))?;
    if own.exists() {
        return Err(ScaffoldError::Exists(own));
    }
    fs::create_dir_all(folder).map_err(|source| ScaffoldError::Write { path: folder.to_owned(), source })?;
    Ok(own)
}

fn new_folder(parent: &Path, name: &str) -> Result<PathBuf, ScaffoldError> {
    refuse_name(name)?;
    let failed = |path: &Path, source| ScaffoldError::Write { path: path.to_owned(), source };
    fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
    let own = parent.join(name);
    match fs::create_dir(&own) {
        Ok(()) => Ok(own),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ScaffoldError::Exists(own)),
        Err(source) => Err(failed(&own, source)),
    }
}

fn write(path: PathBuf, content: &[u8]) -> Result<PathBuf, ScaffoldError> {
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| file.write_all(content)) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ScaffoldError::Exists(path)),
        Err(source) => Err(ScaffoldError::Write { path, source }),
    }
}

/// The schema reference in a file's first line.
struct SchemaLine {
    /// As written there.
    reference: String,
    /// The schema's file, if it had to be written.
    written: Option<PathBuf>,
}

/// The path from `folder` to the checkout's schema. Without a checkout, it writes the schema beside the file, the only place that
/// editors can reach.
fn schema_for(folder: &Path, kind: Kind, schemas: Option<&Path>) -> Result<SchemaLine, ScaffoldError> {
    let known = schemas.map(|schemas| schemas.join(kind.file())).filter(|path| path.is_file());
    let whole = |path: &Path| fs::canonicalize(path).ok();
    if let Some((from, to)) = known.and_then(|path| Some((whole(folder)?, whole(&path)?))) {
        return Ok(SchemaLine { reference: relative(&from, &to), written: None });
    }
    let reference = format!("./{}", kind.file());
    let beside = folder.join(kind.file());
    if beside.exists() {
        return Ok(SchemaLine { reference, written: None });
    }
    let written = write(beside, kind.schema().as_bytes())?;
    Ok(SchemaLine { reference, written: Some(written) })
}

/// The relative path from a folder to a file, both absolute and without links.
fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
