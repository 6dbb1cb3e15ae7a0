//! Times that end at the tool's time-out.
//!
//! A tool with a time-out L either omits longer times (wrk counts a time at or above L as a time-out and does not
//! record it) or records them as about L (k6). Either way nothing above L is known, so a maximum or percentile at L is
//! a bound rather than a time. The source cannot be blamed for printing it. ab is an exception: it stops the run at the
//! first request that it gives up, so its times were never cut.
//!
//! If any request timed out, the longest time is at least L, whatever maximum is printed. No recorded time can be much
//! longer than L. If a source states no time-out, the law uses the tool's default, unless printed times show that it
//! was not in force. The limit can then only be guessed, from several figures that end at the same value.

use tolok_model::transcription::{Figure, LatencyOf, Moment, Quantity, Row, Transcription};

use crate::draft::{Draft, Lacks, OfRow, folded};
use crate::finding::{AuditFinding, Input};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::{tools, wording};

/// A time within this share of the time-out counts as cut.
const AT_LIMIT: f64 = 0.01;

/// Tolerance for a tool that detects a time-out late, as a share.
const LATE: f64 = 0.10;

/// Percentiles from this one on show a limit, in hundredths of a percent: p90.
const HIGH: u16 = 9000;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Time-outs of the tool",
    says: "No time is longer than the tool waits; a time at that limit was cut, and its true value is unknown.",
    needs: "a high percentile or a maximum of response times, and the tool or its time-out",
    check,
};

/// Checks high percentiles and maxima of response times against each row's time-out.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let overrun = default_overrun(transcription);
    let of_row = |row| high(row).max_by(|a, b| a.value().total_cmp(&b.value())).map(|figure| (row, figure));
    let of_rows: Vec<OfRow> = transcription
        .rows
        .iter()
        .filter_map(of_row)
        .filter_map(|(row, figure)| {
            let (limit_s, is_stated) = tools::timeout_s(&row.conditions)?;
            let is_in_force = is_stated || overrun.is_empty();
            let closeness = figure.value() / limit_s;
            let judged = || Case { row, figure, limit_s, is_stated }.judged(transcription);
            is_in_force.then(|| OfRow { table: row.table.clone(), closeness, finding: judged() })
        })
        .collect();
    let mut findings = folded(of_rows);
    findings.extend(no_limit_known(transcription));
    findings.extend(overrun_finding(transcription, &overrun));
    findings
}

/// High percentiles and the maximum of a row's response times.
fn high(row: &Row) -> impl Iterator<Item = &Figure> {
    row.figures.iter().filter(|figure| match figure.quantity {
        Quantity::Latency(Moment::Percentile(hundredths)) => hundredths >= HIGH,
        Quantity::Latency(Moment::Max) => true,
        _ => false,
    })
}

/// The longest response time of a row, and the time-out that applies to it.
struct Case<'a> {
    row: &'a Row,
    figure: &'a Figure,
    limit_s: f64,
    is_stated: bool,
}

impl Case<'_> {
    fn judged(&self, transcription: &Transcription) -> AuditFinding {
        let (range, limit_s) = (Range::of(self.figure), self.limit_s);
        let may_be_cut = !tools::ends_when_one_is_given_up(&self.row.conditions);
        let at_limit = may_be_cut && range.meets(Range::exact(limit_s).widened(AT_LIMIT));
        let timeouts = self.row.figure(&Quantity::Timeouts).filter(|figure| figure.value() > 0.0);
        let (printed, limit) = (wording::quoted(self.figure), wording::seconds(limit_s));
        let draft = self.draft(transcription, timeouts);
        if self.is_stated && range.low > limit_s * (1.0 + LATE) {
            return draft
                .contradicted(format!("The tool kept no time beyond {limit}, so it did not measure {printed}."));
        }
        if let Some(timeouts) = timeouts.filter(|_| self.is_maximum() && range.low < limit_s * (1.0 + AT_LIMIT)) {
            let sentence = format!(
                "{} requests timed out after {limit}, so the longest wait was not {printed}, and its length is unknown.",
                wording::quoted(timeouts)
            );
            return match self.row.conditions.latency_of {
                Some(LatencyOf::All) => draft.contradicted(sentence),
                Some(_) => draft.holds(format!("{printed} is the longest time of requests that were not given up.")),
                None => draft
                    .lacks(["whether the maximum covers correct responses only (`latency-of`)"])
                    .cannot_tell(sentence),
            };
        }
        let failures = self.row.figure(&Quantity::Failures).filter(|figure| figure.value() > 0.0);
        if let Some(failures) = failures.filter(|_| at_limit && self.is_maximum()) {
            let tool = tools::name(&self.row.conditions);
            return draft.figure(self.row, failures).lacks(["the longest wait of requests that failed"]).cannot_tell(format!(
                "{printed} is where {tool} gives answers up, and {} requests failed: the longest wait may have been longer.",
                wording::quoted(failures)
            ));
        }
        match (at_limit, self.is_stated) {
            (false, _) if range.low < limit_s => draft.holds(format!("{printed} is below the limit of {limit}.")),
            (false, _) => draft.holds(format!("{printed} is a measured time: an answer given up ends the run.")),
            (true, true) => draft.lacks(["whether anything was given up"]).cannot_tell(format!(
                "{printed} is at the limit of {limit}, which may have cut it: those given up took this long or longer."
            )),
            (true, false) => draft.lacks(["the time-out"]).cannot_tell(format!(
                "{printed} is where {} gives answers up by default.",
                tools::name(&self.row.conditions)
            )),
        }
    }

    fn is_maximum(&self) -> bool {
        self.figure.quantity == Quantity::Latency(Moment::Max)
    }

    fn draft(&self, transcription: &Transcription, timeouts: Option<&Figure>) -> Draft {
        let origin = if self.is_stated { "stated" } else { "default of the tool" };
        let limit = wording::seconds(self.limit_s);
        let statement = format!("{} is a measured time, not the limit of the tool.", self.figure.key);
        let counted = timeouts.map_or(String::new(), |figure| format!("; time-outs: {}", wording::quoted(figure)));
        let draft = Draft::new(Law::Censoring, transcription.row_name(self.row), statement)
            .figure(self.row, self.figure)
            .condition(self.row, "time-out", format!("{limit} ({origin})"))
            .arithmetic(format!("{} against a time-out of {limit} ({origin}){counted}", wording::quoted(self.figure)));
        match timeouts {
            Some(figure) => draft.figure(self.row, figure),
            None => draft,
        }
    }
}

/// Times that the tool's default time-out would have cut, in rows that state none.
fn default_overrun(transcription: &Transcription) -> Vec<(&Row, &Figure)> {
    let is_over = |row: &Row, figure: &Figure| {
        let limit = tools::timeout_s(&row.conditions).filter(|(_, is_stated)| !is_stated);
        limit.is_some_and(|(limit_s, _)| Range::of(figure).low > limit_s * (1.0 + LATE))
    };
    let all = transcription.rows.iter().flat_map(|row| high(row).map(move |figure| (row, figure)));
    all.filter(|(row, figure)| is_over(row, figure)).collect()
}

/// Infers from such times that another limit was set, which the source does not name.
fn overrun_finding(transcription: &Transcription, overrun: &[(&Row, &Figure)]) -> Option<AuditFinding> {
    let (first, _) = overrun.first()?;
    let (limit_s, _) = tools::timeout_s(&first.conditions)?;
    let times: Vec<String> = overrun.iter().map(|(_, figure)| wording::quoted(figure)).collect();
    let (tool, limit) = (tools::name(&first.conditions), wording::seconds(limit_s));
    let about = first.table.clone().unwrap_or_else(|| transcription.title.clone());
    let draft = Draft::new(Law::Censoring, about, "The longest times printed were measured, and are not a limit.");
    let draft = overrun.iter().fold(draft, |draft, (row, figure)| draft.figure(row, figure));
    let sentence = format!(
        "{tool} gives an answer up after {limit} by default, but times of up to {} are printed. So another limit was set, which the source does not state.",
        wording::seconds(overrun.iter().map(|(_, figure)| figure.value()).fold(0.0, f64::max))
    );
    let finding = draft
        .arithmetic(format!("{} against a default of {limit}", crate::wording::listed(&times)))
        .inferring(same_end(transcription))
        .lacks(["the time-out"])
        .cannot_tell(sentence);
    Some(finding)
}

/// The common end of several rows, as a limit would produce it.
fn same_end(transcription: &Transcription) -> Option<String> {
    let ends: Vec<(&Row, &Figure)> =
        transcription.rows.iter().flat_map(|row| high(row).map(move |figure| (row, figure))).collect();
    let alike = |value: f64| ends.iter().filter(|(_, figure)| figure.value() == value).count();
    let (_, most) = ends.iter().max_by_key(|(_, figure)| alike(figure.value()))?;
    let rows: Vec<String> = ends
        .iter()
        .filter(|(_, figure)| figure.value() == most.value())
        .map(|(row, _)| transcription.row_name(row))
        .collect();
    (rows.len() >= 2).then(|| {
        format!(
            "{} rows end at the same {}, as a limit would make them: {}.",
            rows.len(),
            wording::seconds(most.value()),
            crate::wording::listed(&rows)
        )
    })
}

/// One finding for each table with high times but no known limit.
fn no_limit_known(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut lacks = Lacks::new(Law::Censoring, "The longest times printed were measured, and are not a limit.");
    for row in &transcription.rows {
        if !tools::timeout_is_known(&row.conditions)
            && let Some(figure) = high(row).next()
        {
            lacks.note(row.table.as_ref(), "the time-out", [Input::of_row(row, figure)]);
        }
    }
    lacks.findings(transcription)
}
