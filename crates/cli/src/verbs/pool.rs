//! `tolok pool`: turns machines that ssh reaches into nodes for rounds.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tolok_lab::home::user_folder;
use tolok_lab::pool::{NewPool, NodeStatus, end, status as status_of};
use tolok_model::shown::visible;

use crate::args::{DownArgs, InitArgs, MachinesArgs, MachinesVerb, StatusArgs, TextOrJson};
use crate::exit::{CliError, Exit};
use crate::output::{json, put, say};
use crate::reports::runs_folder;

pub fn pool(args: &MachinesArgs) -> Result<Exit, CliError> {
    match &args.verb {
        MachinesVerb::Init(args) => init(args),
        MachinesVerb::Status(args) => status(args),
        MachinesVerb::Down(args) => down(args),
    }
}

fn init(args: &InitArgs) -> Result<Exit, CliError> {
    let internal = |what: &str, error: std::io::Error| CliError::new(Exit::Internal, format!("{what}: {error}"));
    let tolok = std::env::current_exe().map_err(|error| internal("cannot find tolok's own program", error))?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    // After a signal, `make` first undoes what it began.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let registered = signal_hook::flag::register(signal, Arc::clone(&is_stopped));
        registered.map_err(|error| internal("cannot listen for Ctrl-C", error))?;
    }
    let runs = runs_folder(args.runs.as_deref());
    let runs = std::path::absolute(&runs).unwrap_or(runs);
    let new = NewPool {
        hosts: &args.hosts,
        file: &args.output,
        ssh: &args.ssh.ssh,
        port: args.port,
        mixed_hardware: args.mixed_hardware,
        tolok: &tolok,
        shared: &[runs, user_folder("XDG_CACHE_HOME", ".cache")?],
    };
    new.make(&|| !is_stopped.load(Ordering::Relaxed), &mut |done| say(done))?;
    let file = args.output.display();
    say(format!("Written: {file}. Next: tolok run STUDY --on {file}; at the end: tolok pool down {file}"));
    Ok(Exit::Done)
}

fn status(args: &StatusArgs) -> Result<Exit, CliError> {
    let nodes = status_of(&args.file.file, &args.ssh.ssh)?;
    let text = match args.format {
        TextOrJson::Json => json(&serde_json::json!({ "schema_version": 1, "nodes": nodes }))?,
        TextOrJson::Text => visible(&table(&nodes)).into_owned(),
    };
    put(&text, None)?;
    Ok(if nodes.iter().all(|node| node.advice.is_none()) { Exit::Done } else { Exit::GateFailed })
}

/// A line for each node, with advice below it.
fn table(nodes: &[NodeStatus]) -> String {
    let widest =
        |of: fn(&NodeStatus) -> &str| nodes.iter().map(|node| of(node).chars().count()).max().unwrap_or_default();
    let (names, states) = (widest(|node| &node.name), widest(|node| &node.state));
    let mut text = String::new();
    for NodeStatus { name, address, state, advice } in nodes {
        let _ = writeln!(text, "{name:names$}  {state:states$}  {address}");
        if let Some(advice) = advice {
            let _ = writeln!(text, "{:names$}  {advice}", "");
        }
    }
    text
}

fn down(args: &DownArgs) -> Result<Exit, CliError> {
    let ended = end(&args.file.file, &args.ssh.ssh, args.force)?;
    say(format!(
        "The pool of {} is gone.",
        ended.host.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ")
    ));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_a_line_and_one_that_is_down_says_what_to_do() {
        let node = |name: &str, state: &str, advice: Option<&str>| NodeStatus {
            name: name.to_owned(),
            address: "10.0.0.1".to_owned(),
            state: state.to_owned(),
            advice: advice.map(str::to_owned),
        };
        let shown = table(&[node("n1", "allocated", None), node("node2", "down", Some("start it"))]);
        assert_eq!(shown, "n1     allocated  10.0.0.1\nnode2  down       10.0.0.1\n       start it\n");
    }
}
