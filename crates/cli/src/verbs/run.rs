//! `tolok run` and `tolok resume`.

use std::path::Path;

use tolok_analysis::figures::counted;
use tolok_lab::run::{Capabilities, Slurm, Stop, changes_since, check_resumable};
use tolok_model::Plan;
use tolok_store::RunFolder;

use super::plan::{StudyRequest, make};
use crate::args::{ResumeArgs, RunArgs};
use crate::bring::UserServers;
use crate::busy::Sharing;
use crate::closing::Next;
use crate::exit::{CliError, Exit};
use crate::laboratory::Lab;
use crate::measuring::{Measured, announce, interruptible, measure, measure_in, trials_left, warn_of};
use crate::output::{check_place, say};
use crate::reports::{check_places, runs_folder};
use crate::trust::refuse_unknown;

pub fn run(args: &RunArgs) -> Result<Exit, CliError> {
    check_places(args.result.runs.as_deref(), args.result.output.as_deref())?;
    args.pool.refuse_what_does_not_fit(&args.bring, &args.measure).map_err(CliError::usage)?;
    let slurm = args.pool.request().map(Slurm::reach).transpose()?;
    let request = StudyRequest { slurm: slurm.as_ref(), ..StudyRequest::of(&args.what, &args.bring, &args.measure) };
    let bring = UserServers::of(&args.bring, request.has_workloads())?;
    let (opened, planned) = make(bring, request)?;
    announce(&planned);
    let sharing = match &slurm {
        Some(_) => Sharing::elsewhere(args.measure.strict),
        None => Sharing::of(&args.sharing, args.measure.strict),
    };
    let measured = measure(&opened, &planned, &args.result, (sharing, &interruptible("trial")?))?;
    measured.show(&args.result, &next(&measured))
}

/// Next steps after a run.
fn next(measured: &Measured) -> [Next; 2] {
    let run = &measured.findings.run;
    [
        Next::new("tolok report -v", "all figures, checks and cautions"),
        Next::new(run.command.as_str(), "this run again"),
    ]
}

pub fn resume(args: &ResumeArgs) -> Result<Exit, CliError> {
    check_place(args.result.output.as_deref())?;
    let path = RunFolder::find(&runs_folder(args.result.runs.as_deref()), &args.run)?;
    let (mut measured, was_finished) = run_the_rest(&path, args, &interruptible("trial")?)?;
    measured.exit = of_resumed(measured.exit, was_finished);
    measured.show(&args.result, &next(&measured))
}

/// If nothing was left to run, unsound trials are no failure of `resume`. A crossed objective stays one.
fn of_resumed(exit: Exit, was_finished: bool) -> Exit {
    if was_finished && exit == Exit::GateFailed { Exit::Done } else { exit }
}

/// Runs the unfinished trials of a stored run. The second value is true if the run was finished already.
pub(super) fn run_the_rest(path: &Path, args: &ResumeArgs, stop: &Stop) -> Result<(Measured, bool), CliError> {
    let folder = RunFolder::open_to_write(path)?;
    let stored = folder.read()?;
    // Before anything that the plan names is accessed.
    refuse_unknown(&folder, &stored.plan, args.trust)?;
    let opened = Lab::open_with(&UserServers::again(&stored.plan, args.allow_remote)?)?;
    if let Some(missing) = missing_of(&opened, &stored.plan) {
        let name = run_name(path);
        let message = format!("cannot resume: {missing}. Then run: tolok resume {name}");
        return Err(CliError::new(Exit::Missing, message));
    }
    check_resumable(&stored.run, &stored.blocks, &stored.plan).map_err(CliError::usage)?;
    changes_since(&opened.laboratory, &stored.run).iter().for_each(|change| say(format!("warning: {change}")));
    let left = trials_left(&folder, &stored)?;
    let all = counted(stored.plan.trials.len() as u64, "trial");
    say(match left {
        0 => format!("{} is finished: nothing is left to run.", stored.run.id),
        left => format!("Resuming {}: {left} of {all} left.", stored.run.id),
    });
    let capabilities = Capabilities::prepare();
    warn_of(&capabilities.leftovers);
    let sharing = match &stored.run.pool {
        Some(_) => Sharing::elsewhere(false),
        None => Sharing::of(&args.sharing, false),
    };
    let was_finished = left == 0;
    // Where nothing is left to measure, this call disturbs no other run.
    if !was_finished {
        sharing.let_others_end(stop)?;
    }
    let measured = measure_in(&opened, &folder, &args.result, (sharing, stop))?;
    Ok((measured, was_finished))
}

/// The first requirement of a plan that is no longer met here. Without it, every remaining trial would fail.
fn missing_of(opened: &Lab, plan: &Plan) -> Option<String> {
    let of_case = plan.cases.iter().find_map(|case| {
        let subject = opened.laboratory.catalogue.subject(&case.subject.subject)?;
        let asking = plan.scenario(&case.scenario).filter(|scenario| scenario.database);
        let database = asking.and_then(|scenario| plan.environment(scenario)?.database.as_ref());
        if let Err(reason) = opened.ready_for(subject, &case.subject.variant, database) {
            return Some(format!("{}: {reason}", case.subject.label));
        }
        let database = database?;
        Some(format!("database [{}]: {}", database.describe(), opened.database_ready(database).err()?))
    });
    of_case.or_else(|| missing_tool(opened, plan))
}

fn missing_tool(opened: &Lab, plan: &Plan) -> Option<String> {
    let generators = plan.scenarios.iter().filter_map(|scenario| scenario.tool.name.program());
    let timers = plan.programs.iter().filter_map(|program| program.timer.program());
    generators.chain(timers).find_map(|name| Some(format!("tool [{name}]: {}", opened.tool_ready(name).err()?)))
}

/// The name by which a user refers to a run.
fn run_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_run_is_no_failure_of_resume_unless_it_crossed_an_objective() {
        assert_eq!(of_resumed(Exit::GateFailed, true), Exit::Done);
        assert_eq!(of_resumed(Exit::ThresholdCrossed, true), Exit::ThresholdCrossed);
        assert_eq!(of_resumed(Exit::GateFailed, false), Exit::GateFailed);
    }
}
