//! Command lines that a POSIX shell reads and that people can type.

/// A program and its arguments as one line.
pub fn command_line(argv: &[String]) -> String {
    argv.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, only if it needs quotes.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=%,@+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_what_was_meant() {
        let argv = ["printf", "%s\\n", "a b", "it's", "", "$HOME", "{n}", "ä", "--x=1"].map(str::to_owned);
        let said = Command::new("sh").args(["-c", &command_line(&argv)]).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), "a b\nit's\n\n$HOME\n{n}\nä\n--x=1\n");
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        let argv = ["/b/queue", "sync", "1000"].map(str::to_owned);
        assert_eq!(command_line(&argv), "/b/queue sync 1000");
    }
}
