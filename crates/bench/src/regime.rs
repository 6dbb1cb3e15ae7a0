//! The state of the machine: whether a cache line travelled fast or slowly between the CPUs of server and generator. Pure: takes the
//! transfer times of a whole run and classifies measurements by them.

use serde::Serialize;

/// Transfer times within this factor mean that the machine did not change during the run.
const STEADY: f64 = 2.0;

/// A larger factor between the times before and after a measurement means that it saw both states.
const STRADDLES: f64 = 1.6;

/// A gap of a smaller factor does not separate states.
const LEAST_GAP: f64 = 1.2;

/// At least this share of the transfer times must be on either side of the gap: a single disturbed value is not a state of the machine.
const LEAST_SHARE: f64 = 0.05;

/// Transfer times of a cache line between the CPUs, in nanoseconds, right before and right after a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Transfer {
    pub before_ns: f64,
    pub after_ns: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// Transfers are fast.
    Near,
    /// Transfers are slow.
    Far,
    /// It changed during the measurement, or the times are unknown.
    Straddling,
}

/// The states of the machine during a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Regimes {
    /// Smallest and largest transfer time.
    pub range_ns: Option<(f64, f64)>,
    /// The threshold between fast and slow, or `None` if the machine did not change.
    pub split_ns: Option<f64>,
}

impl Transfer {
    fn straddles(self) -> bool {
        self.before_ns.max(self.after_ns) > STRADDLES * self.before_ns.min(self.after_ns)
    }
}

impl Regimes {
    /// Derives the states from all transfer times of a run.
    pub fn of(transfers: impl IntoIterator<Item = Transfer>) -> Regimes {
        let both = |one: Transfer| [one.before_ns, one.after_ns];
        let mut times: Vec<f64> = transfers.into_iter().flat_map(both).filter(|time| *time > 0.0).collect();
        times.sort_by(f64::total_cmp);
        let range_ns = times.first().copied().zip(times.last().copied());
        let unsteady = range_ns.is_some_and(|(least, greatest)| greatest > STEADY * least);
        Regimes { range_ns, split_ns: if unsteady { split(&times) } else { None } }
    }

    /// The state of a measurement. Only meaningful if there is a split.
    pub fn place(self, transfer: Option<Transfer>) -> Regime {
        let (Some(transfer), Some(split)) = (transfer, self.split_ns) else { return Regime::Straddling };
        let slow = [transfer.before_ns, transfer.after_ns].map(|time| time > split);
        match slow {
            _ if transfer.straddles() => Regime::Straddling,
            [true, true] => Regime::Far,
            [false, false] => Regime::Near,
            _ => Regime::Straddling,
        }
    }

    pub fn words(self) -> String {
        let Some((least, greatest)) = self.range_ns else { return "transfer time not known".to_owned() };
        let range = format!("a cache line took {least:.0} to {greatest:.0} ns from CPU to CPU");
        match self.split_ns {
            Some(split) => format!("{range}, so the machine was two: fast below {split:.0} ns and slow above"),
            None => range,
        }
    }
}

/// The geometric mean of the widest gap that has enough values on both sides. `times` must be sorted.
fn split(times: &[f64]) -> Option<f64> {
    let least = ((times.len() as f64 * LEAST_SHARE).ceil() as usize).max(1);
    let last = times.len().checked_sub(least)?;
    let gaps = (least..=last).map(|at| (times[at - 1], times[at]));
    let (below, above) = gaps.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))?;
    (above >= LEAST_GAP * below).then(|| (below * above).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfers(times: &[(f64, f64)]) -> Vec<Transfer> {
        times.iter().map(|&(before_ns, after_ns)| Transfer { before_ns, after_ns }).collect()
    }

    fn places(times: &[(f64, f64)]) -> Vec<Regime> {
        let transfers = transfers(times);
        let regimes = Regimes::of(transfers.clone());
        transfers.into_iter().map(|one| regimes.place(Some(one))).collect()
    }

    #[test]
    fn fast_and_slow_are_told_apart_and_what_saw_both_belongs_to_neither() {
        use Regime::{Far, Near, Straddling};
        let times = [(80.0, 95.0), (350.0, 500.0), (120.0, 420.0), (131.0, 73.0), (540.0, 400.0)];
        // 131 and 73 also differ by more than a factor of 1.6, although both are fast.
        assert_eq!(places(&times), [Near, Far, Straddling, Straddling, Far]);
        let split = Regimes::of(transfers(&times)).split_ns.unwrap();
        assert!((split - (131.0_f64 * 350.0).sqrt()).abs() < 1e-9, "{split}");
        assert_eq!(Regimes::of(transfers(&times)).place(None), Straddling, "its times are unknown");
    }

    #[test]
    fn neighbours_of_the_split_on_different_sides_of_it_straddle() {
        let times = [(110.0, 110.0), (140.0, 200.0), (260.0, 260.0)];
        assert_eq!(places(&times), [Regime::Near, Regime::Straddling, Regime::Far]);
    }

    #[test]
    fn a_steady_machine_is_not_split() {
        let check = |times: &[(f64, f64)]| assert_eq!(Regimes::of(transfers(times)).split_ns, None, "{times:?}");
        check(&[]);
        check(&[(73.0, 131.0), (80.0, 90.0)]);
        check(&[(100.0, 100.0)]);
        // The times vary widely, but no gap separates them.
        let slope: Vec<(f64, f64)> = (0..20).map(|step| 100.0 * 1.1_f64.powi(step)).map(|time| (time, time)).collect();
        check(&slope);
    }

    #[test]
    fn one_disturbed_time_is_no_state_of_the_machine() {
        let mut times = vec![(90.0, 100.0); 20];
        times[7].1 = 900.0;
        assert_eq!(Regimes::of(transfers(&times)).split_ns, None);
        times.extend([(400.0, 410.0); 10]);
        let split = Regimes::of(transfers(&times)).split_ns.unwrap();
        assert!(split > 100.0 && split < 400.0, "{split}");
    }

    #[test]
    fn words_say_what_the_machine_was() {
        assert_eq!(Regimes::default().words(), "transfer time not known");
        let steady = Regimes::of(transfers(&[(80.0, 90.4)]));
        assert_eq!(steady.words(), "a cache line took 80 to 90 ns from CPU to CPU");
        let two = Regimes::of(transfers(&[(100.0, 100.0), (400.0, 400.0)]));
        assert!(two.words().ends_with("fast below 200 ns and slow above"), "{}", two.words());
    }
}
