//! Decodes the chunked coding (RFC 9112 §7.1) as it arrives. Strict about line ends: lenient readings enable request smuggling, and a
//! subject that gets them wrong must not pass.

use super::head::{HEAD_LIMIT_BYTES, Reason, is_control, is_token};

/// Longest chunk line, including extensions. Extensions carry no data, so an endless one is an attack or a fault.
const LINE_LIMIT_BYTES: usize = 4 * 1024;

/// Where in the coding the next byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Size,
    Padding,
    Extension,
    SizeNewline,
    Data,
    DataReturn,
    DataNewline,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerNewline,
    LastNewline,
}

/// The meaning of the next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// This many of them are framing.
    Framing(usize),
    /// This many of them belong to the body.
    Data(usize),
    /// This many of them are framing, and the body is complete.
    End(usize),
}

/// The state between two pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunked {
    place: Place,
    /// Size of the chunk while its line is read; then the remaining bytes.
    size: u64,
    digits: u8,
    /// Bytes of the current line, or of all trailers.
    line_bytes: usize,
}

impl Chunked {
    pub fn new() -> Chunked {
        Chunked { place: Place::Size, size: 0, digits: 0, line_bytes: 0 }
    }

    /// Classifies the front of `bytes`. Call again with the rest until nothing is left.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Piece, Reason> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.place == Place::Data {
                return Ok(if at > 0 { Piece::Framing(at) } else { self.data(bytes.len()) });
            }
            if self.place == Place::LastNewline {
                expect(byte, b'\n', "the trailers end in a lone CR")?;
                return Ok(Piece::End(at + 1));
            }
            self.place = self.framing(byte)?;
        }
        Ok(Piece::Framing(bytes.len()))
    }

    fn data(&mut self, available: usize) -> Piece {
        let taken = usize::try_from(self.size).unwrap_or(usize::MAX).min(available);
        self.size -= taken as u64;
        if self.size == 0 {
            self.place = Place::DataReturn;
        }
        Piece::Data(taken)
    }

    fn framing(&mut self, byte: u8) -> Result<Place, Reason> {
        self.line_bytes += 1;
        match self.place {
            Place::Size => self.size_byte(byte),
            Place::Padding | Place::Extension => self.after_size_byte(byte),
            Place::SizeNewline => {
                expect(byte, b'\n', "a lone CR in a chunk line")?;
                self.line_bytes = 0;
                Ok(if self.size == 0 { Place::TrailerStart } else { Place::Data })
            }
            Place::DataReturn => expect(byte, b'\r', "chunk data goes on after its size").map(|()| Place::DataNewline),
            Place::DataNewline => {
                expect(byte, b'\n', "chunk data goes on after its size")?;
                *self = Chunked::new();
                Ok(Place::Size)
            }
            Place::TrailerStart if byte == b'\r' => Ok(Place::LastNewline),
            Place::TrailerStart | Place::TrailerName | Place::TrailerValue => self.trailer_byte(byte),
            Place::TrailerNewline => expect(byte, b'\n', "a lone CR in a trailer").map(|()| Place::TrailerStart),
            Place::Data | Place::LastNewline => unreachable!("`next` handles these itself"),
        }
    }

    fn size_byte(&mut self, byte: u8) -> Result<Place, Reason> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return match byte {
                _ if self.digits == 0 => Err("a chunk has no size"),
                b'\r' | b' ' | b'\t' | b';' => self.after_size_byte(byte),
                _ => Err("a chunk size is not a hexadecimal number"),
            };
        };
        if self.digits == 16 {
            return Err("a chunk size is too large a number");
        }
        self.digits += 1;
        self.size = self.size << 4 | u64::from(digit);
        Ok(Place::Size)
    }

    fn after_size_byte(&self, byte: u8) -> Result<Place, Reason> {
        match byte {
            b'\r' => Ok(Place::SizeNewline),
            b'\n' => Err("a chunk line ends without CR"),
            _ if self.line_bytes > LINE_LIMIT_BYTES => Err("a chunk line is too long"),
            _ if self.place == Place::Extension => may_stand_in_value(byte).map(|()| Place::Extension),
            b';' => Ok(Place::Extension),
            // RFC 9112 does not allow blanks after the size, but old servers pad with them.
            b' ' | b'\t' => Ok(Place::Padding),
            _ => Err("something other than an extension follows a chunk size"),
        }
    }

    /// A trailer is a header line: a name, a colon and a value, without folding.
    fn trailer_byte(&mut self, byte: u8) -> Result<Place, Reason> {
        if self.line_bytes > HEAD_LIMIT_BYTES {
            return Err("the trailers are too long");
        }
        match (self.place, byte) {
            (Place::TrailerValue, b'\r') => Ok(Place::TrailerNewline),
            (Place::TrailerValue, b'\n') => Err("a trailer ends without CR"),
            (Place::TrailerValue, _) => may_stand_in_value(byte).map(|()| Place::TrailerValue),
            (Place::TrailerName, b':') => Ok(Place::TrailerValue),
            _ if is_token(byte) => Ok(Place::TrailerName),
            _ => Err("a trailer's name is missing or holds a character that no name may hold"),
        }
    }
}

fn may_stand_in_value(byte: u8) -> Result<(), Reason> {
    if is_control(byte) { Err("a control character in a chunk extension or a trailer") } else { Ok(()) }
}

fn expect(byte: u8, expected: u8, otherwise: Reason) -> Result<(), Reason> {
    if byte == expected { Ok(()) } else { Err(otherwise) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body and the coded length, or the error; `None` if more bytes are needed.
    fn decode(coded: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Reason> {
        let (mut chunked, mut body, mut at) = (Chunked::new(), Vec::new(), 0);
        while at < coded.len() {
            match chunked.next(&coded[at..])? {
                Piece::Framing(length) => at += length,
                Piece::Data(length) => {
                    body.extend_from_slice(&coded[at..at + length]);
                    at += length;
                }
                Piece::End(length) => return Ok(Some((body, at + length))),
            }
        }
        Ok(None)
    }

    fn check(coded: &str, body: &str) {
        assert_eq!(decode(coded.as_bytes()), Ok(Some((body.as_bytes().to_vec(), coded.len()))), "{coded:?}");
        for length in 0..coded.len() {
            assert_eq!(decode(&coded.as_bytes()[..length]), Ok(None), "{coded:?} cut at {length}");
        }
    }

    #[test]
    fn chunks_become_a_body() {
        check("0\r\n\r\n", "");
        check("5\r\nhello\r\n0\r\n\r\n", "hello");
        check("5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", "hello, world");
        check("A\r\n0123456789\r\n00a\r\nabcdefghij\r\n000\r\n\r\n", "0123456789abcdefghij");
        check("3;name=\"va;lue\"\r\nabc\r\n0;last\r\n\r\n", "abc");
        check("3  \r\nabc\r\n0 ;x\r\n\r\n", "abc");
        check("3\r\nabc\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", "abc");
    }

    #[test]
    fn what_follows_is_left_alone() {
        assert_eq!(decode(b"1\r\na\r\n0\r\n\r\nHTTP/1.1"), Ok(Some((b"a".to_vec(), 11))));
    }

    #[test]
    fn broken_codings_are_refused() {
        for coded in [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n0\r\n\r\n",
            "5\nhello\r\n0\r\n\r\n",
            "5\rhello",
            "5;ext\nhello",
            "5\r\nhelloX\r\n",
            "5\r\nhello\rX",
            "5\r\nhello\n0\r\n\r\n",
            "10000000000000000\r\n",
            "0\r\nX: 1\n\r\n",
            "0\r\nX: 1\rY",
            "0\r\n\rX",
            " 5\r\nhello\r\n",
            "5 5\r\nhello\r\n",
            "5;a\0\r\nhello\r\n",
            "0\r\nno colon\r\n\r\n",
            "0\r\nno-colon\r\n\r\n",
            "0\r\n: no name\r\n\r\n",
            "0\r\nX: a\r\n folded\r\n\r\n",
            "0\r\nX: a\0\r\n\r\n",
        ] {
            assert!(decode(coded.as_bytes()).is_err(), "{coded:?}");
        }
    }

    #[test]
    fn endless_extensions_and_trailers_are_cut_off() {
        let extension = format!("5;{}", "x".repeat(LINE_LIMIT_BYTES));
        assert_eq!(decode(extension.as_bytes()), Err("a chunk line is too long"));
        let trailers = format!("0\r\n{}", "X: y\r\n".repeat(HEAD_LIMIT_BYTES / 6 + 2));
        assert_eq!(decode(trailers.as_bytes()), Err("the trailers are too long"));
    }
}
