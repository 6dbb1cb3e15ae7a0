//! The certificate that the subjects of a session show.

use std::fs;
use std::io;
use std::path::Path;

use rcgen::{CertificateParams, KeyPair};

use crate::subject::TlsNames;

/// Makes a key (ECDSA, P-256) and a certificate that it signs itself. Servers give up their rights and read both all the same:
/// the key is worth nothing, as no one trusts it and it goes with the session.
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
