//! The document: tables, the machine, and everything one must know to read them.

use std::fmt::Write as _;

use crate::spaces::Lab;
use crate::table::Table;

const HOW_TO_READ: &str = include_str!("../../../document/link.md");

#[derive(Debug)]
pub struct Machine {
    cpu: String,
    cpus: usize,
    kernel: String,
    load: String,
    date: String,
}

impl Machine {
    pub fn look() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let model = info.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
        Machine {
            cpu: model.map_or("unknown CPU", |(_, name)| name.trim()).to_owned(),
            // Of the machine: this program keeps to one of them.
            cpus: info.lines().filter(|line| line.starts_with("processor")).count(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: read("/proc/loadavg").split(' ').next().unwrap_or("?").to_owned(),
            date: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string(),
        }
    }
}

pub fn write(machine: &Machine, lab: &Lab, conditions: Option<&str>, tables: &[Table]) -> String {
    let mut text = String::from(
        "# How true the emulated link is\n\nMade by `script/bench-link --markdown`; not edited by hand.\n\n",
    );
    let Machine { cpu, cpus, kernel, load, date } = machine;
    let _ = writeln!(
        text,
        "- Machine: {cpu}, {cpus} CPUs (link on {}, everything else on {}), Linux {kernel}, load average {load} at the start, {date}.",
        lab.link_cpu, lab.probe_cpu
    );
    let _ = writeln!(
        text,
        "- Link: {}; TCP: cubic at both ends, nothing remembered from connection to connection.",
        lab.priority()
    );
    if let Some(conditions) = conditions {
        let _ = writeln!(text, "- Conditions: {conditions}");
    }
    for table in tables {
        let _ = write!(text, "\n## {}\n\n{}", table.title, table.markdown());
    }
    let _ = write!(text, "\n{HOW_TO_READ}");
    text
}
