//! The figures as text and tables, the same for the terminal and the document: medians, and ratios paired by round.

use tolok_bench::machine::load_words;
use tolok_bench::table::{NONE, Table, digits, grouped, or_dash, percent};
use tolok_model::LoadTool;
use tolok_model::figures::counted;
use tolok_stats::{GeometricOutcome, Level, Sample, geometric_ratio};

use crate::assets::Asset;
use crate::bench::Outcome;
use crate::counters::Counted;
use crate::exercise::{Entry, Exercise, Question, Served};
use crate::generator::{Contender, Tool, Way};
use crate::measure::Measurement;
use crate::regime::{Regime, Regimes, Transfer};

/// If rounds differ by more than this factor, the machine changed.
const UNSTEADY: f64 = 1.5;
/// A truth below this is the usual time of a request. It differs from tool to tool, so a percentage of it means nothing.
const LEAST_TRUTH_S: f64 = 0.001;

#[derive(Debug)]
pub struct Report {
    pub machine: String,
    pub extent: String,
    /// The tables of each exercise: one, or one per state of the machine.
    pub sections: Vec<(Question, Vec<Table>)>,
    /// Generators that did not take part, and why.
    pub absent: Vec<String>,
}

/// A row of a table: a contender in an exercise.
struct Row<'a> {
    outcome: &'a Outcome,
    exercise: &'a Exercise,
    entry: &'a Entry,
    /// Whether ratios show their number of rounds, because some rounds are left out.
    counts_pairs: bool,
}

type Column = (&'static str, fn(&Row<'_>) -> String);
type Quantity = fn(&Measurement) -> Option<f64>;

const COST: [Column; 15] = [
    ("generator", |row| row.name()),
    ("answers/s", |row| or_dash(row.median(|one| one.rate_rps), grouped)),
    ("CPU µs/request", |row| or_dash(row.median(Measurement::cpu_us), digits)),
    ("min..max", |row| range(&row.values(Measurement::cpu_us), digits)),
    ("CPU to wrk's", |row| row.compared(Contender::WRK, Measurement::cpu_us)),
    ("CPU to tolok's", |row| row.compared(Contender::TOLOK, Measurement::cpu_us)),
    ("user instr.", |row| row.counted(|one| one.instructions_user)),
    ("kernel instr.", |row| row.counted(|one| one.instructions_kernel)),
    ("instr. to floor's", |row| {
        row.compared(Contender { way: row.entry.contender.way, ..Contender::FLOOR }, instructions)
    }),
    ("cycles", |row| row.counted(|one| one.cycles_user + one.cycles_kernel)),
    ("peak MiB", |row| {
        or_dash(row.median(|one| Some(one.peak_bytes? as f64)), |bytes| digits(bytes / f64::from(1 << 20)))
    }),
    ("busy: it / server", |row| {
        let busy = row.median(|one| Some(one.cpu_s() / one.wall_s));
        let server_busy = row.median(|one| Some(one.server_cpu_s / one.told_s));
        format!("{} / {}", percent(busy), percent(server_busy))
    }),
    ("counted by it / by server", |row| {
        let [claimed, answered, _] = row.account();
        let mark = if row.agrees() { "" } else { " !" };
        or_dash(claimed, |claimed| format!("{} / {}{mark}", grouped(claimed), or_dash(answered, grouped)))
    }),
    ("failed", |row| or_dash(row.account()[2], grouped)),
    ("rounds", |row| row.rounds()),
];

/// The columns that need the processor's counters.
const COUNTED: [&str; 4] = ["user instr.", "kernel instr.", "instr. to floor's", "cycles"];

const LATENESS: [Column; 10] = [
    ("generator", |row| row.name()),
    ("sent of offered", |row| row.sent()),
    ("late p50 µs", |row| row.late(0)),
    ("p99 µs", |row| row.late(1)),
    ("p99.9 µs", |row| row.late(2)),
    ("max µs", |row| {
        let maxima = row.entry.good().filter_map(|one| one.record.as_ref()?.lateness.max_s);
        or_dash(maxima.reduce(f64::max), |max_s| digits(max_s * 1e6))
    }),
    ("CPU of a core", |row| percent(row.median(|one| Some(one.cpu_s() / one.wall_s)))),
    ("CPU µs/request", |row| or_dash(row.median(Measurement::cpu_us), digits)),
    ("trusts itself", |row| row.trust()),
    ("rounds", |row| row.rounds()),
];

const HONESTY: [Column; 10] = [
    ("generator", |row| row.name()),
    ("sent of offered", |row| row.sent()),
    ("p50 ms", |row| row.beside_truth(0)),
    ("p99 ms", |row| row.beside_truth(1)),
    ("p99.9 ms", |row| row.beside_truth(2)),
    ("max ms", |row| row.beside_truth(3)),
    ("trusts itself", |row| row.trust()),
    ("CPU µs/request", |row| or_dash(row.median(Measurement::cpu_us), digits)),
    ("transfer ns", |row| {
        let both = row.entry.good().filter_map(|one| one.transfer).flat_map(|one| [one.before_ns, one.after_ns]);
        range(&both.collect::<Vec<_>>(), |ns| format!("{ns:.0}"))
    }),
    ("rounds", |row| row.rounds()),
];

impl Report {
    pub fn of(outcome: &Outcome) -> Report {
        let regimes = Regimes::of(outcome.transfers());
        let section = |exercise: &Exercise| (exercise.question, tables(exercise, outcome, regimes));
        Report {
            machine: format!("{}; {}", machine_words(outcome), regimes.words()),
            extent: format!(
                "{} of {} s, order shuffled in each with seed {}",
                counted(u64::from(outcome.rounds), "round"),
                outcome.duration.as_secs_f64(),
                outcome.seed
            ),
            sections: outcome.exercises.iter().filter(|one| one.is_begun()).map(section).collect(),
            absent: outcome.absent.iter().map(|(tool, reason)| format!("{}: {reason}", tool.name())).collect(),
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.machine, self.extent);
        for table in self.sections.iter().flat_map(|(_, tables)| tables) {
            text.push_str(&format!("\n{}", table.text()));
        }
        if !self.absent.is_empty() {
            text.push_str("\nnot compared:\n");
            self.absent.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text
    }
}

fn machine_words(outcome: &Outcome) -> String {
    let Outcome { machine, server_cpu, generator_cpu, .. } = outcome;
    let priority = match outcome.raised {
        Some(true) => "both in sessions of the highest priority",
        _ => "priority not raised, so other programs disturb",
    };
    let counters = match outcome.has_counters {
        true => "instructions counted by the processor",
        false => "no counters, so no columns of instructions and cycles",
    };
    format!(
        "{}, {} at the end, congestion control {}; {priority}; {counters}",
        machine.words(&format!("server on {server_cpu}, generators on {generator_cpu}")),
        load_words(outcome.load_average_at_end),
        machine.congestion_control,
    )
}

/// One table of all measurements, or one per state of the machine. Measurements that saw both states are in neither. The truth of `honesty`
/// does not depend on the state.
fn tables(exercise: &Exercise, outcome: &Outcome, regimes: Regimes) -> Vec<Table> {
    if regimes.split_ns.is_none() || exercise.served != Served::Ceiling {
        return vec![table(exercise, outcome, exercise.title.clone(), false)];
    }
    let states =
        [(Regime::Near, ", while a cache line travels fast"), (Regime::Far, ", while a cache line travels slowly")];
    let tables = states.into_iter().filter_map(|(regime, words)| {
        let kept = only(exercise, &|transfer| regimes.place(transfer) == regime);
        (!kept.entries.is_empty()).then(|| table(&kept, outcome, format!("{}{words}", exercise.title), true))
    });
    let mut tables: Vec<Table> = tables.collect();
    let all = || exercise.entries.iter().flat_map(|entry| entry.rounds.iter().flatten());
    let straddling = all().filter(|one| regimes.place(one.transfer) == Regime::Straddling).count();
    if straddling > 0 {
        let note =
            format!("{straddling} of {} measurements saw the machine change, and are in no table", all().count());
        match tables.last_mut() {
            Some(table) => table.notes.push(note),
            None => {
                let title = format!("{}: no measurement to show", exercise.title);
                tables.push(Table { title, columns: vec!["generator"], rows: Vec::new(), notes: vec![note] });
            }
        }
    }
    tables
}

/// The exercise with only these measurements, and the contenders that have any. So ratios are only formed within a round and a state.
fn only(exercise: &Exercise, kept: &dyn Fn(Option<Transfer>) -> bool) -> Exercise {
    let mut exercise = exercise.clone();
    for round in exercise.entries.iter_mut().flat_map(|entry| &mut entry.rounds) {
        *round = round.take().filter(|one| kept(one.transfer));
    }
    exercise.entries.retain(|entry| entry.rounds.iter().any(Option::is_some));
    exercise
}

fn table(exercise: &Exercise, outcome: &Outcome, title: String, counts_pairs: bool) -> Table {
    let columns: &[Column] = match exercise.question {
        Question::Cost => &COST,
        Question::Lateness => &LATENESS,
        Question::Honesty => &HONESTY,
    };
    let is_shown = |(name, _): &&Column| outcome.has_counters || !COUNTED.contains(name);
    let columns: Vec<&Column> = columns.iter().filter(is_shown).collect();
    let mut rows: Vec<Row<'_>> =
        exercise.entries.iter().map(|entry| Row { outcome, exercise, entry, counts_pairs }).collect();
    if exercise.question == Question::Cost {
        let cost = |row: &Row<'_>| row.median(Measurement::cpu_us).unwrap_or(f64::INFINITY);
        rows.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    }
    let notes = unsteady(&rows).into_iter().chain(rows.iter().flat_map(Row::notes)).chain(exercise.left_out.clone());
    Table {
        title,
        notes: notes.collect(),
        rows: rows.iter().map(|row| columns.iter().map(|(_, words)| words(row)).collect()).collect(),
        columns: columns.into_iter().map(|(name, _)| *name).collect(),
    }
}

/// The floor does the same work in every round, so a much slower round means that the machine changed. Then ratios within a round hold only
/// if the machine did not also change within the round.
fn unsteady(rows: &[Row<'_>]) -> Option<String> {
    let floor = rows.iter().find(|row| row.entry.contender == Contender::FLOOR)?;
    let sample = Sample::new(&floor.values(Measurement::cpu_us)).ok()?;
    (sample.max() > UNSTEADY * sample.min()).then(|| {
        let times = digits(sample.max() / sample.min());
        format!(
            "the machine was not steady: the floor took {times} times as long in its slowest round as in its fastest"
        )
    })
}

impl Row<'_> {
    /// `wrk 4.1.0`, `tolok 0.1.0 (every byte checked)`, `tolok 0.1.0 (hybrid)`. The check is mentioned where it has a cost.
    fn name(&self) -> String {
        let contender = self.entry.contender;
        let checked = contender == Contender::TOLOK && self.exercise.load.asset == Asset::File534k;
        let way = contender.way().or(checked.then(|| "every byte checked".to_owned()));
        let peer = self.outcome.peers.iter().find(|peer| peer.tool == contender.tool && peer.tool != Tool::Floor);
        let version = peer.map(|peer| format!(" {}", peer.version)).unwrap_or_default();
        let way = way.map(|way| format!(" ({way})")).unwrap_or_default();
        format!("{}{version}{way}", contender.tool.name())
    }

    fn values(&self, quantity: impl Fn(&Measurement) -> Option<f64>) -> Vec<f64> {
        self.entry.values(quantity).into_iter().flatten().collect()
    }

    fn median(&self, quantity: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        Sample::new(&self.values(quantity)).ok().map(|sample| sample.median())
    }

    /// A processor count per answer.
    fn counted(&self, count: fn(&Counted) -> u64) -> String {
        or_dash(self.median(|one| one.per_answer(count(one.counted.as_ref()?) as f64)), grouped)
    }

    /// The ratio to another contender, paired by round: `0.80 [0.79, 0.81]`.
    fn compared(&self, to: Contender, quantity: Quantity) -> String {
        if self.entry.contender == to && self.median(quantity).is_some() {
            return "1".to_owned();
        }
        let ratio = || {
            let other = self
                .exercise
                .entries
                .iter()
                .find(|one| one.contender == to && one.contender != self.entry.contender)?;
            let (these, those) = (self.entry.values(quantity), other.values(quantity));
            let pairs = these.iter().zip(&those).filter(|(this, that)| this.is_some() && that.is_some()).count();
            let GeometricOutcome::Estimated { ratio, interval, .. } =
                geometric_ratio(&these, &those, Level::P95).ok()?.outcome
            else {
                return None;
            };
            let interval =
                interval.map(|one| format!(" [{}, {}]", digits(one.low), digits(one.high))).unwrap_or_default();
            let pairs = if self.counts_pairs { format!(" n={pairs}") } else { String::new() };
            Some(format!("{}{interval}{pairs}", digits(ratio)))
        };
        ratio().unwrap_or_else(|| NONE.to_owned())
    }

    /// Requests answered by its own count, answers of the server, and failures by its own count, over the rounds with a report.
    fn account(&self) -> [Option<f64>; 3] {
        let told = || self.entry.rounds.iter().flatten().filter_map(|one| Some((one.claim?, one.server.answers)));
        let sums = told().fold([0, 0, 0], |[claimed, answered, failed], (claim, answers)| {
            [claimed + claim.requests, answered + answers, failed + claim.failed]
        });
        sums.map(|sum| told().next().map(|_| sum as f64))
    }

    /// Whether in every round the server's count equals its own, or exceeds it by at most one request per connection. Those were in flight
    /// when it stopped counting.
    fn agrees(&self) -> bool {
        self.entry.rounds.iter().flatten().filter_map(|one| Some((one.claim?, one.server.answers))).all(
            |(claim, answers)| {
                let missed = answers.checked_sub(claim.requests);
                missed.is_some_and(|missed| missed <= u64::from(self.exercise.load.connections))
            },
        )
    }

    /// Over all rounds: the server's count, and the number that the rate requires.
    fn sent(&self) -> String {
        let sum = |count: fn(&Measurement) -> u64| self.entry.good().map(count).sum::<u64>();
        let (sent, offered) = (sum(Measurement::answers), sum(|one| one.offered.unwrap_or_default()));
        if self.entry.contender.way == Way::ClosedLoop {
            return grouped(sent as f64);
        }
        format!("{} of {}{}", grouped(sent as f64), grouped(offered as f64), if sent == offered { "" } else { " !" })
    }

    fn late(&self, which: usize) -> String {
        or_dash(self.median(|one| one.record.as_ref()?.lateness.all()[which]), |late_s| digits(late_s * 1e6))
    }

    /// `449 of 450 (−0.2%..+0.1%)`: reported and true value in the round with the median error, and the smallest and largest error.
    fn beside_truth(&self, which: usize) -> String {
        let pair = |one: &Measurement| one.reported?.all()[which].zip(one.truth?.all()[which]);
        beside(self.entry.good().filter_map(pair).collect())
    }

    /// Whether it trusts its own figures; only tolok judges this. Identical outcomes are counted.
    fn trust(&self) -> String {
        let mut said: Vec<(String, usize)> = Vec::new();
        for one in self.entry.good() {
            let Some(record) = &one.record else { continue };
            let gates: Vec<String> = record
                .gates
                .iter()
                .filter_map(|gate| Some(serde_json::to_value(gate).ok()?.as_str()?.to_owned()))
                .collect();
            let trusts = if record.trusted { "yes".to_owned() } else { format!("no: {}", gates.join(", ")) };
            let words = format!("{trusts}, {}", or_dash(one.code, |code| format!("exit {code}")));
            match said.iter_mut().find(|(other, _)| *other == words) {
                Some((_, times)) => *times += 1,
                None => said.push((words, 1)),
            }
        }
        match &said[..] {
            [] => NONE.to_owned(),
            [(words, _)] => words.clone(),
            _ => said.iter().map(|(words, times)| format!("{times} × {words}")).collect::<Vec<_>>().join("; "),
        }
    }

    fn rounds(&self) -> String {
        self.entry.rounds.iter().flatten().count().to_string()
    }

    fn notes(&self) -> Vec<String> {
        let who = self.entry.contender.label();
        let disagrees = (self.exercise.question == Question::Cost && !self.agrees())
            .then(|| format!("{who} counted otherwise than the server, by more than what can be in flight at the end"));
        let problem = |(round, one): (usize, &Option<Measurement>)| {
            Some(format!("{who}, round {} left out: {}", round + 1, one.as_ref()?.problem.as_ref()?))
        };
        disagrees.into_iter().chain(self.entry.rounds.iter().enumerate().filter_map(problem)).collect()
    }
}

fn instructions(one: &Measurement) -> Option<f64> {
    let counted = one.counted?;
    one.per_answer((counted.instructions_user + counted.instructions_kernel) as f64)
}

/// `58..63`, or one value if both read the same.
fn range(values: &[f64], words: impl Fn(f64) -> String) -> String {
    let Ok(sample) = Sample::new(values) else { return NONE.to_owned() };
    let [least, most] = [sample.min(), sample.max()].map(words);
    if least == most { least } else { format!("{least}..{most}") }
}

fn beside(mut pairs: Vec<(f64, f64)>) -> String {
    let error = |(reported, truth): &(f64, f64)| reported / truth - 1.0;
    pairs.sort_by(|one, other| error(one).total_cmp(&error(other)));
    let Some((reported, truth)) = pairs.get(pairs.len().saturating_sub(1) / 2).copied() else { return NONE.to_owned() };
    let both = format!("{} of {}", digits(reported * 1e3), digits(truth * 1e3));
    let errors: Vec<f64> = pairs.iter().map(error).collect();
    if truth < LEAST_TRUTH_S { both } else { format!("{both} ({})", range(&errors, signed)) }
}

fn signed(share: f64) -> String {
    let text = format!("{:.1}", share.abs() * 100.0);
    let sign = match share {
        _ if text == "0.0" => "",
        _ if share < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{text}%")
}

/// Whether a contender is k6, whose script the document shows.
pub fn has_script(contender: Contender) -> bool {
    contender.tool == Tool::Lab(LoadTool::K6)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::tests::outcome;
    use crate::generator::{Claim, Record};
    use crate::truth::Latencies;
    use tolok_load::verdict::Gate;
    use tolok_model::Arrivals;

    fn rounds(outcome: &mut Outcome, entry: usize) -> impl Iterator<Item = &mut Measurement> {
        outcome.exercises[0].entries[entry].rounds.iter_mut().flatten()
    }

    fn tables(outcome: &Outcome) -> Vec<Table> {
        Report::of(outcome).sections.into_iter().flat_map(|(_, tables)| tables).collect()
    }

    #[test]
    fn a_row_says_everything_and_a_dash_what_is_not_known() {
        let mut outcome = outcome("hello-64", &[(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[10.0; 5])]);
        rounds(&mut outcome, 1).for_each(|one| one.counted = None);
        let rows = &tables(&outcome)[0].rows;
        let tolok = ["tolok 1.2", "125,000", "8.00", "8.00", "0.800 [0.800, 0.800]", "1"];
        assert_eq!(rows[0][..6], tolok);
        assert_eq!(rows[0][6..], ["8,000", "24,000", "–", "24,000", "5.00", "8% / 50%", "4,950 / 5,000", "0", "5"]);
        assert_eq!(rows[1][..6], ["wrk 1.2", "100,000", "10.0", "10.0", "1", "1.25 [1.25, 1.25]"]);
        assert_eq!(rows[1][6..10], ["–", "–", "–", "–"]);
    }

    #[test]
    fn a_machine_without_counters_has_a_line_instead_of_columns() {
        let mut outcome = outcome("hello-64", &[(Contender::TOLOK, &[8.0; 5]), (Contender::WRK, &[9.0; 5])]);
        outcome.has_counters = false;
        let report = Report::of(&outcome);
        assert!(report.machine.contains("no counters, so no columns of instructions and cycles"), "{}", report.machine);
        let table = &report.sections[0].1[0];
        assert!(COUNTED.iter().all(|column| !table.columns.contains(column)));
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len() && !row.contains(&NONE.to_owned())));
    }

    #[test]
    fn a_machine_that_changed_between_rounds_is_seen_by_the_floor() {
        let notes = |costs: &[f64]| tables(&outcome("hello-64", &[(Contender::FLOOR, costs)]))[0].notes.join("");
        assert_eq!(notes(&[2.0, 2.9, 2.5]), "");
        assert!(notes(&[1.6, 6.0, 1.7]).contains("took 3.75 times as long"), "{}", notes(&[1.6, 6.0, 1.7]));
    }

    #[test]
    fn what_is_wrong_stands_below_the_table() {
        let mut outcome = outcome("close", &[(Contender::WRK, &[10.0, 10.0])]);
        let mut both = rounds(&mut outcome, 0);
        both.next().unwrap().claim.as_mut().unwrap().requests = 1200;
        both.next().unwrap().problem = Some("it did not end, and was killed".into());
        drop(both);
        outcome.exercises[0].left_out.push("h2load takes no part: it cannot".into());
        outcome.absent.push((Tool::Gcannon, "not on the PATH".into()));
        let text = Report::of(&outcome).text();
        for words in [
            "2,190 / 2,000 !",
            "! wrk counted otherwise than the server",
            "! wrk, round 2 left out: it did not end, and was killed\n",
            "! h2load takes no part: it cannot\n",
            "not compared:\n  gcannon: not on the PATH\n",
        ] {
            assert!(text.contains(words), "{words:?} in {text}");
        }
    }

    #[test]
    fn a_count_agrees_if_the_server_answered_no_less_and_hardly_more() {
        for (requests, agrees) in [(1000, true), (936, true), (935, false), (1001, false)] {
            let mut outcome = outcome("hello-64", &[(Contender::WRK, &[10.0])]);
            rounds(&mut outcome, 0).for_each(|one| one.claim = Some(Claim { requests, failed: 3 }));
            let notes = tables(&outcome)[0].notes.join("");
            assert_eq!(notes.is_empty(), agrees, "{requests}: {notes}");
        }
    }

    #[test]
    fn ratios_are_formed_within_rounds_with_the_contender_of_the_same_kind() {
        let of = |tool: Tool, way| Contender { tool, way };
        let entries: [(Contender, &[f64]); 4] = [
            (Contender::FLOOR, &[10.0]),
            (of(Tool::Floor, Way::Discarding), &[5.0]),
            (Contender::TOLOK, &[11.0]),
            (of(Tool::TOLOK, Way::Discarding), &[6.0]),
        ];
        let table = &tables(&outcome("big", &entries))[0];
        let place = table.columns.iter().position(|name| *name == "instr. to floor's").unwrap();
        let found: Vec<&str> = table.rows.iter().map(|row| row[place].as_str()).collect();
        assert_eq!(found, ["1", "1.20", "1", "1.10"]);
        assert_eq!(table.rows[1][0], "tolok 1.2 (discarding)");
        assert_eq!(table.rows[3][0], "tolok 1.2 (every byte checked)");
    }

    /// An outcome of tolok and wrk with some rounds on a slow machine, according to the given transfer times.
    fn between_states(transfers: [(f64, f64); 6]) -> Outcome {
        let entries: [(Contender, &[f64]); 2] = [
            (Contender::TOLOK, &[7.0, 18.0, 7.0, 18.0, 7.0, 7.0]),
            (Contender::WRK, &[10.0, 20.0, 10.0, 20.0, 10.0, 10.0]),
        ];
        let mut outcome = outcome("hello-64", &entries);
        for entry in 0..2 {
            for (one, (before_ns, after_ns)) in rounds(&mut outcome, entry).zip(transfers) {
                one.transfer = Some(Transfer { before_ns, after_ns });
            }
        }
        outcome
    }

    #[test]
    fn each_state_of_the_machine_has_a_table_and_what_saw_both_has_none() {
        let (fast, slow) = ((100.0, 110.0), (400.0, 420.0));
        let mut outcome = between_states([fast, slow, fast, slow, (100.0, 400.0), fast]);
        // In the first round tolok ran on the slow machine, and wrk on the fast one.
        rounds(&mut outcome, 0).next().unwrap().transfer = Some(Transfer { before_ns: 400.0, after_ns: 400.0 });
        let report = Report::of(&outcome);
        assert!(report.machine.ends_with("fast below 210 ns and slow above"), "{}", report.machine);
        let tables = &report.sections[0].1;
        assert_eq!(tables.len(), 2);
        assert_eq!(tables[0].title, "hello, keep-alive, 64 connections, while a cache line travels fast");
        let row = |table: &Table, front: &str| table.rows.iter().find(|row| row[0].starts_with(front)).unwrap().clone();
        assert_eq!((row(&tables[0], "tolok")[4].as_str(), row(&tables[0], "tolok")[14].as_str()), ("0.700 n=2", "2"));
        assert_eq!((row(&tables[0], "wrk")[5].as_str(), row(&tables[0], "wrk")[14].as_str()), ("1.43 n=2", "3"));
        assert_eq!((row(&tables[1], "tolok")[4].as_str(), row(&tables[1], "tolok")[14].as_str()), ("0.900 n=2", "3"));
        assert_eq!(tables[0].notes, Vec::<String>::new());
        assert_eq!(tables[1].notes, ["2 of 12 measurements saw the machine change, and are in no table"]);
    }

    #[test]
    fn a_machine_that_stayed_the_same_has_one_table() {
        let report = Report::of(&between_states([(100.0, 199.0); 6]));
        assert_eq!(report.sections[0].1.len(), 1);
        assert!(report.machine.ends_with("a cache line took 100 to 199 ns from CPU to CPU"), "{}", report.machine);
    }

    fn record(trusted: bool) -> Record {
        let lateness = Latencies { p50_s: Some(1e-6), max_s: Some(5e-6), ..Latencies::default() };
        Record { lateness, scheduled: 1001, trusted, gates: vec![Gate::Lateness], start_ns: 0, seed: 1 }
    }

    #[test]
    fn at_a_rate_the_median_of_rounds_stands_beside_the_greatest_of_all() {
        let sleep = Contender { tool: Tool::TOLOK, way: Way::Timed { timer: "sleep", arrivals: Arrivals::Uniform } };
        let mut outcome = outcome("lateness", &[(sleep, &[20.0, 20.0, 20.0])]);
        for (one, trusted) in rounds(&mut outcome, 0).zip([true, false, true]) {
            (one.offered, one.record, one.code) =
                (Some(1001), Some(record(trusted)), Some(if trusted { 0 } else { 5 }));
        }
        let row = &tables(&outcome)[0].rows[0];
        assert_eq!(row[..4], ["tolok 1.2 (sleep)", "3,000 of 3,003 !", "1.00", "–"]);
        assert_eq!(row[5..], ["5.00", "20%", "20.0", "2 × yes, exit 0; 1 × no: lateness, exit 5", "3"]);
    }

    #[test]
    fn what_is_reported_stands_beside_the_truth() {
        let wrk = Contender { tool: Tool::Lab(LoadTool::Wrk), way: Way::ClosedLoop };
        let mut outcome = outcome("honesty", &[(wrk, &[20.0])]);
        for one in rounds(&mut outcome, 0) {
            one.truth = Some(Latencies { p50_s: Some(0.5), p99_s: Some(1.0), p999_s: Some(1.0), max_s: Some(1.0) });
            one.reported = Some(Latencies { p50_s: Some(0.5), p99_s: Some(0.9), p999_s: None, max_s: Some(1.1) });
        }
        let row = &tables(&outcome)[0].rows[0];
        assert_eq!(row[1..6], ["1,000", "500 of 500 (0.0%)", "900 of 1,000 (−10.0%)", "–", "1,100 of 1,000 (+10.0%)"]);
        assert_eq!(row[6..], ["–", "20.0", "100", "1"]);
        assert_eq!(beside(vec![(0.000_06, 0.000_005)]), "0.0600 of 0.00500");
        assert_eq!(beside(vec![(0.45, 0.45), (0.3, 0.4), (0.449, 0.4)]), "450 of 450 (−25.0%..+12.3%)");
        assert_eq!(outcome.duration, Duration::from_secs(1));
    }
}
