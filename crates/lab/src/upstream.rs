//! The service that servers of the workload `upstream` call. It waits, and then returns a word that only it and the lab can know.
//!
//! It runs in the lab's process, so its CPU time is not charged to a subject. A thread per connection is enough for the number of
//! connections that a server keeps, and sleeps nearly all the time.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};
use tolok_model::manifest::sha256;

/// Delay before each answer.
const WAIT: Duration = Duration::from_millis(10);
/// The path that it serves; the key follows.
const PATH: &str = "/word?key=";
/// The largest head of a request.
const HEAD_BYTES: u64 = 16 * 1024;
/// Hexadecimal digits of a word.
const DIGITS: usize = 16;
/// A connection's thread holds only a line or two.
const STACK_BYTES: usize = 128 * 1024;

/// The word for a key in this process. It is different in every process, so a server cannot know it without calling the service.
pub(crate) fn word(key: u32) -> String {
    static SECRET: OnceLock<[u8; 16]> = OnceLock::new();
    let secret = SECRET.get_or_init(|| {
        let mut bytes = [0; 16];
        getrandom(&mut bytes, GetRandomFlags::empty()).expect("the kernel has random bytes");
        bytes
    });
    let mut digits = sha256(&[secret.as_slice(), &key.to_le_bytes()].concat());
    digits.truncate(DIGITS);
    digits
}

/// The running service; it stops on drop.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    asked: Arc<AtomicU64>,
    accepting: Option<JoinHandle<()>>,
}

impl Upstream {
    pub(crate) fn start(listener: TcpListener) -> io::Result<Self> {
        let (address, listener, asked) = (listener.local_addr()?, Arc::new(listener), Arc::default());
        let accepting = thread::Builder::new().name("upstream".to_owned()).spawn({
            let (listener, asked) = (Arc::clone(&listener), Arc::clone(&asked));
            move || accept(&listener, &asked)
        })?;
        Ok(Self { address, listener, asked, accepting: Some(accepting) })
    }

    /// Its address for servers.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many words were requested.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        // Stops accepting. Connections end with their servers, which the box ends.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, asked: &Arc<AtomicU64>) {
    while let Ok((client, _)) = listener.accept() {
        let asked = Arc::clone(asked);
        let thread = thread::Builder::new().name("upstream".to_owned()).stack_size(STACK_BYTES);
        // If the client hangs up or no thread can be started, the connection is closed.
        let _ = thread.spawn(move || serve(&client, &asked));
    }
}

/// Answers all requests of a connection.
fn serve(mut client: &TcpStream, asked: &AtomicU64) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut reader = BufReader::new(client);
    while let Some(request) = read_request(&mut reader)? {
        let (status, body) = match request.key {
            Some(key) => {
                asked.fetch_add(1, Ordering::Relaxed);
                thread::sleep(WAIT);
                ("200 OK", format!("{{\"key\":{key},\"word\":\"{}\"}}", word(key)))
            }
            None => ("404 Not Found", String::new()),
        };
        let connection = if request.keeps { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
            body.len()
        );
        client.write_all((head + &body).as_bytes())?;
        if !request.keeps {
            break;
        }
    }
    Ok(())
}

/// The part of a request that the service uses.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    key: Option<u32>,
    /// Whether its connection stays open.
    keeps: bool,
}

/// Reads the next request. Returns `None` if the client sends no more.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let (mut first, mut head) = (String::new(), reader.take(HEAD_BYTES));
    if head.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_ascii_whitespace();
    let is_get = words.next() == Some("GET");
    let path = words.next().filter(|_| is_get).unwrap_or_default();
    let mut asked = Asked {
        key: path.strip_prefix(PATH).and_then(|key| key.parse().ok()),
        keeps: words.next() == Some("HTTP/1.1"),
    };
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            return Ok(Some(asked));
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        if name.eq_ignore_ascii_case("connection") {
            asked.keeps = value.trim().eq_ignore_ascii_case("keep-alive")
                || asked.keeps && !value.trim().eq_ignore_ascii_case("close");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn asked(text: &str) -> Option<Asked> {
        read_request(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn requests_say_their_key_and_whether_another_follows() {
        let of = |key, keeps| Some(Asked { key, keeps });
        assert_eq!(asked(""), None);
        assert_eq!(asked("GET /word?key=7 HTTP/1.1\r\nHost: a\r\n\r\n"), of(Some(7), true));
        assert_eq!(asked("GET /word?key=7 HTTP/1.1\r\nconnection: Close\r\n\r\n"), of(Some(7), false));
        assert_eq!(asked("GET /word?key=7 HTTP/1.0\r\n\r\n"), of(Some(7), false));
        assert_eq!(asked("GET /word?key=7 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), of(Some(7), true));
        assert_eq!(asked("POST /word?key=7 HTTP/1.1\r\n\r\n"), of(None, true));
        assert_eq!(asked("GET /word?key=-7 HTTP/1.1\r\n\r\n"), of(None, true));
        assert!(read_request(&mut b"GET / HTTP/1.1\r\nHost".as_slice()).is_err());
    }

    #[test]
    fn a_kept_connection_gets_a_word_for_each_key_after_a_wait() {
        let upstream = Upstream::start(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        let mut client = TcpStream::connect(upstream.address()).unwrap();
        let begin = Instant::now();
        for key in [3, 4] {
            write!(client, "GET /word?key={key} HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let owed = format!("{{\"key\":{key},\"word\":\"{}\"}}", word(key));
            let mut answer = Vec::new();
            while !answer.ends_with(owed.as_bytes()) {
                let mut byte = [0];
                client.read_exact(&mut byte).unwrap();
                answer.push(byte[0]);
            }
            assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
        }
        assert!(begin.elapsed() >= 2 * WAIT);
        assert_eq!((upstream.asked(), word(3) == word(4)), (2, false));
    }
}
