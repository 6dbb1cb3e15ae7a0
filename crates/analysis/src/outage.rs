//! How a subject handled a database that was killed and restarted in the window.

use tolok_model::OutageRecord;

use crate::estimate::middle;
use crate::findings::outage::OutageFinding;
use crate::grouping::sorted_once;
use crate::observations::Observations;

/// `None` if no scored trial had an outage.
pub(crate) fn outage(observations: &Observations) -> Option<OutageFinding> {
    let records = observations.trials().filter_map(|trial| trial.database.as_ref()?.outage.as_ref());
    let records: Vec<&OutageRecord> = records.collect();
    let median = |of: &dyn Fn(&OutageRecord) -> Option<f64>| {
        middle(&records.iter().filter_map(|record| of(record)).collect::<Vec<f64>>())
    };
    let lacking = |of: fn(&OutageRecord) -> bool| records.iter().filter(|record| of(record)).count() as u32;
    let trials = records.len() as u32;
    let (never_answered_error, never_recovered) = (lacking(|it| it.first_error_s.is_none()), lacking(never_recovered));
    Some(OutageFinding {
        trials,
        gone_at_s: median(&|record| Some(record.began_s))?,
        back_at_s: median(&|record| record.ended_s),
        never_back: lacking(|record| record.ended_s.is_none()),
        first_error_after_s: median(&|record| Some(record.first_error_s? - record.began_s)),
        error_statuses: sorted_once(records.iter().filter_map(|record| record.error_status)),
        never_answered_error,
        longest_silence_s: median(&|record| Some(record.longest_silence_s))?,
        longest_silence_s_max: records.iter().map(|record| record.longest_silence_s).fold(0.0, f64::max),
        recovered_after_s: median(&recovered_after_s),
        never_recovered,
        failing: failing(never_answered_error, never_recovered, trials),
    })
}

/// Counts from the database's return at the earliest. Before, the subject could not recover.
fn recovered_after_s(record: &OutageRecord) -> Option<f64> {
    Some((record.recovered_s? - record.ended_s?).max(0.0))
}

/// A subject cannot recover without its database, so only trials in which it came back count.
fn never_recovered(record: &OutageRecord) -> bool {
    record.ended_s.is_some() && record.recovered_s.is_none()
}

fn failing(never_answered_error: u32, never_recovered: u32, trials: u32) -> Option<String> {
    let words = |lacking: u32, what: &str| {
        let place = if lacking == trials { String::new() } else { format!(" in {lacking} of {trials} trials") };
        (lacking > 0).then(|| format!("{what}{place}"))
    };
    let parts = [
        words(never_answered_error, "never answered with a status from 500 on"),
        words(never_recovered, "never recovered"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_subject_never_did_is_named_with_the_number_of_trials() {
        assert_eq!(failing(0, 0, 5), None);
        assert_eq!(failing(5, 0, 5).unwrap(), "never answered with a status from 500 on");
        let both = "never answered with a status from 500 on in 2 of 5 trials and never recovered";
        assert_eq!(failing(2, 5, 5).unwrap(), both);
    }

    #[test]
    fn recovery_is_counted_from_the_databases_return() {
        let record = OutageRecord { began_s: 2.0, ended_s: Some(3.5), recovered_s: Some(3.75), ..Default::default() };
        assert_eq!(recovered_after_s(&record), Some(0.25));
        assert_eq!(recovered_after_s(&OutageRecord { ended_s: None, ..record }), None);
    }

    #[test]
    fn a_subject_is_not_blamed_for_a_database_that_never_came_back() {
        let gone = OutageRecord { began_s: 2.0, first_error_s: Some(2.1), ..Default::default() };
        assert!(!never_recovered(&gone));
        assert!(never_recovered(&OutageRecord { ended_s: Some(3.0), ..gone.clone() }));
        assert!(!never_recovered(&OutageRecord { ended_s: Some(3.0), recovered_s: Some(3.1), ..gone }));
    }
}
