//! What asks the tables, without a word of the framework.

use std::env;

use serde::{Deserialize, Serialize};
use sqlx::MySqlPool;
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};

use crate::tables::{Row40, Row50};

const BY_ID: &str = "SELECT * FROM rows40_text WHERE id = ?";
const LIST_40: &str = "SELECT * FROM rows40_text ORDER BY id LIMIT ?";
const LIST_50: &str = "SELECT * FROM rows50_text ORDER BY id LIMIT ?";

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
pub struct QueriesAsked {
    n: u32,
    seed: u64,
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

    pub async fn queries(&self, asked: QueriesAsked) -> Result<Vec<Row40>, Failure> {
        if !(1..=500).contains(&asked.n) || !(1..=2_147_483_646).contains(&asked.seed) {
            return Err(Failure::Invalid);
        }
        let mut rows = Vec::new();
        let mut x = asked.seed;
        for _ in 0..asked.n {
            x = x * 16_807 % 2_147_483_647;
            rows.push(sqlx::query_as(BY_ID).bind(1 + x % 10_000).fetch_one(&self.pool).await?);
        }
        Ok(rows)
    }
}
