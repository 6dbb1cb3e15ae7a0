//! A link between the two namespaces, in its own process, and its report.

use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use tempfile::TempDir;
use tolok_link::{LinkJob, LinkRow, LinkSpec, MTU_BYTES, dropped_in, read_report, tun};

use crate::ping;
use crate::spaces::{FAR, Lab, NEAR};
use tolok_bench::error::{BenchError, failed};
use tolok_bench::table::grouped;

const DEVICE: &str = "tolok0";

/// A running link. Dropping this kills it.
#[derive(Debug)]
pub struct Emulated {
    child: Child,
    folder: TempDir,
    ended: bool,
}

/// The final report of a link, and its cost.
#[derive(Debug)]
pub struct Account {
    /// Its rows; the last one is written at its end.
    pub rows: Vec<LinkRow>,
    /// Packets that the devices' own queues dropped before the link saw them.
    pub unseen: u64,
}

/// The hidden command: runs the link of a job.
pub fn run(job: &str) -> Result<(), BenchError> {
    // Otherwise an orphaned link would keep its namespaces forever.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("be bound to the bench"))?;
    let job: LinkJob = serde_json::from_str(job).map_err(failed("read the job"))?;
    Ok(tolok_link::run(&job)?)
}

impl Emulated {
    /// Creates the devices and starts the link. Packets pass the link when this returns.
    pub fn start(lab: &Lab, spec: LinkSpec) -> Result<Emulated, BenchError> {
        let offload = !spec.needs_packets();
        let ends = [make_end(lab, 0, offload)?, make_end(lab, 1, offload)?];
        let folder = tempfile::tempdir().map_err(failed("make a folder"))?;
        let report = folder.path().join("link.jsonl");
        let descriptors = [ends[0].as_raw_fd(), ends[1].as_raw_fd()];
        let job = LinkJob { spec, ends: descriptors, device_tables: None, offload, cpus: vec![lab.link_cpu], report };
        let job = serde_json::to_string(&job).map_err(failed("write the job"))?;
        let program = std::env::current_exe().map_err(failed("find this program"))?;
        let child = Command::new(program).arg("link").arg(job).spawn().map_err(failed("start the link"))?;
        let emulated = Emulated { child, folder, ended: false };
        ping::wait_for(lab, spec)?;
        Ok(emulated)
    }

    /// CPU time of the link so far, in seconds.
    pub fn cpu_s(&self) -> Result<f64, BenchError> {
        let path = format!("/proc/{}/schedstat", self.child.id());
        let text = std::fs::read_to_string(path).map_err(failed("read the CPU time of the link"))?;
        let spent_ns: f64 = text.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
        Ok(spent_ns / 1e9)
    }

    /// Ends the link and checks that its account balances.
    pub fn end(mut self, lab: &Lab) -> Result<Account, BenchError> {
        // Read before the devices disappear with the link.
        let unseen = dropped(lab, 0)? + dropped(lab, 1)?;
        kill_process(Pid::from_child(&self.child), Signal::TERM).map_err(failed("end the link"))?;
        self.ended = true;
        let status = self.child.wait().map_err(failed("wait for the link"))?;
        if !status.success() {
            return Err(BenchError::Account { what: format!("the link ended with {status}") });
        }
        let text = std::fs::read_to_string(self.folder.path().join("link.jsonl"));
        let rows = text.and_then(|text| read_report(&text)).map_err(failed("read the link's report"))?;
        let account = Account { rows, unseen };
        lab.note_realtime(account.last()?.realtime);
        for counts in account.last()?.directions {
            let seen = counts.packets + counts.dropped_queue + counts.dropped_loss + counts.dropped_refused;
            if counts.offered_packets != seen + counts.held_packets {
                return Err(BenchError::Account { what: format!("{counts:?}") });
            }
        }
        Ok(account)
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Account {
    pub fn last(&self) -> Result<&LinkRow, BenchError> {
        self.rows.last().ok_or_else(|| BenchError::Account { what: "it has no row".to_owned() })
    }

    /// Mean and largest lateness over both directions, in microseconds: `3.2 / 1,204`.
    pub fn lateness_words(&self) -> Result<String, BenchError> {
        let last = self.last()?;
        let packets: u64 = last.directions.iter().map(|counts| counts.packets).sum();
        let sum_ns: u64 = last.directions.iter().map(|counts| counts.lateness_sum_ns).sum();
        let all = self.rows.iter().flat_map(|row| row.directions);
        let max_ns = all.map(|counts| counts.lateness_max_ns).max().unwrap_or(0);
        Ok(format!("{:.1} / {}", sum_ns as f64 / packets.max(1) as f64 / 1e3, grouped(max_ns as f64 / 1e3)))
    }
}

/// A device in the namespace of an end, for the link to inherit.
fn make_end(lab: &Lab, end: usize, offload: bool) -> Result<OwnedFd, BenchError> {
    lab.inside(end, || {
        let device = tun::open(DEVICE, offload)?;
        fcntl_setfd(&device, FdFlags::empty())?;
        tun::up("lo")?;
        tun::configure(DEVICE, [NEAR, FAR][end], 24, MTU_BYTES)?;
        Ok(device)
    })
}

/// Packets that a device dropped because the link did not read them in time.
fn dropped(lab: &Lab, end: usize) -> Result<u64, BenchError> {
    let text = lab.inside(end, || std::fs::read_to_string("/proc/thread-self/net/dev"))?;
    Ok(dropped_in(&text, DEVICE).unwrap_or(0))
}

/// Two connected sockets, one at each end.
pub fn pair(lab: &Lab) -> Result<[UdpSocket; 2], BenchError> {
    let (near, far) = (udp(lab, 0)?, udp(lab, 1)?);
    let connect = || -> std::io::Result<()> {
        near.connect(far.local_addr()?)?;
        far.connect(near.local_addr()?)
    };
    connect().map_err(failed("connect two sockets"))?;
    Ok([near, far])
}

/// A non-blocking socket at an end.
fn udp(lab: &Lab, end: usize) -> Result<UdpSocket, BenchError> {
    lab.inside(end, || {
        let socket = UdpSocket::bind(([NEAR, FAR][end], 0))?;
        socket.set_nonblocking(true)?;
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 1 << 20)?;
        Ok(socket)
    })
}
