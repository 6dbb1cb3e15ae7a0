//! Computed responses, independent of the framework.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::database::Failure;

const NAMES: [&str; 8] = ["anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"];

#[derive(Deserialize)]
pub struct Drawn {
    n: u32,
    seed: u64,
}

#[derive(Serialize)]
pub struct Item {
    id: u64,
    name: &'static str,
    price_cents: u64,
    quantity: u64,
    in_stock: bool,
    rating: Rating,
    total_cents: u64,
}

#[derive(Serialize)]
struct Rating {
    stars: u64,
    votes: u64,
}

#[derive(Serialize)]
pub struct Received {
    bytes: usize,
    sha256: String,
}

impl Drawn {
    pub fn items(&self) -> Result<Vec<Item>, Failure> {
        Ok(self.numbers(1_000)?.map(item).collect())
    }

    /// Keys of rows, which may repeat.
    pub fn keys(&self, most: u32) -> Result<impl Iterator<Item = i32>, Failure> {
        Ok(self.numbers(most)?.map(|x| 1 + (x % 10_000) as i32))
    }

    /// `n` numbers derived from the seed.
    fn numbers(&self, most: u32) -> Result<impl Iterator<Item = u64>, Failure> {
        let Self { n, seed } = *self;
        if !(1..=most).contains(&n) || !(1..=2_147_483_646).contains(&seed) {
            return Err(Failure::Invalid);
        }
        let next = |x: &u64| Some(x * 16_807 % 2_147_483_647);
        Ok(std::iter::successors(next(&seed), next).take(n as usize))
    }
}

fn item(x: u64) -> Item {
    let (price_cents, quantity) = (1 + x % 10_000, 1 + x % 9);
    Item {
        id: x,
        name: NAMES[(x % 8) as usize],
        price_cents,
        quantity,
        in_stock: x % 3 == 0,
        rating: Rating { stars: 1 + x % 5, votes: x % 1_000 },
        total_cents: price_cents * quantity,
    }
}

pub fn digest(sent: &[u8]) -> Received {
    Received { bytes: sent.len(), sha256: hex::encode(Sha256::digest(sent)) }
}
