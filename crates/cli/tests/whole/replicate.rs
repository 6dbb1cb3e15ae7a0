//! `tolok replicate`: what it refuses before it measures. [`crate::undisturbed`] measures the same source.

use std::fs;

use crate::place::Place;

const PUBLISHED: &str = r#"
title = "Two servers"
[method]
tool = "wrk"
loop = "closed"
connections = 4
[[scenario]]
name  = "hello"
title = "hello world"
[[row]]
subject = "quick"
scenario = "hello"
throughput_rps = 900
[[row]]
subject = "slow"
scenario = "hello"
throughput_rps = 300
[[claim]]
id   = "three-times"
says = "quick answers three times as much as slow"
figure = "throughput_rps"
a = { subject = "quick", scenario = "hello" }
b = { subject = "slow", scenario = "hello" }
ratio = 3
[[claim]]
id   = "slow-leads"
says = "slow has the highest throughput"
figure = "throughput_rps"
at = { scenario = "hello" }
highest = "slow"
"#;

/// The second part is unrelated to the claims: it shows that another part follows the first.
const REPLICATION: &str = r#"
source = "doe"
[[part]]
name = "table"
study = "table.toml"
says = "The table."
subjects = { quick = "test/quick", slow = "test/slow" }
scenarios = { hello = "hello-c4" }
[[part]]
name = "more"
study = "more.toml"
says = "One more."
subjects = {}
scenarios = {}
"#;

/// A home with the source `doe`.
pub fn place() -> Place {
    let place = Place::new().with_faulty("quick", "paced=300").with_faulty("slow", "paced=100");
    let place = place.with_study("['test/quick', 'test/slow']", 8, "300ms");
    let folder = place.path().join("studies/sources/doe");
    fs::create_dir_all(&folder).unwrap();
    fs::rename(place.path().join("studies/try.toml"), folder.join("table.toml")).unwrap();
    let place = place.with_study("['test/quick']", 1, "200ms");
    fs::rename(place.path().join("studies/try.toml"), folder.join("more.toml")).unwrap();
    fs::write(folder.join("replication.toml"), REPLICATION).unwrap();
    fs::create_dir_all(place.path().join("published")).unwrap();
    fs::write(place.path().join("published/doe.toml"), PUBLISHED).unwrap();
    place
}

#[test]
fn what_is_not_there_is_named_before_anything_is_measured() {
    let place = place();
    let refused = |words: &[&str]| {
        let said = place.tolok(words);
        assert_eq!((said.output.as_str(), said.code), ("", Some(2)), "{}", said.progress);
        said.progress
    };
    assert!(refused(&["replicate", "do"]).contains("there is no source `do`"));
    assert!(refused(&["replicate", "doe", "--part", "tabel"]).contains("did you mean `table`?"));
    let file = place.path().join("studies/sources/doe/replication.toml");
    fs::write(&file, REPLICATION.replace("test/slow", "test/sloe")).unwrap();
    assert!(refused(&["replicate", "doe"]).contains("test/sloe"));
    let nothing = place.tolok(&["replicate", "doe", "--stored"]);
    assert_eq!((nothing.output.as_str(), nothing.code), ("", Some(4)));
    assert!(nothing.progress.contains("measure first: tolok replicate doe"), "{}", nothing.progress);
    assert!(!place.path().join("runs").exists());
}
