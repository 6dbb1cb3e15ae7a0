//! Turns claims as written into claims that can be checked.

use super::figure_key::{figure_key, figure_keys};
use super::file::{ClaimFile, SelectorFile};
use super::number_reading::{Written, read_number};
use super::reading::{line_of, texts};
use super::{Assertion, Claim, Extreme, Figure, Number, Quantity, Selector, Transcription, Unit};
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::reading::wording::{each_once, likely};

/// All valid claims, checked against the rows and series of `source`.
pub(super) fn read_claims(
    written: Vec<Table<ClaimFile>>,
    source: &Transcription,
    text: &str,
    reading: &mut Reading,
) -> Vec<Claim> {
    // If something else is wrong, rows may be missing.
    let is_sound = !reading.has_problems();
    let mut claims: Vec<Claim> = Vec::new();
    for table in written {
        let id = table.entries.id.as_ref().map(|id| (id.get_ref().clone(), id.span()));
        if let Some((id, span)) = id.filter(|(id, _)| claims.iter().any(|earlier| earlier.id == *id)) {
            reading.note(span, format!("claim `{id}` appears twice"), None);
        }
        let mut reader = ClaimReader { source, text, reading, is_sound };
        claims.extend(reader.read(table));
    }
    claims
}

struct ClaimReader<'a> {
    source: &'a Transcription,
    text: &'a str,
    reading: &'a mut Reading,
    /// Whether rows are complete, so that a name that no row has is a mistake.
    is_sound: bool,
}

const KINDS: [&str; 7] = ["ratio", "difference", "value", "highest", "lowest", "order", "untestable"];
const KINDS_HELP: &str = "one of: ratio = 7, difference = \"6000..7000\", value = \"430..490\", highest = \"go\", \
                          lowest = \"php\", order = [\"go\", \"bun\", \"php\"], untestable = \"why\"";

impl ClaimReader<'_> {
    fn read(&mut self, table: Table<ClaimFile>) -> Option<Claim> {
        let Table { span, entries: mut file } = table;
        let id = self.reading.require(file.id.take(), &span, "id", "id = \"go-7x-bun\"");
        let says =
            self.reading.require(file.says.take(), &span, "says", "says = \"Go has 7 times the throughput of Bun\"");
        let (place, raw) = (file.place.take(), texts(file.raw.take()));
        let kind = self.only_assertion(&file, &span);
        let asserts = kind.and_then(|kind| self.read_assertion(kind, file, &span));
        let line = line_of(self.text, &span);
        Some(Claim { id: id?.into_inner(), line, place, says: says?, raw, asserts: asserts? })
    }

    /// The key of the claim's only assertion.
    fn only_assertion(&mut self, file: &ClaimFile, table: &Span) -> Option<&'static str> {
        let [ratio, difference, value] = [&file.ratio, &file.difference, &file.value].map(Spanned::place);
        let [highest, lowest, untestable] = [&file.highest, &file.lowest, &file.untestable].map(Spanned::place);
        let places = [ratio, difference, value, highest, lowest, Spanned::place(&file.order), untestable];
        let found: Vec<(&str, Span)> =
            KINDS.into_iter().zip(places).filter_map(|(key, place)| Some((key, place?))).collect();
        let was_wrong = KINDS.iter().any(|key| self.reading.is_damaged(table, key));
        if found.is_empty() && !was_wrong {
            self.reading.note(table.clone(), "the claim asserts nothing that can be judged", KINDS_HELP);
        }
        for (key, span) in found.iter().skip(1) {
            let message = format!("`{key}` is a second assertion, beside `{}`", found[0].0);
            self.reading.note(span.clone(), message, "write a [[claim]] for each");
        }
        found.first().map(|(key, _)| *key)
    }

    fn read_assertion(&mut self, kind: &str, mut file: ClaimFile, table: &Span) -> Option<Assertion> {
        if kind == "untestable" {
            self.refuse_keys(&file, &["figure", "a", "b", "at"], "`untestable`");
            return Some(Assertion::Untestable { why: file.untestable?.into_inner() });
        }
        let figure = self.reading.require(file.figure.clone(), table, "figure", "figure = \"throughput_rps\"");
        let figure = figure.and_then(|key| self.read_figure(&key));
        match kind {
            "ratio" => {
                let (a, b) = self.read_pair(&mut file, kind, table, figure.as_ref());
                let is = self.number(&file.ratio?, Unit::One);
                Some(Assertion::Ratio { quantity: figure?.0, a: a?, b: b?, is: is? })
            }
            "difference" => {
                let (a, b) = self.read_pair(&mut file, kind, table, figure.as_ref());
                let (quantity, unit) = figure?;
                let is = self.number(&file.difference?, unit);
                Some(Assertion::Difference { quantity, unit, a: a?, b: b?, is: is? })
            }
            "value" => {
                let at = self.read_at(&file, figure.as_ref())?;
                let (quantity, unit) = figure?;
                let is = self.number(&file.value?, unit)?;
                Some(Assertion::Value { quantity, unit, at, is })
            }
            "order" => {
                let at = self.read_at(&file, figure.as_ref())?;
                let subjects = self.read_order(&file.order?)?;
                Some(Assertion::Order { quantity: figure?.0, at, subjects })
            }
            _ => {
                let at = self.read_at(&file, figure.as_ref())?;
                let extreme = if kind == "highest" { Extreme::Highest } else { Extreme::Lowest };
                let subject = self.read_subject(&file.highest.or(file.lowest)?);
                Some(Assertion::Extreme { quantity: figure?.0, at, subject, extreme })
            }
        }
    }

    /// The two selectors of a ratio or a difference.
    fn read_pair(
        &mut self,
        file: &mut ClaimFile,
        kind: &str,
        table: &Span,
        figure: Option<&(Quantity, Unit)>,
    ) -> (Option<Selector>, Option<Selector>) {
        self.refuse_keys(file, &["at"], &format!("`{kind}`"));
        let a = self.reading.require(file.a.take(), table, "a", "a = { subject = \"go\", scenario = \"hello\" }");
        let b = self.reading.require(file.b.take(), table, "b", "b = { subject = \"bun\", scenario = \"hello\" }");
        (a.and_then(|a| self.read_selector(&a, figure)), b.and_then(|b| self.read_selector(&b, figure)))
    }

    fn number(&mut self, written: &Spanned<Written>, unit: Unit) -> Option<Number> {
        read_number(written, unit.factor(), self.text, self.reading)
    }

    /// The key of a figure. A name that is not a known key must be one of `[row.other]`.
    fn read_figure(&mut self, key: &Spanned<String>) -> Option<(Quantity, Unit)> {
        let name = key.get_ref();
        if let Some(known) = figure_key(name) {
            return Some(known);
        }
        let other = Quantity::Other(name.clone());
        if self.all_figures().any(|figure| figure.quantity == other) {
            return Some((other, Unit::One));
        }
        let keys = figure_keys();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let help = likely(name, &keys);
        self.reading.note(key.span(), format!("`{name}` is no figure of a row"), help.trim_end_matches('.'));
        None
    }

    fn all_figures(&self) -> impl Iterator<Item = &Figure> {
        let of_rows = self.source.rows.iter().flat_map(|row| &row.figures);
        of_rows.chain(self.source.series.iter().flat_map(|series| &series.figures))
    }

    fn read_at(&mut self, file: &ClaimFile, figure: Option<&(Quantity, Unit)>) -> Option<Selector> {
        self.refuse_keys(file, &["a", "b"], "this claim");
        match &file.at {
            Some(at) => self.read_selector(at, figure),
            None => Some(Selector::default()),
        }
    }

    fn refuse_keys(&mut self, file: &ClaimFile, keys: &[&str], with: &str) {
        let figure = file.figure.as_ref().map(Spanned::span);
        let [a, b, at] = [&file.a, &file.b, &file.at].map(|table| table.as_ref().map(|table| table.span.clone()));
        for (key, span) in [("figure", figure), ("a", a), ("b", b), ("at", at)] {
            if let Some(span) = span.filter(|_| keys.contains(&key)) {
                let help =
                    "`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`";
                self.reading.note(span, format!("{with} has no `{key}`"), help.to_owned());
            }
        }
    }

    /// Reads which rows are meant. At least one must have the figure.
    fn read_selector(&mut self, table: &Table<SelectorFile>, figure: Option<&(Quantity, Unit)>) -> Option<Selector> {
        let file = &table.entries;
        let subject = file.subject.as_ref().map(|subject| self.read_subject(subject));
        let scenarios = file.scenario.as_ref().map(|several| several.0.as_slice()).unwrap_or_default();
        let scenarios: Vec<String> =
            scenarios.iter().map(|name| self.held_against(name, "scenario", |head| head.1)).collect();
        let name = file.table.as_ref().map(|table| self.held_against(table, "table", |head| head.2));
        let selector = Selector { subject, scenarios, table: name };
        let (quantity, _) = figure?;
        let has = |figures: &[Figure]| figures.iter().any(|figure| figure.quantity == *quantity);
        let in_rows = self.source.rows_of(&selector).any(|row| has(&row.figures));
        let in_series = self.source.series_of(&selector).any(|series| has(&series.figures));
        // Unknown names are reported already.
        if self.is_sound && !in_rows && !in_series && !self.reading.has_problems() {
            let help = "name rows that have it, or leave out what narrows them";
            self.reading.note(table.span.clone(), "no row that is meant here has the figure", help);
        }
        Some(selector)
    }

    fn read_order(&mut self, order: &Spanned<Vec<Spanned<String>>>) -> Option<Vec<String>> {
        if order.get_ref().len() < 2 {
            let help = "from the highest to the lowest: order = [\"go\", \"bun\", \"php\"]";
            self.reading.note(order.span(), "an order needs two subjects", help);
            return None;
        }
        Some(order.get_ref().iter().map(|subject| self.read_subject(subject)).collect())
    }

    fn read_subject(&mut self, name: &Spanned<String>) -> String {
        self.held_against(name, "subject", |head| Some(head.0))
    }

    /// Checks a name that some row or series must have, as its subject, scenario or table.
    fn held_against(&mut self, name: &Spanned<String>, kind: &str, of: fn(Head<'_>) -> Option<&str>) -> String {
        let rows =
            self.source.rows.iter().map(|row| (row.subject.as_str(), row.scenario.as_deref(), row.table.as_deref()));
        let series =
            self.source.series.iter().map(|it| (it.subject.as_str(), it.scenario.as_deref(), it.table.as_deref()));
        let known = each_once(rows.chain(series).filter_map(of));
        if self.is_sound && !known.contains(&name.get_ref().as_str()) {
            self.reading.note_unknown(name, &format!("no row has the {kind}"), &known);
        }
        name.get_ref().clone()
    }
}

/// The subject, the scenario and the table of a row or a series.
type Head<'a> = (&'a str, Option<&'a str>, Option<&'a str>);
