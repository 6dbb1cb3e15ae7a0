//! A node that generates load for a block on another node. It stands by while the block runs. Each of the block's trials connects to
//! it, and a process of the load engine serves the connection.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{Builder, sleep};

use tolok_host::guard::Guard;
use tolok_host::isolate::{Placement, place, refuse_people};
use tolok_host::machine::Machine;
use tolok_load::generators::{admits, serve};
use tolok_model::MachineSummary;

use super::protocol::{BlockJob, Elsewhere, GeneratorAlive, Word};
use super::work::{FIRST_BEAT_LIMIT, RUN_SILENCE_LIMIT};
use crate::run::machine_summary;
use crate::run::run_plan::on_slurm::BEAT;
use crate::run::slurm::{own_address, this_node};

/// The hidden verb of the load engine that serves a connection.
const VERB: &str = "load-part";

/// Stands by until the block is over or the run is gone.
pub(super) fn stand_by(job: &BlockJob, apart: &Elsewhere, number: u32, words: &Receiver<Word>) -> io::Result<()> {
    let listener = TcpListener::bind((own_address()?, 0))?;
    let alive = alive(number, listener.local_addr()?)?;
    Builder::new().spawn(move || {
        loop {
            // A single write, because lines of other nodes go to the same stream.
            let _ = io::stderr().write_all(alive.as_bytes());
            sleep(BEAT);
        }
    })?;
    let (tolok, token) = (job.laboratory.tolok.clone(), apart.token.clone());
    Builder::new().spawn(move || {
        for socket in listener.incoming().flatten() {
            let (tolok, token) = (tolok.clone(), token.clone());
            // A silent client must not keep others waiting.
            let _ = Builder::new().spawn(move || {
                if admits(&socket, &token).unwrap_or(false) {
                    let _ = start(Command::new(&tolok), socket).and_then(|mut child| child.wait());
                }
            });
        }
    })?;
    let mut patience = FIRST_BEAT_LIMIT;
    loop {
        match words.recv_timeout(patience) {
            Ok(Word::Beat) => patience = RUN_SILENCE_LIMIT,
            Ok(Word::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return Err(io::Error::other("the run says nothing any more")),
        }
    }
}

/// The line that reports this node as alive.
fn alive(number: u32, address: SocketAddr) -> io::Result<String> {
    let name = this_node().map(|node| node.name).ok_or_else(|| io::Error::other("this is no node of Slurm"))?;
    // Remarks are long, and only those of the server's node matter.
    let machine = MachineSummary { remarks: Vec::new(), ..machine_summary(&Machine::read()) };
    Ok(serde_json::to_string(&GeneratorAlive { number, name, address, machine })? + "\n")
}

/// Lets a process of the load engine serve a connection. The process ends with the connection.
fn start(mut command: Command, socket: TcpStream) -> io::Result<std::process::Child> {
    command.arg(VERB).stdin(OwnedFd::from(socket)).stdout(Stdio::null());
    let guard = Some(Guard::of_engine());
    place(&mut command, &Placement { dies_with_parent: true, guard, ..Placement::default() })?;
    command.spawn()
}

/// The process of the load engine that serves a connection: the hidden verb `load-part`.
pub fn run_load_part() -> io::Result<()> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let socket = TcpStream::from(socket);
    // Refuses a person, whose standard input is a terminal or a file.
    socket.peer_addr().map_err(|_| refuse_people(VERB))?;
    serve(&socket)
}
