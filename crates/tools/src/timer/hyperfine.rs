//! hyperfine: its command line, and its JSON.

use serde::Deserialize;
use tolok_model::{ProgramRun, TimerSummary};

use super::TimerNotUnderstood;

const TOOL: &str = "hyperfine";

#[derive(Debug, Clone, PartialEq)]
pub struct HyperfineReport {
    /// Its runs. It reports only their wall time.
    pub runs: Vec<ProgramRun>,
    /// Its summary of all of them.
    pub said: TimerSummary,
}

/// The parts of the document that are read. Versions 1.15 to 1.20 share these fields, and other fields are ignored.
/// That includes `memory_usage_byte` (1.19 and later): it is never less than hyperfine's own size. It reports 5 MB for
/// a shell that has 1.5 MB, so it is unclear whose size it is.
#[derive(Debug, Deserialize)]
struct Document {
    results: Vec<ResultOfOne>,
}

#[derive(Debug, Deserialize)]
struct ResultOfOne {
    mean: f64,
    stddev: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    times: Vec<f64>,
}

/// Arguments for hyperfine to run one command without a shell, and to write its results to `export`.
pub fn hyperfine_arguments(command: &str, export: &str, (warmup_runs, runs): (u32, u32)) -> Vec<String> {
    let (warmup_runs, runs) = (warmup_runs.to_string(), runs.to_string());
    let options = ["-N", "--style", "basic", "--warmup", &warmup_runs, "--runs", &runs, "--export-json", export];
    options.into_iter().chain(["--", command]).map(str::to_owned).collect()
}

/// Parses what `--export-json` wrote about one command.
pub fn hyperfine_report(json: &str) -> Result<HyperfineReport, TimerNotUnderstood> {
    let wrong = |why: String| TimerNotUnderstood { tool: TOOL, why };
    let document: Document = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    let [found] = <[ResultOfOne; 1]>::try_from(document.results)
        .map_err(|results| wrong(format!("it has {} results, and one command was run", results.len())))?;
    if found.times.is_empty() {
        return Err(wrong("`times` has no run".to_owned()));
    }
    if let Some(time) = found.times.iter().find(|time| !time.is_finite() || **time < 0.0) {
        return Err(wrong(format!("`times` has a run of {time} s")));
    }
    let runs = found.times.iter().map(|wall_s| ProgramRun { wall_s: *wall_s, ..ProgramRun::default() }).collect();
    let said = TimerSummary { mean_s: found.mean, sd_s: found.stddev, user_s: found.user, system_s: found.system };
    Ok(HyperfineReport { runs, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = include_str!("recorded/hyperfine-1.15.0.json");
    const NEW: &str = include_str!("recorded/hyperfine-1.20.0.json");
    const SINGLE: &str = include_str!("recorded/hyperfine-1.15.0-single.json");

    fn walls(report: &HyperfineReport) -> Vec<f64> {
        report.runs.iter().map(|run| run.wall_s).collect()
    }

    #[test]
    fn a_report_of_1_15_has_its_runs_and_what_it_says_of_all() {
        let report = hyperfine_report(OLD).unwrap();
        assert_eq!(walls(&report), [0.020724288, 0.020729259, 0.023595579000000002]);
        assert_eq!(report.said.mean_s, 0.021683042);
        assert_eq!(report.said.sd_s, Some(0.0016563074925831265));
        assert_eq!((report.said.user_s, report.said.system_s), (Some(0.0006443333333333332), Some(0.0)));
    }

    #[test]
    fn what_1_20_says_of_memory_is_its_own_size_and_is_not_taken() {
        assert!(NEW.contains("memory_usage_byte"));
        let report = hyperfine_report(NEW).unwrap();
        assert_eq!(walls(&report), [0.066778846, 0.021157078000000003, 0.020896519000000002]);
        assert!(report.runs.iter().all(|run| (run.rss_bytes_max, run.user_s, run.system_s) == (None, None, None)));
    }

    #[test]
    fn a_single_run_has_no_deviation() {
        let report = hyperfine_report(SINGLE).unwrap();
        assert_eq!((report.runs.len(), report.said.sd_s), (1, None));
    }

    #[test]
    fn what_is_no_report_is_refused_with_the_reason() {
        let check = |text: &str, why: &str| {
            let error = hyperfine_report(text).unwrap_err().to_string();
            assert!(error.starts_with("what hyperfine wrote cannot be understood: "), "{error}");
            assert!(error.contains(why), "{error}");
        };
        check("", "EOF");
        check(&OLD[..OLD.len() / 2], "EOF");
        check("Benchmark 1: true", "expected value");
        check("{}", "missing field `results`");
        check(r#"{"results":[]}"#, "it has 0 results");
        check(&OLD.replace("\"times\"", "\"time\""), "missing field `times`");
        check(&OLD.replace("\"mean\"", "\"average\""), "missing field `mean`");
        check(&OLD.replace("0.020724288,", "-0.020724288,"), "a run of -0.020724288 s");
        check(r#"{"results":[{"mean":1,"times":[]}]}"#, "no run");
    }

    #[test]
    fn it_is_called_without_a_shell() {
        let said = hyperfine_arguments("/b/queue sync 1000", "tool.out", (1, 10)).join(" ");
        assert_eq!(said, "-N --style basic --warmup 1 --runs 10 --export-json tool.out -- /b/queue sync 1000");
    }
}
