//! The answers, whole and ready: one string of bytes each, head and body together.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// File in the folder of assets, and its content type. The path is the name with a slash before it.
const WORKLOADS: [(&str, &str); 4] = [
    ("hello", "text/html"),
    ("json", "application/json"),
    ("quicksort", "application/json"),
    ("file-534k.png", "image/png"),
];

/// What becomes of the connection after an answer, and whether that must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// HTTP/1.1 keeps it, unsaid.
    Keep,
    /// HTTP/1.0 keeps it only if that is said.
    KeepAndSay,
    /// It is closed.
    Close,
}

/// One answer in its three forms.
#[derive(Debug)]
struct Answer {
    /// Bytes and length of the head, by [`After`].
    forms: [(Vec<u8>, usize); 3],
}

/// Every answer of the server.
#[derive(Debug)]
pub struct Answers {
    found: Vec<(String, Answer)>,
    not_found: Answer,
    not_allowed: Answer,
    bad_request: Answer,
    too_large: Answer,
}

impl Answers {
    /// Reads the bodies of the workloads that are there; at least one must be.
    pub fn read(assets: &Path) -> Result<Answers, String> {
        let mut found = Vec::new();
        for (name, content_type) in WORKLOADS {
            let file = assets.join(name);
            match fs::read(&file) {
                Ok(body) => found.push((format!("/{name}"), Answer::new("200 OK", content_type, "", &body))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
            }
        }
        if found.is_empty() {
            let names = WORKLOADS.map(|(name, _)| name).join(", ");
            return Err(format!(
                "{} holds none of {names}; give the folder of answers with --assets",
                assets.display()
            ));
        }
        let error = |status: &str, header: &str| Answer::new(status, "text/plain", header, status.as_bytes());
        Ok(Answers {
            found,
            not_found: error("404 Not Found", ""),
            not_allowed: error("405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
            bad_request: error("400 Bad Request", ""),
            too_large: error("431 Request Header Fields Too Large", ""),
        })
    }

    /// The paths that are served.
    pub fn paths(&self) -> Vec<&str> {
        self.found.iter().map(|(path, _)| path.as_str()).collect()
    }

    /// The bytes that answer a request.
    pub fn to(&self, method: &[u8], path: &[u8], after: After) -> &[u8] {
        // Four paths: a walk over them is faster than any hash.
        let found = self.found.iter().find(|(one, _)| one.as_bytes() == path).map(|(_, answer)| answer);
        match (found, method) {
            (Some(answer), b"GET") => answer.whole(after),
            (Some(answer), b"HEAD") => answer.head(after),
            (Some(_), _) => self.not_allowed.whole(after),
            (None, b"HEAD") => self.not_found.head(after),
            (None, _) => self.not_found.whole(after),
        }
    }

    /// The answer to what is no request this server understands; the connection closes.
    pub fn bad_request(&self) -> &[u8] {
        self.bad_request.whole(After::Close)
    }

    /// The answer to a head without end; the connection closes.
    pub fn too_large(&self) -> &[u8] {
        self.too_large.whole(After::Close)
    }
}

impl Answer {
    fn new(status: &str, content_type: &str, header: &str, body: &[u8]) -> Answer {
        let form = |connection: &str| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\n{header}Content-Type: {content_type}\r\nContent-Length: {length}\r\n{connection}\r\n"
            );
            ([head.as_bytes(), body].concat(), head.len())
        };
        Answer { forms: [form(""), form("Connection: keep-alive\r\n"), form("Connection: close\r\n")] }
    }

    fn whole(&self, after: After) -> &[u8] {
        &self.forms[after as usize].0
    }

    fn head(&self, after: After) -> &[u8] {
        let (bytes, head) = &self.forms[after as usize];
        &bytes[..*head]
    }
}
