//! The environment of a subject: how it is written, what its lists expand to, and what is refused.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, everything, listed};
use insta::assert_snapshot;
use tolok_model::{CpuMode, Environment, Here, Link, LinkBackend, Network, Plan, PlanError, Study};

const SOUND: &str = "title = 'T'\nsubjects = ['go/nethttp']\n[[scenario]]\nworkload = 'json'\n\
                     load = { executor = 'constant-vus', vus = 8, duration = '1s' }\n[environment]\n";

fn study(environment: &str) -> Study {
    Study::read(&format!("{SOUND}{environment}"), &catalogue()).unwrap()
}

/// The environments of a study, one per line: id and description.
fn environments(environment: &str) -> String {
    let lines = study(environment)
        .environments
        .iter()
        .map(|one| format!("{:<24} {}", one.id, one.describe()))
        .collect::<Vec<_>>();
    lines.join("\n")
}

fn problems(environment: &str) -> String {
    let text = format!("{SOUND}{environment}");
    match Study::read(&text, &catalogue()) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => listed(&text, &problems),
    }
}

#[test]
fn the_default_is_one_dedicated_cpu_over_the_loopback() {
    assert_eq!(study("").environments, [Environment::default()]);
    assert_snapshot!(environments(""), @"                         1 dedicated CPU");
    assert!(Environment::default().needs_groups().is_none() && Environment::default().needs_namespaces().is_none());
}

#[test]
fn limits_as_published_comparisons_had_them() {
    assert_snapshot!(environments("subject = { cpus = 1, memory = '512MiB', mode = 'quota', pids = 100 }"), @"                         a quota of 1 CPU · 512MiB of memory · 100 processes and threads at most");
    assert_snapshot!(environments("subject = { cpus = 4 }\ngenerator = { cpus = 2 }"), @"                         4 dedicated CPUs");
    assert_snapshot!(environments("subject = { cpus = 8, memory = '8GB' }"), @"                         8 dedicated CPUs · 8GB of memory");
    assert_snapshot!(environments("subject = { cpus = 0.5, mode = 'quota' }"), @"                         a quota of 0.5 CPUs");
    let limited = &study("subject = { cpus = 1.5, memory = '0.5 GiB', mode = 'quota' }").environments[0];
    assert_eq!((limited.subject.mode, limited.subject.whole_cpus()), (CpuMode::Quota, 2));
    assert_eq!(limited.subject.memory_bytes, Some(512 << 20));
    assert_eq!(limited.needs_groups(), Some("a CPU quota"));
}

#[test]
fn lists_make_one_environment_for_each_combination() {
    assert_snapshot!(environments("subject = { cpus = [1, 2], mode = ['dedicated', 'quota'] }\nlink = ['localhost', 'lan-wifi']"), @"
    dedicated-1cpu-localhost 1 dedicated CPU
    dedicated-1cpu-lan-wifi  1 dedicated CPU · link lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)
    dedicated-2cpu-localhost 2 dedicated CPUs
    dedicated-2cpu-lan-wifi  2 dedicated CPUs · link lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)
    quota-1cpu-localhost     a quota of 1 CPU
    quota-1cpu-lan-wifi      a quota of 1 CPU · link lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)
    quota-2cpu-localhost     a quota of 2 CPUs
    quota-2cpu-lan-wifi      a quota of 2 CPUs · link lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)
    ");
    assert_snapshot!(environments("link = { rtt = ['10ms', '100ms'], loss = ['0%', '0.1%'] }\nnetwork.congestion = ['cubic', 'bbr']"), @"
    rtt-10ms-loss-0-cubic    1 dedicated CPU · link rtt 10ms
    rtt-10ms-loss-0-bbr      1 dedicated CPU · link rtt 10ms · bbr
    rtt-10ms-loss-0_1-cubic  1 dedicated CPU · link rtt 10ms, loss 0.1%
    rtt-10ms-loss-0_1-bbr    1 dedicated CPU · link rtt 10ms, loss 0.1% · bbr
    rtt-100ms-loss-0-cubic   1 dedicated CPU · link rtt 100ms
    rtt-100ms-loss-0-bbr     1 dedicated CPU · link rtt 100ms · bbr
    rtt-100ms-loss-0_1-cubic 1 dedicated CPU · link rtt 100ms, loss 0.1%
    rtt-100ms-loss-0_1-bbr   1 dedicated CPU · link rtt 100ms, loss 0.1% · bbr
    ");
    assert_snapshot!(environments("link = ['localhost', { rtt = '20ms', backend = 'netem' }, { backend = 'veth' }]"), @"
    localhost                1 dedicated CPU
    rtt-20ms-netem           1 dedicated CPU · link rtt 20ms, netem
    veth                     1 dedicated CPU · link veth
    ");
}

#[test]
fn a_preset_can_be_changed_in_parts() {
    let link =
        &study("link = { preset = 'lan-wifi', loss = '1%', seed = 7, backend = 'emulator' }").environments[0].link;
    let expected =
        Link { loss: 0.01, seed: Some(7), backend: LinkBackend::Emulator, ..Link::preset("lan-wifi").unwrap() };
    assert_eq!(*link, expected);
    for name in Link::PRESETS {
        assert_eq!(Link::preset(name).unwrap().preset.as_deref(), Some(name));
    }
    assert_eq!(Link::preset("cloud-db-35ms").unwrap().rtt_s, 0.035);
    assert!(["cloud-db-19ms", "cloud-db-101ms", "cloud-db-ms", "wan"].iter().all(|name| Link::preset(name).is_none()));
}

#[test]
fn network_settings_come_from_a_preset_and_from_the_study() {
    let network = &study("network = { preset = 'web-server-2020', sysctl = { 'net.ipv4.tcp_tw_reuse' = 0 } }")
        .environments[0]
        .network;
    assert_eq!(network.sysctls["net.ipv4.tcp_tw_reuse"], "0");
    assert_eq!(network.sysctls["net.core.somaxconn"], "65535");
    assert!(Network::PRESETS.iter().all(|name| Network::preset(name).is_some()));
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    assert_snapshot!(problems(
        "subject = { cpus = [0.5, 0], memory = '512', mode = 'quotas', pids = 0 }\n\
         generator = { cpus = 0 }\n\
         link = ['lan-wify', { rtt = '1m', loss = '100%', rate = '54Mbps', queue = 'big', speed = 1 }]\n\
         network = { preset = 'fast', sysctl = { 'vm.swappiness' = 0, 'net.ipv4../x' = 1, 'net.ipv4.tcp_congestion_control' = 'bbr' } }"
    ), @r#"
    7:21 «0.5» dedicated `cpus` must be a whole number, at least 1 (a share of a CPU is a quota: mode = "quota")
    7:26 «0» dedicated `cpus` must be a whole number, at least 1 (a share of a CPU is a quota: mode = "quota")
    7:39 «'512'» `512` is not a size with its unit in quotes, such as "512MiB" or "150kB"
    7:53 «'quotas'» unknown value `quotas` (did you mean `quota`? known here: dedicated, quota)
    7:70 «0» `pids` must be at least 1
    8:22 «0» dedicated `cpus` must be a whole number, at least 1 (a share of a CPU is a quota: mode = "quota")
    9:9 «'lan-wify'» there is no link `lan-wify` (did you mean `lan-wifi`? known here: localhost, lan-wifi, wan-170ms, cloud-db-20ms, cloud-db-50ms, cloud-db-100ms)
    9:29 «'1m'» `rtt` must be 10s at most
    9:42 «'100%'» `loss` must be less than 100% (nothing can be measured if every packet is lost)
    9:57 «'54Mbps'» `54Mbps` is not bits a second with their unit in quotes, such as "54Mbit/s"
    9:75 «'big'» `big` is not a size with its unit in quotes, such as "512MiB" or "150kB"
    9:82 «speed» unknown key `speed` (did you mean `seed`? known here: preset, rtt, jitter, rate, loss, queue, seed, backend)
    10:22 «'fast'» there are no network settings `fast` (known here: web-server-2020)
    10:41 «'vm.swappiness'» `vm.swappiness` is a setting of the whole machine (only settings of a network namespace are changed: net.ipv4.*, net.ipv6.*, net.core.somaxconn, net.mptcp.*)
    10:62 «'net.ipv4../x'» `net.ipv4../x` is no name of a kernel setting (only settings of a network namespace are changed: net.ipv4.*, net.ipv6.*, net.core.somaxconn, net.mptcp.*)
    10:82 «'net.ipv4.tcp_congestion_control'» the congestion control has a key of its own: `congestion` (only settings of a network namespace are changed: net.ipv4.*, net.ipv6.*, net.core.somaxconn, net.mptcp.*)
    "#);
    assert_snapshot!(problems("link = ['localhost', 'localhost']"), @"7:8 «['localhost', 'localhost']» link `localhost` appears twice (links are told apart by preset, rtt, jitter, rate and loss)");
    assert_snapshot!(problems("subject = { memory = ['1MiB', '2MiB', '1024KiB'], mode = ['quota', 'quota'] }"), @"
    7:39 «'1024KiB'» this value appears twice
    7:68 «'quota'» this value appears twice
    ");
    assert_snapshot!(problems("link.rtt = ['1s', '1000ms']\nnetwork.congestion = ['bbr', 'cubic', 'bbr']"), @"
    7:19 «'1000ms'» this value appears twice
    8:39 «'bbr'» this value appears twice
    ");
    assert_snapshot!(problems("link = { rtt = '5ms', backend = 'veth' }"), @"7:8 «{ rtt = '5ms', backend = 'veth' }» a veth link emulates nothing (leave `backend` out, or ask for nothing but veth)");
    assert_snapshot!(problems("subject = { cpus = 0.001, mode = 'quota' }"), @"7:20 «0.001» `cpus` must be between 0.01 and 4096");
    assert_snapshot!(problems("link = 5"), @r#"7:8 «5» expected the name of a link, such as "lan-wifi", or a table such as { rtt = "20ms" }, found the number 5"#);
}

/// Quota and dedicated CPUs answer two questions, so no table has both.
#[test]
fn each_environment_has_scenarios_of_its_own() {
    let study = study("subject.mode = ['dedicated', 'quota']");
    let plan = Plan::expand(&study, &catalogue(), everything(), 1).unwrap();
    let ids: Vec<&str> = plan.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    assert_eq!(ids, ["json-c8-dedicated", "json-c8-quota"]);
    let modes: Vec<CpuMode> = plan.scenarios.iter().map(|one| plan.environment(one).unwrap().subject.mode).collect();
    assert_eq!(modes, [CpuMode::Dedicated, CpuMode::Quota]);
    assert!(plan.cases.iter().all(|case| ids.contains(&case.scenario.as_str())));
}

#[test]
fn an_environment_that_cannot_be_had_is_left_out_with_its_reason() {
    let study = study("subject.cpus = [1, 64]");
    let fits = |environment: &Environment| match environment.subject.cpus > 2.0 {
        true => Err("2 CPUs may be used here".to_owned()),
        false => Ok(()),
    };
    let plan = Plan::expand(&study, &catalogue(), Here { fits: &fits, ..everything() }, 1).unwrap();
    assert_eq!(plan.environments.len(), 1);
    assert_eq!(plan.skipped[0].subject, "environment [64 dedicated CPUs]");
    assert_eq!(plan.skipped[0].reason, "2 CPUs may be used here");
    let left_out = Plan::expand(&study, &catalogue(), everything(), 1).unwrap().scenarios;
    let left_out: Vec<String> = left_out.into_iter().map(|it| it.id).filter(|id| plan.scenario(id).is_none()).collect();
    assert_eq!((left_out.len(), &plan.skipped[0].scenarios), (1, &left_out), "named as it would have been");
    let none = Here { fits: &|_| Err("no".to_owned()), ..everything() };
    let error = Plan::expand(&study, &catalogue(), none, 1).unwrap_err();
    assert!(matches!(&error, PlanError::NoEnvironment(refused) if refused.len() == 2));
    assert_snapshot!(error, @"
    none of the study's environments can be set up on this machine
      environment [1 dedicated CPU]: no
      environment [64 dedicated CPUs]: no
    ");
}
