//! Computed answers, checked with inputs drawn at random. This exposes answers that were prepared, or kept from an earlier request.

use tolok_model::Workload;

use crate::data_contract::PathAnswer;
use crate::subject::{Answer, DRAWN_TYPE, Question, check};

/// This many wrong answers show what is wrong; more would repeat it.
const MOST_SHOWN: usize = 3;
/// A body up to this length is shown as it is.
const SHOWN_BYTES: usize = 40;

/// Sends all requests in turn, and describes how each wrong answer differs.
pub(super) fn differences(
    workload: &Workload,
    asked: &[PathAnswer],
    ask: &mut dyn FnMut(Question<'_>) -> Result<Answer, String>,
) -> Vec<String> {
    let mut given: Vec<Given<'_>> = Vec::new();
    let mut differences = Vec::new();
    for owed in asked {
        if differences.len() == MOST_SHOWN {
            break;
        }
        let request = request(workload, owed);
        let body = owed.sent.as_deref().map(|sent| (DRAWN_TYPE, sent));
        let gzip = workload.accepts_gzip();
        let answer = match ask(Question { body, gzip, ..Question::plain(&workload.method, &owed.path) }) {
            Ok(answer) => answer,
            Err(error) => {
                differences.push(format!("{request}: {error}"));
                continue;
            }
        };
        let verdict = check(&answer, workload, &owed.body);
        if let Err(difference) = &verdict {
            let earlier = given.iter().find(|earlier| !answer.body.is_empty() && earlier.body == answer.body);
            differences.push(format!("{request}: {}", earlier.map_or(difference.clone(), Given::repeated)));
        }
        given.push(Given { request, body: answer.body, is_right: verdict.is_ok(), owed });
    }
    differences
}

/// An earlier answer.
struct Given<'a> {
    request: String,
    body: Vec<u8>,
    is_right: bool,
    owed: &'a PathAnswer,
}

impl Given<'_> {
    fn repeated(&self) -> String {
        let Self { request, is_right, owed, .. } = self;
        match (is_right, &owed.sent) {
            (true, _) => format!("the right answer to {request}, so it comes from a cache"),
            (false, Some(_)) => format!("the same answer as to {request}, so it does not follow from the body"),
            (false, None) => format!("the same answer as to {request}, so it does not follow from the query"),
        }
    }
}

/// The request in a form that the developer of the server can repeat.
fn request(workload: &Workload, owed: &PathAnswer) -> String {
    let request = format!("{} {}", workload.method, owed.path);
    match owed.sent.as_deref() {
        None => request,
        Some([]) => format!("{request} with an empty body"),
        Some(sent) if sent.len() <= SHOWN_BYTES => format!("{request} with the body {}", String::from_utf8_lossy(sent)),
        Some(sent) => format!("{request} with a body of {} bytes", sent.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tolok_model::{Body, Computed, SplitMix64};

    use super::*;
    use crate::computed::{digest_body, drawn, items_body};
    use crate::data_contract::drawn_fortunes;

    fn workload(compute: Computed) -> Workload {
        let (method, name) = if compute == Computed::Digest { ("POST", "bytes") } else { ("GET", "n") };
        let text = format!(
            "title = 'T'\nrequest = {{ method = '{method}', path = '/x' }}\n[answer]\ncontent-type = 'application/json'\n\
             body = {{ compute = '{}' }}\n[parameter.{name}]\ndefault = 50\nleast = 1\nmost = 500\n",
            if compute == Computed::Digest { "digest" } else { "items" }
        );
        Workload::read("x", &text).unwrap()
    }

    /// The faults found in a server that answers with the bodies of `server`.
    fn found(compute: Computed, mut server: impl FnMut(&Question<'_>) -> Vec<u8>) -> Vec<String> {
        let workload = workload(compute);
        assert_eq!(workload.body, Body::Computed { compute });
        let asked = drawn(compute, &workload, &mut SplitMix64::new(7));
        found_in(&workload, &asked, &mut server)
    }

    fn found_in(
        workload: &Workload,
        asked: &[PathAnswer],
        server: &mut dyn FnMut(&Question<'_>) -> Vec<u8>,
    ) -> Vec<String> {
        differences(workload, asked, &mut |question| {
            let headers = vec![("content-type".to_owned(), workload.content_type.clone())];
            Ok(Answer { status: 200, headers, body: server(&question) })
        })
    }

    fn number(path: &str, name: &str) -> u32 {
        let mut pairs = path.split(['?', '&']).filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).unwrap().1.parse().unwrap()
    }

    fn items(question: &Question<'_>) -> Vec<u8> {
        items_body(number(question.path, "n"), number(question.path, "seed"))
    }

    fn digest(question: &Question<'_>) -> Vec<u8> {
        digest_body(question.body.unwrap().1)
    }

    fn assert_cached(found: &[String]) {
        assert!(!found.is_empty() && found.iter().all(|one| one.ends_with("so it comes from a cache")), "{found:?}");
    }

    #[test]
    fn a_server_that_computes_its_answers_passes() {
        assert_eq!(found(Computed::Items, items), Vec::<String>::new());
        assert_eq!(found(Computed::Digest, digest), Vec::<String>::new());
    }

    #[test]
    fn a_cache_is_found_by_what_its_key_leaves_out() {
        for key in ["n", "seed", "seed-length"] {
            let mut cache = HashMap::new();
            let key = |path: &str| match key {
                "seed-length" => number(path, "seed").to_string().len() as u32,
                name => number(path, name),
            };
            let found =
                found(Computed::Items, |asked| cache.entry(key(asked.path)).or_insert_with(|| items(asked)).clone());
            assert_cached(&found);
        }
        type Key = fn(&[u8]) -> Vec<u8>;
        let keys: [Key; 3] = [
            |body| body.len().to_le_bytes().to_vec(),
            |body| body[..body.len().min(100)].to_vec(),
            |body| body[body.len().saturating_sub(100)..].to_vec(),
        ];
        for key in keys {
            let mut cache = HashMap::new();
            let found = found(Computed::Digest, |asked| {
                cache.entry(key(asked.body.unwrap().1)).or_insert_with(|| digest(asked)).clone()
            });
            assert_cached(&found);
        }
    }

    #[test]
    fn a_page_that_is_kept_or_leaves_markup_as_it_is_is_found() {
        let text = "title = 'T'\ndatabase = true\nrequest = { path = '/f' }\n[answer]\ncontent-type = 'text/html'\nbody = { data = 'fortunes' }\n";
        let workload = Workload::read("f", text).unwrap();
        let asked = drawn_fortunes("/f", &mut SplitMix64::new(7));
        let owed = |question: &Question<'_>| asked.iter().find(|owed| owed.path == question.path).unwrap().body.clone();
        let found = |change: &dyn Fn(String) -> String| {
            let changed = |question: &Question<'_>| change(String::from_utf8(owed(question)).unwrap()).into_bytes();
            found_in(&workload, &asked, &mut { changed })
        };
        assert_eq!(found(&|page| page), Vec::<String>::new());
        assert_eq!(found(&|page| page.replace('"', "&#34;").replace('\'', "&#x27;")), Vec::<String>::new());
        let bare = found(&|page| page.replace("&lt;", "<"));
        assert!(bare[0].starts_with("GET /f?add=") && bare[0].contains(r#": "<b"#), "{bare:?}");
        let twice = found(&|page| page.replace("&amp;", "&amp;amp;"));
        assert!(twice[0].contains(r#": "amp;lt;"#), "{twice:?}");
        let first = owed(&Question::plain("GET", &asked[0].path));
        assert_cached(&found_in(&workload, &asked, &mut |_| first.clone()));
    }

    #[test]
    fn an_answer_that_is_always_the_same_is_told_from_one_that_is_wrong() {
        let canned = found(Computed::Digest, |_| digest_body(b"canned"));
        assert_eq!(canned.len(), MOST_SHOWN);
        assert!(canned[0].starts_with("POST /x with the body "), "{canned:?}");
        assert!(canned[1].starts_with("POST /x with an empty body: the same answer as to POST /x with"), "{canned:?}");
        assert!(canned[1].ends_with("so it does not follow from the body"), "{canned:?}");
        let short = found(Computed::Items, |asked| {
            items_body(number(asked.path, "n"), 1 + number(asked.path, "seed") % 2_147_483_646)
        });
        assert!(short[0].starts_with("GET /x?n=1&seed=1: row 1, field `id`: "), "{short:?}");
    }
}
