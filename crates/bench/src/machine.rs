//! The machine and the date that all figures depend on.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    pub cpus: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// TCP's congestion control, which also applies on the loopback. Some variants pace, and pacing has a cost.
    pub congestion_control: String,
    /// Runnable tasks, averaged over the minute before the start.
    pub load_average: Option<f64>,
    pub date: String,
}

impl Machine {
    pub fn read() -> Machine {
        let host = tolok_host::machine::Machine::read();
        let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        Machine {
            cpu: known(host.processor.model),
            cpus: host.topology.ids().len(),
            kernel: known(host.kernel.release),
            congestion_control: known(host.network.congestion_control),
            load_average: host.moment.load_average.map(|[minute, ..]| minute),
            date: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string(),
        }
    }

    /// The machine in words, with the use of its CPUs.
    pub fn words(&self, placed: &str) -> String {
        let Machine { cpu, cpus, kernel, date, .. } = self;
        let load = load_words(self.load_average);
        format!("{cpu}, {cpus} CPUs ({placed}), Linux {kernel}, load average {load} at the start, {date}")
    }
}

pub fn load_words(load: Option<f64>) -> String {
    load.map_or_else(|| "?".to_owned(), |load| format!("{load:.2}"))
}
