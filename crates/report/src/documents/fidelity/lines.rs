//! What the drivers do, and which of them do the same.

use tolok_analysis::figures::{count, counted};
use tolok_model::fidelity::{Aborts, ColumnVerdict, DriverReport, FidelityReport, TwoTasks, TwoTasksOutcome, Verdict};

use super::who::{stars, who};

/// The key of the table. It is left out, because another column has its type.
const KEY: &str = "id";
/// Explains shortened names.
pub(super) const STARS: &str = ":* are all variants of a subject that were asked";

/// Something that all named drivers do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Whether it loses or breaks something.
    pub(super) is_bad: bool,
    pub(super) what: String,
    pub(super) who: String,
}

/// A type, and how drivers represent it.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: &'static str,
    /// The value that causes drivers the most trouble.
    pub(super) awkward: String,
    pub(super) lines: Vec<Line>,
}

/// A heading with its lines.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) heading: &'static str,
    pub(super) note: String,
    pub(super) lines: Vec<Line>,
}

/// What was tested, in a line.
pub(super) fn subtitle(report: &FidelityReport) -> String {
    let mut parts = vec![counted(report.drivers.len() as u64, "variant")];
    if !report.database.is_empty() {
        parts.insert(0, report.database.clone());
    }
    parts.push(format!("pool of {}", report.pool));
    parts.join(" · ")
}

/// Every type of the table, in its order.
pub(super) fn types(report: &FidelityReport) -> Vec<Type> {
    let asked = asked(report);
    let Some(first) = asked.first() else { return Vec::new() };
    let columns = first.types.iter().filter(|verdict| verdict.column != KEY);
    let verdict =
        |driver: &DriverReport, column: &str| driver.types.iter().find(|verdict| verdict.column == column).cloned();
    let lines = |column: &ColumnVerdict| {
        let done = |driver: &DriverReport| {
            let verdict = verdict(driver, column.column)?;
            Some(Done { rank: rank(&verdict.worst), is_bad: verdict.worst.damage().is_some(), what: verdict.sentence })
        };
        grouped(&asked, &done)
    };
    columns
        .map(|column| Type { name: column.sql_type, awkward: column.awkward.clone(), lines: lines(column) })
        .collect()
}

/// How two tasks behave on one connection, and what aborted requests leave behind.
pub(super) fn sections(report: &FidelityReport) -> Vec<Section> {
    let asked = asked(report);
    let note = "each keeps its connection busy for 0.2 s".to_owned();
    let one = Section {
        heading: "Two tasks on one connection",
        note: note.clone(),
        lines: two_tasks(&asked, |driver| driver.one_connection.as_ref()),
    };
    let two = Section {
        heading: "Two tasks with a pool",
        note,
        lines: two_tasks(&asked, |driver| driver.two_connections.as_ref()),
    };
    [one, two, aborts(&asked)].into_iter().filter(|section| !section.lines.is_empty()).collect()
}

/// Drivers that could not be tested, or not completely, and why.
pub(super) fn failures(report: &FidelityReport) -> Vec<String> {
    let failed = |driver: &DriverReport| Some(format!("{}: {}", driver.subject, driver.failure.as_ref()?));
    report.drivers.iter().filter_map(failed).collect()
}

/// Drivers that cannot be tested here, and why.
pub(super) fn left_out(report: &FidelityReport) -> Vec<String> {
    report.left_out.iter().map(|left_out| format!("{}: {}", left_out.subject, left_out.reason)).collect()
}

/// Whether any name is shortened.
pub(super) fn has_stars(report: &FidelityReport) -> bool {
    let in_types = types(report).into_iter().flat_map(|it| it.lines);
    let in_sections = sections(report).into_iter().flat_map(|it| it.lines);
    in_types.chain(in_sections).any(|line| stars(&line.who))
}

/// The drivers that answered.
fn asked(report: &FidelityReport) -> Vec<&DriverReport> {
    report.drivers.iter().filter(|driver| !driver.types.is_empty()).collect()
}

/// A driver's behaviour, in a form that can be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    /// The lowest for correct behaviour.
    rank: u8,
    is_bad: bool,
    what: String,
}

fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Exact => 0,
        Verdict::AsString => 1,
        Verdict::Reformatted(_) => 2,
        Verdict::Rounded(_) => 3,
        Verdict::Lost => 4,
        Verdict::Altered(_) => 5,
    }
}

/// A line for each behaviour: correct ones first, then the most common.
fn grouped(asked: &[&DriverReport], done: &dyn Fn(&DriverReport) -> Option<Done>) -> Vec<Line> {
    let all: Vec<&str> = asked.iter().map(|driver| driver.subject.as_str()).collect();
    let mut groups: Vec<(Done, Vec<&str>)> = Vec::new();
    for driver in asked {
        let Some(done) = done(driver) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == done) {
            Some((_, names)) => names.push(&driver.subject),
            None => groups.push((done, vec![&driver.subject])),
        }
    }
    groups.sort_by(|(one, these), (other, those)| {
        one.rank.cmp(&other.rank).then(those.len().cmp(&these.len())).then(one.what.cmp(&other.what))
    });
    let line = |(done, names): (Done, Vec<&str>)| Line { is_bad: done.is_bad, what: done.what, who: who(&names, &all) };
    groups.into_iter().map(line).collect()
}

/// Groups by outcome. Times and numbers in messages differ slightly between drivers, so neither is compared.
fn two_tasks<'a>(asked: &[&'a DriverReport], of: impl Fn(&'a DriverReport) -> Option<&'a TwoTasks>) -> Vec<Line> {
    let tasks: Vec<(&str, Option<&TwoTasks>)> =
        asked.iter().map(|driver| (driver.subject.as_str(), of(driver))).collect();
    let done = |driver: &DriverReport| {
        let (_, own) = tasks.iter().find(|(name, _)| *name == driver.subject)?;
        let Some(own) = own else {
            return Some(Done { rank: 9, is_bad: false, what: "a request has no second task there".to_owned() });
        };
        let same = tasks.iter().filter_map(|(_, other)| *other).filter(|other| is_same(own, other));
        Some(Done { rank: own.outcome as u8, is_bad: false, what: outcome(&same.collect::<Vec<_>>()) })
    };
    grouped(asked, &done)
}

fn is_same(one: &TwoTasks, other: &TwoTasks) -> bool {
    let words = |tasks: &TwoTasks| -> Vec<String> {
        tasks.errors.iter().map(|error| error.replace(|letter: char| letter.is_ascii_digit(), "")).collect()
    };
    one.outcome == other.outcome && words(one) == words(other)
}

/// The outcome of these tasks in words; all must have the same.
fn outcome(same: &[&TwoTasks]) -> String {
    let Some(first) = same.first() else { return String::new() };
    let word = match first.outcome {
        TwoTasksOutcome::SideBySide => "side by side",
        TwoTasksOutcome::OneAfterTheOther => "one after the other",
        TwoTasksOutcome::Refused => {
            let mut errors: Vec<String> = first.errors.iter().map(|error| format!("“{}”", error.trim())).collect();
            errors.dedup();
            return format!("refused: {}", errors.join(", "));
        }
    };
    let times = same.iter().map(|tasks| tasks.elapsed_s);
    let (least, most) = times.fold((f64::INFINITY, 0.0_f64), |(least, most), time| (least.min(time), most.max(time)));
    let (least, most) = (format!("{least:.2}"), format!("{most:.2}"));
    if least == most { format!("{word}, {least} s in all") } else { format!("{word}, {least} to {most} s in all") }
}

fn aborts(asked: &[&DriverReport]) -> Section {
    let all = asked.iter().filter_map(|driver| driver.aborts.as_ref());
    let most = all.map(|aborts| aborts.aborted).max().unwrap_or_default();
    let done = |driver: &DriverReport| {
        let aborts = driver.aborts.as_ref()?;
        let is_bad = !aborts.differences().is_empty();
        Some(Done { rank: u8::from(is_bad), is_bad, what: after_aborts(aborts, most) })
    };
    let most = count(most as u64);
    let note = format!("{most} requests aborted at once or in mid-response, then requests that must get a response");
    Section { heading: "Clients that hang up", note, lines: grouped(asked, &done) }
}

fn after_aborts(aborts: &Aborts, most: usize) -> String {
    let Aborts { aborted, pool, connections_before, connections_after, busy_after, asked_after, answered_after } =
        aborts;
    // A subject that hangs gets fewer requests than planned.
    let mut text = if *aborted < most { format!("only {} aborted: ", count(*aborted as u64)) } else { String::new() };
    match (connections_before, connections_after) {
        (Some(before), Some(after)) => text += &format!("{} before, {after} after", counted(*before, "connection")),
        _ => text += "connections not counted",
    }
    if connections_after.is_some_and(|after| after > u64::from(*pool)) {
        text += &format!(" (may have {pool})");
    }
    if let Some(busy) = busy_after.filter(|busy| *busy > 0) {
        text += &format!(", {busy} of them still busy");
    }
    match (answered_after, asked_after) {
        (answered, asked) if answered == asked => text + "; all answered",
        (0, _) => text + "; none answered",
        (answered, asked) => text + &format!("; {answered} of {asked} answered"),
    }
}
