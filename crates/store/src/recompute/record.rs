//! What was read in a window, as it is recorded.

use tolok_model::{HostWindow, Measurement, NetworkBytes, Resources, SchedulerCounts};

use tolok_host::sample::{HostUsage, Part, PartUsage, WindowUsage};
use tolok_tools::ToolReport;

/// The record of a window. What others did to it is judged later, from this.
pub(super) fn measurement(
    report: ToolReport,
    usage: &WindowUsage,
    cold_start_s: Option<f64>,
    load_average: f64,
) -> Measurement {
    Measurement {
        cold_start_s,
        window_s: report.window_s,
        goodput_rps: report.goodput_rps,
        body_bytes: report.body_bytes,
        ledger: report.ledger,
        latency: report.latency,
        tool: None,
        wire: None,
        subject: resources(&usage.part(Part::Subject)),
        generator: resources(&usage.part(Part::Generator)),
        host: host(&usage.host, report.window_s, load_average),
        link: None,
        database: None,
        pool: None,
        counter: None,
        disturbances: Vec::new(),
        offered_rps: report.offered_rps,
        tool_warnings: report.tool_warnings,
        objectives: report.objectives,
        aborted: report.aborted,
        checks: report.checks,
        series: report.series,
    }
}

/// What a subject used; of one that tolok did not start it is not known.
pub(super) fn of_subject(usage: &WindowUsage, external: bool) -> Resources {
    if external { Resources::unknown() } else { resources(&usage.part(Part::Subject)) }
}

pub(super) fn resources(used: &PartUsage) -> Resources {
    Resources {
        cpu_s: used.cpu_s.unwrap_or_default(),
        cpu_source: used.cpu_source.unwrap_or_default(),
        user_s: used.user_s,
        system_s: used.system_s,
        busiest_thread_cpu_s: used.busiest_thread_cpu_s,
        run_queue_wait_s: used.run_queue_wait_s.unwrap_or_default(),
        processes_max: used.processes_max.unwrap_or_default() as u32,
        threads_max: used.threads_max.unwrap_or_default() as u32,
        rss_sum_bytes_max: used.rss_sum_bytes_max.unwrap_or_default(),
        pss_bytes: None,
        // Groups without a quota have no periods.
        throttling: used.throttling.filter(|throttling| throttling.periods > 0),
        memory: used.memory,
        refused_tasks: None,
        scheduler: used.timeslices.map(|timeslices| SchedulerCounts {
            timeslices,
            context_switches: used.events.context_switches,
            migrations: used.events.migrations,
            page_faults: used.events.page_faults(),
        }),
        disk_read_bytes: used.disk.map(|disk| disk.read_bytes),
        disk_written_bytes: used.disk.map(|disk| disk.written_bytes),
        network: used.network.map(|network| NetworkBytes {
            received_bytes: network.received_bytes + network.loopback_bytes,
            sent_bytes: network.sent_bytes + network.loopback_bytes,
        }),
    }
}

pub(super) fn host(used: &HostUsage, window_s: f64, load_average: f64) -> HostWindow {
    let share = |time_s: Option<f64>| time_s.map(|time_s| (time_s / window_s).min(1.0));
    HostWindow {
        foreign_cpu_s: used.foreign_cpu_s.unwrap_or_default(),
        steal_s: used.steal_s.unwrap_or_default(),
        load_average,
        cpu_pressure: share(used.cpu_pressure_s),
        memory_pressure: share(used.memory_pressure_s),
        io_pressure: share(used.io_pressure_s),
        runnable_max: used.runnable_tasks_max,
        frequency_hz_min: used.frequency_min_hz.map(|hz| hz as f64),
        frequency_hz_max: used.frequency_max_hz.map(|hz| hz as f64),
    }
}
