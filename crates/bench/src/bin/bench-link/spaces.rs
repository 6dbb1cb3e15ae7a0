//! Two network namespaces, to be connected by links.
#![allow(unsafe_code, reason = "unshare(2) has no safe wrapper")]

use std::cell::Cell;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd;

use rustix::net::sockopt::set_tcp_congestion;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CpuSet, LinkNameSpaceType, UnshareFlags, move_into_link_name_space, sched_setaffinity, unshare_unsafe,
};

use tolok_bench::error::{BenchError, failed};

/// Address of the near end.
pub const NEAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// Address of the far end.
pub const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// The usual congestion control. Set for each listener, whose connections send. A namespace accepts only what the machine allows for all,
/// and some machines allow only their default.
const CONGESTION_CONTROL: &str = "cubic";

#[derive(Debug)]
pub struct Lab {
    home: File,
    /// The near end and the far end.
    spaces: [File; 2],
    pub link_cpu: u32,
    pub probe_cpu: u32,
    quick: bool,
    /// Whether all links so far ran with real-time priority.
    realtime: Cell<Option<bool>>,
}

impl Lab {
    /// Creates the namespaces; without root, inside a user namespace. From here on all threads stay on the probe's CPU.
    pub fn make(link_cpu: u32, probe_cpu: u32, quick: bool) -> Result<Lab, BenchError> {
        let mut cpus = CpuSet::new();
        cpus.set(probe_cpu as usize);
        sched_setaffinity(None, &cpus).map_err(failed("keep to the probe's CPU"))?;
        if !geteuid().is_root() {
            enter_user_namespace()?;
        }
        let home = current()?;
        let make = || -> Result<File, BenchError> {
            // SAFETY: a new network namespace affects neither the sharing of descriptors nor memory.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(failed("make a network namespace"))?;
            // A connection must not benefit from what an earlier one learned.
            fs::write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1").map_err(failed("set up TCP"))?;
            current()
        };
        let lab = Lab { spaces: [make()?, make()?], home, link_cpu, probe_cpu, quick, realtime: Cell::new(None) };
        enter(&lab.home)?;
        Ok(lab)
    }

    /// Runs `act` inside the namespace of an end. Sockets created there stay there.
    pub fn inside<T>(&self, end: usize, act: impl FnOnce() -> std::io::Result<T>) -> Result<T, BenchError> {
        enter(&self.spaces[end])?;
        let done = act();
        enter(&self.home)?;
        done.map_err(failed("set up an end of the link"))
    }

    /// A listener at the far end.
    pub fn listen(&self) -> Result<(TcpListener, SocketAddr), BenchError> {
        self.inside(1, || {
            let listener = TcpListener::bind((FAR, 0))?;
            set_tcp_congestion(&listener, CONGESTION_CONTROL)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        })
    }

    /// Records whether a link ran with real-time priority.
    pub fn note_realtime(&self, realtime: bool) {
        self.realtime.set(Some(self.realtime.get().unwrap_or(true) && realtime));
    }

    /// The priority of the links so far, in words.
    pub fn priority(&self) -> &'static str {
        match self.realtime.get() {
            Some(true) => "a process of its own, with real-time priority",
            Some(false) => "a process of its own, without real-time priority",
            None => "none was measured",
        }
    }

    /// `full`, or a tenth of it for a quick run.
    pub fn extent(&self, full: u32) -> u32 {
        if self.quick { full.div_ceil(10) } else { full }
    }
}

fn enter_user_namespace() -> Result<(), BenchError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: as above, and this is the only thread so far.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }.map_err(failed("make a user namespace"))?;
    let write = |path, text: String| fs::write(path, text).map_err(failed("set up the user namespace"));
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("0 {user} 1"))?;
    write("/proc/self/gid_map", format!("0 {group} 1"))
}

fn current() -> Result<File, BenchError> {
    File::open("/proc/thread-self/ns/net").map_err(failed("look up the network namespace"))
}

fn enter(space: &File) -> Result<(), BenchError> {
    move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(failed("enter a network namespace"))
}
