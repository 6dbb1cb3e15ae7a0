//! Work: does a response with less work cost less?
//!
//! A source may state the work of a response, such as rows × fields. The law compares settings of one subject in one
//! table whose work is of one kind, where one has at most half of the other's. With less work, a response should take
//! no more CPU time (service demand, D = U ÷ X: Denning and Buzen 1978), and a server should give no fewer correct ones
//! per second. For programs, it compares their times.
//!
//! Fewer users or a smaller budget are a reason to be slower, so the setting with less work must not have these. More
//! users, a ramp, failures and other machines are possible reasons too, so nothing is ever contradicted.

mod setting;

use tolok_model::transcription::{Conditions, Row, Transcription};

use self::setting::{Setting, rate, time};
use crate::draft::Draft;
use crate::finding::{AuditFinding, Input};
use crate::groups::{by, measured};
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Elsewhere, Known};
use crate::wording;

/// Figures closer than this, as a share, may differ by chance alone.
const CHANCE: f64 = 0.05;

/// Work that differs by less than this factor may cost the same.
const CLEARLY_LESS: f64 = 2.0;

/// Settings with less work that one is compared with, from the closest. No known table has as many.
const MOST_COMPARED: usize = 30;

/// Settings whose figures a finding lists.
const MOST_TOLD: usize = 12;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Work",
    says: "Responses with less work take no more CPU time, and a server gives no fewer of them.",
    needs: "throughput, CPU time or time of a program in two settings that state `work`, one at most half of the other under no less load",
    check,
};

/// Compares the settings of each subject, table and kind of work.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    if transcription.rows.iter().all(|row| row.conditions.work.is_none()) {
        return Vec::new();
    }
    let elsewhere = Elsewhere::of(transcription);
    let kind = |row: &Row| row.conditions.work.as_ref().map(|work| work.kind());
    let alike = by(measured(transcription), |row| (&row.table, &row.subject, kind(row)));
    let of_rows = |rows: Vec<&Row>| {
        let mut settings: Vec<Setting> = rows.iter().filter_map(|row| Setting::of(row, &elsewhere)).collect();
        settings.sort_by(|a, b| a.work.amount.total_cmp(&b.work.amount));
        judged(transcription, &settings)
    };
    alike.into_iter().filter_map(of_rows).collect()
}

/// Two settings, of which the first has at most half of the work, and their figures.
struct Pair<'s, 'a> {
    less: &'s Setting<'a>,
    more: &'s Setting<'a>,
    compared: Vec<Compared<'s>>,
}

/// One figure in both settings.
struct Compared<'s> {
    what: What,
    less: &'s Known,
    more: &'s Known,
    order: Order,
    /// How many times worse the figure is with less work.
    worse: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Responses,
    CorrectResponses,
    CpuTime,
    Time,
}

impl What {
    const ALL: [Self; 4] = [Self::Responses, Self::CorrectResponses, Self::CpuTime, Self::Time];

    fn as_expected(self) -> &'static str {
        match self {
            Self::Responses => "gives no fewer responses",
            Self::CorrectResponses => "gives no fewer correct responses",
            Self::CpuTime => "takes no more CPU time for a response",
            Self::Time => "takes no longer",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Expected,
    Reversed,
    /// The printed figures allow both.
    Open,
}

/// All pairs of settings that can be compared. `settings` is in the order of their work.
fn pairs<'s, 'a>(settings: &'s [Setting<'a>]) -> Vec<Pair<'s, 'a>> {
    let of_more = |more: &'s Setting<'a>| {
        let end = settings.partition_point(|less| less.work.amount * CLEARLY_LESS <= more.work.amount);
        let lighter = settings[end.saturating_sub(MOST_COMPARED)..end].iter();
        let no_harder: Vec<&Setting> = lighter.filter(|less| less.is_no_harder_than(more)).collect();
        let users = |setting: &Setting| setting.row.conditions.connections;
        // Of one amount of work under several loads, the closest load tells most.
        let is_closest = |less: &&&Setting| {
            let same = no_harder.iter().filter(|other| other.work.amount == less.work.amount);
            same.map(|other| users(other)).min() == Some(users(less))
        };
        no_harder.iter().filter(is_closest).map(|less| Pair::of(less, more)).collect::<Vec<_>>()
    };
    settings.iter().flat_map(of_more).filter(|pair| !pair.compared.is_empty()).collect()
}

impl<'s, 'a> Pair<'s, 'a> {
    fn of(less: &'s Setting<'a>, more: &'s Setting<'a>) -> Self {
        let mut compared = Vec::new();
        if let (Some(few), Some(many)) = (&less.responses, &more.responses) {
            let (what, few, many) = match (&few.correct, &many.correct) {
                (Some(few), Some(many)) => (What::CorrectResponses, few, many),
                _ => (What::Responses, &few.all, &many.all),
            };
            let is_set = less.is_open() || more.is_open();
            compared.extend((!is_set).then(|| Compared::of(what, few, many)));
        }
        if let (Some(few), Some(many)) = (&less.cpu, &more.cpu) {
            compared.push(Compared::of(What::CpuTime, few, many));
        }
        if let (Some(few), Some(many)) = (&less.time, &more.time) {
            compared.push(Compared::of(What::Time, few, many));
        }
        Self { less, more, compared }
    }

    fn reversed(&self) -> impl Iterator<Item = &Compared<'s>> {
        self.compared.iter().filter(|one| one.order == Order::Reversed)
    }

    fn worst(&self) -> Option<f64> {
        self.reversed().map(|one| one.worse).max_by(f64::total_cmp)
    }
}

impl<'s> Compared<'s> {
    fn of(what: What, less: &'s Known, more: &'s Known) -> Self {
        let is_rate = matches!(what, What::Responses | What::CorrectResponses);
        let (low, high) = if is_rate { (more, less) } else { (less, more) };
        let order = expected_below(low.range, high.range);
        Self { what, less, more, order, worse: low.value / high.value }
    }

    /// What a reader finds odd: `gives fewer correct responses (2.02/s against 15.2/s)`.
    fn told(&self) -> String {
        let (says, value): (_, fn(&Known) -> String) = match self.what {
            What::Responses => ("gives fewer responses", rate),
            What::CorrectResponses => ("gives fewer correct responses", rate),
            What::CpuTime => ("takes more CPU time for a response", time),
            What::Time => ("takes longer", time),
        };
        format!("{says} ({} against {})", value(self.less), value(self.more))
    }
}

/// Whether the figure that should be the lower one is.
fn expected_below(low: Range, high: Range) -> Order {
    let is_vague = low.vague || high.vague;
    match () {
        () if low.is_above(high.widened(CHANCE)) => Order::Reversed,
        () if is_vague && low.high > high.low => Order::Open,
        () => Order::Expected,
    }
}

/// The finding about one subject, if any of its settings can be compared.
fn judged(transcription: &Transcription, settings: &[Setting]) -> Option<AuditFinding> {
    let pairs = pairs(settings);
    let any = pairs.first()?;
    let odd: Vec<&Pair> = pairs.iter().filter(|pair| pair.worst().is_some()).collect();
    let by_worst = |a: &&&Pair, b: &&&Pair| a.worst().unwrap_or(0.0).total_cmp(&b.worst().unwrap_or(0.0));
    match odd.iter().max_by(by_worst) {
        Some(worst) => Some(reversed(transcription, &odd, worst)),
        None => Some(in_order(settings, &pairs, any)),
    }
}

/// Starts the finding: about one subject, with the figures of the first of these settings.
fn draft<'s, 'a: 's>(any: &Setting, settings: impl IntoIterator<Item = &'s Setting<'a>>) -> Draft {
    let row = any.row;
    let (mut inputs, mut terms) = (Vec::new(), Vec::new());
    for setting in settings.into_iter().take(MOST_TOLD) {
        let Setting { row, work, responses, cpu, time } = setting;
        inputs.push(Input { name: "work".to_owned(), printed: work.printed.clone(), line: row.line });
        let rates = responses.iter().flat_map(|it| [Some(&it.all), it.correct.as_ref()]).flatten();
        inputs.extend(rates.chain(cpu).chain(time).flat_map(|known| known.inputs.clone()));
        terms.push(setting.told());
    }
    Draft::new(Law::Work, row.name(Some(&any.work.of)), "At most half of the work costs no more.")
        .inputs(inputs)
        .arithmetic(terms.join("; "))
}

/// The finding about a subject that is slower with less work, in the `odd` pairs. `worst` is the pair that it names.
fn reversed(transcription: &Transcription, odd: &[&Pair], worst: &Pair) -> AuditFinding {
    let Pair { less, more, .. } = worst;
    let name = |setting: &Setting| {
        let row = setting.row;
        wording::setting(transcription, row.scenario.as_deref()).unwrap_or_else(|| setting.work.printed.clone())
    };
    let told: Vec<String> = worst.reversed().map(Compared::told).collect();
    let others = match odd.len() - 1 {
        0 => String::new(),
        1 => " The same holds for one more pair of settings.".to_owned(),
        some => format!(" The same holds for {some} more pairs of settings."),
    };
    let sentence = format!(
        "With {} of the work (“{}” against “{}”), {} {}.{others} {}",
        wording::percent(less.work.amount / more.work.amount),
        name(less),
        name(more),
        less.row.subject,
        wording::listed(&told),
        explanations(less.row, more.row),
    );
    // The named pair comes first, because a finding lists only so many figures.
    let mut shown = vec![*less, *more];
    for setting in odd.iter().flat_map(|pair| [pair.less, pair.more]) {
        if shown.len() < MOST_TOLD && !shown.iter().any(|known| std::ptr::eq(*known, setting)) {
            shown.push(setting);
        }
    }
    draft(less, shown).lacks(["what limited each of the two settings"]).cannot_tell(sentence)
}

/// What the figures alone cannot rule out.
fn explanations(less: &Row, more: &Row) -> String {
    let (own, others) = (less.conditions.as_ref(), more.conditions.as_ref());
    let load = match (own.connections, others.connections) {
        (Some(own), Some(others)) if own != others => Some(format!("the load ({own} users against {others})")),
        _ => None,
    };
    let has = |is: bool, what: &str| is.then(|| what.to_owned());
    let ramps = own.ramp == Some(true) || others.ramp == Some(true);
    let fails = rows::has_failures(less) || rows::has_failures(more);
    let budget = |it: &Conditions| (it.subject_cpus, it.subject_workers, it.subject_memory_bytes.map(f64::to_bits));
    let causes = [
        load,
        has(ramps, "the ramp"),
        has(fails, "failed requests"),
        has(budget(own) != budget(others), "the other budget"),
        Some("another machine".to_owned()),
        Some("a limit elsewhere, such as a database,".to_owned()),
    ];
    let causes: Vec<String> = causes.into_iter().flatten().collect();
    format!("{} may explain it.", tolok_model::sentences::capital(&tolok_model::figures::listed(&causes, "or")))
}

/// The finding about a subject that is no slower with less work, or may be.
fn in_order(all: &[Setting], pairs: &[Pair], any: &Pair) -> AuditFinding {
    let held = What::ALL.into_iter().filter(|what| {
        let mut orders = pairs.iter().flat_map(|pair| &pair.compared).filter(|one| one.what == *what).peekable();
        orders.peek().is_some() && orders.all(|one| one.order == Order::Expected)
    });
    let held: Vec<String> = held.map(|what| what.as_expected().to_owned()).collect();
    let draft = draft(any.less, all);
    let subject = &any.less.row.subject;
    if held.is_empty() {
        return draft
            .lacks(["exact figures"])
            .cannot_tell(format!("The ranges printed for {subject} leave open whether it is slower with less work."));
    }
    draft.holds(format!("With at most half of the work, {subject} {} (5% tolerated).", wording::listed(&held)))
}
