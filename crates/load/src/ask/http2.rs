//! One request over HTTP/2, on its own connection.

use std::future::{Future, poll_fn};
use std::io::{self, Read, Write};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

use bytes::Bytes;
use h2::client::SendRequest;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Uri};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::channel::{Channel, is_patient};
use super::{Answer, LARGEST_ANSWER_BYTES, ProbeError, Question};
use crate::transport::h2::builder;

/// How long to wait for the socket before polling everything again.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// Asks, or returns `None` as soon as `is_late`.
pub(super) fn ask(
    channel: Channel,
    host: &str,
    question: Question<'_>,
    is_late: &dyn Fn() -> bool,
) -> Result<Option<Answer>, ProbeError> {
    let socket = channel.socket().try_clone()?;
    socket.set_nonblocking(true)?;
    let request = request(host, question, matches!(channel, Channel::Encrypted(_))).map_err(io::Error::other)?;
    let body = question.body.map(|(_, body)| Bytes::copy_from_slice(body)).unwrap_or_default();
    let mut exchange = pin!(exchange(Polled(channel), request, body));
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Arc::clone(&woken).into();
    loop {
        match exchange.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => return answer.map(Some),
            Poll::Pending if is_late() => return Ok(None),
            Poll::Pending if woken.0.swap(false, Ordering::Relaxed) => {}
            // The result does not matter: the next poll tries again.
            Poll::Pending => drop(poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&LOOK))),
        }
    }
}

fn request(host: &str, question: Question<'_>, is_encrypted: bool) -> Result<Request<()>, http::Error> {
    let scheme = if is_encrypted { "https" } else { "http" };
    let uri = Uri::builder().scheme(scheme).authority(host).path_and_query(question.path).build()?;
    let mut request = Request::builder().method(question.method).uri(uri);
    if question.gzip {
        request = request.header(ACCEPT_ENCODING, "gzip");
    }
    for (name, value) in question.headers {
        request = request.header(name, value);
    }
    if let Some((content_type, body)) = question.body {
        request = request.header(CONTENT_LENGTH, body.len());
        if !content_type.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
    }
    request.body(())
}

async fn exchange(channel: Polled, request: Request<()>, body: Bytes) -> Result<Answer, ProbeError> {
    let (requests, connection) = builder().handshake::<_, Bytes>(channel).await.map_err(of)?;
    let (mut connection, mut answer) = (pin!(connection), pin!(answer(requests, request, body)));
    let answer = poll_fn(|task| beside(connection.as_mut(), answer.as_mut(), task)).await?;
    answer.ok_or(ProbeError::Malformed("more than 256 MiB"))
}

/// The whole answer, or `None` if it is too large.
async fn answer(requests: SendRequest<Bytes>, request: Request<()>, sent: Bytes) -> Result<Option<Answer>, h2::Error> {
    let (response, mut stream) = requests.ready().await?.send_request(request, sent.is_empty())?;
    if !sent.is_empty() {
        stream.send_data(sent, true)?;
    }
    let (head, mut pieces) = response.await?.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = pieces.data().await {
        let piece = piece?;
        pieces.flow_control().release_capacity(piece.len())?;
        body.extend(piece);
        if body.len() > LARGEST_ANSWER_BYTES {
            return Ok(None);
        }
    }
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    Ok(Some(Answer { status: head.status.as_u16(), headers, body }))
}

/// Drives the connection and the work on it. The work may finish although the connection has ended.
fn beside<T>(
    connection: Pin<&mut impl Future<Output = Result<(), h2::Error>>>,
    work: Pin<&mut impl Future<Output = Result<T, h2::Error>>>,
    task: &mut Context<'_>,
) -> Poll<Result<T, ProbeError>> {
    let ended = connection.poll(task);
    match (work.poll(task), ended) {
        (Poll::Ready(done), _) => Poll::Ready(done.map_err(of)),
        (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(of(error))),
        (Poll::Pending, Poll::Ready(Ok(()))) => Poll::Ready(Err(ProbeError::Closed { received: 0 })),
        (Poll::Pending, Poll::Pending) => Poll::Pending,
    }
}

fn of(error: h2::Error) -> ProbeError {
    ProbeError::Connection(if error.is_io() {
        error.into_io().unwrap_or_else(|| io::ErrorKind::ConnectionReset.into())
    } else {
        io::Error::other(error)
    })
}

/// Set when the waiting task is woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A channel with a non-blocking socket. It registers no waker, so the caller polls again.
struct Polled(Channel);

impl AsyncRead for Polled {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.0.read(buffer.initialize_unfilled()) {
            Ok(bytes) => {
                buffer.advance(bytes);
                Poll::Ready(Ok(()))
            }
            Err(error) if is_patient(&error) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Polled {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        polled(self.0.write(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        polled(self.0.flush())
    }

    /// Dropping the socket closes the connection.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn polled<T>(done: io::Result<T>) -> Poll<io::Result<T>> {
    match done {
        Err(error) if is_patient(&error) => Poll::Pending,
        done => Poll::Ready(done),
    }
}
