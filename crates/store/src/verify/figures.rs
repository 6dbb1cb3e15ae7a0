//! Recomputes the figures of every trial from its raw files with the code that made them.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tolok_model::{
    Case, Check, Diagnosis, DiagnosisRecord, LoadTool, Measurement, Outcome, Plan, PlannedTrial, RawWindow, RunRecord,
    TrialRecord, ValueDifference, compare,
};

use super::tool_record::agreement;
use super::{TOLERANCE, of_each, of_values, said, unreadable};
use crate::recompute::program_rows::{ROWS, RunRow, rows_in, rows_told};
use crate::recompute::{
    DATABASE_LINK_REPORT, LINK_REPORT, RAW_WINDOW, SAMPLES, SLICES, TrialInputs, WIRE, measurement_of, report_of,
    slices_in, timing_of,
};
use crate::{Folder, RunFolder};
use tolok_tools::{driver, output_name};

/// What to do about a record that does not follow from its raw files.
const ADVICE: &str = "one of the two was changed, or another version of tolok made it: the check of files shows which; do not quote the trial until it verifies in a copy or is measured again";

/// A trial that has a record.
struct Trial<'a> {
    folder: &'a RunFolder,
    run: &'a RunRecord,
    plan: &'a Plan,
    case: &'a Case,
    /// Its folder, relative to the run's.
    name: String,
}

/// Checks all trials, the unscored ones last.
pub(super) fn check(folder: &RunFolder, run: &RunRecord, plan: &Plan) -> Check {
    let trial = |case: &'_ str, name: String| {
        let case = plan.cases.iter().find(|known| known.id == case)?;
        Some(Trial { folder, run, plan, case, name })
    };
    let scored = plan
        .trials
        .iter()
        .filter_map(|planned| Some((trial(&planned.case, RunFolder::trial_name(planned))?, Some(planned))));
    let unscored =
        plan.cases.iter().filter_map(|case| Some((trial(&case.id, RunFolder::diagnosis_name(&case.id))?, None)));
    let all: Vec<(Trial<'_>, Option<&PlannedTrial>)> = scored.chain(unscored).collect();
    let mut check = of_each("figures", &all, |(trial, planned)| match planned {
        Some(planned) => trial.scored(planned),
        None => trial.unscored(),
    });
    if run.tolok_version != env!("CARGO_PKG_VERSION") {
        check.notes.push(format!(
            "tolok {} made the run, and tolok {} recomputed its figures by its own rules",
            run.tolok_version,
            env!("CARGO_PKG_VERSION")
        ));
    }
    let figures = check.compared;
    check.saying(format!("{figures} figures were recomputed from the raw files, and each matches the stored one"))
}

/// Reads a record from its value by way of its text. All records are read from text, and a second source would make the compiler
/// generate the reader of each twice.
fn record_of<T: DeserializeOwned>(stored: &Value) -> serde_json::Result<T> {
    serde_json::from_str(&stored.to_string())
}

/// Keeps the sentences of the stored disturbances, because they depend on the version that wrote them. Kind and value are
/// compared.
fn keep_words(made: &mut Outcome, stored: &Outcome) {
    let stored = match stored {
        Outcome::Completed(measured) => measured.disturbances.as_slice(),
        Outcome::Timed(timing) => timing.disturbances.as_slice(),
        Outcome::Failed(_) => &[],
    };
    let disturbances = match made {
        Outcome::Completed(measured) => &mut measured.disturbances,
        Outcome::Timed(timing) => &mut timing.disturbances,
        Outcome::Failed(_) => return,
    };
    for (made, stored) in disturbances.iter_mut().zip(stored) {
        made.text.clone_from(&stored.text);
    }
}

impl Trial<'_> {
    fn scored(&self, planned: &PlannedTrial) -> Check {
        let mut check = Check::new("figures");
        let stored = match self.folder.trial_value(planned) {
            Ok(Some(stored)) => stored,
            Ok(None) => return check,
            // The check of trials reports this.
            Err(_) => return check,
        };
        let record = match record_of::<TrialRecord>(&stored) {
            Ok(record) => record,
            Err(error) => {
                check.differs(said(self.file("trial.json"), format!("it is no record of a trial: {error}"), ADVICE));
                return check;
            }
        };
        self.attempts(&record, &mut check);
        let made = match &record.outcome {
            Outcome::Failed(_) => return check,
            Outcome::Completed(_) => self.measured(&record, &mut check).map(|made| Outcome::Completed(Box::new(made))),
            Outcome::Timed(_) => self.timed(&record, &mut check).map(|made| Outcome::Timed(Box::new(made))),
        };
        match made {
            Err(why) => {
                check.differs(said(self.name.as_str(), format!("its figures cannot be recomputed: {why}"), ADVICE))
            }
            Ok(mut outcome) => {
                keep_words(&mut outcome, &record.outcome);
                let made = json!(TrialRecord { outcome, ..record });
                self.compare(&stored, &made, &mut check);
            }
        }
        check
    }

    fn measured(&self, record: &TrialRecord, check: &mut Check) -> Result<Measurement, String> {
        let scenario = self.plan.scenario(&self.case.scenario).ok_or("the plan has no such scenario")?;
        let environment = self.plan.environment(scenario).ok_or("the plan has no such environment")?;
        let cpus = self.run.cpus.get(&environment.id).ok_or("run.json does not tell its CPUs")?;
        let (own, raw) = (self.own(), self.raw()?);
        let given = TrialInputs { scenario, environment, cpus, isolation: record.isolation.as_ref() };
        let server = raw.server.as_ref().ok_or("window.json tells of no server")?;
        if server.slices.is_some() {
            self.order_of_slices(record, check)?;
            return measurement_of(&own, &given, &raw);
        }
        if scenario.tool.name == LoadTool::Tolok {
            self.tool_record(check);
        }
        self.timeline(&report_of(&own, scenario, server)?.timeline, check)?;
        measurement_of(&own, &given, &raw)
    }

    /// Checks that the slices of a case ran in the order that the seed gives.
    fn order_of_slices(&self, record: &TrialRecord, check: &mut Check) -> Result<(), String> {
        let own = self.plan.slices_of(self.launch(record)?).into_iter().filter(|slice| slice.case == record.case);
        let made: Vec<(u32, u32)> = own.map(|slice| (slice.round, slice.half)).collect();
        let stored: Vec<(u32, u32)> = slices_in(&self.own())?.iter().map(|slice| (slice.round, slice.half)).collect();
        self.equal(SLICES, (&json!(stored), &json!(made)), "the plan, whose seed gives the order", check);
        Ok(())
    }

    /// The turns of a case, in the order that the seed gives.
    fn turns_in_order(&self, record: &TrialRecord) -> Result<Vec<(u32, u32)>, String> {
        let own = self.plan.turns_of(self.launch(record)?).into_iter().filter(|turn| turn.case == record.case);
        Ok(own.map(|turn| (turn.round, turn.half)).collect())
    }

    fn launch(&self, record: &TrialRecord) -> Result<u32, String> {
        let planned = self.plan.trials.iter().find(|trial| trial.number == record.number);
        planned.and_then(|trial| trial.launch).ok_or_else(|| "the plan has no such launch".to_owned())
    }

    fn timed(&self, record: &TrialRecord, check: &mut Check) -> Result<tolok_model::ProgramTiming, String> {
        let scenario = self.plan.program(&self.case.scenario).ok_or("the plan has no such program")?;
        let environment = self.plan.program_environment(scenario).ok_or("the plan has no such environment")?;
        let cpus = self.run.cpus.get(&environment.id).ok_or("run.json does not tell its CPUs")?;
        let raw = self.raw()?;
        let rows = rows_in(&self.own())?;
        let counted: Vec<&RunRow> = rows.iter().filter(|row| row.counts()).collect();
        let turns = raw.turns.is_some().then(|| self.turns_in_order(record)).transpose()?;
        let told = rows_told(&self.own(), (scenario.timer, &raw.tool.version), turns)?;
        self.equal(ROWS, (&json!(counted), &json!(told)), "what the timer wrote", check);
        let given = TrialInputs { scenario, environment, cpus, isolation: record.isolation.as_ref() };
        timing_of(&self.own(), &given, &raw)
    }

    /// Checks the responses, window and goodput of an unscored trial.
    fn unscored(&self) -> Check {
        let mut check = Check::new("figures");
        let stored = match self.folder.diagnosis_value(&self.case.id) {
            Ok(Some(stored)) => stored,
            Ok(None) => return check,
            Err(error) => return unreadable(self.folder, "figures", &error),
        };
        let record = record_of::<DiagnosisRecord>(&stored);
        match record.map_err(|error| error.to_string()).and_then(|record| self.diagnosed(record)) {
            Ok(None) => {}
            Ok(Some(made)) => {
                let (all, differences) = compare(&stored, &json!(made), TOLERANCE);
                check.compared += all;
                let file = self.file("diagnosis.json");
                differences
                    .into_iter()
                    .for_each(|one| check.differs(of_values(&file, "the load tool's record", one, ADVICE)));
            }
            Err(why) => {
                check.differs(said(self.name.as_str(), format!("its figures cannot be recomputed: {why}"), ADVICE))
            }
        }
        check
    }

    fn diagnosed(&self, record: DiagnosisRecord) -> Result<Option<DiagnosisRecord>, String> {
        let Ok(found) = &record.outcome else { return Ok(None) };
        let raw = self.raw()?;
        let scenario = self.plan.scenario(&self.case.scenario).ok_or("the plan has no such scenario")?;
        let told = report_of(&self.own(), scenario, raw.server.as_ref().ok_or("window.json tells of no server")?)?;
        let answers = (told.goodput_rps * told.window_s).round() as u64;
        let (window_s, goodput_rps) = (told.window_s, told.goodput_rps);
        let outcome = Ok(Diagnosis { answers, window_s, goodput_rps, ..found.clone() });
        Ok(Some(DiagnosisRecord { outcome, ..record }))
    }

    /// Checks that each disturbed attempt has its folder, and that the record's commands match those written down.
    fn attempts(&self, record: &TrialRecord, check: &mut Check) {
        let entries = self.own().entries().unwrap_or_default();
        let disturbed = entries.iter().filter(|entry| entry.name.starts_with("disturbed-")).count() as u64;
        self.equal(
            "trial.json",
            (&json!({ "attempts": record.attempts }), &json!({ "attempts": disturbed + 1 })),
            "the folders of disturbed attempts",
            check,
        );
        if let (false, Ok(text)) = (matches!(record.outcome, Outcome::Failed(_)), self.own().text("command.txt")) {
            let commands: String = record.commands.iter().map(|command| format!("{command}\n")).collect();
            // The load tool's commands follow those of the server, if tolok started one. Nothing follows those of a program.
            let is_external = self.plan.brought.server(&self.case.subject.subject).is_some();
            let has_more = matches!(record.outcome, Outcome::Completed(_)) && (is_external || !commands.is_empty());
            let told = if has_more { text.chars().take(commands.chars().count()).collect() } else { text };
            self.equal(
                "trial.json",
                (&json!({ "commands": commands }), &json!({ "commands": told })),
                "command.txt",
                check,
            );
        }
    }

    /// Checks the record of tolok's load engine for consistency.
    fn tool_record(&self, check: &mut Check) {
        let name = output_name(driver(LoadTool::Tolok));
        let text = self.own().text(name).map_err(|error| error.to_string());
        match text.and_then(|text| agreement(&text)) {
            Err(why) => check.differs(said(self.file(name), format!("it cannot be read: {why}"), ADVICE)),
            Ok(found) => {
                check.compared += found.figures;
                for one in found.disagreements {
                    let difference = ValueDifference { at: one.at, stored: Some(one.stored), made: Some(one.made) };
                    check.differs(of_values(&self.file(name), one.source, difference, ADVICE));
                }
            }
        }
    }

    /// Checks the seconds of the load, which are stored separately.
    fn timeline(&self, told: &[Value], check: &mut Check) -> Result<(), String> {
        const TIMELINE: &str = "timeline.jsonl";
        let text = self.own().text(TIMELINE).map_err(|error| format!("{TIMELINE}: {error}"))?;
        let rows = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
        let rows = rows.map_err(|error| format!("{TIMELINE}: {error}"))?;
        self.equal(TIMELINE, (&json!(rows), &json!(told)), "the load tool's record", check);
        Ok(())
    }

    /// Compares a record with its recomputation.
    fn compare(&self, stored: &Value, made: &Value, check: &mut Check) {
        let (all, differences) = compare(stored, made, TOLERANCE);
        check.compared += all;
        for one in differences {
            let source = self.source_of(&one.at);
            check.differs(of_values(&self.file("trial.json"), source, one, ADVICE));
        }
    }

    fn equal(&self, file: &str, (stored, made): (&Value, &Value), source: &str, check: &mut Check) {
        let (all, differences) = compare(stored, made, TOLERANCE);
        check.compared += all;
        differences.into_iter().for_each(|one| check.differs(of_values(&self.file(file), source, one, ADVICE)));
    }

    /// The raw file behind a figure of a record.
    fn source_of(&self, at: &str) -> &'static str {
        const ONCE: [&str; 5] =
            ["cold_start_s", "subject.pss_bytes", "subject.refused_tasks", "host.load_average", "tool."];
        const SAMPLED: [&str; 4] = ["subject", "generator", "host", "disturbances"];
        const USED: [&str; 3] = ["subject_", "generator_", "database_"];
        let Some(at) = at.strip_prefix("outcome.") else { return "plan.json" };
        if at.starts_with("slices") {
            return SLICES;
        }
        // In a launch of programs, the machine is read once for all cases.
        if at.starts_with("host") && self.plan.program(&self.case.scenario).is_some_and(|program| program.in_turns) {
            return RAW_WINDOW;
        }
        let tool = self.plan.scenario(&self.case.scenario).map(|scenario| output_name(driver(scenario.tool.name)));
        match at {
            _ if ONCE.iter().any(|one| at.starts_with(one)) => RAW_WINDOW,
            _ if SAMPLED.iter().any(|one| at.starts_with(one)) => SAMPLES,
            _ if at.starts_with("database.resources") => SAMPLES,
            _ if at.starts_with("series") && USED.iter().any(|one| at.contains(one)) => SAMPLES,
            _ if at.starts_with("database.link") => DATABASE_LINK_REPORT,
            _ if ["database", "pool", "counter", "timer"].iter().any(|one| at.starts_with(one)) => RAW_WINDOW,
            _ if at.starts_with("link") => LINK_REPORT,
            _ if at.starts_with("wire") => WIRE,
            _ => tool.unwrap_or(ROWS),
        }
    }

    fn raw(&self) -> Result<RawWindow, String> {
        let text = self.own().text(RAW_WINDOW).map_err(|error| format!("{RAW_WINDOW}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{RAW_WINDOW}: {error}"))
    }

    fn own(&self) -> Folder {
        self.folder.folder().folder(&self.name)
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }
}
