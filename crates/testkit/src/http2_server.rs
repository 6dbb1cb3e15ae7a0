//! An HTTP/2 server that answers every request by a script.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use h2::Reason;
use h2::server::{Connection, SendResponse};
use http::Response;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Answers with this status and body, and announces its length.
    Answer(u16, Bytes),
    /// Answers without a body, but with a header field of this many bytes.
    LongHead(usize),
    Silence,
    /// Resets the stream with this code.
    Reset(u32),
    /// Announces twice the length of this body, sends it, and resets the stream with this code.
    AnswerHalf(Bytes, u32),
    /// Announces twice the length of this body, sends it, and cuts the connection.
    Die(Bytes),
    /// Answers, and accepts no more requests on this connection.
    AnswerAndGoAway(Bytes),
    /// Closes the connection with this code.
    GoAway(u32),
}

/// A request as the server received it.
#[derive(Debug, Clone)]
pub struct Http2Request {
    /// Number of its connection, from 0.
    pub connection: usize,
    /// Its number on the server, from 0.
    pub number: usize,
    pub line: String,
    pub body_bytes: usize,
}

type Script = dyn Fn(&Http2Request) -> Act + Send + Sync;

#[derive(Clone)]
struct Manner {
    script: Arc<Script>,
    streams: u32,
    tls: Option<Arc<ServerConfig>>,
}

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

/// A server in a thread of its own. Dropping it ends the thread.
#[derive(Debug)]
pub struct Http2Server {
    /// Its address, or `None` for a socket in the file system.
    pub address: Option<SocketAddr>,
    counts: Arc<Counts>,
    _stop: oneshot::Sender<()>,
}

impl Http2Server {
    /// Serves on 127.0.0.1 and a free port.
    pub fn start(script: impl Fn(&Http2Request) -> Act + Send + Sync + 'static) -> Http2Server {
        Http2Server::with(u32::MAX, None, script)
    }

    /// The same, with a limit of concurrent streams per connection, and with TLS if settings are given.
    pub fn with(
        streams: u32,
        tls: Option<ServerConfig>,
        script: impl Fn(&Http2Request) -> Act + Send + Sync + 'static,
    ) -> Http2Server {
        let manner = Manner { script: Arc::new(script), streams, tls: tls.map(Arc::new) };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("127.0.0.1 has a free port");
        let address = listener.local_addr().expect("it is bound");
        Http2Server::run(Some(address), move |counts| async move {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            loop {
                let (socket, _) = listener.accept().await?;
                socket.set_nodelay(true)?;
                spawn(&manner, &counts, socket);
            }
        })
    }

    /// Serves on a socket in the file system.
    pub fn on_unix_socket(path: &Path, script: impl Fn(&Http2Request) -> Act + Send + Sync + 'static) -> Http2Server {
        let manner = Manner { script: Arc::new(script), streams: u32::MAX, tls: None };
        let listener = std::os::unix::net::UnixListener::bind(path).expect("the path is free");
        Http2Server::run(None, move |counts| async move {
            listener.set_nonblocking(true)?;
            let listener = UnixListener::from_std(listener)?;
            loop {
                let (socket, _) = listener.accept().await?;
                spawn(&manner, &counts, socket);
            }
        })
    }

    fn run<F>(address: Option<SocketAddr>, serve: impl FnOnce(Arc<Counts>) -> F + Send + 'static) -> Http2Server
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
            runtime.block_on(async {
                tokio::spawn(serve(counted));
                // An error means that the server was dropped.
                let _ = stopped.await;
            });
        });
        Http2Server { address, counts, _stop: stop }
    }

    /// Accepted connections, without the engine's probe before the run.
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::Relaxed) - 1
    }

    pub fn requests(&self) -> usize {
        self.counts.requests.load(Ordering::Relaxed)
    }
}

fn spawn(manner: &Manner, counts: &Arc<Counts>, socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let (manner, counts) = (manner.clone(), Arc::clone(counts));
    let number = counts.connections.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(async move {
        match manner.tls.clone() {
            None => converse(&manner, &counts, number, socket).await,
            Some(tls) => match TlsAcceptor::from(tls).accept(socket).await {
                Ok(socket) => converse(&manner, &counts, number, socket).await,
                Err(_) => Ok(()),
            },
        }
    });
}

/// Serves a connection to its end. Failures caused by the client are not errors of the server.
async fn converse<S>(manner: &Manner, counts: &Counts, connection: usize, socket: S) -> Result<(), h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut builder = h2::server::Builder::new();
    if manner.streams < u32::MAX {
        builder.max_concurrent_streams(manner.streams);
    }
    let mut served: Connection<S, Bytes> = builder.handshake(socket).await?;
    let mut held = Vec::new();
    while let Some(accepted) = served.accept().await {
        let (request, mut respond) = accepted?;
        let line = format!("{} {}", request.method(), request.uri().path());
        let announced = request.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        let number = counts.requests.fetch_add(1, Ordering::Relaxed);
        let request =
            Http2Request { connection: connection.saturating_sub(1), number, line, body_bytes: announced.unwrap_or(0) };
        match (manner.script)(&request) {
            Act::Answer(status, body) => answer(&mut respond, status, body)?,
            Act::LongHead(bytes) => {
                let head = Response::builder().header("long", "x".repeat(bytes)).body(()).expect("a head");
                respond.send_response(head, true)?;
            }
            Act::Silence => held.push(respond),
            Act::Reset(code) => respond.send_reset(Reason::from(code)),
            Act::AnswerHalf(body, code) => {
                let mut stream = begin(&mut respond, body.len() * 2)?;
                stream.send_data(body, false)?;
                flush(&mut served).await;
                stream.send_reset(Reason::from(code));
            }
            Act::Die(body) => {
                let mut stream = begin(&mut respond, body.len() * 2)?;
                stream.send_data(body, false)?;
                flush(&mut served).await;
                return Ok(());
            }
            Act::AnswerAndGoAway(body) => {
                answer(&mut respond, 200, body)?;
                served.graceful_shutdown();
            }
            Act::GoAway(code) => {
                served.abrupt_shutdown(Reason::from(code));
            }
        }
    }
    Ok(())
}

fn begin(respond: &mut SendResponse<Bytes>, announced: usize) -> Result<h2::SendStream<Bytes>, h2::Error> {
    let head = Response::builder().header("content-length", announced).body(()).expect("a head");
    respond.send_response(head, false)
}

fn answer(respond: &mut SendResponse<Bytes>, status: u16, body: Bytes) -> Result<(), h2::Error> {
    let head = Response::builder().status(status).header("content-length", body.len()).body(()).expect("a head");
    respond.send_response(head, body.is_empty()).and_then(|mut stream| match body.is_empty() {
        true => Ok(()),
        false => stream.send_data(body, true),
    })
}

/// Lets the connection write pending data, without waiting.
async fn flush<S: AsyncRead + AsyncWrite + Unpin>(served: &mut Connection<S, Bytes>) {
    std::future::poll_fn(|task| {
        let _ = served.poll_closed(task);
        std::task::Poll::Ready(())
    })
    .await;
}
