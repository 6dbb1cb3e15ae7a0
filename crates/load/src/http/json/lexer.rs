//! The tokens of JSON (RFC 8259 §2-§7), strictly.

use std::borrow::Cow;

use super::NotJson;
use super::number::Number;
use crate::fault::JsonFlaw;

/// The type of a value; its first byte determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A position in a text.
#[derive(Debug)]
pub(super) struct Lexer<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Lexer<'text> {
    pub fn new(text: &'text [u8]) -> Lexer<'text> {
        Lexer { text, at: 0 }
    }

    /// Offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Skips to the next value and returns its type.
    pub fn kind(&mut self) -> Result<Kind, NotJson> {
        self.skip_blanks();
        match self.text.get(self.at) {
            Some(b'n') => Ok(Kind::Null),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b'"') => Ok(Kind::String),
            Some(b'[') => Ok(Kind::Array),
            Some(b'{') => Ok(Kind::Object),
            _ => self.refuse(JsonFlaw::Unexpected),
        }
    }

    pub fn null(&mut self) -> Result<(), NotJson> {
        self.literal(b"null")
    }

    pub fn boolean(&mut self) -> Result<bool, NotJson> {
        let truth = self.text.get(self.at) == Some(&b't');
        self.literal(if truth { b"true" } else { b"false" })?;
        Ok(truth)
    }

    pub fn number(&mut self) -> Result<Number, NotJson> {
        let start = self.at;
        self.take(b'-');
        // No digit may follow a leading zero.
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        if let Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') = self.text.get(self.at) {
            return self.refuse(JsonFlaw::Number);
        }
        Number::of(&self.text[start..self.at]).ok_or(NotJson { at: start, flaw: JsonFlaw::Number })
    }

    /// A string without quotes, with its escapes decoded.
    pub fn string(&mut self) -> Result<Cow<'text, str>, NotJson> {
        self.expect(b'"')?;
        let mut decoded = String::new();
        loop {
            let plain = self.plain()?;
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(if decoded.is_empty() { Cow::Borrowed(plain) } else { Cow::Owned(decoded + plain) });
                }
                Some(b'\\') => {
                    decoded.push_str(plain);
                    decoded.push(self.escape()?);
                }
                _ => return self.refuse(JsonFlaw::ControlCharacter),
            }
        }
    }

    /// Enters an array or an object.
    pub fn open(&mut self) {
        self.at += 1;
    }

    /// Whether another element follows in the array or object that `close` ends; consumes the comma or the bracket.
    pub fn more(&mut self, close: u8, first: bool) -> Result<bool, NotJson> {
        self.skip_blanks();
        if self.take(close) {
            return Ok(false);
        }
        if !first {
            self.expect(b',')?;
        }
        Ok(true)
    }

    pub fn colon(&mut self) -> Result<(), NotJson> {
        self.skip_blanks();
        self.expect(b':')
    }

    /// Checks that only whitespace follows the value.
    pub fn end(&mut self) -> Result<(), NotJson> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { self.refuse(JsonFlaw::Trailing) }
    }

    /// The part of a string up to its next quote or escape.
    fn plain(&mut self) -> Result<&'text str, NotJson> {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
        let plain = std::str::from_utf8(&rest[..length])
            .map_err(|wrong| NotJson { at: start + wrong.valid_up_to(), flaw: JsonFlaw::Utf8 })?;
        self.at += length;
        Ok(plain)
    }

    fn escape(&mut self) -> Result<char, NotJson> {
        let start = self.at;
        let wrong = NotJson { at: start, flaw: JsonFlaw::Escape };
        let character = match self.text.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.code_unit(start).ok_or(wrong)?;
                // A character above U+FFFF is a surrogate pair: two consecutive escapes.
                let units = [first, self.code_unit(start + 6).unwrap_or(0)];
                let character = char::decode_utf16(units).next().and_then(Result::ok).ok_or(wrong)?;
                self.at = start + 6 * character.len_utf16();
                return Ok(character);
            }
            None => return Err(NotJson { at: self.text.len(), flaw: JsonFlaw::EndsEarly }),
            Some(_) => return Err(wrong),
        };
        self.at = start + 2;
        Ok(character)
    }

    /// The code unit of the escape `\u` and four digits at an offset.
    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return self.refuse(JsonFlaw::Number);
        }
        self.at += count;
        Ok(())
    }

    fn literal(&mut self, literal: &[u8]) -> Result<(), NotJson> {
        literal.iter().try_for_each(|&byte| self.expect(byte))
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.take(byte) { Ok(()) } else { self.refuse(JsonFlaw::Unexpected) }
    }

    /// Fails with `flaw`; at the end of the text, reports that instead.
    fn refuse<T>(&self, flaw: JsonFlaw) -> Result<T, NotJson> {
        let flaw = if self.at >= self.text.len() { JsonFlaw::EndsEarly } else { flaw };
        Err(NotJson { at: self.at, flaw })
    }
}
