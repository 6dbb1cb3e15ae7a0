//! Which plans can get their load from separate machines.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue_with_data, everything};
use tolok_model::{CpuMode, Link, Plan, Study};

const STUDY: &str = "title = 'T'\nsubjects = ['go/nethttp']\nblocks = 2\n\
    [[scenario]]\nworkload = 'hello'\nload = { executor = 'constant-vus', vus = 8, duration = '1s' }\n";

fn plan(text: &str) -> Plan {
    let study = Study::read(text, &catalogue_with_data()).unwrap();
    Plan::expand(&study, &catalogue_with_data(), everything(), 7).unwrap()
}

fn refused(generators: u32, change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = plan(STUDY);
    change(&mut plan);
    plan.refuses_generators(generators).unwrap_or_default()
}

#[test]
fn each_generator_needs_a_user() {
    assert_eq!(refused(8, |_| {}), "");
    let expected =
        "scenario hello-c8 has 8 users for 9 generators: ask for one each at least, or leave out --generators";
    assert_eq!(refused(9, |_| {}), expected);
}

#[test]
fn what_stays_within_one_machine_is_refused() {
    let slices = plan(&STUDY.replace("blocks = 2", "blocks = 2\ndesign = 'slices'")).refuses_generators(1).unwrap();
    assert!(slices.contains("freezes servers on its own machine only: measure without slices"), "{slices}");
    let link = refused(1, |plan| plan.environments[0].link = Link { rtt_s: 0.02, ..Link::default() });
    assert!(link.starts_with("the study asks for a link, which tolok makes within one machine"), "{link}");
    let quota = refused(1, |plan| plan.environments[0].generator.mode = CpuMode::Quota);
    assert!(quota.contains("limits its generator"), "{quota}");
}

#[test]
fn other_tools_and_programs_are_refused() {
    let wrk = refused(1, |plan| plan.scenarios[0].tool.name = tolok_model::LoadTool::Wrk);
    assert!(wrk.starts_with("scenario hello-c8 uses wrk, which --generators cannot start on other nodes"), "{wrk}");
    let programs = refused(1, |plan| plan.scenarios.clear());
    assert!(programs.contains("times programs: leave it out"), "{programs}");
}
