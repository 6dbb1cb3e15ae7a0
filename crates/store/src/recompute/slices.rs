//! The figures of a case whose window was cut into slices.

use tolok_load::slices::TargetRecord;
use tolok_model::{
    DatabaseWindow, HostWindow, LoadTool, Measurement, RawServer, RawSlices, RawWindow, Resources, SliceFigures,
    SliceRow,
};
use tolok_tools::slices::{StoredSlice, report};
use tolok_tools::{ToolReport, driver, output_name};

use super::text;
use crate::Folder;

/// The file with a line for each slice of the case.
pub const SLICES: &str = "slices.jsonl";

/// The slices of a case, in order.
pub fn slices_in(folder: &Folder) -> Result<Vec<StoredSlice>, String> {
    let text = text(folder, SLICES)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<StoredSlice>, _>>();
    lines.map_err(|error| format!("{SLICES}: {error}"))
}

fn record_in(folder: &Folder) -> Result<TargetRecord, String> {
    let name = output_name(driver(LoadTool::Tolok));
    serde_json::from_str(&text(folder, name)?).map_err(|error| format!("{name}: {error}"))
}

/// The load engine's report over all slices of the case.
pub fn sliced_report(folder: &Folder) -> Result<ToolReport, String> {
    reported(&record_in(folder)?, &slices_in(folder)?)
}

fn reported(record: &TargetRecord, slices: &[StoredSlice]) -> Result<ToolReport, String> {
    report(record, slices).map_err(|error| format!("{SLICES}: {error}"))
}

/// The measurement over the slices of a case.
///
/// CPU time is counted over whole slices, but a window is only a part of a slice. So a window gets the share of CPU time that its
/// responses have of all responses. The CPU time per response is then that of whole slices.
pub(super) fn sliced(
    folder: &Folder,
    raw: &RawWindow,
    server: &RawServer,
    launch: &RawSlices,
) -> Result<Measurement, String> {
    let (record, slices) = (record_in(folder)?, slices_in(folder)?);
    let report = reported(&record, &slices)?;
    let figures = SliceFigures { warm_up_by_10ms: record.warm_up.good_by_10ms, ..figures(launch, &slices) };
    let share = report.ledger.good as f64 / figures.whole_good.max(1) as f64;
    let of_windows = |of: fn(&StoredSlice) -> Option<f64>| -> Option<f64> {
        let sum = slices.iter().map(of).sum::<Option<f64>>()?;
        Some(sum * share)
    };
    let used = |cpu_s: f64| Resources { cpu_s, cpu_source: launch.cpu_source, ..Resources::default() };
    let subject = Resources {
        memory: launch.memory,
        pss_bytes: server.pss_bytes,
        processes_max: launch.processes,
        threads_max: launch.threads,
        refused_tasks: server.refused_tasks,
        ..used(of_windows(|slice| slice.line.cpu_s).unwrap_or_default())
    };
    let body_bytes = match report.body_bytes {
        0 => server.mean_body_bytes.saturating_mul(report.ledger.good),
        told => told,
    };
    let of_span = if launch.span_s > 0.0 { report.window_s / launch.span_s } else { 0.0 };
    let host = HostWindow {
        foreign_cpu_s: launch.host.foreign_cpu_s * of_span,
        steal_s: launch.host.steal_s * of_span,
        load_average: raw.load_average,
        ..launch.host.clone()
    };
    let resources = of_windows(|slice| slice.line.database_cpu_s).map(used);
    let database = server.database.clone().map(|told| DatabaseWindow { resources, ..told });
    Ok(Measurement {
        cold_start_s: server.cold_start_s,
        window_s: report.window_s,
        goodput_rps: report.goodput_rps,
        body_bytes,
        ledger: report.ledger,
        latency: report.latency,
        parts: report.parts,
        clients: None,
        tool: Some(raw.tool.clone()),
        wire: None,
        subject: figures.whole_cpu_s.is_some().then_some(subject),
        generator: used(of_windows(|slice| Some(slice.line.generator_cpu_s)).unwrap_or_default()),
        host,
        link: None,
        database,
        pool: None,
        counter: None,
        disturbances: Vec::new(),
        offered_rps: None,
        tool_warnings: Vec::new(),
        objectives: Vec::new(),
        aborted: false,
        checks: report.checks,
        series: None,
        slices: Some(Box::new(figures)),
    })
}

fn figures(launch: &RawSlices, slices: &[StoredSlice]) -> SliceFigures {
    let lines = || slices.iter().map(|slice| &slice.line);
    let row = |slice: &StoredSlice| SliceRow {
        slice: slice.line.slice,
        round: slice.round,
        half: slice.half,
        window_s: slice.line.window_s,
        good: slice.line.good,
        failed: slice.line.failed,
        whole_good: slice.line.whole_good,
        cpu_s: slice.line.cpu_s,
    };
    SliceFigures {
        launch: launch.launch,
        frozen: launch.frozen,
        span_s: launch.span_s,
        measured_share: launch.measured_share,
        sent: lines().map(|line| line.sent).sum(),
        whole_good: lines().map(|line| line.whole_good).sum(),
        whole_failed: lines().map(|line| line.whole_failed).sum(),
        unanswered: lines().map(|line| line.unanswered).sum(),
        whole_cpu_s: lines().map(|line| line.cpu_s).sum(),
        drain_s_max: lines().map(|line| line.drain_s).fold(0.0, f64::max),
        not_drained: lines().filter(|line| !line.drained).count() as u32,
        not_frozen: lines().filter(|line| line.frozen == Some(false)).count() as u32,
        warm_up_by_10ms: Vec::new(),
        rows: slices.iter().map(row).collect(),
    }
}
