//! Plans and records for tests.

use tolok_model::{CpuMap, Environment, MachineSummary, Plan, ProgramUsed, RECORD_FORMAT, RunRecord};

/// The record of a run with this name.
pub(crate) fn run_record(id: &str) -> RunRecord {
    RunRecord {
        format: RECORD_FORMAT,
        id: id.to_owned(),
        study: "example".to_owned(),
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        tolok_version: "0.1.0".to_owned(),
        git: None,
        seed: 7,
        plan_sha256: "00".to_owned(),
        machine: MachineSummary::default(),
        fingerprint: serde_json::json!({ "kernel": "6.1" }),
        programs: vec![ProgramUsed {
            name: "Go".to_owned(),
            version: "1.26".to_owned(),
            path: "/usr/bin/go".to_owned(),
            source: "system".to_owned(),
            sha256: Some("ab".repeat(32)),
        }],
        cpus: [(String::new(), CpuMap { subject: vec![0], generator: vec![1], ..CpuMap::default() })].into(),
        command: "tolok run example --seed 7".to_owned(),
        pool: None,
        nodes: Default::default(),
    }
}

/// A plan of two blocks without a case.
pub(crate) fn empty_plan() -> Plan {
    Plan {
        stopping: None,
        budget_s: None,
        format: RECORD_FORMAT,
        title: "Example".to_owned(),
        question: String::new(),
        seed: 7,
        blocks: 2,
        smallest_effect: 0.03,
        judge: Default::default(),
        reruns: 2,
        diagnose: false,
        rebuild: false,
        scale: 1.0,
        environments: vec![Environment::default()],
        scenarios: Vec::new(),
        programs: Vec::new(),
        published: Vec::new(),
        cases: Vec::new(),
        trials: Vec::new(),
        skipped: Vec::new(),
        brought: Default::default(),
    }
}
