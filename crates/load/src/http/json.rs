//! Checks whether a body is JSON with the same meaning as an expected document. Strict about JSON's syntax (RFC 8259), but ignores
//! differences without a meaning.
//!
//! These are equal in meaning: any order of keys, any whitespace, any escapes, and numbers of equal value. The body is compared while it is
//! parsed, without a tree, so a response of a million brackets needs no more memory than its bytes.

mod lexer;
mod number;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use self::lexer::{Kind, Lexer};
use self::number::Number;
use crate::fault::{BodyFault, JsonDifference, JsonFlaw};

/// Deepest nesting: the parser recurses, and the stack is finite.
const DEPTH_LIMIT: u32 = 128;

/// Where a text stops being JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotJson {
    pub at: usize,
    pub flaw: JsonFlaw,
}

/// How a body differs, and the value that was expected there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mismatch<'document> {
    pub fault: BodyFault,
    pub owed: Option<Owed<'document>>,
}

/// The expected value or key where a body differs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owed<'document> {
    Value(&'document Value),
    Key(&'document str),
}

/// The expected document.
#[derive(Debug)]
pub(super) struct Document {
    text: Vec<u8>,
    root: Value,
}

impl Document {
    pub fn parse(text: &[u8]) -> Result<Document, NotJson> {
        let mut lexer = Lexer::new(text);
        let root = read(&mut lexer, 0)?;
        lexer.end()?;
        Ok(Document { text: text.to_vec(), root })
    }

    /// Its root value.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Compares a body. Stops at the first difference and ignores errors after it.
    pub fn compare(&self, body: &[u8]) -> Result<(), Mismatch<'_>> {
        // Most servers send the same bytes every time.
        if body == self.text {
            return Ok(());
        }
        let mut lexer = Lexer::new(body);
        compare(&self.root, &mut lexer, 0)?;
        Ok(lexer.end()?)
    }
}

/// A value of a document.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// The member with this name, or the element with this index.
    pub fn at(&self, part: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.get(part),
            Value::Array(elements) => elements.get(part.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Its text, if it is a string, a number or a boolean.
    pub fn words(&self) -> Option<String> {
        match self {
            Value::Boolean(truth) => Some(truth.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text.clone()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Boolean(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
}

/// Longest excerpt of a string, in characters.
const SHOWN_LETTERS: usize = 30;

/// Shows enough of it to identify it.
impl fmt::Display for Owed<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owed::Key(key) => write!(to, "the key `{}`", shortened(key)),
            Owed::Value(Value::Null) => to.write_str("`null`"),
            Owed::Value(Value::Boolean(truth)) => write!(to, "`{truth}`"),
            Owed::Value(Value::Number(number)) => write!(to, "`{number}`"),
            Owed::Value(Value::String(text)) => write!(to, "`\"{}\"`", shortened(text)),
            Owed::Value(Value::Array(elements)) => write!(to, "an array of length {}", elements.len()),
            Owed::Value(Value::Object(members)) => write!(to, "an object of {} keys", members.len()),
        }
    }
}

fn shortened(text: &str) -> String {
    let dots = if text.chars().nth(SHOWN_LETTERS).is_some() { "…" } else { "" };
    text.chars().take(SHOWN_LETTERS).flat_map(char::escape_debug).chain(dots.chars()).collect()
}

impl From<NotJson> for Mismatch<'_> {
    fn from(NotJson { at, flaw }: NotJson) -> Self {
        Mismatch { fault: BodyFault::NotJson { at: at as u64, flaw }, owed: None }
    }
}

fn differs(at: usize, difference: JsonDifference, owed: Option<Owed<'_>>) -> Mismatch<'_> {
    Mismatch { fault: BodyFault::DiffersInJson { at: at as u64, difference }, owed }
}

fn same(same: bool, at: usize, otherwise: JsonDifference, owed: Option<Owed<'_>>) -> Result<(), Mismatch<'_>> {
    if same { Ok(()) } else { Err(differs(at, otherwise, owed)) }
}

fn deeper(lexer: &Lexer, depth: u32) -> Result<u32, NotJson> {
    if depth == DEPTH_LIMIT { Err(NotJson { at: lexer.at(), flaw: JsonFlaw::TooDeep }) } else { Ok(depth + 1) }
}

fn read(lexer: &mut Lexer, depth: u32) -> Result<Value, NotJson> {
    Ok(match lexer.kind()? {
        Kind::Null => lexer.null().map(|()| Value::Null)?,
        Kind::Boolean => Value::Boolean(lexer.boolean()?),
        Kind::Number => Value::Number(lexer.number()?),
        Kind::String => Value::String(lexer.string()?.into_owned()),
        Kind::Array => {
            let (depth, mut elements) = (deeper(lexer, depth)?, Vec::new());
            lexer.open();
            while lexer.more(b']', elements.is_empty())? {
                elements.push(read(lexer, depth)?);
            }
            Value::Array(elements)
        }
        Kind::Object => {
            let (depth, mut members) = (deeper(lexer, depth)?, BTreeMap::new());
            lexer.open();
            while lexer.more(b'}', members.is_empty())? {
                let (at, key) = key(lexer)?;
                let value = read(lexer, depth)?;
                if members.insert(key.into_owned(), value).is_some() {
                    return Err(NotJson { at, flaw: JsonFlaw::DuplicateKey });
                }
            }
            Value::Object(members)
        }
    })
}

/// The key of a member and where it begins; also consumes the colon.
fn key<'text>(lexer: &mut Lexer<'text>) -> Result<(usize, Cow<'text, str>), NotJson> {
    lexer.skip_blanks();
    let at = lexer.at();
    let key = lexer.string()?;
    lexer.colon()?;
    Ok((at, key))
}

fn compare<'document>(expected: &'document Value, lexer: &mut Lexer, depth: u32) -> Result<(), Mismatch<'document>> {
    let kind = lexer.kind()?;
    let at = lexer.at();
    let owed = Some(Owed::Value(expected));
    if kind != expected.kind() {
        return Err(differs(at, JsonDifference::Type, owed));
    }
    match expected {
        Value::Null => Ok(lexer.null()?),
        Value::Boolean(expected) => same(*expected == lexer.boolean()?, at, JsonDifference::Boolean, owed),
        Value::Number(expected) => same(expected.equals(&lexer.number()?), at, JsonDifference::Number, owed),
        Value::String(expected) => same(*expected == lexer.string()?, at, JsonDifference::String, owed),
        Value::Array(expected) => compare_array(expected, lexer, deeper(lexer, depth)?),
        Value::Object(expected) => compare_object(expected, lexer, deeper(lexer, depth)?),
    }
}

fn compare_array<'document>(
    expected: &'document [Value],
    lexer: &mut Lexer,
    depth: u32,
) -> Result<(), Mismatch<'document>> {
    lexer.open();
    let mut compared = 0;
    while lexer.more(b']', compared == 0)? {
        let Some(element) = expected.get(compared) else {
            lexer.skip_blanks();
            return Err(differs(lexer.at(), JsonDifference::ElementExtra, None));
        };
        compare(element, lexer, depth)?;
        compared += 1;
    }
    let owed = expected.get(compared).map(Owed::Value);
    same(owed.is_none(), lexer.at() - 1, JsonDifference::ElementMissing, owed)
}

fn compare_object<'document>(
    expected: &'document BTreeMap<String, Value>,
    lexer: &mut Lexer,
    depth: u32,
) -> Result<(), Mismatch<'document>> {
    lexer.open();
    let mut compared = BTreeSet::new();
    while lexer.more(b'}', compared.is_empty())? {
        let (at, key) = key(lexer)?;
        let Some((key, value)) = expected.get_key_value(key.as_ref()) else {
            return Err(differs(at, JsonDifference::KeyExtra, None));
        };
        if !compared.insert(key.as_str()) {
            return Err(NotJson { at, flaw: JsonFlaw::DuplicateKey }.into());
        }
        compare(value, lexer, depth)?;
    }
    if compared.len() == expected.len() {
        return Ok(());
    }
    let missing = expected.keys().find(|key| !compared.contains(key.as_str()));
    Err(differs(lexer.at() - 1, JsonDifference::KeyMissing, missing.map(|key| Owed::Key(key))))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
