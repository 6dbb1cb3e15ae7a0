//! Parses the clients' `--batch` output: one row per line, fields separated by tabs, special characters escaped.

/// Rows as a client prints them; `NULL` becomes `None`.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

/// A client program's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Complaint {
    /// No server listens, the connection broke, or the server closed it.
    NoServer(String),
    /// The server is full, starting or stopping.
    NotNow(String),
    Other(String),
}

/// Error numbers of the clients of MariaDB and MySQL that mean no server.
const NO_SERVER: [u32; 10] = [2002, 2003, 2005, 2006, 2013, 2055, 1053, 1927, 3169, 4031];
const NOT_NOW: [u32; 3] = [1040, 1053, 1203];

/// The rows in psql's output, which escapes nothing: no field may contain a tab or a newline.
pub(super) fn plain_rows(printed: &[u8]) -> Rows {
    let text = String::from_utf8_lossy(printed);
    let field = |field: &str| Some(field.to_owned()).filter(|field| field != "NULL");
    text.lines().map(|line| line.split('\t').map(field).collect()).collect()
}

/// The rows of such lines. A field with the text `NULL` becomes `None`: the format cannot tell them apart.
pub(super) fn rows(printed: &[u8]) -> Rows {
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

/// The last error in the standard error output of a MariaDB or MySQL client.
pub(super) fn complaint(printed: &[u8]) -> Option<Complaint> {
    let text = String::from_utf8_lossy(printed);
    let line = text.lines().rfind(|line| line.starts_with("ERROR"))?;
    let number: String = line.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let (number, line) = (number.parse().unwrap_or(0), line.to_owned());
    Some(match number {
        number if NO_SERVER.contains(&number) => Complaint::NoServer(line),
        number if NOT_NOW.contains(&number) => Complaint::NotNow(line),
        _ => Complaint::Other(line),
    })
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
        assert_eq!(complaint(mariadb), Some(Complaint::NoServer(expect.to_owned())));
        let full = "ERROR 1040 (HY000): Too many connections";
        assert_eq!(complaint(full.as_bytes()), Some(Complaint::NotNow(full.to_owned())));
        let empty = "ERROR at line 1: No query specified";
        assert_eq!(complaint(empty.as_bytes()), Some(Complaint::Other(empty.to_owned())));
        assert_eq!(plain_rows(b"1\tNULL\t\\n\n"), [[Some("1".to_owned()), None, Some("\\n".to_owned())]]);
        assert_eq!(complaint(b"mysql: [Warning] Using a password\n"), None);
    }
}
