//! A subject below the init 10, a generator 50, and what is made of their readings. Times are round numbers.

use tolok_load::clock::ManualClock;
use tolok_testkit::{FakeProc, FakeProcess, FakeThread};

use super::*;

const INIT: u32 = 10;
const GENERATOR: u32 = 50;

const SECOND: Duration = Duration::from_secs(1);
/// A window that no test outlasts.
const MINUTE: Duration = Duration::from_secs(60);
const START: MonotonicNs = MonotonicNs(7_000_000_123);

/// A process with one thread that has run and waited for so many seconds.
fn process(pid: u32, ppid: u32, run_s: u64, wait_s: u64) -> FakeProcess {
    FakeProcess { pid, ppid, threads: vec![thread(pid, run_s, wait_s)], ..FakeProcess::default() }
}

fn thread(tid: u32, run_s: u64, wait_s: u64) -> FakeThread {
    FakeThread { tid, run_ns: run_s * 1_000_000_000, wait_ns: wait_s * 1_000_000_000, timeslices: 1 }
}

/// A box with its init, which has used CPU time that is nobody's.
fn a_box() -> FakeProc {
    let proc = FakeProc::new();
    proc.process(&process(INIT, 1, 1000, 1000));
    proc
}

/// The last sample of a part.
fn last(sampler: &Sampler, part: Part) -> Sample {
    sampler.samples().iter().rfind(|sample| sample.part == part).unwrap().clone()
}

/// CPU time of the subject so far, by a new reading.
fn subject_cpu_s(sampler: &mut Sampler) -> f64 {
    sampler.read(0.0);
    last(sampler, Part::Subject).cpu_s
}

#[test]
fn the_subject_is_all_below_the_init_and_not_the_init_itself() {
    let proc = a_box();
    // The generator is nobody's child there, and 60 belongs to neither.
    proc.process(&process(11, INIT, 1, 2)).process(&process(12, 11, 10, 20)).process(&process(60, 1, 500, 500));
    proc.process(&process(GENERATOR, 1, 7, 0));
    let mut sampler = Sampler::new(proc.path(), INIT);
    sampler.read(0.5);
    let subject = last(&sampler, Part::Subject);
    assert_eq!((subject.cpu_s, subject.run_queue_wait_s, subject.processes, subject.threads), (11.0, 22.0, 2, 2));
    assert_eq!(subject.at_s, 0.5);
    // Nobody is followed until it is known.
    assert_eq!(last(&sampler, Part::Generator).processes, 0);
    sampler.follow_generator(GENERATOR);
    sampler.read(1.0);
    let generator = last(&sampler, Part::Generator);
    assert_eq!((generator.cpu_s, generator.processes), (7.0, 1));
}

#[test]
fn what_a_process_used_before_it_ended_is_kept() {
    let proc = a_box();
    proc.process(&process(11, INIT, 3, 0)).process(&process(12, INIT, 4, 0));
    let mut sampler = Sampler::new(proc.path(), INIT);
    assert_eq!(subject_cpu_s(&mut sampler), 7.0);
    proc.ended(12);
    assert_eq!(subject_cpu_s(&mut sampler), 7.0);
    assert_eq!(last(&sampler, Part::Subject).processes, 1);
}

#[test]
fn what_a_thread_used_before_it_ended_is_kept() {
    let proc = a_box();
    let with = |threads| FakeProcess { threads, ..process(11, INIT, 0, 0) };
    proc.process(&with(vec![thread(11, 1, 0), thread(12, 5, 0)]));
    let mut sampler = Sampler::new(proc.path(), INIT);
    assert_eq!(subject_cpu_s(&mut sampler), 6.0);
    // One ends and another begins: less in sum, and more in truth.
    proc.process(&with(vec![thread(11, 2, 0), thread(13, 3, 0)]));
    assert_eq!(subject_cpu_s(&mut sampler), 10.0);
    assert_eq!(last(&sampler, Part::Subject).threads, 2);
}

#[test]
fn a_pid_that_is_given_out_again_is_another_process() {
    let proc = a_box();
    let started = |start_ticks, run_s| FakeProcess { start_ticks, ..process(11, INIT, run_s, 0) };
    proc.process(&started(100, 9));
    let mut sampler = Sampler::new(proc.path(), INIT);
    assert_eq!(subject_cpu_s(&mut sampler), 9.0);
    proc.process(&started(200, 2));
    assert_eq!(subject_cpu_s(&mut sampler), 11.0);
}

#[test]
fn a_window_is_the_difference_between_its_ends() {
    let proc = a_box();
    proc.file("stat", "cpu  100 0 0 900 0 0 0 10 0 0\n");
    proc.process(&process(11, INIT, 3, 1)).process(&process(GENERATOR, 1, 2, 0));
    let clock = ManualClock::at(START);
    let mut sampler = Sampler::with_clock(&clock, proc.path(), INIT);
    sampler.follow_generator(GENERATOR);
    sampler.read(0.0);
    sampler.window_starts(1.0, START);
    proc.file("stat", "cpu  450 0 50 1800 0 0 0 30 0 0\n");
    proc.process(&FakeProcess { pss_kib: 100, ..process(11, INIT, 5, 4) });
    proc.process(&FakeProcess { pss_kib: 28, ..process(12, 11, 1, 0) });
    proc.process(&process(GENERATOR, 1, 3, 0));
    let usage = sampler.window_ends(2.0, START + SECOND).unwrap();
    assert_eq!((usage.subject.cpu_s, usage.subject.run_queue_wait_s), (3.0, 3.0));
    assert_eq!(usage.subject.pss_bytes, Some(128 * 1024));
    assert_eq!((usage.generator.cpu_s, usage.generator.pss_bytes), (1.0, None));
    assert_eq!((usage.host.busy_s, (usage.host.steal_s * 100.0).round()), (4.0, 20.0));
    // A window that never began has no usage, rather than one of zero.
    assert_eq!(sampler.window_ends(3.0, START + SECOND * 2), Err(NoUsage::NeverBegan));
}

/// The usage of a window of 10 s in which 3 s of CPU time and 1.5 s of waiting were seen, and 6 s of work of the machine,
/// by a lab that is so late to read its start and its end.
fn usage_when_late(start: Duration, end: Duration) -> Result<WindowUsage, NoUsage> {
    let proc = a_box();
    proc.file("stat", "cpu  100 0 0 900 0 0 0 10 0 0\n");
    proc.process(&process(11, INIT, 3, 1)).process(&process(GENERATOR, 1, 2, 0));
    let clock = ManualClock::at(START + start);
    let mut sampler = Sampler::with_clock(&clock, proc.path(), INIT);
    sampler.follow_generator(GENERATOR);
    sampler.window_starts(1.0, START);
    clock.advance_to(START + SECOND * 10 + end);
    proc.file("stat", "cpu  700 0 0 1800 0 0 0 70 0 0\n");
    proc.process(&process(11, INIT, 6, 4)).process(&process(GENERATOR, 1, 5, 0));
    sampler.window_ends(11.0, START + SECOND * 10)
}

#[test]
fn what_was_used_before_a_late_start_was_read_is_made_up_for() {
    let on_time = usage_when_late(Duration::ZERO, Duration::ZERO).unwrap();
    assert_eq!((on_time.subject.cpu_s, on_time.subject.run_queue_wait_s, on_time.generator.cpu_s), (3.0, 3.0, 3.0));
    // Eight seconds of ten were seen: a quarter is missing.
    let late = usage_when_late(SECOND * 2, Duration::ZERO).unwrap();
    assert_eq!((late.subject.cpu_s, late.subject.run_queue_wait_s, late.generator.cpu_s), (3.75, 3.75, 3.75));
    assert_eq!((late.host.busy_s, late.host.steal_s), (on_time.host.busy_s * 1.25, on_time.host.steal_s * 1.25));
    // The load has stopped at the end: a late reading sees no more of it.
    assert_eq!(usage_when_late(Duration::ZERO, SECOND), Ok(on_time));
}

#[test]
fn a_start_that_was_read_after_a_third_of_the_window_stands_for_nothing() {
    assert!(usage_when_late(Duration::from_millis(3_333), Duration::ZERO).is_ok());
    let refused = usage_when_late(Duration::from_millis(3_334), Duration::ZERO);
    assert_eq!(refused, Err(NoUsage::TooLate { late_s: 3.334, window_s: 10.0 }));
}

#[test]
fn the_most_is_what_was_seen_inside_the_window() {
    let proc = a_box();
    let sized = |pid, resident_pages| FakeProcess { resident_pages, ..process(pid, INIT, 0, 0) };
    let page = rustix::param::page_size() as u64;
    proc.process(&sized(11, 1)).process(&sized(12, 1000)).process(&sized(13, 1));
    let mut sampler = Sampler::new(proc.path(), INIT);
    sampler.read(0.0);
    proc.ended(12).ended(13);
    sampler.window_starts(1.0, SystemClock.now());
    proc.process(&sized(12, 7));
    sampler.read(1.5);
    proc.ended(12);
    let subject = sampler.window_ends(2.0, SystemClock.now() + MINUTE).unwrap().subject;
    assert_eq!((subject.processes_max, subject.threads_max, subject.rss_sum_bytes_max), (2, 2, 8 * page));
}

#[test]
fn processes_that_go_in_the_middle_of_a_reading_are_skipped() {
    let proc = a_box();
    proc.process(&process(11, INIT, 3, 0)).process(&process(12, INIT, 4, 0));
    std::fs::remove_file(proc.path().join("12/statm")).unwrap();
    std::fs::remove_file(proc.path().join("12/smaps_rollup")).unwrap();
    let mut sampler = Sampler::new(proc.path(), INIT);
    sampler.window_starts(0.0, SystemClock.now());
    assert_eq!(last(&sampler, Part::Subject).cpu_s, 3.0);
    assert_eq!(sampler.window_ends(1.0, SystemClock.now() + MINUTE).unwrap().subject.pss_bytes, Some(9000 * 1024));
}

#[test]
fn a_sample_is_a_line_of_json() {
    let proc = a_box();
    let mut sampler = Sampler::new(proc.path(), INIT);
    sampler.read(0.25);
    let line = serde_json::to_string(&sampler.samples()[0]).unwrap();
    let expect = r#"{"at_s":0.25,"part":"subject","cpu_s":0.0,"run_queue_wait_s":0.0,"rss_sum_bytes":0,"processes":0,"threads":0}"#;
    assert_eq!(line, expect);
}
