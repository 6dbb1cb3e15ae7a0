//! The response bodies of all workloads, laid out under their names in URLs.
//!
//! Servers read their responses from here and the generator compares with them, so both have the same bytes. The
//! folder is private to one session but readable by all users, because servers drop their privileges after the start
//! and could not read a checkout under `/root`.
//!
//! The responses of database workloads are computed, and are here only for the generator. A path with a query cannot be
//! a file name, so one is derived from it. A workload with many responses has a list of requests beside them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tolok_model::{Body, Workload};

use super::check::check;
use super::png::noise_png;
use super::requests::{self, Line};
use crate::data_contract::{Answers, AnswersError, PathAnswer, is_resolved};
use crate::home::Home;
use crate::request_list::{self, ListError};
use tolok_load::ask::{Answer, Question, Rehearsal};
use tolok_load::options::{Options, Request};

/// The content type of a body that tolok generates at random.
pub(crate) const DRAWN_TYPE: &str = "application/octet-stream";
/// The content type of a body that writes a row.
pub(crate) const SENT_TYPE: &str = "application/json";

/// The answers of workloads that were not laid out.
static UNKNOWN: Answers = Answers::UNKNOWN;

/// The folder with the response bodies.
#[derive(Debug, Clone)]
pub struct Assets {
    folder: PathBuf,
    laid_out: BTreeMap<String, LaidOut>,
}

/// The answers of one workload.
#[derive(Debug, Clone)]
struct LaidOut {
    answers: Answers,
    /// The name of the file from which the generator learns the correct responses.
    file: Option<String>,
    sent: Option<Sent>,
    listed: Option<Listed>,
}

/// The requests of a workload that has a file of them.
#[derive(Debug, Clone)]
struct Listed {
    /// The requests with their values, as used in a run.
    options: Options,
    /// The first request, filled in.
    first: Request,
}

/// The body of a workload's request.
#[derive(Debug, Clone)]
struct Sent {
    content_type: String,
    body: Vec<u8>,
    /// A body that the server must refuse.
    refused: Option<Vec<u8>>,
    /// The name of the file with the body, for the generator.
    file: String,
}

/// Why the response bodies cannot be laid out.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    #[error("cannot lay out the answer body {}: {source}; see whether the workload's folder has it, and whether there is room in TMPDIR", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("workload {workload}: a picture of {bytes} bytes cannot be made; ask for 2,000 or more")]
    TooSmall { workload: String, bytes: usize },
    /// The answers of a workload cannot be computed.
    #[error(transparent)]
    Answers(#[from] AnswersError),
    #[error(transparent)]
    List(#[from] ListError),
}

impl Assets {
    /// Writes the bodies of `workloads` into `folder`, which must exist. Skips workloads with parameters that no study has set:
    /// nobody requests them, and their bodies may be large.
    pub fn lay_out(folder: PathBuf, home: &Home, workloads: &[Workload]) -> Result<Self, AssetError> {
        let mut assets = Self { folder, laid_out: BTreeMap::new() };
        for workload in workloads {
            assets.lay_out_one(home, workload)?;
        }
        Ok(assets)
    }

    fn lay_out_one(&mut self, home: &Home, workload: &Workload) -> Result<(), AssetError> {
        if self.laid_out.contains_key(&workload.name) || !is_resolved(workload) {
            return Ok(());
        }
        for (_, part) in workload.parts() {
            self.lay_out_one(home, part)?;
        }
        let laid_out = match workload.is_mixed() {
            true => self.mixed(workload)?,
            false => self.lay_out_list(home, workload)?.map_or_else(|| self.single(home, workload), Ok)?,
        };
        self.laid_out.insert(workload.name.clone(), laid_out);
        Ok(())
    }

    fn single(&self, home: &Home, workload: &Workload) -> Result<LaidOut, AssetError> {
        let (answers, file) = match Answers::of(workload)? {
            Some(answers) => {
                let file = self.write_computed(workload, &answers)?;
                (answers, file)
            }
            None if workload.body.varying().is_some() => (Answers::Any { example: body(home, workload)? }, None),
            None => {
                let (body, asset) = (body(home, workload)?, workload.asset());
                self.write(&asset, &body)?;
                (Answers::One { body }, Some(asset))
            }
        };
        Ok(LaidOut { answers, file, sent: self.write_sent(home, workload)?, listed: None })
    }

    /// The requests of a file, and copies of the files that they name, because a generator may not be able to see their folder.
    fn lay_out_list(&self, home: &Home, workload: &Workload) -> Result<Option<LaidOut>, AssetError> {
        let (Some(list), Some((options, files))) = (workload.list(), request_list::of(home, workload)?) else {
            return Ok(None);
        };
        let here = |name: &str| format!("{}/{name}", list_folder(workload));
        for name in &files {
            self.write(&here(name), &read(home, workload, name)?)?;
        }
        let first = Rehearsal::new(&options, 0).map(|mut rehearsal| rehearsal.request(0).clone());
        let first = first.unwrap_or_else(|_| options.requests[0].clone());
        let (answers, file, listed) = (Answers::UNKNOWN, Some(here(&list.file)), Some(Listed { options, first }));
        Ok(Some(LaidOut { answers, file, sent: None, listed }))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The correct answers of `workload`; any answer if it was not laid out.
    pub fn answers(&self, workload: &Workload) -> &Answers {
        self.laid_out.get(&workload.name).map_or(&UNKNOWN, |laid_out| &laid_out.answers)
    }

    /// The file with the correct responses of `workload`: its body, or, if there are many, a list of requests for the load
    /// engine, one JSON object per line. `None` if any response is accepted.
    pub fn file(&self, workload: &Workload) -> Option<PathBuf> {
        let file = self.laid_out.get(&workload.name)?.file.as_ref()?;
        Some(self.folder.join(file))
    }

    /// The file of values for its requests.
    pub fn data_file(&self, workload: &Workload) -> Option<PathBuf> {
        Some(self.folder.join(list_folder(workload)).join(workload.list()?.data.as_ref()?))
    }

    /// The requests of a file as used in a run, if the workload has such a file.
    pub fn listed(&self, workload: &Workload) -> Option<&Options> {
        self.list_of(workload).map(|listed| &listed.options)
    }

    fn list_of(&self, workload: &Workload) -> Option<&Listed> {
        self.laid_out.get(&workload.name)?.listed.as_ref()
    }

    /// Compares an answer to the representative request of `workload` with the correct one, and describes the difference.
    pub fn check(&self, answer: &Answer, workload: &Workload) -> Result<(), String> {
        let Some(Listed { options, .. }) = self.list_of(workload) else {
            return check(answer, workload, self.body(workload));
        };
        Rehearsal::new(options, 0).map_err(|error| error.to_string())?.judge(0, answer)
    }

    /// The path of the representative request of `workload`: its own, or the first of many.
    pub fn path<'a>(&'a self, workload: &'a Workload) -> &'a str {
        if let Some(Listed { first, .. }) = self.list_of(workload) {
            return &first.path;
        }
        self.first(workload).map_or(&workload.first_part().path, |first| &first.path)
    }

    fn first(&self, workload: &Workload) -> Option<&PathAnswer> {
        match self.answers(workload.first_part()) {
            Answers::Many(answers) => answers.first(),
            Answers::One { .. } | Answers::Any { .. } => None,
        }
    }

    /// The request that represents all of `workload`.
    pub fn question<'a>(&'a self, workload: &'a Workload) -> Question<'a> {
        if let Some(Listed { first, .. }) = self.list_of(workload) {
            return Question::of(first);
        }
        let body = self.sent(workload).map(|sent| (sent.content_type.as_str(), sent.body.as_slice()));
        let drawn = self.first(workload).and_then(|first| first.sent.as_deref()).map(|sent| (DRAWN_TYPE, sent));
        let asked = workload.first_part();
        let (path, body, gzip) = (self.path(workload), body.or(drawn), asked.accepts_gzip());
        Question { body, gzip, ..Question::plain(&asked.method, path) }
    }

    /// The same with a body that the server must refuse, if there is one.
    pub fn refused<'a>(&'a self, workload: &'a Workload) -> Option<Question<'a>> {
        let sent = self.sent(workload)?;
        let body = Some((sent.content_type.as_str(), sent.refused.as_deref()?));
        Some(Question { body, ..self.question(workload) })
    }

    /// The file with the body of the request, and its type, if it has one.
    pub fn sent_file(&self, workload: &Workload) -> Option<(PathBuf, &str)> {
        self.sent(workload).map(|sent| (self.folder.join(&sent.file), sent.content_type.as_str()))
    }

    fn sent(&self, workload: &Workload) -> Option<&Sent> {
        self.laid_out.get(&workload.first_part().name)?.sent.as_ref()
    }

    /// Writes the body of the request for the generator.
    fn write_sent(&self, home: &Home, workload: &Workload) -> Result<Option<Sent>, AssetError> {
        let Some(sent) = &workload.sent else { return Ok(None) };
        let read = |name: &String| read(home, workload, name);
        let (body, refused) = (read(&sent.file)?, sent.refused.as_ref().map(read).transpose()?);
        let file = format!("{}.request", workload.asset());
        self.write(&file, &body)?;
        Ok(Some(Sent { content_type: sent.content_type.clone(), body, refused, file }))
    }

    /// The correct body for [`Self::path`], or an example of it; empty if unknown.
    pub fn body(&self, workload: &Workload) -> &[u8] {
        match self.answers(workload.first_part()) {
            Answers::One { body } => body,
            Answers::Many(answers) => answers.first().map(|first| first.body.as_slice()).unwrap_or_default(),
            Answers::Any { example } => example,
        }
    }

    /// Writes computed answers, and returns the file that lists them.
    fn write_computed(&self, workload: &Workload, answers: &Answers) -> Result<Option<String>, AssetError> {
        match answers {
            Answers::Any { .. } => Ok(None),
            Answers::One { body } => {
                let file = format!("{}.json", file_stem(&workload.path));
                self.write(&file, body)?;
                Ok(Some(file))
            }
            Answers::Many(answers) => {
                for (number, PathAnswer { path, body, .. }) in (1..).zip(answers) {
                    self.write(&owed_file(workload, number, path), body)?;
                }
                self.write_requests(workload, &drawn(workload, answers)).map(Some)
            }
        }
    }

    fn write_requests(&self, workload: &Workload, lines: &[Line<'_>]) -> Result<String, AssetError> {
        let file = format!("{}.jsonl", file_stem(&workload.name));
        self.write(&file, requests::text(lines).as_bytes())?;
        Ok(file)
    }

    /// The requests of all parts, whose own files were written before.
    fn mixed(&self, workload: &Workload) -> Result<LaidOut, AssetError> {
        let lines = |part| match self.answers(part) {
            Answers::Many(answers) => drawn(part, answers),
            Answers::One { .. } | Answers::Any { .. } => {
                let sent = self.sent(part).map(|sent| (sent.content_type.as_str(), sent.body.as_slice()));
                let file = self.laid_out.get(&part.name).and_then(|laid_out| laid_out.file.clone());
                vec![Line::single(part, sent, file)]
            }
        };
        let parts = workload.parts().map(|(weight, part)| (weight, part, lines(part))).collect();
        let file = self.write_requests(workload, &requests::mixed(parts))?;
        Ok(LaidOut { answers: Answers::UNKNOWN, file: Some(file), sent: None, listed: None })
    }

    /// Mean length of the bodies if a workload has many; 0 if it has one or accepts any.
    pub fn mean_body_bytes(&self, workload: &Workload) -> u64 {
        let mean = |lengths: &mut dyn Iterator<Item = (u32, u64)>| {
            let (weights, all) = lengths.fold((0, 0), |(weights, all), (weight, bytes)| {
                (weights + u64::from(weight), all + u64::from(weight) * bytes)
            });
            all.checked_div(weights).unwrap_or_default()
        };
        let of_part = |part: &Workload| match self.answers(part) {
            Answers::One { body } => body.len() as u64,
            Answers::Many(_) => self.mean_body_bytes(part),
            Answers::Any { .. } => part.body.varying().and_then(|varying| varying.bytes).unwrap_or_default(),
        };
        match self.answers(workload) {
            // The length of compressed bodies depends on the server.
            Answers::Many(_) if workload.accepts_gzip() => 0,
            Answers::Many(answers) => mean(&mut answers.iter().map(|it| (it.weight, it.body.len() as u64))),
            _ => mean(&mut workload.parts().map(|(weight, part)| (weight, of_part(part)))),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), AssetError> {
        let path = self.folder.join(name);
        let with_folder = || match path.parent().filter(|folder| **folder != self.folder) {
            Some(folder) => folder_for_everybody(folder),
            None => Ok(()),
        };
        let written = with_folder().and_then(|()| write_for_everybody(&path, content));
        written.map_err(|source| AssetError::File { path: path.clone(), source })
    }
}

/// The file with the correct response to one of many requests.
fn owed_file(workload: &Workload, number: usize, path: &str) -> String {
    match workload.body.is_mix() {
        true => path.trim_start_matches('/').to_owned(),
        false => format!("{}-{number}.json", file_stem(&workload.name)),
    }
}

/// The folder of a workload's request file and all files that it names. No request path can have this name.
fn list_folder(workload: &Workload) -> String {
    format!("list@{}", file_stem(&workload.name))
}

fn drawn<'a>(workload: &'a Workload, answers: &'a [PathAnswer]) -> Vec<Line<'a>> {
    let line = |(number, answer): (usize, &'a PathAnswer)| {
        Line::drawn(workload, answer, owed_file(workload, number, &answer.path))
    };
    (1..).zip(answers).map(line).collect()
}

/// Makes a file name of a path or a workload's name: `/rows?limit=5` gives `rows-limit-5`.
fn file_stem(path: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._".contains(character);
    path.trim_start_matches('/').chars().map(|character| if is_plain(character) { character } else { '-' }).collect()
}

/// Reads a file beside a workload's `workload.toml`.
fn read(home: &Home, workload: &Workload, name: &str) -> Result<Vec<u8>, AssetError> {
    let path = home.files_of(workload).join(name);
    fs::read(&path).map_err(|source| AssetError::File { path, source })
}

/// Type and body of a workload's request, if it has a body.
pub(crate) fn body_sent(home: &Home, workload: &Workload) -> Result<Option<(String, Vec<u8>)>, AssetError> {
    let sent = workload.sent.as_ref();
    sent.map(|sent| Ok((sent.content_type.clone(), read(home, workload, &sent.file)?))).transpose()
}

fn body(home: &Home, workload: &Workload) -> Result<Vec<u8>, AssetError> {
    match &workload.body {
        Body::File(name) => read(home, workload, name),
        Body::Varying(varying) => varying.file.as_ref().map_or(Ok(Vec::new()), |name| read(home, workload, name)),
        // These answers were computed before.
        Body::Data { .. } | Body::Computed { .. } | Body::Mixed { .. } | Body::List { .. } => Ok(Vec::new()),
        Body::Generated(generated) => {
            let too_small = || AssetError::TooSmall { workload: workload.name.clone(), bytes: generated.bytes };
            noise_png(generated.bytes, generated.seed).ok_or_else(too_small)
        }
    }
}

fn folder_for_everybody(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Writes a file that servers can read after they have dropped their privileges, whatever the umask is.
pub(crate) fn write_for_everybody(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::write(path, content)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use tolok_model::{
        Compared, DataBody, GeneratedBody, GeneratedKind, VaryingBody, WorkloadFolder, WorkloadParameter,
    };

    use super::*;

    fn workload(name: &str, path: &str, body: Body) -> Workload {
        Workload {
            name: name.to_owned(),
            title: String::new(),
            summary: String::new(),
            method: "GET".to_owned(),
            path: path.to_owned(),
            sent: None,
            status: 200,
            content_type: "text/html".to_owned(),
            body,
            database: false,
            pipeline: 1,
            parameters: BTreeMap::new(),
            values: BTreeMap::new(),
            folder: None,
        }
    }

    fn picture(bytes: usize) -> Workload {
        let body = Body::Generated(GeneratedBody { generate: GeneratedKind::Png, bytes, seed: 1 });
        workload("file", "/file-2k.png", body)
    }

    #[test]
    fn bodies_lie_under_their_url_names_for_everybody_to_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("assets");
        fs::create_dir_all(root.path().join("workloads/hello")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(root.path().join("workloads/hello/body.html"), "<p>Hello").unwrap();
        let hello = workload("hello", "/hello", Body::File("body.html".to_owned()));
        let file = picture(2000);

        let workloads = [hello.clone(), file.clone()];
        let assets = Assets::lay_out(folder.clone(), &Home::at(root.path()), &workloads).unwrap();
        assert_eq!(assets.body(&hello), b"<p>Hello");
        assert_eq!(assets.body(&file).len(), 2000);
        for (workload, name) in [(&hello, "hello"), (&file, "file-2k.png")] {
            assert_eq!(assets.file(workload), Some(folder.join(name)));
            assert_eq!(assets.path(workload), workload.path);
            assert_eq!(fs::read(folder.join(name)).unwrap(), assets.body(workload));
            assert_eq!(fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777, 0o644);
        }
    }

    #[test]
    fn bodies_of_paths_that_name_no_file_lie_under_the_name_of_their_workload() {
        let root = tempfile::tempdir().unwrap();
        let body = |name: &str| fs::read(root.path().join(name)).unwrap();
        let mut workloads = Vec::new();
        for (name, path) in
            [("first", "/api/users?page=1"), ("second", "/api/users?page=2"), ("top", "/"), ("up", "/..")]
        {
            fs::create_dir_all(root.path().join("workloads").join(name)).unwrap();
            fs::write(root.path().join("workloads").join(name).join("body"), name).unwrap();
            workloads.push(workload(name, path, Body::File("body".to_owned())));
        }
        lay_out(root.path(), &workloads).unwrap();
        for name in ["first", "second", "top", "up"] {
            assert_eq!(body(&format!("answer@{name}")), name.as_bytes());
        }
    }

    #[test]
    fn a_body_that_differs_is_an_example_and_not_what_the_load_compares() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("mine")).unwrap();
        fs::write(root.path().join("mine/body.json"), "{\"id\":1}").unwrap();
        let varying = VaryingBody { compared: Compared::Shape, file: Some("body.json".to_owned()), bytes: None };
        let folder = WorkloadFolder {
            workload: "mine".to_owned(),
            folder: root.path().join("mine").display().to_string(),
            sha256: String::new(),
        };
        let mine = Workload { folder: Some(folder), ..workload("mine", "/mine", Body::Varying(varying)) };
        let assets = lay_out(root.path(), std::slice::from_ref(&mine)).unwrap();
        assert_eq!((assets.body(&mine), assets.file(&mine)), (b"{\"id\":1}".as_slice(), None));
    }

    #[test]
    fn a_body_that_cannot_be_had_is_named() {
        let root = tempfile::tempdir().unwrap();
        let check = |workload: Workload, expect: String| {
            let laid_out = Assets::lay_out(root.path().to_owned(), &Home::at(root.path()), &[workload]);
            assert_eq!(laid_out.unwrap_err().to_string(), expect);
        };
        let absent = root.path().join("workloads/hello/body.html");
        let expect = format!(
            "cannot lay out the answer body {}: No such file or directory (os error 2); see whether the workload's folder has it, and whether there is room in TMPDIR",
            absent.display()
        );
        check(workload("hello", "/hello", Body::File("body.html".to_owned())), expect);
        let expect = "workload file: a picture of 100 bytes cannot be made; ask for 2,000 or more";
        check(picture(100), expect.to_owned());
    }

    fn data(name: &str, path: &str, data: DataBody, values: &[(&str, u32)]) -> Workload {
        let parameter =
            WorkloadParameter { default: 40, least: 1, most: 10_000, one_of: Vec::new(), help: String::new() };
        Workload {
            parameters: values.iter().map(|(name, _)| ((*name).to_owned(), parameter.clone())).collect(),
            values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            content_type: "application/json".to_owned(),
            database: true,
            ..workload(name, path, Body::Data { data })
        }
    }

    fn lay_out(folder: &Path, workloads: &[Workload]) -> Result<Assets, AssetError> {
        Assets::lay_out(folder.to_owned(), &Home::at(folder), workloads)
    }

    #[test]
    fn one_computed_answer_lies_under_a_name_made_of_its_path() {
        let root = tempfile::tempdir().unwrap();
        let (name, path) = ("rows?fields=40&limit=3", "/rows?fields=40&limit=3");
        let rows = data(name, path, DataBody::Rows, &[("fields", 40), ("limit", 3)]);
        let assets = lay_out(root.path(), std::slice::from_ref(&rows)).unwrap();
        assert_eq!(assets.file(&rows), Some(root.path().join("rows-fields-40-limit-3.json")));
        assert_eq!(fs::read(assets.file(&rows).unwrap()).unwrap(), assets.body(&rows));
        assert_eq!(assets.body(&rows), crate::data_contract::rows_body(40, 3).unwrap());
        assert_eq!(assets.path(&rows), path);
    }

    #[test]
    fn many_computed_answers_have_a_list_of_requests_beside_them() {
        let root = tempfile::tempdir().unwrap();
        let query = data("query", "/query", DataBody::Query, &[]);
        let queries = data("queries?n=2", "/queries?n=2", DataBody::Queries, &[("n", 2)]);
        let assets = lay_out(root.path(), &[query.clone(), queries.clone()]).unwrap();
        for (workload, file, count, start) in
            [(&query, "query.jsonl", 64, "/query?id="), (&queries, "queries-n-2.jsonl", 16, "/queries?n=2&seed=")]
        {
            assert_eq!(assets.file(workload), Some(root.path().join(file)));
            let Answers::Many(answers) = assets.answers(workload) else { panic!("{:?}", assets.answers(workload)) };
            let requests = fs::read_to_string(root.path().join(file)).unwrap();
            assert_eq!((requests.lines().count(), answers.len()), (count, count));
            for (line, answer) in requests.lines().zip(answers) {
                let request: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(request["method"], "GET");
                assert_eq!(request["path"], answer.path);
                let body = root.path().join(request["expect_body"].as_str().unwrap());
                assert_eq!(fs::read(&body).unwrap(), answer.body);
                assert_eq!(fs::metadata(&body).unwrap().permissions().mode() & 0o777, 0o644);
                assert!(answer.path.starts_with(start), "{}", answer.path);
            }
            assert_eq!((assets.path(workload), assets.body(workload)), (&*answers[0].path, &*answers[0].body));
        }
        let first = fs::read_to_string(root.path().join("query.jsonl")).unwrap();
        let key = assets.path(&query).strip_prefix("/query?id=").unwrap();
        let expect = format!(r#"{{"method":"GET","path":"/query?id={key}","expect_body":"query-1.json"}}"#);
        assert_eq!(first.lines().next(), Some(expect.as_str()));
    }

    #[test]
    fn the_files_of_a_mix_lie_where_servers_find_them() {
        let root = tempfile::tempdir().unwrap();
        let body = Body::Generated(GeneratedBody { generate: GeneratedKind::Mix, bytes: 1024, seed: 1 });
        let mix = workload("static", "/static", body);
        let assets = lay_out(root.path(), std::slice::from_ref(&mix)).unwrap();
        let folder = root.path().join("static");
        let length = |number| fs::read(folder.join(format!("{number}.bin"))).unwrap().len();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(length), [4, 4, 16, 16, 64, 64, 256, 256, 1024, 1024]);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(assets.path(&mix), "/static/0.bin");
        let requests = fs::read_to_string(assets.file(&mix).unwrap()).unwrap();
        let first = r#"{"weight":16,"method":"GET","path":"/static/0.bin","expect_body":"static/0.bin"}"#;
        assert_eq!((requests.lines().next(), requests.lines().count()), (Some(first), 10));
    }

    #[test]
    fn bodies_that_no_request_can_ask_for_are_not_written() {
        let root = tempfile::tempdir().unwrap();
        let any = [("counter", DataBody::Counter), ("fidelity", DataBody::Fidelity)];
        let any = any.map(|(name, body)| data(name, &format!("/{name}"), body, &[]));
        let mut unresolved = data("rows", "/rows", DataBody::Rows, &[("fields", 40), ("limit", 10_000)]);
        unresolved.values.clear();
        let assets = lay_out(root.path(), &[any[0].clone(), any[1].clone(), unresolved.clone()]).unwrap();
        for workload in any.iter().chain([&unresolved]) {
            assert_eq!((assets.answers(workload), assets.file(workload)), (&Answers::UNKNOWN, None));
            assert!(assets.body(workload).is_empty());
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_table_that_does_not_exist_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let rows = data("rows?fields=45", "/rows?fields=45", DataBody::Rows, &[("fields", 45), ("limit", 1)]);
        let expect = "workload rows?fields=45: there is no table of 45 fields; ask for fields=40 or fields=50";
        assert_eq!(lay_out(root.path(), &[rows]).unwrap_err().to_string(), expect);
        let rows = data("rows", "/rows", DataBody::Rows, &[("fields", 40)]);
        let expect = "workload rows: its answer needs the parameter `limit`; add it to its workload.toml";
        assert_eq!(lay_out(root.path(), &[rows]).unwrap_err().to_string(), expect);
    }
}
