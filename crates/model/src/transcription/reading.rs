//! Turns a transcription as written into a valid one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::claim_reading::read_claims;
use super::figure_key::{figure_key, figure_keys};
use super::file::{MethodFile, RowFile, SeriesFile, SettingFile, TranscriptionFile};
use super::lines::Lines;
use super::number_reading::{Written, read_numbers};
use super::sorted::{Sorted, WrittenFigure};
use super::work::EXAMPLES;
use super::{Conditions, Figure, Quantity, Row, Series, Setting, Transcription, Unit, Work};
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading, Span};
use crate::reading::wording::{closest, likely};
use crate::units::{Bytes, Seconds};

impl Transcription {
    /// Reads the text of a transcription whose file is named `key`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each problem with its place in the text.
    pub fn read(text: &str, key: &str) -> Result<Self, Vec<Problem>> {
        let (file, mut reading) = Reading::read::<TranscriptionFile>(text);
        let title = reading.require(file.title, &ROOT, "title", "title = \"A blog post of 2026\"");
        let mut method = file.method.entries;
        let method = MethodFile { requests: method.requests.take(), ..method.take_conditions() };
        let conditions = read_conditions(method, &mut reading);
        let (scenarios, named) = Default::default();
        let lines = Lines::of(text);
        let mut reader = Reader { text, lines, reading: &mut reading, scenarios, named, method: conditions };
        reader.read_settings(file.scenario);
        let has_series = !file.series.is_empty();
        let rows = if has_series { file.row.unwrap_or_default() } else { reader.require_rows(file.row) };
        let rows: Vec<Row> = rows.into_iter().filter_map(|row| reader.read_row(row)).collect();
        let series = file.series.into_iter().filter_map(|series| reader.read_series(series)).collect();
        let Reader { scenarios, method: conditions, .. } = reader;
        let mut transcription = Self {
            key: key.to_owned(),
            title: title.unwrap_or_default(),
            authors: file.authors,
            year: file.year,
            url: file.url,
            note: file.note,
            conditions,
            scenarios,
            rows,
            series,
            claims: Vec::new(),
        };
        transcription.claims = read_claims(file.claim, &transcription, text, &mut reading);
        if reading.has_problems() { Err(reading.into_problems()) } else { Ok(transcription) }
    }
}

/// The shared state for reading all tables of a transcription.
struct Reader<'a> {
    text: &'a str,
    reading: &'a mut Reading,
    lines: Lines,
    scenarios: Vec<Setting>,
    /// Index of each setting, by name.
    named: HashMap<String, usize>,
    /// The source's method.
    method: Conditions,
}

/// The keys that a row and a series share.
struct Common {
    conditions: MethodFile,
    table: Option<String>,
    subject: Option<Spanned<String>>,
    scenario: Option<Spanned<String>>,
    raw: Option<Several<String>>,
    other: Option<BTreeMap<Spanned<String>, Spanned<Several<Written>>>>,
}

impl Reader<'_> {
    fn require_rows(&mut self, rows: Option<Vec<Table<Sorted<RowFile>>>>) -> Vec<Table<Sorted<RowFile>>> {
        let example = "[[row]] with a subject and its figures";
        self.reading.require(rows, &ROOT, "row", example).unwrap_or_default()
    }

    fn read_settings(&mut self, written: Vec<Table<SettingFile>>) {
        for Table { span, entries: mut file } in written {
            let example = "name = \"hello-100\"";
            let Some(name) = self.reading.require(file.name.take(), &span, "name", example) else { continue };
            if self.named.contains_key(name.get_ref()) {
                self.reading.note(name.span(), format!("scenario `{}` appears twice", name.get_ref()), None);
            }
            self.named.entry(name.get_ref().clone()).or_insert(self.scenarios.len());
            let method = MethodFile { requests: file.requests.take(), ..file.take_conditions() };
            let conditions = read_conditions(method, self.reading).within(&self.method);
            let title = file.title.unwrap_or_else(|| name.get_ref().clone());
            self.scenarios.push(Setting { name: name.into_inner(), title, conditions, raw: texts(file.raw) });
        }
    }

    fn read_row(&mut self, table: Table<Sorted<RowFile>>) -> Option<Row> {
        let Table { span, entries: Sorted { known: mut file, figures, unknown, keys } } = table;
        self.refuse(&unknown, &span, keys);
        let conditions = file.take_conditions();
        let RowFile { table, subject, scenario, raw, other, .. } = file;
        self.read_common(Common { conditions, table, subject, scenario, raw, other }, figures, &span)
    }

    fn read_series(&mut self, table: Table<Sorted<SeriesFile>>) -> Option<Series> {
        let Table { span, entries: Sorted { known: mut file, figures, unknown, keys } } = table;
        self.refuse(&unknown, &span, keys);
        let lengths: Vec<(Span, usize)> =
            figures.iter().map(|(_, value)| (value.span(), value.get_ref().0.len())).collect();
        let conditions = file.take_conditions();
        let SeriesFile { table, subject, scenario, raw, other, second, .. } = file;
        let row = self.read_common(Common { conditions, table, subject, scenario, raw, other }, figures, &span);
        let instants = second.as_ref().map(|second| (second.span(), second.get_ref().len()));
        self.refuse_other_lengths(instants.into_iter().chain(lengths));
        let second = second.map(Spanned::into_inner).unwrap_or_default();
        let Row { line, table, subject, scenario, conditions, figures, raw } = row?;
        Some(Series { line, table, subject, scenario, conditions, second, figures, raw })
    }

    /// Reports each list of a series whose length differs from the first's.
    fn refuse_other_lengths(&mut self, mut lengths: impl Iterator<Item = (Span, usize)>) {
        let Some((_, first)) = lengths.next() else { return };
        for (span, length) in lengths.filter(|(_, length)| *length != first) {
            let help = "write every instant of the source, or begin another series";
            let message = format!("this list has {length} numbers, and the first of the series has {first}");
            self.reading.note(span, message, help);
        }
    }

    fn read_common(&mut self, common: Common, figures: Vec<WrittenFigure>, span: &Span) -> Option<Row> {
        let own = read_conditions(common.conditions, self.reading);
        let subject = self.reading.require(common.subject, span, "subject", "subject = \"go\"");
        let scenario = common.scenario.map(|scenario| self.known_scenario(scenario));
        let of_setting = scenario.as_ref().and_then(|name| self.scenarios.get(*self.named.get(name)?));
        let conditions = Arc::new(own.within(of_setting.map_or(&self.method, |setting| &setting.conditions)));
        let figures = self.read_figures(figures, common.other, span);
        let (line, table, raw) = (self.lines.number(span.start), common.table, texts(common.raw));
        Some(Row { line, table, subject: subject?.into_inner(), scenario, conditions, figures, raw })
    }

    /// The name of a setting. If the file describes any settings, it must be one of them.
    fn known_scenario(&mut self, name: Spanned<String>) -> String {
        let is_known = self.named.is_empty() || self.named.contains_key(name.get_ref());
        if !is_known && !self.reading.was_wrong("scenario") {
            let known: Vec<&str> = self.scenarios.iter().map(|setting| setting.name.as_str()).collect();
            self.reading.note_unknown(&name, "there is no [[scenario]]", &known);
        }
        name.into_inner()
    }

    fn read_figures(
        &mut self,
        written: Vec<WrittenFigure>,
        other: Option<BTreeMap<Spanned<String>, Spanned<Several<Written>>>>,
        span: &Span,
    ) -> Vec<Figure> {
        let mut other: Vec<WrittenFigure> = other.into_iter().flatten().collect();
        other.sort_by_key(|(key, _)| key.span().start);
        let is_empty = written.is_empty() && other.is_empty();
        let known = written.into_iter().filter_map(|one| figure_key(one.0.get_ref()).map(|key| (one, key)));
        let named = other.into_iter().map(|one| {
            let name = one.0.get_ref().clone();
            (one, (Quantity::Other(name), Unit::One))
        });
        let mut figures: Vec<Figure> = Vec::new();
        for ((key, value), (quantity, unit)) in known.chain(named) {
            if let Some(earlier) = figures.iter().find(|earlier| earlier.quantity == quantity) {
                let message = format!("`{}` is the same figure as `{}`", key.get_ref(), earlier.key);
                self.reading.note(key.span(), message, "a row has each figure once, in one unit");
                continue;
            }
            let numbers = read_numbers(value, unit.factor(), self.text, self.reading);
            let key = key.into_inner();
            figures.extend(numbers.map(|numbers| Figure { quantity, unit, key, numbers }));
        }
        let was_wrong = figure_keys().iter().any(|key| self.reading.is_damaged(span, key));
        if is_empty && !was_wrong && !self.reading.is_damaged(span, "other") && !self.reading.is_damaged(span, FIGURE) {
            self.reading.note(span.clone(), "no figure is given", "for example: throughput_rps = 1234.5");
        }
        figures
    }

    /// Reports each unknown key, with the key that it may mean.
    fn refuse(&mut self, unknown: &[Spanned<String>], table: &Span, own: &[&str]) {
        let figures = figure_keys();
        for key in unknown {
            let name = key.get_ref();
            let all: Vec<&str> = own.iter().copied().chain(figures.iter().map(String::as_str)).collect();
            let meant = closest(name, &all).filter(|near| own.contains(near));
            self.reading.misspelt(table, meant.unwrap_or(FIGURE));
            let help = format!("{} A figure that no key fits goes under [row.other]", likely(name, &all));
            self.reading.note(key.span(), format!("unknown key `{name}`"), help);
        }
    }
}

/// Stands for any misspelt key of a figure.
const FIGURE: &str = "(a figure)";

/// The texts of one value or several.
pub(super) fn texts(written: Option<Several<String>>) -> Vec<String> {
    written.into_iter().flat_map(|several| several.0).map(Spanned::into_inner).collect()
}

/// The line, from 1, where a span begins.
pub(super) fn line_of(text: &str, span: &Span) -> usize {
    let before = &text.as_bytes()[..span.start.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

impl Conditions {
    /// Reads conditions given as options: `connections=100`, `duration=30s`, with the keys of `[method]`.
    ///
    /// # Errors
    ///
    /// The problem of the first wrong option.
    pub fn from_options<T: AsRef<str>>(options: &[T]) -> Result<Self, String> {
        let mut conditions = Self::default();
        for option in options {
            let option = option.as_ref();
            let Some((key, value)) = option.split_once('=') else {
                return Err(format!("`{option}` is no condition; for example: connections=100"));
            };
            conditions = Self::from_option(key.trim(), value.trim())?.within(&conditions);
        }
        Ok(conditions)
    }

    pub(super) fn from_option(key: &str, value: &str) -> Result<Self, String> {
        let is_bare = value.parse::<f64>().is_ok() || value == "true" || value == "false";
        let value = if is_bare { value.to_owned() } else { toml::Value::from(value).to_string() };
        let (file, mut reading) = Reading::read::<MethodFile>(&format!("{} = {value}\n", toml::Value::from(key)));
        let conditions = read_conditions(file, &mut reading);
        match reading.into_problems().into_iter().next() {
            None => Ok(conditions),
            Some(Problem { message, help, .. }) => {
                Err(help.map(|help| format!("{message}; {help}")).unwrap_or(message))
            }
        }
    }
}

fn read_conditions(file: MethodFile, reading: &mut Reading) -> Conditions {
    Conditions {
        tool: file.tool,
        loop_model: file.loop_model,
        connections: at_least_one(file.connections, "connections", reading),
        streams: at_least_one(file.streams, "streams", reading),
        latency_of: file.latency_of,
        ramp: file.ramp,
        think_time_s: file.think_time.map(|time| time.0),
        duration_s: some_time(file.duration, "duration", reading),
        requests: at_least_one(file.requests, "requests", reading),
        warmup_s: file.warmup.map(|time| time.0),
        repetitions: at_least_one(file.repetitions, "repetitions", reading),
        fresh_start: file.fresh_start,
        timeout_s: some_time(file.timeout, "timeout", reading),
        keep_alive: file.keep_alive,
        generator_threads: at_least_one(file.generator_threads, "generator-threads", reading),
        subject_cpus: some_cpus(file.subject_cpus, reading),
        subject_workers: at_least_one(file.subject_workers, "subject-workers", reading),
        subject_memory_bytes: file.subject_memory.map(|bytes| bytes.0 as f64),
        cpu_scope: file.cpu_scope,
        rtt_s: file.rtt.map(|time| time.0),
        link_bits_per_s: file.link.map(|link| link.0),
        body_bytes: file.body.and_then(|body| read_body(body, reading)),
        work: file.work.and_then(|work| read_work(&work, reading)),
    }
}

fn at_least_one(count: Option<Spanned<u64>>, key: &str, reading: &mut Reading) -> Option<u64> {
    let count = count?;
    reading.note_if(*count.get_ref() == 0, count.span(), format!("`{key}` must be at least 1"), LEAVE_OUT);
    Some(count.into_inner())
}

fn some_time(time: Option<Spanned<Seconds>>, key: &str, reading: &mut Reading) -> Option<f64> {
    let time = time?;
    let seconds = time.get_ref().0;
    reading.note_if(seconds <= 0.0, time.span(), format!("`{key}` must be longer than nothing"), LEAVE_OUT);
    Some(seconds)
}

fn some_cpus(cpus: Option<Spanned<f64>>, reading: &mut Reading) -> Option<f64> {
    let cpus = cpus?;
    let is_some = cpus.get_ref().is_finite() && *cpus.get_ref() > 0.0;
    reading.note_if(!is_some, cpus.span(), "`subject-cpus` must be more than 0", LEAVE_OUT);
    Some(cpus.into_inner())
}

fn read_body(body: Spanned<Several<Bytes>>, reading: &mut Reading) -> Option<(f64, f64)> {
    let span = body.span();
    let sizes: Vec<f64> = body.into_inner().0.into_iter().map(|size| size.into_inner().0 as f64).collect();
    match *sizes.as_slice() {
        [size] => Some((size, size)),
        [low, high] if low <= high => Some((low, high)),
        _ => {
            let help = "one size, or the smallest and the largest: \"534kB\" or [\"10MB\", \"50MB\"]";
            reading.note(span, "`body` is no size and no range of sizes", help);
            None
        }
    }
}

fn read_work(work: &Spanned<String>, reading: &mut Reading) -> Option<Work> {
    let read = Work::parse(work.get_ref());
    reading.note_if(read.is_none(), work.span(), "`work` names no amount", EXAMPLES);
    read
}

const LEAVE_OUT: &str = "leave it out where the source does not say";
