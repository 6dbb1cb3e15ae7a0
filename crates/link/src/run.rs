//! The loop that moves packets. One thread reads them from one device, keeps them as long as the model requires, and writes them to the
//! other.

use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::counts::{DirectionCounts, LinkRow, Report};
use crate::device::Device;
use crate::error::LinkError;
use crate::line::Line;
use crate::model::{Direction, Fate};
use crate::spec::LinkSpec;
use crate::timer::{Termination, Waiting, now_ns};
use crate::{sys, tun};

/// The largest IP packet from a device: one with offload, or one whose MTU was raised.
const PACKET_BYTES_MAX: usize = 65_536;
/// Packets read from a device before due packets are handed over.
const BATCH: usize = 16;
const ROW_NS: u64 = 1_000_000_000;

/// A link, and where to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LinkJob {
    /// What it emulates.
    pub spec: LinkSpec,
    /// Numbers of the inherited descriptors of two devices that [`tun::open`] made, for this link only.
    pub ends: [RawFd; 2],
    /// Numbers of the inherited descriptors of `/proc/thread-self/net/dev`, opened in the network namespace of each end. They show what the
    /// devices dropped before the link. Without them this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_tables: Option<[RawFd; 2]>,
    /// Whether the devices have offload.
    pub offload: bool,
    /// The CPUs on which the link may run; if empty, all.
    pub cpus: Vec<u32>,
    /// The file for the [`LinkRow`]s, one line of JSON each: when the link starts, each second, and at the end.
    pub report: PathBuf,
}

/// Runs a link until SIGTERM, or until one of its devices is deleted. It takes over the calling thread, binds it to the CPUs of the job,
/// and gives it real-time priority if allowed.
///
/// While it runs, it keeps both network namespaces alive, like any open descriptor of a device. So its parent must make sure that it ends.
pub fn run(job: &LinkJob) -> Result<(), LinkError> {
    job.spec.check()?;
    // First, so an early signal is not lost.
    let termination = Termination::listen().map_err(LinkError::kernel("listen to SIGTERM"))?;
    let ends = take_ends(job)?;
    let devices = take_devices(job, &ends)?;
    let report = |source| LinkError::Report { path: job.report.clone(), source };
    let mut rows = Report::create(&job.report).map_err(report)?;
    let waiting = Waiting::new(&ends, &termination).map_err(LinkError::kernel("make its event queue"))?;
    bind(&job.cpus).map_err(LinkError::kernel("keep to its CPUs"))?;
    let realtime = sys::go_first();
    if !realtime {
        sys::go_soon();
    }
    let mut link = Link::new(job, ends, devices);
    rows.write(&link.row(realtime)).map_err(report)?;
    link.move_packets(waiting, &termination, |link| rows.write(&link.row(realtime)).map_err(report))
}

/// Takes over the descriptors of a job, and checks that they match it.
fn take_ends(job: &LinkJob) -> Result<[OwnedFd; 2], LinkError> {
    if job.offload && job.spec.needs_packets() {
        return Err(LinkError::Offload { reason: "a link that counts packets cannot have offload".to_owned() });
    }
    let [there, back] = job.ends;
    if there == back {
        return Err(LinkError::Offload { reason: "a link needs two devices".to_owned() });
    }
    let take = |descriptor| {
        let refused = |source| LinkError::End { descriptor, source };
        let end = sys::adopt(descriptor).map_err(refused)?;
        if tun::has_offload(&end).map_err(refused)? != job.offload {
            return Err(LinkError::Offload { reason: format!("descriptor {descriptor} was opened otherwise") });
        }
        rustix::io::ioctl_fionbio(&end, true).map_err(|errno| refused(errno.into()))?;
        Ok(end)
    };
    Ok([take(there)?, take(back)?])
}

/// Takes over the tables of the devices, if any.
fn take_devices(job: &LinkJob, ends: &[OwnedFd; 2]) -> Result<Option<[Device; 2]>, LinkError> {
    let Some([there, back]) = job.device_tables else { return Ok(None) };
    let take = |descriptor, end: &OwnedFd| {
        let refused = |source| LinkError::End { descriptor, source };
        let table = sys::adopt(descriptor).map_err(refused)?;
        Ok(Device::new(tun::name(end).map_err(refused)?, table.into()))
    };
    Ok(Some([take(there, &ends[0])?, take(back, &ends[1])?]))
}

fn bind(cpus: &[u32]) -> Result<(), Errno> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus {
        if *cpu as usize >= rustix::thread::CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(*cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set)
}

/// The result of polling the devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// There may be more packets.
    More,
    /// No more packets at the moment.
    Nothing,
    /// A device was deleted.
    Gone,
}

#[derive(Debug)]
struct Lane {
    model: Direction,
    line: Line,
    counts: DirectionCounts,
}

#[derive(Debug)]
struct Link {
    ends: [OwnedFd; 2],
    devices: Option<[Device; 2]>,
    lanes: [Lane; 2],
    header_bytes: usize,
}

impl Link {
    fn new(job: &LinkJob, ends: [OwnedFd; 2], devices: Option<[Device; 2]>) -> Link {
        let header_bytes = if job.offload { tun::OFFLOAD_HEADER_BYTES } else { 0 };
        let lane = |number| Lane {
            model: Direction::new(&job.spec, number),
            line: Line::new(header_bytes + PACKET_BYTES_MAX),
            counts: DirectionCounts::default(),
        };
        Link { ends, devices, lanes: [lane(0), lane(1)], header_bytes }
    }

    /// The loop. It sleeps until a packet arrives or is due, and never spins in the last moments before: that would gain about 10 µs per
    /// round trip, but cost several times the CPU time.
    fn move_packets(
        &mut self,
        mut waiting: Waiting,
        termination: &Termination,
        mut tell: impl FnMut(&mut Link) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let mut row_ns = now_ns() + ROW_NS;
        loop {
            let found = self.look()?;
            if termination.is_asked() {
                self.look_once_more()?;
                return tell(self);
            }
            if found == Found::Gone {
                return tell(self);
            }
            let now_ns = now_ns();
            if now_ns >= row_ns {
                tell(self)?;
                // A late row does not delay the next one.
                row_ns += (now_ns - row_ns) / ROW_NS * ROW_NS + ROW_NS;
            }
            let packet_ns = self.lanes.iter().filter_map(|lane| lane.line.next_ns()).min();
            let wake_ns = packet_ns.map_or(row_ns, |at_ns| row_ns.min(at_ns));
            if found == Found::Nothing && wake_ns > now_ns {
                waiting.until(wake_ns).map_err(LinkError::kernel("wait for packets"))?;
            }
        }
    }

    /// Reads available packets at both ends, and hands over what is due at both.
    fn look(&mut self) -> Result<Found, LinkError> {
        let mut found = Found::Nothing;
        for near in [0, 1] {
            match self.take(near)? {
                Found::Nothing => {}
                Found::More => found = Found::More,
                Found::Gone => return Ok(Found::Gone),
            }
            if self.hand_over(0)? == Found::Gone || self.hand_over(1)? == Found::Gone {
                return Ok(Found::Gone);
            }
        }
        Ok(found)
    }

    /// Reads what is waiting in the devices, so the last row covers everything sent before the link was ended.
    fn look_once_more(&mut self) -> Result<(), LinkError> {
        for _ in 0..tun::QUEUE_PACKETS as usize / BATCH + 1 {
            if self.look()? != Found::More {
                break;
            }
        }
        Ok(())
    }

    /// Reads a batch of packets from an end.
    fn take(&mut self, near: usize) -> Result<Found, LinkError> {
        let lane = &mut self.lanes[near];
        for _ in 0..BATCH {
            let frame_bytes = match rustix::io::read(&self.ends[near], lane.line.slot()) {
                Ok(frame_bytes) => frame_bytes,
                Err(Errno::AGAIN) => return Ok(Found::Nothing),
                Err(Errno::INTR) => continue,
                Err(errno) if is_gone(errno) => return Ok(Found::Gone),
                Err(errno) => return Err(LinkError::kernel("read a packet")(errno)),
            };
            lane.take(now_ns(), frame_bytes, frame_bytes.saturating_sub(self.header_bytes));
        }
        Ok(Found::More)
    }

    /// Hands over the packets that are due in a direction.
    fn hand_over(&mut self, near: usize) -> Result<Found, LinkError> {
        let (lane, far) = (&mut self.lanes[near], &self.ends[1 - near]);
        while let Some(at_ns) = lane.line.next_ns() {
            let now_ns = now_ns();
            if now_ns < at_ns {
                break;
            }
            let Some((frame, ip_bytes)) = lane.line.front() else { break };
            match rustix::io::write(far, frame) {
                Ok(_) => lane.counts.handed_over(now_ns - at_ns, ip_bytes),
                Err(Errno::INTR) => continue,
                Err(errno) if is_gone(errno) => return Ok(Found::Gone),
                Err(_) => lane.counts.dropped_refused += 1,
            }
            lane.line.pop();
        }
        Ok(Found::Nothing)
    }

    /// The account so far. Resets the figures since the previous row.
    fn row(&mut self, realtime: bool) -> LinkRow {
        for (lane, device) in self.lanes.iter_mut().zip(self.devices.iter().flatten()) {
            // A deleted device is no longer in the table; its last count stays.
            lane.counts.dropped_before = device.dropped().unwrap_or(lane.counts.dropped_before);
        }
        let directions = self.lanes.each_mut().map(|lane| {
            lane.counts.held_packets = lane.line.held().packets as u64;
            let counts = lane.counts;
            (lane.counts.lateness_max_ns, lane.counts.queued_bytes_max) = (0, 0);
            counts
        });
        LinkRow { monotonic_ns: now_ns(), directions, realtime }
    }
}

impl Lane {
    /// Processes the packet in the slot of the queue; the model decides its fate.
    fn take(&mut self, now_ns: u64, frame_bytes: usize, ip_bytes: usize) {
        let bytes = ip_bytes as u64;
        self.counts.offered_packets += 1;
        self.counts.offered_bytes += bytes;
        match self.model.offer(now_ns, bytes, self.line.held()) {
            Fate::Arrives { at_ns } => self.line.keep(at_ns, frame_bytes, ip_bytes),
            Fate::Lost => self.counts.dropped_loss += 1,
            Fate::Overflows => self.counts.dropped_queue += 1,
        }
        let queued = self.model.queued_bytes(now_ns, self.line.held());
        self.counts.queued_bytes_max = self.counts.queued_bytes_max.max(queued);
    }
}

impl DirectionCounts {
    fn handed_over(&mut self, lateness_ns: u64, ip_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(ip_bytes);
        self.lateness_max_ns = self.lateness_max_ns.max(lateness_ns);
        self.lateness_sum_ns += lateness_ns;
    }
}

/// The kernel's errors for a deleted device.
fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::BADFD | Errno::FAULT | Errno::NODEV)
}
