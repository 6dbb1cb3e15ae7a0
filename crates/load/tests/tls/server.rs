//! A scripted TLS server.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use tolok_load::options::{Executor, Options};
use tolok_load::record::Record;

use crate::certificates::Certificates;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers.
    Answer(Vec<u8>),
    /// Answers, then updates its keys, a message without data.
    AnswerAndChangeKeys(Vec<u8>),
    /// Answers, and ends the stream with close_notify.
    AnswerAndClose(Vec<u8>),
    /// The same, but keeps the connection open until the client closes it.
    AnswerAndSayClose(Vec<u8>),
    /// Answers, and ends the stream without close_notify.
    AnswerAndCut(Vec<u8>),
}

/// What the server does with a connection.
#[derive(Debug, Clone)]
pub enum Conduct {
    /// TLS, with this reaction to each request.
    Serve(Act),
    /// Reads the client's first bytes and closes.
    HangUp,
    /// Reads the client's first bytes and replies with these bytes.
    Say(&'static [u8]),
    /// Never sends anything.
    Silence,
}

/// A server on 127.0.0.1 and a free port.
pub struct TlsServer {
    pub address: SocketAddr,
    pub certificates: Certificates,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
}

type Script = dyn Fn(usize) -> Conduct + Send + Sync;

impl TlsServer {
    /// Treats all connections the same.
    pub fn serving(act: Act) -> TlsServer {
        TlsServer::start(Certificates::issued(), rustls::DEFAULT_VERSIONS, move |_| Conduct::Serve(act.clone()))
    }

    pub fn start(
        certificates: Certificates,
        versions: &[&'static SupportedProtocolVersion],
        script: impl Fn(usize) -> Conduct + Send + Sync + 'static,
    ) -> TlsServer {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap().with_no_client_auth();
        let mut config = builder.with_single_cert(certificates.chain.clone(), certificates.key.clone_key()).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = TlsServer {
            address: listener.local_addr().unwrap(),
            certificates,
            connections: Arc::default(),
            requests: Arc::default(),
            stopping: Arc::default(),
        };
        let (connections, requests) = (Arc::clone(&server.connections), Arc::clone(&server.requests));
        let (stopping, config, script) = (Arc::clone(&server.stopping), Arc::new(config), Arc::new(script));
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if stopping.load(Ordering::Relaxed) {
                    return;
                }
                let number = connections.fetch_add(1, Ordering::Relaxed);
                let (config, requests, script) = (Arc::clone(&config), Arc::clone(&requests), Arc::clone(&script));
                thread::spawn(move || converse(socket, config, &requests, &*script, number));
            }
        });
        server
    }

    /// Options for `iterations` requests of one user, who trusts the right authority.
    pub fn options(&self, iterations: u64) -> Options {
        let mut options = Options::new(&format!("https://{}/", self.address)).unwrap();
        let max_duration = Duration::from_secs(3600);
        options.executor = Executor::SharedIterations { vus: 1, iterations, max_duration };
        options.tls.ca_file = Some(self.certificates.ca_file());
        options
    }

    /// Accepted connections, without the initial probe.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed) - 1
    }

    /// Requests received.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Runs to the end.
pub fn play(options: &Options) -> Record {
    let record = tolok_load::run(options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(record.ledger.closes(), "{:?}", record.ledger);
    record
}

/// The message of a run that could not start.
pub fn refusal(options: &Options) -> String {
    tolok_load::run(options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
}

/// An answer that keeps the connection open.
pub fn answer(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// An answer whose body ends with the stream.
pub fn answer_until_close(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes()
}

fn converse(mut socket: TcpStream, config: Arc<ServerConfig>, requests: &AtomicUsize, script: &Script, number: usize) {
    match script(number) {
        Conduct::Serve(act) => serve(StreamOwned::new(ServerConnection::new(config).unwrap(), socket), requests, &act),
        Conduct::HangUp => drop(socket.read(&mut [0; 4096])),
        Conduct::Say(bytes) => {
            let _ = socket.read(&mut [0; 4096]).and_then(|_| socket.write_all(bytes));
            let _ = socket.shutdown(Shutdown::Write);
            wait_for_end(&mut socket);
        }
        Conduct::Silence => wait_for_end(&mut socket),
    }
}

fn serve(mut stream: StreamOwned<ServerConnection, TcpStream>, requests: &AtomicUsize, act: &Act) {
    while read_request(&mut stream).is_some() {
        requests.fetch_add(1, Ordering::Relaxed);
        let (Act::Answer(answer)
        | Act::AnswerAndChangeKeys(answer)
        | Act::AnswerAndClose(answer)
        | Act::AnswerAndSayClose(answer)
        | Act::AnswerAndCut(answer)) = act;
        if stream.write_all(answer).and_then(|()| stream.flush()).is_err() {
            return;
        }
        match act {
            Act::Answer(_) => continue,
            Act::AnswerAndChangeKeys(_) => {
                stream.conn.refresh_traffic_keys().unwrap();
                stream.flush().unwrap();
                continue;
            }
            Act::AnswerAndClose(_) | Act::AnswerAndSayClose(_) => {
                stream.conn.send_close_notify();
                stream.flush().unwrap();
            }
            Act::AnswerAndCut(_) => {}
        }
        if !matches!(act, Act::AnswerAndSayClose(_)) {
            let _ = stream.sock.shutdown(Shutdown::Write);
        }
        return wait_for_end(&mut stream.sock);
    }
}

/// Reads a request with its body; `None` at the end of the stream.
fn read_request(stream: &mut impl Read) -> Option<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let bytes = stream.read(&mut buffer).ok().filter(|bytes| *bytes > 0)?;
        request.extend_from_slice(&buffer[..bytes]);
        let Some(head) = request.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
        let announced = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let body: usize = announced.map_or(0, |length| length.parse().unwrap());
        if request.len() >= head + 4 + body {
            return Some(());
        }
    }
}

fn wait_for_end(socket: &mut TcpStream) {
    while matches!(socket.read(&mut [0; 4096]), Ok(1..)) {}
}
