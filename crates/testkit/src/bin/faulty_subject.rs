//! A subject with a deliberate fault, for end-to-end tests of the lab. It serves the workloads' contract from a folder
//! of bodies, and has the one fault that its argument names.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tolok_testkit::read_head;

const USAGE: &str = "usage: faulty-subject [--host ADDRESS] --port N --assets DIR [--fault FAULT]
faults:
  none           none (default)
  count          none, and says so before each answer
  exit-at-start  ends with code 4 before it listens
  never-listen   runs without ever listening
  refuse-port    behaves as if its port were taken: ends with code 1
  wrong-body     answers with bodies of the right length in which one byte is wrong
  hang           takes requests and never answers
  hang-after=N   the same after N answers
  crash-after=N  ends with code 3 after N answers
  paced=N        answers N requests a second and not more, each a while after the one before
  leak           keeps 4 MiB of touched memory for every request and never frees them
  fork           has two children that ignore TERM, INT and HUP, and a daemon like them in a session of its own
  spin           burns a CPU in the background
  stay           what the children and the daemon of `fork` are: says its pid and stays
  daemonize      what becomes the daemon of `fork`: leaves its session, starts one that stays, and ends";

/// Memory that `leak` keeps for every request.
const LEAK_BYTES: usize = 4 << 20;

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// None.
    None,
    /// None, but logs before each answer, so that every received request is counted.
    Count,
    /// Ends with code 4 before it listens.
    ExitAtStart,
    /// Runs, but never listens.
    NeverListen,
    /// Answers with bodies of the right length with one wrong byte.
    WrongBody,
    /// Answers this many requests, then accepts requests without answering.
    HangAfter(u64),
    /// Exits with code 3 after this many requests.
    CrashAfter(u64),
    /// Answers at most this many requests per second.
    Paced(u64),
    /// Behaves as if its port were taken: exits with code 1.
    RefusePort,
    /// Keeps memory for every request and never frees it.
    Leak,
    /// Has children and a daemon that ignore requests to end.
    Fork,
    /// Burns a CPU in the background.
    Spin,
    /// Prints its pid and stays.
    Stay,
    /// Starts a process that stays, in a new session without a parent.
    Daemonize,
}

struct Options {
    host: Ipv4Addr,
    port: u16,
    assets: PathBuf,
    fault: Fault,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => return end(2, &format!("{error}; {USAGE}")),
    };
    match options.fault {
        Fault::ExitAtStart => return end(4, "ends at once, as it was told"),
        Fault::RefusePort => return end(1, &format!("cannot listen on port {}: address already in use", options.port)),
        Fault::NeverListen => stay(),
        Fault::Stay => {
            log(&format!("{} stays", std::process::id()));
            stay();
        }
        Fault::Daemonize => return daemonize(&options).map_or_else(|error| end(1, &error), |()| ExitCode::SUCCESS),
        Fault::Fork => {
            if let Err(error) = fork(&options) {
                return end(1, &error);
            }
        }
        Fault::Spin => drop(thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        })),
        _ => {}
    }
    match serve(&options) {
        Ok(crash) => end(3, &crash),
        Err(error) => end(1, &format!("cannot serve {} on port {}: {error}", options.assets.display(), options.port)),
    }
}

fn stay() -> ! {
    loop {
        thread::park();
    }
}

/// Two children and a daemon, all of which stay.
fn fork(options: &Options) -> Result<(), String> {
    for _ in 0..2 {
        start("stay", options)?;
    }
    let between = start("daemonize", options)?;
    let ended = between.wait_with_output().map_err(|error| error.to_string())?;
    if ended.status.success() { Ok(()) } else { Err(format!("daemonize ended with {}", ended.status)) }
}

/// Leaves the session and starts a process that stays in the new one and outlives this process.
fn daemonize(options: &Options) -> Result<(), String> {
    rustix::process::setsid().map_err(|error| format!("cannot leave the session: {error}"))?;
    start("stay", options).map(drop)
}

/// Starts a copy of this program with another fault. Its command line contains the folder, by which tests find it.
/// It ignores the stop signals, because signals ignored by the shell stay ignored after `exec`.
fn start(fault: &str, options: &Options) -> Result<std::process::Child, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find its own program: {error}"))?;
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' TERM INT HUP; exec \"$0\" \"$@\""]).arg(own);
    command.args(["--fault", fault, "--port", &options.port.to_string(), "--assets"]).arg(&options.assets);
    command.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot start one to {fault}: {error}"))
}

fn end(code: u8, why: &str) -> ExitCode {
    log(why);
    ExitCode::from(code)
}

fn log(line: &str) {
    // A closed standard error cannot be reported.
    let _ = writeln!(io::stderr(), "faulty-subject: {line}");
}

fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let (mut host, mut port, mut assets, mut fault) = (Ipv4Addr::LOCALHOST, None, None, Fault::None);
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--host" => host = value.parse().map_err(|_| format!("{value} is no IPv4 address"))?,
            "--port" => port = Some(value.parse().map_err(|_| format!("{value} is no port"))?),
            "--assets" => assets = Some(PathBuf::from(value)),
            "--fault" => fault = parse_fault(&value)?,
            _ => return Err(format!("unknown argument {name}")),
        }
    }
    let port = port.ok_or("--port is missing")?;
    Ok(Options { host, port, assets: assets.ok_or("--assets is missing")?, fault })
}

fn parse_fault(name: &str) -> Result<Fault, String> {
    Ok(match name {
        "none" => Fault::None,
        "count" => Fault::Count,
        "exit-at-start" => Fault::ExitAtStart,
        "never-listen" => Fault::NeverListen,
        "hang" => Fault::HangAfter(0),
        "wrong-body" => Fault::WrongBody,
        "refuse-port" => Fault::RefusePort,
        "leak" => Fault::Leak,
        "fork" => Fault::Fork,
        "spin" => Fault::Spin,
        "stay" => Fault::Stay,
        "daemonize" => Fault::Daemonize,
        _ => match name.split_once('=').map(|(fault, requests)| (fault, requests.parse())) {
            Some(("hang-after", Ok(requests))) => Fault::HangAfter(requests),
            Some(("crash-after", Ok(requests))) => Fault::CrashAfter(requests),
            Some(("paced", Ok(rate @ 1..))) => Fault::Paced(rate),
            _ => return Err(format!("unknown fault {name}")),
        },
    })
}

/// Serves until it crashes on purpose; returns its last message.
fn serve(options: &Options) -> io::Result<String> {
    let listener = TcpListener::bind((options.host, options.port))?;
    let bodies = read_bodies(&options.assets, options.fault)?;
    log(&format!("listening on {}", listener.local_addr()?));
    let (crash, crashed) = mpsc::channel();
    let server: &'static Server = Box::leak(Box::new(Server {
        bodies,
        fault: options.fault,
        answered: AtomicU64::new(0),
        turn: Mutex::new(Instant::now()),
    }));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let crash = crash.clone();
            // A client that disconnects is not worth a message.
            thread::spawn(move || drop(server.converse(stream, &crash)));
        }
    });
    // Ends only when a thread sends: the listening thread holds a sender forever.
    crashed.recv().map_err(io::Error::other)
}

/// Bodies by path, each with its content type.
type Bodies = HashMap<String, (&'static str, Vec<u8>)>;

fn read_bodies(assets: &Path, fault: Fault) -> io::Result<Bodies> {
    let mut bodies = HashMap::new();
    read_bodies_below(assets, "", fault, &mut bodies)?;
    Ok(bodies)
}

fn read_bodies_below(folder: &Path, above: &str, fault: Fault, bodies: &mut Bodies) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{above}/{name}");
        if entry.file_type()?.is_dir() {
            read_bodies_below(&entry.path(), &path, fault, bodies)?;
        }
        if !entry.file_type()?.is_file() {
            continue;
        }
        let mut body = fs::read(entry.path())?;
        if let (Fault::WrongBody, Some(last)) = (fault, body.last_mut()) {
            *last ^= 1;
        }
        bodies.insert(path, (content_type(&name), body));
    }
    Ok(())
}

fn content_type(name: &str) -> &'static str {
    match name {
        "hello" => "text/html",
        "json" | "quicksort" => "application/json",
        name if name.ends_with(".json") => "application/json",
        name if name.ends_with(".png") => "image/png",
        _ => "application/octet-stream",
    }
}

struct Server {
    bodies: Bodies,
    fault: Fault,
    answered: AtomicU64,
    /// When the next answer is due, if they are paced.
    turn: Mutex<Instant>,
}

impl Server {
    fn converse(&self, stream: TcpStream, crash: &Sender<String>) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut input = BufReader::new(&stream);
        while let Some(head) = read_head(&mut input)? {
            match self.fault {
                Fault::HangAfter(requests) if self.answered.fetch_add(1, Ordering::SeqCst) >= requests => {
                    // Keeps reading, so that the client gets neither an answer nor an error.
                    io::copy(&mut input, &mut io::sink())?;
                    return Ok(());
                }
                Fault::CrashAfter(requests) if self.answered.fetch_add(1, Ordering::SeqCst) >= requests => {
                    // The receiver may be gone because another thread was faster.
                    let _ = crash.send(format!("crashes after {requests} requests, as it was told"));
                    return Ok(());
                }
                Fault::Count => log("answers"),
                Fault::Paced(rate) => self.wait_for_a_turn(Duration::from_secs(1).div_f64(rate as f64)),
                // Written, not only allocated: the kernel charges a page when it is touched.
                Fault::Leak => std::mem::forget(std::hint::black_box(vec![1u8; LEAK_BYTES])),
                _ => {}
            }
            (&stream).write_all(&self.answer(&head))?;
            if reuse(&head) == Reuse::None {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Turns are evenly spaced while threads wait for one. A thread that oversleeps does not delay others.
    fn wait_for_a_turn(&self, distance: Duration) {
        let own = {
            let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            *turn = (*turn + distance).max(Instant::now());
            *turn
        };
        thread::sleep(own.saturating_duration_since(Instant::now()));
    }

    fn answer(&self, head: &str) -> Vec<u8> {
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = target.split('?').next().unwrap_or_default();
        let (status, content_type, body): (_, _, &[u8]) = match (self.bodies.get(path), method) {
            (Some((content_type, body)), "GET" | "HEAD") => ("200 OK", *content_type, body),
            (Some(_), _) => ("405 Method Not Allowed", "text/plain", b"405"),
            (None, _) => ("404 Not Found", "text/plain", b"404"),
        };
        let connection = match reuse(head) {
            Reuse::Usual => "",
            Reuse::Asked => "Connection: keep-alive\r\n",
            Reuse::None => "Connection: close\r\n",
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{connection}\r\n"
        );
        [head.as_bytes(), if method == "HEAD" { b"" } else { body }].concat()
    }
}

/// Whether a connection stays open after an answer.
#[derive(PartialEq, Eq)]
enum Reuse {
    /// By default in HTTP/1.1.
    Usual,
    /// An HTTP/1.0 client asked for it and must be told.
    Asked,
    None,
}

fn reuse(head: &str) -> Reuse {
    let lower = head.to_ascii_lowercase();
    let is_old = lower.lines().next().is_some_and(|line| line.ends_with("http/1.0"));
    if is_old && lower.contains("\r\nconnection: keep-alive\r\n") {
        Reuse::Asked
    } else if is_old || lower.contains("\r\nconnection: close\r\n") {
        Reuse::None
    } else {
        Reuse::Usual
    }
}
