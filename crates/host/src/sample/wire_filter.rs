//! The program with which the kernel recognises the beginning of a response, in instructions of the classic packet
//! filter (BPF).
//!
//! It sees packets of every protocol, each from its network header on, and returns 1 (of interest) or 0. If it loads
//! bytes beyond the packet's end, the kernel returns 0. So a segment without a payload needs no check.

use libc::{
    BPF_ABS, BPF_ADD, BPF_ALU, BPF_AND, BPF_B, BPF_H, BPF_IND, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_LDX,
    BPF_MISC, BPF_MSH, BPF_RET, BPF_RSH, BPF_TAX, BPF_W, BPF_X, sock_filter,
};

/// From the packet's beginning.
const LOAD_BYTE: u32 = BPF_LD | BPF_B | BPF_ABS;
const LOAD_HALF: u32 = BPF_LD | BPF_H | BPF_ABS;
/// From the position in the index register.
const LOAD_BYTE_AT_INDEX: u32 = BPF_LD | BPF_B | BPF_IND;
const LOAD_HALF_AT_INDEX: u32 = BPF_LD | BPF_H | BPF_IND;
const LOAD_WORD_AT_INDEX: u32 = BPF_LD | BPF_W | BPF_IND;
/// Loads the length of an IPv4 header, from the lower half of its first byte, into the index register.
const INDEX_BEHIND_HEADER: u32 = BPF_LDX | BPF_B | BPF_MSH;
const AND: u32 = BPF_ALU | BPF_AND | BPF_K;
const SHIFT_RIGHT: u32 = BPF_ALU | BPF_RSH | BPF_K;
const ADD_INDEX: u32 = BPF_ALU | BPF_ADD | BPF_X;
const INTO_INDEX: u32 = BPF_MISC | BPF_TAX;
const IF_EQUAL: u32 = BPF_JMP | BPF_JEQ | BPF_K;
const IF_ANY_BIT: u32 = BPF_JMP | BPF_JSET | BPF_K;
const RETURN: u32 = BPF_RET | BPF_K;

/// The upper half of the first byte is the version, which identifies IPv4 among the protocols in use.
const VERSION: u32 = 0xf0;
const IPV4: u32 = 0x40;
const TCP: u32 = 6;
/// A fragment's offset in its packet, without the flags beside it.
const FRAGMENT_OFFSET: u32 = 0x1fff;
const HTTP: u32 = u32::from_be_bytes(*b"HTTP");
/// The position of a status's first digit: `HTTP/1.1 200`.
const AT_STATUS: u32 = 9;

/// A step of the program. Steps with a condition continue or reject the packet.
enum Step {
    Do(u32, u32),
    GoOnIf(u32, u32),
    GoOnUnless(u32, u32),
}

/// A program that accepts the beginnings of responses from this port: TCP segments whose payload begins with `HTTP`.
/// With `ok_only`, only those with a status from 200 to 299.
pub(super) fn program(port: u16, ok_only: bool) -> Vec<sock_filter> {
    use Step::{Do, GoOnIf, GoOnUnless};
    let mut steps = vec![
        Do(LOAD_BYTE, 0),
        Do(AND, VERSION),
        GoOnIf(IF_EQUAL, IPV4),
        Do(LOAD_BYTE, 9),
        GoOnIf(IF_EQUAL, TCP),
        Do(LOAD_HALF, 6),
        GoOnUnless(IF_ANY_BIT, FRAGMENT_OFFSET),
        Do(INDEX_BEHIND_HEADER, 0),
        Do(LOAD_HALF_AT_INDEX, 0),
        GoOnIf(IF_EQUAL, port.into()),
        // The upper half of the byte is the length of the TCP header in words of four bytes.
        Do(LOAD_BYTE_AT_INDEX, 12),
        Do(AND, 0xf0),
        Do(SHIFT_RIGHT, 2),
        Do(ADD_INDEX, 0),
        Do(INTO_INDEX, 0),
        Do(LOAD_WORD_AT_INDEX, 0),
        GoOnIf(IF_EQUAL, HTTP),
    ];
    if ok_only {
        steps.extend([Do(LOAD_BYTE_AT_INDEX, AT_STATUS), GoOnIf(IF_EQUAL, u32::from(b'2'))]);
    }
    steps.push(Do(RETURN, 1));
    let reject = steps.len();
    steps.push(Do(RETURN, 0));
    let instruction = |(place, step): (usize, Step)| {
        // How many instructions to skip. A program of about twenty fits into a byte.
        let away = (reject - place).saturating_sub(1) as u8;
        let (code, k, jt, jf) = match step {
            Do(code, k) => (code, k, 0, 0),
            GoOnIf(code, k) => (code, k, 0, away),
            GoOnUnless(code, k) => (code, k, away, 0),
        };
        sock_filter { code: code as u16, jt, jf, k }
    };
    steps.into_iter().enumerate().map(instruction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 8080;

    /// Emulates the kernel: a machine with two registers. A load beyond the packet ends the program with 0.
    fn run(program: &[sock_filter], packet: &[u8]) -> u32 {
        let load = |at: u32, length: usize| -> Option<u32> {
            let bytes = packet.get(at as usize..at as usize + length)?;
            Some(bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
        };
        let (mut a, mut x, mut next) = (0_u32, 0_u32, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[next];
            next += 1;
            let loaded = match u32::from(code) {
                LOAD_BYTE => load(k, 1),
                LOAD_HALF => load(k, 2),
                LOAD_BYTE_AT_INDEX => load(x + k, 1),
                LOAD_HALF_AT_INDEX => load(x + k, 2),
                LOAD_WORD_AT_INDEX => load(x + k, 4),
                INDEX_BEHIND_HEADER => load(k, 1).map(|byte| 4 * (byte & 15)),
                AND => Some(a & k),
                SHIFT_RIGHT => Some(a >> k),
                ADD_INDEX => Some(a + x),
                INTO_INDEX | IF_EQUAL | IF_ANY_BIT => Some(a),
                RETURN => return k,
                other => panic!("{other:#x} is not an instruction of this program"),
            };
            let Some(loaded) = loaded else { return 0 };
            match u32::from(code) {
                INDEX_BEHIND_HEADER | INTO_INDEX => x = loaded,
                IF_EQUAL => next += usize::from(if a == k { jt } else { jf }),
                IF_ANY_BIT => next += usize::from(if a & k != 0 { jt } else { jf }),
                _ => a = loaded,
            }
        }
    }

    /// Whether a packet counts as a response, and as one with a good status.
    fn seen(packet: &[u8]) -> (bool, bool) {
        (run(&program(PORT, false), packet) != 0, run(&program(PORT, true), packet) != 0)
    }

    /// A packet as it arrives.
    struct Packet {
        ip_options: usize,
        protocol: u8,
        fragment: u16,
        from: u16,
        to: u16,
        tcp_options: usize,
    }

    /// From the subject's port, with the timestamps that every segment of Linux has.
    const ANSWER: Packet =
        Packet { ip_options: 0, protocol: 6, fragment: 0x4000, from: PORT, to: 40_000, tcp_options: 12 };

    impl Packet {
        fn with(&self, payload: &str) -> Vec<u8> {
            let mut packet = vec![0x40 | (5 + self.ip_options / 4) as u8, 0, 0, 0, 0, 0];
            packet.extend(self.fragment.to_be_bytes());
            packet.extend([64, self.protocol, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
            packet.extend(vec![1; self.ip_options]);
            packet.extend([self.from.to_be_bytes(), self.to.to_be_bytes()].concat());
            packet.extend([0, 0, 0, 1, 0, 0, 0, 2, ((5 + self.tcp_options / 4) << 4) as u8 | 1, 0x18]);
            packet.extend([255, 255, 0, 0, 0, 0]);
            packet.extend(vec![1; self.tcp_options]);
            packet.extend(payload.bytes());
            packet
        }
    }

    #[test]
    fn an_answer_counts_by_its_status() {
        assert_eq!(seen(&ANSWER.with("HTTP/1.1 200 OK\r\n\r\n")), (true, true));
        assert_eq!(seen(&ANSWER.with("HTTP/1.1 204 No Content\r\n\r\n")), (true, true));
        assert_eq!(seen(&ANSWER.with("HTTP/1.0 503 Service Unavailable\r\n\r\n")), (true, false));
        assert_eq!(seen(&ANSWER.with("HTTP/1.1 302 Found\r\n\r\n2")), (true, false));
    }

    #[test]
    fn headers_may_have_any_length() {
        for (ip_options, tcp_options) in [(0, 0), (0, 40), (4, 12), (40, 0), (40, 40)] {
            let packet = Packet { ip_options, tcp_options, ..ANSWER };
            assert_eq!(seen(&packet.with("HTTP/1.1 200 OK")), (true, true), "{ip_options} {tcp_options}");
            assert_eq!(seen(&packet.with("HTTP/1.1 404 Not")), (true, false), "{ip_options} {tcp_options}");
            assert_eq!(seen(&packet.with("body")), (false, false), "{ip_options} {tcp_options}");
        }
    }

    #[test]
    fn what_is_no_beginning_of_an_answer_does_not_count() {
        let request = Packet { from: 40_000, to: PORT, ..ANSWER };
        let mut version_6 = ANSWER.with("HTTP/1.1 200 OK\r\n\r\n");
        version_6[0] = 0x65;
        let no_answers = [
            ("a request", request.with("GET / HTTP/1.1\r\n\r\n")),
            ("a response to the subject", request.with("HTTP/1.1 200 OK\r\n\r\n")),
            ("another port", Packet { from: PORT + 1, ..ANSWER }.with("HTTP/1.1 200 OK\r\n\r\n")),
            ("a pure acknowledgement", ANSWER.with("")),
            ("the rest of a body", ANSWER.with("<p>HTTP/1.1 200</p>")),
            ("a later fragment", Packet { fragment: 0x20b9, ..ANSWER }.with("HTTP/1.1 200 OK\r\n\r\n")),
            ("a datagram", Packet { protocol: 17, ..ANSWER }.with("HTTP/1.1 200 OK\r\n\r\n")),
            ("a packet of IPv6", version_6),
            ("TLS", ANSWER.with("\u{17}\u{3}\u{3}\u{1}HTTP")),
        ];
        for (what, packet) in no_answers {
            assert_eq!(seen(&packet), (false, false), "{what}");
        }
        // More fragments follow, but this one contains the beginning.
        assert_eq!(seen(&Packet { fragment: 0x2000, ..ANSWER }.with("HTTP/1.1 200 OK")), (true, true));
    }

    #[test]
    fn a_packet_that_is_cut_off_counts_as_far_as_it_can_be_read() {
        let whole = ANSWER.with("HTTP/1.1 200");
        let headers = whole.len() - 12;
        for length in 0..whole.len() {
            let expected = (length >= headers + 4, length >= headers + 10);
            assert_eq!(seen(&whole[..length]), expected, "{length} bytes");
        }
    }
}
