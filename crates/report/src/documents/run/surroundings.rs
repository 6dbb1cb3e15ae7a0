//! The environment of a scenario's figures, in words that every format shares.

use tolok_analysis::figures::{Quantity, amount, count, counted, small_share};
use tolok_analysis::{CaseFinding, CpuMode, LinkFinding, PartFinding, ScenarioFinding, without_brackets};

use crate::documents::run::database;

/// The resources of the parts, and the link between them.
pub(crate) fn environment(scenario: &ScenarioFinding) -> String {
    let environment = &scenario.environment;
    let way = match &scenario.link {
        None => format!("over {}", environment.link),
        Some(link) => format!("over the link {}", link.words),
    };
    let mut parts = vec![part("subject", &environment.subject), part("generator", &environment.generator), way];
    if scenario.link.is_some() && !environment.link_cpus.is_empty() {
        parts.push(format!("emulator on {}", cpus(&environment.link_cpus)));
    }
    parts.extend(database::words(scenario));
    // Headings omit the package of a tool, so its full name is given here.
    parts.extend(
        Some(&scenario.tool).filter(|tool| without_brackets(tool) != **tool).map(|tool| format!("asked by {tool}")),
    );
    parts.push(format!("TCP {}", environment.congestion));
    parts.extend(environment.sysctls.iter().map(|(name, value)| format!("{name}={value}")));
    parts.join("; ")
}

/// The environment that all these scenarios share, so that it appears once.
pub(crate) fn common_environment<'a>(mut scenarios: impl Iterator<Item = &'a ScenarioFinding>) -> Option<String> {
    let first = environment(scenarios.next()?);
    scenarios.all(|scenario| environment(scenario) == first).then_some(first)
}

/// `subject: 1 dedicated CPU, on CPU 0 · 512MiB of memory`
fn part(name: &str, part: &PartFinding) -> String {
    let on = if part.on_cpus.is_empty() { String::new() } else { format!(", on {}", cpus(&part.on_cpus)) };
    // The CPU numbers go with the CPUs, which come first in a part's words.
    match part.words.split_once(" · ") {
        Some((given, limits)) => format!("{name}: {given}{on} · {limits}"),
        None => format!("{name}: {}{on}", part.words),
    }
}

/// `CPUs 0, 1`
pub(crate) fn cpus(cpus: &[u32]) -> String {
    let word = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{word} {}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
}

/// Whether the subjects of a scenario had a quota; then throttling gets a column.
pub(crate) fn has_quota(scenario: &ScenarioFinding) -> bool {
    scenario.environment.mode == CpuMode::Quota
}

/// The requested properties of a link.
pub(crate) fn asked(link: &LinkFinding) -> String {
    let seconds = |seconds: f64| amount(Quantity::Seconds, seconds);
    let queue = match link.queue_bytes {
        Some(bytes) => format!("a queue of {}", counted(bytes, "byte")),
        None => "a queue that fits the rate".to_owned(),
    };
    let parts = [
        Some(format!("round trip {}", seconds(link.rtt_s))),
        (link.jitter_s > 0.0).then(|| format!("jitter up to {}", seconds(link.jitter_s))),
        link.rate_bps.map(|rate_bps| format!("{}bit/s each way, with {queue}", amount(Quantity::Number, rate_bps))),
        (link.loss > 0.0).then(|| format!("loss of {} each way", small_share(link.loss))),
    ];
    let asked = if link.emulates { parts.into_iter().flatten().collect() } else { vec!["nothing emulated".to_owned()] };
    format!("{}; {}; {} over it", asked.join(", "), backend(&link.backend), link.congestion)
}

/// The implementation of a link, or the network without one.
pub(crate) fn backend(word: &str) -> String {
    match word {
        "host" => "the machine’s own network".to_owned(),
        "private" => "a private network".to_owned(),
        "veth" => "a pair of virtual Ethernet devices".to_owned(),
        "emulator" => "tolok’s link emulator".to_owned(),
        "netem" => "the kernel’s netem".to_owned(),
        other => other.to_owned(),
    }
}

/// How the emulated link performed over all cases of a scenario, in a line; `None` if tolok emulated none.
pub(crate) fn link_did(scenario: &ScenarioFinding) -> Option<String> {
    let uses: Vec<_> = cases(scenario).filter_map(|case| case.link.as_ref()).collect();
    let directions = || uses.iter().flat_map(|link| link.directions());
    let packets: u64 = directions().map(|it| it.packets).sum();
    let late_s: f64 = directions().map(|it| it.lateness_s_mean * it.packets as f64).sum();
    let latest_s = directions().map(|it| it.lateness_s_max).reduce(f64::max)?;
    let [full, lost] =
        [directions().map(|it| it.dropped_queue).sum::<u64>(), directions().map(|it| it.dropped_loss).sum()];
    let used = uses.iter().filter_map(|link| link.rate_offered()).reduce(f64::max);
    let parts = [
        Some(counted(packets, "packet")),
        Some(format!(
            "{} late on average, {} at most",
            amount(Quantity::Seconds, late_s / packets.max(1) as f64),
            amount(Quantity::Seconds, latest_s)
        )),
        (full > 0).then(|| format!("{} dropped by a full queue", count(full))),
        (lost > 0).then(|| format!("{} lost on purpose", count(lost))),
        used.map(|used| format!("offered up to {} of its rate", small_share(used))),
        (!uses.iter().all(|link| link.realtime)).then(|| "without the priority of real-time work".to_owned()),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

/// The competing cases of a scenario, and its ceiling.
pub(crate) fn cases(scenario: &ScenarioFinding) -> impl Iterator<Item = &CaseFinding> + Clone {
    scenario.cases.iter().chain(&scenario.ceiling)
}
