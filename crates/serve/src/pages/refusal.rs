//! Pages that explain why a page is not shown.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use tolok_store::StoreError;

use super::page;

/// Why a page is not shown, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    title: String,
    /// The reasons, one sentence each.
    reasons: Vec<String>,
    /// Links to go on: text and URL.
    next: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    reasons: &'a [String],
    next: &'a [(String, String)],
}

impl Refusal {
    /// A request that cannot be answered in this form.
    pub fn of_question(title: &str, reasons: Vec<String>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, title: title.to_owned(), reasons, next: Vec::new() }
    }

    /// Adds a link to a request that can be answered.
    pub fn or(mut self, words: &str, address: String) -> Self {
        self.next.push((words.to_owned(), address));
        self
    }

    /// No page has this URL.
    pub fn nothing_here() -> Self {
        let reasons = vec!["No page has this address.".to_owned()];
        Self { status: StatusCode::NOT_FOUND, ..Self::of_question("Nothing is here", reasons) }
    }

    /// No run has this name.
    pub fn no_run(id: &str) -> Self {
        let reasons = vec![format!("There is no run `{id}` in the folder of runs. It may have been moved or removed.")];
        Self { status: StatusCode::NOT_FOUND, ..Self::of_question("No such run", reasons) }
    }

    /// A run exists but cannot be read.
    pub fn unreadable(id: &str, error: &StoreError) -> Self {
        let reasons = vec![format!("The run {id} is there and cannot be read: {error}")];
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..Self::of_question("This run cannot be read", reasons) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let values = Page { title: &self.title, reasons: &self.reasons, next: &self.next };
        (self.status, Html(page("refusal.html", &values))).into_response()
    }
}
