//! Bytes through the interfaces of a network namespace.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Bytes since the interfaces were created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkBytes {
    /// Received on all interfaces except the loopback.
    pub received_bytes: u64,
    /// Sent on all interfaces except the loopback.
    pub sent_bytes: u64,
    /// Through the loopback. Each byte is both sent and received there, so it counts once. It is separate because it
    /// never left the namespace.
    pub loopback_bytes: u64,
}

impl NetworkBytes {
    /// Reads the interfaces that a process sees.
    ///
    /// Does not keep the file open: that would keep the namespace alive, and with it the interfaces of a trial that is
    /// over.
    pub fn read(proc: &Path, pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(proc.join(format!("{pid}/net/dev"))).ok()?)
    }

    /// Parses `name: bytes packets … (eight columns of what was received) bytes …`, below two heading lines.
    fn parse(text: &str) -> Option<Self> {
        let mut sum = Self::default();
        for line in text.lines().skip(2) {
            // Names may contain colons, numbers cannot.
            let (name, columns) = line.rsplit_once(':')?;
            let mut columns = columns.split_ascii_whitespace();
            let received: u64 = columns.next()?.parse().ok()?;
            let sent: u64 = columns.nth(7)?.parse().ok()?;
            if name.trim() == "lo" {
                sum.loopback_bytes += sent;
            } else {
                sum.received_bytes += received;
                sum.sent_bytes += sent;
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use tolok_testkit::FakeProc;

    use super::*;

    const HEAD: &str =
        "Inter-|   Receive   |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes\n";

    fn read(interfaces: &str) -> Option<NetworkBytes> {
        let proc = FakeProc::new();
        proc.file("42/net/dev", format!("{HEAD}{interfaces}"));
        NetworkBytes::read(proc.path(), 42)
    }

    #[test]
    fn interfaces_are_summed_and_the_loopback_counts_once_and_apart() {
        let lo = "    lo: 700 5 0 0 0 0 0 0 700 5 0 0 0 0 0 0\n";
        let others = "link0: 100 1 0 0 0 0 0 0 2000 2 0 0 0 0 0 0\nveth:1:10 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n";
        let both = NetworkBytes { received_bytes: 110, sent_bytes: 2020, loopback_bytes: 700 };
        assert_eq!(read(&format!("{lo}{others}")), Some(both));
        assert_eq!(read(lo), Some(NetworkBytes { loopback_bytes: 700, ..NetworkBytes::default() }));
    }

    #[test]
    fn what_is_not_understood_or_not_there_is_absent() {
        assert_eq!(read("lo: many 5 0 0 0 0 0 0 700 5\n"), None);
        assert_eq!(NetworkBytes::read(FakeProc::new().path(), 42), None);
    }

    #[test]
    fn the_kernel_of_this_machine_is_read_as_well() {
        let bytes = || NetworkBytes::read(Path::new("/proc"), std::process::id()).unwrap().loopback_bytes;
        let (before, socket) = (bytes(), std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        socket.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
        assert!(bytes() >= before + 1000);
    }
}
