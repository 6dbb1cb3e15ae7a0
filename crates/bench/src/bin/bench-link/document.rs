//! The document: tables, the machine, and everything needed to read them.

use std::fmt::Write as _;

use tolok_bench::machine::Machine;
use tolok_bench::table::Table;

use crate::spaces::Lab;

const HOW_TO_READ: &str = include_str!("../../../document/link.md");

pub fn write(machine: &Machine, lab: &Lab, conditions: Option<&str>, tables: &[Table]) -> String {
    let mut text = String::from(
        "# How true the emulated link is\n\nMade by `script/bench-link --markdown`; not edited by hand.\n\n",
    );
    let placed = format!("link on {}, everything else on {}", lab.link_cpu, lab.probe_cpu);
    let _ = writeln!(text, "- Machine: {}.", machine.words(&placed));
    let _ = writeln!(
        text,
        "- Link: {}; TCP: cubic at both ends, nothing remembered from connection to connection.",
        lab.priority()
    );
    if let Some(conditions) = conditions {
        let _ = writeln!(text, "- Conditions: {conditions}");
    }
    for table in tables {
        let _ = write!(text, "\n{}", table.markdown());
    }
    let _ = write!(text, "\n{HOW_TO_READ}");
    text
}
