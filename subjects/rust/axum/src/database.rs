//! What asks the tables, without a word of the framework.

use std::collections::BTreeSet;
use std::env;

use maud::{DOCTYPE, Markup, html};
use serde::{Deserialize, Serialize};
use sqlx::MySqlPool;
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};

use crate::items::Drawn;
use crate::tables::{Fortune, Row40, Row50, Stock};

const BY_ID: &str = "SELECT * FROM rows40_text WHERE id = ?";
const LIST_40: &str = "SELECT * FROM rows40_text ORDER BY id LIMIT ?";
const LIST_50: &str = "SELECT * FROM rows50_text ORDER BY id LIMIT ?";

const LOCK_STOCK: &str = "SELECT amount FROM stock WHERE id = ? FOR UPDATE";
const SET_STOCK: &str = "UPDATE stock SET amount = ? WHERE id = ?";

#[derive(Clone)]
pub struct Database {
    pool: MySqlPool,
}

#[derive(Debug)]
pub enum Failure {
    Invalid,
    NotFound,
    Unavailable,
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::RowNotFound) { Self::NotFound } else { Self::Unavailable }
    }
}

#[derive(Deserialize)]
pub struct RowsAsked {
    fields: u32,
    limit: u32,
}

#[derive(Deserialize)]
pub struct QueryAsked {
    id: u32,
}

#[derive(Deserialize)]
pub struct FortunesAsked {
    add: String,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Rows {
    Of40(Vec<Row40>),
    Of50(Vec<Row50>),
}

impl Database {
    /// Connects to nothing yet.
    pub fn open() -> Self {
        let setting = |name: &str| env::var(name).unwrap_or_default();
        let options = MySqlConnectOptions::new()
            .host(&setting("DATABASE_HOST"))
            .port(setting("DATABASE_PORT").parse().unwrap_or_default())
            .database(&setting("DATABASE_NAME"))
            .username(&setting("DATABASE_USER"))
            .password(&setting("DATABASE_PASSWORD"));
        let pool = MySqlPoolOptions::new()
            .max_connections(setting("DATABASE_POOL").parse().unwrap_or(1).max(1))
            .test_before_acquire(setting("PING") == "on")
            .connect_lazy_with(options);
        Self { pool }
    }

    pub async fn rows(&self, asked: RowsAsked) -> Result<Rows, Failure> {
        match asked {
            RowsAsked { limit: 0 | 10_001.., .. } => Err(Failure::Invalid),
            RowsAsked { fields: 40, limit } => {
                Ok(Rows::Of40(sqlx::query_as(LIST_40).bind(limit).fetch_all(&self.pool).await?))
            }
            RowsAsked { fields: 50, limit } => {
                Ok(Rows::Of50(sqlx::query_as(LIST_50).bind(limit).fetch_all(&self.pool).await?))
            }
            RowsAsked { .. } => Err(Failure::Invalid),
        }
    }

    pub async fn query(&self, asked: QueryAsked) -> Result<Row40, Failure> {
        if !(1..=10_000).contains(&asked.id) {
            return Err(Failure::Invalid);
        }
        Ok(sqlx::query_as(BY_ID).bind(asked.id).fetch_one(&self.pool).await?)
    }

    pub async fn queries(&self, asked: Drawn) -> Result<Vec<Row40>, Failure> {
        let mut rows = Vec::new();
        for id in asked.keys(500)? {
            rows.push(sqlx::query_as(BY_ID).bind(id).fetch_one(&self.pool).await?);
        }
        Ok(rows)
    }

    pub async fn fortunes(&self, FortunesAsked { add }: FortunesAsked) -> Result<Markup, Failure> {
        if !(1..=200).contains(&add.len()) {
            return Err(Failure::Invalid);
        }
        let mut rows: Vec<Fortune> =
            sqlx::query_as("SELECT id, message FROM fortune").fetch_all(&self.pool).await?;
        rows.push(Fortune { id: 0, message: add });
        rows.sort_by(|a, b| a.message.cmp(&b.message));
        Ok(page(&rows))
    }

    /// Adds 1 to amounts. The keys ascend: whoever locks rows in one order waits in no circle.
    pub async fn updates(&self, asked: Drawn) -> Result<Vec<Stock>, Failure> {
        let keys: BTreeSet<u32> = asked.keys(100)?.collect();
        let mut transaction = self.pool.begin().await?;
        let mut changed = Vec::with_capacity(keys.len());
        for id in keys {
            let amount: i32 = sqlx::query_scalar(LOCK_STOCK).bind(id).fetch_one(&mut *transaction).await?;
            let amount = amount + 1;
            sqlx::query(SET_STOCK).bind(amount).bind(id).execute(&mut *transaction).await?;
            changed.push(Stock { amount, id });
        }
        transaction.commit().await?;
        Ok(changed)
    }
}

fn page(rows: &[Fortune]) -> Markup {
    html! {
        (DOCTYPE)
        html {
            head { title { "Fortunes" } }
            body {
                table {
                    tr { th { "id" } th { "message" } }
                    @for row in rows { tr { td { (row.id) } td { (row.message) } } }
                }
            }
        }
    }
}
