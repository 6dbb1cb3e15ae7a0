//! A row of a transcription under construction.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use tolok_model::Seconds;
use tolok_model::transcription::figure_key;

use crate::digits::is_number;
use crate::writing::{on_one_line, quoted};

/// A run, or a row of a table, as printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Line of the text where it begins, from 1.
    pub line: usize,
    pub subject: String,
    /// Which run of its file it is, if there are several.
    pub table: Option<String>,
    /// Its conditions.
    pub settings: Vec<Setting>,
    pub figures: Vec<Figure>,
    /// The lines that it comes from.
    pub raw: Vec<String>,
}

/// A key of `[method]` and its value in TOML.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: &'static str,
    pub value: String,
    pub comment: Option<String>,
}

/// A figure under a key of transcriptions, or under its own name.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub key: String,
    /// As printed; one for each repetition.
    pub numbers: Vec<String>,
    pub comment: Option<&'static str>,
}

/// Something about a line that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// From 1.
    pub line: usize,
    pub text: String,
}

impl Row {
    pub(crate) fn text(&mut self, key: &'static str, value: &str) {
        self.setting(key, quoted(value), None);
    }

    /// Sets a whole number; `false` if it is not one, or not one that the setting accepts.
    pub(crate) fn count(&mut self, key: &'static str, digits: &str) -> bool {
        let count = digits.parse::<u32>().ok().filter(|count| *count > 0);
        if let Some(count) = count {
            self.setting(key, count.to_string(), None);
        }
        count.is_some()
    }

    /// Sets the length of the run; `false` if a transcription does not accept it.
    pub(crate) fn duration(&mut self, text: &str) -> bool {
        let read: Result<Seconds, ValueError> = Seconds::deserialize(text.into_deserializer());
        let is_some = read.is_ok_and(|time| time.0 > 0.0);
        if is_some {
            self.text("duration", text);
        }
        is_some
    }

    pub(crate) fn setting(&mut self, key: &'static str, value: String, comment: Option<String>) {
        if !self.settings.iter().any(|known| known.key == key) {
            self.settings.push(Setting { key, value, comment });
        }
    }

    /// Adds a figure; `false` if the digits are not a number. The first of several figures of one quantity counts,
    /// whatever their units.
    pub(crate) fn figure(&mut self, key: &str, digits: &str) -> bool {
        self.figure_with(key, digits, None)
    }

    pub(crate) fn figure_with(&mut self, key: &str, digits: &str, comment: Option<&'static str>) -> bool {
        if !is_number(digits) {
            return false;
        }
        // Keys that differ only in control characters become equal when written.
        let key = on_one_line(key);
        if !self.has(&key) {
            self.figures.push(Figure { key, numbers: vec![digits.to_owned()], comment });
        }
        true
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        let quantity = |key: &str| figure_key(key).map(|(quantity, _)| quantity);
        let wanted = quantity(key);
        let is_same = |known: &str| known == key || wanted.is_some() && quantity(known) == wanted;
        self.figures.iter().any(|figure| is_same(&figure.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_kept_where_a_transcription_can_have_it() {
        let mut row = Row::default();
        for refused in ["0s", "1..2s", "150358906427333333ms", "long"] {
            assert!(!row.duration(refused), "{refused}");
        }
        assert!(row.duration("15.133894378s") && row.settings.len() == 1);
    }

    #[test]
    fn a_quantity_is_kept_once_whatever_its_unit() {
        let mut row = Row::default();
        assert!(row.figure("memory_mib", "76") && row.figure("memory_gib", "1.5"));
        assert!(row.figure("own one", "1") && row.figure("own two", "2"));
        let keys: Vec<&str> = row.figures.iter().map(|figure| figure.key.as_str()).collect();
        assert_eq!(keys, ["memory_mib", "own one", "own two"]);
        assert!(row.figure("own\u{1b}one", "3") && row.figures.len() == 3, "it is written like the first");
    }
}
