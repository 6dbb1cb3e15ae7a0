//! The events of a run as server-sent events: the stored ones, then new ones until the run ends.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use tolok_store::RunFolder;

use crate::live::is_end;
use crate::tail::{Line, Tail};

/// How often to check the file for new lines.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// After this many checks without a new line, check whether a process still writes.
const LOOKS_PER_ASKING: u32 = 8;

/// The header in which a browser sends the id of its last event.
const LAST_EVENT: &str = "last-event-id";

/// The last line that a browser has; 0 for none.
pub fn known(headers: &HeaderMap) -> u64 {
    headers.get(LAST_EVENT).and_then(|id| id.to_str().ok()?.trim().parse().ok()).unwrap_or(0)
}

/// The events of a run after a line. The id of an event is its line number. The last event, named `end`, marks the end.
pub fn events(run: PathBuf, known: u64) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let watched = Some(Watched { tail: Tail::after(&run, known), run, waiting: VecDeque::new(), has_ended: false });
    let stream = unfold(watched, |watched| async move {
        let mut watched = watched?;
        match watched.next().await {
            Some(line) => {
                let event = Event::default().id(line.number.to_string()).data(line.text);
                Some((Ok(event), Some(watched)))
            }
            None => Some((Ok(Event::default().event("end").data("{}")), None)),
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

/// A run whose events are streamed.
struct Watched {
    run: PathBuf,
    tail: Tail,
    /// Lines that were read but not sent yet.
    waiting: VecDeque<Line>,
    /// Whether the last event so far ended the run.
    has_ended: bool,
}

impl Watched {
    /// Waits for the next line, or returns `None` once the run has ended.
    async fn next(&mut self) -> Option<Line> {
        let mut looks = 0;
        while self.waiting.is_empty() {
            let asks = looks % LOOKS_PER_ASKING == 0;
            // Checked before the file is read, so the last lines are not missed.
            let is_over = self.has_ended || (asks && !self.is_at_work().await);
            self.look().await?;
            if self.waiting.is_empty() {
                if is_over {
                    return None;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            looks += 1;
        }
        let line = self.waiting.pop_front();
        self.has_ended = line.as_ref().is_some_and(|line| is_end(&line.text));
        line
    }

    async fn is_at_work(&self) -> bool {
        let run = self.run.clone();
        tokio::task::spawn_blocking(move || RunFolder::is_at_work(&run)).await.unwrap_or(false)
    }

    /// Reads new lines. Returns `None` if the file cannot be read, which ends the stream.
    async fn look(&mut self) -> Option<()> {
        let mut tail = std::mem::replace(&mut self.tail, Tail::after(&self.run, 0));
        let read = tokio::task::spawn_blocking(move || (tail.next(), tail)).await;
        let (lines, tail) = read.ok()?;
        self.tail = tail;
        self.waiting = lines.ok()?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use tolok_store::EVENTS;

    use super::*;

    #[test]
    fn a_browser_says_which_event_it_had_last() {
        let of = |id: &'static str| {
            known(
                &[(LAST_EVENT, id)]
                    .map(|(name, id)| (name.parse().unwrap(), id.parse().unwrap()))
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!([of("17"), of(" 3 "), of(""), of("-1"), of("x")], [17, 3, 0, 0, 0]);
        assert_eq!(known(&HeaderMap::new()), 0);
    }

    fn watch(run: &std::path::Path, known: u64) -> Watched {
        Watched { tail: Tail::after(run, known), run: run.to_owned(), waiting: VecDeque::new(), has_ended: false }
    }

    /// The numbers of all lines sent until the end.
    fn all(mut watched: Watched) -> Vec<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut numbers = Vec::new();
            while let Some(line) = watched.next().await {
                numbers.push(line.number);
            }
            numbers
        })
    }

    #[test]
    fn a_run_that_nobody_writes_is_passed_on_and_ended_whatever_it_says_last() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(all(watch(run.path(), 0)), [0; 0]);
        fs::write(run.path().join(EVENTS), "{\"event\":\"run-started\"}\n{\"event\":\"phase\"}\n{\"event\":").unwrap();
        assert_eq!(all(watch(run.path(), 0)), [1, 2]);
        assert_eq!(all(watch(run.path(), 1)), [2]);
    }

    #[test]
    fn an_end_followed_by_another_session_does_not_end_the_stream() {
        let run = tempfile::tempdir().unwrap();
        let text = "{\"event\":\"run-ended\"}\n{\"event\":\"run-started\"}\n{\"event\":\"run-ended\"}\n";
        fs::write(run.path().join(EVENTS), text).unwrap();
        assert_eq!(all(watch(run.path(), 0)), [1, 2, 3]);
    }

    #[test]
    fn a_run_at_work_is_watched_until_its_last_event() {
        let run = tempfile::tempdir().unwrap();
        let lock = fs::File::create(run.path().join(".lock")).unwrap();
        lock.lock().unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(run.path().join(EVENTS)).unwrap();
        file.write_all(b"{\"event\":\"run-started\"}\n").unwrap();
        let mut watched = watch(run.path(), 0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            assert_eq!(watched.next().await.map(|line| line.number), Some(1));
            file.write_all(b"{\"event\":\"run-ended\"}\n").unwrap();
            assert_eq!(watched.next().await.map(|line| line.number), Some(2));
            assert_eq!(watched.next().await, None);
        });
    }
}
