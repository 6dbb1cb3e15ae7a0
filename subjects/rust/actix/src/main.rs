//! Answers the workloads with Actix Web.

use std::env;
use std::fmt;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::middleware::Compress;
use actix_web::web::{Bytes, Data, Json, PayloadConfig, Query};
use actix_web::{App, HttpResponse, HttpServer, ResponseError, web};
use maud::Markup;
use serde::Serialize;

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

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let setting = |name| env::var(name).expect("subject.toml sets it");
    let database = Data::new(Database::open());
    HttpServer::new(move || {
        App::new()
            .app_data(database.clone())
            .app_data(PayloadConfig::new(1 << 20))
            .route("/hello", web::get().to(hello))
            .route("/json", web::get().to(json))
            .route("/items", web::get().to(items))
            .service(web::resource("/compressed").wrap(Compress::default()).route(web::get().to(items)))
            .route("/upload", web::post().to(upload))
            .route("/rows", web::get().to(rows))
            .route("/query", web::get().to(query))
            .route("/queries", web::get().to(queries))
            .route("/fortunes", web::get().to(fortunes))
            .route("/updates", web::post().to(updates))
            .service(
                web::resource("/crud")
                    .route(web::get().to(read_row))
                    .route(web::put().to(write_row))
                    .route(web::delete().to(delete_row)),
            )
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

async fn items(asked: Query<Drawn>) -> Result<Json<Vec<Item>>, Failure> {
    asked.items().map(Json)
}

async fn upload(sent: Bytes) -> Json<Received> {
    Json(digest(&sent))
}

async fn rows(database: Data<Database>, asked: Query<RowsAsked>) -> Result<Json<Rows>, Failure> {
    database.rows(asked.into_inner()).await.map(Json)
}

async fn query(database: Data<Database>, asked: Query<RowAsked>) -> Result<Json<Row40>, Failure> {
    database.query(asked.into_inner()).await.map(Json)
}

async fn queries(database: Data<Database>, asked: Query<Drawn>) -> Result<Json<Vec<Row40>>, Failure> {
    database.queries(asked.into_inner()).await.map(Json)
}

async fn fortunes(database: Data<Database>, asked: Query<FortunesAsked>) -> Result<Markup, Failure> {
    database.fortunes(asked.into_inner()).await
}

async fn updates(database: Data<Database>, asked: Query<Drawn>) -> Result<Json<Vec<Stock>>, Failure> {
    database.updates(asked.into_inner()).await.map(Json)
}

async fn read_row(database: Data<Database>, asked: Query<RowAsked>) -> Result<Json<Stock>, Failure> {
    database.read_row(asked.into_inner()).await.map(Json)
}

async fn write_row(
    database: Data<Database>,
    asked: Query<RowAsked>,
    sent: Json<Amount>,
) -> Result<Json<Stock>, Failure> {
    database.write_row(asked.into_inner(), sent.into_inner()).await.map(Json)
}

async fn delete_row(database: Data<Database>, asked: Query<RowAsked>) -> Result<HttpResponse, Failure> {
    database.delete_row(asked.into_inner()).await.map(|()| HttpResponse::NoContent().finish())
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
