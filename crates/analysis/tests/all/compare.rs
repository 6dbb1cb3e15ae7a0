//! Comparisons of two invented runs.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::invented::two_runs::{
    AFTER, BEFORE, Life, compared, compared_sides, drifted, elsewhere, over_time, ragged, regressed, run, several,
    unchanged,
};
use crate::invented::{GO, InventedRun};
use tolok_analysis::{
    Change, CompareOutcome, CompareRefusal, CompareRequest, ComparedMetric, Difference, FigureSeries, NoiseFloor,
    RunComparison, ScenarioChange, Verdict,
};
use tolok_model::{Disturbance, Outcome, ToolChoice};

fn usual(runs: &(InventedRun, InventedRun)) -> RunComparison {
    compared(runs, &CompareRequest::default()).unwrap()
}

fn allowed(runs: &(InventedRun, InventedRun)) -> RunComparison {
    compared(runs, &CompareRequest { allow_differences: true, ..CompareRequest::default() }).unwrap()
}

fn refused(runs: &(InventedRun, InventedRun)) -> Vec<Difference> {
    match compared(runs, &CompareRequest::default()) {
        Err(CompareRefusal::Conditions(differences)) => differences,
        other => panic!("not refused for its conditions: {other:?}"),
    }
}

fn scenario<'a>(found: &'a RunComparison, id: &str) -> &'a ScenarioChange {
    found.scenarios.iter().find(|scenario| scenario.id == id).unwrap()
}

/// Verdict on a figure of a subject, and why there is none.
fn verdict(found: &RunComparison, id: &str, title: &str, metric: ComparedMetric) -> (Option<Change>, Option<String>) {
    let case = scenario(found, id).cases.iter().find(|case| case.title == title).unwrap();
    let figure = case.figures.iter().find(|figure| figure.metric == metric).unwrap();
    (figure.verdict, figure.reason.clone())
}

#[test]
fn a_tenth_less_is_found_in_every_loop_and_named_in_one_sentence() {
    let found = usual(&regressed());
    assert_eq!(found.outcome, CompareOutcome::Changed);
    let of_go = |id, metric| verdict(&found, id, "Go net/http", metric).0;
    assert_eq!(of_go("json-c64", ComparedMetric::Goodput), Some(Change::Worse));
    assert_eq!(of_go("json-c64", ComparedMetric::Cpu), Some(Change::Worse));
    assert_eq!(of_go("hello-r2000", ComparedMetric::P50), Some(Change::Worse));
    assert_eq!(of_go("hello-r2000", ComparedMetric::Goodput), Some(Change::Equivalent));
    assert_eq!(verdict(&found, "queue-n1000", "Go queue", ComparedMetric::Wall).0, Some(Change::Worse));
    let mut others = found.figures().filter(|(_, case, _)| !case.title.starts_with("Go"));
    assert!(others.all(|(_, _, figure)| figure.verdict != Some(Change::Worse)));
    insta::assert_snapshot!(found.sentence, @"Changed between these two runs: 6 figures are worse by 3% or more: Go net/http in hello-r2000, p50 1.11× (1.10–1.12); Go net/http in hello-r2000, p99 1.11× (1.10–1.12); Go net/http in json-c64, goodput 0.90× (0.89–0.91); and 3 more. Of 23 judged figures: 6 changed for the worse, 17 equivalent. One run of each cannot tell whether the version or the run did it. Two or more runs of each can (--before A1 A2 --after B1 B2), or tolok duel.");
}

#[test]
fn a_program_of_one_version_in_two_files_is_told_where_both_are_known() {
    let mut runs = unchanged();
    let binaries = |runs: &(InventedRun, InventedRun)| {
        let changes = usual(runs).changes;
        changes.iter().filter(|it| it.what.starts_with("binary")).map(|it| it.what.clone()).collect::<Vec<_>>()
    };
    runs.0.run.programs[0].sha256 = Some("ab".repeat(32));
    assert!(binaries(&runs).is_empty(), "an older record has no checksum");
    runs.1.run.programs[0].sha256 = Some("ab".repeat(32));
    assert!(binaries(&runs).is_empty());
    runs.1.run.programs[0].sha256 = Some("cd".repeat(32));
    assert_eq!(binaries(&runs), ["binary of go"]);
}

#[test]
fn what_differs_beside_is_listed_and_refuses_nothing() {
    let mut runs = regressed();
    runs.1.run.machine.kernel = "6.19.0".to_owned();
    runs.1.run.tolok_version = "0.2.0".to_owned();
    runs.1.run.fingerprint["network"]["congestion_control"] = "cubic".into();
    let found = usual(&runs);
    let lines = found.changes.iter().map(|it| format!("{}: {} -> {}\n", it.what, it.before, it.after));
    insta::assert_snapshot!(lines.collect::<String>(), @r"
    go: 1.26.1 -> 1.27.0
    tolok: 0.1.0 -> 0.2.0
    sources: 4f1c2aa -> 9d2e7f0
    build of go/nethttp: 60600000000000aa -> 60600000000000bb
    kernel: 6.18.5 -> 6.19.0
    congestion control of the machine: bbr -> cubic
    ");
}

#[test]
fn two_runs_of_the_same_are_equivalent() {
    let found = usual(&unchanged());
    assert_eq!(found.outcome, CompareOutcome::NoRegression);
    assert_eq!(found.tally.worse + found.tally.better + found.tally.main_cannot_tell, 0);
    assert_eq!((&found.conditions, &found.changes), (&vec![], &vec![]));
    assert!(scenario(&found, "json-c64").control.is_some() && scenario(&found, "queue-n1000").control.is_none());
}

#[test]
fn a_loss_that_the_ceiling_shares_is_the_machines() {
    let found = usual(&drifted());
    let goodput = scenario(&found, "json-c64").control.as_ref().unwrap().shifts[0];
    assert!(goodput.is_relevant && (0.91..0.93).contains(&goodput.ratio.value));
    let (told, reason) = verdict(&found, "json-c64", "Bun.serve", ComparedMetric::Goodput);
    let reason = reason.unwrap();
    assert_eq!(told, Some(Change::CannotTell));
    assert!(reason.starts_with("no larger than the machine’s own shift"), "{reason}");
    // Programs have no ceiling, so nothing shows the effect of the machine.
    assert_eq!(verdict(&found, "queue-n1000", "Bun queue", ComparedMetric::Wall).0, Some(Change::Worse));
    assert!(found.cautions.iter().any(|text| text.starts_with("No control in queue-n1000 (programs have no ceiling)")));
}

/// Two runs with this shift between them, and a ceiling that swings by an eighth from block to block.
fn swinging(machine: f64) -> (InventedRun, InventedRun) {
    let mut runs = (run(BEFORE), run(Life { machine, ..AFTER }));
    for one in [&mut runs.0, &mut runs.1] {
        for trial in one.trials.iter_mut().filter(|trial| trial.case.contains("ceiling")) {
            let swing = if trial.block % 2 == 0 { 1.12 } else { 0.88 };
            if let tolok_model::Outcome::Completed(measured) = &mut trial.outcome {
                measured.goodput_rps *= swing;
            }
        }
    }
    runs
}

#[test]
fn a_ceiling_that_scatters_is_a_control_where_it_shifted_by_more_than_that() {
    let found = usual(&swinging(0.7));
    let goodput = scenario(&found, "json-c64").control.as_ref().unwrap().shifts[0];
    assert!(goodput.ratio.half_width().unwrap() > 0.1 && goodput.is_usable && goodput.is_relevant, "{goodput:?}");
    let (told, _) = verdict(&found, "json-c64", "Bun.serve", ComparedMetric::Goodput);
    assert_eq!(told, Some(Change::CannotTell), "the whole machine lost as much");
}

#[test]
fn a_figure_whose_shift_the_ceiling_does_not_show_has_a_caution() {
    let found = usual(&swinging(1.0));
    assert!(scenario(&found, "json-c64").control.is_some(), "memory has a control");
    let words = "No control in json-c64 (the ceiling scatters too much to show a shift of goodput)";
    assert!(found.cautions.iter().any(|text| text.starts_with(words)), "{:?}", found.cautions);
}

#[test]
fn a_version_that_no_scored_trial_tells_is_no_other_version() {
    let versions = |before: Option<&str>, after: Option<&str>| {
        let mut runs = unchanged();
        for (run, version) in [(&mut runs.0, before), (&mut runs.1, after)] {
            let used =
                version.map(|version| tolok_model::ToolUsed { name: "tolok".to_owned(), version: version.to_owned() });
            for trial in &mut run.trials {
                if let tolok_model::Outcome::Completed(measured) = &mut trial.outcome {
                    measured.tool = used.clone();
                }
            }
        }
        usual(&runs).changes.len()
    };
    assert_eq!((versions(Some("0.1.0"), Some("0.2.0")), versions(Some("0.1.0"), None)), (1, 0));
}

#[test]
fn what_lost_more_than_the_machine_is_a_regression_still() {
    let found = usual(&(run(BEFORE), run(Life { machine: 0.95, go: 0.8, ..AFTER })));
    assert_eq!(verdict(&found, "json-c64", "Go net/http", ComparedMetric::Goodput).0, Some(Change::Worse));
}

#[test]
fn a_ceiling_of_other_sources_is_no_control() {
    let found = usual(&(run(BEFORE), run(Life { ceiling: "ffff000011112222", ..AFTER })));
    let no_control = scenario(&found, "json-c64").no_control.as_deref();
    assert_eq!(no_control, Some("the ceiling was rebuilt from other sources or by another compiler"));
    let mut silent = unchanged();
    silent.0.trials.iter_mut().for_each(|trial| trial.commands.clear());
    let found = usual(&silent);
    let no_control = scenario(&found, "json-c64").no_control.as_deref();
    assert_eq!(no_control, Some("the records do not say whether the ceiling is the same program"));
}

#[test]
fn all_conditions_that_differ_are_refused_at_once_with_both_values() {
    let differences = refused(&elsewhere());
    let line = |it: &Difference| format!("{} [{}]: {} -> {}\n", it.what, it.scenarios.join(" "), it.before, it.after);
    let lines = differences.iter().map(line).collect::<String>();
    insta::assert_snapshot!(lines.replace('\u{a0}', " "), @r"
    CPU model []: Example CPU 3000 -> Other CPU 9
    number of CPUs []: 2 -> 8
    virtualisation []: KVM -> none seen
    memory of the machine []: 23.0 GiB -> 64.0 GiB
    load [json-c64]: closed loop, 64 virtual users, keep-alive, 2 s -> closed loop, 64 virtual users, keep-alive, 10 s
    limits of the subject [json-c64 hello-r2000 queue-n1000]: 1 dedicated CPU -> 1 dedicated CPU · 512MiB of memory
    CPUs of the subject [json-c64 hello-r2000 queue-n1000]: 0 -> 2
    CPUs of the generator [json-c64 hello-r2000]: 1 -> 3
    ");
}

#[test]
fn conditions_may_be_allowed_and_are_then_said_first() {
    let found = allowed(&elsewhere());
    assert_eq!(found.scenarios.len(), 3, "a scenario whose load changed is matched by its name");
    assert!(found.cautions[0].starts_with("The conditions differ (CPU model, number of CPUs"), "{}", found.cautions[0]);
}

#[test]
fn each_condition_alone_is_enough() {
    let check = |what: &str, change: &dyn Fn(&mut InventedRun)| {
        let (before, mut after) = unchanged();
        change(&mut after);
        let seen: Vec<String> = refused(&(before, after)).iter().map(|it| it.what.clone()).collect();
        assert_eq!(seen, [what]);
    };
    check("memory of the machine", &|run| run.run.machine.memory_bytes = run.run.machine.memory_bytes * 94 / 100);
    check("control groups", &|run| run.trials.iter_mut().for_each(|it| it.isolation.as_mut().unwrap().groups = None));
    check("network of the trials", &|run| {
        run.trials.iter_mut().for_each(|it| it.isolation.as_mut().unwrap().network = "host".to_owned());
    });
    check("scale", &|run| run.plan.scale = 0.5);
    check("warm-up", &|run| run.plan.scenarios[0].load.warmup_s = 3.0);
    check("tool", &|run| {
        let name = tolok_model::LoadTool::Oha;
        run.plan.scenarios[0].tool = ToolChoice { name, script: None };
    });
    check("link", &|run| run.plan.environments[0].link.rtt_s = 0.01);
    check("runs", &|run| run.plan.programs[0].runs.runs = 20);
    check("CPUs of the subject", &|run| run.run.cpus.get_mut("").unwrap().subject = vec![3]);
    check("parameters of the workload", &|run| {
        run.names.parameters.insert("json".to_owned(), [("size".to_owned(), 4)].into());
    });
    check("bytes of a correct response", &|run| {
        let is_json = |case: &str| case.starts_with("json-c64--");
        for trial in run.trials.iter_mut().filter(|trial| is_json(&trial.case)) {
            if let tolok_model::Outcome::Completed(measured) = &mut trial.outcome {
                measured.body_bytes *= 2;
            }
        }
    });
}

#[test]
fn what_is_the_same_may_have_another_name() {
    let (before, mut after) = unchanged();
    let renamed = |id: &mut String| *id = id.replace("json-c64", "documents");
    after.plan.scenarios.iter_mut().for_each(|it| renamed(&mut it.id));
    after.plan.cases.iter_mut().for_each(|it| {
        renamed(&mut it.id);
        renamed(&mut it.scenario);
    });
    after.plan.trials.iter_mut().for_each(|it| renamed(&mut it.case));
    after.trials.iter_mut().for_each(|it| renamed(&mut it.case));
    after.plan.scenarios.reverse();
    let found = usual(&(before, after));
    let ids: Vec<[&str; 2]> = found.scenarios.iter().map(|it| [it.id.as_str(), it.id_after.as_str()]).collect();
    assert_eq!(ids, [["json-c64", "documents"], ["hello-r2000", "hello-r2000"], ["queue-n1000", "queue-n1000"]]);
    assert_eq!((found.only_before.len(), found.only_after.len()), (0, 0));
}

#[test]
fn what_may_not_be_ranked_is_shown_with_the_reason_and_not_judged() {
    let found = usual(&ragged());
    let bun = scenario(&found, "json-c64").cases.iter().find(|case| case.title == "Bun.serve").unwrap();
    assert_eq!(bun.not_judged.as_deref(), Some("not ranked after: errors"));
    assert!(bun.lost_rank && bun.figures.iter().all(|it| it.verdict.is_none() && it.ratio.is_none()));
    assert!(bun.figures[0].before.is_some() && bun.figures[0].after.is_some());
    assert_eq!(found.outcome, CompareOutcome::CannotTell);
    insta::assert_snapshot!(found.sentence, @"Cannot tell: 1 case may not be ranked any more; no regression was found in the rest. Of 3 judged figures: 3 equivalent.");
    let lonely = [&found.only_before[0], &found.only_after[0]].map(|case| case.title.as_str());
    assert_eq!(lonely, ["Node http", "PHP-FPM + nginx"]);
}

#[test]
fn a_run_without_a_ranked_case_is_not_sound() {
    let (before, mut after) = unchanged();
    for trial in &mut after.trials {
        let reason = tolok_model::FailureKind::Crashed;
        let failure = tolok_model::Failure { reason, message: "it ended".to_owned(), log_tail: Vec::new() };
        trial.outcome = tolok_model::Outcome::Failed(failure);
    }
    // Unknown conditions do not differ.
    after.trials.iter_mut().for_each(|trial| trial.isolation = None);
    let found = usual(&(before, after));
    assert_eq!(found.outcome, CompareOutcome::NotSound);
    assert!(found.sentence.contains("no case of the run 2026-11-22-api-000002 may be ranked"), "{}", found.sentence);
}

#[test]
fn an_aa_pair_that_was_told_apart_sets_a_floor() {
    let (before, after) = regressed();
    let [mut findings, after_findings] = [before.findings(), after.findings()];
    let floor = NoiseFloor {
        subject: "bun/serve:default".to_owned(),
        ratio: findings.scenarios[0].cases[0].goodput_rps.clone().unwrap(),
        blocks: 10,
        size: 0.13,
        verdict: Verdict::Faster,
        scatter: None,
        widening: 1.0,
        pairs: Vec::new(),
        sentence: "Bun.serve, entered twice, came out 13% apart.".to_owned(),
    };
    findings.scenarios[0].noise_floor = Some(floor);
    let records = [&before, &after].map(|it| tolok_analysis::Records {
        run: &it.run,
        plan: &it.plan,
        names: &it.names,
        trials: &it.trials,
        diagnoses: &it.diagnoses,
        records_sha256: None,
    });
    let side = |records, findings| tolok_analysis::ComparedRun { records, findings };
    let sides = [side(&records[0], &findings), side(&records[1], &after_findings)];
    let found = tolok_analysis::compare_runs(&sides[..1], &sides[1..], &CompareRequest::default()).unwrap();
    let (told, reason) = verdict(&found, "json-c64", "Go net/http", ComparedMetric::Goodput);
    assert_eq!(told, Some(Change::CannotTell));
    assert_eq!(reason.unwrap(), "no larger than what the noise check of the run before differed by (13%)");
    assert!(scenario(&found, "json-c64").noise_floor_before.is_some());
}

#[test]
fn figures_can_be_chosen_and_a_closed_loop_has_times_only_if_asked() {
    let asked = |metrics: &[ComparedMetric]| {
        compared(&unchanged(), &CompareRequest { metrics: metrics.to_vec(), ..CompareRequest::default() })
    };
    let found = asked(&[ComparedMetric::P99]).unwrap();
    let seen: Vec<(&str, ComparedMetric)> =
        found.figures().map(|(scenario, _, figure)| (scenario.id.as_str(), figure.metric)).collect();
    assert_eq!(seen.len(), 5, "programs have no response times");
    assert!(seen.iter().all(|(_, metric)| *metric == ComparedMetric::P99) && seen[0].0 == "json-c64");
    let (before, after) = ragged();
    let request = CompareRequest { metrics: vec![ComparedMetric::Wall], ..CompareRequest::default() };
    assert_eq!(compared(&(before, after), &request), Err(CompareRefusal::NoSuchFigure));
}

#[test]
fn the_threshold_is_the_larger_of_the_studies_unless_one_is_given() {
    let (before, mut after) = regressed();
    after.plan.smallest_effect = 0.2;
    let runs = (before, after);
    let found = usual(&runs);
    assert_eq!((found.threshold, found.tally.worse), (0.2, 0));
    let request = CompareRequest { threshold: Some(0.05), ..CompareRequest::default() };
    assert_eq!(compared(&runs, &request).unwrap().outcome, CompareOutcome::Changed);
}

#[test]
fn a_run_is_not_compared_with_itself_nor_with_one_of_other_cases() {
    let same = (run(BEFORE), run(BEFORE));
    assert_eq!(
        compared(&same, &CompareRequest::default()),
        Err(CompareRefusal::SameRun { id: "2026-11-21-api-000001".to_owned() })
    );
    let mut other = InventedRun::new(5);
    other.run.id = "other".to_owned();
    other.scenario("hello-c64", "hello", "Hello", 64).steady(GO, 40_000.0);
    let found = compared(&(run(BEFORE), other), &CompareRequest::default());
    let Err(CompareRefusal::NothingInCommon { before, after }) = found else { panic!("compared") };
    assert_eq!((before.len(), after.len()), (7, 1));
}

#[test]
fn the_order_of_the_records_does_not_matter() {
    let runs = regressed();
    let mut shuffled = runs.clone();
    shuffled.0.trials.reverse();
    shuffled.1.trials.reverse();
    assert_eq!(usual(&runs), usual(&shuffled));
}

#[test]
fn several_runs_of_each_tell_a_regression_from_what_differs_between_runs() {
    let sides = [several(4, 0.01, 1.0, 1), several(4, 0.01, 0.85, 5)];
    let found = compared_sides(sides.each_ref().map(Vec::as_slice), &CompareRequest::default()).unwrap();
    assert_eq!((found.outcome, found.before.len(), found.after.len()), (CompareOutcome::Regression, 4, 4));
    assert_eq!(verdict(&found, "json-c64", "Go net/http", ComparedMetric::Goodput).0, Some(Change::Regression));
    let mut others = found.figures().filter(|(_, case, _)| !case.title.starts_with("Go"));
    assert!(others.all(|(_, _, figure)| figure.verdict != Some(Change::Regression)));
    let go = scenario(&found, "json-c64").cases.iter().find(|case| case.title == "Go net/http").unwrap();
    let goodput = &go.figures[0];
    assert_eq!(goodput.before.as_ref().unwrap().trials.len(), 4, "one value per run");
    assert!((0.002..0.02).contains(&goodput.between_runs.unwrap()), "{goodput:?}");
    assert!(found.cautions.iter().any(|text| text.starts_with("The run is the unit")), "{:?}", found.cautions);
}

#[test]
fn equal_runs_that_differ_by_themselves_are_no_regression() {
    let sides = [several(3, 0.03, 1.0, 1), several(3, 0.03, 1.0, 4)];
    let found = compared_sides(sides.each_ref().map(Vec::as_slice), &CompareRequest::default()).unwrap();
    assert!(found.tally.regressions + found.tally.improvements == 0, "{}", found.sentence);
    let pairs = (0..3).flat_map(|a| (0..3).map(move |b| (a, b)));
    let changed = |(a, b): (usize, usize)| {
        usual(&(sides[0][a].clone(), sides[1][b].clone())).tally.worse > 0
            || usual(&(sides[0][a].clone(), sides[1][b].clone())).tally.better > 0
    };
    assert!(pairs.filter(|pair| changed(*pair)).count() > 0, "a pair mistakes differences between runs for changes");
}

#[test]
fn a_side_of_one_run_has_nothing_to_learn_from() {
    let runs = several(3, 0.01, 1.0, 1);
    let found = compared_sides([&runs[..2], &runs[2..]], &CompareRequest::default());
    assert_eq!(found, Err(CompareRefusal::TooFewRuns));
    let twice = [runs[0].clone(), runs[1].clone(), runs[0].clone(), runs[2].clone()];
    let found = compared_sides([&twice[..2], &twice[2..]], &CompareRequest::default());
    assert_eq!(found, Err(CompareRefusal::SameRun { id: runs[0].run.id.clone() }));
}

#[test]
fn runs_of_one_side_that_measure_different_versions_have_a_caution() {
    let mut sides = [several(2, 0.01, 1.0, 1), several(2, 0.01, 1.0, 3)];
    sides[1][1].run.programs[0].version = "1.27.0".to_owned();
    let found = compared_sides(sides.each_ref().map(Vec::as_slice), &CompareRequest::default()).unwrap();
    let words = "The 2 runs after differ in what they measure: go.";
    assert!(found.cautions.iter().any(|text| text == words), "{:?}", found.cautions);
}

/// Eight runs on eight days. From the fifth on, Go is slower by an eighth and has another build.
fn eight_days() -> Vec<InventedRun> {
    [several(4, 0.008, 1.0, 1), several(4, 0.008, 0.88, 5)].concat()
}

#[test]
fn a_history_shows_where_a_level_changes_and_what_differs_there() {
    let found = over_time(&eight_days(), &CompareRequest::default()).unwrap();
    let goodput = |title: &str| {
        let is_it = |series: &&FigureSeries| series.title == title && series.scenario == "json-c64" && series.is_main;
        found.series.iter().find(is_it).unwrap()
    };
    let change = &goodput("Go net/http").changes[0];
    assert_eq!((change.run, change.is_worse, goodput("Go net/http").changes.len()), (4, Some(true), 1));
    assert!((0.86..0.90).contains(&change.ratio), "{change:?}");
    assert_eq!(change.differences[0].what, "build of go/nethttp");
    for quiet in ["Bun.serve", "Node http"] {
        assert!(goodput(quiet).changes.is_empty(), "{:?}", goodput(quiet));
    }
    assert!(found.sentence.contains("× from 2026-11-25-api-000005 on (worse)"), "{}", found.sentence);
    assert!(found.series.iter().any(|series| series.is_ceiling && series.changes.is_empty()));
}

#[test]
fn a_history_is_the_same_in_whatever_order_its_runs_are_named() {
    let runs = eight_days();
    let mut turned: Vec<InventedRun> = runs.iter().rev().cloned().collect();
    turned.push(runs[3].clone());
    let request = CompareRequest::default();
    assert_eq!(over_time(&runs, &request), over_time(&turned, &request));
}

#[test]
fn a_run_under_other_conditions_is_left_out_of_a_history_and_named() {
    let mut runs = eight_days();
    runs[2].plan.scale = 0.5;
    let found = over_time(&runs, &CompareRequest::default()).unwrap();
    assert_eq!((found.runs.len(), found.left_out[0].id.as_str()), (7, runs[2].run.id.as_str()));
    assert_eq!(found.left_out[0].conditions[0].what, "scale");
    let of_three = over_time(&runs[..3], &CompareRequest::default());
    assert_eq!(of_three.map_err(|left_out| left_out.len()).err(), Some(2), "the newest of the three is the odd one");
}

#[test]
fn a_history_of_runs_without_a_figure_cannot_tell() {
    let mut runs = several(4, 0.008, 1.0, 1);
    for trial in runs.iter_mut().flat_map(|run| &mut run.trials) {
        let cause = Disturbance { kind: "foreign-cpu".to_owned(), value: 0.9, text: "others used 90%".to_owned() };
        match &mut trial.outcome {
            Outcome::Completed(measurement) => measurement.disturbances = vec![cause],
            Outcome::Timed(timing) => timing.disturbances = vec![cause],
            Outcome::Failed(_) => {}
        }
    }
    let found = over_time(&runs, &CompareRequest::default()).unwrap();
    assert!(!found.can_tell());
    insta::assert_snapshot!(found.sentence, @"Cannot tell: of 4 runs, no figure is ranked in 4 or more. `tolok report RUN` says why a case is not ranked.");
}

#[test]
fn a_history_without_a_change_says_so() {
    let found = over_time(&several(8, 0.008, 1.0, 1), &CompareRequest::default()).unwrap();
    insta::assert_snapshot!(found.sentence, @"Over 8 runs, no change of 3% or more was found in 23 figures. 14 figures scatter too much to show changes below about 4.8%.");
    let even = over_time(&several(8, 0.001, 1.0, 1), &CompareRequest::default()).unwrap();
    insta::assert_snapshot!(even.sentence, @"Over 8 runs, no change of 3% or more was found in 23 figures. 4 figures scatter too much to show changes below about 4.4%.");
}
