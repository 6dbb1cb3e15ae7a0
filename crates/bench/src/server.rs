//! The server under load, and its counts. Each measurement gets a fresh ceiling, so no state carries over.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tolok_bench::error::{BenchError, failed};

use crate::child::{Placed, spawn};
use crate::measure::Place;
use crate::stall::Log;

#[derive(Debug)]
pub struct Server {
    placed: Placed,
    told: BufReader<ChildStdout>,
    pub port: u16,
}

/// What the server has answered so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Answers completely handed to the kernel, including refusals.
    pub answers: u64,
    /// Requests for anything that is not served.
    pub refusals: u64,
    pub connections: u64,
}

impl Server {
    pub fn ceiling(place: &Place) -> Result<Server, BenchError> {
        let mut command = Command::new(&place.ceiling);
        command.args(["--port", "0", "--threads", "1", "--counts", "--assets"]).arg(place.folder.join("assets"));
        Server::start(command, place.server_cpu)
    }

    /// Starts a server that prints its address and answers each line with its counts. It is listening when this returns.
    pub fn start(mut command: Command, cpu: u32) -> Result<Server, BenchError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut placed = spawn(&mut command, cpu).map_err(failed(format!("run {program}")))?;
        let (stdout, stderr) = (placed.child.stdout.take(), placed.child.stderr.take());
        let (stdout, stderr) = stdout.zip(stderr).expect("both are pipes");
        let mut log = BufReader::new(stderr);
        let mut line = String::new();
        let failed = |reason: String| BenchError::Server { did: "did not start", reason };
        log.read_line(&mut line).map_err(|error| failed(error.to_string()))?;
        let Some(port) = port(&line) else {
            // It has ended, or ends now.
            placed.kill();
            let _ = log.read_to_string(&mut line);
            return Err(failed(line.trim().to_owned()));
        };
        Ok(Server { placed, told: BufReader::new(stdout), port })
    }

    /// Requests its log. The ceiling reports only its counts.
    pub fn log(&mut self) -> Result<Log, BenchError> {
        let failed = |reason: String| BenchError::Server { did: "told no counts", reason };
        let stdin = self.placed.child.stdin.as_mut().expect("standard input is a pipe");
        stdin.write_all(b"\n").map_err(|error| failed(error.to_string()))?;
        let mut line = String::new();
        self.told.read_line(&mut line).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&line).map_err(|error| failed(format!("{error} in {line:?}")))
    }

    /// Whether it has the highest priority on its CPU.
    pub fn is_raised(&self) -> bool {
        self.placed.is_raised()
    }

    /// Ends it and returns its CPU time.
    pub fn stop(self) -> Result<Duration, BenchError> {
        self.placed.kill();
        let ended = self.placed.reap().map_err(failed("wait for the server"))?;
        Ok(ended.user + ended.system)
    }
}

/// Parses lines such as `ceiling: listening on 127.0.0.1:18080, 1 threads, /hello`.
fn port(line: &str) -> Option<u16> {
    line.split_once("127.0.0.1:")?.1.split_once(',')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_in_the_first_line() {
        assert_eq!(port("ceiling: listening on 127.0.0.1:18080, 1 threads, /hello\n"), Some(18080));
        assert_eq!(port("ceiling: /a holds none of hello\n"), None);
    }

    #[test]
    fn a_server_that_does_not_start_gives_its_reason() {
        let error =
            Server::start(Command::new("/bin/ls"), tolok_host::machine::Machine::read().allowed_cpus[0]).unwrap_err();
        assert!(error.to_string().contains("did not start: "), "{error}");
    }
}
