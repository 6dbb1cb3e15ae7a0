//! The processes and threads of one part: what they hold, what they used, and how long they waited.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tolok_load::process_cpu::ProcessClocks;

use super::as_seconds;
use super::kept::{Kept, Room};

/// What the processes of a part used so far and hold now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskReading {
    /// Times summed over all threads ever seen. `None` if the kernel does not report them.
    #[serde(flatten)]
    pub spent: Option<Spent>,
    /// The sum of resident sets, so shared pages count once for each process.
    pub rss_sum_bytes: u64,
    pub processes: u64,
    pub threads: u64,
    /// The threads that have used most so far, with their CPU time in nanoseconds, busiest first.
    #[serde(flatten, with = "busiest")]
    pub busiest: [Option<(u32, u64)>; BUSIEST],
}

/// How many of the busiest threads to keep. The busiest of a window is among those that used most until its end.
pub const BUSIEST: usize = 4;

/// Serialises the busiest threads as `busiest_1_tid`, `busiest_1_cpu_s` and so on.
mod busiest {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer, ser::SerializeMap};

    use super::BUSIEST;

    type Threads = [Option<(u32, u64)>; BUSIEST];

    fn names(place: usize) -> [String; 2] {
        ["tid", "cpu_s"].map(|what| format!("busiest_{}_{what}", place + 1))
    }

    pub(super) fn serialize<S: Serializer>(threads: &Threads, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (place, (thread, cpu_ns)) in threads.iter().flatten().enumerate() {
            let [tid, cpu_s] = names(place);
            map.serialize_entry(&tid, thread)?;
            map.serialize_entry(&cpu_s, &(*cpu_ns as f64 / 1e9))?;
        }
        map.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Threads, D::Error> {
        let figures = BTreeMap::<String, f64>::deserialize(deserializer)?;
        Ok(std::array::from_fn(|place| {
            let [tid, cpu_s] = names(place).map(|name| figures.get(&name));
            Some((*tid? as u32, (cpu_s? * 1e9).round() as u64))
        }))
    }
}

impl TaskReading {
    /// A thread's CPU time so far, if it is among the busiest.
    pub fn cpu_ns_of(&self, tid: u32) -> Option<u64> {
        self.busiest.iter().flatten().find(|(one, _)| *one == tid).map(|(_, cpu_ns)| *cpu_ns)
    }
}

/// Times from the scheduler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    #[serde(rename = "cpu_s", with = "as_seconds")]
    pub cpu_ns: u64,
    /// Time spent runnable, waiting for a CPU.
    #[serde(rename = "run_queue_wait_s", with = "as_seconds")]
    pub run_queue_wait_ns: u64,
    /// How often a CPU was assigned.
    pub timeslices: u64,
}

impl Spent {
    /// Parses a thread's `schedstat`.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self { cpu_ns: next()?, run_queue_wait_ns: next()?, timeslices: next()? })
    }

    fn add(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.run_queue_wait_ns += other.run_queue_wait_ns;
        self.timeslices += other.timeslices;
    }

    /// Whether this cannot be a later reading of the thread that had used `earlier`.
    fn is_before(&self, earlier: &Self) -> bool {
        self.cpu_ns < earlier.cpu_ns
            || self.run_queue_wait_ns < earlier.run_queue_wait_ns
            || self.timeslices < earlier.timeslices
    }
}

/// The processes and threads of one part, including those that have ended.
#[derive(Debug, Default)]
pub struct Tasks {
    processes: BTreeMap<u32, Kept>,
    threads: BTreeMap<u32, Thread>,
    /// What ended threads had used when they were last seen.
    ended: Spent,
    has_times: bool,
    clocks: Option<ProcessClocks>,
    buffer: Vec<u8>,
}

/// A thread, and what it had used at its last reading; `None` before the first.
#[derive(Debug, Default)]
struct Thread {
    schedstat: Kept,
    spent: Option<Spent>,
}

impl Tasks {
    /// With process clocks, which include what ended threads used.
    pub fn with_clocks(clocks: ProcessClocks) -> Self {
        Self { clocks: Some(clocks), ..Self::default() }
    }

    /// The number of files that are kept open.
    pub fn open_files(&self) -> usize {
        let files = self.processes.values().chain(self.threads.values().map(|thread| &thread.schedstat));
        files.filter(|file| file.is_open()).count()
    }

    /// Reads these processes and threads, which are all that exist now. Without a list of threads, it lists those of
    /// each process.
    pub fn read(&mut self, proc: &Path, pids: &[u32], tids: Option<Vec<u32>>, mut room: Room) -> TaskReading {
        let by_clocks_ns = self.clocks.as_mut().map_or(0, |clocks| clocks.read(pids));
        let tids = tids.unwrap_or_else(|| pids.iter().flat_map(|pid| threads_of(proc, *pid)).collect());
        let mut reading = self.read_processes(proc, pids, &mut room);
        reading.threads = self.read_threads(proc, &tids, &mut room);
        reading.busiest = self.busiest();
        // A kernel without these times has none for any thread. If no threads have existed so far, none were used.
        self.has_times |= reading.threads > 0;
        reading.spent = (self.has_times || tids.is_empty()).then(|| self.spent());
        if let Some(spent) = &mut reading.spent {
            // Clocks are read before the threads, so they lag a little for living threads.
            spent.cpu_ns = spent.cpu_ns.max(by_clocks_ns);
        }
        reading.threads = reading.threads.max(if self.has_times { 0 } else { tids.len() as u64 });
        reading
    }

    fn read_processes(&mut self, proc: &Path, pids: &[u32], room: &mut Room) -> TaskReading {
        retain(&mut self.processes, pids, |_| {});
        let mut reading = TaskReading::default();
        let page_bytes = rustix::param::page_size() as u64;
        for pid in pids {
            let statm = self.processes.entry(*pid).or_default();
            let mut pages = || {
                let path = || proc.join(format!("{pid}/statm"));
                resident_pages(statm.read(path, room, &mut self.buffer)?)
            };
            // An open file belongs to the process that it was opened for. The pid may have been reused, so a failure is
            // retried with a new file.
            match pages().or_else(&mut pages) {
                Some(pages) => {
                    reading.processes += 1;
                    reading.rss_sum_bytes += pages * page_bytes;
                }
                None => drop(self.processes.remove(pid)),
            }
        }
        reading
    }

    fn read_threads(&mut self, proc: &Path, tids: &[u32], room: &mut Room) -> u64 {
        retain(&mut self.threads, tids, |thread| self.ended.add(thread.spent.unwrap_or_default()));
        for tid in tids {
            let thread = self.threads.entry(*tid).or_default();
            let mut spent = || {
                let path = || proc.join(format!("{tid}/schedstat"));
                Spent::parse(thread.schedstat.read(path, room, &mut self.buffer)?)
            };
            let (first, again) = match spent() {
                None => (None, spent()),
                found => (found, None),
            };
            let same = first.filter(|now| !thread.spent.is_some_and(|earlier| now.is_before(&earlier)));
            if same.is_none() {
                // The thread has ended, and a new one with its number began at zero.
                self.ended.add(thread.spent.take().unwrap_or_default());
            }
            thread.spent = first.or(again);
            if thread.spent.is_none() {
                self.threads.remove(tid);
            }
        }
        self.threads.len() as u64
    }

    fn busiest(&self) -> [Option<(u32, u64)>; BUSIEST] {
        let mut busiest = [None; BUSIEST];
        let used = |(tid, thread): (&u32, &Thread)| Some((*tid, thread.spent?.cpu_ns));
        for (tid, cpu_ns) in self.threads.iter().filter_map(used) {
            let place =
                busiest.iter().position(|known: &Option<(u32, u64)>| known.is_none_or(|(_, most)| most < cpu_ns));
            if let Some(place) = place {
                busiest[place..].rotate_right(1);
                busiest[place] = Some((tid, cpu_ns));
            }
        }
        busiest
    }

    fn spent(&self) -> Spent {
        let mut sum = self.ended;
        for spent in self.threads.values().filter_map(|thread| thread.spent) {
            sum.add(spent);
        }
        sum
    }
}

/// Keeps only those that exist now, and passes each of the others to `gone`.
fn retain<T>(known: &mut BTreeMap<u32, T>, there: &[u32], mut gone: impl FnMut(&T)) {
    let mut sorted = there.to_vec();
    sorted.sort_unstable();
    known.retain(|number, of| {
        let stays = sorted.binary_search(number).is_ok();
        if !stays {
            gone(of);
        }
        stays
    });
}

/// The second number of `statm`.
fn resident_pages(statm: &str) -> Option<u64> {
    statm.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The living threads of a process.
pub fn threads_of(proc: &Path, pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(proc.join(format!("{pid}/task"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use tolok_testkit::{FakeProc, FakeProcess, FakeThread};

    use super::*;

    /// A process with threads that have run and waited for this many nanoseconds.
    fn process(pid: u32, threads: &[(u32, u64, u64)]) -> FakeProcess {
        let thread = |&(tid, run_ns, wait_ns)| FakeThread { tid, run_ns, wait_ns, timeslices: 1 };
        FakeProcess { pid, threads: threads.iter().map(thread).collect(), ..FakeProcess::default() }
    }

    fn read(tasks: &mut Tasks, proc: &FakeProc, pids: &[u32]) -> TaskReading {
        tasks.read(proc.path(), pids, None, Room(100))
    }

    /// The CPU time of these processes so far, from a new reading.
    fn cpu_ns(tasks: &mut Tasks, proc: &FakeProc, pids: &[u32]) -> u64 {
        read(tasks, proc, pids).spent.unwrap().cpu_ns
    }

    #[test]
    fn all_threads_and_all_pages_are_summed() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        proc.process(&FakeProcess { resident_pages: 3, ..process(42, &[(42, 100, 5), (43, 200, 6)]) });
        proc.process(&FakeProcess { resident_pages: 4, ..process(50, &[(50, 1, 1)]) });
        let page = rustix::param::page_size() as u64;
        let spent = Some(Spent { cpu_ns: 301, run_queue_wait_ns: 12, timeslices: 3 });
        let busiest = [Some((43, 200)), Some((42, 100)), Some((50, 1)), None];
        let all = TaskReading { spent, rss_sum_bytes: 7 * page, processes: 2, threads: 3, busiest };
        assert_eq!(read(&mut tasks, &proc, &[42, 50]), all);
        assert_eq!(tasks.open_files(), 5);
        // With files that are kept open, and with none that may be.
        assert_eq!(read(&mut tasks, &proc, &[42, 50]), all);
        assert_eq!(Tasks::default().read(proc.path(), &[50, 42], Some(vec![43, 50, 42]), Room(0)), all);
    }

    #[test]
    fn what_a_process_used_before_it_ended_is_kept() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        proc.process(&process(11, &[(11, 3, 0)])).process(&process(12, &[(12, 4, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11, 12]), 7);
        proc.ended(12);
        // Whether or not it is still listed.
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11, 12]), 7);
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 7);
        assert_eq!(read(&mut tasks, &proc, &[11]).processes, 1);
        proc.ended(11);
        assert_eq!(cpu_ns(&mut tasks, &proc, &[]), 7);
        assert_eq!(tasks.open_files(), 0);
    }

    #[test]
    fn what_a_thread_used_before_it_ended_is_kept() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        proc.process(&process(11, &[(11, 1, 0), (12, 5, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 6);
        // One ends and another begins: the sum is lower, although more was used.
        proc.process(&process(11, &[(11, 2, 0), (13, 3, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 10);
        assert_eq!(read(&mut tasks, &proc, &[11]).threads, 2);
    }

    #[test]
    fn clocks_know_what_threads_used_that_have_ended() {
        let clocks = ProcessClocks::with(|pid| if pid == 11 { Some(50) } else { None });
        let (proc, mut tasks) = (FakeProc::new(), Tasks::with_clocks(clocks));
        proc.process(&process(11, &[(11, 3, 0)])).process(&process(12, &[(12, 70, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 50);
        // One without a clock is read through its threads, and the greater of the two totals counts.
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11, 12]), 73);
        proc.ended(11);
        assert_eq!(cpu_ns(&mut tasks, &proc, &[]), 73);
    }

    #[test]
    fn a_pid_that_is_given_out_again_is_another_process() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        proc.process(&process(11, &[(11, 9, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 9);
        // The other has already used more, so only the open file distinguishes them.
        proc.ended(11).process(&process(11, &[(11, 20, 0)]));
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 29);
        assert_eq!(cpu_ns(&mut tasks, &proc, &[11]), 29);
    }

    #[test]
    fn without_kept_files_a_time_that_fell_tells_another_thread() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        let cpu_ns = |tasks: &mut Tasks| tasks.read(proc.path(), &[11], None, Room(0)).spent.unwrap().cpu_ns;
        proc.process(&process(11, &[(11, 9, 0)]));
        assert_eq!(cpu_ns(&mut tasks), 9);
        proc.ended(11).process(&process(11, &[(11, 2, 0)]));
        assert_eq!(cpu_ns(&mut tasks), 11);
    }

    #[test]
    fn what_goes_in_the_middle_of_a_reading_is_skipped() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        proc.process(&process(11, &[(11, 3, 0)])).process(&process(12, &[(12, 4, 0), (13, 5, 0)]));
        std::fs::remove_file(proc.path().join("12/statm")).unwrap();
        std::fs::remove_file(proc.path().join("13/schedstat")).unwrap();
        let reading = read(&mut tasks, &proc, &[11, 12, 99]);
        assert_eq!((reading.spent.unwrap().cpu_ns, reading.processes, reading.threads), (7, 1, 2));
    }

    #[test]
    fn a_kernel_without_times_has_none_and_not_nought() {
        let (proc, mut tasks) = (FakeProc::new(), Tasks::default());
        assert_eq!(read(&mut tasks, &proc, &[]).spent, Some(Spent::default()));
        proc.process(&process(11, &[(11, 3, 0)]));
        std::fs::remove_file(proc.path().join("11/schedstat")).unwrap();
        let reading = read(&mut tasks, &proc, &[11]);
        assert_eq!((reading.spent, reading.processes, reading.threads), (None, 1, 1));
    }

    #[test]
    fn the_kernel_of_this_machine_is_read_as_well() {
        let own = std::process::id();
        let reading = Tasks::default().read(Path::new("/proc"), &[own], None, Room(9));
        assert!(reading.rss_sum_bytes > 0 && reading.threads > 0, "{reading:?}");
        assert!(reading.spent.unwrap().timeslices > 0, "{reading:?}");
    }
}
