//! Claims without figures in the source, settled by what the studies measured.

use crate::invented::replications::InventedSource;
use crate::invented::{BUN, GO, InventedRun, NODE};
use tolok_analysis::PublishedReading::*;
use tolok_analysis::replication::ClaimFinding;

/// Go has 34,300, Bun 42,600 (1.24 times as many) and Node 17,200 responses per second.
fn run() -> InventedRun {
    let mut run = InventedRun::new(10);
    run.scenario("json-c64", "json", "JSON", 64);
    run.steady(GO, 34_300.0).steady(BUN, 42_600.0).steady(NODE, 17_200.0);
    run
}

const GO_HERE: [&str; 3] = ["lan", "json-c64", "go/nethttp:encoder"];
const BUN_HERE: [&str; 3] = ["lan", "json-c64", "bun/serve"];
const NODE_HERE: [&str; 3] = ["lan", "json-c64", "node/http"];

fn source() -> InventedSource {
    let source = InventedSource::new(&["s"]).part("lan", "", "").row("go", "s", "throughput_rps = 1");
    source.claim("it", "untestable = \"only Go was measured\"")
}

fn settled(ratio: &str, pairs: &[(&str, [&str; 3], [&str; 3])]) -> ClaimFinding {
    source().settle("it", ratio, pairs).held_against(&[("lan", &run())]).claims.remove(0)
}

#[test]
fn a_ratio_is_judged_as_one_of_the_source_would_be() {
    let bun_over_go = |ratio: &str| settled(ratio, &[("JSON", BUN_HERE, GO_HERE)]);
    let readings = ["1.2..1.3", "1.6", "0.5", "> 1", "< 1"].map(|ratio| bun_over_go(ratio).reading);
    assert_eq!(readings, [Supported, SameDirection, Reversed, Supported, Reversed]);
    let found = bun_over_go("1.2..1.3");
    assert_eq!(found.published, "1.2–1.3×");
    let measured = found.measured.unwrap();
    assert!(measured.starts_with("JSON, bun/serve over go/nethttp:encoder: 1.24×"), "{measured}");
    assert_eq!(found.explanation.unwrap(), "The source has no figures for it: only Go was measured.");
    assert_eq!(bun_over_go("> 1").published, "more than 1×");
}

#[test]
fn it_holds_if_it_holds_of_each_pair() {
    let both = settled("> 1", &[("Bun", BUN_HERE, NODE_HERE), ("Go", GO_HERE, NODE_HERE)]);
    assert_eq!(both.reading, Supported);
    let one = settled("> 1", &[("Bun", BUN_HERE, NODE_HERE), ("Node", NODE_HERE, GO_HERE)]);
    assert_eq!(one.reading, Reversed);
    assert!(
        one.measured.unwrap().starts_with("Node, node/http over go/nethttp:encoder: 0.50"),
        "the deciding pair comes first"
    );
}

/// The same subject in two runs, so there are no pairs of blocks.
#[test]
fn a_pair_may_be_of_two_parts() {
    let mut near = InventedRun::new(10);
    near.scenario("json-near", "json", "JSON, next door", 64).steady(GO, 171_500.0);
    let source = source().part("near", "", "").settle(
        "it",
        "3..10",
        &[("Go, next door", ["near", "json-near", "go/nethttp:encoder"], GO_HERE)],
    );
    let found = source.held_against(&[("lan", &run()), ("near", &near)]).claims.remove(0);
    assert_eq!(found.reading, Supported);
    let measured = found.measured.unwrap();
    assert!(measured.starts_with("Go, next door: 5.00×"), "{measured}");
}

#[test]
fn what_was_left_out_is_the_reason_that_nothing_is_told() {
    let source = source().settle(
        "it",
        "> 1",
        &[("four CPUs", ["lan", "json-4cpu", "bun/serve"], ["lan", "json-4cpu", "go/nethttp:encoder"])],
    );
    let mut run = run();
    let why = |run: &InventedRun| source.held_against(&[("lan", run)]).claims.remove(0).explanation.unwrap();
    let unknown =
        "The run of part lan has no scenario json-4cpu; the source has no figures for it: only Go was measured.";
    assert_eq!(why(&run), unknown);
    run.skip_scenario("environment [4 CPUs]", "asked for 4 CPUs, 2 may be used: take a bigger machine", "json-4cpu");
    run.skip("bun/serve:jit", "it has no compiler");
    let left_out = "json-4cpu was left out of part lan: asked for 4 CPUs, 2 may be used";
    assert_eq!(why(&run), format!("{left_out}; the source has no figures for it: only Go was measured."));
}
