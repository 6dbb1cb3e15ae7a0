//! The kernel: its version, its build, and its boot options.
//!
//! Keeps only boot options that affect a measurement. The others may name disks, hosts and secrets, and records are
//! meant to be shared.

use std::collections::BTreeMap;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

/// The kernel and the system around it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    pub release: Option<String>,
    /// Its build, as `uname -v` prints it.
    pub build: Option<String>,
    /// The options of its command line that affect a measurement.
    pub options: Vec<String>,
    /// How often the scheduler's tick interrupts a CPU.
    pub tick_hz: Option<u32>,
    /// Its source of time.
    pub clocksource: Option<String>,
    /// How much of a process has random addresses: 0 nothing, 1 stack and libraries, 2 the heap as well.
    #[serde(default)]
    pub randomised_addresses: Option<u32>,
    /// Whether it can delay packets itself (the queueing discipline netem), at once or after loading a module.
    pub netem: Option<bool>,
    /// The distribution, by its own name.
    pub distribution: Option<String>,
    /// The C library of the system's programs.
    pub libc: Option<String>,
}

pub(super) fn read(files: Files, config: Option<&KernelConfig>) -> Kernel {
    let release = files.word("proc/sys/kernel/osrelease");
    let netem = netem(files, release.as_deref(), config);
    Kernel {
        release,
        build: files.word("proc/sys/kernel/version"),
        options: files.text("proc/cmdline").map(|line| measuring_options(&line)).unwrap_or_default(),
        tick_hz: config.and_then(|config| config.value("HZ")?.parse().ok()),
        clocksource: files.word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        randomised_addresses: files.number("proc/sys/kernel/randomize_va_space"),
        netem,
        distribution: files.text("etc/os-release").and_then(|text| parse::os_release(&text, "PRETTY_NAME")),
        libc: libc(files),
    }
}

/// The kernel's build configuration. Many kernels contain it, compressed; distributions put it beside the kernel.
#[derive(Debug)]
pub(super) struct KernelConfig {
    set: BTreeMap<String, String>,
}

impl KernelConfig {
    pub(super) fn read(files: Files) -> Option<Self> {
        let carried = || unpacked(&files.bytes("proc/config.gz")?);
        let beside = || files.text(format!("boot/config-{}", files.word("proc/sys/kernel/osrelease")?));
        carried().or_else(beside).as_deref().and_then(Self::parse)
    }

    /// The lines `CONFIG_NAME=value`. Unset options are comments or missing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let setting = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_owned(), value.trim_matches('"').to_owned()))
        };
        let set: BTreeMap<String, String> = text.lines().filter_map(setting).collect();
        (!set.is_empty()).then_some(Self { set })
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(String::as_str)
    }

    /// Whether it is built in, not a module.
    pub(super) fn built_in(&self, name: &str) -> bool {
        self.value(name) == Some("y")
    }
}

/// A configuration has some hundred kilobytes. Anything much longer is not one.
const CONFIG_BYTES_MAX: u64 = 4 << 20;

fn unpacked(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Prefixes of options that affect a measurement.
const MEASURING: &str = "\
    amd_pstate cgroup clocksource cpufreq cpuidle default_hugepagesz gather_data_sampling hpet hugepages idle \
    intel_idle intel_pstate irqaffinity isolcpus kpti l1tf maxcpus mce mds mem= mitigations mmio_stale_data \
    nmi_watchdog noautogroup no_stf_barrier nohz nopcid nopti nosmt nosoftlockup nospec nowatchdog nr_cpus numa \
    pcie_aspm preempt processor. psi pti rcu_nocb rcupdate reg_file_data_sampling retbleed rt_group_sched sched \
    skew_tick slab spec_ spectre_ split_lock srbds ssbd swapaccount systemd.unified_cgroup_hierarchy threadirqs \
    transparent_hugepage tsa tsc tsx workqueue";

/// The words of a command line that are for the kernel. Those after `--` are for the first process.
pub(super) fn kernels_own(command_line: &str) -> impl Iterator<Item = &str> {
    command_line.split_whitespace().take_while(|word| *word != "--")
}

pub(super) fn measuring_options(command_line: &str) -> Vec<String> {
    let measuring = |word: &&str| MEASURING.split_whitespace().any(|beginning| word.starts_with(beginning));
    kernels_own(command_line).filter(measuring).map(str::to_owned).collect()
}

/// Looks for netem without loading it: loaded, built in, or loadable.
fn netem(files: Files, release: Option<&str>, config: Option<&KernelConfig>) -> Option<bool> {
    let loaded = files.text("proc/modules").is_some_and(|text| text.lines().any(|line| line.starts_with("sch_netem ")));
    let modules = |file: &str| files.text(format!("lib/modules/{}/{file}", release?));
    let named = |text: &String| text.contains("/sch_netem.ko");
    if loaded || modules("modules.builtin").as_ref().is_some_and(named) {
        return Some(true);
    }
    let loadable = modules("modules.dep").as_ref().map(named);
    match config {
        Some(config) if config.built_in("NET_SCH_NETEM") => Some(true),
        Some(config) if config.value("NET_SCH_NETEM").is_none() => Some(false),
        // It is a module or may be one. Its file tells whether it can be loaded here.
        _ => loadable,
    }
}

/// GNU's library contains its version as text. musl only shows that it is musl.
fn libc(files: Files) -> Option<String> {
    // Where distributions put it, for both processors.
    const GNU: &str = "lib/x86_64-linux-gnu lib/aarch64-linux-gnu usr/lib/x86_64-linux-gnu usr/lib/aarch64-linux-gnu \
                       lib64 usr/lib64 usr/lib";
    let library = |folder| files.bytes(format!("{folder}/libc.so.6"));
    let gnu = GNU.split_whitespace().find_map(library).and_then(|library| gnu_libc(&library));
    let musl = || files.names("lib").iter().any(|name| name.starts_with("ld-musl-")).then(|| "musl".to_owned());
    gnu.or_else(musl)
}

/// Extracts the text in brackets from `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.` in the
/// library.
pub(super) fn gnu_libc(library: &[u8]) -> Option<String> {
    const BEFORE: &[u8] = b"GNU C Library (";
    let at =
        library.windows(BEFORE.len()).position(|window| window[0] == BEFORE[0] && window == BEFORE)? + BEFORE.len();
    let rest = &library[at..library.len().min(at + 200)];
    let text = String::from_utf8_lossy(rest.split(|byte| *byte == 0 || *byte == b'\n').next()?).into_owned();
    // Unmodified builds have `GNU libc` there. Then only the sentence behind has the version.
    let (name, sentence) = text.split_once(')')?;
    let version = sentence.split_once("version ").map(|(_, version)| version.trim_end_matches('.').to_owned());
    match version {
        Some(version) if !name.contains(char::is_numeric) => Some(format!("{name} {version}")),
        _ => Some(name.to_owned()),
    }
}
