//! The report of a link: a line of JSON when it starts, one each second, and one at its end.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What had happened to the packets up to some instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkRow {
    /// When, on the monotonic clock that all processes of the machine share.
    pub monotonic_ns: u64,
    /// From the first end to the second, and back.
    pub directions: [DirectionCounts; 2],
    /// Whether the link has real-time priority over ordinary programs on its CPU. If not, others delay its packets, which shows in the
    /// lateness.
    pub realtime: bool,
}

/// One direction. Counts since the start of the link, unless described as "since the previous row".
///
/// `offered_packets = packets + dropped_queue + dropped_loss + dropped_refused + held_packets`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DirectionCounts {
    /// Packets taken from the near end.
    pub offered_packets: u64,
    /// Their IP bytes.
    pub offered_bytes: u64,
    /// Packets handed to the far end. With offload, one of them may be several on a wire.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets lost by emulation.
    pub dropped_loss: u64,
    /// Packets that the far end's kernel rejected, because the device there was down or out of memory.
    pub dropped_refused: u64,
    /// Packets that the near end's device dropped before the link, because they were not read in time. They were never offered. Zero if the
    /// link got no [`crate::LinkJob::device_tables`].
    #[serde(default)]
    pub dropped_before: u64,
    /// Packets in the link at this instant, waiting or in transit.
    pub held_packets: u64,
    /// Largest delay of a packet after its planned instant, since the previous row.
    pub lateness_max_ns: u64,
    /// Sum of these delays over all packets handed over.
    pub lateness_sum_ns: u64,
    /// Most bytes that waited (with a rate) or were in transit (without), since the previous row.
    pub queued_bytes_max: u64,
}

/// Reads a report. Drops an unterminated last line: the link was killed while writing it.
pub fn read_report(text: &str) -> io::Result<Vec<LinkRow>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}

#[derive(Debug)]
pub(crate) struct Report {
    file: File,
    line: Vec<u8>,
}

impl Report {
    /// An empty report.
    pub fn create(path: &Path) -> io::Result<Report> {
        Ok(Report { file: File::create(path)?, line: Vec::with_capacity(1_024) })
    }

    /// Appends a row in one write.
    pub fn write(&mut self, row: &LinkRow) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, row)?;
        self.line.push(b'\n');
        self.file.write_all(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_back_and_half_a_line_at_its_end_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link.jsonl");
        let there = DirectionCounts { offered_packets: 7, packets: 6, dropped_loss: 1, ..DirectionCounts::default() };
        let row = LinkRow { monotonic_ns: 5, directions: [there, DirectionCounts::default()], realtime: true };
        let mut report = Report::create(&path).unwrap();
        report.write(&row).unwrap();
        report.write(&LinkRow { monotonic_ns: 6, ..row }).unwrap();
        report.file.write_all(b"{\"monotonic_ns\": 7").unwrap();
        assert_eq!(
            read_report(&std::fs::read_to_string(&path).unwrap()).unwrap(),
            [row, LinkRow { monotonic_ns: 6, ..row }]
        );
    }

    #[test]
    fn an_empty_report_has_no_rows() {
        assert_eq!(read_report("").unwrap(), []);
    }
}
