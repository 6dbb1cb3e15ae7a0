//! Counts the packets that a device dropped before the link read them.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Larger than the table of a namespace with a few devices.
const TABLE_BYTES: usize = 16 << 10;
/// Columns of a line before the drops on sending: eight for received packets, then bytes, packets and errors.
const BEFORE_DROPS: usize = 11;

/// A device, and its namespace's table of counters from the kernel.
#[derive(Debug)]
pub(crate) struct Device {
    name: String,
    table: File,
}

impl Device {
    /// `table` is `/proc/thread-self/net/dev`, opened in the namespace of the device. The descriptor shows that namespace to any reader.
    pub fn new(name: String, table: File) -> Device {
        Device { name, table }
    }

    /// Packets dropped because the device was full, since it was created. `None` if the kernel does not report it.
    pub fn dropped(&self) -> Option<u64> {
        let mut text = vec![0; TABLE_BYTES];
        let length = self.table.read_at(&mut text, 0).ok()?;
        dropped_in(std::str::from_utf8(&text[..length]).ok()?, &self.name)
    }
}

/// Packets that a device dropped before it sent them, from a table such as `/proc/net/dev`.
pub fn dropped_in(table: &str, name: &str) -> Option<u64> {
    let columns = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    columns.split_ascii_whitespace().nth(BEFORE_DROPS)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_those_of_what_was_sent_by_the_device_itself() {
        let table = "Inter-|   Receive                            |  Transmit\n \
                     face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo\n\
                     \x20   lo:       1    2    3    4    5     6          7         8        9   10   11   12   13\n\
                     tolok0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\ntolok01: 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 0\n";
        assert_eq!(dropped_in(table, "tolok0"), Some(32));
        assert_eq!(dropped_in(table, "lo"), Some(12));
        assert_eq!(dropped_in(table, "tolok"), None);
    }
}
