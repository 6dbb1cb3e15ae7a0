//! The sampler with a manual clock, an invented `/proc`, and groups with known figures.

mod real;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;

use tolok_load::clock::ManualClock;
use tolok_testkit::{FakeGroups, FakeProc, FakeProcess, FakeThread, FakeUsage};

use super::super::part::{Counting, Members};
use super::super::read_back::ReadBack;
use super::super::series::Border;
use tolok_model::{HostWindow, Resources};

use super::*;
use crate::group::{Controller, DiskBytes, GroupMemory, GroupReading, Hierarchies, Throttling};

const INIT: u32 = 10;
const GENERATOR: u32 = 50;
const START: MonotonicNs = MonotonicNs(7_000_000_000);
const SECOND_NS: u64 = 1_000_000_000;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A process with one thread that has run and waited for this many seconds.
fn process(pid: u32, ppid: u32, run_s: u64, wait_s: u64) -> FakeProcess {
    let (run_ns, wait_ns) = (run_s * SECOND_NS, wait_s * SECOND_NS);
    let threads = vec![FakeThread { tid: pid, run_ns, wait_ns, timeslices: 1 }];
    FakeProcess { pid, ppid, threads, ..FakeProcess::default() }
}

/// A box with its init, whose own CPU time counts for no part.
fn a_box() -> FakeProc {
    let proc = FakeProc::new();
    proc.process(&process(INIT, 1, 1000, 1000));
    proc
}

fn sampler<'a>(clock: &'a ManualClock, proc: &FakeProc, followed: Vec<Followed>) -> Sampler<&'a ManualClock> {
    let folders = Folders { proc: proc.path().to_owned(), sys: proc.path().join("sys") };
    Sampler::new(clock, folders, followed)
}

fn followed(part: Part, members: Members) -> Followed {
    Followed { part, members, net_of: None }
}

fn subject_below_init() -> Vec<Followed> {
    vec![followed(Part::Subject, Members::Below(INIT))]
}

/// A control group whose figures a test sets.
#[derive(Debug, Default, Clone)]
struct Scripted {
    reading: Rc<RefCell<GroupReading>>,
    members: Rc<RefCell<Vec<u32>>>,
    times_listed: Rc<RefCell<u32>>,
}

impl Scripted {
    fn set(&self, change: impl FnOnce(&mut GroupReading)) {
        change(&mut self.reading.borrow_mut());
    }
}

impl Counting for Scripted {
    fn read(&self) -> GroupReading {
        self.reading.borrow().clone()
    }

    fn members(&self) -> io::Result<Vec<u32>> {
        *self.times_listed.borrow_mut() += 1;
        Ok(self.members.borrow().clone())
    }

    /// Each of these processes has one thread.
    fn threads(&self) -> io::Result<Vec<u32>> {
        Ok(self.members.borrow().clone())
    }
}

/// A sampler of a subject in a group that has used no CPU time yet.
fn subject_in_group<'a>(clock: &'a ManualClock, proc: &FakeProc, group: &Scripted) -> Sampler<&'a ManualClock> {
    group.set(|reading| reading.cpu_ns = reading.cpu_ns.or(Some(0)));
    let mut sampler = sampler(clock, proc, Vec::new());
    sampler.follow_source(Part::Subject, Source::Group(Box::new(group.clone())), None);
    sampler
}

/// A part's last figure with that name, from a source.
fn last<C: Clock>(sampler: &Sampler<C>, part: Part, source: &str, name: &str) -> Option<f64> {
    let samples = sampler.samples();
    let mut lines = samples.iter().filter(|sample| sample.part == Some(part)).map(line);
    lines.rfind(|line| line["source"] == source)?.get(name)?.as_f64()
}

/// A sample in its written form.
fn line(sample: &Sample) -> serde_json::Value {
    serde_json::to_value(sample).unwrap()
}

#[test]
fn the_subject_is_all_below_the_init_and_not_the_init_itself() {
    let (clock, proc) = (ManualClock::at(START), a_box());
    // The generator is not below the init, and 60 belongs to neither.
    proc.process(&process(11, INIT, 1, 2)).process(&process(12, 11, 10, 20)).process(&process(60, 1, 500, 500));
    proc.process(&process(GENERATOR, 1, 7, 0)).process(&process(51, GENERATOR, 900, 0));
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    let of = |sampler: &Sampler<_>, part, name| last(sampler, part, "processes", name);
    assert_eq!(of(&sampler, Part::Subject, "cpu_s"), Some(11.0));
    assert_eq!(of(&sampler, Part::Subject, "run_queue_wait_s"), Some(22.0));
    assert_eq!(of(&sampler, Part::Subject, "processes"), Some(2.0));
    // The generator is followed only once it is known. Then it is read at once, without what it starts.
    assert_eq!(of(&sampler, Part::Generator, "cpu_s"), None);
    sampler.follow(followed(Part::Generator, Members::Process(GENERATOR)));
    assert_eq!(of(&sampler, Part::Generator, "cpu_s"), Some(7.0));
}

#[test]
fn steady_work_is_exact_although_no_reading_is_at_a_border() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let mut sampler = subject_in_group(&clock, &proc, &group);
    // Three CPUs are busy. The lab reads every 100 ms, and learns of both borders some milliseconds late.
    let now = |sampler: &mut Sampler<_>, at: Duration| {
        clock.advance_to(START + at);
        group.set(|reading| reading.cpu_ns = Some(at.as_nanos() as u64 * 3));
        sampler.tick(at.as_secs_f64());
    };
    for tick in 0..20 {
        now(&mut sampler, ms(tick * 100));
        if tick == 10 {
            now(&mut sampler, ms(1042));
            sampler.window_starts(1.042, START + ms(1037));
        }
    }
    now(&mut sampler, ms(2001));
    let used = sampler.window_ends(2.001, START + ms(1993)).unwrap().part(Part::Subject);
    assert_eq!(used.cpu_source, tolok_model::CpuSource::Group);
    assert!((used.cpu_s - 3.0 * 0.956).abs() < 1e-9, "{used:?}");
}

#[test]
fn each_whole_second_of_the_window_has_its_own_cpu_time_and_memory() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let mut sampler = subject_in_group(&clock, &proc, &group);
    // Idle for a second, then one CPU is busy. Memory grows by 1 MiB every 100 ms. The window has two whole seconds and
    // a bit.
    for tick in 0..30 {
        let at = ms(tick * 100);
        clock.advance_to(START + at);
        group.set(|reading| {
            reading.cpu_ns = Some(at.saturating_sub(ms(1000)).as_nanos() as u64);
            let memory = GroupMemory { anonymous_bytes: tick << 20, kernel_bytes: 7, ..GroupMemory::default() };
            reading.memory = Some(memory);
        });
        sampler.tick(at.as_secs_f64());
        if tick == 0 {
            sampler.window_starts(0.0, START);
        }
    }
    let lines =
        sampler.samples().iter().map(|sample| serde_json::to_string(sample).unwrap() + "\n").collect::<String>();
    let readings = ReadBack::read(&lines, sampler.clock_zero_ns()).unwrap();
    let window = Window { began: START, ended: START + ms(2900) };
    let seconds = readings.by_second(Part::Subject, window).unwrap();
    assert_eq!(readings.by_second(Part::Database, window), None, "the database was not followed");
    let expected = [(Some(0.0), Some((10 << 20) + 7)), (Some(1.0), Some((20 << 20) + 7))];
    assert_eq!(seconds.iter().map(|second| (second.cpu_s, second.memory_bytes)).collect::<Vec<_>>(), expected);
}

#[test]
fn the_busiest_thread_is_the_one_that_used_most_in_the_window() {
    let (clock, proc) = (ManualClock::at(START), a_box());
    let of = |first_s: u64, second_s: u64| FakeProcess {
        threads: [(11, first_s), (12, second_s)]
            .map(|(tid, run_s)| FakeThread { tid, run_ns: run_s * 1_000_000_000, wait_ns: 0, timeslices: 1 })
            .to_vec(),
        ..process(11, INIT, 0, 0)
    };
    // The first has done more so far, and the second does more from now on.
    proc.process(&of(20, 1));
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    sampler.window_starts(0.0, START);
    clock.advance_to(START + ms(10_000));
    proc.process(&of(21, 9));
    let used = sampler.window_ends(10.0, START + ms(10_000)).unwrap().part(Part::Subject);
    assert_eq!((used.busiest_thread_cpu_s, used.cpu_s), (Some(8.0), 9.0));
}

/// The CPU time of a group in a window of 10 s. The group uses nothing before the window, and 1 s in each second of it.
/// The lab's only readings are this far before and behind its start, and behind its end.
fn cpu_s_when_late(before: Duration, behind: Duration, end: Duration) -> Result<f64, NoUsage> {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let began = START + before;
    let ended = began + ms(10_000);
    let mut sampler = subject_in_group(&clock, &proc, &group);
    let at = |instant: MonotonicNs| {
        clock.advance_to(instant);
        group.set(|reading| reading.cpu_ns = Some(instant.min(ended).ns_since(began)));
    };
    at(began + behind);
    sampler.window_starts(0.0, began);
    at(ended + end);
    Ok(sampler.window_ends(10.0, ended)?.part(Part::Subject).cpu_s)
}

#[test]
fn late_readings_err_by_no_more_than_the_way_to_the_nearest() {
    let cpu_s = |before, behind, end| cpu_s_when_late(ms(before), ms(behind), ms(end)).unwrap();
    assert_eq!(cpu_s(0, 0, 0), 10.0);
    // Work that begins at the border. The interval around it is 100 ms + 2 s, so 100/2100 of its use counts as before
    // the border.
    let late_start = cpu_s(100, 2000, 0);
    assert!((late_start - (10.0 - 0.095)).abs() < 0.001, "{late_start}");
    // Work that stops at the border, which is 2 s after a reading and 1 s before the next. A third of those 2 s is
    // missed.
    let late_end = cpu_s(0, 8000, 1000);
    assert!((late_end - (10.0 - 2.0 / 3.0)).abs() < 1e-9, "{late_end}");
}

#[test]
fn a_border_that_is_a_third_of_the_window_away_from_any_reading_is_refused() {
    let far = |before, behind, end| cpu_s_when_late(ms(before), ms(behind), ms(end)).err();
    let too_far = |border, away_s| Some(NoUsage::TooFar { of: "subject", border, away_s, window_s: 10.0 });
    assert_eq!(far(3_333, 5_000, 0), None);
    assert_eq!(far(3_334, 5_000, 0), too_far(Border::Start, 3.334));
    assert_eq!(far(5_000, 3_334, 0), too_far(Border::Start, 3.334));
    assert_eq!(far(0, 0, 3_333), None);
    assert_eq!(far(0, 0, 3_334), too_far(Border::End, 3.334));
    // One near reading on either side is enough: the lab may learn late of the start.
    assert_eq!(far(100, 5_000, 0), None);
}

#[test]
fn a_window_that_never_began_has_no_usage() {
    let (clock, proc) = (ManualClock::at(START), a_box());
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    assert_eq!(sampler.window_ends(1.0, START + ms(1000)), Err(NoUsage::NeverBegan));
    sampler.window_starts(1.0, START);
    clock.advance(ms(1000));
    assert!(sampler.window_ends(2.0, START + ms(1000)).is_ok());
    assert_eq!(sampler.window_ends(3.0, START + ms(1000)), Err(NoUsage::NeverBegan));
}

#[test]
fn without_a_group_threads_are_summed_and_those_that_ended_are_kept() {
    let (clock, proc) = (ManualClock::at(START), a_box());
    proc.process(&process(11, INIT, 3, 1)).process(&process(12, INIT, 4, 0));
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    sampler.window_starts(0.0, START);
    clock.advance(ms(5_000));
    proc.process(&process(12, INIT, 6, 0));
    sampler.tick(5.0);
    // It ends, its pid is reused, and a third process starts.
    proc.ended(12).process(&process(12, INIT, 1, 0)).process(&process(13, 11, 2, 2));
    clock.advance(ms(5_000));
    let used = sampler.window_ends(10.0, START + ms(10_000)).unwrap().part(Part::Subject);
    assert_eq!((used.cpu_s, used.cpu_source), (5.0, tolok_model::CpuSource::Threads));
    assert_eq!((used.run_queue_wait_s, used.scheduler.unwrap().timeslices), (2.0, 2));
    assert_eq!((used.processes_max, used.threads_max), (3, 3));
}

#[test]
fn a_group_counts_for_members_that_nobody_ever_saw() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    proc.process(&process(11, INIT, 1, 1));
    *group.members.borrow_mut() = vec![11];
    let mut sampler = subject_in_group(&clock, &proc, &group);
    sampler.window_starts(0.0, START);
    clock.advance(ms(2_000));
    // 9 s were used, of which 8 by processes that lived only between two readings.
    group.set(|reading| reading.cpu_ns = Some(9 * SECOND_NS));
    proc.process(&process(11, INIT, 2, 3)).process(&process(12, INIT, 0, 1));
    *group.members.borrow_mut() = vec![11, 12];
    let used = sampler.window_ends(2.0, START + ms(2_000)).unwrap().part(Part::Subject);
    assert_eq!((used.cpu_s, used.cpu_source), (9.0, tolok_model::CpuSource::Group));
    assert_eq!((used.run_queue_wait_s, used.processes_max), (3.0, 2));
}

#[test]
fn processes_are_read_once_a_second_and_groups_at_each_tick() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let mut sampler = subject_in_group(&clock, &proc, &group);
    let read = |sampler: &Sampler<_>, source: &str| {
        sampler.samples().iter().filter(|sample| line(sample)["source"] == source).count()
    };
    for tick in 0..=30 {
        sampler.tick(f64::from(tick) / 10.0);
        clock.advance(ms(100));
    }
    // One more of each for the reading when following began.
    assert_eq!((read(&sampler, "group"), read(&sampler, "processes"), read(&sampler, "host")), (32, 5, 5));
    assert_eq!(*group.times_listed.borrow(), 5);
    // A lab that slept through several does not catch up on them.
    clock.advance(ms(5_000));
    sampler.tick(8.1);
    sampler.tick(8.1);
    assert_eq!(read(&sampler, "host"), 6);
}

#[test]
fn what_a_quota_took_and_what_the_killer_took_are_those_of_the_window() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let throttled = |periods, throttled_periods, throttled_ns| {
        group.set(|reading| reading.throttling = Some(Throttling { periods, throttled_periods, throttled_ns }));
    };
    let held = |usage_bytes, anonymous_bytes, oom_kills| {
        let memory = GroupMemory { usage_bytes, anonymous_bytes, kernel_bytes: 7, peak_bytes: Some(900), oom_kills };
        group.set(|reading| reading.memory = Some(memory));
    };
    throttled(10, 4, SECOND_NS);
    held(800, 700, 2);
    let mut sampler = subject_in_group(&clock, &proc, &group);
    clock.advance(ms(100));
    held(100, 50, 2);
    sampler.window_starts(0.0, START + ms(100));
    clock.advance(ms(500));
    held(400, 300, 2);
    sampler.tick(0.5);
    clock.advance(ms(500));
    throttled(20, 9, 3 * SECOND_NS);
    held(200, 60, 3);
    let used = sampler.window_ends(1.0, START + ms(1100)).unwrap().part(Part::Subject);
    assert_eq!(used.throttling, Some(tolok_model::Throttling { periods: 10, throttled_periods: 5, throttled_s: 2.0 }));
    let memory = used.memory.unwrap();
    assert_eq!((memory.anonymous_and_kernel_bytes_max, memory.usage_bytes_max), (307, 400));
    assert_eq!((memory.peak_bytes, memory.oom_kills), (Some(900), 1));
}

#[test]
fn disk_and_network_are_those_of_the_window() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let so_far = |received: u64, read_bytes| {
        let link = format!("link0: {received} 1 0 0 0 0 0 0 {} 2 0 0 0 0 0 0\n", received * 2);
        proc.file("11/net/dev", format!("heading\nheading\n{link}"));
        group.set(|reading| reading.disk = Some(DiskBytes { read_bytes, written_bytes: 0 }));
    };
    so_far(1000, 5);
    let mut sampler = sampler(&clock, &proc, Vec::new());
    sampler.follow_source(Part::Subject, Source::Group(Box::new(group.clone())), Some(NetOf::Process(11)));
    sampler.window_starts(0.0, START);
    clock.advance(ms(1000));
    so_far(1700, 6);
    let used = sampler.window_ends(1.0, START + ms(1000)).unwrap().part(Part::Subject);
    assert_eq!((used.disk_read_bytes, used.disk_written_bytes), (Some(1), Some(0)));
    let network = tolok_model::NetworkBytes { received_bytes: 700, sent_bytes: 1400 };
    assert_eq!(used.network, Some(network));
}

#[test]
fn what_is_withheld_is_absent_and_said_and_never_nought() {
    let (clock, proc, group) = (ManualClock::at(START), FakeProc::new(), Scripted::default());
    proc.process(&process(11, INIT, 1, 1));
    std::fs::remove_file(proc.path().join("11/schedstat")).unwrap();
    *group.members.borrow_mut() = vec![11];
    let mut sampler = sampler(&clock, &proc, Vec::new());
    sampler.follow_source(Part::Subject, Source::Group(Box::new(group.clone())), Some(NetOf::Process(11)));
    sampler.window_starts(0.0, START);
    clock.advance(ms(1000));
    let usage = sampler.window_ends(1.0, START + ms(1000)).unwrap();
    let known = Resources {
        rss_sum_bytes_max: 2560 * rustix::param::page_size() as u64,
        processes_max: 1,
        threads_max: 1,
        ..Resources::default()
    };
    assert_eq!(usage.part(Part::Subject), known);
    assert_eq!(usage.host, HostWindow::default());
    assert_eq!(usage.part(Part::Database), Resources::default());
    assert_eq!(usage.without_cpu_time, [Part::Subject]);
}

#[test]
fn cpu_time_of_unfollowed_processes_is_foreign_and_never_negative() {
    let foreign_s = |busy_ticks: u64| {
        let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
        let stat =
            |busy: u64, steal| proc.file("stat", format!("cpu  {busy} 0 0 900 0 0 4 {steal} 0 0\nprocs_running 2\n"));
        stat(100, 10);
        proc.process(&process(GENERATOR, 1, 2, 0));
        let mut sampler = subject_in_group(&clock, &proc, &group);
        sampler.follow(followed(Part::Generator, Members::Process(GENERATOR)));
        sampler.window_starts(0.0, START);
        clock.advance(ms(2_000));
        stat(100 + busy_ticks, 30);
        group.set(|reading| reading.cpu_ns = Some(SECOND_NS));
        proc.process(&process(GENERATOR, 1, 3, 0));
        let host = sampler.window_ends(2.0, START + ms(2_000)).unwrap().host;
        assert!((host.steal_s - 0.2).abs() < 1e-9, "{host:?}");
        assert_eq!((host.runnable_max, host.cpu_pressure), (Some(2), None));
        (host.foreign_cpu_s * 1000.0).round()
    };
    assert_eq!((foreign_s(250), foreign_s(199)), (500.0, 0.0));
}

#[test]
fn processes_of_a_database_are_not_the_subjects_and_may_start_later() {
    let (clock, proc) = (ManualClock::at(START), a_box());
    proc.process(&process(11, INIT, 1, 0));
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    sampler.follow(Followed { net_of: Some(NetOf::Members), ..followed(Part::Database, Members::Trees(Vec::new())) });
    let of = |sampler: &Sampler<_>, part, name| last(sampler, part, "processes", name);
    assert_eq!(of(&sampler, Part::Database, "cpu_s"), Some(0.0));
    // Below the same init: a server with a child of its own.
    let received = |pid: u32, bytes: u64| {
        proc.file(
            &format!("{pid}/net/dev"),
            format!("heading\nheading\ntolok0: {bytes} 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
        );
    };
    proc.process(&process(20, INIT, 5, 0)).process(&process(21, 20, 2, 0));
    received(20, 700);
    clock.advance(ms(1000));
    sampler.add_process(Part::Database, 20);
    assert_eq!(of(&sampler, Part::Database, "cpu_s"), Some(7.0));
    assert_eq!(last(&sampler, Part::Database, "network", "received_bytes"), Some(700.0));
    sampler.window_starts(0.0, START + ms(1000));
    assert_eq!(
        (of(&sampler, Part::Subject, "cpu_s"), of(&sampler, Part::Subject, "processes")),
        (Some(1.0), Some(1.0))
    );
    // It is killed, and its pid is now the subject's. Another is started in its place.
    proc.ended(20).ended(21);
    clock.advance(ms(1000));
    sampler.tick(1.0);
    assert_eq!(
        (of(&sampler, Part::Database, "cpu_s"), of(&sampler, Part::Database, "processes")),
        (Some(7.0), Some(0.0))
    );
    proc.process(&process(20, INIT, 90, 0)).process(&process(30, INIT, 1, 0));
    received(30, 900);
    sampler.add_process(Part::Database, 30);
    proc.process(&process(30, INIT, 3, 0));
    clock.advance(ms(1000));
    let usage = sampler.window_ends(2.0, START + ms(3000)).unwrap();
    assert_eq!(usage.part(Part::Database).cpu_s, 3.0);
    assert_eq!(usage.part(Part::Database).network.unwrap().received_bytes, 200);
    assert_eq!((usage.part(Part::Subject).cpu_s, usage.part(Part::Subject).processes_max), (90.0, 2));
}

#[test]
fn what_a_database_used_is_not_foreign() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let stat = |busy_ticks: u64| proc.file("stat", format!("cpu  {busy_ticks} 0 0 900 0 0 0 0 0 0\n"));
    stat(100);
    group.set(|reading| reading.cpu_ns = Some(0));
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    sampler.follow_source(Part::Database, Source::Group(Box::new(group.clone())), None);
    sampler.window_starts(0.0, START);
    clock.advance(ms(1000));
    stat(180);
    group.set(|reading| reading.cpu_ns = Some(SECOND_NS * 3 / 4));
    let usage = sampler.window_ends(1.0, START + ms(1000)).unwrap();
    assert_eq!(usage.part(Part::Database).cpu_s, 0.75);
    assert!((usage.host.foreign_cpu_s - 0.05).abs() < 1e-9, "{:?}", usage.host);
}

#[test]
fn proportional_sizes_are_read_by_a_call_of_their_own() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    proc.process(&FakeProcess { pss_kib: 100, ..process(11, INIT, 0, 0) });
    proc.process(&FakeProcess { pss_kib: 28, ..process(12, 11, 0, 0) });
    let mut sampler = sampler(&clock, &proc, subject_below_init());
    *group.members.borrow_mut() = vec![12];
    sampler.follow_source(Part::Database, Source::Group(Box::new(group)), None);
    sampler.follow(followed(Part::Generator, Members::Process(99)));
    assert_eq!(sampler.after_load(), [(Part::Subject, 128 * 1024), (Part::Database, 28 * 1024)].into());
}

#[test]
fn samples_are_in_the_order_and_on_the_clock_of_the_trial() {
    let (clock, proc, group) = (ManualClock::at(START), a_box(), Scripted::default());
    let mut sampler = subject_in_group(&clock, &proc, &group);
    clock.advance(ms(250));
    sampler.tick(1.5);
    clock.advance(ms(100));
    sampler.tick(1.6);
    let seen: Vec<_> = sampler
        .samples()
        .iter()
        .map(|sample| (sample.at_s, line(sample)["source"].as_str().unwrap().to_owned()))
        .collect();
    let at =
        |at_s, sources: &[&'static str]| sources.iter().map(|source| (at_s, (*source).to_owned())).collect::<Vec<_>>();
    let expected =
        [at(1.25, &["host", "group", "processes"]), at(1.5, &["host", "group", "processes"]), at(1.6, &["group"])];
    assert_eq!(seen, expected.concat());
}

#[test]
fn groups_of_every_layout_are_followed() {
    let v2 = FakeGroups::v2("/");
    // No other process is in the group below which this one is made.
    v2.file("core", "", "cgroup.procs", "");
    for tree in [FakeGroups::v1("/"), FakeGroups::hybrid("/"), v2] {
        let (clock, proc) = (ManualClock::at(START), a_box());
        let wanted = BTreeSet::from(Controller::ALL);
        let group = Hierarchies::find_in(tree.path()).create("x", &wanted).unwrap();
        tree.usage("x", &usage_after(1));
        let mut sampler = sampler(&clock, &proc, vec![followed(Part::Database, Members::Group(group))]);
        sampler.window_starts(0.0, START);
        clock.advance(ms(1000));
        tree.usage("x", &usage_after(2));
        let used = sampler.window_ends(1.0, START + ms(1000)).unwrap().part(Part::Database);
        assert_eq!((used.cpu_s, used.memory.unwrap().anonymous_and_kernel_bytes_max), (5e-6, 70), "{tree:?}");
        let throttling = tolok_model::Throttling { periods: 10, throttled_periods: 1, throttled_s: 1e-3 };
        assert_eq!(used.throttling.map(rounded), Some(throttling), "{tree:?}");
        assert_eq!((used.disk_read_bytes, used.disk_written_bytes), (Some(9), Some(8)), "{tree:?}");
    }
}

fn rounded(throttling: tolok_model::Throttling) -> tolok_model::Throttling {
    tolok_model::Throttling { throttled_s: (throttling.throttled_s * 1e6).round() / 1e6, ..throttling }
}

/// What a group has used after this many seconds.
fn usage_after(seconds: u64) -> FakeUsage {
    FakeUsage {
        user_us: seconds * 3,
        system_us: seconds * 2,
        throttling: (seconds * 10, seconds, seconds * 1000),
        memory_bytes: (seconds * 100, 200),
        anonymous_bytes: seconds * 30,
        kernel_bytes: 10,
        oom_kills: 0,
        refused_tasks: 0,
        tasks: 1,
        disks: vec![(seconds * 9, seconds * 8)],
    }
}
