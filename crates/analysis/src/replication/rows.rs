//! Shows the rows of the source beside the measured ones. Sizes depend on the machine, so nothing is judged here.

use tolok_model::transcription::{CpuScope, Figure, Quantity, Row, Unit};

use super::findings::{ReplicatedFigure, ReplicatedRow};
use super::gauge::measured_as;
use super::sites::{Site, Sites, with};
use super::words;
use crate::figures::{Quantity as Kind, amount, count, small_share};
use crate::findings::Estimate;

pub(super) fn rows(sites: &Sites) -> Vec<ReplicatedRow> {
    sites.transcription.rows.iter().map(|row| row_of(sites, row)).collect()
}

fn row_of(sites: &Sites, row: &Row) -> ReplicatedRow {
    let setting = row.scenario.as_deref();
    let found = match setting {
        Some(setting) => sites.of(&row.subject, setting),
        None => Err("its setting has no name, so it has no counterpart".to_owned()),
    };
    let all = found.as_ref().map(Vec::as_slice).unwrap_or_default();
    ReplicatedRow {
        table: row.table.clone(),
        subject: row.subject.clone(),
        setting: setting.map(|name| sites.setting(name)).unwrap_or_default(),
        figures: row.figures.iter().map(|figure| figure_of(row, figure, all)).collect(),
        stands_for_it: found.map(|found| found[0].words()),
    }
}

fn figure_of(row: &Row, figure: &Figure, all: &[Site]) -> ReplicatedFigure {
    let quantity = measured_as(&figure.quantity);
    let site = (!all.is_empty()).then(|| with(all, quantity.as_ref()));
    let site = site.as_ref();
    let measured = site.and_then(|site| measured(row, figure, site));
    ReplicatedFigure {
        key: figure.key.clone(),
        words: words::quantity(&figure.quantity),
        published: words::printed(figure),
        measured_words: measured.as_ref().zip(site).map(|(found, site)| in_words(row, figure, found, site)),
        measured,
    }
}

/// Converts to base units and to the source's way of counting: requests in a run of its length, CPU as a share of all CPUs.
fn measured(row: &Row, figure: &Figure, site: &Site) -> Option<Estimate> {
    let found = site.estimate(&measured_as(&figure.quantity)?)?;
    Some(match figure.quantity {
        Quantity::Requests => {
            let duration_s = row.conditions.duration_s.or(own_window_s(site))?;
            found.rising(|rps| rps * duration_s)
        }
        Quantity::Cpu(_) if is_of_machine(row, figure) => {
            found.rising(|cpus| cpus * (1.0 / f64::from(site.run.records.run.machine.cpus.max(1))))
        }
        _ => found,
    })
}

fn is_of_machine(row: &Row, figure: &Figure) -> bool {
    figure.unit == Unit::Percent && row.conditions.cpu_scope == Some(CpuScope::Machine)
}

/// The run's own window, for a source that set a number of requests instead of a time.
fn own_window_s(site: &Site) -> Option<f64> {
    crate::estimate::middle(&site.observations().each(|trial| Some(trial.window_s)))
}

fn in_words(row: &Row, figure: &Figure, found: &Estimate, site: &Site) -> String {
    match figure.quantity {
        Quantity::Throughput | Quantity::Goodput => {
            format!("{}, correct responses", words::in_unit(found, figure.unit))
        }
        Quantity::Requests => {
            let seconds = row.conditions.duration_s.or(own_window_s(site)).unwrap_or(0.0);
            format!("{}, correct responses in {}", words::in_unit(found, figure.unit), amount(Kind::Seconds, seconds))
        }
        Quantity::Failures | Quantity::ErrorRate | Quantity::HttpFailRate => {
            format!("{} of the requests failed{}", small_share(found.value), unanswered(site))
        }
        Quantity::Timeouts => format!("{} of the requests timed out{}", small_share(found.value), unanswered(site)),
        Quantity::Cpu(_) if is_of_machine(row, figure) => {
            format!("{} of {} CPUs", words::in_unit(found, figure.unit), site.run.records.run.machine.cpus)
        }
        _ => words::in_unit(found, figure.unit),
    }
}

/// Connections that never got a response are in no share of requests.
fn unanswered(site: &Site) -> String {
    let of_trials = site.observations().each(|trial| Some(trial.ledger.connections_unanswered? as f64));
    match crate::estimate::middle(&of_trials) {
        Some(connections) if connections >= 1.0 => {
            format!("; {} connections never got a response", count(connections.round() as u64))
        }
        _ => String::new(),
    }
}
