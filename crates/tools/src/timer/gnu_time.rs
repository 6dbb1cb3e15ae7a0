//! GNU time: its output format, and its lines.

use tolok_model::ProgramRun;

use super::TimerNotUnderstood;

const TOOL: &str = "GNU time";

/// Elapsed, user and system seconds, and the largest resident set in KiB.
pub const GNU_TIME_FORMAT: &str = "%e %U %S %M";
/// Up to this version `%M` is four times too large: it takes KiB for pages, and multiplies by their size.
const MEMORY_IS_WRONG: &str = "1.7";

/// Parses what `time -a -o FILE -f` with [`GNU_TIME_FORMAT`] wrote about successful runs, one line each.
pub fn gnu_time_runs(text: &str, version: &str) -> Result<Vec<ProgramRun>, TimerNotUnderstood> {
    let has_memory = version != MEMORY_IS_WRONG;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(wrong("its last line is cut off".to_owned()));
    }
    // It reports a failing program in a separate line: `Command exited with non-zero status 3`.
    let lines = text.lines().filter(|line| !line.starts_with("Command "));
    lines.map(|line| run_of(line, has_memory)).collect()
}

fn run_of(line: &str, has_memory: bool) -> Result<ProgramRun, TimerNotUnderstood> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [wall, user, system, memory] = fields[..] else {
        return Err(wrong(format!("the line `{}` has {} fields, not 4", shortened(line), fields.len())));
    };
    let kib: u64 = memory.parse().map_err(|_| no_number(memory))?;
    Ok(ProgramRun {
        wall_s: seconds(wall)?,
        user_s: Some(seconds(user)?),
        system_s: Some(seconds(system)?),
        rss_bytes_max: has_memory.then_some(kib << 10),
    })
}

/// A time of an hour or more is written like any other: `4211.02`.
fn seconds(field: &str) -> Result<f64, TimerNotUnderstood> {
    let parsed = field.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    parsed.ok_or_else(|| no_number(field))
}

fn no_number(field: &str) -> TimerNotUnderstood {
    wrong(format!("`{}` is no figure", shortened(field)))
}

fn wrong(why: String) -> TimerNotUnderstood {
    TimerNotUnderstood { tool: TOOL, why }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_run() {
        // As Debian's 1.9 wrote it.
        let runs = gnu_time_runs("0.00 0.00 0.00 1076\n4211.02 0.31 1.05 53248\n", "1.9").unwrap();
        let second =
            ProgramRun { wall_s: 4211.02, user_s: Some(0.31), system_s: Some(1.05), rss_bytes_max: Some(53_248 << 10) };
        assert_eq!((runs.len(), runs[0].rss_bytes_max, runs[1]), (2, Some(1076 << 10), second));
        assert_eq!(gnu_time_runs("", "1.9").unwrap(), []);
    }

    #[test]
    fn memory_of_1_7_is_left_out() {
        // 1.7 reports 4304 for a program with 1076 KiB.
        let runs = gnu_time_runs("0.00 0.00 0.00 4304\n", "1.7").unwrap();
        assert_eq!((runs[0].rss_bytes_max, runs[0].user_s), (None, Some(0.0)));
        // Debian's reports no version, and is newer.
        assert_eq!(gnu_time_runs("0.00 0.00 0.00 1076\n", "UNKNOWN").unwrap()[0].rss_bytes_max, Some(1076 << 10));
    }

    #[test]
    fn what_it_says_of_a_failure_is_no_run() {
        let text = "Command exited with non-zero status 3\n0.00 0.00 0.00 1548\nCommand terminated by signal 9\n\
                    0.01 0.00 0.00 1604\n";
        assert_eq!(gnu_time_runs(text, "1.9").unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_run_is_refused_with_the_reason() {
        let check = |text: &str, why: &str| {
            let error = gnu_time_runs(text, "1.9").unwrap_err().to_string();
            assert_eq!(error, format!("what GNU time wrote cannot be understood: {why}"));
        };
        check("0.00 0.00 0.00\n", "the line `0.00 0.00 0.00` has 3 fields, not 4");
        check("0.00 0.00 0.00 10", "its last line is cut off");
        check("real 0.00 user 0.00\n", "`0.00` is no figure");
        check("0.00 ? 0.00 1076\n", "`?` is no figure");
        check("-0.5 0.00 0.00 1076\n", "`-0.5` is no figure");
        check("\n", "the line `` has 1 fields, not 4");
    }
}
