//! One request and its answer: a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use h2::RecvStream;
use h2::client::ResponseFuture;
use http::header::CONTENT_LENGTH;

use super::fault;
use crate::fault::Fault;
use crate::http::answer::{Answer, Rules};
use crate::http::streamed::StreamedAnswer;

/// A request that was handed to a carrier. Dropping it before its answer is complete resets the stream (CANCEL); the connection stays open.
#[derive(Debug)]
pub(crate) struct Exchange {
    stage: Stage,
    answer: StreamedAnswer,
}

#[derive(Debug)]
enum Stage {
    Waiting(ResponseFuture),
    Receiving(RecvStream),
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(Answer),
    /// The target has not processed the request, so it may be sent again.
    Unprocessed(Fault),
    Failed(Fault),
}

impl Exchange {
    pub(super) fn new(response: ResponseFuture) -> Exchange {
        Exchange { stage: Stage::Waiting(response), answer: StreamedAnswer::default() }
    }

    /// Whether any of the answer has arrived.
    pub fn has_begun(&self) -> bool {
        matches!(self.stage, Stage::Receiving(_))
    }

    /// Processes what has arrived. `broken` is the fault of the connection's socket.
    pub fn poll(&mut self, task: &mut Context<'_>, rules: &mut Rules, broken: Option<Fault>) -> Poll<Outcome> {
        loop {
            let complete = match &mut self.stage {
                Stage::Waiting(response) => match ready!(Pin::new(response).poll(task)) {
                    Ok(response) => self.begin(response, rules),
                    Err(error) if fault::is_unprocessed(&error) => {
                        return Poll::Ready(Outcome::Unprocessed(fault::of(&error, broken, false)));
                    }
                    Err(error) => Err(fault::of(&error, broken, false)),
                },
                Stage::Receiving(body) => match ready!(body.poll_data(task)) {
                    None => self.answer.end(rules).map(Some),
                    Some(Ok(piece)) => {
                        // The piece has been read, so the target may send as many bytes again.
                        let _ = body.flow_control().release_capacity(piece.len());
                        self.answer.body(&piece, rules).map(|()| None)
                    }
                    Some(Err(error)) => Err(fault::of(&error, broken, true)),
                },
            };
            match complete {
                Ok(None) => {}
                Ok(Some(answer)) => return Poll::Ready(Outcome::Answered(answer)),
                Err(fault) => return Poll::Ready(Outcome::Failed(fault)),
            }
        }
    }

    fn begin(&mut self, response: http::Response<RecvStream>, rules: &mut Rules) -> Result<Option<Answer>, Fault> {
        let (head, body) = response.into_parts();
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let ends = body.is_end_stream();
        self.stage = Stage::Receiving(body);
        self.answer.head(head.status.as_u16(), announced, ends, rules)
    }
}
