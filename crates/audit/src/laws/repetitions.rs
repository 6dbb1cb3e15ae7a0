//! Repetitions: are figures based on several runs, and is their spread given?
//!
//! The law only counts. If a list of repetitions is shorter or longer than the stated number of repetitions, the source
//! contradicts itself. Otherwise the law holds for rows with at least two runs and a spread (a list, a standard
//! deviation, a minimum and a maximum, or a printed range). For other rows, it cannot tell what a second run would have
//! given. A single run contradicts nothing.
//!
//! If runs are exchangeable, a list of n values only rises or only falls with a chance of 2 ÷ n!. If that is below 5%
//! over all lists of the source, the runs drift, and their spread is not that of repetitions. A count of failures that
//! recurs in all but one of several runs is not chance either: something gives up the same requests each time, such as
//! connections that are never served. Source: A. Georges, D. Buytaert and L. Eeckhout, "Statistically rigorous Java
//! performance evaluation", OOPSLA 2007.

use tolok_model::transcription::{Figure, Mark, Moment, Quantity, Row, Transcription};

use crate::draft::Draft;
use crate::groups::{measured, names_of_tables};
use crate::laws::LawInfo;
use crate::wording::{counted, noun, significant};
use crate::{AuditFinding, Input, Law};

/// Shorter lists often rise or fall by chance.
const LEAST_OF_A_DRIFT: usize = 5;

/// Smaller counts may recur by chance.
const LEAST_COUNT: f64 = 20.0;

/// An order with a lower chance than this, over all lists of a source, is not a coincidence.
const CHANCE: f64 = 0.05;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Repetitions",
    says: "A figure rests on several runs and states their spread.",
    needs: "measured figures",
    check,
};

/// One finding for each kind of repetition, and one for each list of the wrong length.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut found: Vec<AuditFinding> =
        transcription.rows.iter().flat_map(|row| wrong_lists(transcription, row)).collect();
    let mut kinds: Vec<(Kind, Vec<&Row>)> = Vec::new();
    for row in measured(transcription) {
        let kind = Kind::of(row);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, all)) => all.push(row),
            None => kinds.push((kind, vec![row])),
        }
    }
    found.extend(kinds.iter().map(|(kind, rows)| kind.finding(rows)));
    found.extend(drifts(transcription));
    found.extend(same_again(transcription));
    found
}

/// One finding for all lists in which the same number of requests fails repeatedly.
fn same_again(transcription: &Transcription) -> Option<AuditFinding> {
    let is_count = |figure: &&Figure| matches!(figure.quantity, Quantity::Timeouts | Quantity::Failures);
    let lists = transcription.rows.iter().flat_map(|row| row.figures.iter().filter(is_count).map(move |it| (row, it)));
    let same: Vec<(&Row, &Figure, &str, usize)> = lists
        .filter_map(|(row, figure)| {
            let times = |value: f64| figure.numbers.iter().filter(|number| number.value == value).count();
            let most = figure.numbers.iter().max_by_key(|number| times(number.value))?;
            let is_again = figure.numbers.len() >= LEAST_OF_A_DRIFT && times(most.value) + 1 >= figure.numbers.len();
            (is_again && most.value >= LEAST_COUNT).then(|| (row, figure, most.printed.as_str(), times(most.value)))
        })
        .collect();
    let (row, figure, count, times) = same.first()?;
    let each = |(row, figure, count, times): &(&Row, &Figure, &str, usize)| {
        format!("{}: {count} in {times} of {} runs", transcription.row_name(row), figure.numbers.len())
    };
    let of_users = row.conditions.connections.map(|users| format!(" of {users} connections")).unwrap_or_default();
    let others = if same.len() > 1 { format!(", and {} rows are alike", same.len()) } else { String::new() };
    let draft =
        Draft::new(Law::Repetitions, names_of_tables(&[*row]), "Failures differ from run to run, as chance has it.")
            .figures(same.iter().map(|(row, figure, ..)| (*row, *figure)))
            .arithmetic(same.iter().map(each).collect::<Vec<_>>().join("; "))
            .inferring(Some(format!("The same {count}{of_users} may never have been served.")))
            .lacks(["whether the same connections failed each time, and whether the rates leave them out"]);
    Some(draft.cannot_tell(format!(
        "The {} of {} is {count} in {times} of {} runs{others}: the same requests fail each time.",
        noun(&figure.quantity),
        transcription.row_name(row),
        figure.numbers.len()
    )))
}

/// Lists that only rise or only fall, one for each row.
fn drifts(transcription: &Transcription) -> Vec<AuditFinding> {
    let is_list = |figure: &&Figure| figure.numbers.len() >= LEAST_OF_A_DRIFT && figure.quantity != Quantity::Runs;
    let lists = transcription.rows.iter().flat_map(|row| &row.figures).filter(is_list).count();
    let is_drift = |figure: &&Figure| {
        let values: Vec<f64> = figure.numbers.iter().map(|number| number.value).collect();
        let (falls, rises) = (values.is_sorted_by(|a, b| a > b), values.is_sorted_by(|a, b| a < b));
        (falls || rises) && chance_of_order(values.len()) * (lists as f64) < CHANCE
    };
    let drifting = transcription.rows.iter().filter_map(|row| {
        let figure = row.figures.iter().find(|figure| is_list(figure) && is_drift(figure))?;
        Some(drift(transcription, row, figure, lists))
    });
    drifting.collect()
}

/// The chance that n exchangeable values only rise, or only fall.
fn chance_of_order(n: usize) -> f64 {
    2.0 / (1..=n).map(|factor| factor as f64).product::<f64>()
}

fn drift(transcription: &Transcription, row: &Row, figure: &Figure, lists: usize) -> AuditFinding {
    let n = figure.numbers.len();
    let (first, last) = (&figure.numbers[0], &figure.numbers[n - 1]);
    let (what, name) = (noun(&figure.quantity), transcription.row_name(row));
    let direction = if first.value < last.value { "rises" } else { "falls" };
    Draft::new(Law::Repetitions, name.clone(), format!("The {what} does not drift over the repetitions."))
        .figure(row, figure)
        .arithmetic(format!(
            "chance of such an order: 2 ÷ {n}! = {}, in {}",
            significant(chance_of_order(n), 2),
            counted(lists, "list")
        ))
        .lacks(["what changed from run to run"])
        .cannot_tell(format!(
            "The {what} of {name} {direction} from each of {n} runs to the next, from {} to {}: these are not repetitions of one state.",
            first.printed, last.printed
        ))
}

/// What the source says about the repetitions of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// The number of runs, or `None` if unknown. Each row of programs has its own number, so those count only as
    /// "several".
    runs: Option<u64>,
    several: bool,
    spread: bool,
}

impl Kind {
    fn of(row: &Row) -> Self {
        let listed = row.figures.iter().map(|figure| figure.numbers.len()).max().unwrap_or_default();
        let own = row.figure(&Quantity::Runs).map(|runs| runs.value() as u64);
        let runs = own.or(row.conditions.repetitions).or((listed > 1).then_some(listed as u64));
        let several = runs.is_some_and(|runs| runs >= 2);
        Self {
            runs: if own.is_some() && several { None } else { runs },
            several,
            spread: several && (listed > 1 || has_spread(row)),
        }
    }

    fn finding(self, rows: &[&Row]) -> AuditFinding {
        let number = counted(rows.len(), "row");
        let of_rows = rows.iter().filter_map(|row| row.figures.first().map(|figure| (*row, figure)));
        let statement = "Each figure rests on two runs or more, and a spread is given.";
        let draft = Draft::new(Law::Repetitions, names_of_tables(rows), statement).figures(of_rows);
        let runs = self.runs.map_or_else(|| "several".to_owned(), |runs| runs.to_string());
        let draft = draft.arithmetic(match (self.several, self.runs) {
            (false, None) => format!("{number}: number of runs not stated"),
            _ => format!("{number}: {runs} {}", if self.runs == Some(1) { "run" } else { "runs" }),
        });
        match (self.several, self.runs, self.spread) {
            (true, _, true) => draft.holds(format!("{number} with several runs and a spread.")),
            (true, _, false) => draft
                .lacks(["the spread of the runs"])
                .cannot_tell(format!("The figures of {number} are of {runs} runs, but their spread is not given.")),
            (false, Some(_), _) => draft.lacks(["a second run"]).cannot_tell(format!(
                "The figures of {number} come from a single run: how far a second would differ is unknown."
            )),
            (false, None, _) => draft.lacks(["the number of runs", "their spread"]).cannot_tell(format!(
                "The source does not say how many runs the figures of {number} rest on, nor their spread."
            )),
        }
    }
}

/// Whether a compared figure has a deviation, a minimum and a maximum, or a range.
fn has_spread(row: &Row) -> bool {
    let of_runs = |quantity: &Quantity| matches!(quantity, Quantity::Time(Moment::Sd | Moment::Min | Moment::Max));
    let is_range = |figure: &Figure| figure.numbers.iter().any(|number| matches!(number.mark, Mark::Between { .. }));
    row.figures.iter().any(|figure| of_runs(&figure.quantity) || is_range(figure))
}

fn wrong_lists(transcription: &Transcription, row: &Row) -> Vec<AuditFinding> {
    let Some(stated) = row.conditions.repetitions else { return Vec::new() };
    let wrong = |figure: &&Figure| figure.numbers.len() > 1 && figure.numbers.len() as u64 != stated;
    let one = |figure: &Figure| {
        let (what, name, listed) = (noun(&figure.quantity), transcription.row_name(row), figure.numbers.len());
        Draft::new(
            Law::Repetitions,
            name.clone(),
            format!("The {what} has one number for each of {stated} repetitions."),
        )
        .with(Input::of_row(row, figure))
        .arithmetic(format!("{} printed, {stated} stated", counted(listed, "number")))
        .contradicted(format!(
            "The source says {stated} repetitions, but prints {listed} values of the {what} of {name}."
        ))
    };
    row.figures.iter().filter(wrong).map(one).collect()
}
