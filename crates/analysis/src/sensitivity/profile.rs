//! Splits a scenario into its settings, so two scenarios can be compared.

use std::collections::BTreeMap;

use tolok_model::{
    Connection, CpuMode, Database, Environment, Executor, Limits, Link, LoadProfile, Plan, Pool, Scenario,
    duration_words,
};

use super::factor::Factor;
use crate::names::Names;

/// The value of a factor in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Its place on an axis, or `None` if it has none, such as no limit.
    pub(crate) value: Option<f64>,
    /// In words; empty for the default.
    pub(crate) label: String,
}

/// A scenario, factor by factor.
pub(crate) struct Profile<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) settings: BTreeMap<Factor, Setting>,
}

impl<'a> Profile<'a> {
    /// The profiles of all scenarios of a plan, in its order.
    pub(crate) fn all(plan: &'a Plan, names: &Names) -> Vec<Self> {
        let of = |scenario| Self::of(scenario, plan.environment(scenario).cloned().unwrap_or_default(), names);
        plan.scenarios.iter().map(of).collect()
    }

    fn of(scenario: &'a Scenario, environment: Environment, names: &Names) -> Self {
        let mut profile = Self { scenario, settings: BTreeMap::new() };
        profile.load(&scenario.load);
        profile.limits(&environment);
        profile.link(&environment.link);
        if let Some(database) = environment.database.as_ref().filter(|_| scenario.database) {
            profile.database(database);
        }
        for (name, value) in names.values(&scenario.workload) {
            profile.number(Factor::Parameter(name), f64::from(value));
        }
        let tool = [Some(scenario.tool.name.word()), scenario.tool.script.as_ref().map(|script| script.file.as_str())];
        if !scenario.protocol.is_default() {
            let words = format!("{}, {} streams", scenario.protocol.title(), scenario.streams);
            profile.words(Factor::Apart("protocol"), words);
        }
        profile.words(Factor::Apart("tool"), tool.into_iter().flatten().collect::<Vec<_>>().join(" with "));
        profile
    }

    /// Users and rates have an axis. Other differences of the load make it a load of another kind.
    fn load(&mut self, load: &LoadProfile) {
        match (&load.executor, load.pool) {
            (Executor::ConstantArrivalRate { rate_rps, .. }, pool) => {
                self.number(Factor::OfferedRate, *rate_rps);
                if let Some(Pool::Bounded(connections)) = pool {
                    self.number(Factor::Connections, f64::from(connections));
                }
            }
            (executor, _) if executor.is_ramp() => {}
            (executor, _) => self.number(Factor::Connections, f64::from(executor.vus_max().unwrap_or_default())),
        }
        self.words(Factor::Apart("load"), kind_of(load));
    }

    fn limits(&mut self, environment: &Environment) {
        let Environment { subject, generator, network, .. } = environment;
        self.number(Factor::SubjectCpus, subject.cpus);
        match subject.memory_bytes {
            Some(bytes) => self.number(Factor::SubjectMemory, bytes as f64),
            None => self.words(Factor::SubjectMemory, "no limit".to_owned()),
        }
        let mode = match subject.mode {
            CpuMode::Dedicated => "dedicated CPUs",
            CpuMode::Quota => "a quota",
        };
        self.words(Factor::Apart("cpu-mode"), mode.to_owned());
        let pids = Limits { pids: subject.pids, ..Limits::default() };
        self.words(Factor::Apart("tasks"), if pids.pids.is_some() { pids.describe() } else { String::new() });
        self.words(Factor::Apart("generator"), format!("generator with {}", generator.describe()));
        let sysctls = network.sysctls.iter().map(|(name, value)| format!("{name}={value}"));
        let network: Vec<String> = std::iter::once(network.congestion.clone()).chain(sysctls).collect();
        self.words(Factor::Network, network.join(", "));
    }

    fn link(&mut self, link: &Link) {
        self.number(Factor::LinkRtt, link.rtt_s);
        self.number(Factor::LinkLoss, link.loss);
        match link.rate_bps {
            Some(rate_bps) => self.number(Factor::LinkRate, rate_bps),
            None => self.words(Factor::LinkRate, "no limit".to_owned()),
        }
        self.words(Factor::Link, rest_of(link));
    }

    fn database(&mut self, database: &Database) {
        self.number(Factor::DatabaseRtt, database.link.rtt_s);
        self.number(Factor::Pool, f64::from(database.pool));
        let link = Link { rtt_s: 0.0, preset: None, ..database.link.clone() };
        self.words(Factor::DatabaseLink, if link == Link::default() { String::new() } else { link.describe() });
        let rest = Database { pool: 0, link: Link::default(), ..database.clone() };
        self.words(Factor::Database, rest.describe().replace(" · pool of 0", ""));
    }

    fn number(&mut self, factor: Factor, value: f64) {
        let label = factor.label(value);
        self.settings.insert(factor, Setting { value: Some(value), label });
    }

    fn words(&mut self, factor: Factor, label: String) {
        self.settings.insert(factor, Setting { value: None, label });
    }

    /// Whether both have the same workload, with any parameters.
    pub(crate) fn is_of_workload(&self, other: &Self) -> bool {
        self.scenario.workload_name() == other.scenario.workload_name()
    }

    /// Whether the two differ at most in one factor, which has an axis in both.
    pub(crate) fn differs_at_most_in(&self, other: &Self, factor: &Factor) -> bool {
        let is_same = |(of, setting): (&Factor, &Setting)| of == factor || other.settings.get(of) == Some(setting);
        self.is_of_workload(other)
            && self.settings.len() == other.settings.len()
            && other.settings.get(factor).is_some_and(|setting| setting.value.is_some())
            && self.settings.iter().all(is_same)
    }

    /// Whether the two are comparable at all.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        let apart = |profile: &Self| -> Vec<(Factor, Setting)> {
            let kept = profile.settings.iter().filter(|(factor, _)| matches!(factor, Factor::Apart(_)));
            kept.map(|(factor, setting)| (factor.clone(), setting.clone())).collect()
        };
        self.is_of_workload(other) && apart(self) == apart(other)
    }
}

/// A load without its users and its rate: `closed loop, keep-alive, 5s`. It omits the time-out, which does not affect correct
/// responses.
fn kind_of(load: &LoadProfile) -> String {
    let requests = match &load.executor {
        Executor::ConstantVus { .. } => None,
        Executor::PerVuIterations { iterations, .. } => Some(format!("{iterations} requests each")),
        Executor::SharedIterations { iterations, .. } => Some(format!("{iterations} requests shared")),
        Executor::ConstantArrivalRate { arrivals, .. } => Some(format!("{} arrivals", arrivals.word())),
        Executor::RampingVus { .. } | Executor::RampingArrivalRate { .. } => return load.describe(),
    };
    let connection = match load.connection {
        Connection::KeepAlive => "keep-alive".to_owned(),
        Connection::PerRequest => "a connection per request".to_owned(),
        Connection::Requests(requests) => format!("a connection per {requests} requests"),
    };
    let pause = load.think_time.map(|think_time| {
        let [least, most] = [think_time.least_s, think_time.most_s].map(duration_words);
        format!("a pause of {least} to {most}")
    });
    let unbounded = (load.pool == Some(Pool::Unbounded)).then(|| "as many connections as it takes".to_owned());
    let kind = Some(format!("{} loop", load.executor.loop_model()));
    let parts = [kind, requests, unbounded, Some(connection), pause, Some(duration_words(load.duration_s))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The properties of a link besides round trip, rate and loss.
fn rest_of(link: &Link) -> String {
    let rest = Link { rtt_s: 0.0, rate_bps: None, loss: 0.0, preset: None, ..link.clone() };
    if rest == Link::default() { String::new() } else { format!("link with {}", rest.describe()) }
}

/// The workload of a group of scenarios, with the parameters that all of them share.
pub(crate) fn workload_of(group: &[&Profile]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let text = &first.scenario.workload;
    let Some((name, pairs)) = text.split_once('?') else { return first.scenario.workload_name().to_owned() };
    let is_alike = |pair: &&str| {
        let factor = Factor::Parameter(pair.split('=').next().unwrap_or_default().to_owned());
        group.iter().all(|profile| profile.settings.get(&factor) == first.settings.get(&factor))
    };
    let alike: Vec<&str> = pairs.split('&').filter(is_alike).collect();
    if alike.is_empty() { name.to_owned() } else { format!("{name}?{}", alike.join("&")) }
}

/// Settings that are constant in a group but differ elsewhere, in words.
pub(crate) fn fixed_words(own: &Profile, others: &[&Profile], except: impl Fn(&Factor) -> bool) -> String {
    let differs = |(factor, setting): &(&Factor, &Setting)| {
        others.iter().any(|other| other.settings.get(*factor) != Some(*setting))
    };
    // The workload's name already includes parameters.
    let is_said = |factor: &Factor| matches!(factor, Factor::Parameter(_)) || except(factor);
    let kept = own.settings.iter().filter(|(factor, _)| !is_said(factor)).filter(differs);
    let words = kept.map(|(factor, setting)| factor.phrase(&setting.label)).filter(|words| !words.is_empty());
    words.collect::<Vec<_>>().join(" · ")
}
