//! Two network namespaces for a test.
#![allow(unsafe_code, reason = "unshare(2) has no safe wrapper")]

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;

use rustix::process::geteuid;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// Addresses of the near and the far end.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];

/// Namespaces of the near and the far end.
pub struct Spaces {
    home: File,
    spaces: [File; 2],
}

/// Runs a test in namespaces: in this thread if this user may create them, otherwise as root of a user namespace. The latter needs another
/// process, because a program with threads cannot enter one.
#[macro_export]
macro_rules! in_spaces {
    ($test:expr) => {
        match $crate::spaces::Spaces::make() {
            Ok(spaces) => $test(&spaces),
            Err(error) => {
                let outcome = $crate::spaces::again_as_root(::tolok_testkit::test_name!());
                ::tolok_testkit::require!(outcome != Some(2), "no network namespaces with TUN devices here: {error}");
                assert_eq!(outcome, Some(0), "the test failed as root of a user namespace, see above");
            }
        }
    };
}

impl Spaces {
    /// Creates both, and stays in the current one.
    pub fn make() -> io::Result<Spaces> {
        let home = current()?;
        let make = || -> io::Result<File> {
            // SAFETY: a new network namespace affects neither the sharing of descriptors nor memory.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            tolok_link::tun::open("probe", false).map(drop)?;
            current()
        };
        let spaces = make().and_then(|near| Ok([near, make()?]));
        // If creation was refused, the return is refused as well, but this thread has not left.
        let back = move_into_link_name_space(home.as_fd(), Some(LinkNameSpaceType::Network));
        let spaces = spaces?;
        back?;
        Ok(Spaces { home, spaces })
    }

    /// Runs `act` inside the namespace of an end. Sockets created there stay there.
    pub fn inside<T>(&self, end: usize, act: impl FnOnce() -> T) -> T {
        enter(&self.spaces[end]);
        let done = act();
        enter(&self.home);
        done
    }
}

/// Set in a process that is root of a user namespace.
const INSIDE: &str = "TOLOK_LINK_TEST_INSIDE";

/// Runs a test again as root of a user namespace. Returns its exit code, or 2 if there are no user namespaces here.
pub fn again_as_root(test: &str) -> Option<i32> {
    if geteuid().is_root() || std::env::var_os(INSIDE).is_some() {
        return Some(2);
    }
    let inside = test.split_once("::").map_or(test, |(_, inside)| inside);
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net"]).args(arguments).env(INSIDE, "1");
        command.status().map_or(Some(2), |status| status.code())
    };
    if unshare(&["true"]) != Some(0) {
        return Some(2);
    }
    let program = std::env::current_exe().unwrap();
    unshare(&[program.to_str().unwrap(), "--exact", inside, "--nocapture"])
}

fn current() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

fn enter(space: &File) {
    move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}
