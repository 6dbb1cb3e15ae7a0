//! Answers that follow from their requests: the functions that every subject computes, and their inputs.

use std::iter;

use tolok_model::manifest::sha256;
use tolok_model::{Computed, SplitMix64, Workload, WorkloadParameter};

use crate::data_contract::{LARGEST_SEED, PathAnswer, lehmer, with_parameter};
use crate::upstream::word;

const NAMES: [&str; 8] = ["anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"];
/// Letters of the bodies that the load sends. Its requests are kept as text.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Length of a body that fits into a message.
const SHORT_BYTES: u32 = 12;

/// `n` objects that follow from a seed, as a JSON array without blanks.
pub(crate) fn items_body(n: u32, seed: u32) -> Vec<u8> {
    let items: Vec<String> = lehmer(seed).take(n as usize).map(|x| Item::of(x).json()).collect();
    format!("[{}]", items.join(",")).into_bytes()
}

/// The same objects as the page that React renders from them.
pub(crate) fn react_body(n: u32, seed: u32) -> Vec<u8> {
    let entries: String = lehmer(seed).take(n as usize).map(|x| Item::of(x).html()).collect();
    format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>Items</title></head><body><div id=\"root\">\
         <main><h1>{n}<!-- --> items</h1><ul>{entries}</ul></main></div></body></html>"
    )
    .into_bytes()
}

struct Item {
    id: u64,
    name: &'static str,
    price_cents: u64,
    quantity: u64,
    in_stock: bool,
    stars: u64,
    votes: u64,
}

impl Item {
    fn of(x: u64) -> Self {
        Self {
            id: x,
            name: NAMES[(x % 8) as usize],
            price_cents: 1 + x % 10_000,
            quantity: 1 + x % 9,
            in_stock: x.is_multiple_of(3),
            stars: 1 + x % 5,
            votes: x % 1_000,
        }
    }

    fn json(&self) -> String {
        let Self { id, name, price_cents, quantity, in_stock, stars, votes } = self;
        let total_cents = price_cents * quantity;
        format!(
            "{{\"id\":{id},\"name\":\"{name}\",\"price_cents\":{price_cents},\"quantity\":{quantity},\"in_stock\":{in_stock},\
             \"rating\":{{\"stars\":{stars},\"votes\":{votes}}},\"total_cents\":{total_cents}}}"
        )
    }

    /// React writes `<!-- -->` between adjacent texts, to tell them apart in the browser.
    fn html(&self) -> String {
        let Self { id, name, price_cents, quantity, in_stock, stars, votes } = self;
        let price = |cents: u64| format!("<data value=\"{cents}\">{}.{:02}<!-- --> €</data>", cents / 100, cents % 100);
        let (one, all) = (price(*price_cents), price(price_cents * quantity));
        let (class, disabled) = if *in_stock { ("item", "") } else { ("item gone", " disabled=\"\"") };
        let shown = "★".repeat(*stars as usize);
        format!(
            "<li class=\"{class}\"><h2>{name}<!-- --> #<!-- -->{id}</h2>\
             <span class=\"stars\" title=\"{stars} of 5\">{shown}<!-- --> <small>{votes}<!-- --> votes</small></span>\
             <p>{quantity}<!-- --> × {one} = {all}</p><button type=\"button\"{disabled}>Buy</button></li>"
        )
    }
}

/// Length and SHA-256 of the request's body.
pub(crate) fn digest_body(sent: &[u8]) -> Vec<u8> {
    format!("{{\"bytes\":{},\"sha256\":\"{}\"}}", sent.len(), sha256(sent)).into_bytes()
}

/// The correct answer for each seed of the load, where a study has set `n` or `bytes`.
pub(crate) fn answers(compute: Computed, workload: &Workload, size: u32, seeds: &[u32]) -> Vec<PathAnswer> {
    let one = |seed: &u32| match compute {
        Computed::Items | Computed::Compressed | Computed::React => items(compute, &workload.path, size, *seed),
        Computed::Digest => digest(&workload.path, letters(size, &mut SplitMix64::new((*seed).into()))),
        Computed::Upstream => said(&workload.path, *seed),
    };
    seeds.iter().map(one).collect()
}

/// Randomly drawn requests and their correct answers. Neighbours have as much in common as possible, to expose a cache that confuses
/// them.
pub(crate) fn drawn(compute: Computed, workload: &Workload, random: &mut SplitMix64) -> Vec<PathAnswer> {
    let own = compute.parameters().iter().find_map(|name| workload.parameters.get(*name));
    let path = &workload.path;
    match (compute, own) {
        (Computed::Items | Computed::Compressed | Computed::React, Some(size)) => {
            drawn_items(compute, path, size, random)
        }
        (Computed::Digest, Some(size)) => drawn_bodies(path, size, random),
        // The last key comes twice: the upstream service must be called twice, too.
        (Computed::Upstream, _) => {
            let keys = [(); 3].map(|()| 1 + random.below(LARGEST_SEED) as u32);
            keys.iter().chain(keys.last()).map(|key| said(path, *key)).collect()
        }
        (_, None) => Vec::new(),
    }
}

fn drawn_items(compute: Computed, path: &str, n: &WorkloadParameter, random: &mut SplitMix64) -> Vec<PathAnswer> {
    let mut asked = vec![(n.least, 1), (n.most, LARGEST_SEED as u32)];
    for _ in 0..3 {
        let (one, other) = (value(n, random), value(n, random));
        let mut seed = || 1 + random.below(LARGEST_SEED) as u32;
        let (first, second) = (seed(), seed());
        asked.extend([(one, first), (one, second), (other, second)]);
    }
    asked.into_iter().map(|(n, seed)| items(compute, path, n, seed)).collect()
}

fn drawn_bodies(path: &str, bytes: &WorkloadParameter, random: &mut SplitMix64) -> Vec<PathAnswer> {
    let mut bodies = vec![letters(SHORT_BYTES, random), Vec::new(), letters(SHORT_BYTES, random)];
    let long = any_bytes(value(bytes, random), random);
    let mut with_another = |at: usize| {
        let mut body = long.clone();
        body.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 + random.below(255) as u8);
        body
    };
    let changed = [with_another(long.len().saturating_sub(1)), with_another(0)];
    bodies.push(long);
    bodies.extend(changed);
    bodies.push(any_bytes(bytes.most, random));
    bodies.into_iter().map(|body| digest(path, body)).collect()
}

fn value(parameter: &WorkloadParameter, random: &mut SplitMix64) -> u32 {
    let WorkloadParameter { least, most, one_of, .. } = parameter;
    match one_of.len() {
        0 => least + random.below(u64::from(most - least) + 1) as u32,
        values => one_of[random.below(values as u64) as usize],
    }
}

fn items(compute: Computed, path: &str, n: u32, seed: u32) -> PathAnswer {
    let path = with_parameter(&with_parameter(path, "n", n), "seed", seed);
    let body = if compute == Computed::React { react_body(n, seed) } else { items_body(n, seed) };
    PathAnswer::plain(path, body)
}

/// The answer of a server that has called the upstream service for a key.
fn said(path: &str, key: u32) -> PathAnswer {
    let body = format!("{{\"key\":{key},\"said\":\"{}\"}}", word(key));
    PathAnswer::plain(with_parameter(path, "key", key), body.into_bytes())
}

fn digest(path: &str, sent: Vec<u8>) -> PathAnswer {
    let answer = PathAnswer::plain(path.to_owned(), digest_body(&sent));
    PathAnswer { sent: Some(sent), ..answer }
}

fn any_bytes(count: u32, random: &mut SplitMix64) -> Vec<u8> {
    iter::repeat_with(|| random.next_u64().to_le_bytes()).flatten().take(count as usize).collect()
}

fn letters(count: u32, random: &mut SplitMix64) -> Vec<u8> {
    any_bytes(count, random).into_iter().map(|byte| LETTERS[usize::from(byte % 64)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from the workload's README.
    #[test]
    fn items_are_those_that_the_contract_defines() {
        let text = String::from_utf8(items_body(2, 1)).unwrap();
        let first = r#"{"id":16807,"name":"hammer","price_cents":6808,"quantity":5,"in_stock":false,"rating":{"stars":3,"votes":807},"total_cents":34040}"#;
        let second = r#"{"id":282475249,"name":"basket","price_cents":5250,"quantity":8,"in_stock":false,"rating":{"stars":5,"votes":249},"total_cents":42000}"#;
        assert_eq!(text, format!("[{first},{second}]"));
    }

    /// As React 19 printed it.
    #[test]
    fn a_page_is_what_react_renders() {
        let here = r#"<li class="item"><h2>funnel<!-- --> #<!-- -->50421</h2><span class="stars" title="2 of 5">★★<!-- --> <small>421<!-- --> votes</small></span><p>4<!-- --> × <data value="422">4.22<!-- --> €</data> = <data value="1688">16.88<!-- --> €</data></p><button type="button">Buy</button></li>"#;
        let gone = r#"<li class="item gone"><h2>hammer<!-- --> #<!-- -->16807</h2><span class="stars" title="3 of 5">★★★<!-- --> <small>807<!-- --> votes</small></span><p>5<!-- --> × <data value="6808">68.08<!-- --> €</data> = <data value="34040">340.40<!-- --> €</data></p><button type="button" disabled="">Buy</button></li>"#;
        for (seed, entry) in [(3, here), (1, gone)] {
            let owed = format!(
                r#"<!DOCTYPE html><html><head><meta charset="utf-8"><title>Items</title></head><body><div id="root"><main><h1>1<!-- --> items</h1><ul>{entry}</ul></main></div></body></html>"#
            );
            assert_eq!(String::from_utf8(react_body(1, seed)).unwrap(), owed);
        }
    }

    #[test]
    fn a_digest_is_that_of_the_bytes_sent() {
        let owed = br#"{"bytes":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#;
        assert_eq!(digest_body(b"abc"), owed);
    }

    #[test]
    fn values_are_drawn_from_what_a_parameter_may_be() {
        let mut random = SplitMix64::new(1);
        let range = WorkloadParameter { default: 2, least: 2, most: 4, one_of: Vec::new(), help: String::new() };
        let list = WorkloadParameter { one_of: vec![2, 4], ..range.clone() };
        let mut all = |parameter| {
            let mut found: Vec<u32> = (0..200).map(|_| value(parameter, &mut random)).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        assert_eq!((all(&range), all(&list)), (vec![2, 3, 4], vec![2, 4]));
    }
}
