//! Program versions: found in a program's output, and compared.

use std::cmp::Ordering;
use std::fmt;

/// The leading numbers of a version: `8.2.36` of `8.2.36-1~deb12u1`.
#[derive(Debug, Clone)]
pub struct Version {
    numbers: Vec<u64>,
}

impl Version {
    /// `None` for text that does not begin with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let numbers = text[..end].split('.').map_while(|part| part.parse().ok()).collect::<Vec<u64>>();
        (!numbers.is_empty()).then_some(Self { numbers })
    }
}

impl Ord for Version {
    /// Missing numbers count as zero, so that `18` and `18.0.0` are equal.
    fn cmp(&self, other: &Self) -> Ordering {
        let count = self.numbers.len().max(other.numbers.len());
        let padded =
            |version: &Self| (0..count).map(|i| version.numbers.get(i).copied().unwrap_or(0)).collect::<Vec<_>>();
        padded(self).cmp(&padded(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

/// The version in a program's output: the word right after `after`, which must begin with a digit.
///
/// With an empty `after`, the version must be at the beginning of a line.
pub(super) fn find_version(output: &str, after: &str) -> Option<String> {
    let word = |text: &str| {
        let end = text.find(|c: char| c.is_whitespace() || matches!(c, ',' | ')' | '(')).unwrap_or(text.len());
        text.starts_with(|c: char| c.is_ascii_digit()).then(|| text[..end].to_owned())
    };
    if after.is_empty() {
        return output.lines().find_map(|line| word(line.trim_start()));
    }
    output.match_indices(after).find_map(|(at, _)| word(&output[at + after.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (output, after, expected) in [
            ("go version go1.26.8 linux/amd64\n", "go version go", Some("1.26.8")),
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)\n", "cargo ", Some("1.95.0")),
            ("20.20.2\n", "", Some("20.20.2")),
            ("1.4.5\n", "", Some("1.4.5")),
            ("nginx version: nginx/1.22.1\n", "nginx version: nginx/", Some("1.22.1")),
            ("nginx version: nginx/1.24.0 (Ubuntu)\n", "nginx version: nginx/", Some("1.24.0")),
            (
                "Server version: Apache/2.4.71 (Debian)\nServer built:   2026-10-01T00:00:00\n",
                "Apache/",
                Some("2.4.71"),
            ),
            ("phpinfo()\nPHP Version => 8.2.36\n\nSystem => Linux\n", "PHP Version => ", Some("8.2.36")),
            ("PHP Version => 8.4.11-1ubuntu1,\n", "PHP Version => ", Some("8.4.11-1ubuntu1")),
            ("\nswoole\n\nSwoole => enabled\nVersion => 6.2.2\nBuilt => Nov 21 2026\n", "Version => ", Some("6.2.2")),
            ("Extension 'swoole' not present.\n", "Version => ", None),
            ("go version devel go1.27-abcdef linux/amd64\n", "go version go", None),
            ("never mind, v20\n", "v", Some("20")),
            ("error while loading shared libraries\n", "", None),
            ("", "v", None),
        ] {
            assert_eq!(find_version(output, after).as_deref(), expected, "{output:?}");
        }
    }

    #[test]
    fn versions_compare_by_number() {
        let version = |text| Version::parse(text).unwrap();
        for (less, more) in [("1.9", "1.10"), ("8.2.36-1~deb12u1", "8.3"), ("17.9", "18"), ("1.4", "1.4.5")] {
            assert!(version(less) < version(more), "{less} < {more}");
        }
        assert_eq!(version("18"), version("18.0.0"));
        assert_eq!(version("8.2.36-1~deb12u1").to_string(), "8.2.36");
        for text in ["", "v1", ".5", "abc"] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }
}
