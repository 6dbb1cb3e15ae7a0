//! `tolok replicate`: an invented source, measured again on paced servers.

use rustix::process::Signal;
use serde_json::Value;

use crate::place::{Said, assert_done, my_turn};
use crate::replicate::place;

fn readings(found: &Value) -> Vec<(String, String)> {
    let of = |claim: &'_ Value, key: &str| claim[key].as_str().unwrap().to_owned();
    found["claims"].as_array().unwrap().iter().map(|claim| (of(claim, "id"), of(claim, "reading"))).collect()
}

#[test]
fn a_source_is_measured_part_by_part_and_its_claims_are_judged() {
    let _turn = my_turn();
    let place = place();
    let mut cut_off = place.start(&["replicate", "doe"]);
    cut_off.wait_for("1/16 ");
    cut_off.signal(Signal::INT);
    let (said, code) = cut_off.finish();
    assert!(said.contains("To go on: tolok replicate doe --resume"), "{said}");
    assert_eq!(code, Some(130), "{said}");
    let Said { output, progress, code } = place.tolok(&["replicate", "doe", "--resume", "--format", "json"]);
    assert!(progress.contains("of 16 trials left"), "{progress}");
    let found: Value = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {progress}"));
    // Each part is a separate run that can use all CPUs again.
    let parts = found["parts"].as_array().unwrap();
    assert!(parts.iter().all(|part| part["run"].is_string()), "{parts:?}");
    assert_eq!((parts[0]["trials"].as_u64(), parts[1]["trials"].as_u64()), (Some(16), Some(1)), "{parts:?}");
    // One or two disturbed trials leave enough rounds; otherwise nothing is decided, and the report names the cause.
    if progress.contains("CPU busy, discarded") && found["tally"]["cannot_tell"] != 0 {
        tolok_testkit::skip("a_source_is_measured_part_by_part", "others disturbed its trials");
        return;
    }
    assert_done(code, &progress);
    let judged = [("three-times", "reproduced"), ("slow-leads", "reversed")];
    assert_eq!(readings(&found), judged.map(|(id, reading)| (id.to_owned(), reading.to_owned())), "{output}");
    // The stored runs give the same result, in every format, and the same exit code: 5 after a disturbed trial.
    let again = place.tolok(&["replicate", "doe", "--stored", "--format", "json"]);
    assert_eq!((again.output, again.code), (output, code), "{}", again.progress);
    let text = place.tolok(&["replicate", "doe", "--stored"]).output;
    assert!(text.contains("2 of 2 claims could be judged: 1 is reproduced and 1 is reversed."), "{text}");
    let one = place.tolok(&["replicate", "doe", "--stored", "--part", "more"]);
    assert!(one.output.contains("No verdict on 2 claims."), "{}", one.output);
    assert!(one.code == Some(4) || one.code == code && code != Some(0), "no claim can be judged: {:?}", one.code);
}
