//! Reads `replication.toml` into a [`Replication`], and reports every problem at once.

use std::collections::BTreeMap;

use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Problem, ROOT, Reading, Span};
use crate::reading::wording::each_once;
use crate::replication::file::{
    FactorFile, FactorLevelFile, PartFile, ReplicationFile, SettleFile, SettlingCaseFile, SettlingPairFile,
};
use crate::replication::{Factor, FactorLevel, Replication, ReplicationPart, Settlement, SettlingCase, SettlingPair};
use crate::transcription::{Assertion, Moment, Number, Quantity, Transcription, Written, figure_key, read_number};

impl Replication {
    /// Reads the text. Checks names of the source against `transcription`, and names of parts against the text itself.
    /// It does not check names against the studies: see [`Replication::check_part`].
    pub fn read(text: &str, transcription: &Transcription) -> Result<Self, Vec<Problem>> {
        let (written, reading) = Reading::read::<ReplicationFile>(text);
        let mut reader = Reader { text, reading, transcription };
        let replication = reader.replication(written);
        match replication {
            Some(replication) if !reader.reading.has_problems() => Ok(replication),
            _ => Err(reader.reading.into_problems()),
        }
    }
}

/// Names of the parts, or `None` if one may be missing because it was wrong.
type PartNames = Option<Vec<String>>;

struct Reader<'a> {
    text: &'a str,
    reading: Reading,
    transcription: &'a Transcription,
}

impl Reader<'_> {
    fn replication(&mut self, written: ReplicationFile) -> Option<Replication> {
        let source = self.reading.require(written.source, &ROOT, "source", "source = \"asshuffi-apache-node\"");
        let source = source.map(|source| self.source(source));
        let parts = self.reading.require(written.part, &ROOT, "part", "[[part]]");
        let has_parts = parts.is_some() && !self.reading.was_wrong("part");
        let parts: Vec<ReplicationPart> = parts?.into_iter().filter_map(|part| self.part(part)).collect();
        self.note_repeated_parts(&parts);
        let names = parts.iter().map(|part| part.name.clone()).collect();
        let names = (has_parts && !self.reading.has_problems()).then_some(names);
        let factors = written.factor.into_iter().filter_map(|factor| self.factor(factor, &names)).collect();
        self.note_settled_twice(&written.settle);
        let settlements = written.settle.into_iter().filter_map(|settle| self.settlement(settle, &names)).collect();
        Some(Replication { source: source?, note: written.note, parts, factors, settlements })
    }

    fn source(&mut self, source: Spanned<String>) -> String {
        let key = &self.transcription.key;
        if source.get_ref() != key {
            let message = format!("this replication's transcription is `{key}`");
            self.reading.note(source.span(), message, format!("write: source = \"{key}\""));
        }
        source.into_inner()
    }

    fn part(&mut self, Table { span, entries }: Table<PartFile>) -> Option<ReplicationPart> {
        let name = self.reading.require(entries.name, &span, "name", "name = \"wan\"").map(|it| self.named(it));
        let study = self.reading.require(entries.study, &span, "study", "study = \"wan.toml\"");
        let study = study.and_then(|it| self.study(it));
        let says = self.reading.require(entries.says, &span, "says", "says = \"The tables as they were measured.\"");
        let subjects = self.subjects(entries.subjects);
        let scenarios = self.scenarios(entries.scenarios);
        let least_window_s = entries.least_window.map(|seconds| seconds.0);
        Some(ReplicationPart { name: name??, study: study?, says: says?, least_window_s, subjects, scenarios })
    }

    /// Accepts a word that is safe on a command line and in a folder's name.
    fn named(&mut self, name: Spanned<String>) -> Option<String> {
        let is_word = |text: &str| {
            let mut letters = text.chars();
            letters.next().is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit())
                && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-')
        };
        if is_word(name.get_ref()) {
            return Some(name.into_inner());
        }
        let help = "lowercase letters, digits and `-`, such as wan or no-delay";
        self.reading.note(name.span(), format!("`{}` is no name of a part", name.get_ref()), help);
        None
    }

    fn study(&mut self, study: Spanned<String>) -> Option<String> {
        let text = study.get_ref();
        if text.ends_with(".toml") && !text.contains('/') {
            return Some(study.into_inner());
        }
        let help = "the name of a study beside this file, such as wan.toml";
        self.reading.note(study.span(), format!("`{text}` is no file beside this one"), help);
        None
    }

    fn note_repeated_parts(&mut self, parts: &[ReplicationPart]) {
        for (place, part) in parts.iter().enumerate() {
            if parts[..place].iter().any(|earlier| earlier.name == part.name) {
                let help = "give each part a name of its own";
                self.reading.note(ROOT, format!("there are two parts `{}`", part.name), help);
            }
        }
    }

    fn subjects(&mut self, written: BTreeMap<Spanned<String>, Spanned<String>>) -> BTreeMap<String, String> {
        let rows = self.transcription.rows.iter().map(|row| row.subject.as_str());
        let series = self.transcription.series.iter().map(|series| series.subject.as_str());
        let known = each_once(rows.chain(series));
        self.stand_for(written, &known, "subject")
    }

    fn scenarios(&mut self, written: BTreeMap<Spanned<String>, Spanned<String>>) -> BTreeMap<String, String> {
        let settings = self.transcription.scenarios.iter().map(|setting| setting.name.as_str());
        let rows = self.transcription.rows.iter().filter_map(|row| row.scenario.as_deref());
        let known = each_once(settings.chain(rows));
        self.stand_for(written, &known, "setting")
    }

    /// Maps names of the source to names of the study.
    fn stand_for(
        &mut self,
        written: BTreeMap<Spanned<String>, Spanned<String>>,
        known: &[&str],
        what: &str,
    ) -> BTreeMap<String, String> {
        for name in written.keys().filter(|name| !known.contains(&name.get_ref().as_str())) {
            self.reading.note_unknown(name, &format!("the source has no {what}"), known);
        }
        written.into_iter().map(|(name, stands)| (name.into_inner(), stands.into_inner())).collect()
    }

    fn factor(&mut self, Table { span, entries }: Table<FactorFile>, parts: &PartNames) -> Option<Factor> {
        let name = self.reading.require(entries.name, &span, "name", "name = \"the way to the server\"");
        let meaning =
            self.reading.require(entries.meaning, &span, "meaning", "meaning = \"The round trip makes the ratio.\"");
        let figure = self.reading.require(entries.figure, &span, "figure", "figure = \"throughput_rps\"");
        let quantity = figure.and_then(|figure| self.quantity(&figure));
        let claims = self.claims(entries.claims);
        let levels = self.reading.require(entries.level, &span, "level", "[[factor.level]]");
        let levels = levels.map(|levels| self.levels(levels, &span, parts));
        let name = name.map(Spanned::into_inner);
        Some(Factor { name: name?, meaning: meaning?, quantity: quantity?, claims, levels: levels? })
    }

    fn quantity(&mut self, figure: &Spanned<String>) -> Option<Quantity> {
        let found = quantity_of(figure.get_ref());
        if found.is_none() {
            self.reading.note_unknown(figure, "tolok takes no ratio of", &FIGURES);
        }
        found
    }

    fn claims(&mut self, written: Vec<Spanned<String>>) -> Vec<String> {
        let known: Vec<&str> = self.transcription.claims.iter().map(|claim| claim.id.as_str()).collect();
        for id in written.iter().filter(|id| !known.contains(&id.get_ref().as_str())) {
            self.reading.note_unknown(id, "the source has no claim", &known);
        }
        written.into_iter().map(Spanned::into_inner).collect()
    }

    fn levels(&mut self, written: Vec<Table<FactorLevelFile>>, factor: &Span, parts: &PartNames) -> Vec<FactorLevel> {
        if written.len() < 2 {
            let help = "the first as the source measured, and one in which it is switched";
            self.reading.note(factor.clone(), "a factor has at least two levels", help);
        }
        written.into_iter().filter_map(|level| self.level(level, parts)).collect()
    }

    fn level(&mut self, Table { span, entries }: Table<FactorLevelFile>, parts: &PartNames) -> Option<FactorLevel> {
        let name = self.reading.require(entries.name, &span, "name", "name = \"170 ms away\"");
        let part = self.reading.require(entries.part, &span, "part", "part = \"wan\"");
        let scenario = self.reading.require(entries.scenario, &span, "scenario", "scenario = \"hello-c100\"");
        let a = self.reading.require(entries.a, &span, "a", "a = \"node/http\"");
        let b = self.reading.require(entries.b, &span, "b", "b = \"apache/prefork\"");
        let part = part.map(|part| self.known_part(part, parts));
        if let (Some(a), Some(b)) = (&a, &b)
            && a == b
        {
            self.reading.note(span.clone(), "a subject is compared with itself", "name two subjects");
        }
        let name = name.map(Spanned::into_inner);
        Some(FactorLevel { name: name?, part: part?, scenario: scenario?, a: a?, b: b? })
    }

    fn known_part(&mut self, part: Spanned<String>, parts: &PartNames) -> String {
        if let Some(parts) = parts.as_ref().filter(|parts| !parts.contains(part.get_ref())) {
            self.reading.note_unknown(&part, "there is no part", parts);
        }
        part.into_inner()
    }

    fn settlement(&mut self, Table { span, entries }: Table<SettleFile>, parts: &PartNames) -> Option<Settlement> {
        let claim = self.reading.require(entries.claim, &span, "claim", "claim = \"fair-go\"");
        if let Some(claim) = claim.as_ref().filter(|_| entries.in_place_of.is_none()) {
            self.note_claim_with_figures(claim);
        }
        let claim = claim.map(|claim| self.claims(vec![claim]).remove(0));
        let figure = self.reading.require(entries.figure, &span, "figure", "figure = \"throughput_rps\"");
        let quantity = figure.and_then(|figure| self.quantity(&figure));
        let ratio = self.reading.require(entries.ratio, &span, "ratio", "ratio = \"> 1\"");
        let is = ratio.and_then(|ratio| self.ratio(&ratio));
        let pairs = entries.pair.filter(|pairs| !pairs.is_empty());
        let pairs = self.reading.require(pairs, &span, "pair", "[[settle.pair]]").unwrap_or_default();
        let pairs = pairs.into_iter().filter_map(|pair| self.settling_pair(pair, parts)).collect();
        let in_place_of = entries.in_place_of;
        Some(Settlement { claim: claim?, in_place_of, quantity: quantity?, is: is?, pairs })
    }

    fn ratio(&mut self, written: &Spanned<Written>) -> Option<Number> {
        let number = read_number(written, 1.0, self.text, &mut self.reading)?;
        if number.value <= 0.0 {
            let help = "a number above 0, such as 7, \"3..10\" or \"> 1\"";
            self.reading.note(written.span(), format!("`{}` is no ratio", number.printed), help);
            return None;
        }
        Some(number)
    }

    fn note_settled_twice(&mut self, settles: &[Table<SettleFile>]) {
        let claims: Vec<&Spanned<String>> = settles.iter().filter_map(|settle| settle.entries.claim.as_ref()).collect();
        for (place, claim) in claims.iter().enumerate() {
            if claims[..place].iter().any(|earlier| earlier.get_ref() == claim.get_ref()) {
                let help = "give it a [[settle.pair]] for each ratio";
                self.reading.note(claim.span(), format!("`{}` is settled already", claim.get_ref()), help);
            }
        }
    }

    /// Reports a claim whose figures the source has: it is judged by the mapped subjects and settings.
    fn note_claim_with_figures(&mut self, id: &Spanned<String>) {
        let claim = self.transcription.claims.iter().find(|claim| claim.id == *id.get_ref());
        if claim.is_some_and(|claim| !matches!(claim.asserts, Assertion::Untestable { .. })) {
            let help = "leave it out, as [[part]] maps its subjects and settings; or say what it stands in for: in-place-of = \"four CPUs\"";
            self.reading.note(id.span(), format!("`{}` is judged by the source's own figures", id.get_ref()), help);
        }
    }

    fn settling_pair(
        &mut self,
        Table { span, entries }: Table<SettlingPairFile>,
        parts: &PartNames,
    ) -> Option<SettlingPair> {
        let name = self.reading.require(entries.name, &span, "name", "name = \"Go, 10,000 rows\"");
        let example =
            |key: &str| format!("{key} = {{ part = \"lan\", scenario = \"hello-c100\", subject = \"go/nethttp\" }}");
        let a = self.reading.require(entries.a, &span, "a", &example("a"));
        let b = self.reading.require(entries.b, &span, "b", &example("b"));
        let [a, b] = [a, b].map(|case| self.settling_case(case?, parts));
        let (a, b) = (a?, b?);
        self.reading.note_if(a == b, span, "a case is compared with itself", "name two cases");
        Some(SettlingPair { name: name?, a, b })
    }

    fn settling_case(
        &mut self,
        Table { span, entries }: Table<SettlingCaseFile>,
        parts: &PartNames,
    ) -> Option<SettlingCase> {
        let part = self.reading.require(entries.part, &span, "part", "part = \"lan\"");
        let part = part.map(|part| self.known_part(part, parts));
        let scenario = self.reading.require(entries.scenario, &span, "scenario", "scenario = \"hello-c100\"");
        let subject = self.reading.require(entries.subject, &span, "subject", "subject = \"go/nethttp\"");
        Some(SettlingCase { part: part?, scenario: scenario?, subject: subject? })
    }
}

/// Figures of which a factor may take a ratio. Units do not matter to a ratio, so the list has one key for each kind.
const FIGURES: [&str; 11] = [
    "throughput_rps",
    "goodput_rps",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "time_mean_s",
    "bandwidth_mb_s",
    "memory_mb",
    "cpu_cores",
    "cpu_per_request_us",
];

/// The quantity of a transcription's key, if a ratio of it makes sense.
fn quantity_of(key: &str) -> Option<Quantity> {
    let (quantity, _) = figure_key(key)?;
    // Refuses early what nothing measures.
    let is_measured = |moment: &Moment| !matches!(moment, Moment::Min | Moment::Sd);
    match &quantity {
        Quantity::Throughput | Quantity::Goodput | Quantity::Requests | Quantity::Bandwidth => Some(quantity),
        Quantity::CpuPerRequest => Some(quantity),
        Quantity::Time(moment) => (*moment != Moment::Sd).then_some(quantity),
        Quantity::Latency(moment) | Quantity::Memory(moment) | Quantity::Cpu(moment) => {
            is_measured(moment).then_some(quantity)
        }
        _ => None,
    }
}
