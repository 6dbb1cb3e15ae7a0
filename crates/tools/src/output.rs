//! The files of a load tool in a trial's folder.

use std::io;

use tolok_model::LoadTool;

use super::driver::{Driver, LoadJob, ToolOutput, ToolReport};

/// The file in the trial's folder with a tool's standard error.
pub const LOG: &str = "tool.log";
/// The most that a tool may write to its output, and the most that is kept of its log. The largest known output is a
/// record with one row per second, but a user's script may write without end.
pub const OUTPUT_LIMIT: u64 = 64 << 20;

/// The file in a trial's folder with a tool's standard output. The record of tolok's own tool is JSON.
pub fn output_name(driver: &dyn Driver) -> &'static str {
    if driver.tool() == LoadTool::Tolok { "tool.json" } else { "tool.out" }
}

/// Reads a file of a trial's folder by its name.
pub type ReadFile<'a> = dyn Fn(&str) -> io::Result<String> + 'a;

/// What a tool has left in a trial's folder.
pub fn tool_output(driver: &dyn Driver, read: &ReadFile<'_>) -> Result<ToolOutput, String> {
    let kept = |file: &str| read(file).map_err(|error| format!("cannot read {file}: {error}"));
    // Not every version of a tool writes it.
    let beside = driver.file_beside().map(|file| read(file).unwrap_or_default()).unwrap_or_default();
    Ok(ToolOutput { stdout: kept(output_name(driver))?, stderr: kept(LOG)?, beside })
}

/// A tool's report, from what it has left in a trial's folder.
pub fn report_in(driver: &dyn Driver, read: &ReadFile<'_>, job: &LoadJob<'_>) -> Result<ToolReport, String> {
    let report = driver.report(&tool_output(driver, read)?, job);
    report.map_err(|error| error.to_string()).and_then(sound).map_err(|what| format!("{}: {what}", output_name(driver)))
}

/// Refuses a report with an empty window, over which a rate would not be finite, or with invalid figures.
pub fn sound(report: ToolReport) -> Result<ToolReport, String> {
    let is_number = |value: f64| value.is_finite() && value >= 0.0;
    if !(report.window_s.is_finite() && report.window_s > 0.0) {
        return Err("it measured no window".to_owned());
    }
    if !is_number(report.goodput_rps) || !report.latency.percentiles.iter().filter_map(|it| it.latency_s).all(is_number)
    {
        return Err("its figures are no numbers".to_owned());
    }
    Ok(report)
}
