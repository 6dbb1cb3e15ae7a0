//! The TLS certificate of a session's subjects.

use std::fs;
use std::io;
use std::path::Path;

use rcgen::{CertificateParams, KeyPair};

use crate::subject::TlsNames;

/// Makes a key (ECDSA, P-256) and a self-signed certificate. Both are world-readable, because servers read them after dropping
/// their privileges. That is safe: nobody trusts the key, and it is deleted with the session.
pub(super) fn make_certificate(folder: &Path) -> io::Result<TlsNames> {
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let params = CertificateParams::new(["localhost".to_owned()]).map_err(io::Error::other)?;
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map(|()| path.display().to_string())
    };
    Ok(TlsNames {
        certificate: write("certificate.pem", certificate.pem())?,
        key: write("key.pem", key.serialize_pem())?,
    })
}
