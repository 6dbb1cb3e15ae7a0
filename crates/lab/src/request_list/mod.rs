//! Files of requests and of the values for them, as named by `tolok load` and by workloads.

mod data;
mod requests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tolok_load::options::{DataOrder, Expect, ExpectBody, ExpectStatus, Mix, Options};
use tolok_model::Workload;

pub use self::data::read as read_data;
pub use self::requests::{Defaults, RequestLines, read as read_requests};
use crate::home::Home;

/// The most problems shown; more are usually one problem, repeated.
const MOST_SHOWN: usize = 50;

/// What is wrong with a file.
#[derive(Debug)]
pub enum ListError {
    Unreadable {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// It has no content.
    Empty {
        path: PathBuf,
        lacks: &'static str,
    },
    /// Each problem with its line number.
    Wrong {
        path: PathBuf,
        problems: Vec<(u64, String)>,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { what, path, error } => {
                let remedy = match error.kind() {
                    // This error already names the remedy.
                    io::ErrorKind::FileTooLarge => "",
                    _ => ". Check the path and its permissions",
                };
                write!(f, "cannot read {what} {}: {error}{remedy}", path.display())
            }
            Self::Empty { path, lacks } => write!(f, "{} has no {lacks}", path.display()),
            Self::Wrong { path, problems } => {
                let name = path.display();
                let shown = problems.iter().take(MOST_SHOWN).map(|(line, problem)| format!("{name}:{line}: {problem}"));
                let shown = shown.collect::<Vec<_>>().join("\nerror: ");
                let more = problems.len().saturating_sub(MOST_SHOWN);
                let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
                match problems.len() {
                    1 => f.write_str(&shown),
                    many => write!(f, "{shown}{more}\nerror: {name} has {many} problems"),
                }
            }
        }
    }
}

impl std::error::Error for ListError {}

/// The requests and values of a workload that has a file of them, and the names of all files that these use.
pub fn of(home: &Home, workload: &Workload) -> Result<Option<(Options, Vec<String>)>, ListError> {
    let Some(list) = workload.list() else { return Ok(None) };
    let folder = home.files_of(workload);
    let mut options = Options::new("http://127.0.0.1/").expect("this is a URL");
    if let Some(data) = &list.data {
        options.data = Some(Arc::new(read_data(&folder.join(data), of_model(list.data_order))?));
    }
    options.mix = if list.sequence { Mix::Sequence } else { Mix::Weighted };
    let expect = Expect { status: ExpectStatus::Success, body: ExpectBody::Anything };
    let path = folder.join(&list.file);
    let RequestLines { requests, files } =
        read_requests(&path, &Defaults { headers: Vec::new(), expect, check_every: 1 }, &options)?;
    if let Some((line, name)) = files.iter().find(|(_, name)| !is_below(Path::new(name))) {
        let problem =
            format!("`{name}` lies outside the workload's folder, whose files the run records; copy it there");
        return Err(ListError::Wrong { path, problems: vec![(*line, problem)] });
    }
    options.requests = requests;
    let own = [Some(&list.file), list.data.as_ref()].into_iter().flatten().cloned();
    Ok(Some((options, own.chain(files.into_iter().map(|(_, name)| name)).collect())))
}

fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn of_model(order: tolok_model::DataOrder) -> DataOrder {
    match order {
        tolok_model::DataOrder::Random => DataOrder::Random,
        tolok_model::DataOrder::InOrder => DataOrder::InOrder,
    }
}
