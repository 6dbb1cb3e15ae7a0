//! Figures in words and columns, the same for the terminal and for the document.

use crate::assets::Asset;
use crate::bench::{CellOutcome, Entry, Outcome};
use crate::cell::{Cell, Contender};
use crate::part::Part;
use crate::rated::Rated;
use crate::regime::{Regime, Regimes, Transfer};
use crate::summary::{Account, Ratio, Row, Spread, rows};
use crate::table::{NONE, Table, digits, grouped, or_dash, percent, rounds};
use crate::tool::Tool;
use crate::{lateness, verdict};

/// Rounds that differ more than so many times do not measure the same machine.
const UNSTEADY: f64 = 1.5;

pub const COLUMNS: [&str; 15] = [
    "generator",
    "answers/s",
    "CPU µs/request",
    "min..max",
    "CPU to wrk's",
    "CPU to tolok's",
    "user instr.",
    "kernel instr.",
    "instr. to floor's",
    "cycles",
    "peak MiB",
    "busy: it / server",
    "counted by it / by server",
    "failed",
    "rounds",
];

/// Those that only the processor's counters can fill.
const COUNTED: [&str; 4] = ["user instr.", "kernel instr.", "instr. to floor's", "cycles"];

#[derive(Debug)]
pub struct Report {
    pub machine: String,
    pub extent: String,
    pub sections: Vec<Section>,
    /// Who took no part, and why.
    pub absent: Vec<String>,
}

#[derive(Debug)]
pub struct Section {
    pub part: Part,
    /// Its tables: one, or one for each state of the machine, or one for each server.
    pub tables: Vec<Table>,
}

impl Report {
    pub fn of(outcome: &Outcome) -> Report {
        let regimes = Regimes::of(outcome.transfers());
        let absent = outcome.absent.iter().map(|one| format!("{}: {}", one.tool.name(), one.reason));
        let cells = outcome.cells.iter();
        let mut sections: Vec<Section> = cells
            .map(|cell| Section { part: Part::Cell(cell.cell), tables: cell_tables(cell, outcome, regimes) })
            .collect();
        if !outcome.lateness.is_empty() {
            sections.push(Section { part: Part::Lateness, tables: lateness_tables(outcome, regimes) });
        }
        if let Some(honesty) = &outcome.honesty {
            let tables = verdict::tables(honesty, |rated| rated_name(rated, outcome));
            sections.push(Section { part: Part::Honesty, tables });
        }
        // The line about the machine says so.
        if !outcome.machine.counters {
            let tables = sections.iter_mut().flat_map(|section| &mut section.tables);
            tables.for_each(|table| table.leave_out(&COUNTED));
        }
        Report {
            machine: format!("{}; {}", outcome.machine.line(), regimes.words()),
            extent: format!(
                "{} of {} s, order shuffled in each with seed {}",
                rounds(outcome.rounds),
                outcome.duration.as_secs_f64(),
                outcome.seed
            ),
            sections,
            absent: absent.collect(),
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.machine, self.extent);
        for table in self.sections.iter().flat_map(|section| &section.tables) {
            text.push_str(&format!("\n{}", table.text()));
        }
        if !self.absent.is_empty() {
            text.push_str("\nnot compared:\n");
            self.absent.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text
    }
}

/// What there is a table for: all measurements, or those of a state of the machine, and how the heading says it.
fn regime_titles(regimes: Regimes) -> Vec<(Option<Regime>, &'static str)> {
    match regimes.split_ns {
        None => vec![(None, "")],
        Some(_) => vec![
            (Some(Regime::Near), ", while a cache line travels fast"),
            (Some(Regime::Far), ", while a cache line travels slowly"),
        ],
    }
}

/// A table of all measurements, or one of those in each state of the machine. What saw both is in neither.
fn cell_tables(cell: &CellOutcome, outcome: &Outcome, regimes: Regimes) -> Vec<Table> {
    let tables = regime_titles(regimes).into_iter().filter_map(|(regime, words)| {
        let Some(regime) = regime else { return Some(table(cell, outcome, cell.cell.title.to_owned(), false)) };
        let kept = only(cell, &|transfer| regimes.place(transfer) == regime);
        (!kept.entries.is_empty()).then(|| table(&kept, outcome, format!("{}{words}", cell.cell.title), true))
    });
    let transfers = cell.entries.iter().flat_map(|entry| entry.rounds.iter().flatten()).map(|one| one.transfer);
    noted(tables.collect(), transfers, regimes)
}

fn lateness_tables(outcome: &Outcome, regimes: Regimes) -> Vec<Table> {
    let tables = regime_titles(regimes).into_iter().filter_map(|(regime, words)| {
        let kept = |transfer| regime.is_none_or(|regime| regimes.place(transfer) == regime);
        let name = |rated| rated_name(rated, outcome);
        let title = format!("lateness, {} connections{words}", lateness::CONNECTIONS);
        let mut measured = outcome.lateness.clone();
        measured.retain(|entry| entry.rounds.iter().flatten().any(|one| kept(one.measurement.transfer)));
        (!measured.is_empty()).then(|| lateness::table(title, &measured, name, &kept))
    });
    let ones = outcome.lateness.iter().flat_map(|entry| entry.rounds.iter().flatten());
    noted(tables.collect(), ones.map(|one| one.measurement.transfer), regimes)
}

/// Says below the last table how many measurements are in none.
fn noted(
    mut tables: Vec<Table>,
    transfers: impl Iterator<Item = Option<Transfer>> + Clone,
    regimes: Regimes,
) -> Vec<Table> {
    let all = transfers.clone().count();
    let straddling = transfers.filter(|one| regimes.place(*one) == Regime::Straddling).count();
    let note = format!("{straddling} of {all} measurements saw the machine change, and are in no table");
    match tables.last_mut() {
        Some(table) if regimes.split_ns.is_some() && straddling > 0 => table.notes.push(note),
        Some(_) => {}
        None if straddling == 0 => {}
        None => {
            let (columns, rows) = (COLUMNS.to_vec(), Vec::new());
            tables.push(Table { title: "no measurement to show".to_owned(), columns, rows, notes: vec![note] });
        }
    }
    tables
}

/// The cell with those measurements alone, and those who have any. A ratio is formed where both are left, so only within a round and a state.
fn only(cell: &CellOutcome, kept: &dyn Fn(Option<Transfer>) -> bool) -> CellOutcome {
    let entries = cell.entries.iter().map(|entry| {
        let rounds = entry.rounds.iter().map(|one| one.clone().filter(|one| kept(one.transfer)));
        Entry { contender: entry.contender, rounds: rounds.collect() }
    });
    let entries = entries.filter(|entry| entry.rounds.iter().any(Option::is_some));
    CellOutcome { cell: cell.cell, entries: entries.collect(), left_out: cell.left_out.clone() }
}

fn table(cell: &CellOutcome, outcome: &Outcome, title: String, counted: bool) -> Table {
    let rows = rows(cell);
    let notes = rows.iter().flat_map(|row| {
        let who = row.contender.label();
        let disagrees = (!row.account.agrees)
            .then(|| format!("{who} counted otherwise than the server, by more than what can be in flight at the end"));
        let problems = row.problems.iter().map({
            let who = who.clone();
            move |(round, problem)| format!("{who}, round {round} left out: {problem}")
        });
        disagrees.into_iter().chain(problems).collect::<Vec<_>>()
    });
    let left_out =
        cell.left_out.iter().map(|(contender, reason)| format!("{} takes no part: {reason}", contender.label()));
    Table {
        title,
        columns: COLUMNS.to_vec(),
        notes: unsteady(&rows).into_iter().chain(notes).chain(left_out).collect(),
        rows: rows.iter().map(|row| words(row, cell.cell, outcome, counted)).collect(),
    }
}

/// The floor does the same work in every round, so if that took much longer in one than in another, the machine was another.
/// Then ratios within a round hold only if it did not change within the round as well.
fn unsteady(rows: &[Row]) -> Option<String> {
    let floor = rows.iter().find(|row| row.contender == Contender::FLOOR)?.cpu_us?;
    (floor.max > UNSTEADY * floor.min).then(|| {
        let times = digits(floor.max / floor.min);
        format!(
            "the machine was not steady: the floor took {times} times as long in its slowest round as in its fastest"
        )
    })
}

/// The figures of a row. Where rounds are left out, how many are left is said as well.
fn words(row: &Row, cell: &Cell, outcome: &Outcome, counted: bool) -> Vec<String> {
    let compared = |ratio, with_itself| compared(ratio, with_itself, counted);
    vec![
        name(row.contender, cell, outcome),
        or_dash(row.rate_rps, grouped),
        or_dash(row.cpu_us, |cpu| digits(cpu.median)),
        or_dash(row.cpu_us, |Spread { min, max, .. }| format!("{}..{}", digits(min), digits(max))),
        compared(row.cpu_to_wrk, row.contender == Contender::WRK),
        compared(row.cpu_to_tolok, row.contender == Contender::TOLOK),
        or_dash(row.instructions_user, grouped),
        or_dash(row.instructions_kernel, grouped),
        compared(row.instructions_to_floor, row.contender.tool == Tool::Floor && row.instructions_user.is_some()),
        or_dash(row.cycles, grouped),
        or_dash(row.peak_bytes, |bytes| digits(bytes / f64::from(1 << 20))),
        format!("{} / {}", percent(row.busy), percent(row.server_busy)),
        account(row.account),
        or_dash(row.account.claimed, |_| grouped(row.account.failed as f64)),
        row.rounds.to_string(),
    ]
}

/// `wrk 4.1.0`, `tolok 0.1.0 (every byte checked)`, `k6 v1.8.1 (discarding)`. What is checked is said where it costs.
fn name(contender: Contender, cell: &Cell, outcome: &Outcome) -> String {
    let way = match contender {
        Contender { discards: true, .. } => " (discarding)",
        Contender::TOLOK if cell.asset == Asset::File534k => " (every byte checked)",
        _ => "",
    };
    format!("{}{way}", versioned(contender.tool, outcome))
}

/// `tolok 0.1.0 (hybrid)`.
fn rated_name(rated: Rated, outcome: &Outcome) -> String {
    format!("{} ({})", versioned(rated.tool(), outcome), rated.way())
}

fn versioned(tool: Tool, outcome: &Outcome) -> String {
    let version = outcome.peers.iter().find(|peer| peer.tool == tool).map(|peer| peer.version.as_str());
    match version.filter(|_| tool != Tool::Floor) {
        Some(version) => format!("{} {version}", tool.name()),
        None => tool.name().to_owned(),
    }
}

fn compared(ratio: Option<Ratio>, with_itself: bool, counted: bool) -> String {
    let Some(Ratio { ratio, interval, pairs }) = ratio else {
        return if with_itself { "1".to_owned() } else { NONE.to_owned() };
    };
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", digits(low), digits(high)));
    let pairs = if counted { format!(" n={pairs}") } else { String::new() };
    format!("{}{interval}{pairs}", digits(ratio))
}

fn account(account: Account) -> String {
    or_dash(account.claimed, |claimed| {
        let mark = if account.agrees { "" } else { " !" };
        format!("{} / {}{mark}", grouped(claimed as f64), grouped(account.answered as f64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Absent;
    use crate::summary::tests::outcome;

    #[test]
    fn a_row_says_everything_and_a_dash_what_is_not_known() {
        let entries: [(Contender, &[f64]); 2] = [(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[10.0; 5])];
        let mut outcome = outcome(&[("hello-64", &entries)]);
        for round in &mut outcome.cells[0].entries[1].rounds {
            round.as_mut().unwrap().counted = None;
        }
        let rows = &Report::of(&outcome).sections[0].tables[0].rows;
        let tolok = ["tolok 1.2", "125,000", "8.00", "8.00..8.00", "0.80 [0.80, 0.80]", "1"];
        assert_eq!(rows[0][..6], tolok);
        assert_eq!(rows[0][6..], ["8,000", "24,000", "–", "24,000", "5.00", "8 % / 50 %", "4,950 / 5,000", "0", "5"]);
        assert_eq!(rows[1][..6], ["wrk 1.2", "100,000", "10.0", "10.0..10.0", "1", "1.25 [1.25, 1.25]"]);
        assert_eq!(rows[1][6..10], ["–", "–", "–", "–"]);
        assert_eq!(rows[0].len(), COLUMNS.len());
    }

    #[test]
    fn a_machine_without_counters_has_a_line_instead_of_columns() {
        let mut outcome = outcome(&[("hello-64", &[(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[9.0; 5])])]);
        outcome.machine.counters = false;
        for one in outcome.cells[0].entries.iter_mut().flat_map(|entry| &mut entry.rounds) {
            one.as_mut().unwrap().counted = None;
        }
        let report = Report::of(&outcome);
        assert!(report.machine.contains("no counters, so no columns of instructions and cycles"), "{}", report.machine);
        let table = &report.sections[0].tables[0];
        assert!(COUNTED.iter().all(|column| !table.columns.contains(column)));
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len() && !row.contains(&NONE.to_owned())));
        assert_eq!(table.rows[0].last().map(String::as_str), Some("5"));
    }

    #[test]
    fn a_machine_that_changed_between_rounds_is_seen_by_the_floor() {
        let notes = |costs: &[f64]| {
            Report::of(&outcome(&[("hello-64", &[(Contender::FLOOR, costs)])])).sections[0].tables[0].notes.join("")
        };
        assert_eq!(notes(&[2.0, 2.9, 2.5]), "");
        assert!(notes(&[1.6, 6.0, 1.7]).contains("took 3.75 times as long"), "{}", notes(&[1.6, 6.0, 1.7]));
    }

    #[test]
    fn what_is_wrong_stands_below_the_table() {
        let mut outcome = outcome(&[("close", &[(Contender::WRK, &[10.0, 10.0])])]);
        let entry = &mut outcome.cells[0].entries[0];
        entry.rounds[0].as_mut().unwrap().claim.as_mut().unwrap().requests = 1200;
        entry.rounds[1].as_mut().unwrap().problem = Some("it did not end, and was killed".into());
        let h2load = Contender { tool: Tool::H2load, discards: false };
        outcome.cells[0].left_out.push((h2load, "it cannot".into()));
        outcome.absent.push(Absent { tool: Tool::K6, reason: "not on the PATH".into() });
        let text = Report::of(&outcome).text();
        for words in [
            "2,190 / 2,000 !",
            "  ! wrk counted otherwise than the server",
            "  ! wrk, round 2 left out: it did not end, and was killed\n",
            "  ! h2load takes no part: it cannot\n",
            "not compared:\n  k6: not on the PATH\n",
        ] {
            assert!(text.contains(words), "{words:?} in {text}");
        }
    }

    /// An outcome of tolok and wrk in which the machine was slow in some rounds, by the transfer times given.
    fn between_states(transfers: [(f64, f64); 6]) -> Outcome {
        let entries: [(Contender, &[f64]); 2] = [
            (Contender::TOLOK, &[7.0, 18.0, 7.0, 18.0, 7.0, 7.0]),
            (Contender::WRK, &[10.0, 20.0, 10.0, 20.0, 10.0, 10.0]),
        ];
        let mut outcome = outcome(&[("hello-64", &entries)]);
        for entry in &mut outcome.cells[0].entries {
            for (one, (before_ns, after_ns)) in entry.rounds.iter_mut().zip(transfers) {
                one.as_mut().unwrap().transfer = Some(Transfer { before_ns, after_ns });
            }
        }
        outcome
    }

    #[test]
    fn each_state_of_the_machine_has_a_table_and_what_saw_both_has_none() {
        let (fast, slow) = ((100.0, 110.0), (400.0, 420.0));
        let mut outcome = between_states([fast, slow, fast, slow, (100.0, 400.0), fast]);
        // In the first round tolok met the slow machine, and wrk the fast one.
        let one = outcome.cells[0].entries[0].rounds[0].as_mut().unwrap();
        one.transfer = Some(Transfer { before_ns: 400.0, after_ns: 400.0 });
        let report = Report::of(&outcome);
        assert!(report.machine.ends_with("fast below 210 ns and slow above"), "{}", report.machine);
        let tables = &report.sections[0].tables;
        assert_eq!(tables.len(), 2);
        assert_eq!(tables[0].title, "hello, keep-alive, 64 connections, while a cache line travels fast");
        let row = |table: &Table, front: &str| table.rows.iter().find(|row| row[0].starts_with(front)).unwrap().clone();
        assert_eq!((row(&tables[0], "tolok")[4].as_str(), row(&tables[0], "tolok")[14].as_str()), ("0.70 n=2", "2"));
        assert_eq!((row(&tables[0], "wrk")[5].as_str(), row(&tables[0], "wrk")[14].as_str()), ("1.43 n=2", "3"));
        assert_eq!((row(&tables[1], "tolok")[4].as_str(), row(&tables[1], "tolok")[14].as_str()), ("0.90 n=2", "3"));
        assert_eq!(tables[0].notes, Vec::<String>::new());
        assert_eq!(tables[1].notes, ["2 of 12 measurements saw the machine change, and are in no table"]);
    }

    #[test]
    fn who_never_met_a_state_of_the_machine_is_not_in_its_table() {
        let (fast, slow) = ((100.0, 110.0), (400.0, 420.0));
        let mut outcome = between_states([fast, slow, fast, fast, fast, fast]);
        outcome.cells[0].entries[0].rounds[1] = None;
        let tables = &Report::of(&outcome).sections[0].tables;
        assert_eq!([tables[0].rows.len(), tables[1].rows.len()], [2, 1]);
    }

    #[test]
    fn a_machine_that_stayed_the_same_has_one_table() {
        let report = Report::of(&between_states([(100.0, 199.0); 6]));
        assert_eq!(report.sections[0].tables.len(), 1);
        assert!(report.machine.ends_with("a cache line took 100 to 199 ns from CPU to CPU"), "{}", report.machine);
    }

    #[test]
    fn what_is_checked_is_said_where_it_costs() {
        let discarding = Contender { discards: true, ..Contender::TOLOK };
        let entries: [(Contender, &[f64]); 3] =
            [(Contender::TOLOK, &[50.0]), (discarding, &[40.0]), (Contender::WRK, &[45.0])];
        let names = |cell: &str| -> Vec<String> {
            let report = Report::of(&outcome(&[(cell, &entries)]));
            report.sections[0].tables[0].rows.iter().map(|row| row[0].clone()).collect()
        };
        assert_eq!(names("big"), ["tolok 1.2 (discarding)", "wrk 1.2", "tolok 1.2 (every byte checked)"]);
        assert!(names("hello-64").contains(&"tolok 1.2".to_owned()));
    }
}
