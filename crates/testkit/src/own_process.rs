//! Tests that need a process of their own, because they change or measure process-wide state: limits, memory.

use std::io::{self, Write};
use std::process::Command;

/// Set for the copy of a test program that runs one such test.
const OWN: &str = "TOLOK_TESTKIT_OWN_PROCESS";

/// Whether [`run_in_own_process`] has started this process.
pub fn is_own_process() -> bool {
    std::env::var_os(OWN).is_some()
}

/// Runs a test (by its name from [`test_name!`](crate::test_name)) once more, alone in a process, with these variables
/// set. Fails if the test fails there.
///
/// ```no_run
/// fn a_test_that_lowers_a_limit() {
///     if !tolok_testkit::is_own_process() {
///         return tolok_testkit::run_in_own_process(tolok_testkit::test_name!(), &[]);
///     }
///     // From here on the process belongs to this test.
/// }
/// ```
pub fn run_in_own_process(test: &str, variables: &[(&str, &str)]) {
    // The harness names a test by its path inside the crate.
    let inside = test.split_once("::").map_or(test, |(_, inside)| inside);
    let output = Command::new(std::env::current_exe().expect("a running program has a file"))
        .args(["--exact", inside, "--nocapture", "--test-threads=1"])
        .env(OWN, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("a test program can be started again");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // An unknown name would run no tests, and that succeeds.
    let ran = said.contains("running 1 test");
    assert!(output.status.success() && ran, "{test} in its own process: {}\n{said}\n{complained}", output.status);
    for skipped in complained.lines().filter(|line| line.starts_with("SKIPPED ")) {
        // The copy has already added it to the list of skips; here it only needs to be visible.
        let _ = writeln!(io::stderr(), "{skipped}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_name;

    #[test]
    fn the_copy_is_another_process_and_has_the_variables() {
        if !is_own_process() {
            let parent = std::process::id().to_string();
            return run_in_own_process(test_name!(), &[("TOLOK_TESTKIT_PARENT", &parent)]);
        }
        assert_ne!(std::env::var("TOLOK_TESTKIT_PARENT").unwrap(), std::process::id().to_string());
    }

    #[test]
    #[should_panic(expected = "in its own process")]
    fn what_fails_there_fails_here() {
        assert!(!is_own_process(), "the copy fails, though not in the way the test is to");
        run_in_own_process("tolok_testkit::own_process::tests::no_such_test", &[]);
    }
}
