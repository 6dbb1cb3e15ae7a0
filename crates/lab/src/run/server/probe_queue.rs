//! Requests to a subject from threads of their own, beside the load or all at once.
//!
//! Only the trial's thread holds the box, and only the box can connect into its network. So an asking thread
//! orders its connections from the trial's thread, which serves the orders whenever it gets to it.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;
use crate::subject::{Answer, ProbeError, ProbeTarget, Question, Speech, ask_while};
use tolok_host::isolate::TrialBox;
use tolok_host::machine;

/// Connecting takes microseconds; a server that does not accept within this time is not listening.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// An order for a connection: the channel to deliver it on.
type Order = Sender<io::Result<TcpStream>>;

/// A running subject, and the stop that ends waiting for it.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct Server<'a> {
    pub(in crate::run) address: SocketAddr,
    pub(in crate::run) speech: Speech,
    pub(in crate::run) stop: &'a Stop,
}

/// Sends requests to a subject from any thread.
#[derive(Debug, Clone)]
pub(in crate::run) struct Asker {
    address: SocketAddr,
    speech: Speech,
    stop: Stop,
    orders: Sender<Order>,
}

/// The orders of all askers, for the thread that holds the box.
#[derive(Debug)]
pub(in crate::run) struct Orders {
    address: SocketAddr,
    orders: Receiver<Order>,
}

/// An asker of a subject, and its orders.
pub(in crate::run) fn asker(server: Server<'_>) -> (Asker, Orders) {
    let (Server { address, speech, stop }, (sender, receiver)) = (server, channel());
    (Asker { address, speech, stop: stop.clone(), orders: sender }, Orders { address, orders: receiver })
}

impl Asker {
    /// Sends one request, as [`ask_while`] does. Fails if the trial is over.
    pub(in crate::run) fn ask(&self, method: &str, path: &str, patience: Duration) -> Result<Answer, ProbeError> {
        let over = || io::Error::other("the trial is over");
        let connect = |_: SocketAddr, _: Duration| {
            let (deliver, delivery) = channel();
            self.orders.send(deliver).map_err(|_| over())?;
            delivery.recv().map_err(|_| over())?
        };
        let server = ProbeTarget { address: self.address, connect: &connect, speech: self.speech };
        ask_while(server, Question::plain(method, path), patience, &|| !self.stop.is_immediate())
    }
}

impl Orders {
    /// Serves pending orders, and waits up to `patience` for more.
    pub(in crate::run) fn serve(&self, trial_box: &mut TrialBox, patience: Duration) {
        let until = Instant::now() + patience;
        while let Ok(order) = self.orders.recv_timeout(until.saturating_duration_since(Instant::now())) {
            // The caller may have stopped waiting.
            let _ = order.send(trial_box.connect(self.address, CONNECT_LIMIT));
        }
    }

    /// Serves all orders until every asker is gone.
    fn serve_all(&self, trial_box: &mut TrialBox) {
        while let Ok(order) = self.orders.recv() {
            let _ = order.send(trial_box.connect(self.address, CONNECT_LIMIT));
        }
    }
}

/// Sends `count` requests, `at_once` of them concurrently, and returns the answers in the order of the requests. After an
/// unanswered request it sends no more: a hanging subject would cost the time limit for every request.
pub(in crate::run) fn ask_at_once(
    trial_box: &mut TrialBox,
    server: Server<'_>,
    (count, at_once): (usize, usize),
    patience: Duration,
    question: &(dyn Fn(usize) -> (String, String) + Sync),
) -> Result<Vec<Result<Answer, ProbeError>>, TrialError> {
    let (asker, orders) = asker(server);
    let (next, is_silent) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = |asker: Asker| {
        let mut answered = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || is_silent.load(Ordering::Relaxed) {
                return answered;
            }
            let (method, path) = question(number);
            let answer = asker.ask(&method, &path, patience);
            is_silent.fetch_or(answer.is_err(), Ordering::Relaxed);
            answered.push((number, answer));
        }
    };
    let mut answers: Vec<_> = std::thread::scope(|scope| {
        let askers: Vec<Asker> = (0..at_once).map(|_| asker.clone()).collect();
        let start = |asker| Builder::new().spawn_scoped(scope, || work(asker)).map_err(|error| no_thread(&error));
        let threads = askers.into_iter().map(start).collect::<Result<Vec<_>, TrialError>>();
        // The threads that did start should not continue.
        is_silent.fetch_or(threads.is_err(), Ordering::Relaxed);
        drop(asker);
        orders.serve_all(trial_box);
        let threads = threads?.into_iter();
        Ok::<_, TrialError>(threads.flat_map(|thread| thread.join().unwrap_or_default()).collect())
    })?;
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// The system refuses more threads, which is not a failure of the subject.
pub(in crate::run) fn no_thread(error: &io::Error) -> TrialError {
    TrialError::lab(format!("the system starts no more threads: {}", machine::not_started(error)))
}
