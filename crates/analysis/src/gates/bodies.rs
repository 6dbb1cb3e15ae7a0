//! Whether the tool checked bodies, and whether the kernel saw as many responses.

use tolok_model::{LoadTool, Measurement, Protocol};

use super::{Judged, Seen};
use crate::case_inputs::CaseInputs;
use crate::flag::FlagKind;
use crate::tool_flags::{contradiction, counted, tolerated};

pub(super) fn judge(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    let CaseInputs { scenario, around, .. } = inputs;
    if contradiction(trial, &scenario.load, tolerated(&around.environment.link)).is_some() {
        let wire = trial.wire.map(|wire| wire.answers_2xx).unwrap_or_default();
        let text = format!("the tool counted {} correct responses, and {wire} crossed the wire", counted(trial));
        return Judged::Failed(Seen::words(text), Some(FlagKind::WireContradicts));
    }
    let check = trial.checks.as_ref().and_then(|checks| checks.body_check.as_deref());
    let looked = |how: &str| Judged::Passed(Seen::words(format!("every body was {how}")));
    match check {
        Some("exact" | "exactly") => looked("compared byte for byte"),
        Some("gzip") => looked("unpacked and compared byte for byte"),
        Some("length") => looked("checked by its length"),
        Some("json") => looked("read as JSON"),
        Some("mixed") => Judged::Unknown("some bodies were checked in another way than others".to_owned()),
        // Responses with an increasing number are counted, not compared.
        Some(_) if trial.counter.is_some() => {
            Judged::Passed(Seen::words("the responses are numbers, and their sum was checked"))
        }
        Some(_) => Judged::Failed(Seen::words("nothing checked the bodies"), None),
        None if trial.wire.is_some() => {
            let text =
                "as many responses with a good status crossed the wire; their bodies were checked before the load only";
            Judged::Passed(Seen::words(text))
        }
        None if scenario.tool.name == LoadTool::Tolok => {
            Judged::Unknown("the record does not say how bodies were checked".to_owned())
        }
        None if scenario.protocol != Protocol::Http1 => {
            let over = scenario.protocol.title();
            Judged::Unknown(format!("the tool does not check bodies, and the packet count cannot see into {over}"))
        }
        None => Judged::Unknown("the tool does not check bodies, and nothing was counted on the wire".to_owned()),
    }
}
