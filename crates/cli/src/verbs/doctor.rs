//! `tolok doctor`: what this machine can and cannot measure.

use std::fmt::Write;

use tolok_lab::machine::{Machine, Severity};
use tolok_lab::toolbox::ProgramState;

use crate::args::{DoctorArgs, PlanFormat};
use crate::exit::{Complaint, Exit};
use crate::laboratory::Opened;
use crate::output::{json, put};

/// Looks at the machine and at the programs.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Complaint> {
    let opened = Opened::open()?;
    let machine = Machine::read();
    let advice = machine.advice();
    if args.format == PlanFormat::Json {
        let shown = serde_json::json!({
            "schema_version": 1, "machine": machine, "advice": advice, "programs": opened.states
        });
        put(&json(&shown)?, None)?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{}\n\nPrograms\n", tolok_analysis::machine_line(&super::run::summary(&machine)));
    for (name, state) in &opened.states {
        let _ = match state {
            ProgramState::Ready(program) => {
                writeln!(text, "  ready    {:<20} {:<10} {}", program.title, program.version, program.path.display())
            }
            ProgramState::Missing { reason, remedy } => {
                let reason = reason.as_ref().map(|reason| format!("{reason}; ")).unwrap_or_default();
                writeln!(text, "  missing  {name:<20} {reason}{remedy}")
            }
            ProgramState::Broken { seen, remedy } => writeln!(text, "  broken   {name:<20} {seen}; {remedy}"),
        };
    }
    let _ = writeln!(text, "\nSubjects");
    for subject in opened.competitors() {
        let _ = match opened.ready(subject, &subject.default_variant) {
            Ok(()) => writeln!(text, "  ready    {}", subject.id),
            Err(reason) => writeln!(text, "  missing  {:<16} {reason}", subject.id),
        };
    }
    let _ = writeln!(text, "\nMeasuring here");
    for one in &advice {
        let mark = match one.severity {
            Severity::Problem => "problem",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let _ = writeln!(text, "  {mark:<8} {}\n           {}\n           → {}", one.what, one.why, one.fix);
    }
    if advice.is_empty() {
        let _ = writeln!(text, "  nothing stands in the way");
    }
    put(&text, None)?;
    Ok(Exit::Done)
}
