//! A run of one virtual user whose end is a certain request and not an instant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_load::options::{Executor, ExpectBody, Options};
use tolok_load::record::Record;
use tolok_load::schedule::Phase;
use tolok_testkit::{Reply, Request, ScriptedServer};

/// The body every good answer has.
pub const BODY: &str = "hello";

/// Far longer than any test takes.
const ENDLESS: Duration = Duration::from_secs(3600);

/// What a test looks at.
pub struct Played {
    pub record: Record,
    pub server: ScriptedServer,
}

/// Options for a server: one user, no end, and the body compared.
pub fn options(server: &ScriptedServer) -> Options {
    let mut options = Options::new(&server.url("/hello")).unwrap();
    options.executor = Executor::ConstantVus { vus: 1, duration: ENDLESS };
    options.expect.body = ExpectBody::Exactly(BODY.into());
    options.timeout = ENDLESS;
    options.grace = Some(Duration::ZERO);
    options
}

/// Lets one user send as many requests as there are replies, and one more, which ends the run and is in flight then.
pub fn play(replies: Vec<Reply>) -> Played {
    play_with(replies, |_| {})
}

/// The same with other options.
pub fn play_with(replies: Vec<Reply>, change: impl FnOnce(&mut Options)) -> Played {
    let last = replies.len();
    play_script(move |request| replies.get(request.number).cloned(), last, change)
}

/// Plays a script until it has no reply, which must be at the request with the number `last`.
pub fn play_script(
    script: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    last: usize,
    change: impl FnOnce(&mut Options),
) -> Played {
    let stop = Arc::new(AtomicBool::new(false));
    let server = ScriptedServer::start({
        let stop = Arc::clone(&stop);
        move |request| {
            script(request).unwrap_or_else(|| {
                stop.store(true, Ordering::Relaxed);
                Reply::never()
            })
        }
    });
    let mut options = options(&server);
    change(&mut options);
    let record = tolok_load::run(&options, &stop, &mut |_| {}).unwrap();
    assert!(record.interrupted);
    assert_eq!(server.requests(), last + 1);
    check_account(&record);
    Played { record, server }
}

/// What holds in every record, whatever happened.
pub fn check_account(record: &Record) {
    let ledger = &record.ledger;
    assert!(ledger.closes(), "{ledger:?}");
    let drain = &record.drain;
    assert_eq!(ledger.in_flight_at_end, drain.good + drain.failed + drain.abandoned);
    let warm_up = &record.warm_up;
    assert_eq!(warm_up.sent, warm_up.good + warm_up.failed + warm_up.carried_over);
    let sums = |phase| {
        let rows = record.timeline.iter().filter(move |row| row.phase == phase);
        rows.fold((0, 0, 0), |sum, row| (sum.0 + row.sent, sum.1 + row.good, sum.2 + row.failed))
    };
    assert_eq!(sums(Phase::Measure), (ledger.sent, ledger.good, ledger.failed));
    assert_eq!(sums(Phase::WarmUp), (warm_up.sent, warm_up.good, warm_up.failed));
    let received: u64 =
        record.timeline.iter().filter(|row| row.phase == Phase::Measure).map(|row| row.received_bytes).sum();
    assert_eq!(received, record.received_bytes);
    assert_eq!(record.response_time.count, ledger.good);
    assert_eq!(record.service_time.count, ledger.good);
    assert_eq!(record.failure_time.count, ledger.failed);
    assert_eq!(record.lateness.count, ledger.sent);
    assert_eq!(record.connect_time.count, record.connections.opened);
    let json = serde_json::to_string(record).unwrap();
    assert_eq!(&serde_json::from_str::<Record>(&json).unwrap(), record);
}
