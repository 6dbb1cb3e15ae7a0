//! Which answers a workload owes once its parameters are set.

use std::iter;

use tolok_model::{Body, DataBody, SplitMix64, Workload};

use super::body::{queries_body, query_body, rows_body};
use super::{crud, fortunes, stock};
use crate::computed;

/// The answers that a workload owes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// The same bytes every time.
    One { body: Vec<u8> },
    /// One answer for each path; the load requests them in turn.
    Many(Vec<PathAnswer>),
    /// Answers differ, and the load compares no body: it depends on earlier requests, or the contract leaves it open. `example` has
    /// the required shape, or is empty.
    Any { example: Vec<u8> },
}

impl Answers {
    /// Any answer, of unknown shape.
    pub(crate) const UNKNOWN: Self = Self::Any { example: Vec::new() };
}

/// The correct answer for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathAnswer {
    /// The path, with its query string.
    pub path: String,
    /// The body of the request, if it has one.
    pub sent: Option<Vec<u8>>,
    /// How often it is requested, relative to the others.
    pub weight: u32,
    pub body: Vec<u8>,
    /// How to request it, if that differs from the workload.
    pub asked: Option<Asked>,
}

/// One kind of a workload's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its name in the records.
    pub part: &'static str,
    pub method: &'static str,
    pub status: u16,
}

impl PathAnswer {
    /// The correct answer to a request without a body.
    pub(crate) fn plain(path: String, body: Vec<u8>) -> Self {
        Self { path, sent: None, weight: 1, body, asked: None }
    }
}

/// Why the answers of a workload cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    #[error("workload {workload}: there is no table of {fields} fields; ask for fields=40 or fields=50")]
    Fields { workload: String, fields: u32 },
    #[error("workload {workload}: its answer needs the parameter `{parameter}`; add it to its workload.toml")]
    Parameter { workload: String, parameter: &'static str },
}

/// How many rows are requested in turn: too many for a cache of one row, few enough to hold the answers.
const KEYS: usize = 64;
/// How many seeds are requested in turn.
const SEEDS: usize = 16;
/// Sizes of the files of a mix.
const SIZES: u32 = 5;
/// The seed that keys and seeds are drawn with.
const DRAW_SEED: u64 = 83_850;
/// Rows in the table of single-row requests.
const KEYS_IN_TABLE: u64 = 10_000;
/// The largest seed that the key generator accepts.
pub(crate) const LARGEST_SEED: u64 = 2_147_483_646;

/// Whether a study has chosen the values of all parameters.
pub fn is_resolved(workload: &Workload) -> bool {
    workload.parameters.keys().all(|name| workload.values.contains_key(name))
}

impl Answers {
    /// The answers of a workload that follow from a database, the request or the path; `None` for other workloads.
    pub fn of(workload: &Workload) -> Result<Option<Self>, AnswersError> {
        let value = |parameter: &'static str| {
            let lacks = || AnswersError::Parameter { workload: workload.name.clone(), parameter };
            workload.values.get(parameter).copied().ok_or_else(lacks)
        };
        let data = match &workload.body {
            Body::Data { data } => data,
            Body::Computed { compute } => {
                let sizes = compute.parameters().iter().map(|name| value(name)).collect::<Result<Vec<u32>, _>>()?;
                let size = sizes.first().copied().unwrap_or_default();
                return Ok(Some(Self::Many(computed::answers(*compute, workload, size, &draw(SEEDS, LARGEST_SEED)))));
            }
            Body::Generated(mix) if workload.body.is_mix() => {
                return Ok(Some(Self::Many(files(&workload.path, mix.bytes, mix.seed))));
            }
            _ => return Ok(None),
        };
        Ok(Some(match data {
            DataBody::Rows => {
                let fields = value("fields")?;
                let none = || AnswersError::Fields { workload: workload.name.clone(), fields };
                Self::One { body: rows_body(fields, value("limit")?).ok_or_else(none)? }
            }
            DataBody::Query => {
                let keys = draw(KEYS, KEYS_IN_TABLE).into_iter();
                let path = |key| with_parameter(&workload.path, "id", key);
                let answer = |key| Some(PathAnswer::plain(path(key), query_body(key)?));
                Self::Many(keys.filter_map(answer).collect())
            }
            DataBody::Queries => {
                let n = value("n")?;
                let seeds = draw(SEEDS, LARGEST_SEED).into_iter();
                let path = |seed| with_parameter(&workload.path, "seed", seed);
                let answer = |seed| PathAnswer::plain(path(seed), queries_body(n, seed));
                Self::Many(seeds.map(answer).collect())
            }
            DataBody::Fortunes => {
                let seeds = draw(SEEDS, LARGEST_SEED).into_iter();
                Self::Many(seeds.map(|seed| fortunes::loaded(&workload.path, seed)).collect())
            }
            DataBody::Updates => Self::Many(stock::loaded(&workload.path, value("n")?)),
            DataBody::Crud => Self::Many(crud::loaded(&workload.path)),
            DataBody::Counter | DataBody::Fidelity => Self::UNKNOWN,
        }))
    }
}

/// Files of a mix, the smallest first.
fn files(path: &str, largest: usize, seed: u64) -> Vec<PathAnswer> {
    let file = |number: u32| {
        let steps = SIZES - 1 - number / 2;
        let mut random = SplitMix64::stream(seed, [u64::from(number)]);
        let noise = iter::repeat_with(|| random.next_u64().to_le_bytes()).flatten();
        let body = noise.take(largest >> (2 * steps)).collect();
        PathAnswer { weight: 1 << steps, ..PathAnswer::plain(format!("{path}/{number}.bin"), body) }
    };
    (0..2 * SIZES).map(file).collect()
}

/// The path with this parameter in its query string, replacing any other value of it.
pub(crate) fn with_parameter(path: &str, name: &str, number: u32) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let others = query.split('&').filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(name));
    let query: String = others.map(|pair| format!("{pair}&")).collect();
    format!("{path}?{query}{name}={number}")
}

/// This many distinct numbers from 1 on, the same at every call.
fn draw(count: usize, most: u64) -> Vec<u32> {
    let mut random = SplitMix64::new(DRAW_SEED);
    let mut drawn: Vec<u32> = Vec::with_capacity(count);
    while drawn.len() < count {
        let number = 1 + random.below(most) as u32;
        if !drawn.contains(&number) {
            drawn.push(number);
        }
    }
    drawn
}
