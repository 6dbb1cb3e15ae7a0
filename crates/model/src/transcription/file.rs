//! A transcription as written, not yet validated.
//!
//! Serde requires no field (see [`crate::reading::text`]). Required fields are marked for the JSON Schema, and checked
//! when the file is turned into a [`super::Transcription`].

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number_reading::Written;
use super::sorted::Sorted;
use super::{CpuScope, LatencyOf, LoopModel};
use crate::JsonSchema;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::units::{BitRate, Bytes, Seconds};

/// A transcription as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok transcription", extend("anyOf" = [{ "required": ["row"] }, { "required": ["series"] }]))]
pub struct TranscriptionFile {
    /// Title of the source.
    #[schemars(required)]
    pub title: Option<String>,
    /// Who wrote it.
    pub authors: Option<String>,
    /// Year of publication.
    pub year: Option<u32>,
    /// Where to read it.
    pub url: Option<String>,
    /// A remark by the transcriber.
    pub note: Option<String>,
    /// The method as the source describes it. Applies to every row that does not override it.
    #[serde(default)]
    pub method: Table<MethodFile>,
    /// Settings that rows share.
    #[serde(default)]
    pub scenario: Vec<Table<SettingFile>>,
    /// Rows of tables: figures of one subject under one setting, each under its key.
    #[schemars(length(min = 1))]
    pub row: Option<Vec<Table<Sorted<RowFile>>>>,
    /// Figures over time: lists with one number for every instant.
    #[serde(default)]
    pub series: Vec<Table<Sorted<SeriesFile>>>,
    /// Claims of the text about the figures.
    #[serde(default)]
    pub claim: Vec<Table<ClaimFile>>,
}

/// Declares a table with its own keys and those of the measuring conditions.
macro_rules! with_conditions {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => { with_conditions! {
        @with { $(#[$meta])* pub struct $name { $($own)* } }
        /// The load generator or timer: `wrk`, `k6`, `ab`, `hyperfine`.
        pub tool: Option<String>,
        /// `closed` if each user waits for an answer before the next request, `open` if requests start by the clock.
        #[serde(rename = "loop")]
        pub loop_model: Option<LoopModel>,
        /// Simultaneous connections or virtual users; the maximum if they ramp.
        #[schemars(range(min = 1))]
        pub connections: Option<Spanned<u64>>,
        /// Simultaneous requests on one connection: 1 without pipelining, batches and streams of HTTP/2.
        #[schemars(range(min = 1))]
        pub streams: Option<Spanned<u64>>,
        /// Which requests the response times are from: `all` that were answered or given up, the `good` ones, all from
        /// their `planned` start, or those of a separate `probe`.
        pub latency_of: Option<LatencyOf>,
        /// Whether their number grew during the run.
        pub ramp: Option<bool>,
        /// Pause of a user between an answer and the next request.
        pub think_time: Option<Seconds>,
        /// Length of a run.
        pub duration: Option<Spanned<Seconds>>,
        /// Warm-up before the figures.
        pub warmup: Option<Seconds>,
        /// Runs behind each figure.
        #[schemars(range(min = 1))]
        pub repetitions: Option<Spanned<u64>>,
        /// Whether each run began with a fresh server.
        pub fresh_start: Option<bool>,
        /// Time after which the tool gave up on a response. Only if the source states it; not the tool's default.
        pub timeout: Option<Spanned<Seconds>>,
        /// Whether connections served several requests.
        pub keep_alive: Option<bool>,
        /// Threads of the load generator.
        #[schemars(range(min = 1))]
        pub generator_threads: Option<Spanned<u64>>,
        /// CPUs that the subject could use.
        pub subject_cpus: Option<Spanned<f64>>,
        /// Processes or threads of the subject that served requests.
        #[schemars(range(min = 1))]
        pub subject_workers: Option<Spanned<u64>>,
        /// Memory that the subject could use.
        pub subject_memory: Option<Bytes>,
        /// What `cpu_percent` is a share of: one `core`, or the whole `machine`.
        pub cpu_scope: Option<CpuScope>,
        /// Round-trip time to the server.
        pub rtt: Option<Seconds>,
        /// Bandwidth of the network.
        pub link: Option<BitRate>,
        /// Size of an answer's body, or the smallest and the largest that the source allows.
        pub body: Option<Spanned<Several<Bytes>>>,
        /// Work of one response: `10000 rows × 40 fields`, `5MB`.
        #[schemars(with = "Option<String>")]
        pub work: Option<Spanned<String>>,
    } };
    (@with { $(#[$meta:meta])* pub struct $name:ident { $($own:tt)* } }
     $($(#[$attribute:meta])* pub $field:ident: $type:ty,)*) => {
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub struct $name {
            $($own)*
            $($(#[$attribute])* pub $field: $type,)*
        }

        impl $name {
            /// Takes out all conditions except `requests`.
            pub(super) fn take_conditions(&mut self) -> MethodFile {
                MethodFile { requests: None, $($field: self.$field.take(),)* }
            }
        }
    };
}

with_conditions! {
    /// How the source measured. Leave out what it does not state.
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[schemars(rename = "Method")]
    pub struct MethodFile {
        /// Requests of a run, if their number was set.
        #[schemars(range(min = 1))]
        pub requests: Option<Spanned<u64>>,
    }
}

with_conditions! {
    /// A setting of the source that rows name, and its conditions.
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[schemars(rename = "Setting")]
    pub struct SettingFile {
        /// Its name, as rows use it: `file-500`.
        #[schemars(required, with = "Option<String>")]
        pub name: Option<Spanned<String>>,
        /// In words, for reports: `534 KB file, 500 connections`. Default: its name.
        pub title: Option<String>,
        /// The source's own line or lines.
        pub raw: Option<Several<String>>,
        /// Requests of a run, if their number was set.
        #[schemars(range(min = 1))]
        pub requests: Option<Spanned<u64>>,
    }
}

with_conditions! {
    /// A row of a table: figures of one subject under one setting, and conditions of this row alone.
    #[serde(rename_all = "kebab-case")]
    #[schemars(rename = "Row")]
    pub struct RowFile {
        /// What was measured, under the source's name.
        #[schemars(required, with = "Option<String>")]
        pub subject: Option<Spanned<String>>,
        /// Name of its setting.
        pub scenario: Option<Spanned<String>>,
        /// The source's table: `Table 4`.
        pub table: Option<String>,
        /// The source's own line or lines.
        pub raw: Option<Several<String>>,
        /// Figures that no other key fits, under names of their own.
        #[schemars(with = "Option<BTreeMap<String, crate::schema::WrittenNumbers>>")]
        pub other: Option<BTreeMap<Spanned<String>, Spanned<Several<Written>>>>,
    }
}

with_conditions! {
    /// Figures of one subject under one setting over time.
    #[serde(rename_all = "kebab-case")]
    #[schemars(rename = "Series")]
    pub struct SeriesFile {
        /// What was measured, under the source's name.
        #[schemars(required, with = "Option<String>")]
        pub subject: Option<Spanned<String>>,
        /// Name of its setting.
        pub scenario: Option<Spanned<String>>,
        /// The source's table or figure.
        pub table: Option<String>,
        /// The instants, in seconds, if the source gives them.
        pub second: Option<Spanned<Vec<f64>>>,
        /// The source's own line or lines.
        pub raw: Option<Several<String>>,
        /// Figures that no other key fits, under names of their own.
        #[schemars(with = "Option<BTreeMap<String, crate::schema::WrittenNumbers>>")]
        pub other: Option<BTreeMap<Spanned<String>, Spanned<Several<Written>>>>,
    }
}

/// A claim of the source about its figures. One of `ratio`, `difference`, `value`, `highest`, `lowest`, `order` and
/// `untestable` states what it asserts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Claim")]
pub struct ClaimFile {
    /// Short name, unique in its file: `node-45x`.
    #[schemars(required, with = "Option<String>")]
    pub id: Option<Spanned<String>>,
    /// Where in the source: `Abstract`.
    pub place: Option<String>,
    /// The claim, in a few words of your own.
    #[schemars(required)]
    pub says: Option<String>,
    /// The source's own words, a short quotation or several.
    pub raw: Option<Several<String>>,
    /// Key of the figure that it is about, in the unit of the claim's numbers.
    pub figure: Option<Spanned<String>>,
    /// With `ratio` and `difference`: the rows of the numerator, or of the minuend.
    pub a: Option<Table<SelectorFile>>,
    /// With `ratio` and `difference`: the rows of the denominator, or of the subtrahend.
    pub b: Option<Table<SelectorFile>>,
    /// With the other keys: which rows. Default: all that have the figure.
    pub at: Option<Table<SelectorFile>>,
    /// The figure of `a` divided by that of `b`.
    pub ratio: Option<Spanned<Written>>,
    /// The figure of `a` minus that of `b`.
    pub difference: Option<Spanned<Written>>,
    /// The figures of `at` have this value, or span this range.
    pub value: Option<Spanned<Written>>,
    /// This subject has the highest figure under every setting of `at`.
    pub highest: Option<Spanned<String>>,
    /// This subject has the lowest figure under every setting of `at`.
    pub lowest: Option<Spanned<String>>,
    /// In every setting of `at`, the subjects come in this order, from the highest figure to the lowest.
    #[schemars(length(min = 2))]
    pub order: Option<Spanned<Vec<Spanned<String>>>>,
    /// Why none of the source's figures can settle it, or what would have to be measured.
    pub untestable: Option<Spanned<String>>,
}

/// Which rows a claim is about. An absent key selects all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Selector")]
pub struct SelectorFile {
    /// By subject.
    pub subject: Option<Spanned<String>>,
    /// By setting, one or several.
    pub scenario: Option<Several<String>>,
    /// By table.
    pub table: Option<Spanned<String>>,
}
