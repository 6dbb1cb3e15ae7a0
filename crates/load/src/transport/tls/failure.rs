//! TLS failures, as the ledger counts them and as a run that cannot start reports them.

use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use crate::fault::{Fault, TlsFault};

#[derive(Debug)]
pub(crate) enum Failure {
    /// The socket failed.
    Socket(Errno),
    /// The stream ended before the handshake was complete.
    ClosedInHandshake,
    /// The target sent data before it got a request.
    Unasked,
    /// TLS itself failed.
    Tls(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Tls(error)
    }
}

impl Failure {
    /// The fault to count. `of_socket` maps a failed socket, whose meaning depends on the current operation.
    pub fn fault(&self, of_socket: impl Fn(Errno) -> Fault) -> Fault {
        match self {
            Failure::Socket(errno) => of_socket(*errno),
            Failure::ClosedInHandshake => Fault::Tls(TlsFault::ClosedInHandshake),
            Failure::Unasked => Fault::Malformed("bytes before the request"),
            Failure::Tls(error) => Fault::Tls(reason(error)),
        }
    }

    /// Why a run cannot start, with advice.
    pub fn explain(&self) -> String {
        let advice = match self {
            Failure::Tls(Error::InvalidCertificate(error)) => match of_certificate(error) {
                TlsFault::UnknownIssuer => {
                    "; give the file of its authority, or of the certificate itself, with --ca-file, or accept any (--insecure)"
                }
                TlsFault::OtherName => "; use one of its names, or give it with --server-name",
                TlsFault::Certificate => {
                    "; if the target has signed it itself, give its file with --ca-file, or accept any (--insecure)"
                }
                _ => "",
            },
            Failure::Tls(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
                "; leave out --http2 if it speaks HTTP/1.1 only"
            }
            Failure::Tls(Error::InvalidMessage(_)) => "; if it speaks plain HTTP, begin the URL with http://",
            _ => "",
        };
        let what = match self {
            Failure::Socket(errno) => errno.to_string(),
            Failure::ClosedInHandshake | Failure::Unasked => self.fault(Fault::Reset).to_string(),
            // rustls reports names and dates, for which a fault has no room.
            Failure::Tls(error) => format!("{} ({error})", reason(error)),
        };
        format!("{what}{advice}")
    }
}

fn reason(error: &Error) -> TlsFault {
    match error {
        Error::InvalidCertificate(error) => of_certificate(error),
        Error::AlertReceived(alert) => TlsFault::Alert(alert.as_str().unwrap_or("that has no name")),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge
            | InvalidMessage::InvalidEmptyPayload,
        ) => TlsFault::NotTls,
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => TlsFault::NothingInCommon,
        _ => TlsFault::Protocol,
    }
}

fn of_certificate(error: &CertificateError) -> TlsFault {
    match error {
        // BadSignature: an authority with the same name but another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFault::UnknownIssuer,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFault::OtherName,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsFault::Dates,
        _ => TlsFault::Certificate,
    }
}
