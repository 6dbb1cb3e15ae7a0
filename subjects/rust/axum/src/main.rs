//! Answers the workloads with axum.

use std::env;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use maud::Markup;
use serde::Serialize;
use tokio::net::TcpListener;
use tower_http::compression::CompressionLayer;

use crate::database::{Amount, Database, Failure, FortunesAsked, RowAsked, Rows, RowsAsked};
use crate::items::{Drawn, Item, Received, digest};
use crate::tables::{Row40, Stock};

mod database;
mod items;
mod kept;
mod tables;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[tokio::main]
async fn main() {
    let app = Router::new()
        .route("/hello", get(hello))
        .route("/json", get(json))
        .route("/items", get(items))
        .route("/compressed", get(items).layer(CompressionLayer::new()))
        .route("/upload", post(upload))
        .route("/rows", get(rows))
        .route("/query", get(query))
        .route("/queries", get(queries))
        .route("/fortunes", get(fortunes))
        .route("/updates", post(updates))
        .route("/crud", get(read_row).put(write_row).delete(delete_row))
        .with_state(Database::open());
    let address = env::var("ADDRESS").expect("subject.toml sets ADDRESS");
    let listener = TcpListener::bind(address).await.expect("the address is free");
    axum::serve(listener, app).await.expect("it serves until it is stopped");
}

async fn hello() -> Html<&'static str> {
    Html("<h1>Hello, World!</h1>")
}

async fn json() -> Json<Message> {
    Json(Message { message: "Hello, World!" })
}

async fn items(Query(asked): Query<Drawn>) -> Result<Json<Vec<Item>>, Failure> {
    asked.items().map(Json)
}

async fn upload(sent: Bytes) -> Json<Received> {
    Json(digest(&sent))
}

async fn rows(State(database): State<Database>, Query(asked): Query<RowsAsked>) -> Result<Json<Rows>, Failure> {
    database.rows(asked).await.map(Json)
}

async fn query(State(database): State<Database>, Query(asked): Query<RowAsked>) -> Result<Json<Row40>, Failure> {
    database.query(asked).await.map(Json)
}

async fn queries(State(database): State<Database>, Query(asked): Query<Drawn>) -> Result<Json<Vec<Row40>>, Failure> {
    database.queries(asked).await.map(Json)
}

async fn fortunes(State(database): State<Database>, Query(asked): Query<FortunesAsked>) -> Result<Markup, Failure> {
    database.fortunes(asked).await
}

async fn updates(State(database): State<Database>, Query(asked): Query<Drawn>) -> Result<Json<Vec<Stock>>, Failure> {
    database.updates(asked).await.map(Json)
}

async fn read_row(State(database): State<Database>, Query(asked): Query<RowAsked>) -> Result<Json<Stock>, Failure> {
    database.read_row(asked).await.map(Json)
}

async fn write_row(
    State(database): State<Database>,
    Query(asked): Query<RowAsked>,
    Json(sent): Json<Amount>,
) -> Result<Json<Stock>, Failure> {
    database.write_row(asked, sent).await.map(Json)
}

async fn delete_row(State(database): State<Database>, Query(asked): Query<RowAsked>) -> Result<StatusCode, Failure> {
    database.delete_row(asked).await.map(|()| StatusCode::NO_CONTENT)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        status.into_response()
    }
}
