//! Findings on limits, links and neighbours, and on the isolation of a trial's parts.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use std::collections::BTreeMap;

use crate::invented::{BUN, CEILING, GO, InventedRun, NODE, carry, throttle, unprivileged};
use tolok_analysis::{CaseFinding, CpuMode, Findings, MemorySource, ScenarioFinding};
use tolok_model::{
    CpuSource, Diagnosis, Environment, FailureKind, GarbageCollection, GroupWeights, Limits, Link, Measurement,
    TrialRecord,
};

const MIB: u64 = 1 << 20;

fn dedicated(cpus: f64) -> Limits {
    Limits { cpus, ..Limits::default() }
}

fn quota(cpus: f64) -> Limits {
    Limits { mode: CpuMode::Quota, cpus, ..Limits::default() }
}

fn environment(id: &str, subject: Limits) -> Environment {
    Environment { id: id.to_owned(), subject, ..Environment::default() }
}

/// A run of one scenario in an environment, with trials of Go.
fn run_in(environment: Environment) -> InventedRun {
    let mut run = InventedRun::new(6);
    run.environment(environment).scenario("json-c64", "json", "JSON", 64).steady(GO, 30_000.0);
    run
}

fn only_case(run: &InventedRun) -> CaseFinding {
    run.findings().scenarios.remove(0).cases.remove(0)
}

fn changed_in(environment: Environment, change: impl Fn(u32, &mut Measurement)) -> CaseFinding {
    let mut run = run_in(environment);
    run.change(change);
    only_case(&run)
}

fn kinds(case: &CaseFinding) -> Vec<&str> {
    case.flags.iter().map(|flag| flag.kind.word()).collect()
}

fn cautions_with(run: &InventedRun, words: &str) -> Vec<String> {
    run.findings().cautions.into_iter().filter(|caution| caution.contains(words)).collect()
}

mod cpus {
    use super::*;

    #[test]
    fn a_share_is_that_of_the_set_or_of_the_quota() {
        let busy = |limits: Limits, set: &[u32]| {
            let mut run = run_in(environment("", limits));
            run.run.cpus.get_mut("").unwrap().subject = set.to_vec();
            run.change(|_, trial| trial.subject.as_mut().expect("tolok started it").cpu_s = 0.45 * trial.window_s);
            (only_case(&run).subject_busy.unwrap() * 1e6).round() / 1e6
        };
        assert_eq!(busy(dedicated(1.0), &[0]), 0.45);
        assert_eq!(busy(dedicated(2.0), &[0, 1]), 0.225);
        assert_eq!(busy(dedicated(2.0), &[]), 0.225, "the number comes from the plan if the run lacks it");
        assert_eq!(busy(quota(0.5), &[0, 1]), 0.9, "whatever the number of CPUs");
    }

    /// The same workload and load in both modes: two tables, two first places, and no ratio between them.
    #[test]
    fn quota_and_dedicated_never_stand_in_one_table() {
        let mut run = InventedRun::new(6);
        for (id, limits) in [("dedicated", dedicated(1.0)), ("quota", quota(1.0))] {
            run.environment(environment(id, limits)).scenario(&format!("json-c64-{id}"), "json", "JSON", 64);
            run.steady(CEILING, 60_000.0).steady(GO, 30_000.0).steady(BUN, 20_000.0);
        }
        let findings = run.findings();
        let modes: Vec<CpuMode> = findings.scenarios.iter().map(|scenario| scenario.environment.mode).collect();
        assert_eq!(modes, [CpuMode::Dedicated, CpuMode::Quota]);
        for scenario in &findings.scenarios {
            let own = |case: &CaseFinding| case.case.starts_with(&format!("{}--", scenario.id));
            assert!(scenario.cases.iter().chain(&scenario.ceiling).all(own), "{}", scenario.id);
            assert_eq!((scenario.cases.len(), scenario.comparisons.len()), (2, 1));
            assert_eq!(scenario.cases[0].of_first.as_ref().unwrap().value, 1.0);
        }
    }

    #[test]
    fn every_scenario_says_in_what_environment_it_was_taken() {
        let limits = Limits { memory_bytes: Some(512 * MIB), ..quota(0.5) };
        let link = Link::preset("lan-wifi").unwrap();
        let found =
            run_in(Environment { link, ..environment("wifi", limits) }).findings().scenarios.remove(0).environment;
        assert_eq!((found.id.as_str(), found.mode), ("wifi", CpuMode::Quota));
        assert_eq!(found.subject.words, "a quota of 0.5 CPUs · 512MiB of memory");
        assert_eq!((found.subject.cpus, found.subject.memory_bytes), (0.5, Some(512 * MIB)));
        assert_eq!((found.subject.on_cpus, found.generator.on_cpus, found.link_cpus), (vec![0], vec![1], vec![1]));
        assert_eq!(found.link, "lan-wifi (rtt 2ms, jitter 3ms, 54Mbit/s, queue 150kB)");
        assert!(found.words.starts_with(&found.subject.words) && found.words.ends_with(&found.link));
    }

    #[test]
    fn shared_cpus_name_the_scenarios_that_have_them() {
        let mut run = run_in(environment("a", dedicated(1.0)));
        run.environment(environment("b", dedicated(1.0))).scenario("json-b", "json", "JSON", 64).steady(GO, 9_000.0);
        run.run.cpus.get_mut("b").unwrap().shared = true;
        let findings = run.findings();
        let flagged: Vec<Vec<&str>> = findings.scenarios.iter().map(|scenario| kinds(&scenario.cases[0])).collect();
        assert_eq!(flagged, [vec![], vec!["shared-cpus"]]);
        assert!(cautions_with(&run, "shared their CPUs")[0].starts_with("In json-b subject and generator shared"));
    }

    #[test]
    fn throttled_periods_are_counted_and_flagged_above_one_in_twenty() {
        let case = changed_in(environment("", quota(0.5)), |_, trial| throttle(trial, 0.5, 1));
        assert_eq!(kinds(&case), Vec::<&str>::new());
        let case =
            changed_in(environment("", quota(0.5)), |block, trial| throttle(trial, 0.5, 1 + u64::from(block == 1)));
        assert_eq!((kinds(&case), case.ranked), (vec!["throttled"], true));
        assert_eq!(case.flags[0].message, "its quota stopped it in 7 of 120 periods (5.8%)");
        let throttling = case.resources.throttling.unwrap();
        assert_eq!((throttling.throttled_periods, throttling.periods), (7, 120));
    }

    #[test]
    fn cpu_time_from_threads_is_cautioned_against() {
        let said = |of: fn(u32) -> bool| {
            let mut run = run_in(Environment::default());
            run.change(|block, trial| {
                trial.subject.as_mut().expect("tolok started it").cpu_source =
                    if of(block) { CpuSource::Threads } else { CpuSource::Group };
            });
            (cautions_with(&run, "summed over threads"), only_case(&run).figures.resources.cpu_source.unwrap())
        };
        assert_eq!(said(|_| false), (vec![], "group".to_owned()));
        let (some, source) = said(|block| block == 2);
        assert!(some[0].starts_with("CPU time of 1 of 6 trials was summed over threads"), "{some:?}");
        assert_eq!(source, "both");
        let (all, source) = said(|_| true);
        assert!(all[0].starts_with("CPU time was summed over threads"), "{all:?}");
        assert_eq!(source, "threads");
    }
}

mod memory {
    use super::*;

    fn limited(mib: u64) -> Environment {
        environment("", Limits { memory_bytes: Some(mib * MIB), ..dedicated(1.0) })
    }

    #[test]
    fn one_trial_without_a_group_takes_the_whole_table_to_pss() {
        let of = |bun_has_groups: bool| -> ScenarioFinding {
            let mut run = run_in(Environment::default());
            run.steady(BUN, 20_000.0).change(|block, trial| {
                if block == 4 && !bun_has_groups {
                    trial.subject.as_mut().expect("tolok started it").memory = None;
                }
            });
            run.findings().scenarios.remove(0)
        };
        let (group, pss) = (of(true), of(false));
        assert_eq!((group.memory_source, pss.memory_source), (Some(MemorySource::Group), Some(MemorySource::Pss)));
        let of_go = |scenario: &ScenarioFinding| scenario.cases[0].memory_bytes.as_ref().unwrap().value;
        assert_eq!(of_go(&group), group.cases[0].resources.anonymous_and_kernel_bytes.unwrap());
        assert_eq!(of_go(&pss), pss.cases[0].resources.pss_bytes.unwrap());
        assert!(of_go(&pss) > of_go(&group));
    }

    #[test]
    fn a_peak_within_two_per_cent_of_the_limit_is_spoken_of() {
        let with_peak = |bytes: u64| {
            changed_in(limited(100), move |block, trial| {
                if block == 5 {
                    trial.subject.as_mut().expect("tolok started it").memory.as_mut().unwrap().peak_bytes = Some(bytes);
                }
            })
        };
        assert_eq!(kinds(&with_peak(98 * MIB - 1)), Vec::<&str>::new());
        let case = with_peak(98 * MIB);
        assert_eq!((kinds(&case), case.ranked), (vec!["memory-limit-near"], true));
        assert!(case.flags[0].message.contains("98% of the limit of 100 MiB"), "{}", case.flags[0].message);
        assert_eq!(kinds(&changed_in(Environment::default(), |_, _| ())), Vec::<&str>::new(), "without a limit");
    }

    #[test]
    fn a_case_that_ran_out_of_memory_is_not_ranked() {
        let mut run = run_in(limited(64));
        run.fail(3, FailureKind::OutOfMemory, "the kernel killed it");
        let case = only_case(&run);
        assert_eq!((kinds(&case), case.ranked), (vec!["out-of-memory", "failed-trials"], false));
        let message = "in 1 of 6 trials it reached its limit of 64 MiB, and the kernel killed some of it";
        assert_eq!(case.flags[0].message, message);
    }

    /// A trial with a killed and restarted worker looks complete, and a disturbance does not excuse it.
    #[test]
    fn killed_workers_count_in_finished_and_in_disturbed_trials() {
        let kill = |block: u32, trial: &mut Measurement| {
            trial.subject.as_mut().expect("tolok started it").memory.as_mut().unwrap().oom_kills =
                u64::from(block == 2);
        };
        assert_eq!(kinds(&changed_in(limited(64), kill)), ["out-of-memory"]);
        let mut run = run_in(limited(64));
        run.change(kill).disturb(2, "steal", 0.02, "the hypervisor took 2%");
        assert_eq!(kinds(&only_case(&run)), ["out-of-memory", "disturbed"]);
    }
}

mod neighbours {
    use super::*;

    const BUSY: &str = "other programs used 12 % of the machine's CPUs";

    #[test]
    fn a_disturbed_trial_is_kept_and_in_no_figure() {
        let mut run = InventedRun::new(6);
        run.scenario("json-c64", "json", "JSON", 64).case(GO, &[100.0, 101.0, 102.0, 9_999.0, 103.0, 104.0]);
        run.disturb(4, "foreign-cpu", 0.12, BUSY);
        let case = only_case(&run);
        assert_eq!((case.trials_planned, case.trials_measured, case.trials_scored), (6, 6, 5));
        let goodput = case.goodput_rps.clone().unwrap();
        assert_eq!((goodput.value, goodput.trials.len(), goodput.high), (102.0, 5, Some(104.0)));
        let disturbed = &case.disturbed[0];
        assert_eq!((disturbed.trial, disturbed.attempts, disturbed.goodput_rps), (4, 3, 9_999.0));
        assert_eq!((kinds(&case), case.ranked), (vec!["disturbed"], true));
        let message = format!("1 of 6 trials discarded: {BUSY}");
        assert_eq!(case.flags[0].message, message);
    }

    #[test]
    fn too_few_that_are_left_tell_nothing_and_none_is_no_rank() {
        let left = |blocks: &[u32]| {
            let mut run = run_in(Environment::default());
            for block in blocks {
                run.disturb(*block, "steal", 0.02, "the hypervisor took 2%");
            }
            only_case(&run)
        };
        let four = left(&[1, 2]);
        assert_eq!((kinds(&four), four.ranked), (vec!["disturbed", "too-few-trials"], true));
        assert_eq!(four.flags[1].message, "4 trials left, too few for an interval (5 are needed)");
        assert!(four.figures.goodput_rps.unwrap().low.is_none());
        let none = left(&[1, 2, 3, 4, 5, 6]);
        assert_eq!((kinds(&none), none.ranked, &none.goodput_rps), (vec!["disturbed"], false, &None));
        assert!(none.flags[0].voids_rank);
    }

    #[test]
    fn a_block_that_was_disturbed_on_one_side_is_in_no_ratio() {
        let mut run = InventedRun::new(6);
        run.scenario("json-c64", "json", "JSON", 64).case(GO, &[200.0; 6]);
        run.case(BUN, &[100.0, 100.0, 100.0, 1.0, 100.0, 100.0]).disturb(4, "foreign-cpu", 0.2, BUSY);
        let comparison = run.findings().scenarios.remove(0).comparisons.remove(0);
        assert_eq!((comparison.blocks, comparison.ratio.trials.clone()), (5, vec![2.0; 5]));
    }

    #[test]
    fn the_first_may_have_too_few_blocks_and_the_others_enough() {
        let mut run = InventedRun::new(6);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 40_000.0);
        run.disturb(1, "foreign-cpu", 0.12, BUSY).disturb(2, "foreign-cpu", 0.12, BUSY);
        run.steady(BUN, 30_000.0).steady(NODE, 10_000.0);
        let sentence = "No clear winner: Go net/http, Bun.serve and Node http overlap.";
        assert_eq!(run.findings().scenarios[0].verdict, sentence);
    }

    #[test]
    fn the_worst_of_each_kind_is_named() {
        let mut run = run_in(Environment::default());
        run.disturb(1, "foreign-cpu", 0.07, "others used 7%").disturb(2, "foreign-cpu", 0.12, "others used 12%.");
        run.disturb(2, "steal", 0.02, "the hypervisor took 2%");
        assert!(only_case(&run).flags[0].message.ends_with("others used 12%; the hypervisor took 2%"));
    }

    #[test]
    fn how_often_it_was_measured_anew_is_said_once() {
        let mut run = run_in(Environment::default());
        run.change_records(|trial| trial.attempts = if trial.block <= 2 { 3 } else { 1 });
        let said = cautions_with(&run, "repeated");
        assert!(said.len() == 1 && said[0].starts_with("4 measurements were repeated"), "{said:?}");
        let case = only_case(&run);
        assert_eq!((case.reruns, case.trials_scored, kinds(&case).len()), (4, 6, 0), "the quiet repetition counts");
        assert_eq!(cautions_with(&run_in(Environment::default()), "repeated"), Vec::<String>::new());
    }
}

mod links {
    use super::*;

    fn wifi() -> Environment {
        Environment { link: Link::preset("lan-wifi").unwrap(), ..Environment::default() }
    }

    /// A link without a rate, so nothing can fill it.
    fn distant() -> Environment {
        Environment { link: Link { rtt_s: 0.002, ..Link::default() }, ..Environment::default() }
    }

    fn late(max_s: f64, mean_s: f64) -> CaseFinding {
        changed_in(distant(), move |block, trial| {
            carry(trial, 100.0, 0.000_1);
            if block == 3 {
                let direction = &mut trial.link.as_mut().unwrap().to_client;
                (direction.lateness_s_max, direction.lateness_s_mean) = (max_s, mean_s);
            }
        })
    }

    /// The median latency of the invented trials is 1.94 ms.
    #[test]
    fn an_emulator_that_is_late_voids_the_rank() {
        assert_eq!(kinds(&late(0.005, 0.000_19)), Vec::<&str>::new(), "one late packet among many");
        let late = late(0.001_1, 0.000_21);
        assert_eq!((kinds(&late), late.ranked), (vec!["link-late"], false), "a tenth of the median on average");
        let message = "the link's emulator was late in 1 of 6 trials: by up to 1.10 ms, and by 210 µs on average in the \
                       worst of them";
        assert_eq!(late.flags[0].message.replace('\u{a0}', " "), message);
    }

    #[test]
    fn packets_that_a_full_queue_drops_are_no_flag() {
        let case = changed_in(distant(), |_, trial| {
            carry(trial, 100.0, 0.000_1);
            trial.link.as_mut().unwrap().to_client.dropped_queue = 40;
        });
        assert_eq!((kinds(&case), case.link.as_ref().unwrap().to_client.dropped_queue), (vec![], 240));
    }

    /// 54 Mbit/s are 6.75 MB/s, and there are about 30,000 responses per second.
    #[test]
    fn a_full_link_is_named_as_the_limit_by_the_utilisation_law() {
        let carrying = |bytes_per_answer| {
            changed_in(wifi(), move |_, trial| {
                trial.goodput_rps = 30_000.0;
                carry(trial, bytes_per_answer, 0.000_1);
                trial.link.as_mut().unwrap().to_subject.bytes = 0;
            })
        };
        let used = |case: &CaseFinding| case.link.as_ref().unwrap().rate_offered().unwrap();
        let half = carrying(112.5);
        assert!((used(&half) - 0.5).abs() < 1e-6 && kinds(&half).is_empty(), "{}", used(&half));
        let full = carrying(220.0);
        assert_eq!((kinds(&full), full.ranked), (vec!["link-full"], true));
        assert!(full.flags[0].message.starts_with("the link was offered 98% of its rate"));
        assert!(used(&carrying(270.0)) > 1.0, "the offered rate may exceed the link's");
    }

    #[test]
    fn the_mean_of_trials_weighs_each_packet_alike() {
        let case = changed_in(wifi(), |block, trial| {
            carry(trial, 100.0, 0.000_1);
            let direction = &mut trial.link.as_mut().unwrap().to_client;
            (direction.packets, direction.lateness_s_mean) = if block == 1 { (1_000, 0.000_1) } else { (200, 0.0) };
        });
        let direction = case.figures.link.unwrap().to_client;
        assert_eq!((direction.packets, (direction.lateness_s_mean * 1e9).round()), (2_000, 50_000.0));
    }

    #[test]
    fn what_carried_a_link_is_taken_from_the_trials() {
        let mut run = run_in(wifi());
        let asked = |run: &InventedRun| run.findings().scenarios.remove(0).link.unwrap();
        run.change_records(|trial| trial.isolation.as_mut().unwrap().network = "netem".to_owned());
        assert_eq!((asked(&run).backend.as_str(), asked(&run).emulates), ("netem", true));
        run.change_records(|trial| trial.isolation = None);
        assert_eq!(asked(&run).backend, "emulator", "the requested backend, if no trial recorded one");
        assert_eq!(run_in(Environment::default()).findings().scenarios[0].link, None);
    }
}

mod isolation {
    use super::*;

    #[test]
    fn every_fallback_is_said_once_with_its_trials() {
        let mut run = run_in(Environment::default());
        run.change_records(|trial: &mut TrialRecord| {
            let fallbacks = &mut trial.isolation.as_mut().unwrap().fallbacks;
            fallbacks.push("the weight of the subject is not set".to_owned());
            fallbacks.extend((trial.block < 3).then(|| "no mount namespace".to_owned()));
        });
        let said: Vec<String> = run
            .findings()
            .cautions
            .into_iter()
            .filter(|it| it.contains("is not set") || it.contains("mount"))
            .collect();
        assert_eq!(said, ["The weight of the subject is not set.", "No mount namespace (in 2 of 6 trials)."]);
    }

    #[test]
    fn what_only_some_trials_had_is_not_claimed_for_all() {
        let mut run = run_in(Environment::default());
        run.change_records(|trial: &mut TrialRecord| {
            let isolation = trial.isolation.as_mut().unwrap();
            if trial.block == 2 {
                isolation.namespaces.retain(|name| name != "net");
                (isolation.groups, isolation.network) = (None, "host".to_owned());
                isolation.controllers.clear();
            }
        });
        let found = run.findings().isolation;
        assert_eq!(found.namespaces, ["ipc", "mount", "pid"]);
        assert_eq!((found.groups, found.controllers), (vec!["none".to_owned(), "v2".to_owned()], vec![]));
        assert_eq!(found.networks, ["host", "private"]);
    }

    #[test]
    fn settings_stand_beside_those_of_the_machine() {
        let mut run = run_in(Environment::default());
        run.change_records(|trial: &mut TrialRecord| {
            let sysctls = &mut trial.isolation.as_mut().unwrap().sysctls;
            sysctls.insert("net.core.somaxconn".to_owned(), "65535".to_owned());
            sysctls.insert("net.ipv4.tcp_tw_reuse".to_owned(), "1".to_owned());
        });
        let found = run.findings().isolation.sysctls;
        let beside: Vec<(&str, &str, Option<&str>)> =
            found.iter().map(|it| (it.name.as_str(), it.values[0].as_str(), it.machine.as_deref())).collect();
        assert_eq!(
            beside,
            [
                ("net.core.somaxconn", "65535", Some("4096")),
                ("net.ipv4.tcp_congestion_control", "cubic", Some("bbr")),
                ("net.ipv4.tcp_tw_reuse", "1", None),
            ]
        );
    }

    #[test]
    fn autogroup_counts_only_where_no_group_keeps_the_parts_out_of_it() {
        let mut run = run_in(Environment::default());
        assert_eq!(run.findings().isolation.autogroup, Some(true));
        assert_eq!(cautions_with(&run, "autogroup"), Vec::<String>::new());
        run.change_records(unprivileged);
        assert_eq!(cautions_with(&run, "autogroup").len(), 1);
        run.run.fingerprint = serde_json::json!({ "autogroup": false });
        assert_eq!(cautions_with(&run, "autogroup"), Vec::<String>::new());
    }

    #[test]
    fn weights_are_gathered_over_trials_that_may_have_other_parts() {
        let mut run = run_in(Environment::default());
        assert_eq!(run.findings().isolation.weights, None, "earlier records lack it");
        run.change_records(|trial| {
            let mut parts: BTreeMap<String, u32> = [("subject".to_owned(), 100), ("link".to_owned(), 1000)].into();
            // Only the first block uses a database, and it started from another group.
            let own_group = (trial.block > 1).then_some(200);
            if trial.block == 1 {
                parts.insert("database".to_owned(), 100);
            }
            trial.isolation.as_mut().unwrap().weights = Some(GroupWeights { own_group, trial: Some(10_000), parts });
        });
        let found = run.findings().isolation.weights.unwrap();
        assert_eq!((found.own_group, found.whole), (vec![200], vec![10_000]));
        assert_eq!(found.parts.keys().collect::<Vec<_>>(), ["database", "link", "subject"]);
        assert_eq!((found.trials, &found.parts["link"]), (run.findings().isolation.trials, &vec![1000]));
    }
}

mod diagnosis {
    use super::*;

    fn counted() -> Diagnosis {
        Diagnosis {
            answers: 1_000,
            window_s: 2.0,
            goodput_rps: 500.0,
            cycles: Some(4_000_000),
            instructions: Some(2_000_000),
            syscalls: Some(3_080),
            garbage_collection: Some(GarbageCollection { collections: 8, pause_s_total: 0.1, pause_s_max: 0.03 }),
            unavailable: vec!["no branch misses here".to_owned()],
            ..Diagnosis::default()
        }
    }

    #[test]
    fn counts_are_for_each_answer_and_the_cost_of_counting_is_said() {
        let mut run = InventedRun::new(6);
        run.scenario("json-c64", "json", "JSON", 64).case(GO, &[1_000.0; 6]).diagnose(Ok(counted()));
        let found = run.findings().scenarios.remove(0).unscored_diagnoses.remove(0);
        assert_eq!((found.cycles_per_good, found.instructions_per_good), (Some(4_000.0), Some(2_000.0)));
        assert_eq!((found.instructions_per_cycle, found.syscalls_per_good), (Some(0.5), Some(3.08)));
        assert_eq!((found.collections, found.pause_share, found.pause_s_max), (Some(8), Some(0.05), Some(0.03)));
        assert_eq!((found.of_scored, found.branch_misses_per_good), (Some(0.5), None));
        assert_eq!(found.unavailable, ["no branch misses here"]);
    }

    #[test]
    fn it_changes_no_scored_figure() {
        let mut run = run_in(Environment::default());
        let without = run.findings();
        run.diagnose(Ok(counted()));
        let mut with: Findings = run.findings();
        assert_eq!(with.scenarios[0].unscored_diagnoses.len(), 1);
        with.scenarios[0].unscored_diagnoses.clear();
        assert_eq!(with, without);
    }

    #[test]
    fn one_that_failed_says_why_and_nothing_else() {
        let mut run = run_in(Environment::default());
        run.diagnose(Err("it did not start"));
        let found = run.findings().scenarios.remove(0).unscored_diagnoses.remove(0);
        assert_eq!((found.failure.as_deref(), found.goodput_rps), (Some("it did not start"), None));
    }
}

#[test]
fn resources_are_counted_for_each_good_answer() {
    let case = changed_in(Environment::default(), |_, trial| {
        let answers = (trial.goodput_rps * trial.window_s) as u64;
        trial.subject.as_mut().expect("tolok started it").user_s = Some(answers as f64 * 3e-6);
        trial.subject.as_mut().expect("tolok started it").network.as_mut().unwrap().sent_bytes = answers * 200;
        trial.subject.as_mut().expect("tolok started it").scheduler.as_mut().unwrap().migrations = None;
    });
    let near = |value: Option<f64>, wanted: f64| assert!((value.unwrap() / wanted - 1.0).abs() < 1e-3, "{value:?}");
    near(case.resources.user_s_per_good, 3e-6);
    near(case.resources.sent_bytes_per_good, 200.0);
    assert_eq!(case.resources.migrations_per_good, None, "a missing reading is not zero");
}
