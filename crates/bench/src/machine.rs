//! On what, and when: one line that every figure depends on.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    pub cpus: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// How TCP decides when to send, also on the loopback; some ways pace, and pacing costs.
    pub congestion_control: String,
    /// Tasks that ran or wanted to, averaged over the minute before the start.
    pub load_average: Option<f64>,
    pub load_average_at_end: Option<f64>,
    pub date: String,
    /// Whether server and generator always went before everybody else on their CPUs; null before the first measurement.
    pub raised: Option<bool>,
    /// Whether there are counters of instructions.
    pub counters: bool,
    pub server_cpu: u32,
    pub generator_cpu: u32,
}

impl Machine {
    pub fn look(server_cpu: u32, generator_cpu: u32) -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let line = |path: &str| known(read(path).trim());
        let cpu_info = read("/proc/cpuinfo");
        Machine {
            cpu: known(model_name(&cpu_info)),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: line("/proc/sys/kernel/osrelease"),
            congestion_control: line("/proc/sys/net/ipv4/tcp_congestion_control"),
            load_average: load_average(),
            load_average_at_end: None,
            date: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string(),
            raised: None,
            counters: crate::counters::Counters::open().is_some(),
            server_cpu,
            generator_cpu,
        }
    }

    pub fn line(&self) -> String {
        let load = |load: Option<f64>| load.map_or_else(|| "?".to_owned(), |load| format!("{load:.2}"));
        format!(
            "{}, {} CPUs (server on {}, generators on {}), Linux {}, congestion control {}, load average {} at the start and \
             {} at the end, {}; {}; {}",
            self.cpu,
            self.cpus,
            self.server_cpu,
            self.generator_cpu,
            self.kernel,
            self.congestion_control,
            load(self.load_average),
            load(self.load_average_at_end),
            self.date,
            if self.raised == Some(true) {
                "both in sessions of the highest priority"
            } else {
                "priority not raised, so other programs disturb"
            },
            if self.counters {
                "instructions counted by the processor"
            } else {
                "no counters, so no columns of instructions and cycles"
            },
        )
    }
}

/// The load of the last minute.
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The CPUs that this process may use, in order.
pub fn allowed_cpus() -> Vec<u32> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    let count = rustix::thread::CpuSet::MAX_CPU;
    (0..count).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

fn model_name(cpu_info: &str) -> &str {
    let line = cpu_info.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, name)| name.trim())
}

fn known(text: &str) -> String {
    if text.is_empty() { "unknown".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found_in_the_kernels_list() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: x\n"), "Some CPU @ 2 GHz");
        assert_eq!(known(model_name("processor\t: 0\n")), "unknown");
    }

    #[test]
    fn this_process_may_use_a_cpu() {
        assert!(!allowed_cpus().is_empty());
    }
}
