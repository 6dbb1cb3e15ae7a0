//! The certificates to trust, and the settings shared by all connections of a run.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientConnection, Resumption, UnbufferedClientConnection, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use super::listed::Listed;
use super::unverified::Unverified;
use crate::error::LoadError;
use crate::options::{Options, Protocol};

/// The application protocols of the engine; a run offers one of them.
const HTTP_1_1: &[u8] = b"http/1.1";
pub(crate) const HTTP_2: &[u8] = b"h2";

/// The settings shared by all TLS connections of a run.
#[derive(Debug, Clone)]
pub(crate) struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    /// The settings for a target, or `None` without TLS.
    pub fn of(options: &Options) -> Result<Option<TlsClient>, LoadError> {
        if !options.target.is_secure() {
            return Ok(None);
        }
        let host = options.tls.server_name.as_deref().unwrap_or(options.target.host());
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| refused("server-name", format!("`{host}` is neither a DNS name nor an address")))?;
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match &options.tls.ca_file {
            _ if !options.tls.verify => Arc::new(Unverified::new(&provider)),
            Some(path) => listed(path, &provider)?,
            None => machines_own(&provider)?,
        };
        let is_http2 = matches!(options.protocol, Protocol::Http2 { .. });
        Ok(Some(TlsClient { config: Arc::new(config(provider, verifier, is_http2)), name }))
    }

    /// The state of a new connection.
    pub fn connection(&self) -> Result<UnbufferedClientConnection, rustls::Error> {
        UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }
}

fn config(provider: Arc<CryptoProvider>, verifier: Arc<dyn ServerCertVerifier>, is_http2: bool) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has ciphers for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![if is_http2 { HTTP_2.to_vec() } else { HTTP_1_1.to_vec() }];
    // wrk does full handshakes too. A store for tickets would also be a lock shared by all threads.
    config.resumption = Resumption::disabled();
    config
}

/// A probe's connection. It trusts every certificate, because the prober started the server itself.
pub(crate) fn probing(address: IpAddr, is_http2: bool) -> Result<ClientConnection, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Unverified::new(&provider));
    ClientConnection::new(Arc::new(config(provider, verifier, is_http2)), ServerName::IpAddress(address.into()))
}

/// Trusts the machine's store of authorities. A list inside the binary would become outdated and would lack an organisation's own
/// authority.
fn machines_own(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        let reason = format!("this machine has no store of trusted certificates{why}; install one, or give a file");
        return Err(refused("ca-file", reason));
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    verifier.map(|verifier| verifier as _).map_err(|error| refused("ca-file", error.to_string()))
}

/// Trusts only the certificates of a file.
fn listed(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let unusable = |reason: String| refused("ca-file", format!("{}: {reason}", path.display()));
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(certificates.iter().cloned());
    if usable < certificates.len() || usable == 0 {
        return Err(unusable(format!("{usable} of its {} certificates can be used", certificates.len())));
    }
    let issued = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    let issued = issued.map_err(|error| unusable(error.to_string()))?;
    Ok(Arc::new(Listed::new(certificates, issued)))
}

fn refused(option: &'static str, reason: String) -> LoadError {
    LoadError::Option { option, reason }
}
