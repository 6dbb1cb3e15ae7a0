//! Judgements of invented readings.

use std::cell::Cell;
use std::time::Duration;

use super::*;

/// Two CPUs over two seconds: what other programs, the hypervisor and this process used, and how long tasks waited.
fn after(before: &CpuReading, foreign_s: f64, steal_s: f64, own_s: f64, waiting_s: f64) -> CpuReading {
    CpuReading {
        at_s: before.at_s + 2.0,
        busy_s: before.busy_s + foreign_s + own_s,
        idle_s: before.idle_s + 4.0 - foreign_s - own_s - steal_s,
        steal_s: before.steal_s + steal_s,
        own_s: before.own_s + own_s,
        waiting_s: before.waiting_s.map(|before| before + waiting_s),
        running: Some(3),
    }
}

fn start() -> CpuReading {
    CpuReading {
        at_s: 100.0,
        busy_s: 50.0,
        idle_s: 150.0,
        steal_s: 1.0,
        own_s: 3.0,
        waiting_s: Some(7.0),
        running: Some(1),
    }
}

#[test]
fn only_too_much_disturbs_and_it_is_said_with_figures() {
    use DisturbanceKind::{ForeignCpu, Pressure, Steal};
    // (foreign, steal, own, waiting) in seconds, of 4 CPU seconds in 2 s
    let table: [([f64; 4], &[DisturbanceKind]); 7] = [
        ([0.0, 0.0, 0.0, 0.0], &[]),
        ([0.18, 0.0, 0.0, 0.0], &[]),
        ([0.0, 0.0, 3.9, 0.0], &[]),
        ([0.3, 0.0, 1.0, 0.0], &[ForeignCpu]),
        ([0.0, 0.06, 0.0, 0.0], &[Steal]),
        ([0.0, 0.0, 0.0, 0.5], &[Pressure]),
        ([2.0, 0.5, 0.0, 2.0], &[Steal, ForeignCpu, Pressure]),
    ];
    for ([foreign_s, steal_s, own_s, waiting_s], kinds) in table {
        let seen = judge(&start(), &after(&start(), foreign_s, steal_s, own_s, waiting_s)).unwrap();
        let found: Vec<DisturbanceKind> = seen.disturbances.iter().map(|one| one.kind).collect();
        assert_eq!(found, kinds, "{seen:?}");
        assert_eq!(seen.is_quiet(), kinds.is_empty());
        assert!(
            (seen.foreign - foreign_s / 4.0).abs() < 1e-9 && (seen.stolen - steal_s / 4.0).abs() < 1e-9,
            "{seen:?}"
        );
        assert_eq!((seen.over_s, seen.running), (2.0, Some(2)), "this process does not count itself");
    }
    let seen = judge(&start(), &after(&start(), 0.3, 0.06, 0.0, 0.5)).unwrap();
    let sentences: Vec<&str> = seen.disturbances.iter().map(|one| one.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "the hypervisor took 1.5% of the CPU time (limit 1%)",
            "other programs used 7.5% of the CPUs (limit 5%)",
            "tasks waited for a CPU 25% of the time (limit 10%)",
        ]
    );
}

#[test]
fn two_readings_of_one_instant_say_nothing() {
    assert_eq!(judge(&start(), &start()), None);
    let stepped_back = CpuReading { idle_s: 149.0, busy_s: 50.5, ..after(&start(), 0.5, 0.0, 0.0, 0.0) };
    assert_eq!(judge(&start(), &stepped_back).unwrap().foreign, 1.0, "idle time that decreases counts as zero");
}

#[test]
fn a_kernel_without_pressure_is_judged_by_cpu_time() {
    let blind = CpuReading { waiting_s: None, ..start() };
    let seen = judge(&blind, &after(&blind, 0.0, 0.0, 0.0, 2.0)).unwrap();
    assert_eq!((seen.waiting, seen.is_quiet()), (None, true));
}

#[test]
fn a_reading_is_made_of_three_files() {
    let stat = "cpu  100 20 30 9999 1 5 6 7 3 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
    let pressure = "some avg10=0.01 avg60=0.11 avg300=1.58 total=2500000\n";
    let reading = CpuReading::parse(5.0, 0.5, stat, Some(pressure), Some("0.1 0.2 0.3 4/117 9\n"));
    let expected = CpuReading {
        at_s: 5.0,
        busy_s: 1.0 + 0.2 + 0.3 + 0.05 + 0.06,
        idle_s: 100.0,
        steal_s: 0.07,
        own_s: 0.5,
        waiting_s: Some(2.5),
        running: Some(4),
    };
    let found = reading.unwrap();
    assert!((found.busy_s - expected.busy_s).abs() < 1e-9, "{found:?}");
    assert_eq!(CpuReading { busy_s: expected.busy_s, ..found }, expected);
    assert_eq!(CpuReading::parse(5.0, 0.5, "nonsense", None, None), None);
    let bare = CpuReading::parse(5.0, 0.5, stat, None, None).unwrap();
    assert_eq!((bare.waiting_s, bare.running), (None, None));
}

#[test]
fn a_window_is_judged_by_the_same_measure() {
    use DisturbanceKind::{ForeignCpu, Steal, TakenFromSubject};
    let quiet = WindowFacts {
        window_s: 10.0,
        machine_cpus: 4.0,
        subject_cpus: 1.0,
        foreign_cpu_s: 0.5,
        steal_s: 0.1,
        subject_cpu_s: 7.0,
        subject_wait_s: 6.0,
    };
    // (difference from the quiet machine, what disturbs)
    let table: [(WindowFacts, &[DisturbanceKind]); 8] = [
        (quiet, &[]),
        (WindowFacts { foreign_cpu_s: 2.0, subject_cpu_s: 9.5, ..quiet }, &[]),
        (WindowFacts { steal_s: 0.5, ..quiet }, &[Steal]),
        (WindowFacts { foreign_cpu_s: 2.5, ..quiet }, &[ForeignCpu, TakenFromSubject]),
        (WindowFacts { foreign_cpu_s: 1.5, ..quiet }, &[TakenFromSubject]),
        // A long wait alone means that the subject's threads wait for each other.
        (WindowFacts { subject_wait_s: 60.0, ..quiet }, &[]),
        (WindowFacts { foreign_cpu_s: 1.5, subject_wait_s: 0.0, ..quiet }, &[]),
        (WindowFacts { window_s: 0.0, foreign_cpu_s: 1.5, ..quiet }, &[]),
    ];
    for (window, kinds) in table {
        let found = disturbances(&window);
        assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), kinds, "{window:?}: {found:?}");
    }
    let taken = disturbances(&WindowFacts { foreign_cpu_s: 1.5, ..quiet }).remove(0);
    assert_eq!(taken.share, 0.15);
    assert_eq!(taken.sentence, "other programs took up to 15% of the subject's CPUs (limit 10%)");
}

/// A host with a scripted use by other programs for each two seconds. Time passes without real waiting.
struct Scripted {
    foreign_s: Vec<f64>,
    looked: usize,
    now: CpuReading,
    paused: Duration,
    readable: usize,
}

impl Scripted {
    fn new(foreign_s: &[f64]) -> Self {
        let foreign_s = foreign_s.to_vec();
        Self { foreign_s, looked: 0, now: start(), paused: Duration::ZERO, readable: usize::MAX }
    }
}

impl WatchedHost for Scripted {
    fn reading(&mut self) -> Option<CpuReading> {
        if self.looked >= self.readable {
            return None;
        }
        if self.looked > 0 {
            assert_eq!(self.paused, JUDGED_OVER, "each look takes the judged time");
            let foreign_s = self.foreign_s.get(self.looked - 1).copied().unwrap_or(4.0);
            self.now = after(&self.now, foreign_s, 0.0, 0.0, 0.0);
        }
        self.looked += 1;
        self.paused = Duration::ZERO;
        Some(self.now)
    }

    fn pause(&mut self, time: Duration) {
        self.paused += time;
    }
}

#[test]
fn a_wait_ends_when_the_machine_is_quiet() {
    let mut host = Scripted::new(&[3.0, 1.0, 0.1]);
    let waited = wait_until_quiet(Duration::from_secs(60), &mut host, &|| true);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::Quiet, 6.0));
    assert!((waited.last.unwrap().foreign - 0.025).abs() < 1e-9, "the last look is returned");
}

#[test]
fn patience_is_bounded_and_one_look_is_always_taken() {
    let waited = wait_until_quiet(Duration::from_secs(5), &mut Scripted::new(&[]), &|| true);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::PatienceOver, 6.0));
    assert_eq!(waited.last.unwrap().disturbances.len(), 1);
    let waited = wait_until_quiet(Duration::from_secs(4), &mut Scripted::new(&[]), &|| true);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::PatienceOver, 4.0), "no look begins after the time limit");
    let waited = wait_until_quiet(Duration::ZERO, &mut Scripted::new(&[0.0]), &|| true);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::Quiet, 2.0));
    let waited = wait_until_quiet(Duration::ZERO, &mut Scripted::new(&[]), &|| true);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::PatienceOver, 2.0));
}

#[test]
fn a_wait_that_is_called_off_ends_at_once() {
    let asked = Cell::new(0);
    let keep_waiting = || asked.replace(asked.get() + 1) < 12;
    let waited = wait_until_quiet(Duration::from_secs(60), &mut Scripted::new(&[]), &keep_waiting);
    assert_eq!((waited.end, waited.took_s), (WaitEnd::CalledAway, 2.0), "in the middle of the second look");
    assert!(!waited.last.unwrap().is_quiet(), "the first look is returned");
}

#[test]
fn a_host_that_cannot_be_read_is_not_waited_for() {
    for readable in [0, 1] {
        let mut host = Scripted { readable, ..Scripted::new(&[]) };
        let waited = wait_until_quiet(Duration::from_secs(60), &mut host, &|| true);
        assert_eq!((waited.end, waited.last), (WaitEnd::Unknown, None));
    }
}

#[test]
fn this_host_can_be_watched() {
    let mut host = ThisHost::default();
    let (before, after) = (host.reading().unwrap(), host.reading().unwrap());
    assert!(after.at_s > before.at_s && after.own_s >= before.own_s && after.busy_s >= before.busy_s);
    assert!(after.busy_s > 0.0 && after.idle_s > 0.0 && after.running.is_some());
}
