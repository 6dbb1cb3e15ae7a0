//! Computes the figures of a trial from the files of its folder and from what was fixed before it, and from nothing else.
//!
//! A trial makes its record with this when its processes have ended, and `tolok verify` makes it again.

mod disturbed;
mod link_window;
pub mod objectives;
pub mod program_rows;
mod seconds;
mod slices;

use tolok_load::clock::MonotonicNs;
use tolok_model::{
    CpuMap, DatabaseWindow, Disturbance, Environment, HostWindow, Isolation, LinkWindow, Measurement, ProgramScenario,
    ProgramTiming, RawServer, RawTurns, RawWindow, Resources, Scenario, SecondSeries,
};

use self::disturbed::by_others;
use self::link_window::{lateness, link_window, own_drops};
use self::program_rows::{Found, found_by, is_judged, length_s, resolution_s, turns_by};
use self::seconds::seconds;
use self::slices::sliced;
pub use self::slices::{SLICES, sliced_report, slices_in};
use crate::Folder;
use tolok_host::isolate::Backend;
use tolok_host::sample::{Part, ReadBack, Window, WindowUsage, WireLine, wire_window};
use tolok_tools::{Answers, LoadJob, ToolReport, driver, report_in};

/// The file with values that the lab read once.
pub const RAW_WINDOW: &str = "window.json";
/// The file in which an emulated link reports its work.
pub const LINK_REPORT: &str = "link.jsonl";
/// The same for a link to the database.
pub const DATABASE_LINK_REPORT: &str = "database-link.jsonl";
/// Readings of resources.
pub const SAMPLES: &str = "samples.jsonl";
/// Responses on the wire.
pub const WIRE: &str = "wire.jsonl";

/// What was fixed before a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialInputs<'a, S> {
    pub scenario: &'a S,
    pub environment: &'a Environment,
    /// The CPUs of the trial's parts.
    pub cpus: &'a CpuMap,
    /// The isolation of the parts.
    pub isolation: Option<&'a Isolation>,
}

/// The bounds of a window that was read back.
fn window_of(raw: &RawWindow) -> Window {
    Window { began: MonotonicNs(raw.began_ns), ended: MonotonicNs(raw.ended_ns) }
}

/// The findings of a load generator, from its files in the folder. Objectives that it does not judge are judged here.
pub(crate) fn report_of(folder: &Folder, scenario: &Scenario, server: &RawServer) -> Result<ToolReport, String> {
    let driver = driver(scenario.tool.name);
    // The other fields of a job do not affect the reading of its output.
    let (url, method, answers) = (String::new(), "GET", Answers::Status);
    let (status, body_bytes) = (server.status, server.body_bytes);
    let job =
        LoadJob { url, method, sent: None, status, answers, body_bytes, scenario, cpus: 1, seed: 0, generators: &[] };
    let mut report = report_in(driver, &|name| folder.lossy(name), &job)?;
    if report.objectives.is_empty() {
        report.objectives = objectives::judged(&scenario.objectives, &report);
    }
    Ok(report)
}

/// The measurement in a window of a server's trial. The error names the file that lacks something.
pub fn measurement_of(
    folder: &Folder,
    given: &TrialInputs<'_, Scenario>,
    raw: &RawWindow,
) -> Result<Measurement, String> {
    let server = raw.server.as_ref().ok_or_else(|| format!("{RAW_WINDOW} tells of no server"))?;
    if let Some(launch) = &server.slices {
        return sliced(folder, raw, server, launch);
    }
    let report = report_of(folder, given.scenario, server)?;
    let (window, readings) = (window_of(raw), readings_in(folder, raw)?);
    let usage = readings.usage(window, report.window_s).map_err(|error| error.to_string())?;
    let is_emulated = given.isolation.is_some_and(|it| it.network == Backend::Emulator.name());
    // A link in the kernel writes no report.
    let link = is_emulated.then(|| link_in(folder, (LINK_REPORT, Part::Link), window, &usage)).transpose()?;
    let told = server.database.clone();
    let database = told.map(|told| database_of(folder, given, told, window, &usage)).transpose()?;
    let body_bytes = match report.body_bytes {
        0 => server.mean_body_bytes.saturating_mul(report.ledger.good),
        told => told,
    };
    let disturbances = disturbances(given, raw, report.window_s, &usage, (link.as_ref(), database.as_ref()));
    let mut series = seconds(report.series, &readings, window);
    if report.generators.is_some() {
        // The local generator process only collected the results of other machines.
        series.iter_mut().for_each(forget_generator);
    }
    let (pss_bytes, refused_tasks) = (server.pss_bytes, server.refused_tasks);
    let subject = Resources { pss_bytes, refused_tasks, ..usage.part(Part::Subject) };
    Ok(Measurement {
        cold_start_s: server.cold_start_s,
        window_s: report.window_s,
        goodput_rps: report.goodput_rps,
        body_bytes,
        ledger: report.ledger,
        latency: report.latency,
        parts: report.parts,
        clients: report.clients,
        tool: Some(raw.tool.clone()),
        wire: wire_in(folder, window)?,
        subject: (!server.external || server.followed).then_some(subject),
        generator: report.generators.unwrap_or_else(|| usage.part(Part::Generator)),
        host: HostWindow { load_average: raw.load_average, ..usage.host },
        link,
        database,
        pool: server.pool.clone(),
        counter: server.counter.clone(),
        disturbances,
        offered_rps: report.offered_rps,
        tool_warnings: report.tool_warnings,
        objectives: report.objectives,
        aborted: report.aborted,
        checks: report.checks,
        series,
        slices: None,
    })
}

fn forget_generator(series: &mut SecondSeries) {
    series.generator_cpu_s.clear();
    series.warm_up.iter_mut().for_each(|warm_up| warm_up.generator_cpu_s.clear());
}

/// The result of timing a program.
pub fn timing_of(
    folder: &Folder,
    given: &TrialInputs<'_, ProgramScenario>,
    raw: &RawWindow,
) -> Result<ProgramTiming, String> {
    let window = window_of(raw);
    let Found { runs, floor, warmup_runs, said, window_s } = found_by(folder, given.scenario, &raw.tool.version)?;
    let (load_average, own_s) = (raw.load_average, length_s(window));
    let turns = raw.turns.as_ref();
    let mut timing = ProgramTiming {
        timer: raw.tool.clone(),
        resolution_s: resolution_s(given.scenario.timer),
        runs,
        floor,
        warmup_runs,
        said,
        window_s: window_s.unwrap_or(own_s),
        host: HostWindow { load_average, ..HostWindow::default() },
        disturbances: Vec::new(),
        turns: turns.map(|turns| turns_by(folder, turns.launch)).transpose()?,
    };
    if let Some(RawTurns { host, .. }) = turns {
        // The cases shared this window, so it is the launch's. It is not repeated, however disturbed it was.
        (timing.window_s, timing.host) = (own_s, HostWindow { load_average, ..host.clone() });
        return Ok(timing);
    }
    // A timer that ended at once leaves no readings for judging disturbances.
    if let Ok(usage) = readings_in(folder, raw)?.usage(window, own_s) {
        let subject = usage.part(Part::Subject);
        timing.host = HostWindow { load_average, ..usage.host };
        if is_judged(own_s, raw.machine_cpus) {
            let parts = (given.environment, given.cpus);
            timing.disturbances = by_others(parts, raw.machine_cpus, own_s, (&timing.host, &subject));
        }
    }
    Ok(timing)
}

fn readings_in(folder: &Folder, raw: &RawWindow) -> Result<ReadBack, String> {
    ReadBack::read(&text(folder, SAMPLES)?, raw.clock_zero_ns).map_err(|why| format!("{SAMPLES}: {why}"))
}

/// Disturbances of the window by other programs and by its links.
fn disturbances(
    given: &TrialInputs<'_, Scenario>,
    raw: &RawWindow,
    window_s: f64,
    usage: &WindowUsage,
    (link, database): (Option<&LinkWindow>, Option<&DatabaseWindow>),
) -> Vec<Disturbance> {
    let is_external = raw.server.as_ref().is_some_and(|server| server.external && !server.followed);
    // An external server that tolok does not follow counts as another program, so CPU time of other programs shows nothing.
    let foreign_cpu_s = if is_external { 0.0 } else { usage.host.foreign_cpu_s };
    let host = HostWindow { foreign_cpu_s, ..usage.host.clone() };
    let parts = (given.environment, given.cpus);
    let by_others = by_others(parts, raw.machine_cpus, window_s, (&host, &usage.part(Part::Subject)));
    let of_link =
        |name: &str, link: &LinkWindow, rtt_s| lateness(name, link, rtt_s).into_iter().chain(own_drops(name, link));
    let by_link = link.map(|link| of_link("the link", link, given.environment.link.rtt_s));
    let asked = given.environment.database.as_ref();
    let of_database = database.and_then(|database| database.link.as_ref()).zip(asked);
    let by_database_link = of_database.map(|(link, asked)| of_link("the link to the database", link, asked.link.rtt_s));
    by_others.into_iter().chain(by_link.into_iter().chain(by_database_link).flatten()).collect()
}

/// The record of the database: its own report, its use of resources, and its link.
fn database_of(
    folder: &Folder,
    given: &TrialInputs<'_, Scenario>,
    told: DatabaseWindow,
    window: Window,
    usage: &WindowUsage,
) -> Result<DatabaseWindow, String> {
    let is_ours = given.environment.database.as_ref().is_some_and(|asked| asked.is_private());
    let network = given.isolation.and_then(|it| it.database_network.as_deref());
    let is_emulated = network == Some(Backend::Emulator.name());
    let part = (DATABASE_LINK_REPORT, Part::DatabaseLink);
    let link = is_emulated.then(|| link_in(folder, part, window, usage)).transpose()?;
    let is_read = is_ours && !usage.without_cpu_time.contains(&Part::Database);
    let resources = usage.parts.get(&Part::Database).filter(|_| is_read).cloned();
    Ok(DatabaseWindow { resources, link, ..told })
}

/// The work of an emulated link. Without a readable report, the link may have been late, so the trial fails to give a
/// measurement.
fn link_in(
    folder: &Folder,
    (report, part): (&str, Part),
    window: Window,
    usage: &WindowUsage,
) -> Result<LinkWindow, String> {
    let unknown = |why: String| format!("the link's report {report}: {why}");
    let rows = folder.text(report).and_then(|text| tolok_link::read_report(&text));
    let rows = rows.map_err(|error| unknown(error.to_string()))?;
    let cpu_s = usage.part(part).cpu_s;
    let found = link_window(&rows, window.began.0, window.ended.0, cpu_s);
    found.ok_or_else(|| unknown("it has no row of the window".to_owned()))
}

fn wire_in(folder: &Folder, window: Window) -> Result<Option<tolok_model::WireCount>, String> {
    // Without a wire count, there is no file.
    if !folder.has(WIRE) {
        return Ok(None);
    }
    let text = text(folder, WIRE)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<WireLine>, _>>();
    Ok(wire_window(&lines.map_err(|error| format!("{WIRE}: {error}"))?, window))
}

/// The text of a file of the folder.
fn text(folder: &Folder, name: &str) -> Result<String, String> {
    folder.lossy(name).map_err(|error| format!("cannot read {name}: {error}"))
}
