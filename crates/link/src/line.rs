//! The packets in one direction of a link, in the order in which they leave it.
//!
//! They are stored contiguously in pieces of memory of a fixed size. The kernel writes a packet to where it stays until the kernel gets it
//! again, and a packet of 40 bytes takes 40 bytes. No packet overtakes another, so the oldest piece is always the first to become free.

use std::collections::VecDeque;

use crate::model::Held;

/// Size of a piece. Several times the largest packet, because the remainder of a piece that is too small for one is wasted.
const PIECE_BYTES: usize = 512 << 10;
/// Most free pieces to keep for later; others, as after a burst, are released.
const SPARE_PIECES: usize = 16;

/// A packet in the queue.
#[derive(Debug, Clone, Copy)]
struct Packet {
    at_ns: u64,
    start: u32,
    frame_bytes: u32,
    ip_bytes: u32,
}

#[derive(Debug)]
struct Piece {
    memory: Box<[u8]>,
    used: usize,
    packets: usize,
}

/// A first-in, first-out queue.
#[derive(Debug)]
pub(crate) struct Line {
    slot_bytes: usize,
    pieces: VecDeque<Piece>,
    spare: Vec<Piece>,
    packets: VecDeque<Packet>,
    ip_bytes: u64,
}

impl Line {
    /// An empty queue for frames of at most `slot_bytes`.
    pub fn new(slot_bytes: usize) -> Line {
        assert!(slot_bytes <= PIECE_BYTES, "a packet must have room in a piece");
        let pieces = VecDeque::from([Piece::new()]);
        Line { slot_bytes, pieces, spare: Vec::new(), packets: VecDeque::with_capacity(4_096), ip_bytes: 0 }
    }

    /// Room for one frame of any size. What is written there counts only after [`keep`](Self::keep).
    pub fn slot(&mut self) -> &mut [u8] {
        let has_room = self.pieces.back().is_some_and(|piece| piece.used + self.slot_bytes <= PIECE_BYTES);
        if !has_room {
            self.pieces.push_back(self.spare.pop().unwrap_or_else(Piece::new));
        }
        let piece = self.pieces.back_mut().expect("one was just added if there was none");
        &mut piece.memory[piece.used..piece.used + self.slot_bytes]
    }

    /// Stores the frame at the start of the slot until it leaves at `at_ns`, which must not be earlier than for the previous frame.
    pub fn keep(&mut self, at_ns: u64, frame_bytes: usize, ip_bytes: usize) {
        debug_assert!(self.packets.back().is_none_or(|last| last.at_ns <= at_ns), "packets never overtake each other");
        let piece = self.pieces.back_mut().expect("the slot is in it");
        let start = piece.used as u32;
        self.packets.push_back(Packet { at_ns, start, frame_bytes: frame_bytes as u32, ip_bytes: ip_bytes as u32 });
        piece.used += frame_bytes;
        piece.packets += 1;
        self.ip_bytes += ip_bytes as u64;
    }

    /// When the next frame leaves.
    pub fn next_ns(&self) -> Option<u64> {
        self.packets.front().map(|packet| packet.at_ns)
    }

    /// The next frame and its number of IP bytes.
    pub fn front(&self) -> Option<(&[u8], u32)> {
        let packet = self.packets.front()?;
        let start = packet.start as usize;
        let piece = self.pieces.front()?;
        Some((&piece.memory[start..start + packet.frame_bytes as usize], packet.ip_bytes))
    }

    /// Removes the next frame.
    pub fn pop(&mut self) {
        let Some(packet) = self.packets.pop_front() else { return };
        self.ip_bytes -= u64::from(packet.ip_bytes);
        let piece = self.pieces.front_mut().expect("the packet was in it");
        piece.packets -= 1;
        if piece.packets > 0 {
            return;
        }
        // The piece is empty. If it is the only one, it is reused from its start, which keeps it in the cache.
        piece.used = 0;
        if self.pieces.len() > 1 {
            let free = self.pieces.pop_front();
            self.spare.extend(free.filter(|_| self.spare.len() < SPARE_PIECES));
        }
    }

    /// The content of the queue.
    pub fn held(&self) -> Held {
        Held { packets: self.packets.len(), bytes: self.ip_bytes }
    }
}

impl Piece {
    fn new() -> Piece {
        Piece { memory: vec![0; PIECE_BYTES].into_boxed_slice(), used: 0, packets: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(line: &mut Line, at_ns: u64, frame: &[u8]) {
        line.slot()[..frame.len()].copy_from_slice(frame);
        line.keep(at_ns, frame.len(), frame.len());
    }

    #[test]
    fn packets_leave_as_they_came() {
        let mut line = Line::new(1_500);
        put(&mut line, 5, b"first");
        put(&mut line, 7, b"second");
        assert_eq!((line.next_ns(), line.held()), (Some(5), Held { packets: 2, bytes: 11 }));
        assert_eq!(line.front(), Some((&b"first"[..], 5)));
        line.pop();
        assert_eq!((line.next_ns(), line.front()), (Some(7), Some((&b"second"[..], 6))));
        line.pop();
        assert_eq!((line.next_ns(), line.front(), line.held()), (None, None, Held::default()));
        line.pop();
    }

    #[test]
    fn what_is_not_kept_leaves_no_trace() {
        let mut line = Line::new(1_500);
        line.slot().fill(9);
        put(&mut line, 1, b"kept");
        assert_eq!(line.front(), Some((&b"kept"[..], 4)));
        assert_eq!(line.held().packets, 1);
    }

    #[test]
    fn memory_is_used_again() {
        let mut line = Line::new(65_546);
        for round in 0..50 {
            (0..40).for_each(|number| put(&mut line, round, &[number; 60_000]));
            assert!(line.pieces.len() <= 6, "{} pieces for 2.4 MB", line.pieces.len());
            (0..40).for_each(|_| line.pop());
        }
        assert_eq!(line.pieces.len(), 1);
        assert!(line.spare.len() <= 6, "{}", line.spare.len());
    }

    proptest! {
        #[test]
        fn it_is_a_queue(steps in proptest::collection::vec((any::<bool>(), 1usize..65_000, any::<u8>()), 1..200)) {
            let mut line = Line::new(65_546);
            let mut expect: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
            for (number, (put_one, bytes, fill)) in steps.into_iter().enumerate() {
                if put_one {
                    put(&mut line, number as u64, &vec![fill; bytes]);
                    expect.push_back((number as u64, vec![fill; bytes]));
                } else {
                    line.pop();
                    expect.pop_front();
                }
                prop_assert_eq!(line.next_ns(), expect.front().map(|(at_ns, _)| *at_ns));
                prop_assert_eq!(line.front().map(|(frame, _)| frame), expect.front().map(|(_, frame)| &frame[..]));
                prop_assert_eq!(line.held().bytes, expect.iter().map(|(_, frame)| frame.len() as u64).sum::<u64>());
            }
        }
    }
}
