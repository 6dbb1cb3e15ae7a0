//! Dedicated CPUs, and a quota of CPU time.

use serde_json::Value;
use tolok_host::group::Controller;
use tolok_testkit::require;

use crate::environments::{has_groups, place, run};
use crate::place::{Place, my_turn};

/// A place with a study of the same server on a dedicated CPU and under a quota of one CPU's time. A busy loop runs beside the
/// server, so the two would use more than one CPU.
fn two_modes() -> Place {
    let place = place("none", "subject = { cpus = 1, mode = ['dedicated', 'quota'] }");
    let file = place.path().join("subjects/test/server/subject.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, command) = text.split_once("command = [").unwrap();
    let script = r#"(while :; do :; done) & exec "$@""#;
    std::fs::write(&file, format!("{head}command = ['sh', '-c', '{script}', 'sh', {command}")).unwrap();
    place
}

#[test]
fn a_quota_is_told_from_dedicated_cpus_and_the_two_are_never_in_one_table() {
    require!(has_groups(&[Controller::Cpu, Controller::CpuSet]), "no control group can limit CPUs here");
    let _turn = my_turn();
    let place = two_modes();
    let (said, records) = run(&place, &[]);
    assert_eq!(records.len(), 2, "{}", said.progress);
    let of = |mode: &str| {
        let record = records.iter().find(|record| record["case"].as_str().unwrap().contains(mode));
        record.unwrap_or_else(|| panic!("no case under {mode}: {}", said.progress))
    };
    let (dedicated, quota) = (of("dedicated"), of("quota"));
    // Only subjects with a quota are throttled.
    let throttled = |record: &Value| {
        let throttling = &record["outcome"]["subject"]["throttling"];
        (throttling["throttled_periods"].as_u64().unwrap_or(0), throttling["throttled_s"].as_f64().unwrap_or(0.0))
    };
    assert_eq!(throttled(dedicated), (0, 0.0), "{dedicated}");
    let (periods, seconds) = throttled(quota);
    assert!(periods > 0 && seconds > 0.0, "{quota}");
    let used = |record: &Value| record["outcome"]["subject"]["cpu_s"].as_f64().unwrap();
    assert!(used(dedicated) > 0.0 && used(quota) > 0.0);
    // Each mode is a separate scenario with its own table.
    let report: Value = serde_json::from_str(&place.tolok(&["report", "latest", "--format", "json"]).output).unwrap();
    let scenarios = report["scenarios"].as_array().unwrap();
    let modes: Vec<&str> =
        scenarios.iter().map(|scenario| scenario["environment"]["subject"]["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["dedicated", "quota"], "{report}");
    for scenario in scenarios {
        assert_eq!(scenario["cases"].as_array().unwrap().len(), 1, "{scenario}");
        assert_eq!(scenario["comparisons"].as_array().unwrap().len(), 0, "{scenario}");
    }
    let markdown = place.tolok(&["report", "latest", "--format", "md"]).output;
    // Tables with one line per scenario compare nothing, and neither does the table of what each subject was given.
    let is_of_figures = |block: &&str| block.starts_with("| subject |") && !block.starts_with("| subject | given ");
    let tables = markdown.split("\n\n").filter(is_of_figures);
    let both = tables.filter(|table| table.contains("dedicated") && table.contains("quota"));
    assert_eq!(both.collect::<Vec<_>>(), [""; 0]);
}
