//! The data of the database workloads: tables that are the same everywhere, and the answers that follow from them.
//!
//! All of it is computed: the script that fills a server, the correct bodies, and the judgement of answers.
//! Nothing here starts or queries a server, and all random numbers come from fixed seeds.

mod answers;
mod body;
mod columns;
mod content;
mod crud;
mod difference;
mod digits;
mod document;
mod fidelity;
mod fidelity_postgres;
mod fortunes;
mod judge;
mod judge_postgres;
mod judge_value;
mod postgres;
mod script;
mod stock;
#[cfg(test)]
mod tests;
mod words;

pub use answers::{Answers, AnswersError, Asked, PathAnswer, is_resolved};
pub use body::{queries_body, query_body, rows_body};
pub use difference::{difference, shape_difference};
pub use judge::judge_fidelity;
pub use postgres::access_rules;
pub use script::{DATABASE, Purpose, USER, data_sha256, load_script, new_password, table_comment};

pub(crate) use answers::{LARGEST_SEED, with_parameter};
pub(crate) use body::lehmer;
pub(crate) use crud::{any_amount, row as crud_row, sent as crud_sent};
pub(crate) use document::is_json;
pub(crate) use fidelity_postgres::ENUM_NAME;
pub(crate) use fortunes::{changed_fortune, drawn_fortunes, with_plain_quotes};
pub(crate) use stock::{stock_keys, update};
