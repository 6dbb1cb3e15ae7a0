//! Reads files that a user names, including pipes and devices, up to a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tolok_model::limits::Bound;

/// All bytes of a file.
pub fn read(path: &Path, bound: &Bound) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, bound)
}

/// The text of a file.
pub fn text(path: &Path, bound: &Bound) -> io::Result<String> {
    text_from(File::open(path)?, bound)
}

/// All text of a reader, up to its end.
pub fn text_from(reader: impl Read, bound: &Bound) -> io::Result<String> {
    String::from_utf8(read_from(reader, bound)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read_from(reader: impl Read, bound: &Bound) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // The reported length is ignored: a device has none, and a file may grow.
    reader.take(bound.most + 1).read_to_end(&mut content)?;
    let held = bound.holds(content.len() as u64);
    held.map(|()| content).map_err(|why| io::Error::new(io::ErrorKind::FileTooLarge, why))
}

#[cfg(test)]
mod tests {
    use tolok_model::limits::STUDY;

    use super::*;

    #[test]
    fn what_has_no_end_is_read_up_to_its_bound() {
        let error = read(Path::new("/dev/zero"), &STUDY).unwrap_err();
        assert_eq!(error.to_string(), STUDY.sentence());
        assert_eq!(text_from(&b"title"[..], &STUDY).unwrap(), "title");
        assert_eq!(text_from(&b"\xff"[..], &STUDY).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
