//! The URLs and their pages.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use tolok_report::{Format, Style, render};

use crate::guard::{Names, POLICY_OF_REPORTS, guard};
use crate::library::{Found, Library};
use crate::pages::{self, Refusal, encoded};
use crate::stream;

/// The query of a URL. A name may occur several times.
type Asked = Query<Vec<(String, String)>>;

const STYLE: &str = include_str!("../templates/serve.css");
const SCRIPT: &str = include_str!("../templates/serve.js");

pub fn router(library: Arc<Library>, port: u16) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/compare", get(compare))
        .route("/history", get(history))
        .route("/overlay", get(overlay))
        .route("/runs/{id}", get(without_slash))
        .route("/runs/{id}/", get(run))
        .route("/runs/{id}/live", get(live))
        .route("/runs/{id}/events", get(events))
        .route("/runs/{id}/{report}", get(report))
        .route("/metrics", get(metrics))
        .route("/style.css", get(style))
        .route("/script.js", get(|| async { ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT) }))
        .fallback(|| async { Refusal::nothing_here() })
        .layer(from_fn_with_state(Names::of(port), guard))
        .with_state(library)
}

async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], format!("{}\n{STYLE}", tolok_report::print::style()))
}

async fn list(State(library): State<Arc<Library>>, Query(asked): Asked) -> Response {
    let named = |name: &str| asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let asked = pages::Asked { filter: named("filter").unwrap_or_default(), before: named("before") };
    made(move || Ok(pages::list(&library, &asked, pages::PATIENCE))).await
}

/// The endpoint for Prometheus.
async fn metrics(State(library): State<Arc<Library>>) -> Response {
    answered(move || {
        Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], pages::metrics(&library)).into_response())
    })
    .await
}

async fn compare(State(library): State<Arc<Library>>, Query(asked): Asked) -> Response {
    answered(move || {
        let named = |name: &str| asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        if let (Some(before), Some(after)) = (named("a"), named("b")) {
            let allows = named("allow-differences").is_some();
            return pages::compare(&library, &before, &after, allows).map(|page| Html(page).into_response());
        }
        // The form of the list: the run that began first is the earlier side.
        let [before, after] = pages::in_order(&library, &chosen(asked))?;
        let place = format!("/compare?a={}&b={}", encoded(&before), encoded(&after));
        Ok(Redirect::to(&place).into_response())
    })
    .await
}

async fn history(State(library): State<Arc<Library>>, Query(asked): Asked) -> Response {
    made(move || pages::history(&library, &chosen(asked))).await
}

async fn overlay(State(library): State<Arc<Library>>, Query(asked): Asked) -> Response {
    made(move || pages::overlay(&library, &chosen(asked))).await
}

fn chosen(asked: Vec<(String, String)>) -> Vec<String> {
    asked.into_iter().filter(|(name, _)| name == "run").map(|(_, id)| id).collect()
}

async fn without_slash(State(library): State<Arc<Library>>, Path(id): Path<String>) -> Response {
    answered(move || {
        let found = find(&library, &id)?;
        Ok(Redirect::to(&format!("/runs/{}/", encoded(&found.id))).into_response())
    })
    .await
}

async fn run(State(library): State<Arc<Library>>, Path(id): Path<String>) -> Response {
    made(move || pages::run(&library, &find(&library, &id)?)).await
}

async fn live(State(library): State<Arc<Library>>, Path(id): Path<String>) -> Response {
    made(move || pages::live(&library, &find(&library, &id)?)).await
}

async fn events(State(library): State<Arc<Library>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    answered(move || {
        let found = find(&library, &id)?;
        Ok(stream::events(found.path, stream::known(&headers)).into_response())
    })
    .await
}

/// A report, rendered from the records: `report` to view, `report.md` and so on to download.
async fn report(State(library): State<Arc<Library>>, Path((id, name)): Path<(String, String)>) -> Response {
    answered(move || {
        let is_page = name == "report";
        let ending = name.strip_prefix("report.").unwrap_or_default();
        let kept = pages::downloads().find(|format| format.name() == ending);
        let format = if is_page { Some(Format::Html) } else { kept };
        let format = format.ok_or_else(Refusal::nothing_here)?;
        let found = find(&library, &id)?;
        let analysed = library.analysed(&found).map_err(|error| Refusal::unreadable(&found.id, &error))?;
        let text = render(&analysed.findings, format, &Style::default());
        let file = format!("attachment; filename*=UTF-8''{}.{}", encoded(&found.id), format.ending());
        let kept: [(HeaderName, String); 1] = [(CONTENT_DISPOSITION, file)];
        let shown = [(CONTENT_TYPE, media_type(format)), (CONTENT_SECURITY_POLICY, POLICY_OF_REPORTS)];
        Ok(if is_page { (shown, text).into_response() } else { (shown, kept, text).into_response() })
    })
    .await
}

fn media_type(format: Format) -> &'static str {
    match format.name() {
        "html" => "text/html; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "csv" | "tidy" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "junit" => "application/xml",
        _ => "text/plain; charset=utf-8",
    }
}

fn find(library: &Library, id: &str) -> Result<Found, Refusal> {
    library.find(id).ok_or_else(|| Refusal::no_run(id))
}

/// Renders a page on a thread that may block on files.
async fn made(page: impl FnOnce() -> Result<String, Refusal> + Send + 'static) -> Response {
    answered(move || page().map(|page| Html(page).into_response())).await
}

async fn answered(answer: impl FnOnce() -> Result<Response, Refusal> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(refusal)) => refusal.into_response(),
        // The rendering panicked: the page reports it, and the server continues.
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("This page could not be made: {error}\n")).into_response()
        }
    }
}
