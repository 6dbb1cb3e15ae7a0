//! The page of invented machines, as shown on a terminal.

use std::path::Path;

use anstream::adapter::strip_str;
use tolok_lab::toolbox::Remedy;

use super::*;

fn machine(files: &[(&str, &str)]) -> Machine {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Machine::read_from(root.path())
}

/// A guest in a cloud with little more than `/proc`, for a user with few rights.
fn poor_machine() -> Machine {
    machine(&[
        ("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu hypervisor\n"),
        ("proc/self/status", "Seccomp:\t0\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-1\n"),
        ("proc/self/limits", "Max open files  1024  1024  files\nMax realtime priority  0  0\n"),
        ("proc/sys/kernel/osrelease", "6.12.1\n"),
        ("proc/sys/kernel/perf_event_paranoid", "3\n"),
        ("proc/sys/kernel/sched_autogroup_enabled", "1\n"),
        ("proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"),
        ("proc/loadavg", "5.50 0.10 0.10 1/100 1\n"),
        ("proc/stat", "cpu  50 0 20 28 0 0 0 2 0 0\n"),
        ("sys/devices/system/cpu/online", "0-1\n"),
        ("dev/null", ""),
    ])
}

/// Root in a container with few rights.
const POOR: Facts =
    Facts { root: true, other_accounts: true, mounts: false, reachable: false, readable: true, filter: true };

fn shown(machine: &Machine, width: usize) -> String {
    let mut page = Page::of(width);
    describe(&mut page, &machine.abilities(), &protections_of(POOR), &machine.advice());
    strip_str(&page.text).to_string()
}

#[test]
fn a_poor_machine_on_a_narrow_terminal() {
    insta::assert_snapshot!(shown(&poor_machine(), 60));
}

#[test]
fn a_poor_machine_on_a_wide_terminal() {
    insta::assert_snapshot!(shown(&poor_machine(), 120));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 120] {
        for line in shown(&poor_machine(), width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn nothing_is_said_by_colour_alone() {
    let text = shown(&poor_machine(), 100);
    for mark in ["✓", "~", "✗", "problem", "warning", "note"] {
        assert!(text.contains(mark), "{mark} is missing:\n{text}");
    }
}

#[test]
fn where_nothing_is_lacking_nothing_is_listed() {
    let mut page = Page::of(80);
    let ability = |state| Ability { name: "steal".into(), state, how: "somehow".into() };
    describe(&mut page, &[ability(AbilityState::Yes), ability(AbilityState::Unknown)], &[], &[]);
    insta::assert_snapshot!(strip_str(&page.text).to_string());
}

#[test]
fn a_long_label_stands_above_its_words() {
    let mut page = Page::of(20);
    page.line(2, "a rather long label ", "words that are wrapped");
    assert_eq!(page.text, "  a rather long label\n    words that are\n    wrapped\n");
}

#[test]
fn tools_stand_apart_and_the_machine_is_whole_without_them() {
    let missing = |program: &str| {
        let remedy = Remedy::Fetch { program: program.to_owned(), from: format!("Debian package {program}") };
        (program.to_owned(), ProgramState::Missing { reason: None, remedy })
    };
    let states = BTreeMap::from(["nginx", "wrk", "k6"].map(missing));
    let mut page = Page::of(100);
    programs(&mut page, &states);
    tools(&mut page, &states);
    insta::assert_snapshot!(strip_str(&page.text).to_string(), @r"

    Programs
      missing  nginx                tolok setup nginx (Debian package nginx)

    Load generators and timers, for studies that name them
      absent   k6                   tolok setup k6 (Debian package k6)
      absent   wrk                  tolok setup wrk (Debian package wrk)
    ");
}
