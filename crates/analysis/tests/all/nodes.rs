//! Findings on runs whose rounds ran on several machines.

use crate::invented::{BUN, GO, InventedRun, NODE};

/// Ten rounds, every second one on another node, where Go has the goodput `there`.
fn on_nodes(nodes: [&str; 2], there: f64) -> Vec<String> {
    let mut run = InventedRun::new(10);
    let noise = |block: usize, by: usize| 1.0 + ((block * by) % 7) as f64 / 1000.0;
    let go: Vec<f64> = (0..10).map(|block| if block % 2 == 0 { 20_000.0 } else { there } * noise(block, 3)).collect();
    let [bun, node] = [(40_000.0, 5), (9_000.0, 2)]
        .map(|(rps, by)| (0..10).map(|block| rps * noise(block, by)).collect::<Vec<f64>>());
    run.scenario("json-c64", "json", "JSON", 64).case(GO, &go).case(BUN, &bun).case(NODE, &node);
    run.run.nodes = (1..=10).map(|block| (block, nodes[block as usize % 2].to_owned())).collect();
    if nodes[0].contains(" with ") {
        run.run.pool = Some(tolok_model::PoolRequest { generators: 1, ..Default::default() });
    }
    let cautions = run.findings().cautions;
    cautions.into_iter().filter(|caution| caution.contains("node")).collect()
}

#[test]
fn nodes_that_serve_and_nodes_that_load_are_sets() {
    let said = on_nodes(["n1 with n2", "n3 with n4"], 20_000.0);
    assert!(said.iter().any(|it| it.starts_with("Rounds ran on 2 sets of nodes; ratios scatter by 0.")), "{said:?}");
}

#[test]
fn a_run_on_one_node_says_nothing_of_nodes() {
    assert!(on_nodes(["n1", "n1"], 20_000.0).iter().all(|caution| !caution.contains("Rounds ran")));
}

#[test]
fn nodes_between_which_ratios_do_not_differ_are_named_and_no_more() {
    let said = on_nodes(["n1", "n2"], 20_000.0);
    assert!(said.iter().any(|it| it.starts_with("Rounds ran on 2 nodes; ratios scatter by 0.")), "{said:?}");
    assert!(said.iter().any(|it| it.contains("no difference between nodes was found (F test")), "{said:?}");
}

#[test]
fn a_subject_that_is_faster_on_one_node_is_a_caution() {
    let said = on_nodes(["n1", "n2"], 30_000.0);
    let expected = "Rounds ran on 2 nodes, and results depend on the node: ratios scatter by ";
    assert!(said.iter().any(|it| it.starts_with(expected)), "{said:?}");
}
