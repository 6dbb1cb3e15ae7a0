//! Which certificates the engine trusts; an untrusted target gets no request.

use tolok_load::options::{Options, Tls};

use crate::certificates::Certificates;
use crate::server::{Act, Conduct, TlsServer, answer, play, refusal};

fn server(certificates: Certificates) -> TlsServer {
    TlsServer::start(certificates, rustls::DEFAULT_VERSIONS, |_| Conduct::Serve(Act::Answer(answer(b"hello"))))
}

fn check_trusted(server: &TlsServer, options: &Options) {
    let record = play(options);
    assert_eq!((record.ledger.good, record.ledger.failed), (3, 0), "{:?}", record.error_examples);
    assert_eq!(server.requests(), 3);
}

fn check_refused(server: &TlsServer, options: &Options, text: &str) {
    let refusal = refusal(options);
    assert!(refusal.contains(text), "{refusal}");
    assert_eq!(server.requests(), 0);
}

#[test]
fn what_a_listed_authority_has_issued_is_trusted() {
    let server = server(Certificates::issued());
    check_trusted(&server, &server.options(3));
}

#[test]
fn a_listed_certificate_is_trusted_itself() {
    let server = server(Certificates::self_signed());
    check_trusted(&server, &server.options(3));
}

#[test]
fn another_authority_is_not_trusted() {
    let (server, other) = (server(Certificates::issued()), Certificates::issued());
    let mut options = server.options(3);
    options.tls.ca_file = Some(other.ca_file());
    check_refused(&server, &options, "is not trusted");
}

#[test]
fn the_machines_own_store_does_not_know_an_authority_made_for_a_test() {
    let server = server(Certificates::issued());
    let mut options = server.options(3);
    options.tls.ca_file = None;
    // The second is the message on a machine without a store.
    let refusal = refusal(&options);
    assert!(refusal.contains("is not trusted") || refusal.contains("no store of trusted"), "{refusal}");
    assert_eq!(server.requests(), 0);
}

#[test]
fn without_verification_everybody_is_trusted() {
    let server = server(Certificates::self_signed());
    let mut options = server.options(3);
    options.tls = Tls { verify: false, server_name: Some("other.example".to_owned()), ca_file: None };
    check_trusted(&server, &options);
}

#[test]
fn the_certificate_must_be_for_the_name_that_is_asked_for() {
    for certificates in [Certificates::issued(), Certificates::self_signed()] {
        let server = server(certificates);
        let mut options = server.options(3);
        options.tls.server_name = Some("other.example".to_owned());
        check_refused(&server, &options, "is for another name");
        options.tls.server_name = Some("localhost".to_owned());
        check_trusted(&server, &options);
    }
}

#[test]
fn a_file_that_holds_no_certificate_is_refused() {
    let server = server(Certificates::issued());
    let mut options = server.options(3);
    options.tls.ca_file = Some(server.certificates.file("nothing"));
    check_refused(&server, &options, "ca-file");
    options.tls.ca_file = Some("/does/not/exist.pem".into());
    check_refused(&server, &options, "/does/not/exist.pem");
}

#[test]
fn a_plain_target_has_no_use_for_these_options() {
    let mut options = Options::new("http://127.0.0.1:1/").unwrap();
    options.tls.verify = false;
    assert!(refusal(&options).contains("its URL must begin with https://"));
}
