//! Captures values of an answer for later requests.

use super::json::{Document, NotJson, Value};
use crate::fault::{BodyFault, Fault};

/// Longest value in bytes: servers accept no longer one in a path or a header.
const LONGEST: usize = 16 * 1024;

/// Where the values are in a body, each as the parts of a JSON pointer.
#[derive(Debug)]
pub(super) struct Captures {
    pointers: Vec<Vec<String>>,
    /// The values from the last body.
    pub found: Vec<String>,
}

impl Captures {
    pub fn new<'a>(pointers: impl Iterator<Item = &'a str>) -> Self {
        let parts = |pointer: &str| {
            let parts = pointer.split('/').skip(1);
            parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
        };
        Self { pointers: pointers.map(parts).collect(), found: Vec::new() }
    }

    /// Captures the values of a body.
    pub fn take(&mut self, body: &[u8]) -> Result<(), Fault> {
        let document = Document::parse(body)
            .map_err(|NotJson { at, flaw }| Fault::BadBody(BodyFault::NotJson { at: at as u64, flaw }))?;
        self.found.clear();
        for pointer in &self.pointers {
            let value = pointer.iter().try_fold(document.root(), |value, part| value.at(part)).and_then(Value::words);
            // A control character would end a header early.
            let value = value.filter(|text| text.len() <= LONGEST && !text.chars().any(char::is_control));
            self.found.push(value.ok_or(Fault::BadBody(BodyFault::NothingToCapture))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pointers: &[&str], body: &str) -> Result<Vec<String>, Fault> {
        let mut captures = Captures::new(pointers.iter().copied());
        captures.take(body.as_bytes()).map(|()| captures.found)
    }

    #[test]
    fn texts_numbers_and_booleans_are_found_by_their_pointers() {
        let body = r#"{"a":{"b/c":[true,"x\u0041",9007199254740993,-0.50]},"~":null}"#;
        let pointers = ["/a/b~1c/0", "/a/b~1c/1", "/a/b~1c/2", "/a/b~1c/3"];
        assert_eq!(taken(&pointers, body).unwrap(), ["true", "xA", "9007199254740993", "-0.5"]);
        assert_eq!(taken(&[""], "7").unwrap(), ["7"]);
    }

    #[test]
    fn what_is_missing_or_no_single_value_is_a_wrong_body() {
        let nothing = Err(Fault::BadBody(BodyFault::NothingToCapture));
        for (pointer, body) in
            [("/a", "{}"), ("/a", "{\"a\":null}"), ("/a", "{\"a\":[1]}"), ("/0", "[]"), ("", "\"\\n\"")]
        {
            assert_eq!(taken(&[pointer], body), nothing, "{pointer} of {body}");
        }
        assert!(matches!(taken(&["/a"], "{\"a\":"), Err(Fault::BadBody(BodyFault::NotJson { .. }))));
    }
}
