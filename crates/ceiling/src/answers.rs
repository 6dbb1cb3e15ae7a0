//! The prepared answers: one byte string each, with head and body. A large body is an open file instead, which the kernel sends without
//! copying.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// File in the folder of assets, and its content type. The path is a slash and the name.
const WORKLOADS: [(&str, &str); 4] = [
    ("hello", "text/html"),
    ("json", "application/json"),
    ("quicksort", "application/json"),
    ("file-534k.png", "image/png"),
];

/// The folder of a mix of files.
const MIX: &str = "static";

/// Bodies of at least this size are sent from their file; smaller ones save that system call. The best size was not determined: no workload
/// is near it.
const FILE_FROM_BYTES: usize = 32 * 1024;

/// What happens to the connection after an answer, and whether the answer announces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// HTTP/1.1 keeps it without an announcement.
    Keep,
    /// HTTP/1.0 keeps it only if announced.
    KeepAndSay,
    /// It is closed, as announced.
    Close,
}

/// One answer in its three forms.
#[derive(Debug)]
struct Answer {
    /// Bytes of the answer and length of its head, by [`After`].
    forms: [(Vec<u8>, usize); 3],
    file: Option<BodyFile>,
    refuses: bool,
}

/// A body to send from its file.
#[derive(Debug)]
pub struct BodyFile {
    pub file: File,
    pub length: u64,
}

/// What to send for a request: the bytes, then the file.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'answers> {
    pub bytes: &'answers [u8],
    pub file: Option<&'answers BodyFile>,
    /// Whether it rejects the request.
    pub refuses: bool,
}

/// All answers of the server.
#[derive(Debug)]
pub struct Answers {
    found: Vec<(String, Answer)>,
    not_found: Answer,
    not_allowed: Answer,
    bad_request: Answer,
    too_large: Answer,
}

impl Answers {
    /// Reads the bodies that exist for the workloads; at least one must.
    pub fn read(assets: &Path) -> Result<Answers, String> {
        let mut found = Vec::new();
        for (name, content_type) in WORKLOADS {
            let path = assets.join(name);
            match Answer::read(&path, content_type) {
                Ok(answer) => found.push((format!("/{name}"), answer)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
            }
        }
        found.extend(mixed(&assets.join(MIX))?);
        if found.is_empty() {
            let names = WORKLOADS.map(|(name, _)| name).join(", ");
            return Err(format!(
                "{} holds none of {names}; give the folder of answers with --assets",
                assets.display()
            ));
        }
        let error = |status: &str, header: &str| Answer {
            refuses: true,
            ..Answer::new(status, "text/plain", header, status.as_bytes())
        };
        Ok(Answers {
            found,
            not_found: error("404 Not Found", ""),
            not_allowed: error("405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
            bad_request: error("400 Bad Request", ""),
            too_large: error("431 Request Header Fields Too Large", ""),
        })
    }

    /// The served paths.
    pub fn paths(&self) -> Vec<&str> {
        self.found.iter().map(|(path, _)| path.as_str()).collect()
    }

    /// The answer to a request.
    pub fn to(&self, method: &[u8], path: &[u8], after: After) -> Reply<'_> {
        // With so few paths, a linear search is faster than hashing.
        let found = self.found.iter().find(|(one, _)| one.as_bytes() == path).map(|(_, answer)| answer);
        match (found, method) {
            (Some(answer), b"GET") => answer.whole(after),
            (Some(answer), b"HEAD") => answer.head(after),
            (Some(_), _) => self.not_allowed.whole(after),
            (None, b"HEAD") => self.not_found.head(after),
            (None, _) => self.not_found.whole(after),
        }
    }

    /// The answer to an invalid or unsupported request; the connection closes.
    pub fn bad_request(&self) -> Reply<'_> {
        self.bad_request.whole(After::Close)
    }

    /// The answer to an overlong head; the connection closes.
    pub fn too_large(&self) -> Reply<'_> {
        self.too_large.whole(After::Close)
    }
}

/// The files of a mix, if its folder exists.
fn mixed(folder: &Path) -> Result<Vec<(String, Answer)>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let answer = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let path = format!("/{MIX}/{}", entry.file_name().to_string_lossy());
        Ok((path, Answer::read(&entry.path(), "application/octet-stream")?))
    };
    entries.map(answer).collect::<io::Result<_>>().map_err(unreadable)
}

impl Answer {
    /// The answer with a file as its body. Reading the whole file also brings a large one into the page cache.
    fn read(path: &Path, content_type: &str) -> io::Result<Answer> {
        let body = fs::read(path)?;
        if body.len() < FILE_FROM_BYTES {
            return Ok(Answer::new("200 OK", content_type, "", &body));
        }
        let forms = forms("200 OK", content_type, "", body.len(), &[]);
        Ok(Answer {
            forms,
            file: Some(BodyFile { file: File::open(path)?, length: body.len() as u64 }),
            refuses: false,
        })
    }

    fn new(status: &str, content_type: &str, header: &str, body: &[u8]) -> Answer {
        Answer { forms: forms(status, content_type, header, body.len(), body), file: None, refuses: false }
    }

    fn whole(&self, after: After) -> Reply<'_> {
        Reply { bytes: &self.forms[after as usize].0, file: self.file.as_ref(), refuses: self.refuses }
    }

    fn head(&self, after: After) -> Reply<'_> {
        let (bytes, head) = &self.forms[after as usize];
        Reply { bytes: &bytes[..*head], file: None, refuses: self.refuses }
    }
}

/// Heads by [`After`], each followed by `body`; with the length of the head.
fn forms(status: &str, content_type: &str, header: &str, length: usize, body: &[u8]) -> [(Vec<u8>, usize); 3] {
    let form = |connection: &str| {
        let head = format!(
            "HTTP/1.1 {status}\r\n{header}Content-Type: {content_type}\r\nContent-Length: {length}\r\n{connection}\r\n"
        );
        ([head.as_bytes(), body].concat(), head.len())
    };
    [form(""), form("Connection: keep-alive\r\n"), form("Connection: close\r\n")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_large_body_is_sent_from_its_file() {
        let assets = tempfile::tempdir().unwrap();
        fs::write(assets.path().join("json"), vec![b'x'; FILE_FROM_BYTES - 1]).unwrap();
        fs::write(assets.path().join("quicksort"), vec![b'x'; FILE_FROM_BYTES]).unwrap();
        let answers = Answers::read(assets.path()).unwrap();
        let small = answers.to(b"GET", b"/json", After::Keep);
        assert!(small.file.is_none() && small.bytes.ends_with(b"xxx"));
        let large = answers.to(b"GET", b"/quicksort", After::Keep);
        assert_eq!(large.file.map(|body| body.length), Some(FILE_FROM_BYTES as u64));
        assert!(large.bytes.ends_with(b"\r\n\r\n"));
        assert!(answers.to(b"HEAD", b"/quicksort", After::Keep).file.is_none());
    }

    #[test]
    fn files_of_a_mix_are_served_below_their_folder() {
        let assets = tempfile::tempdir().unwrap();
        fs::create_dir(assets.path().join("static")).unwrap();
        fs::write(assets.path().join("static/0.bin"), b"noise").unwrap();
        let answers = Answers::read(assets.path()).unwrap();
        assert!(answers.to(b"GET", b"/static/0.bin", After::Keep).bytes.ends_with(b"\r\n\r\nnoise"));
        assert!(answers.to(b"GET", b"/static/1.bin", After::Keep).refuses);
    }
}
