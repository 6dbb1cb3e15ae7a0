//! Bytes of an answer, of the network and of memory.
//!
//! - Bandwidth ÷ throughput is the bytes of one answer, headers included. If these differ between subjects by more than
//!   rounding and 5%, the subjects did not send the same bytes. An answer is never smaller than its body, unless it was
//!   compressed.
//! - Bytes per second = throughput × bytes of an answer, and is at most what the network carries (utilisation law,
//!   Denning and Buzen 1978). Only correct responses certainly have a whole body, so only they count: X · (1 − failed
//!   share) · smallest body.
//! - A server that builds each body as a whole before sending it holds one for each request in progress. The figures
//!   tell how many bodies fit into peak memory, but not whether the server streamed them, so this never contradicts.

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks, OfRow, folded};
use crate::finding::{AuditFinding, Input};
use crate::groups::{self, Group};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Known};
use crate::wording;

/// How much headers may make subjects' answers differ, as a share.
const HEADERS: f64 = 0.05;

/// From this many bytes per second on, the network may be the limit: 100 Mbit/s.
const WORTH_ASKING: f64 = 12.5e6;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Bytes",
    says: "All subjects send answers of the same length, which fit through the link and into memory.",
    needs: "bandwidth beside throughput, or sizes of bodies; for memory, its limit and what was used",
    check,
};

/// Checks bytes against answers, network and memory.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut findings = Vec::new();
    for group in groups::comparable(transcription) {
        findings.extend(same_size(transcription, &group));
    }
    let bodies = transcription.rows.iter().filter_map(|row| holds_its_body(transcription, row));
    findings.extend(folded(bodies.collect()));
    findings.extend(through_link(transcription));
    findings.extend(into_memory(transcription));
    findings
}

/// Bytes of an answer on the network, from rates or from totals of the run.
fn answer_bytes(row: &Row) -> Option<Known> {
    let over =
        |bytes, answers: Option<Known>| Some(rows::known(row, &bytes)?.over(answers.filter(|it| it.value > 0.0)?));
    let of_run = || over(Quantity::Transferred, rows::known(row, &Quantity::Requests));
    over(Quantity::Bandwidth, rows::throughput(row)).or_else(of_run)
}

/// All subjects of a group should send bodies of equal length, or answers if bodies are not printed. Sources do not
/// state this, and headers differ, so other lengths never contradict.
fn same_size(transcription: &Transcription, group: &Group) -> Option<AuditFinding> {
    let of_all = |size: &dyn Fn(&Row) -> Option<Known>| -> Option<Vec<(&str, Known)>> {
        group.rows.iter().map(|row| size(row).map(|known| (row.subject.as_str(), known))).collect()
    };
    let bodies = of_all(&|row| rows::known(row, &Quantity::Body));
    let (what, how, sizes) = match bodies {
        Some(bodies) => ("body", "body", bodies),
        None => ("answer", "bandwidth ÷ throughput", of_all(&answer_bytes)?),
    };
    let smallest = sizes.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let largest = sizes.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    if sizes.len() < 2 {
        return None;
    }
    let size = |known: &Known| wording::bytes(known.value);
    let terms: Vec<String> = sizes.iter().map(|(name, known)| format!("{name} {}", size(known))).collect();
    let statement = "The answers of all subjects have the same number of bytes.";
    let draft = Draft::new(Law::Bytes, group.name(transcription), statement)
        .inputs(sizes.iter().flat_map(|(_, known)| known.inputs.clone()))
        .arithmetic(format!("{how}: {}", wording::listed(&terms)));
    if !largest.1.range.is_above(smallest.1.range.widened(HEADERS)) {
        return Some(draft.holds(format!("By {how}, all subjects sent answers of about the same length.")));
    }
    let sentence = format!(
        "By {how}, {} of {} has {} and one of {} has {}: they did not send the same bytes.",
        if what == "body" { "a body" } else { "an answer" },
        largest.0,
        size(&largest.1),
        smallest.0,
        size(&smallest.1)
    );
    Some(match what {
        "body" => draft.lacks(["figures with equal bodies"]).cannot_tell(sentence),
        _ => draft
            .inferring(Some(
                "Headers may make all of the difference; the figures do not show whether the bodies are equal."
                    .to_owned(),
            ))
            .lacks(["the bytes of a body of each subject"])
            .cannot_tell(sentence),
    })
}

/// An answer is at least as large as its body.
fn holds_its_body(transcription: &Transcription, row: &Row) -> Option<OfRow> {
    let answer = answer_bytes(row)?;
    let good = rows::failed_share(row).map_or(Range::exact(1.0), |failed| failed.range.complement());
    let body = body_bytes(row)?.times(good);
    let (answer_text, body_text) = (wording::bytes(answer.value), wording::bytes(body.low));
    let draft = Draft::new(Law::Bytes, transcription.row_name(row), "An answer is at least as long as its body.")
        .inputs(answer.inputs)
        .condition(row, "body of an answer", body_text.clone())
        .arithmetic(format!("bytes ÷ answers = {answer_text}; body {body_text}"));
    let finding = if body.is_above(answer.range) {
        let sentence = format!(
            "{answer_text} for each answer is less than a body of {body_text}, unless answers were compressed."
        );
        draft.lacks(["whether answers were compressed"]).cannot_tell(sentence)
    } else {
        draft.holds(format!("{answer_text} for each answer leaves room for a body of {body_text}."))
    };
    Some(OfRow { table: row.table.clone(), closeness: body.low / answer.value, finding })
}

/// Bytes of a body: as printed, or as the source allows.
fn body_bytes(row: &Row) -> Option<Range> {
    let stated = row.conditions.body_bytes.map(|(low, high)| Range::between(low, high));
    row.figure(&Quantity::Body).map(Range::of).or(stated).filter(|range| range.high > 0.0)
}

/// Bytes per second that a row needs: those printed, or its correct responses with their smallest body.
struct Traffic {
    range: Range,
    arithmetic: String,
    inputs: Vec<Input>,
}

impl Traffic {
    fn of(row: &Row) -> Option<Self> {
        if let Some(bandwidth) = rows::known(row, &Quantity::Bandwidth) {
            let arithmetic = format!("{} printed", wording::bits_per_s(bandwidth.value));
            return Some(Self { range: bandwidth.range, arithmetic, inputs: bandwidth.inputs });
        }
        let (throughput, body) = (rows::throughput(row)?, body_bytes(row)?);
        let failed = rows::failed_share(row);
        let good = failed.as_ref().map_or(Range::exact(1.0), |failed| failed.range.complement());
        let range = throughput.range.times(good).times(body);
        let good_value = throughput.value * failed.as_ref().map_or(1.0, |failed| 1.0 - failed.value);
        let (all, some) =
            (wording::bits_per_s(throughput.value * body.low), wording::bits_per_s(good_value * body.low));
        let (x, size) = (wording::per_second(throughput.value), wording::bytes(body.low));
        let arithmetic = if failed.as_ref().is_some_and(|failed| failed.value > 0.0) {
            format!("{x} × {size} = {all}; {} correct responses: {some}", wording::per_second(good_value))
        } else {
            format!("{x} × {size} = {all}")
        };
        let inputs = throughput.inputs.into_iter().chain(failed.into_iter().flat_map(|failed| failed.inputs)).collect();
        Some(Self { range, arithmetic, inputs })
    }
}

/// The network carries what rows send. If the link is not stated, reports one finding for each table with much traffic.
fn through_link(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Bytes, "The network carries the bytes of the answers.");
    let mut findings = Vec::new();
    for row in &transcription.rows {
        let Some(traffic) = Traffic::of(row) else { continue };
        match row.conditions.link_bits_per_s {
            Some(link) => findings.push(against_link(transcription, row, traffic, link / 8.0)),
            None if traffic.range.low > WORTH_ASKING => {
                let arithmetic = format!("{}: {}", transcription.row_name(row), traffic.arithmetic);
                lacks.note_with(row.table.as_ref(), "what the network carries", traffic.inputs, Some(arithmetic));
            }
            None => {}
        }
    }
    folded(findings).into_iter().chain(lacks.findings(transcription)).collect()
}

/// Checks a row against a stated link.
fn against_link(transcription: &Transcription, row: &Row, traffic: Traffic, link: f64) -> OfRow {
    let (needed, carried) = (wording::bits_per_s(traffic.range.low), wording::bits_per_s(link));
    let draft = Draft::new(Law::Bytes, transcription.row_name(row), "The network carries the bytes of the answers.")
        .inputs(traffic.inputs)
        .condition(row, "link", carried.clone())
        .arithmetic(format!("{}; the link carries {carried}", traffic.arithmetic));
    let finding = if traffic.range.low > link {
        draft.contradicted(format!(
            "The answers are at least {needed}, more than the {carried} that the network carries."
        ))
    } else {
        draft.holds(format!("Answers of {needed} fit through a network of {carried}."))
    };
    OfRow { table: row.table.clone(), closeness: traffic.range.low / link, finding }
}

/// How many bodies fit into the peak memory of rows: one finding for each setting in which not all users' bodies fit.
fn into_memory(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut settings: Vec<(Option<&String>, Vec<Held>)> = Vec::new();
    for held in transcription.rows.iter().filter_map(Held::of) {
        let scenario = held.row.scenario.as_ref();
        match settings.iter_mut().find(|(other, _)| *other == scenario) {
            // A table may repeat figures of another.
            Some((_, all)) => {
                let is_new =
                    all.iter().all(|other| other.row.subject != held.row.subject || other.bodies != held.bodies);
                all.extend(is_new.then_some(held));
            }
            None => settings.push((scenario, vec![held])),
        }
    }
    settings.iter().filter_map(|(_, all)| memory_finding(transcription, all)).collect()
}

/// The number of bodies that a row's memory can hold.
struct Held<'a> {
    row: &'a Row,
    memory: &'a Figure,
    body_bytes: f64,
    bodies: f64,
    users: f64,
}

impl<'a> Held<'a> {
    /// `None` if all users' bodies fit, or if a size is unknown.
    fn of(row: &'a Row) -> Option<Self> {
        let memory =
            [Moment::Max, Moment::Whole].into_iter().find_map(|moment| row.figure(&Quantity::Memory(moment)))?;
        let (body_bytes, users) = (body_bytes(row)?.low, row.conditions.connections? as f64);
        let bodies = (Range::of(memory).high / body_bytes).floor();
        (body_bytes > 0.0 && bodies < users).then_some(Self { row, memory, body_bytes, bodies, users })
    }
}

/// The conclusion if not all users' bodies fit.
fn memory_finding(transcription: &Transcription, all: &[Held]) -> Option<AuditFinding> {
    let first = all.first()?;
    let (size, users) = (wording::bytes(first.body_bytes), wording::number(first.users));
    let each = |held: &Held| {
        let (peak, bodies) = (wording::quoted(held.memory), wording::number(held.bodies));
        format!("{peak} ({}) hold {bodies}", held.row.subject)
    };
    let terms: Vec<String> = all.iter().map(each).collect();
    let sentence = format!(
        "Of bodies of {size}, {}, and there were up to {users} requests at a time: bodies were sent in parts, were smaller, or most \
         requests waited without one.",
        crate::wording::listed(&terms)
    );
    let about =
        first.row.scenario.as_ref().and_then(|name| transcription.setting(name)).map(|setting| setting.title.clone());
    let statement = "The bodies of all requests at a time fit into memory as a whole.";
    let draft = Draft::new(Law::Bytes, about.unwrap_or_else(|| transcription.row_name(first.row)), statement)
        .condition(first.row, "body of an answer", format!("at least {size}"))
        .condition(first.row, "connections", users)
        .arithmetic(format!("memory ÷ {size}: {}", terms.join("; ")));
    let draft = all.iter().fold(draft, |draft, held| draft.figure(held.row, held.memory));
    Some(
        draft
            .lacks(["the bytes of a body as measured", "whether bodies were sent as they were made"])
            .cannot_tell(sentence),
    )
}
