//! Histograms and seconds of invented windows, in the form that tolok's own tool and the sampler produce.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use tolok_model::{Measurement, SecondSeries, SplitMix64, TailSeries};

/// The course of a window's seconds.
#[derive(Clone, Copy)]
pub struct Course {
    /// Whole seconds before the window, in which the goodput rises.
    pub warm_up: usize,
    /// CPUs of the subject, the generator and the database; 0 means no database.
    pub cpus: [f64; 3],
    /// Growth of the subject's memory per second, in bytes.
    pub growth_bytes: u64,
}

/// Gives a window the histogram of its responses: most near the median, and a tail.
pub fn with_histogram(block: u32, trial: &mut Measurement) {
    let Some(median_s) = trial.latency.at(0.5) else { return };
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("sound bounds");
    let mut random = SplitMix64::new(trial.ledger.good ^ u64::from(block));
    // Blocks differ, especially in the tail.
    let exponent = -0.24 - 0.015 * f64::from(block % 5);
    let good = trial.ledger.good;
    let mut left = good;
    for step in 1.. {
        // The share of responses that take longer. Each step is a twentieth of a decade.
        let beyond = 10f64.powf(-f64::from(step) / 20.0);
        let still = (good as f64 * beyond) as u64;
        let unrest = 0.99 + random.below(21) as f64 / 1e3;
        let time_s = median_s * (0.55 + 0.65 * beyond.powf(exponent)) / 1.33 * unrest;
        histogram.record_n((time_s * 1e9) as u64, left - still).expect("it is less than an hour");
        left = still;
        if left == 0 {
            break;
        }
    }
    trial.latency.histogram = Some(encoded(&histogram));
}

/// A histogram in the records' format.
pub fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("writing to memory cannot fail");
    BASE64.encode(bytes)
}

/// Gives a window its whole seconds, and the warm-up the seconds before it.
pub fn with_seconds(block: u32, trial: &mut Measurement, course: Course) {
    let memory = trial
        .subject
        .as_mut()
        .expect("tolok started it")
        .memory
        .map_or(50 << 20, |memory| memory.anonymous_and_kernel_bytes_max);
    let mut window = seconds(block, trial, course, 0..trial.window_s as usize);
    let memory_at = |second: usize| Some(memory + course.growth_bytes * second as u64);
    window.subject_memory_bytes = (0..window.good.len()).map(memory_at).collect();
    if course.warm_up > 0 {
        let mut before = seconds(block, trial, course, 0..course.warm_up);
        let rising = |(second, good): (usize, &mut u64)| {
            *good = (*good as f64 * (1.0 - 0.55 * 0.4f64.powi(second as i32))) as u64;
        };
        before.good.iter_mut().enumerate().for_each(rising);
        before.start_s = -(course.warm_up as f64);
        let memory_at = |second: usize| Some(memory * 9 / 10 * (second as u64 + 1) / course.warm_up as u64);
        before.subject_memory_bytes = (0..course.warm_up).map(memory_at).collect();
        window.warm_up = Some(Box::new(before));
    }
    window.tail = tail(block, trial, &window);
    trial.series = Some(window);
}

/// Spans of a few seconds as in real records, with a tail of about 40 times the median in each.
fn tail(block: u32, trial: &Measurement, window: &SecondSeries) -> Option<TailSeries> {
    let fewest = |span: usize| window.good.chunks_exact(span).map(|span| span.iter().sum::<u64>()).min().unwrap_or(0);
    let span = [1, 2, 5, 10].into_iter().find(|span| window.good.len() >= 2 * span && fewest(*span) >= 10_000)?;
    let mut random = SplitMix64::new(u64::from(block) * 11 + 3);
    let median_s = trial.latency.at(0.5)?;
    let mut percentile = || median_s * (30.0 + random.below(2000) as f64 / 1e2);
    let latency_p999_s = (0..window.good.len() / span).map(|_| percentile()).collect();
    Some(TailSeries { span_s: span as u32, fewest_answers: fewest(span), latency_p999_s })
}

fn seconds(block: u32, trial: &Measurement, course: Course, range: std::ops::Range<usize>) -> SecondSeries {
    let mut random = SplitMix64::new(u64::from(block) * 7 + range.len() as u64);
    let mut near = |value: f64| value * (0.96 + random.below(81) as f64 / 1e3);
    let mut list = |value: f64| range.clone().map(|_| Some(near(value))).collect::<Vec<Option<f64>>>();
    let [subject, generator, database] = course.cpus;
    let good = list(trial.goodput_rps).into_iter().flatten().map(|good| good as u64).collect::<Vec<u64>>();
    SecondSeries {
        failed: vec![trial.ledger.failed_total() / range.len().max(1) as u64; range.len()],
        good,
        latency_p50_s: list(trial.latency.at(0.5).unwrap_or(1e-3)),
        subject_cpu_s: list(subject),
        generator_cpu_s: list(generator),
        database_cpu_s: if database > 0.0 { list(database) } else { Vec::new() },
        database_memory_bytes: if database > 0.0 { vec![Some(171 << 20); range.len()] } else { Vec::new() },
        ..SecondSeries::default()
    }
}
