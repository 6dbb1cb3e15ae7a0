//! The factors in which scenarios can differ, and their words.

use tolok_model::{bit_rate_words, bytes_words};

use crate::figures::{Quantity, amount, small_share};

/// The words for a factor. `{}` represents a value or `low to high`, `{s}` the plural ending.
struct About {
    word: &'static str,
    title: &'static str,
    unit: &'static str,
    /// Describes one of its values.
    phrase: &'static str,
    /// Describes the change from its lowest to its highest value.
    span: &'static str,
}

macro_rules! factors {
    (
        on an axis { $($axis:ident $word:literal, $title:literal, $unit:literal, $phrase:literal, $span:literal;)+ }
        besides { $($(#[$about:meta])+ $other:ident $other_word:literal, $other_title:literal;)+ }
    ) => {
        /// Something that a study can set and in which scenarios can differ.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Factor {
            $($axis,)+
            /// A parameter of the workload.
            Parameter(String),
            $($(#[$about])+ $other,)+
            /// Scenarios that differ in these are never compared: kinds of load, CPU modes, tools.
            Apart(&'static str),
        }

        impl Factor {
            const ON_AXIS: &[Self] = &[$(Self::$axis),+];

            fn row(&self) -> About {
                let (word, title, unit, phrase, span) = match self {
                    $(Self::$axis => ($word, $title, $unit, $phrase, $span),)+
                    $(Self::$other => ($other_word, $other_title, "", "{}", "{}"),)+
                    Self::Parameter(_) => ("parameter", "parameter", "", "{}", "{}"),
                    Self::Apart(word) => (*word, *word, "", "{}", "{}"),
                };
                About { word, title, unit, phrase, span }
            }
        }
    };
}

factors! {
    on an axis {
    DatabaseRtt "database-rtt", "round-trip time to the database", "s", "{} to the database", "{} of round trip to the database";
    Pool "pool", "size of the pool", "", "pool of {}", "{} connections to the database";
    LinkRtt "link-rtt", "round-trip time of the link", "s", "{} on the link", "{} of round trip on the link";
    LinkRate "link-rate", "rate of the link", "bit_per_s", "link of {}", "{} on the link";
    LinkLoss "link-loss", "loss on the link", "share", "{} lost on the link", "{} lost on the link";
    Connections "connections", "number of users", "", "{} user{s}", "{} users";
    OfferedRate "offered-rate", "offered rate", "per_s", "{} offered", "{} offered";
    SubjectCpus "subject-cpus", "number of CPUs", "", "{} CPU{s}", "{} CPUs";
    SubjectMemory "subject-memory", "memory limit", "bytes", "{} of memory", "{} of memory";
    }
    besides {
    /// Everything else about the link to the client.
    Link "link", "link";
    /// Everything else about the link to the database.
    DatabaseLink "database-link", "link to the database";
    /// The database without its pool and its link.
    Database "database", "database";
    /// Settings of the network.
    Network "network", "network settings";
    /// The competing subjects.
    Subject "subject", "subject";
    }
}

impl Factor {
    /// A stable word for use by programs.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Parameter(name) => format!("parameter:{name}"),
            _ => self.row().word.to_owned(),
        }
    }

    /// The factor of a panel, which has an axis.
    pub(crate) fn on_axis(word: &str) -> Option<Self> {
        let parameter = || Some(Self::Parameter(word.strip_prefix("parameter:")?.to_owned()));
        Self::ON_AXIS.iter().find(|factor| factor.word() == word).cloned().or_else(parameter)
    }

    /// In words that follow "the".
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Parameter(name) => format!("parameter {name}"),
            _ => self.row().title.to_owned(),
        }
    }

    pub(crate) fn unit(&self) -> &'static str {
        self.row().unit
    }

    /// Formats a value that a study has set: `20 ms`, `512MiB`.
    pub(crate) fn label(&self, value: f64) -> String {
        match self.unit() {
            "s" if value >= 1.0 => format!("{} s", trimmed(value)),
            "s" => format!("{} ms", trimmed(value * 1e3)),
            "bit_per_s" => bit_rate_words(value),
            "share" => format!("{}%", trimmed(value * 100.0)),
            "bytes" => bytes_words(value as u64),
            "per_s" => format!("{}/s", thousands(value)),
            _ => thousands(value),
        }
    }

    /// Formats a computed value with two digits, in the unit of `like`: `23 ms`.
    pub(crate) fn about(&self, value: f64, like: f64) -> String {
        let rounded = two_digits(value);
        match self.unit() {
            "s" if like >= 1.0 => format!("{} s", trimmed(rounded)),
            "s" => format!("{} ms", trimmed(rounded * 1e3)),
            "bytes" => amount(Quantity::Bytes, value).replace('\u{a0}', ""),
            "share" => small_share(value),
            _ => self.label(rounded),
        }
    }

    /// Describes one of its values: `pool of 16`.
    pub(crate) fn phrase(&self, label: &str) -> String {
        match self {
            Self::Parameter(name) => format!("{name} = {label}"),
            _ => self.row().phrase.replace("{s}", if label == "1" { "" } else { "s" }).replace("{}", label),
        }
    }

    /// Describes the change from its lowest to its highest value: `from 0 ms to 100 ms to the database`.
    pub(crate) fn span(&self, low: &str, high: &str) -> String {
        match self {
            Self::Parameter(name) => format!("from {name} = {low} to {name} = {high}"),
            _ => format!("from {}", self.row().span.replace("{}", &format!("{low} to {high}"))),
        }
    }
}

/// With at most three decimals, without trailing zeros.
fn trimmed(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

/// An integer with separators, or else a plain number.
fn thousands(value: f64) -> String {
    if value.fract() == 0.0 && value >= 0.0 { crate::figures::count(value as u64) } else { trimmed(value) }
}

fn two_digits(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powi(value.log10().floor() as i32 - 1);
    (value / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_in_a_study() {
        let check = |factor: Factor, value, text: &str| assert_eq!(factor.label(value), text);
        check(Factor::DatabaseRtt, 0.0, "0 ms");
        check(Factor::DatabaseRtt, 0.02, "20 ms");
        check(Factor::LinkRtt, 0.0005, "0.5 ms");
        check(Factor::LinkRtt, 1.5, "1.5 s");
        check(Factor::LinkRate, 54e6, "54 Mbit/s");
        check(Factor::LinkLoss, 0.001, "0.1%");
        check(Factor::SubjectMemory, 536_870_912.0, "512 MiB");
        check(Factor::OfferedRate, 5_000.0, "5,000/s");
        check(Factor::SubjectCpus, 0.5, "0.5");
    }

    #[test]
    fn a_computed_value_has_two_digits() {
        let check = |factor: Factor, value, text: &str| assert_eq!(factor.about(value, value), text);
        check(Factor::DatabaseRtt, 0.023_41, "23 ms");
        check(Factor::DatabaseRtt, 0.000_451_2, "0.45 ms");
        check(Factor::Connections, 1_243.0, "1,200");
        check(Factor::Connections, 9.96, "10");
        check(Factor::Parameter("limit".to_owned()), 34.6, "35");
    }
}
