//! `tolok replicate`: measures a published comparison again, and judges each of its claims.

use std::path::{Path, PathBuf};

use tolok_analysis::replication::{MeasuredPart, MeasuredRun, ReplicationFindings, replicate as judge};
use tolok_analysis::{Findings, Records, analyse};
use tolok_lab::home::Home;
use tolok_lab::run::Stop;
use tolok_model::replication::{Replication, ReplicationPart};
use tolok_model::transcription::Transcription;
use tolok_model::wording::suggestion;
use tolok_report::document::Depth;
use tolok_report::print::{html, markdown, terminal};
use tolok_report::{data, documents};
use tolok_store::{RunFolder, StoreError};

use super::plan::{StudyRequest, make, whole_if_strict};
use super::run::run_the_rest;
use crate::args::{BringArgs, Format, MeasureArgs, ReplicateArgs, ReplicateFormat, ResultArgs, ResumeArgs};
use crate::bring::UserServers;
use crate::busy::Sharing;
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::{Measured, announce, interruptible, measure};
use crate::output::{put, say, style};
use crate::reports::{check_places, runs_folder};
use crate::stored::Stored;

/// Measures a source's parts, or uses their stored runs, and prints the judgement of each claim.
pub fn replicate(args: &ReplicateArgs) -> Result<Exit, CliError> {
    let home = Home::find()?;
    let source = home.source(&args.source)?;
    let chosen = chosen(&source.replication, &args.part)?;
    let runs = runs_folder(args.runs.as_deref());
    let (exit, found) = if args.stored {
        (Exit::Done, stored(&source.replication, &chosen, &runs)?)
    } else {
        check_places(Some(&runs), args.output.as_deref())?;
        measured(&source.folder, &source.replication, &chosen, (args, &runs))?
    };
    let parts = found.into_iter().map(|(name, run)| Part::read(name, run)).collect::<Result<Vec<_>, _>>()?;
    let records: Vec<_> = parts.iter().map(|part| (part.name, part.records())).collect();
    let analysed: Vec<Option<Findings>> =
        records.iter().map(|(_, records)| records.as_ref().ok().map(analyse)).collect();
    let findings = judged(&source.transcription, &source.replication, &records, &analysed);
    put(&printed(&findings, args), args.output.as_deref())?;
    let exit = if args.stored { exit_of_stored(analysed.iter().flatten()) } else { exit };
    Ok(if exit == Exit::Done && is_mute(&findings) { Exit::CannotTell } else { exit })
}

/// The exit code for stored runs: that of the original runs, 5 if one was not sound.
fn exit_of_stored<'a>(analysed: impl Iterator<Item = &'a Findings>) -> Exit {
    let is_unsound = |run: &Findings| run.trials_missing > 0 || !run.unsound.is_empty();
    if analysed.filter(|run| is_unsound(run)).count() > 0 { Exit::GateFailed } else { Exit::Done }
}

/// Whether there are claims, but all are undecided.
fn is_mute(findings: &ReplicationFindings) -> bool {
    !findings.claims.is_empty() && findings.tally.cannot_tell == findings.claims.len()
}

/// The selected parts, in the order of the file; all if none was named.
fn chosen<'a>(replication: &'a Replication, named: &[String]) -> Result<Vec<&'a ReplicationPart>, CliError> {
    let known: Vec<&str> = replication.parts.iter().map(|part| part.name.as_str()).collect();
    if let Some(unknown) = named.iter().find(|name| !known.contains(&name.as_str())) {
        let message = format!("{} has no part `{unknown}`; {}", replication.source, suggestion(unknown, &known));
        return Err(CliError::usage(message));
    }
    let is_meant = |part: &&ReplicationPart| named.is_empty() || named.contains(&part.name);
    Ok(replication.parts.iter().filter(is_meant).collect())
}

/// The result of each part: the folder of its run, or why there is none.
type Ran<'a> = Vec<(&'a str, Result<PathBuf, String>)>;

/// The name under which the run of a part is stored and found again.
fn study_name(replication: &Replication, part: &ReplicationPart) -> String {
    format!("{}-{}", replication.source, part.name)
}

/// Finds the newest stored run of each part.
fn stored<'a>(replication: &'a Replication, chosen: &[&ReplicationPart], runs: &Path) -> Result<Ran<'a>, CliError> {
    let find = |part: &'a ReplicationPart| {
        if !chosen.iter().any(|one| one.name == part.name) {
            return Err("it was not asked for".to_owned());
        }
        let study = study_name(replication, part);
        RunFolder::newest_of(runs, &study).ok_or_else(|| "no run of it is stored".to_owned())
    };
    let found: Ran = replication.parts.iter().map(|part| (part.name.as_str(), find(part))).collect();
    if found.iter().all(|(_, run)| run.is_err()) {
        let (key, runs) = (&replication.source, runs.display());
        let message = format!(
            "no run of {} is stored in {runs}; measure first: tolok replicate {key}; or name another folder: --runs DIR",
            if chosen.len() == replication.parts.len() { key.clone() } else { format!("these parts of {key}") }
        );
        return Err(CliError::new(Exit::CannotTell, message));
    }
    Ok(found)
}

/// Runs each selected part. It leaves out one that cannot run here, with the reason, and continues.
fn measured<'a>(
    folder: &Path,
    replication: &'a Replication,
    chosen: &[&ReplicationPart],
    (args, runs): (&ReplicateArgs, &Path),
) -> Result<(Exit, Ran<'a>), CliError> {
    let stop = interruptible("trial")?;
    let mut exit = Exit::Done;
    let mut ran = Ran::new();
    for part in &replication.parts {
        let run = match chosen.iter().position(|one| one.name == part.name) {
            None => Err("it was not asked for".to_owned()),
            Some(_) if stop.is_asked() => Err("the replication was interrupted before it".to_owned()),
            Some(place) => {
                say(format!("\nPart {} of {}, {}: {}", place + 1, chosen.len(), part.name, part.says));
                match run_part(folder, replication, part, (args, runs, &stop)) {
                    Ok(measured) => {
                        measured.close(&[]);
                        exit = worse(exit, measured.exit);
                        Ok(measured.folder)
                    }
                    Err(complaint) => left_out(complaint)?,
                }
            }
        };
        ran.push((part.name.as_str(), run));
    }
    if stop.is_asked() {
        say(format!("To go on: {}", command_to_go_on(args)));
    }
    Ok((exit, ran))
}

/// The command that measures what this one left.
fn command_to_go_on(args: &ReplicateArgs) -> String {
    let value = |name: &str, value: Option<String>| value.map(|value| format!("--{name} {value}"));
    let words = [
        Some(format!("tolok replicate {}", args.source)),
        value("part", (!args.part.is_empty()).then(|| args.part.join(","))),
        value("blocks", args.blocks.map(|blocks| blocks.to_string())),
        value("scale", args.scale.map(|scale| scale.to_string())),
        args.allow_shared.then(|| "--allow-shared".to_owned()),
        Some("--resume".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn run_part(
    folder: &Path,
    replication: &Replication,
    part: &ReplicationPart,
    (args, runs, stop): (&ReplicateArgs, &Path, &Stop),
) -> Result<Measured, CliError> {
    let result = ResultArgs { runs: Some(runs.to_owned()), format: Format::Text, output: None };
    let begun = args.resume.then(|| RunFolder::newest_of(runs, &study_name(replication, part))).flatten();
    if let Some(begun) = begun {
        let sharing = args.sharing;
        let resume = ResumeArgs { run: String::new(), allow_remote: false, trust: false, sharing, result };
        // A finished run keeps its code, because the replication is only as sound as its runs.
        return run_the_rest(&begun, &resume, stop).map(|(measured, _)| measured);
    }
    let study = folder.join(&part.study).display().to_string();
    let brought = BringArgs::default();
    let (blocks, scale, allow_shared) = (args.blocks, args.scale, args.allow_shared);
    let options = MeasureArgs { blocks, scale, allow_shared, ..MeasureArgs::default() };
    let request = StudyRequest {
        study: Some(&study),
        workloads: &[],
        bring: &brought,
        measure: &options,
        whole: whole_if_strict(&options),
        slurm: None,
    };
    let (opened, mut planned) = make(UserServers::of(&brought, true)?, request)?;
    check(&opened, replication, part, &study)?;
    planned.name = study_name(replication, part);
    announce(&planned);
    measure(&opened, &planned, &result, (Sharing::of(&args.sharing, false), stop))
}

/// Checks that a replication and its study agree, before anything is measured.
fn check(opened: &Lab, replication: &Replication, part: &ReplicationPart, path: &str) -> Result<(), CliError> {
    let catalogue = &opened.laboratory.catalogue;
    let (_, _, study) = opened.laboratory.home.study(path, catalogue)?;
    let unknown = replication.check_part(part, &study, catalogue);
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!("the replication of {} and {path} disagree: {}", replication.source, unknown.join("; "));
    Err(CliError::usage(message))
}

/// A part that cannot run on this machine is left out. A mistake in a file is an error.
fn left_out(complaint: CliError) -> Result<Result<PathBuf, String>, CliError> {
    if !complaint.is_missing_dependency {
        return Err(complaint);
    }
    let lines: Vec<&str> = complaint.text.trim_start_matches("error: ").lines().map(str::trim).collect();
    let reason = lines.join("; ").trim_end_matches('.').to_owned();
    say(format!("left out: {reason}"));
    Ok(Err(reason))
}

/// An interrupted run takes precedence over an unsound one. A crossed objective is a finding of the replication and does not affect
/// the code.
fn worse(one: Exit, other: Exit) -> Exit {
    match (one, other) {
        (Exit::Interrupted, _) | (_, Exit::Interrupted) => Exit::Interrupted,
        (Exit::GateFailed, _) | (_, Exit::GateFailed) => Exit::GateFailed,
        _ => Exit::Done,
    }
}

/// A part and its stored run.
struct Part<'a> {
    name: &'a str,
    run: Result<Stored, String>,
}

impl<'a> Part<'a> {
    fn read(name: &'a str, run: Result<PathBuf, String>) -> Result<Self, StoreError> {
        let run = match run {
            Ok(path) => Ok(Stored::read(&RunFolder::open(&path))?),
            Err(why) => Err(why),
        };
        Ok(Self { name, run })
    }

    fn records(&self) -> Result<Records<'_>, String> {
        self.run.as_ref().map(Stored::records).map_err(Clone::clone)
    }
}

fn judged(
    transcription: &Transcription,
    replication: &Replication,
    records: &[(&str, Result<Records, String>)],
    analysed: &[Option<Findings>],
) -> ReplicationFindings {
    let measured: Vec<MeasuredPart> = records
        .iter()
        .zip(analysed)
        .map(|((name, records), findings)| {
            let run = match (records, findings) {
                (Ok(records), Some(findings)) => Ok(MeasuredRun { records, findings }),
                (Err(why), _) => Err(why.clone()),
                (Ok(_), None) => Err("it was not analysed".to_owned()),
            };
            MeasuredPart { name, run }
        })
        .collect();
    judge(transcription, replication, &measured)
}

/// The result in the requested format.
fn printed(findings: &ReplicationFindings, args: &ReplicateArgs) -> String {
    let document = |depth| documents::replication(findings, depth);
    match args.format {
        ReplicateFormat::Text => terminal(&document(Depth::Short), &style(args.output.as_deref())),
        ReplicateFormat::Json => data::json(findings),
        ReplicateFormat::Md => markdown(&document(Depth::Full)),
        ReplicateFormat::Html => html(&document(Depth::Page)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_worse_than_an_unsound_run_and_a_crossed_objective_is_a_finding() {
        assert_eq!(worse(Exit::Done, Exit::ThresholdCrossed), Exit::Done);
        assert_eq!(worse(Exit::Done, Exit::GateFailed), Exit::GateFailed);
        assert_eq!(worse(Exit::GateFailed, Exit::Done), Exit::GateFailed);
        assert_eq!(worse(Exit::GateFailed, Exit::Interrupted), Exit::Interrupted);
    }

    #[test]
    fn a_part_that_cannot_be_had_is_left_out_and_a_mistake_is_not() {
        let missing = CliError::lack(Exit::Missing, "nothing is ready\n  php/swoole: its extension is missing.");
        let said = "nothing is ready; php/swoole: its extension is missing";
        assert!(matches!(left_out(missing), Ok(Err(reason)) if reason == said));
        assert!(left_out(CliError::usage("unknown key")).is_err());
    }

    #[test]
    fn parts_are_taken_in_the_order_of_the_file_and_unknown_ones_refused() {
        let part = |name: &str| ReplicationPart {
            name: name.to_owned(),
            study: format!("{name}.toml"),
            says: String::new(),
            least_window_s: None,
            subjects: Default::default(),
            scenarios: Default::default(),
        };
        let replication =
            Replication { source: "doe".to_owned(), parts: vec![part("wan"), part("file")], ..Default::default() };
        let names = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            chosen(&replication, &named).map(|parts| parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).ok(), Some(vec!["wan".to_owned(), "file".to_owned()]));
        assert_eq!(names(&["file", "wan"]).ok(), Some(vec!["wan".to_owned(), "file".to_owned()]));
        let refused = names(&["fil"]).unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.text.contains("doe has no part `fil`"), "{}", refused.text);
    }
}
