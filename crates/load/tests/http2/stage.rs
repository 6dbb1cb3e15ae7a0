//! Runs with a fixed number of requests.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{Executor, ExpectBody, Options, Protocol};
use tolok_load::record::Record;
use tolok_load::target::Target;
use tolok_testkit::{Act, Http2Server};

/// The body of every correct response.
pub const BODY: &str = "hello";

/// A correct response.
pub fn good() -> Act {
    Act::Answer(200, BODY.into())
}

/// Options for `iterations` requests by `users` users that share connections; bodies are compared.
pub fn options(server: &Http2Server, users: u32, streams_per_connection: u32, iterations: u64) -> Options {
    let mut options = Options::new("http://127.0.0.1/hello").unwrap();
    if let Some(address) = server.address {
        options.target = Target::parse(&format!("http://{address}/hello")).unwrap();
    }
    options.protocol = Protocol::Http2 { streams_per_connection };
    options.executor = Executor::SharedIterations { vus: users, iterations, max_duration: Duration::from_secs(3600) };
    options.requests[0].expect.body = ExpectBody::Exactly(BODY.as_bytes().into());
    options
}

/// Runs to the end.
pub fn play(options: &Options) -> Record {
    let record = tolok_load::run(options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let ledger = &record.ledger;
    assert!(ledger.closes(), "{ledger:?}");
    let drain = &record.drain;
    let ended = drain.good + drain.failed + drain.abandoned + drain.never_sent;
    assert_eq!(ledger.in_flight_at_end + ledger.unsent, ended);
    let whole = record.whole_run;
    assert!(whole.good <= whole.sent && whole.sent <= ledger.sent + drain.sent);
    record
}

/// The failures of each class.
pub fn failures<const N: usize>(classes: [(ErrorClass, u64); N]) -> BTreeMap<ErrorClass, u64> {
    BTreeMap::from(classes)
}

/// The message of the first failure of a class.
pub fn words(record: &Record, class: ErrorClass) -> &str {
    &record.error_examples.iter().find(|example| example.class == class).unwrap().text
}

/// The message of a run that could not start.
pub fn refusal(options: &Options) -> String {
    tolok_load::run(options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
}
