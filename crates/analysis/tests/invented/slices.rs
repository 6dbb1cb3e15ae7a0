//! Cases that were measured in slices.

use tolok_model::{Measurement, SliceDesign, SliceFigures, SliceRow, SplitMix64};

use super::normal::normal;
use super::{InventedRun, Server};

/// The result of a slice by its launch, round and half: factors of the case's rate and of its CPU time per response.
pub type Slice<'a> = &'a dyn Fn(u32, u32, u32) -> (f64, f64);

/// Small deviations of the rate between slices, the same in every run of a test. CPU time deviates half as much in the opposite
/// direction. A step is this many thousandths, and every value is within four steps of 1.
pub fn jitter(case: u32, thousandths: f64) -> impl Fn(u32, u32, u32) -> (f64, f64) {
    move |launch, round, half| {
        let steps = f64::from((launch * 7 + round * 3 + half * 5 + case * 11) % 9) - 4.0;
        (1.0 + thousandths * steps / 1000.0, 1.0 - thousandths * steps / 2000.0)
    }
}

impl InventedRun {
    /// Measures the last scenario in slices of 100 ms, one second of each case in a launch.
    pub fn in_slices(&mut self) -> &mut Self {
        let scenario = self.plan.scenarios.last_mut().expect("a scenario comes first");
        scenario.slices = Some(SliceDesign::default());
        scenario.load.duration_s = 1.0;
        self
    }

    /// Adds a case with this goodput and this CPU time per response, in four rounds of every launch.
    pub fn sliced(&mut self, server: Server, goodput_rps: f64, cpu_s: f64, slice: Slice<'_>) -> &mut Self {
        let blocks = self.plan.blocks as usize;
        self.case(server, &vec![goodput_rps; blocks]);
        for trial in &mut self.plan.trials {
            trial.launch = Some(trial.block);
        }
        self.change(|launch, measured| fill(measured, launch, (goodput_rps, cpu_s), slice))
    }
}

fn fill(measured: &mut Measurement, launch: u32, (goodput_rps, cpu_s): (f64, f64), slice: Slice<'_>) {
    let places = (1..=4).flat_map(|round| [1, 2].map(|half| (round, half)));
    let row = |(place, (round, half)): (u32, (u32, u32))| {
        let window_s = SliceDesign::default().window_s_of(round);
        let (rate, cpu) = slice(launch, round, half);
        let good = (goodput_rps * rate * window_s).round() as u64;
        let whole_good = good + good / 5;
        let cpu_s = Some(whole_good as f64 * cpu_s * cpu);
        SliceRow { slice: place, round, half, window_s, good, failed: 0, whole_good, cpu_s }
    };
    let rows: Vec<SliceRow> = (0..).zip(places).map(row).collect();
    let good: u64 = rows.iter().map(|row| row.good).sum();
    let whole_good: u64 = rows.iter().map(|row| row.whole_good).sum();
    let whole_cpu_s: f64 = rows.iter().filter_map(|row| row.cpu_s).sum();
    measured.window_s = rows.iter().map(|row| row.window_s).sum();
    measured.goodput_rps = good as f64 / measured.window_s;
    measured.ledger.good = good;
    (measured.ledger.sent, measured.ledger.scheduled, measured.ledger.in_flight_at_end) = (None, None, None);
    measured.latency.percentiles.iter_mut().for_each(|it| it.latency_s = it.latency_s.map(|_| 0.0009));
    if let Some(subject) = &mut measured.subject {
        subject.cpu_s = whole_cpu_s * good as f64 / whole_good as f64;
    }
    measured.slices = Some(Box::new(SliceFigures {
        launch,
        frozen: true,
        span_s: 4.9,
        measured_share: 0.81,
        sent: whole_good,
        whole_good,
        whole_failed: 0,
        unanswered: 0,
        whole_cpu_s: Some(whole_cpu_s),
        drain_s_max: 0.004,
        not_drained: 0,
        not_frozen: 0,
        warm_up_by_10ms: Vec::new(),
        rows,
    }));
}

/// A realistic machine: it has a fast and a slow state that last for some slices, each launch has a random speed, and one slice
/// in twenty has a stall.
#[derive(Debug)]
pub struct Machine {
    random: SplitMix64,
}

impl Machine {
    pub fn new(seed: u64) -> Self {
        Self { random: SplitMix64::new(seed) }
    }

    fn even(&mut self) -> f64 {
        self.random.below(1_000_000) as f64 / 1e6
    }

    fn normal(&mut self) -> f64 {
        normal(|| self.even())
    }

    /// The state of each half round of each launch, the same for every case.
    pub fn states(&mut self, launches: u32) -> Vec<[[f64; 2]; 4]> {
        let launch = |machine: &mut Self| {
            let mut slow = machine.even() < 0.5;
            let mut half = || {
                slow ^= machine.even() < 0.3;
                if slow { 0.6 } else { 1.0 }
            };
            [0; 4].map(|_| [half(), half()])
        };
        (0..launches).map(|_| launch(self)).collect()
    }

    /// The slices of a case whose launches have a random speed with this standard deviation.
    pub fn slices(&mut self, states: &[[[f64; 2]; 4]], luck: f64) -> Vec<[[f64; 2]; 4]> {
        let launch = |machine: &mut Self, states: &[[f64; 2]; 4]| {
            let own = (luck * machine.normal()).exp();
            states.map(|round| {
                round.map(|state| {
                    let stall = if machine.even() < 0.05 { 0.3 } else { 1.0 };
                    state * own * stall * (0.05 * machine.normal()).exp()
                })
            })
        };
        states.iter().map(|states| launch(self, states)).collect()
    }
}
