//! Values with a unit are read as people write them, and written so that they can be read again.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use tolok_model::{Percent, Seconds, duration_words, format_duration};

/// Reads a JSON string (with the text of a TOML value) and writes it again.
fn seconds(text: &str) -> Result<(f64, String), String> {
    let read: Seconds = serde_json::from_value(text.into()).map_err(|error| error.to_string())?;
    Ok((read.0, serde_json::to_value(read).unwrap().as_str().unwrap().to_owned()))
}

fn percent(text: &str) -> Result<(f64, String), String> {
    let read: Percent = serde_json::from_value(text.into()).map_err(|error| error.to_string())?;
    Ok((read.0, serde_json::to_value(read).unwrap().as_str().unwrap().to_owned()))
}

#[test]
fn durations() {
    assert_eq!(seconds("500ms"), Ok((0.5, "500ms".to_owned())));
    assert_eq!(seconds("2s"), Ok((2.0, "2s".to_owned())));
    assert_eq!(seconds("1.5s"), Ok((1.5, "1s 500ms".to_owned())));
    assert_eq!(seconds("1m30s"), Ok((90.0, "1m 30s".to_owned())));
    assert_eq!(seconds("0s"), Ok((0.0, "0s".to_owned())));
    for wrong in ["2", "s", "", "-1s", "two seconds", "1 parsec", "99999999999999999999s"] {
        let message = seconds(wrong).unwrap_err();
        assert_eq!(
            message,
            format!("`{wrong}` is not a duration with its unit in quotes, such as \"500ms\" or \"2s\"")
        );
    }
}

#[test]
fn percentages() {
    assert_eq!(percent("3%").unwrap().1, "3%");
    assert_eq!(percent("7%").unwrap().1, "7%");
    assert_eq!(percent("0.25 %").unwrap().1, "0.25%");
    assert!((percent("3%").unwrap().0 - 0.03).abs() < 1e-15);
    for wrong in ["3", "%", "", "-3%", "NaN%", "inf%", "three%", "3%%"] {
        assert_eq!(percent(wrong).unwrap_err(), format!("`{wrong}` is not a share in quotes, such as \"3%\""));
    }
}

#[test]
fn seconds_as_a_study_would_say_them() {
    let check = |seconds: f64, expected: &str| assert_eq!(format_duration(seconds), expected);
    check(0.3, "300ms");
    check(95.0, "1m 35s");
    check(0.1 + 0.2, "300ms");
    check(-1.0, "0s");
    check(0.000_001, "1us");
    check(f64::NAN, "0s");
}

#[test]
fn durations_in_sentences() {
    let check = |seconds: f64, expected: &str| assert_eq!(duration_words(seconds), expected);
    check(0.3, "300 ms");
    check(8.6, "8.6 s");
    check(95.0, "1 min 35 s");
    check(93_600.0, "1 day 2 h");
    check(0.000_001, "1 µs");
    check(0.0, "0 s");
}
