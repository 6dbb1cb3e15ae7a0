//! The files of a load tool in a trial's folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tolok_model::LoadTool;

use super::driver::{Driver, LoadJob, ToolOutput, ToolReport};

/// The file of the trial's folder that has a tool's standard error.
pub const LOG: &str = "tool.log";
/// The most that a tool may write to its output, and the most that is kept of its log. The largest known output is a record of
/// one row a second, but a user's script may write without end.
pub const OUTPUT_LIMIT: u64 = 64 << 20;

/// The file of a trial's folder that has a tool's standard output. The record of tolok's own is JSON.
pub fn output_name(driver: &dyn Driver) -> &'static str {
    if driver.tool() == LoadTool::Tolok { "tool.json" } else { "tool.out" }
}

/// What a tool has left in a trial's folder.
pub fn tool_output(driver: &dyn Driver, folder: &Path) -> Result<ToolOutput, String> {
    let kept = |file: &str| read(&folder.join(file));
    Ok(ToolOutput { stdout: kept(output_name(driver))?, stderr: kept(LOG)?, folder: folder.to_owned() })
}

/// What a tool has found, by what it has left in a trial's folder.
pub fn report_in(driver: &dyn Driver, folder: &Path, job: &LoadJob<'_>) -> Result<ToolReport, String> {
    let report = driver.report(&tool_output(driver, folder)?, job);
    report.map_err(|error| error.to_string()).and_then(sound).map_err(|what| format!("{}: {what}", output_name(driver)))
}

/// No sound report has an empty window, and a rate over it would be no number.
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

fn read(path: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let mut bytes = Vec::new();
    File::open(path).map_err(unreadable)?.take(OUTPUT_LIMIT).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
