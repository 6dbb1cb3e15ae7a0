//! A tree like `/proc`, made from a small description, so that its readers can be tested with known numbers.
//!
//! Only what tolok reads is filled in; other fields have an idle process's values. Formats are those of proc(5).

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A process as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FakeProcess {
    pub pid: u32,
    pub ppid: u32,
    /// Name of the program; parentheses and spaces in it break careless parsers of `stat`.
    pub name: String,
    /// `R`, `S`, `D`, `Z`, …
    pub state: char,
    /// Arguments, as in `cmdline`.
    pub command: Vec<String>,
    /// CPU time in user mode, in clock ticks.
    pub user_ticks: u64,
    /// CPU time in the kernel, in clock ticks.
    pub system_ticks: u64,
    /// Start time after boot, in clock ticks.
    pub start_ticks: u64,
    /// Resident memory, in pages of 4 KiB.
    pub resident_pages: u64,
    /// The part of it that is backed by files and shared memory.
    pub shared_pages: u64,
    /// Proportional set size.
    pub pss_kib: u64,
    /// Anonymous memory in the proportional set.
    pub pss_anonymous_kib: u64,
    /// Voluntary and involuntary context switches.
    pub switches: (u64, u64),
    /// Its threads; if empty, there is one with the number of the process.
    pub threads: Vec<FakeThread>,
}

/// A thread as `/proc/<pid>/task/<tid>/schedstat` shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FakeThread {
    pub tid: u32,
    pub run_ns: u64,
    pub wait_ns: u64,
    /// How often it was given a CPU.
    pub timeslices: u64,
}

impl Default for FakeProcess {
    fn default() -> FakeProcess {
        FakeProcess {
            pid: 1000,
            ppid: 1,
            name: "server".into(),
            state: 'S',
            command: vec!["/usr/bin/server".into(), "--port".into(), "8080".into()],
            user_ticks: 0,
            system_ticks: 0,
            start_ticks: 1000,
            resident_pages: 2560,
            shared_pages: 512,
            pss_kib: 9000,
            pss_anonymous_kib: 8192,
            switches: (0, 0),
            threads: Vec::new(),
        }
    }
}

/// A folder that looks like `/proc`; removed on drop.
#[derive(Debug)]
pub struct FakeProc {
    folder: TempDir,
}

impl Default for FakeProc {
    fn default() -> FakeProc {
        FakeProc::new()
    }
}

impl FakeProc {
    /// A tree without processes.
    pub fn new() -> FakeProc {
        FakeProc { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    /// The root, to use instead of `/proc`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes any file, such as `stat` or `loadavg`.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &FakeProc {
        write(&self.path().join(path), content.as_ref());
        self
    }

    /// Adds a process, or changes the one with this number.
    pub fn process(&self, process: &FakeProcess) -> &FakeProc {
        let own = [FakeThread { tid: process.pid, ..FakeThread::default() }];
        let threads = if process.threads.is_empty() { &own[..] } else { &process.threads };
        let folder = self.path().join(process.pid.to_string());
        let file = |name: &str, content: &str| write(&folder.join(name), content.as_bytes());
        file("stat", &stat(process, process.pid, threads.len()));
        file("status", &status(process, threads.len()));
        file("statm", &statm(process));
        file("smaps_rollup", &smaps_rollup(process));
        file("comm", &format!("{}\n", process.name));
        file("cmdline", &process.command.iter().map(|argument| format!("{argument}\0")).collect::<String>());
        self.drop_threads_of(process.pid, threads);
        for thread in threads {
            let line = format!("{} {} {}\n", thread.run_ns, thread.wait_ns, thread.timeslices);
            file(&format!("task/{}/schedstat", thread.tid), &line);
            file(&format!("task/{}/comm", thread.tid), &format!("{}\n", process.name));
            file(&format!("task/{}/stat", thread.tid), &stat(process, thread.tid, threads.len()));
            // A thread has its own folder beside those of processes, which is not listed. The folder of the process is that of its
            // first thread.
            self.file(&format!("{}/schedstat", thread.tid), &line);
        }
        self
    }

    /// Removes a process, as if it had ended: its open files yield nothing any more, even if its number is reused.
    pub fn ended(&self, pid: u32) -> &FakeProc {
        self.drop_threads_of(pid, &[]);
        self.remove(pid);
        self
    }

    /// Threads without a description have ended.
    fn drop_threads_of(&self, pid: u32, described: &[FakeThread]) {
        let tasks: PathBuf = self.path().join(pid.to_string()).join("task");
        let entries = fs::read_dir(&tasks).into_iter().flatten().flatten();
        for tid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            if !described.iter().any(|thread| thread.tid == tid) {
                fs::remove_dir_all(tasks.join(tid.to_string())).expect("the folder is ours");
                if tid != pid {
                    self.remove(tid);
                }
            }
        }
    }

    fn remove(&self, number: u32) {
        let folder = self.path().join(number.to_string());
        for entry in fs::read_dir(&folder).expect("it was added before").flatten() {
            if entry.path().is_file() {
                fs::write(entry.path(), "").expect("the folder is ours");
            }
        }
        fs::remove_dir_all(folder).expect("the folder is ours");
    }
}

fn write(path: &Path, content: &[u8]) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("the folder is ours");
    }
    fs::write(path, content).expect("the folder is ours");
}

fn stat(process: &FakeProcess, id: u32, threads: usize) -> String {
    let FakeProcess { ppid, name, state, user_ticks, system_ticks, start_ticks, resident_pages, .. } = process;
    let group = process.pid;
    let memory_bytes = (resident_pages + 1000) * 4096;
    format!(
        "{id} ({name}) {state} {ppid} {group} {group} 0 -1 4194304 100 0 0 0 {user_ticks} {system_ticks} 0 0 20 0 \
         {threads} 0 {start_ticks} {memory_bytes} {resident_pages} 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 \
         0 0 0 0 0 0 0 0 0 0 0\n"
    )
}

fn status(process: &FakeProcess, threads: usize) -> String {
    let word = match process.state {
        'R' => "running",
        'D' => "disk sleep",
        'Z' => "zombie",
        'T' => "stopped",
        _ => "sleeping",
    };
    let FakeProcess { pid, ppid, name, state, resident_pages, shared_pages, switches, .. } = process;
    let (resident_kib, file_kib) = (resident_pages * 4, shared_pages * 4);
    let (virtual_kib, anonymous_kib) = (resident_kib + 4000, resident_kib.saturating_sub(file_kib));
    format!(
        "Name:\t{name}\nUmask:\t0022\nState:\t{state} ({word})\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\nPPid:\t{ppid}\n\
         TracerPid:\t0\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmPeak:\t{virtual_kib:8} kB\nVmSize:\t{virtual_kib:8} kB\n\
         VmHWM:\t{resident_kib:8} kB\nVmRSS:\t{resident_kib:8} kB\nRssAnon:\t{anonymous_kib:8} kB\n\
         RssFile:\t{file_kib:8} kB\nRssShmem:\t       0 kB\nVmSwap:\t       0 kB\nThreads:\t{threads}\n\
         Cpus_allowed_list:\t0\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
        switches.0, switches.1
    )
}

fn statm(process: &FakeProcess) -> String {
    let FakeProcess { resident_pages, shared_pages, .. } = process;
    let (size, data) = (resident_pages + 1000, resident_pages.saturating_sub(*shared_pages));
    format!("{size} {resident_pages} {shared_pages} 10 0 {data} 0\n")
}

fn smaps_rollup(process: &FakeProcess) -> String {
    let FakeProcess { resident_pages, pss_kib, pss_anonymous_kib, .. } = process;
    let (resident_kib, file_kib) = (resident_pages * 4, pss_kib.saturating_sub(*pss_anonymous_kib));
    format!(
        "00400000-7ffd5c938000 ---p 00000000 00:00 0                          [rollup]\n\
         Rss:            {resident_kib:8} kB\nPss:            {pss_kib:8} kB\nPss_Dirty:      {pss_anonymous_kib:8} kB\n\
         Pss_Anon:       {pss_anonymous_kib:8} kB\nPss_File:       {file_kib:8} kB\nPss_Shmem:             0 kB\n\
         Anonymous:      {pss_anonymous_kib:8} kB\nSwap:                  0 kB\nSwapPss:               0 kB\n"
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn read(proc: &FakeProc, path: &str) -> String {
        fs::read_to_string(proc.path().join(path)).unwrap()
    }

    #[test]
    fn a_process_has_the_numbers_it_was_given_where_the_manual_puts_them() {
        let proc = FakeProc::new();
        proc.process(&FakeProcess {
            pid: 42,
            name: "a (b) c".into(),
            user_ticks: 7,
            system_ticks: 3,
            start_ticks: 99,
            ..FakeProcess::default()
        });
        let stat = read(&proc, "42/stat");
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // proc(5) counts from 1 and the state is number 3, so field n is at index n - 3 here.
        let field = |number: usize| fields[number - 3];
        assert_eq!((field(3), field(4), field(14), field(15), field(20), field(22)), ("S", "1", "7", "3", "1", "99"));
        assert_eq!(field(24), "2560");
        assert_eq!(fields.len(), 50);
        assert_eq!(read(&proc, "42/cmdline"), "/usr/bin/server\0--port\08080\0");
        assert_eq!(read(&proc, "42/statm").split(' ').nth(1), Some("2560"));
        assert!(read(&proc, "42/status").contains("VmRSS:\t   10240 kB\n"));
        assert!(read(&proc, "42/smaps_rollup").contains("Pss_Anon:           8192 kB\n"));
    }

    #[test]
    fn a_real_process_has_as_many_fields() {
        let real = fs::read_to_string("/proc/self/stat").unwrap();
        let proc = FakeProc::new();
        let fake = read(proc.process(&FakeProcess::default()), "1000/stat");
        let count = |stat: &str| stat.rsplit_once(')').unwrap().1.split_whitespace().count();
        assert_eq!(count(&fake), count(&real));
    }

    #[test]
    fn threads_come_and_go() {
        let proc = FakeProc::new();
        let thread = |tid, run_ns| FakeThread { tid, run_ns, wait_ns: 5, timeslices: 1 };
        let with = |threads| FakeProcess { threads, ..FakeProcess::default() };
        proc.process(&with(vec![thread(1000, 10), thread(1001, 20)]));
        assert_eq!(read(&proc, "1000/task/1001/schedstat"), "20 5 1\n");
        assert_eq!(
            (read(&proc, "1000/schedstat"), read(&proc, "1001/schedstat")),
            ("10 5 1\n".into(), "20 5 1\n".into())
        );
        let mut open = fs::File::open(proc.path().join("1001/schedstat")).unwrap();
        proc.process(&with(vec![thread(1000, 11)]));
        assert!(!proc.path().join("1000/task/1001").exists() && !proc.path().join("1001").exists());
        assert_eq!(open.read(&mut [0; 9]).unwrap(), 0, "an open file of an ended thread is empty");
        proc.ended(1000).file("loadavg", "0.00 0.00 0.00 1/2 3\n");
        assert!(!proc.path().join("1000").exists() && proc.path().join("loadavg").exists());
    }
}
