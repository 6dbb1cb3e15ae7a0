//! TLS on one connection: the handshake, ciphertext to send, and received plaintext.
//!
//! rustls does the cryptography and touches no socket. All system calls are here, so it stays clear what an edge-triggered queue reports.
//! It does not report two things. The first is decrypted plaintext that was not fetched; this never exists, because all received bytes are
//! decrypted and handed over at once. The second is the end of a stream that arrived together with its last bytes; [`Session::has_more`]
//! covers it.
//!
//! Sessions are not resumed: every connection does the full handshake, like the first one of a new client. So a target's cost per
//! connection does not depend on earlier ones.

mod failure;
mod listed;
mod trust;
mod unverified;

use std::fmt;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic};

use super::Stream;
pub(crate) use failure::Failure;
pub(crate) use trust::{HTTP_2, TlsClient, probing};

/// Room at the beginning of the buffer, in front of the ciphertext. While the ciphertext is decrypted record by record, the plaintext is
/// copied there. It holds the longest record, and earlier plaintext takes less room than its ciphertext did, so it always suffices.
const HEADROOM_BYTES: usize = 16 * 1024;

/// Plaintext encrypted at a time. Also the most ciphertext that may wait for the socket before more is produced.
const PIECE_BYTES: usize = 64 * 1024;

/// Longest plaintext of a record, and an upper bound of what a record adds to it in any version and cipher.
const RECORD_BYTES: usize = 16 * 1024;
const RECORD_OVERHEAD_BYTES: usize = 64;

/// The TLS state of a connection.
pub(crate) struct Session {
    rustls: UnbufferedClientConnection,
    /// Ciphertext for the socket; `taken` bytes of it have been sent.
    outgoing: Vec<u8>,
    taken: usize,
    /// Ciphertext of an incomplete record.
    held: Vec<u8>,
    established: bool,
    /// Whether the target has announced that it sends no more.
    closed: bool,
    /// Whether we have sent close_notify, or an alert, which also ends the stream.
    said_close: bool,
    /// Whether the target has ended the stream.
    ended: bool,
    more: bool,
}

/// The result of one recv(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Got {
    Nothing,
    Bytes { full: bool },
    End,
}

/// The state of rustls after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// It has more to do.
    GoOn,
    /// It needs bytes from the target.
    Blocked,
    /// It accepts plaintext, and has encrypted the offered piece.
    Ready,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Processed ciphertext.
    consumed: usize,
    /// Resulting plaintext.
    plain: usize,
    stand: Stand,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("established", &self.established).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a handshake; nothing is sent yet.
    pub fn new(client: &TlsClient) -> Result<Session, Failure> {
        let mut session = Session {
            rustls: client.connection()?,
            outgoing: Vec::new(),
            taken: 0,
            held: Vec::new(),
            established: false,
            closed: false,
            said_close: false,
            ended: false,
            more: false,
        };
        session.digest(&mut [], 0, 0)?;
        Ok(session)
    }

    /// Whether requests can be sent.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Whether ciphertext is waiting for the socket.
    pub fn has_unsent(&self) -> bool {
        self.taken < self.outgoing.len()
    }

    /// Whether there is more to receive that the event queue will not report.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// Whether the target has announced that it sends no more, or ended the stream.
    pub fn is_over(&self) -> bool {
        self.closed || self.ended
    }

    /// Continues the handshake as far as possible. Returns whether it is complete; unsent bytes then go out with the first request. Reads
    /// until nothing is left: an end that arrived with the last bytes is not reported again.
    pub fn shake_hands(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<bool, Failure> {
        match self.shake_hands_and_listen(socket, buffer)? {
            None => Ok(false),
            Some(0) => Ok(true),
            Some(_) => Err(Failure::Unasked),
        }
    }

    /// The same for a target that may speak first. Once the handshake is complete, returns the length of the plaintext that arrived with
    /// its end. The plaintext is at the beginning of the buffer.
    pub fn shake_hands_and_listen(
        &mut self,
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
    ) -> Result<Option<usize>, Failure> {
        let mut came = 0;
        while !self.established {
            if !self.flush(socket)? {
                return Ok(None);
            }
            match self.pull(socket, buffer, usize::MAX)? {
                (Got::End, _) => return Err(Failure::ClosedInHandshake),
                (Got::Nothing, _) => return Ok(None),
                (Got::Bytes { .. }, plain) => came = plain,
            }
        }
        Ok(Some(came))
    }

    /// Whether the target has selected HTTP/2.
    pub fn has_chosen_http2(&self) -> bool {
        self.rustls.alpn_protocol() == Some(trust::HTTP_2)
    }

    /// Encrypts and sends at most `at_most` bytes. Returns how many were encrypted; what the socket does not take is queued.
    pub fn send(&mut self, socket: BorrowedFd<'_>, plain: &[u8], at_most: usize) -> Result<usize, Failure> {
        if self.outgoing.len() - self.taken >= PIECE_BYTES && !self.flush(socket)? {
            return Ok(0);
        }
        let plain = &plain[..plain.len().min(at_most)];
        let mut sent = 0;
        for piece in plain.chunks(PIECE_BYTES) {
            self.encrypt(piece)?;
            sent += piece.len();
            if !self.flush(socket)? {
                return Ok(sent);
            }
        }
        self.flush(socket)?;
        Ok(sent)
    }

    /// Receives up to `at_most` bytes of ciphertext. Their plaintext is at the beginning of the buffer.
    pub fn receive(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8], at_most: usize) -> Result<Stream, Failure> {
        self.more = false;
        if self.closed {
            return Ok(Stream::End);
        }
        let (got, plain) = self.pull(socket, buffer, at_most)?;
        if self.has_unsent() {
            // A reply to a key update, or the rest of a request. If this fails, the next send reports it.
            let _ = self.flush(socket);
        }
        self.more = got == Got::Bytes { full: true } || (self.closed && plain > 0);
        Ok(match got {
            Got::Bytes { .. } if plain > 0 => Stream::Bytes(plain),
            Got::End if !self.closed => Stream::Truncated,
            _ if self.closed => Stream::End,
            _ => Stream::Nothing,
        })
    }

    /// Receives unsolicited bytes. Only the end of the stream counts as the end, so the target closes first. If it waits for our
    /// close_notify, it gets one.
    pub fn receive_unasked(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Stream, Failure> {
        loop {
            match self.pull(socket, buffer, usize::MAX)? {
                (_, plain) if plain > 0 => return Ok(Stream::Bytes(plain)),
                (Got::End, _) => return Ok(Stream::End),
                (Got::Bytes { full: true }, _) => {}
                (Got::Bytes { full: false }, _) if self.closed => {}
                (Got::Bytes { full: false } | Got::Nothing, _) => {
                    if self.closed {
                        self.say_close(socket);
                    }
                    return Ok(Stream::Nothing);
                }
            }
        }
    }

    /// Sends close_notify, if the target still listens and no request is cut short by it.
    #[inline(never)]
    pub fn say_close(&mut self, socket: BorrowedFd<'_>) {
        if !self.established || self.ended || self.said_close || self.has_unsent() {
            return;
        }
        self.said_close = true;
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) = self.rustls.process_tls_records(&mut self.held).state {
            let mut notice = [0; RECORD_OVERHEAD_BYTES];
            if let Ok(bytes) = traffic.queue_close_notify(&mut notice) {
                // A socket that does not take these few bytes will be closed before it could take them.
                let _ = send(socket, &notice[..bytes], SendFlags::NOSIGNAL);
            }
        }
    }

    /// Sends queued ciphertext. Returns whether none is left.
    pub fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<bool, Failure> {
        while self.has_unsent() {
            match send(socket, &self.outgoing[self.taken..], SendFlags::NOSIGNAL) {
                Ok(taken) => self.taken += taken,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
                Err(errno) => return Err(Failure::Socket(errno)),
            }
        }
        self.outgoing.clear();
        self.taken = 0;
        Ok(true)
    }

    /// Receives once and decrypts what is available. Returns the length of the plaintext at the beginning of the buffer.
    fn pull(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8], at_most: usize) -> Result<(Got, usize), Failure> {
        let behind_held = HEADROOM_BYTES + self.held.len();
        buffer[HEADROOM_BYTES..behind_held].copy_from_slice(&self.held);
        let room = (buffer.len() - behind_held).min(at_most);
        let bytes = match recv(socket, &mut buffer[behind_held..behind_held + room], RecvFlags::empty()) {
            Ok((0, _)) => {
                self.ended = true;
                return Ok((Got::End, 0));
            }
            Ok((bytes, _)) => bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok((Got::Nothing, 0)),
            Err(errno) => return Err(Failure::Socket(errno)),
        };
        self.held.clear();
        let end = behind_held + bytes;
        let digested = self.digest(buffer, HEADROOM_BYTES, end);
        if let (Err(_), true) = (&digested, self.has_unsent()) {
            // Tells the target why, if it listens; the run does not wait for it.
            let _ = self.flush(socket);
        }
        let (plain, from) = digested?;
        self.held.extend_from_slice(&buffer[from..end]);
        Ok((Got::Bytes { full: bytes == room }, plain))
    }

    /// Lets rustls process the ciphertext `buffer[from..end]`. Returns the length of the plaintext at the beginning of the buffer, and the
    /// start of the remaining ciphertext.
    fn digest(&mut self, buffer: &mut [u8], mut from: usize, end: usize) -> Result<(usize, usize), Failure> {
        let mut plain = 0;
        loop {
            let (front, incoming) = buffer[..end].split_at_mut(from);
            let step = self.advance(incoming, &mut front[plain..], &[])?;
            plain += step.plain;
            from += step.consumed;
            match step.stand {
                Stand::GoOn => {}
                Stand::Blocked => return Ok((plain, from)),
                Stand::Ready => {
                    self.established = true;
                    return Ok((plain, from));
                }
            }
        }
    }

    /// Encrypts a request or a part of it.
    fn encrypt(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let mut held = std::mem::take(&mut self.held);
        let outcome = loop {
            match self.advance(&mut held, &mut [], piece) {
                Ok(step) => {
                    held.drain(..step.consumed);
                    match step.stand {
                        Stand::GoOn => {}
                        Stand::Ready => break Ok(()),
                        Stand::Blocked => break Err(rustls::Error::HandshakeNotComplete.into()),
                    }
                }
                Err(failure) => break Err(failure),
            }
        };
        self.held = held;
        outcome
    }

    /// One step of rustls: reads ciphertext, writes plaintext to `front`, and encrypts `piece` once it accepts plaintext.
    fn advance(&mut self, incoming: &mut [u8], front: &mut [u8], piece: &[u8]) -> Result<Step, Failure> {
        let UnbufferedStatus { discard: mut consumed, state } = self.rustls.process_tls_records(incoming);
        let mut plain = 0;
        let stand = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    consumed += record.discard;
                    front[plain..plain + record.payload.len()].copy_from_slice(record.payload);
                    plain += record.payload.len();
                }
                Stand::GoOn
            }
            Ok(ConnectionState::EncodeTlsData(data)) => {
                encode(data, &mut self.outgoing);
                Stand::GoOn
            }
            Ok(ConnectionState::TransmitTlsData(data)) => {
                // The data is in `outgoing`, in order, and is sent before anything else.
                data.done();
                Stand::GoOn
            }
            Ok(ConnectionState::PeerClosed) => {
                self.closed = true;
                Stand::GoOn
            }
            Ok(ConnectionState::WriteTraffic(traffic)) => {
                write(traffic, piece, &mut self.outgoing)?;
                Stand::Ready
            }
            Ok(_) => Stand::Blocked,
            Err(error) => {
                self.collect_alert(&mut incoming[consumed..]);
                return Err(error.into());
            }
        };
        Ok(Step { consumed, plain, stand })
    }

    /// Collects the alert that rustls sends after an error. There is at most one, because earlier data was already collected. A further
    /// call would process the same ciphertext again and fail.
    #[cold]
    fn collect_alert(&mut self, incoming: &mut [u8]) {
        self.said_close = true;
        if let Ok(ConnectionState::EncodeTlsData(data)) = self.rustls.process_tls_records(incoming).state {
            encode(data, &mut self.outgoing);
        }
    }
}

fn encode(mut data: EncodeTlsData<'_, ClientConnectionData>, outgoing: &mut Vec<u8>) {
    // Without room, it reports the size that it needs.
    let Err(EncodeError::InsufficientSize(needed)) = data.encode(&mut []) else { return };
    let begin = outgoing.len();
    outgoing.resize(begin + needed.required_size, 0);
    let written = data.encode(&mut outgoing[begin..]).expect("the requested room is there");
    outgoing.truncate(begin + written);
}

fn write(
    mut traffic: WriteTraffic<'_, ClientConnectionData>,
    piece: &[u8],
    outgoing: &mut Vec<u8>,
) -> Result<(), rustls::Error> {
    if piece.is_empty() {
        return Ok(());
    }
    let begin = outgoing.len();
    let records = piece.len() / RECORD_BYTES + 1;
    outgoing.resize(begin + piece.len() + records * RECORD_OVERHEAD_BYTES, 0);
    match traffic.encrypt(piece, &mut outgoing[begin..]) {
        Ok(written) => outgoing.truncate(begin + written),
        Err(EncryptError::InsufficientSize(_) | EncryptError::EncryptExhausted) => {
            outgoing.truncate(begin);
            return Err(rustls::Error::EncryptError);
        }
    }
    Ok(())
}
