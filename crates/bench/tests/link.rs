//! The whole link bench: it creates its namespaces, measures, and writes its document.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use tolok_testkit::require;

#[test]
fn what_is_lost_is_what_the_seed_says_and_the_document_has_it() {
    require!(Path::new("/dev/net/tun").exists(), "there are no TUN devices here");
    let namespaces = Command::new("unshare").args(["--user", "--map-root-user", "--net", "true"]).status();
    require!(namespaces.is_ok_and(|status| status.success()), "no network namespaces may be made here");
    let cpu = allowed_cpu();
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("link.md");
    let output = Command::new(env!("CARGO_BIN_EXE_bench-link"))
        .args(["--quick", "--only", "loss,answers", "--conditions", "a test.", "--link-cpu", &cpu, "--probe-cpu", &cpu])
        .arg("--markdown")
        .arg(&document)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(document).unwrap();
    assert!(text.contains("- Conditions: a test.\n") && text.contains("## Connections: handshake"), "{text}");
    let row = text.lines().find(|line| line.starts_with("| 3% |")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    // Counted by the link, and computed without it.
    assert_eq!(cells[6], cells[7], "{row}");
    assert!(!text.contains("/tmp") && !text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
}

/// A CPU that this process may use: the first of its list, as in `0-3,8`.
fn allowed_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}
