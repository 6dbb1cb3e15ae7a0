//! Test certificates: an authority and a certificate that it issued for `localhost` and 127.0.0.1.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;

/// Certificate files, and what a server needs to present one of them.
pub struct Certificates {
    folder: TempDir,
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

impl Certificates {
    /// Issued by an authority of this test.
    pub fn issued() -> Certificates {
        let (authority_key, mut authority) = (KeyPair::generate().unwrap(), CertificateParams::default());
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = authority.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = names().signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
        Certificates::new(&root.pem(), certificate.der(), &key)
    }

    /// Self-signed, marked as an authority's, as `openssl req -x509` makes it.
    pub fn self_signed() -> Certificates {
        let (key, mut params) = (KeyPair::generate().unwrap(), names());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Certificates::new(&certificate.pem(), certificate.der(), &key)
    }

    fn new(pem: &str, certificate: &CertificateDer<'static>, key: &KeyPair) -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), pem).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        Certificates { folder, chain: vec![certificate.clone()], key }
    }

    /// The file that a client should trust.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Another file in the same folder.
    pub fn file(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("other.pem");
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn names() -> CertificateParams {
    CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap()
}
