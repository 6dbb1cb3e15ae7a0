//! Limits connections: no more than the server can hold, and none for a client that sends no request.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Limits of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How long a client may take to send the head of a request. Requests here have no body.
    pub head: Duration,
    /// Connections at a time; others wait. Each page that shows an active run keeps one.
    pub connections: usize,
    pub head_bytes: usize,
}

pub(crate) const BOUNDS: Bounds = Bounds { head: Duration::from_secs(10), connections: 200, head_bytes: 64 << 10 };

/// Delay before the next attempt if a connection cannot be accepted, for example without free descriptors.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Serves forever.
pub(crate) async fn serve(listener: TcpListener, site: Router, bounds: Bounds) {
    let room = Arc::new(Semaphore::new(bounds.connections));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(BETWEEN_TRIES).await;
            continue;
        };
        let service = TowerToHyperService::new(site.clone());
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(bounds.head).max_buf_size(bounds.head_bytes);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // A failed connection is only the client's concern.
            let _ = connection.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::time::Instant;

    use axum::routing::get;

    use super::*;

    fn served(bounds: Bounds) -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                listener.set_nonblocking(true).unwrap();
                let site = Router::new().route("/", get(|| async { "hello" }));
                serve(TcpListener::from_std(listener).unwrap(), site, bounds).await;
            });
        });
        address
    }

    fn said(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        // A client that is cut off may see a reset.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn half_a_request_is_dropped_and_makes_room_for_others() {
        let address = served(Bounds { head: Duration::from_millis(100), connections: 2, ..BOUNDS });
        let began = Instant::now();
        let halves: Vec<TcpStream> = (0..10)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap();
                stream
            })
            .collect();
        let whole = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        assert!(said(address, whole).ends_with("hello"));
        for mut half in halves {
            let mut rest = Vec::new();
            // The test only checks that it ends.
            let _ = half.read_to_end(&mut rest);
        }
        assert!(began.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_head_without_end_is_cut_off() {
        let address = served(BOUNDS);
        let long = format!("GET / HTTP/1.1\r\nHost: {}", "x".repeat(200_000));
        assert!(!said(address, &long).contains("hello"));
    }
}
