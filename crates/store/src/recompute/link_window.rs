//! The work of an emulated link in a trial's window, from the rows that the link wrote.

use tolok_link::{DirectionCounts, LinkRow};
use tolok_model::{Disturbance, LinkDirection, LinkWindow};

/// A larger mean lateness of packets has a cause outside the study. A single packet may be late on any machine. A burst is
/// delivered packet by packet, which takes a while.
const LATE_S: f64 = 0.25e-3;
/// Over a large distance, the limit is this share of the round trip, because less is not noticeable.
const LATE_SHARE: f64 = 0.05;

/// The work from the last row before the window to the first after it, or `None` without rows. The rows are those of one link: a
/// box may have two, with the subject at the far end of each. `cpu_s` is the CPU time of the link's process.
pub(super) fn link_window(rows: &[LinkRow], began_ns: u64, ended_ns: u64, cpu_s: f64) -> Option<LinkWindow> {
    let before = rows.iter().rposition(|row| row.monotonic_ns <= began_ns);
    let after = rows.iter().position(|row| row.monotonic_ns >= ended_ns).unwrap_or(rows.len().checked_sub(1)?);
    let first = before.map(|place| rows[place]).unwrap_or_default();
    let inside = &rows[before.map_or(0, |place| place + 1)..=after];
    let last = inside.last()?;
    let of = |direction: usize| {
        let counts = inside.iter().map(|row| &row.directions[direction]);
        direction_of(&first.directions[direction], &last.directions[direction], counts)
    };
    let realtime = inside.iter().all(|row| row.realtime);
    Some(LinkWindow { to_subject: of(0), to_client: of(1), realtime, cpu_s })
}

fn direction_of<'a>(
    first: &DirectionCounts,
    last: &DirectionCounts,
    rows: impl Iterator<Item = &'a DirectionCounts>,
) -> LinkDirection {
    let packets = last.packets - first.packets;
    let lateness_ns = last.lateness_sum_ns - first.lateness_sum_ns;
    let lateness_max_ns = rows.map(|row| row.lateness_max_ns).max().unwrap_or_default();
    LinkDirection {
        packets: last.offered_packets - first.offered_packets,
        bytes: last.offered_bytes - first.offered_bytes,
        dropped_queue: last.dropped_queue - first.dropped_queue,
        dropped_loss: last.dropped_loss - first.dropped_loss,
        dropped_refused: last.dropped_refused - first.dropped_refused,
        dropped_before: last.dropped_before - first.dropped_before,
        lateness_s_mean: if packets == 0 { 0.0 } else { lateness_ns as f64 / packets as f64 / 1e9 },
        lateness_s_max: lateness_max_ns as f64 / 1e9,
    }
}

/// Whether a link held up packets for longer than the study asks. `name` is `the link`, or distinguishes it from another. The
/// mean decides, and the text also names the latest packet.
pub(super) fn lateness(name: &str, link: &LinkWindow, rtt_s: f64) -> Option<Disturbance> {
    let latest =
        if link.to_subject.lateness_s_mean > link.to_client.lateness_s_mean { link.to_subject } else { link.to_client };
    let most = link.to_subject.lateness_s_max.max(link.to_client.lateness_s_max);
    if latest.lateness_s_mean <= LATE_S.max(rtt_s * LATE_SHARE) {
        return None;
    }
    let text = format!(
        "{name} handed packets over {:.0} µs late on average and {:.1} ms at most, in addition to what the study asks for",
        latest.lateness_s_mean * 1e6,
        most * 1e3
    );
    Some(Disturbance { kind: "link-late".to_owned(), value: latest.lateness_s_mean, text })
}

/// Whether the link lost packets beyond the loss in the study. TCP reacts to any loss, whatever the reason, and a single one can
/// delay a response by a fifth of a second.
pub(super) fn own_drops(name: &str, link: &LinkWindow) -> Option<Disturbance> {
    let both = |of: fn(&LinkDirection) -> u64| of(&link.to_subject) + of(&link.to_client);
    let [before, refused] = [both(|it| it.dropped_before), both(|it| it.dropped_refused)];
    let words = match (before, refused) {
        (0, 0) => return None,
        (before, 0) => format!("{} before it read them", packets(before)),
        (0, refused) => format!("{} that the kernel behind it did not take", packets(refused)),
        (before, refused) => format!(
            "{} before it read them and {} that the kernel behind it did not take",
            packets(before),
            packets(refused)
        ),
    };
    let text = format!("{name} lost {words}, in addition to what the study asks for");
    Some(Disturbance { kind: "link-dropped".to_owned(), value: (before + refused) as f64, text })
}

fn packets(number: u64) -> String {
    format!("{number} packet{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row at this second, with this many packets to the subject and the lateness of its latest.
    fn row(second: u64, packets: u64, latest_us: u64) -> LinkRow {
        let there = DirectionCounts {
            offered_packets: packets,
            offered_bytes: packets * 100,
            packets,
            dropped_loss: packets / 10,
            lateness_sum_ns: packets * 5_000,
            lateness_max_ns: latest_us * 1_000,
            ..DirectionCounts::default()
        };
        LinkRow {
            monotonic_ns: second * 1_000_000_000,
            directions: [there, DirectionCounts::default()],
            realtime: true,
        }
    }

    #[test]
    fn a_window_is_what_lies_between_the_rows_around_it() {
        let rows = [row(1, 10, 900), row(2, 110, 20), row(3, 310, 30), row(4, 320, 800)];
        let link = link_window(&rows, 1_500_000_000, 2_900_000_000, 0.25).unwrap();
        assert_eq!((link.to_subject.packets, link.to_subject.bytes, link.to_subject.dropped_loss), (300, 30_000, 30));
        assert!((link.to_subject.lateness_s_mean - 5e-6).abs() < 1e-12);
        assert_eq!((link.to_subject.lateness_s_max, link.to_client.packets, link.cpu_s), (30e-6, 0, 0.25));
        assert!(link.realtime);
    }

    #[test]
    fn rows_may_begin_late_and_end_early() {
        let rows = [row(2, 110, 20), row(3, 310, 30)];
        assert_eq!(link_window(&rows, 1_000_000_000, 9_000_000_000, 0.0).unwrap().to_subject.packets, 310);
        assert_eq!(link_window(&[], 1, 2, 0.0), None);
    }

    #[test]
    fn a_packet_that_is_lost_without_being_asked_for_is_a_disturbance() {
        let rows = |refused, before| {
            let mut last = row(2, 110, 20);
            (last.directions[1].dropped_refused, last.directions[0].dropped_before) = (refused, before);
            link_window(&[row(1, 10, 900), last], 1_000_000_000, 2_000_000_000, 0.0).unwrap()
        };
        // The loss that the study asks for does not count.
        let as_asked = rows(0, 0);
        assert!(as_asked.to_subject.dropped_loss > 0);
        assert_eq!(own_drops("the link", &as_asked), None);
        let found = own_drops("the link", &rows(0, 1)).unwrap();
        assert_eq!((found.kind.as_str(), found.value), ("link-dropped", 1.0));
        let words = "the link lost 1 packet before it read them, in addition to what the study asks for";
        assert_eq!(found.text, words);
        let found = own_drops("the link to the database", &rows(3, 2)).unwrap();
        let words =
            "the link to the database lost 2 packets before it read them and 3 packets that the kernel behind it";
        assert!(found.text.starts_with(words) && found.value == 5.0, "{}", found.text);
    }

    #[test]
    fn a_link_is_late_if_its_packets_are_and_not_if_one_of_them_is() {
        let late = |mean: f64, most: f64, rtt_s| {
            let to_client = LinkDirection { lateness_s_mean: mean, lateness_s_max: most, ..LinkDirection::default() };
            lateness("the link to the database", &LinkWindow { to_client, ..LinkWindow::default() }, rtt_s)
        };
        assert_eq!(late(20e-6, 5e-3, 0.0), None);
        assert_eq!(late(0.9e-3, 5e-3, 0.02), None);
        assert!(late(0.9e-3, 5e-3, 0.01).is_some());
        let found = late(0.3e-3, 5e-3, 0.002).unwrap();
        assert_eq!((found.kind.as_str(), found.value), ("link-late", 0.3e-3));
        let words = "the link to the database handed packets over 300 µs late on average and 5.0 ms at most";
        assert!(found.text.starts_with(words), "{}", found.text);
    }
}
