//! Shares, and the counts they are shares of.
//!
//! A share of requests is between 0 and 100%. Requests with an HTTP failure are among those with an error, so the error
//! rate is at least the HTTP fail rate. Failures are among the requests if the tool counts failed ones, as most do. If
//! failures are not answers (wrk's socket errors, hey's time-outs), there may be more failures than requests.
//!
//! A printed share of failures is failures ÷ requests, or failures ÷ (requests + failures) if `requests` are the
//! answered ones. If neither fits, the share and the counts are not of the same requests.

use tolok_model::transcription::{Quantity, Row, Transcription};

use crate::draft::{Draft, OfRow, folded};
use crate::finding::AuditFinding;
use crate::groups::tables;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::{rows, tools, wording};

/// An error rate this far above the HTTP fail rate needs an explanation, as a share of requests.
const UNEXPLAINED: f64 = 0.05;

/// Time-outs per connection that suggest one for each of most connections.
const ABOUT_ONE_EACH: (f64, f64) = (0.8, 1.2);

/// The shares of requests that a table may print.
const SHARES: [Quantity; 2] = [Quantity::ErrorRate, Quantity::HttpFailRate];

pub(super) const LAW: LawInfo = LawInfo {
    title: "Percentages",
    says: "Shares lie between 0 and 100%, and fit the counts that they are shares of.",
    needs: "a share of failed requests, or their number beside all requests",
    check,
};

/// Whether a row prints a share. A share alone that is below 100% has no finding.
pub(super) fn has_columns(transcription: &Transcription) -> bool {
    let has_share = |row: &Row| SHARES.iter().any(|quantity| row.figure(quantity).is_some());
    transcription.rows.iter().any(has_share)
}

/// Checks the shares of each row against each other and against its counts.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let each: [fn(&Transcription, &Row) -> Option<AuditFinding>; 4] =
        [within, errors_hold_failures, counts, share_of_counts];
    let of_each = |one: &fn(&Transcription, &Row) -> Option<AuditFinding>| {
        let of_row = |row: &Row| {
            let (closeness, finding) = (closeness(row), one(transcription, row)?);
            Some(OfRow { table: row.table.clone(), closeness, finding })
        };
        transcription.rows.iter().filter_map(of_row).collect()
    };
    each.iter().flat_map(|one| folded(of_each(one))).chain(unexplained_errors(transcription)).collect()
}

/// The failed share of a row: the row with most failures represents others.
fn closeness(row: &Row) -> f64 {
    rows::failed_share(row).map_or(0.0, |failed| failed.value)
}

/// Checks that no share of requests is above 100%.
fn within(transcription: &Transcription, row: &Row) -> Option<AuditFinding> {
    let figures: Vec<_> = SHARES.iter().filter_map(|quantity| row.figure(quantity)).collect();
    let above = figures.iter().find(|figure| Range::of(figure).low > 1.0)?;
    let draft = Draft::new(Law::Percentages, transcription.row_name(row), "Shares of requests are at most 100%.")
        .figure(row, above)
        .arithmetic(format!("{} > 100%", wording::quoted(above)));
    Some(draft.contradicted(format!("{} of requests are more than all of them.", wording::quoted(above))))
}

/// Checks that errors include HTTP failures.
fn errors_hold_failures(transcription: &Transcription, row: &Row) -> Option<AuditFinding> {
    let (errors, failures) = (row.figure(&Quantity::ErrorRate)?, row.figure(&Quantity::HttpFailRate)?);
    let (all, some) = (wording::quoted(errors), wording::quoted(failures));
    let is_less = Range::of(failures).is_above(Range::of(errors));
    let statement = "Requests with an error are at least those that failed as HTTP.";
    let draft = Draft::new(Law::Percentages, transcription.row_name(row), statement)
        .figure(row, errors)
        .figure(row, failures)
        .arithmetic(format!("{all} {} {some}", if is_less { "<" } else { "≥" }));
    Some(if is_less {
        draft.contradicted(format!("{some} failed as HTTP, but only {all} have an error: every failure is an error."))
    } else {
        draft.holds(format!("{some} failed as HTTP, and {all} have an error."))
    })
}

/// Checks that failures are among the requests.
fn counts(transcription: &Transcription, row: &Row) -> Option<AuditFinding> {
    let requests = row.figure(&Quantity::Requests)?;
    let failures = row.figure(&Quantity::Failures).or_else(|| row.figure(&Quantity::Timeouts))?;
    let (some, all) = (wording::quoted(failures), wording::quoted(requests));
    let is_more = Range::of(failures).is_above(Range::of(requests));
    let share = failures.value() / requests.value();
    let statement = "Requests that failed are among the requests counted.";
    let draft = Draft::new(Law::Percentages, transcription.row_name(row), statement)
        .figure(row, failures)
        .figure(row, requests)
        .arithmetic(format!("{some} of {all} = {}", wording::percent(share)))
        .inferring(one_each(row, failures.value(), share));
    let counts_all = tools::counts_failed_answers(&row.conditions) && !tools::leaves_out_given_up(&row.conditions);
    Some(match (is_more, counts_all) {
        (false, _) => draft.holds(format!("Failures and time-outs are {} of the requests.", wording::percent(share))),
        (true, true) => draft.contradicted(format!("{some} failures are more than all {all} requests.")),
        (true, false) => draft.lacks(["whether the requests counted are all that were sent"]).cannot_tell(format!(
            "{some} failures are more than the {all} requests, which may be those that were answered."
        )),
    })
}

/// What it suggests if the number of time-outs is close to that of connections.
fn one_each(row: &Row, failures: f64, share: f64) -> Option<String> {
    let connections = row.conditions.connections.filter(|connections| *connections > 0)? as f64;
    let each = failures / connections;
    let (low, high) = ABOUT_ONE_EACH;
    (row.figure(&Quantity::Timeouts).is_some() && (low..=high).contains(&each) && share < 0.5).then(|| {
        format!(
            "That is {} for each of {} connections, as if most connections had one late answer, such as the first.",
            wording::number(each),
            wording::number(connections)
        )
    })
}

/// Checks that a printed share equals that of the printed counts.
fn share_of_counts(transcription: &Transcription, row: &Row) -> Option<AuditFinding> {
    let shares: Vec<_> =
        [Quantity::HttpFailRate, Quantity::ErrorRate].iter().filter_map(|quantity| row.figure(quantity)).collect();
    let (requests, failures) = (row.figure(&Quantity::Requests)?, row.figure(&Quantity::Failures)?);
    let (all, some) = (Range::of(requests), Range::of(failures));
    let first = *shares.first()?;
    let fits = |share: Range| share.meets(some.over(all)) || share.meets(some.over(all.plus(some)));
    let does_fit = shares.iter().any(|share| fits(Range::of(share)));
    let implied = wording::percent(failures.value() / requests.value());
    let (some, all, printed) = (wording::quoted(failures), wording::quoted(requests), wording::quoted(first));
    let statement = "The share of failures is that of the counts.";
    let draft = Draft::new(Law::Percentages, transcription.row_name(row), statement)
        .figure(row, failures)
        .figure(row, requests)
        .figure(row, first)
        .arithmetic(format!("{some} ÷ {all} = {implied}; printed {printed}"));
    Some(if does_fit {
        draft.holds(format!("{some} failures of {all} requests are the share printed."))
    } else {
        draft.contradicted(format!("{some} failures of {all} requests are {implied} and not {printed}."))
    })
}

/// One finding for each table with far more errors than HTTP failures.
fn unexplained_errors(transcription: &Transcription) -> Vec<AuditFinding> {
    tables(transcription).iter().filter_map(|(table, rows)| unexplained_in(transcription, *table, rows)).collect()
}

/// The finding for one table.
fn unexplained_in(transcription: &Transcription, table: Option<&str>, rows: &[&Row]) -> Option<AuditFinding> {
    let gap = |row: &Row| {
        let share = |quantity| rows::known(row, quantity).map(|known| known.range);
        let (errors, failures) = (share(&Quantity::ErrorRate)?, share(&Quantity::HttpFailRate)?);
        Some(errors.low - failures.high).filter(|gap| *gap > UNEXPLAINED)
    };
    let far: Vec<(&Row, f64)> = rows.iter().filter_map(|row| gap(row).map(|gap| (*row, gap))).collect();
    let (most, widest) = far.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let about = table.map(str::to_owned).unwrap_or_else(|| transcription.title.clone());
    let draft = far.iter().fold(
        Draft::new(Law::Percentages, about, "The figures show which requests count as errors."),
        |draft, (row, _)| {
            let figures =
                [Quantity::ErrorRate, Quantity::HttpFailRate].into_iter().filter_map(|quantity| row.figure(&quantity));
            figures.fold(draft, |draft, figure| draft.figure(row, figure))
        },
    );
    let points = wording::number(100.0 * widest);
    let sentence = format!(
        "In {} rows more requests have an error than failed as HTTP, by up to {points} points ({}): these rows depend on what else counts as an error.",
        far.len(),
        transcription.row_name(most)
    );
    let missing = ["what counts as an error without being an HTTP failure"];
    Some(
        draft
            .arithmetic(format!("up to {points} points of errors without an HTTP failure"))
            .lacks(missing)
            .cannot_tell(sentence),
    )
}
