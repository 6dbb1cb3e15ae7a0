//! A server that answers by a script. One thread per connection and blocking calls: slow, but easy to reason about.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::reply::{Reply, Step};
use crate::stream::{Listener, Place, Stream};

/// A request, for the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Number of the connection, from 0 in order of acceptance.
    pub connection: usize,
    /// Number of the request on its connection, from 0.
    pub request: usize,
    /// Number of the request on the server, from 0.
    pub number: usize,
    pub head: String,
    /// The body, as long as `Content-Length` says.
    pub body: Vec<u8>,
}

impl Request {
    /// The request's path, with its query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of a header; its name is not case-sensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

/// State shared by all threads of a server.
struct Shared {
    script: Box<Script>,
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Default)]
struct State {
    stopping: bool,
    connections: usize,
    requests: usize,
    completed: usize,
    by_connection: Vec<usize>,
    peers: Vec<IpAddr>,
    /// Streams of open connections, so that stopping can end them.
    open: HashMap<usize, Stream>,
    threads: Vec<JoinHandle<()>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A script that panics fails its own test; the counts are plain numbers and remain valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server on 127.0.0.1 and a free port, or on a socket in the file system. Dropping it ends all its connections and
/// threads.
pub struct ScriptedServer {
    place: Place,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl ScriptedServer {
    /// Starts a server that handles each request by the script.
    pub fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> ScriptedServer {
        ScriptedServer::on(Listener::on_loopback(), script)
    }

    /// The same on a socket in the file system.
    pub fn on_unix_socket(path: &Path, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> ScriptedServer {
        ScriptedServer::on(Listener::on_path(path), script)
    }

    fn on(listener: Listener, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> ScriptedServer {
        let place = listener.place();
        let (state, stopped) = (Mutex::new(State::default()), Condvar::new());
        let shared = Arc::new(Shared { script: Box::new(script), state, stopped });
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept_all(&listener, &shared)
        });
        ScriptedServer { place, shared, acceptor: Some(acceptor) }
    }

    /// Starts a server that answers every request with `200 OK` and this body.
    pub fn answering(body: &'static str) -> ScriptedServer {
        ScriptedServer::start(move |_| Reply::ok(body))
    }

    /// Its address. Panics for a socket in the file system.
    pub fn address(&self) -> SocketAddr {
        match &self.place {
            Place::Inet(address) => *address,
            Place::Unix(path) => panic!("a server on {} has no address", path.display()),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Complete requests received so far.
    pub fn requests(&self) -> usize {
        self.shared.state().requests
    }

    /// Replies performed to their last step.
    pub fn completed(&self) -> usize {
        self.shared.state().completed
    }

    /// Requests received on each connection, in the order of acceptance.
    pub fn requests_by_connection(&self) -> Vec<usize> {
        self.shared.state().by_connection.clone()
    }

    /// Source addresses of the connections, in the order of acceptance.
    pub fn peers(&self) -> Vec<IpAddr> {
        self.shared.state().peers.clone()
    }

    /// Ends all connections and the listener, and waits for the threads.
    pub fn stop(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.shared.state().stopping = true;
        self.shared.stopped.notify_all();
        // Accepting blocks until a connection arrives; this one wakes it.
        self.place.knock();
        let _ = acceptor.join();
        let threads = {
            let mut state = self.shared.state();
            state.open.values().for_each(Stream::shutdown);
            std::mem::take(&mut state.threads)
        };
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept_all(listener: &Listener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        let mut state = shared.state();
        if state.stopping {
            return;
        }
        // A connection that closed before it was accepted does not count.
        let Ok((stream, peer)) = accepted else { continue };
        let Ok(watched) = stream.try_clone() else { continue };
        let connection = state.connections;
        state.connections += 1;
        state.by_connection.push(0);
        state.peers.push(peer);
        state.open.insert(connection, watched);
        let shared = Arc::clone(shared);
        state.threads.push(thread::spawn(move || {
            // Scripts cause errors on purpose; tests look at the client's side of them.
            let _ = serve(stream, connection, &shared);
        }));
    }
}

/// Serves one connection until either side ends it.
fn serve(mut stream: Stream, connection: usize, shared: &Shared) -> io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut request = 0;
    let mut open = true;
    while open && let Some(head) = read_head(&mut input)? {
        let length = header(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let number = {
            let mut state = shared.state();
            state.requests += 1;
            state.by_connection[connection] += 1;
            state.requests - 1
        };
        let reply = (shared.script)(&Request { connection, request, number, head, body });
        open = perform(&mut stream, &mut input, reply, shared)?;
        shared.state().completed += 1;
        request += 1;
    }
    // The watched copy must be dropped too, or the socket stays open.
    let watched = shared.state().open.remove(&connection);
    drop((watched, input, stream));
    Ok(())
}

fn header<'head>(head: &'head str, name: &str) -> Option<&'head str> {
    let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The head of the next request, or `None` at the end of the stream.
pub fn read_head(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if input.read_line(&mut head)? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(head))
}

/// Performs a reply; returns false if the connection must be closed.
fn perform(stream: &mut Stream, input: &mut impl Read, reply: Reply, shared: &Shared) -> io::Result<bool> {
    for step in reply.steps {
        match step {
            Step::Write(bytes) => stream.write_all(&bytes)?,
            Step::Dribble(bytes) => bytes.iter().try_for_each(|byte| stream.write_all(&[*byte]))?,
            Step::Wait(delay) => wait(delay, shared),
            Step::Hang => {
                // Ends when the client or the test closes the connection.
                io::copy(input, &mut io::sink())?;
                return Ok(false);
            }
            Step::Close => return Ok(false),
            Step::Reset => {
                // Closing with a linger time of zero sends a reset instead of an end of stream.
                rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?;
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Waits for a programmed delay, or until the server is stopped.
fn wait(delay: Duration, shared: &Shared) {
    let state = shared.state();
    // Time-out or stop makes no difference here: the next step shows it.
    let _ = shared.stopped.wait_timeout_while(state, delay, |state| !state.stopping);
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::Framing;

    fn ask(stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(b"GET /x HTTP/1.1\r\nHost: y\r\n\r\n")
    }

    fn all(server: &ScriptedServer) -> io::Result<String> {
        let mut stream = TcpStream::connect(server.address())?;
        ask(&mut stream)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn the_script_sees_where_it_is_and_the_server_counts() {
        let server = ScriptedServer::start(|request| {
            let text = format!("{} {} {} {}", request.connection, request.request, request.number, request.path());
            if request.request == 1 { Reply::ok_and_close(text) } else { Reply::ok(text) }
        });
        for (connection, expected) in [["0 0 0 /x", "0 1 1 /x"], ["1 0 2 /x", "1 1 3 /x"]].iter().enumerate() {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            ask(&mut stream).unwrap();
            ask(&mut stream).unwrap();
            let mut answers = String::new();
            stream.read_to_string(&mut answers).unwrap();
            let bodies: Vec<&str> = answers.split("\r\n\r\n").skip(1).map(|body| &body[..8]).collect();
            assert_eq!(bodies, expected, "connection {connection}");
        }
        assert_eq!((server.connections(), server.requests(), server.completed()), (2, 4, 4));
        assert_eq!(server.requests_by_connection(), [2, 2]);
        assert_eq!(server.peers(), ["127.0.0.1".parse::<IpAddr>().unwrap(); 2]);
    }

    #[test]
    fn faults_reach_the_client_as_what_they_are() {
        let closing = ScriptedServer::start(|_| Reply::close());
        assert_eq!(all(&closing).unwrap(), "");
        let cut = ScriptedServer::start(|_| Reply::ok("hello").cut_by(2).then_close());
        assert_eq!(all(&cut).unwrap(), "HTTP/1.1 200 Scripted\r\nContent-Length: 5\r\n\r\nhel");
        let resetting = ScriptedServer::start(|_| Reply::reset());
        assert_eq!(all(&resetting).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        let dribbling = ScriptedServer::start(|_| Reply::with(200, "hi", Framing::UntilClose, &[]).dribbled());
        assert_eq!(all(&dribbling).unwrap(), "HTTP/1.1 200 Scripted\r\n\r\nhi");
    }

    #[test]
    fn stopping_ends_connections_that_would_hang_for_ever() {
        let mut server = ScriptedServer::start(|request| match request.connection {
            0 => Reply::never(),
            _ => Reply::ok("late").after(Duration::from_secs(3600)),
        });
        let mut streams = [(); 2].map(|()| TcpStream::connect(server.address()).unwrap());
        for (number, stream) in streams.iter_mut().enumerate() {
            ask(stream).unwrap();
            // Once this count is reached, the script has the request, and hangs.
            while server.requests() <= number {
                thread::yield_now();
            }
        }
        server.stop();
        for stream in &mut streams {
            // The end of the stream or a reset; in both cases the client is released.
            let _ = stream.read_to_end(&mut Vec::new());
        }
        assert!(TcpStream::connect(server.address()).is_err());
    }

    #[test]
    fn a_request_has_its_body_and_headers() {
        let server = ScriptedServer::start(|request| {
            let length = request.header("CONTENT-length").unwrap_or("none").to_owned();
            Reply::with(200, [length.as_bytes(), b" ", &request.body].concat(), Framing::UntilClose, &[])
        });
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"POST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\na\r\nb").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("\r\n\r\n4 a\r\nb"), "{answer:?}");
    }

    #[test]
    fn a_socket_in_the_file_system_is_served_and_stopped_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut server = ScriptedServer::on_unix_socket(&path, |_| Reply::with(200, "hi", Framing::UntilClose, &[]));
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"GET /x HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "HTTP/1.1 200 Scripted\r\n\r\nhi");
        assert_eq!((server.connections(), server.requests()), (1, 1));
        server.stop();
    }
}
