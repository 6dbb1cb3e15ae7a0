//! Visible skips. A test that needs something the machine lacks reports it, and the whole suite can list what was
//! not tested. `#[ignore]` and a silent return both hide it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// If set, names the file to which every skip is appended as a line.
const LIST: &str = "TOLOK_SKIPS";

/// Reports that a test was skipped, and why. Use [`require!`](crate::require), which also returns from the test.
pub fn skip(test: &str, reason: &str) {
    let list = std::env::var_os(LIST).map(PathBuf::from);
    // Written directly, not by a macro, because the harness captures macro output of passing tests.
    record(&mut io::stderr(), list.as_deref(), test, reason);
}

fn record(screen: &mut dyn Write, list: Option<&Path>, test: &str, reason: &str) {
    let line = format!("SKIPPED {test}: {reason}\n");
    let _ = screen.write_all(line.as_bytes());
    if let Some(list) = list {
        let appended = OpenOptions::new().create(true).append(true).open(list);
        // A single write, so that lines of concurrent tests stay whole.
        let written = appended.and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "the list of skips {} cannot be written: {written:?}", list.display());
    }
}

/// Returns from a test, visibly, unless a condition holds.
///
/// ```no_run
/// fn the_lab_makes_network_namespaces() {
///     tolok_testkit::require!(cfg!(target_os = "linux"), "only Linux has them, this is {}", std::env::consts::OS);
/// }
/// ```
#[macro_export]
macro_rules! require {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            $crate::skip($crate::test_name!(), &::std::format!($($reason)+));
            return;
        }
    };
}

/// The full name of the enclosing function.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        let name = ::std::any::type_name_of_val(&here);
        name.strip_suffix("::here").unwrap_or(name)
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_line_in_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("skips");
        let mut screen = Vec::new();
        record(&mut screen, Some(&list), "a::b", "no root");
        record(&mut screen, Some(&list), "a::c", "no network namespaces");
        let lines = "SKIPPED a::b: no root\nSKIPPED a::c: no network namespaces\n";
        assert_eq!(std::fs::read_to_string(list).unwrap(), lines);
        assert_eq!(String::from_utf8(screen).unwrap(), lines);
    }

    #[test]
    #[should_panic(expected = "the list of skips")]
    fn a_list_that_cannot_be_written_fails_the_test_rather_than_hide_the_skip() {
        record(&mut io::sink(), Some(Path::new("/nonexistent/list")), "a::b", "no root");
    }

    #[test]
    fn a_test_knows_its_name() {
        assert!(test_name!().ends_with("skip::tests::a_test_knows_its_name"), "{}", test_name!());
    }

    /// Set only for a copy of this test program, so that the skip below enters no real list.
    const LEAVE: &str = "TOLOK_TESTKIT_LEAVE";

    #[test]
    fn leaves_if_the_variable_is_set() {
        let told = std::env::var_os(LEAVE).is_some();
        require!(!told, "{LEAVE} is set");
        assert!(!told, "the test went on");
    }

    #[test]
    fn a_test_that_lacks_something_is_left_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("skips");
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "skip::tests::leaves_if_the_variable_is_set"])
            .env(LEAVE, "1")
            .env(LIST, &list)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let line = "SKIPPED tolok_testkit::skip::tests::leaves_if_the_variable_is_set: TOLOK_TESTKIT_LEAVE is set\n";
        assert_eq!(std::fs::read_to_string(list).unwrap(), line);
        assert!(String::from_utf8(output.stderr).unwrap().contains(line));
    }
}
