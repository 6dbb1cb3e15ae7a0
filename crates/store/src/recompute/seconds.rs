//! The seconds of a trial as recorded: what the load tool saw in each, and what each part used.

use tolok_load::clock::MonotonicNs;
use tolok_model::SecondSeries;

use tolok_host::sample::{Part, ReadBack, SecondUsage, Window};

const SECOND_NS: u64 = 1_000_000_000;

/// Adds the resources of subject, generator and database to the tool's seconds of its window and warm-up. If a tool reports no
/// seconds, the window has only the resources, and its warm-up is unknown. `None` if such a window has no whole second.
pub(super) fn seconds(told: Option<SecondSeries>, readings: &ReadBack, window: Window) -> Option<SecondSeries> {
    let Some(told) = told else {
        let whole = (window.length().as_nanos() as u64 / SECOND_NS) as usize;
        return (whole > 0).then(|| beside(SecondSeries::default(), whole, readings, window.began));
    };
    let whole = told.good.len();
    let mut series = beside(told, whole, readings, window.began);
    series.warm_up = series.warm_up.map(|warm_up| {
        let whole = warm_up.good.len();
        Box::new(beside(*warm_up, whole, readings, window.began))
    });
    Some(series)
}

/// Adds the resources used in each second of the series; `origin` is the start of the window.
fn beside(mut series: SecondSeries, whole: usize, readings: &ReadBack, origin: MonotonicNs) -> SecondSeries {
    let began = MonotonicNs(origin.0.saturating_add_signed((series.start_s * 1e9).round() as i64));
    let ended = MonotonicNs(began.0 + whole as u64 * SECOND_NS);
    let used = |part| readings.by_second(part, Window { began, ended }).unwrap_or_default();
    let (subject, generator, database) = (used(Part::Subject), used(Part::Generator), used(Part::Database));
    (series.subject_cpu_s, series.subject_memory_bytes) = (cpu_s(&subject), memory_bytes(&subject));
    series.generator_cpu_s = cpu_s(&generator);
    (series.database_cpu_s, series.database_memory_bytes) = (cpu_s(&database), memory_bytes(&database));
    series
}

fn cpu_s(seconds: &[SecondUsage]) -> Vec<Option<f64>> {
    seconds.iter().map(|second| second.cpu_s).collect()
}

fn memory_bytes(seconds: &[SecondUsage]) -> Vec<Option<u64>> {
    seconds.iter().map(|second| second.memory_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One reading per second, from 3 s before the window on. The subject uses half a CPU before the window and a whole one in
    /// it, the generator a quarter, and there is no database.
    fn readings(from: u64, to: u64) -> ReadBack {
        let line = |second: u64| {
            let subject_s = if second < 10 { second as f64 * 0.5 } else { 5.0 + (second - 10) as f64 };
            let generator_s = second as f64 * 0.25;
            let memory = second * 1000;
            format!(
                "{{\"at_s\":{second},\"part\":\"subject\",\"source\":\"group\",\"cpu_s\":{subject_s},\"usage_bytes\":0,\
                 \"anonymous_bytes\":{memory},\"kernel_bytes\":1,\"oom_kills\":0}}\n\
                 {{\"at_s\":{second},\"part\":\"generator\",\"source\":\"group\",\"cpu_s\":{generator_s}}}\n"
            )
        };
        ReadBack::read(&(from..=to).map(line).collect::<String>(), 0).unwrap()
    }

    /// A window that begins at 10 s on the clock.
    fn window(seconds: f64) -> Window {
        let began = MonotonicNs(10 * SECOND_NS);
        Window { began, ended: MonotonicNs(began.0 + (seconds * 1e9) as u64) }
    }

    fn told(good: &[u64], warm_up: Option<SecondSeries>) -> SecondSeries {
        SecondSeries { good: good.to_vec(), warm_up: warm_up.map(Box::new), ..SecondSeries::default() }
    }

    #[test]
    fn what_each_part_used_stands_beside_what_the_tool_saw() {
        let warm_up = SecondSeries { start_s: -2.0, good: vec![1, 2], ..SecondSeries::default() };
        // The window ended slightly early by the clock, but the last second still counts as whole.
        let found = seconds(Some(told(&[7, 8], Some(warm_up))), &readings(7, 13), window(1.999_999)).unwrap();
        assert_eq!(found.subject_cpu_s, [Some(1.0), Some(1.0)]);
        assert_eq!(found.subject_memory_bytes, [Some(11_001), Some(12_001)]);
        assert_eq!(found.generator_cpu_s, [Some(0.25), Some(0.25)]);
        assert!(found.database_cpu_s.is_empty() && found.database_memory_bytes.is_empty(), "there was no database");
        let before = found.warm_up.unwrap();
        assert_eq!((before.start_s, before.good.as_slice()), (-2.0, [1, 2].as_slice()));
        assert_eq!(before.subject_cpu_s, [Some(0.5), Some(0.5)]);
        assert_eq!(before.subject_memory_bytes, [Some(9_001), Some(10_001)]);
    }

    #[test]
    fn a_second_that_nobody_read_at_is_absent_and_keeps_its_place() {
        let warm_up = SecondSeries { start_s: -3.0, good: vec![1, 2, 3], ..SecondSeries::default() };
        let found = seconds(Some(told(&[7], Some(warm_up))), &readings(9, 12), window(1.0)).unwrap();
        let before = found.warm_up.unwrap();
        assert_eq!(before.subject_cpu_s, [None, None, Some(0.5)]);
        assert_eq!(before.subject_memory_bytes, [None, Some(9_001), Some(10_001)]);
    }

    #[test]
    fn of_a_tool_that_tells_no_seconds_what_was_used_is_known_all_the_same() {
        let found = seconds(None, &readings(8, 13), window(2.5)).unwrap();
        assert!(found.good.is_empty() && found.warm_up.is_none());
        assert_eq!(found.subject_cpu_s, [Some(1.0), Some(1.0)]);
        assert_eq!(seconds(None, &readings(8, 13), window(0.5)), None);
    }
}
