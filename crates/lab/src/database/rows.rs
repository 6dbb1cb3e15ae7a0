//! Rows as the client programs print them with `--batch`: a line each, fields between tabs, what would break that escaped.

/// The rows of such lines. A field of the text `NULL` reads as none: the format has one word for both.
pub(super) fn rows(printed: &[u8]) -> Vec<Vec<Option<String>>> {
    let lines = printed.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line));
    lines.map(|line| line.split(|byte| *byte == b'\t').map(field).collect()).collect()
}

fn field(printed: &[u8]) -> Option<String> {
    if printed == b"NULL" {
        return None;
    }
    let mut bytes = Vec::with_capacity(printed.len());
    let mut rest = printed.iter();
    while let Some(byte) = rest.next() {
        bytes.push(if *byte == b'\\' { unescaped(rest.next()) } else { *byte });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn unescaped(letter: Option<&u8>) -> u8 {
    match letter {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'0') => 0,
        Some(other) => *other,
        None => b'\\',
    }
}

/// The last complaint in what a client program printed to standard error: its number, and the line.
pub(super) fn complaint(printed: &[u8]) -> Option<(u32, String)> {
    let text = String::from_utf8_lossy(printed);
    let line = text.lines().rfind(|line| line.starts_with("ERROR"))?;
    let number: String = line.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    Some((number.parse().unwrap_or(0), line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_what_they_were_before_they_were_printed() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rows(b""), Vec::<Vec<Option<String>>>::new());
        assert_eq!(rows(b"1\tNULL\t\n"), [[some("1"), None, some("")]]);
        assert_eq!(rows(b"a\\tb\\nc\\\\d\\0e\n\n"), [[some("a\tb\nc\\d\0e")], [some("")]]);
        assert_eq!(rows("späti\t\\\\n\n".as_bytes()), [[some("späti"), some("\\n")]]);
        assert_eq!(rows(b"cut\\"), [[some("cut\\")]]);
    }

    #[test]
    fn of_all_that_is_printed_the_last_complaint_counts() {
        let mariadb =
            b"--------------\nselect 2\n--------------\n\nERROR 2006 (HY000) at line 2: Server has gone away\n";
        let expect = "ERROR 2006 (HY000) at line 2: Server has gone away";
        assert_eq!(complaint(mariadb), Some((2006, expect.to_owned())));
        assert_eq!(
            complaint(b"ERROR at line 1: No query specified\n").unwrap().1,
            "ERROR at line 1: No query specified"
        );
        assert_eq!(complaint(b"mysql: [Warning] Using a password\n"), None);
    }
}
