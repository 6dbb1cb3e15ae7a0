//! Shows series of the source, second by second, beside the measured ones. Sizes depend on the machine, so nothing is judged
//! here; only the course of a figure is comparable.
//!
//! The measured value is the median of the scored trials in each second of the window, as in the run's report
//! ([`crate::SecondsFinding`]). It is placed at the end of its second, when a source reads it.

use tolok_model::transcription::{CpuScope, Figure, Moment, Quantity, Series, Unit};
use tolok_stats::theil_sen;

use super::findings::{ReplicatedSeries, SeriesCourse};
use super::sites::{Site, SiteFinding, Sites};
use super::words;
use crate::estimate::LEVEL;
use crate::findings::Band;

/// Readings closer than this belong to the same second.
const SAME_S: f64 = 0.5;

/// A value at an instant, with the lowest and the highest of the trials.
struct Point {
    at_s: f64,
    value: f64,
    ends: Option<[f64; 2]>,
}

/// Every figure of every series, in order. A series without times is left out.
pub(super) fn series(sites: &Sites) -> Vec<ReplicatedSeries> {
    let of =
        |series: &Series| series.figures.iter().filter_map(|figure| one(sites, series, figure)).collect::<Vec<_>>();
    sites.transcription.series.iter().flat_map(of).collect()
}

fn one(sites: &Sites, series: &Series, figure: &Figure) -> Option<ReplicatedSeries> {
    let printed = |until_s: f64| {
        let values = figure.numbers.iter().map(|number| number.value / figure.unit.factor());
        let points = series.second.iter().zip(values).filter(|(at_s, _)| **at_s <= until_s);
        course(points.map(|(at_s, value)| Point { at_s: *at_s, value, ends: None }).collect())
    };
    let setting = series.scenario.as_deref();
    let found = match setting {
        Some(setting) => sites.of(&series.subject, setting),
        None => Err("its setting has no name, so it has no counterpart".to_owned()),
    };
    let measured = found.and_then(|found| {
        let courses = found.iter().map(|site| Ok((site.words(), measured(site, series, figure)?)));
        courses.reduce(|first, next| first.or(next)).unwrap_or_else(|| Err("it has no counterpart".to_owned()))
    });
    let (stands_for_it, measured) =
        measured.map_or_else(|why| (Err(why), None), |(site, course)| (Ok(site), Some(course)));
    let last_s = measured.as_ref().and_then(|course| course.at_s.last().copied());
    let is_shorter = |last_s: &f64| series.second.last().is_some_and(|end_s| last_s + SAME_S < *end_s);
    Some(ReplicatedSeries {
        published_meanwhile: last_s.filter(is_shorter).and_then(|last_s| printed(last_s + SAME_S)),
        table: series.table.clone(),
        subject: series.subject.clone(),
        setting: setting.map(|name| sites.setting(name)).unwrap_or_default(),
        key: figure.key.clone(),
        words: words::quantity(&figure.quantity),
        unit: words::unit(figure.unit).trim().to_owned(),
        published: printed(f64::INFINITY)?,
        stands_for_it,
        measured,
    })
}

/// The measured course in the source's unit, or why there is none.
fn measured(site: &Site, series: &Series, figure: &Figure) -> Result<SeriesCourse, String> {
    let SiteFinding::Server(_, case) = site.of else {
        return Err(format!("part {} times programs, which have no course by the second", site.part));
    };
    let none = || format!("no clean trial of part {} has two whole seconds in its window", site.part);
    let seconds = case.seconds.as_ref().ok_or_else(none)?;
    let (bands, factor): (&[Band], f64) = match figure.quantity {
        Quantity::Cpu(_) if figure.unit == Unit::Percent && series.conditions.cpu_scope == Some(CpuScope::Machine) => {
            (&seconds.subject_cpus, 1.0 / f64::from(site.run.records.run.machine.cpus.max(1)))
        }
        Quantity::Cpu(_) => (&seconds.subject_cpus, 1.0),
        Quantity::Memory(_) => (&seconds.subject_memory_bytes, 1.0),
        Quantity::Throughput | Quantity::Goodput => (&seconds.good_rps, 1.0),
        Quantity::Latency(Moment::Percentile(5000)) => (&seconds.latency_p50_s, 1.0),
        _ => return Err(format!("{}: not read by the second", words::quantity(&figure.quantity))),
    };
    let in_unit = |value: f64| value * factor / figure.unit.factor();
    let in_window = seconds.start_s.iter().zip(bands).filter(|(start_s, _)| **start_s >= 0.0);
    let points = in_window.filter_map(|(start_s, band)| {
        let ends = band.low.zip(band.high).map(|(low, high)| [in_unit(low), in_unit(high)]);
        Some(Point { at_s: start_s + 1.0, value: in_unit(band.value?), ends })
    });
    course(points.collect()).ok_or_else(none)
}

/// `None` with fewer than two instants.
fn course(points: Vec<Point>) -> Option<SeriesCourse> {
    let [first, .., last] = points.as_slice() else { return None };
    let highest = points.iter().reduce(|most, next| if next.value > most.value { next } else { most })?;
    let at_s: Vec<f64> = points.iter().map(|point| point.at_s).collect();
    let value: Vec<f64> = points.iter().map(|point| point.value).collect();
    let side = |end: usize| points.iter().map(|point| Some(point.ends?[end])).collect::<Option<Vec<f64>>>();
    Some(SeriesCourse {
        start: first.value,
        end: last.value,
        mean: value.iter().sum::<f64>() / value.len() as f64,
        highest: highest.value,
        highest_at_s: highest.at_s,
        slope_per_s: theil_sen(&at_s, &value, LEVEL).map(|found| found.slope),
        low: side(0).unwrap_or_default(),
        high: side(1).unwrap_or_default(),
        at_s,
        value,
    })
}
