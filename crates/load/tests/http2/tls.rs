//! HTTP/2 over TLS, where the target has to select it.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tolok_load::options::{ExpectBody, Options};
use tolok_testkit::{Act, Http2Server};

use crate::stage::{options, play, refusal};

/// A server that offers these protocols, and options for a client that does not verify its certificate.
fn serving(protocols: &[&str], body: &[u8], versions: &[&'static rustls::SupportedProtocolVersion]) -> Played {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(versions).unwrap().with_no_client_auth();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let answer = Act::Answer(200, body.to_vec().into());
    let server = Http2Server::with(u32::MAX, Some(config), move |_| answer.clone());
    let mut options = options(&server, 4, 2, 40);
    options.target = tolok_load::target::Target::parse(&format!("https://{}/hello", server.address.unwrap())).unwrap();
    options.tls.verify = false;
    options.requests[0].expect.body = ExpectBody::Exactly(body.into());
    Played { server, options }
}

struct Played {
    server: Http2Server,
    options: Options,
}

#[test]
fn answers_small_and_large_come_through_every_version() {
    let large: Vec<u8> = (0..700_000_u32).map(|number| (number % 249) as u8).collect();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for body in [b"hello".as_slice(), &large] {
            let Played { server, options } = serving(&["h2", "http/1.1"], body, &[version]);
            let record = play(&options);
            assert_eq!((record.ledger.good, record.ledger.failed), (40, 0), "{:?}", record.error_examples);
            assert_eq!((record.connections.opened, server.connections()), (2, 2));
        }
    }
}

#[test]
fn a_target_that_does_not_choose_http2_is_refused_in_one_sentence() {
    // A server without ALPN ignores what the client offers.
    let Played { options, server: _server } = serving(&[], b"hello", rustls::DEFAULT_VERSIONS);
    let refused = refusal(&options);
    assert!(refused.starts_with("agree on HTTP/2 with the target at 127.0.0.1:"), "{refused}");
    assert!(refused.ends_with("it does not choose it in TLS's handshake (h2 by ALPN); leave out --http2"), "{refused}");
}
