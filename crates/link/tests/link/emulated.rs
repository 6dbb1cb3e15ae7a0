//! A link in a separate process, between the namespaces of a test.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::time::{ClockId, clock_gettime};
use tolok_link::{LinkJob, LinkRow, LinkSpec, MTU_BYTES, tun};

use crate::job::JOB;
use crate::spaces::{ADDRESSES, Spaces};

pub const DEVICE: &str = "tolok0";
/// After this long a packet will not arrive any more, and the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// From the time descriptors become inheritable until the link has them, no other program may start: it would inherit them, too.
static STARTING: Mutex<()> = Mutex::new(());

/// A running link. Dropping this kills it.
pub struct Emulated {
    child: Child,
    rows: BufReader<File>,
}

impl Emulated {
    /// Creates the devices and starts the link between them.
    pub fn start(spaces: &Spaces, spec: LinkSpec) -> Emulated {
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let offload = !spec.needs_packets();
        let ends = [0, 1].map(|end| spaces.inside(end, || make_end(end, offload)));
        // The report is a pipe, so it need not be polled for content.
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("link.jsonl");
        mknodat(CWD, &report, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let rows =
            File::from(open(&report, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap());
        let numbers = ends.each_ref().map(AsRawFd::as_raw_fd);
        let tables = [0, 1].map(|end| spaces.inside(end, device_table));
        let device_tables = Some(tables.each_ref().map(AsRawFd::as_raw_fd));
        let job = LinkJob { spec, ends: numbers, device_tables, offload, cpus: vec![], report };
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "job::the_link_of_a_job", "--nocapture"])
            .env(JOB, serde_json::to_string(&job).unwrap())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The first row shows that the link runs; before that, a signal would end it like any other program.
        let ready = poll(&mut [PollFd::new(&rows, PollFlags::IN)], Some(&Timespec::try_from(PATIENCE).unwrap()));
        assert_eq!(ready, Ok(1), "the link starts");
        Emulated { child, rows: BufReader::new(rows) }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it, and returns once all of its threads have stopped.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let child = WaitId::Pid(Pid::from_child(&self.child));
        let stopped = waitid(child, WaitIdOptions::STOPPED).unwrap();
        assert!(stopped.is_some_and(|status| status.stopped()));
    }

    /// Ends it with a signal, and returns its last row.
    pub fn end(self) -> LinkRow {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it has ended, and returns its last row.
    pub fn ended(mut self) -> LinkRow {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        let rows = self.rows.by_ref().lines().map(|line| serde_json::from_str::<LinkRow>(&line.unwrap()).unwrap());
        let last = rows.last().expect("a link writes a last row");
        for counts in last.directions {
            let told = counts.packets + counts.dropped_queue + counts.dropped_loss + counts.dropped_refused;
            assert_eq!(counts.offered_packets, told + counts.held_packets, "the ledger closes: {counts:?}");
        }
        last
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // Both fail if it has ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn make_end(end: usize, offload: bool) -> OwnedFd {
    let device = tun::open(DEVICE, offload).unwrap();
    fcntl_setfd(&device, FdFlags::empty()).unwrap();
    tun::configure(DEVICE, ADDRESSES[end], 24, MTU_BYTES).unwrap();
    device
}

fn device_table() -> File {
    let table = File::open("/proc/thread-self/net/dev").unwrap();
    fcntl_setfd(&table, FdFlags::empty()).unwrap();
    table
}

/// Two connected sockets, one at each end.
pub fn pair(spaces: &Spaces) -> [UdpSocket; 2] {
    let sockets = [0, 1].map(|end| spaces.inside(end, || UdpSocket::bind((ADDRESSES[end], 0)).unwrap()));
    for (near, far) in [(0, 1), (1, 0)] {
        sockets[near].connect(sockets[far].local_addr().unwrap()).unwrap();
        sockets[near].set_read_timeout(Some(PATIENCE)).unwrap();
    }
    sockets
}

/// IP and UDP headers.
const HEADERS_BYTES: usize = 28;

/// Sends a numbered packet of `ip_bytes` IP bytes.
pub fn send(socket: &UdpSocket, number: u32, ip_bytes: usize) {
    let mut datagram = [0u8; 1_472];
    datagram[..4].copy_from_slice(&number.to_le_bytes());
    socket.send(&datagram[..ip_bytes - HEADERS_BYTES]).unwrap();
}

/// The number of the next packet.
pub fn receive(socket: &UdpSocket) -> u32 {
    let mut datagram = [0u8; 1_472];
    let length = socket.recv(&mut datagram).expect("a packet arrives");
    u32::from_le_bytes(*datagram[..length].first_chunk().unwrap())
}

/// The current time on the monotonic clock.
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
