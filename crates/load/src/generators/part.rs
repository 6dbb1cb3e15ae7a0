//! A generator's own side: it does its part of a run and reports.

use std::io::{self, BufReader, Read};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use super::BEAT;
use super::protocol::{Order, Told, Voice, Work, next};
use crate::clock::{Clock, MonotonicNs, SystemClock};
use crate::engine::Run;
use crate::error::LoadError;
use crate::schedule::{Share, Span};
use crate::stop::Stop;
use crate::threads::{Message, give_back, spawn};
use crate::{Prepared, prepare};

/// A run that is silent for this long is considered gone.
const RUN_SILENCE_LIMIT: Duration = Duration::from_secs(10);

/// Whether the first line from the run at the other end is the token.
pub fn admits(socket: &TcpStream, token: &str) -> io::Result<bool> {
    socket.set_read_timeout(Some(RUN_SILENCE_LIMIT))?;
    // Reads no further byte: another process reads what follows.
    let mut said = vec![0; token.len() + 1];
    { socket }.read_exact(&mut said)?;
    // Compares every byte, so the time does not reveal how many were right. The peer cannot choose the length.
    let differing = said.iter().zip(token.bytes().chain([b'\n'])).fold(0, |found, (one, other)| found | (one ^ other));
    Ok(differing == 0)
}

/// Does its part of the run at the other end, until the connection closes or is silent for too long.
pub fn serve(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(RUN_SILENCE_LIMIT))?;
    let (run, mut orders) = (&Voice::of(socket)?, BufReader::new(socket));
    let (done, is_done) = channel();
    thread::scope(|scope| {
        // Starts before the work: reaching the target may take a while.
        Builder::new().spawn_scoped(scope, move || beat(run, &is_done))?;
        let served = match next(&mut orders) {
            Ok(Order::Work(work)) => work_on(&work, run, &mut orders),
            _ => Err(io::ErrorKind::InvalidData.into()),
        };
        drop(done);
        served
    })
}

/// Sends heartbeats until the work is done.
fn beat(run: &Voice, is_done: &Receiver<()>) {
    while is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
        run.say(&Told::Beat);
    }
}

fn work_on(work: &Work, run: &Voice, orders: &mut BufReader<&TcpStream>) -> io::Result<()> {
    let options = &work.options;
    let prepared = match prepare(options) {
        Ok(prepared) => prepared,
        Err(error) => {
            run.say(&Told::Failed(error.to_string()));
            return Ok(());
        }
    };
    let Prepared { connector, congestion_control, most_connections, most_lingering } = prepared;
    run.say(&Told::Ready { congestion_control });
    let asked = AtomicBool::new(false);
    let (stop, iterations) = (Stop::new(&asked, Duration::ZERO), Arc::new(AtomicU64::new(work.iterations)));
    let (connector, iterations, stop) = (&connector, &iterations, &stop);
    let job = Run { options, connector, stop, iterations, most_connections, most_lingering };
    thread::scope(|scope| {
        loop {
            match next(orders) {
                Ok(Order::Ping) => run.say(&Told::Pong { at: SystemClock.now() }),
                Ok(Order::Start { at }) => {
                    let (job, first) = (&job, work.first);
                    Builder::new().spawn_scoped(scope, move || generate(job, first, at, run))?;
                }
                Ok(Order::StopAt { at }) => stop.set(at.max(SystemClock.now())),
                Ok(Order::Beat) => {}
                Ok(Order::Work(_)) | Err(_) => break,
            }
        }
        // The run has ended, or its connection was lost.
        stop.abort();
        Ok(())
    })
}

/// Runs the threads of this machine from an instant on, and forwards their messages.
fn generate(job: &Run<'_>, first: Share, start: MonotonicNs, run: &Voice) {
    let span = Span::new(start, job.options.warm_up, job.options.executor.window());
    let (messages, told) = channel();
    let ran: Result<(), LoadError> = thread::scope(|scope| {
        let spares = spawn(scope, job, first, span, messages)?;
        for (thread, message) in told {
            match message {
                Message::Row(row) => {
                    let told = Told::Row { thread, row };
                    run.say(&told);
                    let Told::Row { row, .. } = told else { continue };
                    give_back(&spares, thread, Some(row));
                }
                Message::Border(border) => run.say(&Told::Border { thread, border }),
                Message::Ended(Ok(outcome)) => run.say(&Told::Ended { thread, outcome }),
                Message::Ended(Err(error)) => return Err(error),
            }
        }
        Ok(())
    });
    if let Err(error) = ran {
        job.stop.abort();
        run.say(&Told::Failed(error.to_string()));
    }
}
