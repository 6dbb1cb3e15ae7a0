//! Whether separate machines can generate the load.

use super::Plan;
use crate::environment::{CpuMode, Environment};
use crate::load::profile::Pool;
use crate::study::Scenario;
use crate::tool::LoadTool;

impl Plan {
    /// Why this many other machines cannot generate the plan's load, and what to do, in a sentence.
    pub fn refuses_generators(&self, generators: u32) -> Option<String> {
        if self.scenarios.is_empty() {
            return Some(
                "--generators is for servers under load, and this study times programs: leave it out".to_owned(),
            );
        }
        let of_scenario =
            |scenario: &Scenario| Some(format!("scenario {} {}", scenario.id, refused_by(scenario, generators)?));
        let found = self.scenarios.iter().find_map(of_scenario);
        let of_environment = || self.environments.iter().find_map(refused_in);
        found.or_else(of_environment).map(|why| format!("{why}, or leave out --generators"))
    }
}

fn refused_by(scenario: &Scenario, generators: u32) -> Option<String> {
    if scenario.slices.is_some() {
        return Some(
            "is in slices, and a generator freezes servers on its own machine only: measure without slices".to_owned(),
        );
    }
    if scenario.tool.name != LoadTool::Tolok {
        let tool = scenario.tool.name.word();
        return Some(format!("uses {tool}, which --generators cannot start on other nodes: use the tool `tolok`"));
    }
    let (places, what) = match (scenario.load.executor.vus_max(), scenario.load.pool) {
        (Some(users), _) => (users, "users"),
        (None, Some(Pool::Bounded(connections))) => (connections, "connections"),
        (None, _) => return None,
    };
    (places < generators).then(|| format!("has {places} {what} for {generators} generators: ask for one each at least"))
}

fn refused_in(environment: &Environment) -> Option<String> {
    if let Some(what) = environment.needs_namespaces() {
        return Some(format!("the study asks for {what}, which tolok makes within one machine: measure without it"));
    }
    let limits = &environment.generator;
    let has_limits = limits.mode == CpuMode::Quota || limits.memory_bytes.is_some() || limits.pids.is_some();
    has_limits.then(|| {
        "the study limits its generator, which --generators gives whole nodes: leave the limits out".to_owned()
    })
}
