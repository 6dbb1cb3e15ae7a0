//! Answers the workloads with Actix Web.

use std::env;
use std::fmt;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Json, Query};
use actix_web::{App, HttpResponse, HttpServer, ResponseError, web};
use serde::Serialize;

use crate::database::{Database, Failure, QueriesAsked, QueryAsked, Rows, RowsAsked};
use crate::tables::Row40;

mod database;
mod tables;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let setting = |name| env::var(name).expect("subject.toml sets it");
    let database = Data::new(Database::open());
    HttpServer::new(move || {
        App::new()
            .app_data(database.clone())
            .route("/hello", web::get().to(hello))
            .route("/json", web::get().to(json))
            .route("/rows", web::get().to(rows))
            .route("/query", web::get().to(query))
            .route("/queries", web::get().to(queries))
    })
    .workers(setting("WORKERS").parse().expect("WORKERS is a number"))
    .keep_alive(Duration::from_secs(120))
    .bind(setting("ADDRESS"))?
    .run()
    .await
}

async fn hello() -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::html()).body("<h1>Hello, World!</h1>")
}

async fn json() -> Json<Message> {
    Json(Message { message: "Hello, World!" })
}

async fn rows(database: Data<Database>, asked: Query<RowsAsked>) -> Result<Json<Rows>, Failure> {
    database.rows(asked.into_inner()).await.map(Json)
}

async fn query(database: Data<Database>, asked: Query<QueryAsked>) -> Result<Json<Row40>, Failure> {
    database.query(asked.into_inner()).await.map(Json)
}

async fn queries(database: Data<Database>, asked: Query<QueriesAsked>) -> Result<Json<Vec<Row40>>, Failure> {
    database.queries(asked.into_inner()).await.map(Json)
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("the request is wrong, the row is not there, or the database does not answer")
    }
}
