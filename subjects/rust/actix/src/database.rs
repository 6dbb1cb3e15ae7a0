//! The workloads on tables, independent of the framework.

use std::collections::BTreeSet;
use std::env;
use std::sync::Arc;

use maud::{DOCTYPE, Markup, html};
use serde::{Deserialize, Serialize};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{MySqlPool, PgPool};

use crate::items::Drawn;
use crate::kept::Kept;
use crate::tables::{Fortune, Row40, Row50, Stock};

const FORTUNES: &str = "SELECT id, message FROM fortune";
const LARGEST_ID: i32 = 1_000_000_000;
const LARGEST_AMOUNT: i32 = 999_999_999;

/// Statements in the notation of each database: PostgreSQL numbers its parameters.
struct Statements {
    by_id: &'static str,
    list_40: &'static str,
    list_50: &'static str,
    lock_stock: &'static str,
    set_stock: &'static str,
    stock: &'static str,
    put_stock: &'static str,
    delete_stock: &'static str,
}

const MYSQL: Statements = Statements {
    by_id: "SELECT * FROM rows40_text WHERE id = ?",
    list_40: "SELECT * FROM rows40_text ORDER BY id LIMIT ?",
    list_50: "SELECT * FROM rows50_text ORDER BY id LIMIT ?",
    lock_stock: "SELECT amount FROM stock WHERE id = ? FOR UPDATE",
    set_stock: "UPDATE stock SET amount = ? WHERE id = ?",
    stock: "SELECT amount, id FROM stock WHERE id = ?",
    put_stock: "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)",
    delete_stock: "DELETE FROM stock WHERE id = ?",
};

const POSTGRES: Statements = Statements {
    by_id: "SELECT * FROM rows40_text WHERE id = $1",
    list_40: "SELECT * FROM rows40_text ORDER BY id LIMIT $1",
    list_50: "SELECT * FROM rows50_text ORDER BY id LIMIT $1",
    lock_stock: "SELECT amount FROM stock WHERE id = $1 FOR UPDATE",
    set_stock: "UPDATE stock SET amount = $1 WHERE id = $2",
    stock: "SELECT amount, id FROM stock WHERE id = $1",
    put_stock: "INSERT INTO stock (amount, id) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount",
    delete_stock: "DELETE FROM stock WHERE id = $1",
};

#[derive(Clone)]
pub struct Database {
    pool: Pool,
    kept: Arc<Kept>,
}

#[derive(Clone)]
enum Pool {
    Mysql(MySqlPool),
    Postgres(PgPool),
}

/// Runs the same code on either pool, with its statements.
macro_rules! on {
    ($database:expr, |$pool:ident, $sql:ident| $work:expr) => {
        match &$database.pool {
            Pool::Mysql($pool) => {
                let $sql = &MYSQL;
                $work
            }
            Pool::Postgres($pool) => {
                let $sql = &POSTGRES;
                $work
            }
        }
    };
}

#[derive(Debug, Clone, Copy)]
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
    limit: i32,
}

/// A row of `rows40`, or of `stock`.
#[derive(Deserialize)]
pub struct RowAsked {
    id: i32,
}

#[derive(Deserialize)]
pub struct Amount {
    amount: i32,
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

impl RowAsked {
    fn up_to(&self, largest: i32) -> Result<i32, Failure> {
        if (1..=largest).contains(&self.id) { Ok(self.id) } else { Err(Failure::Invalid) }
    }
}

impl Database {
    /// Creates the pool without connecting.
    pub fn open() -> Self {
        let pool = if setting("DATABASE_ENGINE") == "postgres" { Pool::postgres() } else { Pool::mysql() };
        Self { pool, kept: Arc::default() }
    }

    pub async fn rows(&self, RowsAsked { fields, limit }: RowsAsked) -> Result<Rows, Failure> {
        if !(1..=10_000).contains(&limit) {
            return Err(Failure::Invalid);
        }
        Ok(match fields {
            40 => Rows::Of40(on!(self, |pool, sql| sqlx::query_as(sql.list_40).bind(limit).fetch_all(pool).await)?),
            50 => Rows::Of50(on!(self, |pool, sql| sqlx::query_as(sql.list_50).bind(limit).fetch_all(pool).await)?),
            _ => return Err(Failure::Invalid),
        })
    }

    pub async fn query(&self, asked: RowAsked) -> Result<Row40, Failure> {
        self.row(asked.up_to(10_000)?).await
    }

    async fn row(&self, id: i32) -> Result<Row40, Failure> {
        Ok(on!(self, |pool, sql| sqlx::query_as(sql.by_id).bind(id).fetch_one(pool).await)?)
    }

    pub async fn queries(&self, asked: Drawn) -> Result<Vec<Row40>, Failure> {
        let mut rows = Vec::new();
        for id in asked.keys(500)? {
            rows.push(self.row(id).await?);
        }
        Ok(rows)
    }

    pub async fn fortunes(&self, FortunesAsked { add }: FortunesAsked) -> Result<Markup, Failure> {
        if !(1..=200).contains(&add.len()) {
            return Err(Failure::Invalid);
        }
        let mut rows: Vec<Fortune> = on!(self, |pool, _sql| sqlx::query_as(FORTUNES).fetch_all(pool).await)?;
        rows.push(Fortune { id: 0, message: add });
        rows.sort_by(|a, b| a.message.cmp(&b.message));
        Ok(page(&rows))
    }

    /// Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
    pub async fn updates(&self, asked: Drawn) -> Result<Vec<Stock>, Failure> {
        let keys: BTreeSet<i32> = asked.keys(100)?.collect();
        on!(self, |pool, sql| {
            let mut transaction = pool.begin().await?;
            let mut changed = Vec::with_capacity(keys.len());
            for id in keys {
                let amount: i32 = sqlx::query_scalar(sql.lock_stock).bind(id).fetch_one(&mut *transaction).await?;
                let amount = amount + 1;
                sqlx::query(sql.set_stock).bind(amount).bind(id).execute(&mut *transaction).await?;
                changed.push(Stock { amount, id });
            }
            transaction.commit().await?;
            Ok(changed)
        })
    }

    /// One row, from the cache if it is there.
    pub async fn read_row(&self, asked: RowAsked) -> Result<Stock, Failure> {
        let id = asked.up_to(LARGEST_ID)?;
        let entry = self.kept.entry(id);
        let row = entry
            .get_or_try_init(|| async {
                on!(self, |pool, sql| sqlx::query_as(sql.stock).bind(id).fetch_optional(pool).await)
            })
            .await?;
        row.ok_or(Failure::NotFound)
    }

    /// Creates a row or changes it.
    pub async fn write_row(&self, asked: RowAsked, Amount { amount }: Amount) -> Result<Stock, Failure> {
        let id = asked.up_to(LARGEST_ID)?;
        if !(0..=LARGEST_AMOUNT).contains(&amount) {
            return Err(Failure::Invalid);
        }
        // Even if it fails, because the database may have made the change.
        let _forgets = self.kept.forget_later(id);
        on!(self, |pool, sql| sqlx::query(sql.put_stock).bind(amount).bind(id).execute(pool).await.map(drop))?;
        Ok(Stock { amount, id })
    }

    pub async fn delete_row(&self, asked: RowAsked) -> Result<(), Failure> {
        let id = asked.up_to(LARGEST_ID)?;
        let _forgets = self.kept.forget_later(id);
        on!(self, |pool, sql| sqlx::query(sql.delete_stock).bind(id).execute(pool).await.map(drop))?;
        Ok(())
    }
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn port() -> u16 {
    setting("DATABASE_PORT").parse().unwrap_or_default()
}

fn connections() -> u32 {
    setting("DATABASE_POOL").parse().unwrap_or(1).max(1)
}

impl Pool {
    fn mysql() -> Self {
        let options = MySqlConnectOptions::new()
            .host(&setting("DATABASE_HOST"))
            .port(port())
            .database(&setting("DATABASE_NAME"))
            .username(&setting("DATABASE_USER"))
            .password(&setting("DATABASE_PASSWORD"));
        let pool = MySqlPoolOptions::new()
            .max_connections(connections())
            .test_before_acquire(setting("PING") == "on")
            .connect_lazy_with(options);
        Self::Mysql(pool)
    }

    fn postgres() -> Self {
        let options = PgConnectOptions::new_without_pgpass()
            .host(&setting("DATABASE_HOST"))
            .port(port())
            .database(&setting("DATABASE_NAME"))
            .username(&setting("DATABASE_USER"))
            .password(&setting("DATABASE_PASSWORD"));
        let pool = PgPoolOptions::new()
            .max_connections(connections())
            .test_before_acquire(setting("PING") == "on")
            .connect_lazy_with(options);
        Self::Postgres(pool)
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
