//! What can go wrong with one request. A fault is counted in the ledger and never ends the run.
//!
//! Faults are small values without allocation, because a failing target produces very many of them. Only the first fault of each class is
//! put into words.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Classes of failure, with stable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The target refused the connection or could not be reached.
    Connect,
    /// No connection within the connect timeout; with TLS, no completed handshake.
    ConnectTimeout,
    /// TLS was not established, or it broke.
    Tls,
    /// No complete answer before the request's deadline.
    Timeout,
    /// The target closed the connection before or inside an answer; with HTTP/2 also by GOAWAY.
    Closed,
    /// The target reset the connection, or the HTTP/2 stream.
    Reset,
    /// The answer is not valid HTTP, or unsolicited bytes came.
    Malformed,
    /// A complete head with an unexpected status.
    BadStatus,
    /// A body that differs from the expected one.
    BadBody,
    /// The generator's own machine ran out of a resource: files, ports, memory. Never the target's fault.
    Local,
}

impl ErrorClass {
    /// Every class, in the order of the record.
    pub const ALL: [ErrorClass; 10] = [
        ErrorClass::Connect,
        ErrorClass::ConnectTimeout,
        ErrorClass::Tls,
        ErrorClass::Timeout,
        ErrorClass::Closed,
        ErrorClass::Reset,
        ErrorClass::Malformed,
        ErrorClass::BadStatus,
        ErrorClass::BadBody,
        ErrorClass::Local,
    ];

    /// The stable name, as in the record.
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Connect => "connect",
            ErrorClass::ConnectTimeout => "connect_timeout",
            ErrorClass::Tls => "tls",
            ErrorClass::Timeout => "timeout",
            ErrorClass::Closed => "closed",
            ErrorClass::Reset => "reset",
            ErrorClass::Malformed => "malformed",
            ErrorClass::BadStatus => "bad_status",
            ErrorClass::BadBody => "bad_body",
            ErrorClass::Local => "local",
        }
    }
}

/// What went wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum Fault {
    #[error("connecting to the target failed: {0}")]
    Connect(Errno),
    #[error("no connection within the connect timeout")]
    ConnectTimeout,
    #[error("TLS failed: {0}")]
    Tls(TlsFault),
    #[error("no complete answer within the request timeout")]
    Timeout,
    #[error("the target closed the connection before answering")]
    ClosedBeforeAnswer,
    #[error("the target closed the connection inside the answer")]
    ClosedInsideAnswer,
    /// End of stream where the answer may end, but without TLS's close_notify: the answer may be truncated.
    #[error("the target ended the stream without TLS's close_notify, so the response may be cut off")]
    ClosedWithoutNotice,
    #[error("the target reset the stream with the HTTP/2 error {0}")]
    StreamReset(Http2Error),
    #[error("the target gave the connection up (GOAWAY) with the HTTP/2 error {0}")]
    GoAway(Http2Error),
    #[error("the target breaks the rules of HTTP/2: {0}")]
    Http2(Http2Error),
    #[error("the target reset the connection: {0}")]
    Reset(Errno),
    #[error("malformed answer: {0}")]
    Malformed(&'static str),
    #[error("status {0} is not the expected one")]
    BadStatus(u16),
    #[error("the body is not the expected one: {0}")]
    BadBody(BodyFault),
    #[error("the generator's own machine could not {doing}: {errno}")]
    Local { doing: &'static str, errno: Errno },
}

/// Why an HTTP/2 stream or connection ended: the error codes of RFC 9113 §7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Error(pub u32);

impl Http2Error {
    const NAMES: [&'static str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
}

impl std::fmt::Display for Http2Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Http2Error::NAMES.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}, which has no name", self.0),
        }
    }
}

/// Why TLS was not established, or broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum TlsFault {
    #[error("the target's certificate is not trusted: no trusted authority issued it")]
    UnknownIssuer,
    #[error("the target's certificate is for another name")]
    OtherName,
    #[error("the target's certificate is expired or not valid yet")]
    Dates,
    #[error("the target's certificate is not acceptable")]
    Certificate,
    #[error("what the target sends is no TLS")]
    NotTls,
    #[error("the target and the engine have no version, cipher or application protocol in common")]
    NothingInCommon,
    /// TLS was established, but the target did not select HTTP/2.
    #[error("the target does not choose HTTP/2 (h2 by ALPN)")]
    NoHttp2,
    #[error("the target gave up with the alert {0}")]
    Alert(&'static str),
    #[error("the target closed the connection during the handshake")]
    ClosedInHandshake,
    #[error("the target does not keep to the protocol")]
    Protocol,
}

/// How a body differs from the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum BodyFault {
    #[error("it differs from byte {at} on")]
    Differs { at: u64 },
    #[error("{announced} bytes announced, {expected} expected")]
    Length {
        /// By Content-Length.
        announced: u64,
        expected: u64,
    },
    #[error("it ended after {received} of {expected} bytes")]
    Short {
        /// Bytes received, all correct.
        received: u64,
        expected: u64,
    },
    #[error("it goes on after the expected {expected} bytes")]
    Long { expected: u64 },
    #[error("it holds no text, number or boolean where one is to be captured")]
    NothingToCapture,
    #[error("it is not packed by gzip, or not whole")]
    NotGzip,
    #[error("packed by gzip it has {packed} bytes, more than half of the {holds} that it holds")]
    Bulky { packed: u64, holds: u64 },
    #[error("it is no JSON at byte {at}: {flaw}")]
    NotJson { at: u64, flaw: JsonFlaw },
    #[error("its JSON differs at byte {at}: {difference}")]
    DiffersInJson {
        /// Where the differing value or key begins; for a missing key, where the object ends.
        at: u64,
        difference: JsonDifference,
    },
}

/// Why bytes are not valid JSON (RFC 8259), or not unambiguous JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum JsonFlaw {
    #[error("it ends in the middle")]
    EndsEarly,
    #[error("unexpected byte")]
    Unexpected,
    #[error("more follows after the value")]
    Trailing,
    /// Not a JSON number, or one with an absurd exponent.
    #[error("not a number as JSON writes it")]
    Number,
    /// An unknown escape, or half of a surrogate pair.
    #[error("not an escape sequence that means a character")]
    Escape,
    #[error("a control character inside a string")]
    ControlCharacter,
    #[error("a string that is not UTF-8")]
    Utf8,
    /// RFC 8259 does not define what a duplicate key means.
    #[error("a key that appears twice in its object")]
    DuplicateKey,
    /// Nested deeper than any reasonable document.
    #[error("nested more than 128 deep")]
    TooDeep,
}

/// What differs between two JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the error messages describe the variants")]
pub enum JsonDifference {
    #[error("a value of another type")]
    Type,
    #[error("another truth value")]
    Boolean,
    #[error("another number")]
    Number,
    #[error("another string")]
    String,
    #[error("elements are missing")]
    ElementMissing,
    #[error("an element too many")]
    ElementExtra,
    #[error("a key is missing")]
    KeyMissing,
    #[error("a key that is not expected")]
    KeyExtra,
}

impl Fault {
    /// The class that counts it.
    pub fn class(&self) -> ErrorClass {
        match self {
            Fault::Connect(_) => ErrorClass::Connect,
            Fault::ConnectTimeout => ErrorClass::ConnectTimeout,
            Fault::Tls(_) => ErrorClass::Tls,
            Fault::Timeout => ErrorClass::Timeout,
            Fault::ClosedBeforeAnswer | Fault::ClosedInsideAnswer | Fault::ClosedWithoutNotice => ErrorClass::Closed,
            Fault::GoAway(_) => ErrorClass::Closed,
            Fault::Reset(_) | Fault::StreamReset(_) => ErrorClass::Reset,
            Fault::Malformed(_) | Fault::Http2(_) => ErrorClass::Malformed,
            Fault::BadStatus(_) => ErrorClass::BadStatus,
            Fault::BadBody(_) => ErrorClass::BadBody,
            Fault::Local { .. } => ErrorClass::Local,
        }
    }

    /// The fault of a failed step of connecting.
    pub(crate) fn of_connecting(doing: &'static str, errno: Errno) -> Fault {
        match errno {
            // connect(2) returns EAGAIN and EADDRNOTAVAIL when all local ports are in use.
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Fault::Local { doing, errno },
            Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Fault::Local { doing, errno },
            Errno::ACCESS | Errno::PERM | Errno::AFNOSUPPORT => Fault::Local { doing, errno },
            Errno::TIMEDOUT => Fault::ConnectTimeout,
            _ => Fault::Connect(errno),
        }
    }

    /// The fault of a failed send or receive on an established connection.
    pub(crate) fn of_exchange(doing: &'static str, errno: Errno) -> Fault {
        match errno {
            Errno::NOBUFS | Errno::NOMEM => Fault::Local { doing, errno },
            _ => Fault::Reset(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_own_machine_lacks_is_never_the_targets_fault() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL, Errno::AGAIN, Errno::NOBUFS, Errno::NOMEM] {
            assert_eq!(Fault::of_connecting("open a socket", errno).class(), ErrorClass::Local, "{errno:?}");
        }
        assert_eq!(Fault::of_exchange("send the request", Errno::NOMEM).class(), ErrorClass::Local);
    }

    #[test]
    fn refused_and_unreachable_and_timed_out_are_apart() {
        assert_eq!(Fault::of_connecting("connect", Errno::CONNREFUSED).class(), ErrorClass::Connect);
        assert_eq!(Fault::of_connecting("connect", Errno::HOSTUNREACH).class(), ErrorClass::Connect);
        assert_eq!(Fault::of_connecting("connect", Errno::TIMEDOUT).class(), ErrorClass::ConnectTimeout);
        assert_eq!(Fault::of_exchange("receive", Errno::CONNRESET).class(), ErrorClass::Reset);
        assert_eq!(Fault::of_exchange("send", Errno::PIPE).class(), ErrorClass::Reset);
    }

    #[test]
    fn a_fault_is_small_and_says_where_a_body_went_wrong() {
        assert!(size_of::<Fault>() <= 32, "{}", size_of::<Fault>());
        let fault = Fault::BadBody(BodyFault::DiffersInJson { at: 12, difference: JsonDifference::Number });
        assert_eq!(fault.to_string(), "the body is not the expected one: its JSON differs at byte 12: another number");
        let fault = Fault::BadBody(BodyFault::NotJson { at: 0, flaw: JsonFlaw::EndsEarly });
        assert_eq!(
            fault.to_string(),
            "the body is not the expected one: it is no JSON at byte 0: it ends in the middle"
        );
    }

    #[test]
    fn errors_of_http2_have_their_names() {
        assert_eq!(Http2Error(7).to_string(), "REFUSED_STREAM");
        assert_eq!(Http2Error(13).to_string(), "HTTP_1_1_REQUIRED");
        assert_eq!(Http2Error(0x1234).to_string(), "0x1234, which has no name");
    }

    #[test]
    fn class_names_are_those_of_the_record() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        }
    }
}
