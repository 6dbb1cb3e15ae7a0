//! The fuzzer's corpus and mutations of it, without the fuzzer: every run tests the same inputs.

use std::path::Path;

use super::*;

const MUTATIONS: u32 = 30_000;

/// Building blocks of answers, so mutations get past the first check.
const WORDS: [&str; 22] = [
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    " ",
    ":",
    ",",
    ";",
    "0",
    "5",
    "ffffffffffffffff",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.0 200 OK\r\n",
    "Content-Length: 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "{\"a\":[1,2.5,\"x\"],",
    "\"b\":{\"c\":null,\"d\":true}}",
    "\\ud83d\\ude00",
    "\0",
];

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/answer");
    let mut inputs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn the_corpus_is_what_its_names_say() {
    let inputs = corpus();
    assert!(inputs.len() >= 40, "{}", inputs.len());
    for (name, data) in inputs {
        answer(&data);
        let verdict = judge([&data[2..]], &mut rules(&request(data[0])));
        let kind = match verdict {
            Ok(Answer { wrong_status: None, .. }) => "good",
            Ok(_) | Err(Fault::BadBody(_)) => "bad",
            Err(Fault::ClosedInsideAnswer) => "closed",
            // The corpus names bodies over the limit `bad`, although their class differs.
            Err(Fault::Malformed("the body is longer than the limit")) => "bad",
            Err(_) => "malformed",
        };
        assert!(name.starts_with(kind), "{name} is {verdict:?}");
    }
}

#[test]
fn no_mutation_of_the_corpus_is_judged_by_where_it_is_cut() {
    let inputs = corpus();
    let mut numbers = Lengths { state: 20_261_122, longest: usize::MAX - 1 };
    for _ in 0..MUTATIONS {
        let mut data = inputs[numbers.draw() % inputs.len()].1.clone();
        for _ in 0..=numbers.draw() % 4 {
            mutate(&mut data, &inputs, &mut numbers);
        }
        answer(&data);
    }
}

fn mutate(data: &mut Vec<u8>, inputs: &[(String, Vec<u8>)], numbers: &mut Lengths) {
    let at = numbers.draw() % (data.len() + 1);
    let end = (at + numbers.draw() % 8).min(data.len());
    match numbers.draw() % 6 {
        0 => drop(data.drain(at..end)),
        1 => drop(data.splice(at..at, WORDS[numbers.draw() % WORDS.len()].bytes())),
        2 => drop(data.splice(at..end, WORDS[numbers.draw() % WORDS.len()].bytes())),
        3 => data[at..end].iter_mut().for_each(|byte| *byte = numbers.draw() as u8),
        4 => data[at..end].iter_mut().for_each(|byte| *byte ^= 1 << (numbers.draw() % 8)),
        // Continues with the tail of another input.
        _ => {
            let other = &inputs[numbers.draw() % inputs.len()].1;
            data.truncate(at);
            data.extend_from_slice(&other[at.min(other.len())..]);
        }
    }
}
