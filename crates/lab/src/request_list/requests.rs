//! Requests as JSON Lines, one per line, each with its correct response.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use tolok_load::options::{
    Capture, Expect, ExpectBody, ExpectStatus, Method, Options, Request, problems_of_values, without_blanks_in_braces,
};
use tolok_model::limits::{BODY, REQUESTS};
use tolok_model::shown::is_hidden;

use super::ListError;
use crate::bounded;

/// Keys that a line may have.
const KEYS: [&str; 12] = [
    "part",
    "weight",
    "method",
    "path",
    "headers",
    "body",
    "expect_status",
    "expect_body",
    "expect_length",
    "expect_json",
    "capture",
    "expect_gzip",
];

/// A line may have at most one of these keys.
const BODY_KEYS: [&str; 4] = ["expect_body", "expect_length", "expect_json", "expect_gzip"];

/// Those that name a file.
const FILE_KEYS: [&str; 3] = ["expect_body", "expect_json", "expect_gzip"];

/// The longest name of a part, in bytes.
const LONGEST_PART: usize = 100;

/// Defaults for lines that do not set these.
#[derive(Debug)]
pub struct Defaults {
    /// Headers of every request. A line's own header of the same name replaces one.
    pub headers: Vec<(String, String)>,
    /// The correct response.
    pub expect: Expect,
    /// Of the responses that are compared as JSON, only every n-th is checked.
    pub check_every: u32,
}

/// The requests of a file.
#[derive(Debug)]
pub struct RequestLines {
    pub requests: Vec<Request>,
    /// The names of the files with expected bodies, each with the first line that names it.
    pub files: Vec<(u64, String)>,
}

/// Reads the requests of a file; the values of `options` are filled in, and its mix sets their shares. Reports all problems
/// of the file in one error.
pub fn read(path: &Path, defaults: &Defaults, options: &Options) -> Result<RequestLines, ListError> {
    let (what, here) = ("the file of requests", || path.to_owned());
    let text = bounded::text(path, &REQUESTS).map_err(|error| ListError::Unreadable { what, path: here(), error })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = Reader {
        folder,
        defaults,
        held: HashSet::new(),
        files: HashMap::new(),
        named: Vec::new(),
        parts: Vec::new(),
        problems: Vec::new(),
    };
    let (lines, requests): (Vec<u64>, Vec<Request>) = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .filter_map(|(number, line)| Some((number, reader.line(number, line)?)))
        .unzip();
    let Reader { mut problems, named: files, .. } = reader;
    if requests.is_empty() && problems.is_empty() {
        return Err(ListError::Empty { path: here(), lacks: "request: it needs one a line" });
    }
    if problems.is_empty() {
        let found = problems_of_values(&requests, options);
        problems.extend(found.into_iter().map(|(place, problem)| (lines[place], problem)));
    }
    if problems.is_empty() {
        Ok(RequestLines { requests, files })
    } else {
        Err(ListError::Wrong { path: here(), problems })
    }
}

/// An object with every key as written, including duplicate keys.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object such as {\"path\":\"/\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Object)
    }
}

/// The content of a named file, or why no body can be compared with it.
type Named = Result<Arc<[u8]>, String>;

struct Reader<'a> {
    folder: &'a Path,
    defaults: &'a Defaults,
    /// Bodies, each stored once, however many lines expect it.
    held: HashSet<Arc<[u8]>>,
    /// Files read so far, by path and by whether they were read as JSON.
    files: HashMap<(PathBuf, bool), Named>,
    /// File names as written, each once, with its first line.
    named: Vec<(u64, String)>,
    /// Names of parts, each stored once.
    parts: Vec<Arc<str>>,
    /// Each problem with its line number.
    problems: Vec<(u64, String)>,
}

impl Reader<'_> {
    /// The request of a line, if the line has no problems.
    fn line(&mut self, number: u64, line: &str) -> Option<Request> {
        let before = self.problems.len();
        match serde_json::from_str(line) {
            Ok(Members(members)) => {
                let request = self.request(number, members);
                (self.problems.len() == before).then_some(request)
            }
            Err(error) => {
                let text = error.to_string();
                let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
                // A line that is not an object has no column.
                let column = if error.column() > 0 { format!(" at column {}", error.column()) } else { String::new() };
                self.problems.push((number, format!("no request in JSON: {what}{column}")));
                None
            }
        }
    }

    fn request(&mut self, number: u64, members: Vec<(String, Value)>) -> Request {
        let (headers, expect) = (self.defaults.headers.clone(), self.defaults.expect.clone());
        let mut request = Request { headers, expect, ..Request::get("/") };
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in &members {
            let known = match KEYS.iter().find(|known| *known == key) {
                None => Err(format!("unknown key `{key}`; known are {}", KEYS.join(", "))),
                Some(key) if seen.contains(key) => Err(format!("`{key}` appears twice")),
                Some(key) => self.member(&mut request, key, value),
            };
            if let (true, Some(name)) = (FILE_KEYS.contains(&key.as_str()), value.as_str())
                && self.named.iter().all(|(_, known)| known != name)
            {
                self.named.push((number, name.to_owned()));
            }
            if let Err(problem) = known {
                self.problems.push((number, problem));
            }
            seen.push(key);
        }
        let problems = contradictions(&request, &seen);
        self.problems.extend(problems.into_iter().map(|problem| (number, problem)));
        request
    }

    /// Stores the value of a known key in the request.
    fn member(&mut self, request: &mut Request, key: &str, value: &Value) -> Result<(), String> {
        let wrong = |right: &str| format!("`{key}` is {right}, and not {value}");
        let text = || value.as_str().ok_or_else(|| wrong("a text"));
        match key {
            "weight" => {
                let weight = value.as_u64().and_then(|weight| u32::try_from(weight).ok()).filter(|weight| *weight > 0);
                request.weight = weight.ok_or_else(|| wrong("a whole number from 1 on"))?;
            }
            "part" => request.part = Some(self.part(text()?)?),
            "method" => request.method = Method::named(text()?)?,
            "path" => request.path = without_blanks_in_braces(text()?),
            "headers" => {
                let headers = value.as_object().ok_or_else(|| wrong("an object of names and values"))?;
                for (name, value) in headers {
                    request.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                    request.headers.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
                }
                if let Some((name, value)) = headers.iter().find(|(_, value)| !value.is_string()) {
                    return Err(format!("the header `{name}` is a text, and not {value}"));
                }
            }
            "capture" => {
                let captures = value.as_object().ok_or_else(|| wrong("an object of names and JSON pointers"))?;
                for (name, pointer) in captures {
                    let pointer = pointer.as_str().ok_or_else(|| wrong("an object of names and JSON pointers"))?;
                    request.captures.push(Capture { name: name.clone(), pointer: pointer.to_owned() });
                }
            }
            "body" => request.body = text()?.as_bytes().to_vec(),
            "expect_status" => {
                let status = value.as_u64().and_then(|status| u16::try_from(status).ok());
                let status = status.filter(|status| (200..600).contains(status));
                request.expect.status = ExpectStatus::Exactly(status.ok_or_else(|| wrong("a status from 200 to 599"))?);
            }
            "expect_body" | "expect_json" | "expect_gzip" => request.expect.body = self.expected(key, text()?)?,
            _ => {
                let length = value.as_u64().ok_or_else(|| wrong("a number of bytes"))?;
                request.expect.body = match self.defaults.expect.body {
                    ExpectBody::Discard { .. } => ExpectBody::Discard { length: Some(length) },
                    _ => ExpectBody::Length(length),
                };
            }
        }
        Ok(())
    }

    /// The name of a part of the mix, shared by all lines that have it.
    fn part(&mut self, name: &str) -> Result<Arc<str>, String> {
        let is_name =
            !name.is_empty() && name.len() <= LONGEST_PART && !name.chars().any(is_hidden) && !name.contains('\n');
        if !is_name {
            return Err(format!("`part` is a name of 1 to {LONGEST_PART} bytes, and not {name:?}"));
        }
        if let Some(known) = self.parts.iter().find(|known| ***known == *name) {
            return Ok(Arc::clone(known));
        }
        self.parts.push(Arc::from(name));
        Ok(Arc::from(name))
    }

    /// The expected body from a file, whose path is relative to the file of requests.
    fn expected(&mut self, key: &str, name: &str) -> Result<ExpectBody, String> {
        if matches!(self.defaults.expect.body, ExpectBody::Discard { .. }) {
            return Err(format!(
                "`{key}` and --discard exclude each other: bodies thrown away unread are not compared"
            ));
        }
        let is_json = key == "expect_json";
        let place = (self.folder.join(name), is_json);
        let named = match self.files.get(&place) {
            Some(named) => named.clone(),
            None => {
                let named = self.file(&place.0, is_json);
                self.files.insert(place, named.clone());
                named
            }
        };
        let bytes = named.map_err(|problem| format!("`{key}`: {problem}"))?;
        Ok(if key == "expect_gzip" { ExpectBody::Gzip(bytes) } else { self.compared(bytes, is_json) })
    }

    fn compared(&self, bytes: Arc<[u8]>, is_json: bool) -> ExpectBody {
        match is_json {
            true => ExpectBody::Json { document: bytes, every: self.defaults.check_every },
            false => ExpectBody::Exactly(bytes),
        }
    }

    fn file(&mut self, path: &Path, is_json: bool) -> Named {
        let bytes = bounded::read(path, &BODY).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let bytes = match self.held.get(bytes.as_slice()) {
            Some(held) => Arc::clone(held),
            None => Arc::from(bytes),
        };
        self.held.insert(Arc::clone(&bytes));
        match self.compared(Arc::clone(&bytes), is_json).problem() {
            Some(problem) => Err(format!("{}: {problem}", path.display())),
            None => Ok(bytes),
        }
    }
}

/// Problems of a line as a whole.
fn contradictions(request: &Request, seen: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    if !seen.contains(&"path") {
        problems.push("`path` is missing".to_owned());
    }
    let bodies: Vec<&str> = BODY_KEYS.into_iter().filter(|key| seen.contains(key)).collect();
    if bodies.len() > 1 {
        problems.push(format!("{} exclude each other; give one of them", bodies.join(" and ")));
    }
    let carries = !matches!(request.method, Method::Get | Method::Head);
    if !request.body.is_empty() && !carries {
        problems.push(format!("`body`: a {} carries none; use POST, PUT, PATCH or DELETE", request.method.as_str()));
    }
    problems.extend(request.problems());
    problems
}
