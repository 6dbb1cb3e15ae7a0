//! Runs each target briefly, without the fuzzer: with its corpus, its seeds in the checkout, and mutations of both. The
//! inputs are the same in every run.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tolok_fuzz::{Target, targets};
use tolok_rng::SplitMix64;

/// Mutations of each target. `script/fuzz` tries as many in a tenth of a second.
const MUTATIONS: u64 = 1_500;

/// Fragments that many kinds of text consist of, so that mutations reach more than the first check.
const WORDS: [&[u8]; 20] = [
    b"\n",
    b"\r\n",
    b"\"",
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"=",
    b":",
    b",",
    b".",
    b"-1",
    b"0",
    b"1e999",
    b"null",
    b"\0",
    b"18446744073709551615",
    b"\xff",
    "\u{2028}é".as_bytes(),
];

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.extension().is_none_or(|ending| ["toml", "txt", "json", "log", "csv"].iter().any(|it| ending == *it))
    {
        found.push(path.to_owned());
    }
}

fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    files(&own.join("corpus").join(target.name), &mut found);
    assert!(!found.is_empty(), "{} has a corpus", target.name);
    target.seeds.iter().for_each(|seeds| files(&own.join("../..").join(seeds), &mut found));
    found.sort();
    found.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn mutated(inputs: &[Vec<u8>], longest: usize, numbers: &mut SplitMix64) -> Vec<u8> {
    let mut below = |most: usize| (numbers.next_u64() % most.max(1) as u64) as usize;
    let mut data = inputs[below(inputs.len())].clone();
    data.truncate(longest);
    for _ in 0..=below(4) {
        let at = below(data.len() + 1);
        let end = (at + below(16)).min(data.len());
        match below(5) {
            0 => drop(data.drain(at..end)),
            1 => drop(data.splice(at..at, WORDS[below(WORDS.len())].iter().copied())),
            2 => drop(data.splice(at..end, WORDS[below(WORDS.len())].iter().copied())),
            3 => data[at..end].iter_mut().for_each(|byte| *byte ^= 1 << below(8)),
            // A piece of another input.
            _ => {
                let other = &inputs[below(inputs.len())];
                let from = below(other.len() + 1);
                let to = (from + below(64)).min(other.len());
                data.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
    data
}

#[test]
fn no_target_panics_on_its_corpus_or_mutations_of_it() {
    let mut wrong = Vec::new();
    for target in targets() {
        let inputs = inputs(&target);
        let mut numbers = SplitMix64::new(20_261_126);
        let mutations = (0..MUTATIONS).map(|_| mutated(&inputs, target.longest, &mut numbers));
        let is_wrong = |data: &Vec<u8>| catch_unwind(AssertUnwindSafe(|| (target.run)(data))).is_err();
        let found = inputs.iter().cloned().chain(mutations).find(is_wrong);
        wrong.extend(found.map(|data| format!("{}: {}", target.name, data.escape_ascii())));
    }
    assert!(wrong.is_empty(), "put out by:\n{}", wrong.join("\n"));
}
