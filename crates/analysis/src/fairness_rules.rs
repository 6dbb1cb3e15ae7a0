//! What the subjects of a run did not have in common, by rules that read only records and declarations.
//!
//! Each rule gives a sentence on what differed, on what did not, or on what the records lack.

use std::collections::BTreeSet;

use crate::fairness::{Entrant, Entrants, Entry};
use crate::figures::{Quantity, amount, counted, listed};
use crate::findings::FairnessAnswers;
use crate::findings::FairnessRow;
use crate::grouping::each_once;

/// Besides one process per CPU, a server may have this many that only supervise: a master, and a manager of the workers.
pub const WATCHING_PROCESSES: u32 = 2;
/// More threads per CPU than this are waiting workers, not a runtime's own threads.
pub const MANY_THREADS_A_CPU: u32 = 16;
/// A thread that used this share of its server's CPU time did the work alone.
pub const WORK_OF_ONE_THREAD: f64 = 0.9;
/// Tolerated difference in bytes on the wire per response, as a share of the shortest.
pub const WIRE_BYTES_TOLERATED: f64 = 0.05;
/// Tolerated difference of bodies that were compared byte for byte: what the end of a window cuts off.
const BODY_BYTES_TOLERATED: f64 = 0.001;
/// With keep-alive, if there were more connections than this many times those that clients hold, the server closed some.
const CONNECTIONS_OPENED_TOLERATED: f64 = 2.0;
/// The most workloads that a sentence names.
const MOST_NAMED: usize = 3;

/// The result of a rule.
enum Said {
    Unequal(String),
    Equal(String),
    Unknown(String),
}

use Said::{Equal, Unequal, Unknown};

/// What differed, what was the same, and what is unknown.
pub(crate) fn judged(entrants: &Entrants) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    if entrants.competing.is_empty() {
        return all;
    }
    let rules = [less_work, modes, took_part, workers, one_thread, settings, pools, bodies, wire, reconnects, trials];
    // A single subject has nothing to be compared with.
    let rules = rules.iter().filter(|_| entrants.competing.len() > 1).filter_map(|rule| rule(entrants));
    for said in rules.chain(limits(entrants)).chain(not_kept(entrants)) {
        match said {
            Unequal(sentence) => all.0.push(sentence),
            Equal(sentence) => all.1.push(sentence),
            Unknown(sentence) => all.2.push(sentence),
        }
    }
    all
}

/// Subjects that do less per response, by their own declaration.
fn less_work(entrants: &Entrants) -> Option<Said> {
    let less = |row: &FairnessRow| Some(format!("{} ({})", row.title, row.less_work.as_ref()?));
    let less: Vec<String> = entrants.rows().filter_map(less).collect();
    let verb = if less.len() == 1 { "does" } else { "do" };
    let all_alike = less.is_empty() || less.len() == entrants.competing.len();
    (!all_alike).then(|| {
        Unequal(format!("{} {verb} less work per request: a reference, not a competitor.", listed(&less, "and")))
    })
}

/// A quota and a dedicated CPU are different budgets.
fn modes(entrants: &Entrants) -> Option<Said> {
    let kinds = |entrant: &Entrant| entrant.cases.iter().map(|entry| entry.is_quota()).collect::<BTreeSet<bool>>();
    let only = |quota: bool| -> Vec<String> {
        let is_only = |entrant: &&Entrant| kinds(entrant) == [quota].into();
        entrants.competing.iter().filter(is_only).map(Entrant::title).collect()
    };
    let (under_quota, dedicated) = (only(true), only(false));
    let is_mixed = under_quota.len() < entrants.competing.len() && dedicated.len() < entrants.competing.len();
    is_mixed.then(|| {
        let some =
            |names: Vec<String>, what: &str| (!names.is_empty()).then(|| format!("{} {what}", listed(&names, "and")));
        let parts = [some(under_quota, "ran under a quota only"), some(dedicated, "with dedicated CPUs only")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| Unequal(format!("{}: do not compare figures of the two.", parts.join(", and "))))
    })?
}

/// Subjects that lack a scenario. A rank over all scenarios means something else for them.
fn took_part(entrants: &Entrants) -> Option<Said> {
    let number = |entrant: &Entrant| entrant.cases.len();
    let most = entrants.competing.iter().map(number).max()?;
    let fewer = entrants.competing.iter().filter(|entrant| number(entrant) < most);
    let fewer: Vec<String> = fewer.map(|it| format!("{} in {}", it.title(), number(it))).collect();
    let all = counted(most as u64, "scenario");
    Some(match fewer.is_empty() {
        true if most == 1 => return None,
        true => Equal(format!("Every subject took part in each of {all}.")),
        false => Unequal(format!("Not every subject took part everywhere: {} of {all}.", listed(&fewer, "and"))),
    })
}

/// Subjects that have more processes or threads than their CPUs can run.
fn workers(entrants: &Entrants) -> Option<Said> {
    let cpus = |entrant: &Entrant| entrant.cases.iter().map(|entry| entry.cpus()).max().unwrap_or(1);
    let has_many = |entrant: &&Entrant| {
        let processes = entrant.row.processes_max.is_some_and(|most| most > cpus(entrant) + WATCHING_PROCESSES);
        processes || entrant.row.threads_max.is_some_and(|most| most > cpus(entrant) * MANY_THREADS_A_CPU)
    };
    let seen: Vec<&Entrant> = entrants.competing.iter().filter(|it| it.row.processes_max.is_some()).collect();
    let (many, few): (Vec<&Entrant>, Vec<&Entrant>) = seen.into_iter().partition(|it| has_many(it));
    let on = counted(u64::from(many.iter().chain(&few).map(|it| cpus(it)).max()?), "CPU");
    let words = |entrant: &&Entrant| {
        let [processes, threads] = [entrant.row.processes_max, entrant.row.threads_max].map(|it| it.unwrap_or(0));
        let noun = if processes == 1 { "process" } else { "processes" };
        format!("{} (up to {processes} {noun}, {})", entrant.title(), counted(u64::from(threads), "thread"))
    };
    let seen = |of: &[&Entrant]| range(of.iter().filter_map(|it| it.row.processes_max));
    Some(match (many.is_empty(), few.is_empty()) {
        (true, _) => Equal(format!(
            "No subject had many more processes or threads than {on} can run (processes seen: {}).",
            seen(&few)
        )),
        (false, true) => Equal(format!("All had many more processes or threads than {on} can run at a time.")),
        (false, false) => Unequal(format!(
            "On {on}, {} had many more processes or threads than can run at a time; the others had {}. That adds no computing power, but more requests can wait inside, and each process takes memory.",
            listed(&many.iter().map(words).collect::<Vec<_>>(), "and"),
            seen(&few)
        )),
    })
}

/// Subjects that used one of several CPUs.
fn one_thread(entrants: &Entrants) -> Option<Said> {
    let share = |entrant: &&Entrant| {
        let several = entrant.cases.iter().zip(&entrant.row.scenarios).filter(|(entry, _)| entry.cpus() > 1);
        let shares = several.filter_map(|(_, answers)| answers.busiest_thread_share);
        shares.reduce(f64::min).map(|share| (entrant.title(), share))
    };
    let shares: Vec<(String, f64)> = entrants.competing.iter().filter_map(|it| share(&it)).collect();
    let (alone, spread): (Vec<_>, Vec<_>) = shares.into_iter().partition(|(_, share)| *share >= WORK_OF_ONE_THREAD);
    let words = |(title, share): &(String, f64)| format!("{title} ({})", amount(Quantity::Share, *share));
    let names = |of: &[(String, f64)]| listed(&of.iter().map(words).collect::<Vec<_>>(), "and");
    match (alone.is_empty(), spread.is_empty()) {
        (true, true) => None,
        (false, false) => Some(Unequal(format!(
            "With several CPUs, one thread did nearly all of the work of {}, and could use only one CPU; {} used several.",
            names(&alone),
            names(&spread)
        ))),
        (true, false) => {
            Some(Equal("With several CPUs, every subject spread its work over several threads.".to_owned()))
        }
        (false, true) => Some(Equal("With several CPUs, every subject did its work in one thread.".to_owned())),
    }
}

/// Subjects that have a number of processes, threads or connections in their settings.
fn settings(entrants: &Entrants) -> Option<Said> {
    let numbers = |row: &FairnessRow| -> Vec<String> {
        let of_workers = row.parameters.iter().filter(|parameter| parameter.is_number_of_workers);
        of_workers.map(|parameter| format!("{} = {}", parameter.name, parameter.value)).collect()
    };
    // Such a setting has no effect on a server that runs as one process.
    let rows = entrants.rows().filter(|row| row.processes_max.is_some_and(|most| most > 1));
    let set = rows.map(|row| (row.title.clone(), numbers(row))).filter(|(_, numbers)| !numbers.is_empty());
    let set: Vec<String> = set.map(|(title, numbers)| format!("{title} ({})", numbers.join(", "))).collect();
    let rest = if set.len() == entrants.competing.len() { "" } else { "; none is known for the others" };
    (!set.is_empty()).then(|| {
        Unequal(format!(
            "The number of processes or connections is a setting of {}{rest}. Another number gives other figures.",
            listed(&set, "and")
        ))
    })
}

/// Connections to the database: the intended number, and the number that a subject reports.
fn pools(entrants: &Entrants) -> Option<Said> {
    let meant: BTreeSet<u32> = entrants.rows().flat_map(|row| row.database_pools.clone()).collect();
    let others = |entrant: &Entrant| -> Option<String> {
        let entries = entrant.cases.iter().filter_map(|entry| Some((entry.database()?.pool, entry)));
        let said = |(meant, entry): (u32, &Entry)| {
            let sizes = entry.trials.measured().filter_map(|trial| Some(trial.pool.as_ref()?.size));
            sizes.into_iter().find(|size| *size != meant).map(|size| format!("{} {size} of {meant}", entrant.title()))
        };
        entries.into_iter().find_map(said)
    };
    let others: Vec<String> = entrants.competing.iter().filter_map(others).collect();
    match (meant.is_empty(), others.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Equal(format!(
            "All could open the same number of connections to the database: {}.",
            listed(&meant.iter().map(u32::to_string).collect::<Vec<_>>(), "or")
        ))),
        (false, false) => Some(Unequal(format!(
            "Not all had the intended number of connections to the database: {}.",
            listed(&others, "and")
        ))),
    }
}

/// Bodies that were compared byte for byte cannot differ, so a difference is a counting error.
fn bodies(entrants: &Entrants) -> Option<Said> {
    let is_exact = |(entry, _): &(&Entry, &FairnessAnswers)| {
        let mut checks = entry.trials.measured().map(|trial| trial.checks.as_ref()?.body_check.as_deref()).peekable();
        checks.peek().is_some() && checks.all(|check| matches!(check, Some("exact" | "exactly")))
    };
    let compared = entrants.spread(|pair| is_exact(&pair).then_some(pair.1.body_bytes).flatten());
    let differing = compared.iter().filter(|it| it.share() > BODY_BYTES_TOLERATED && it.high - it.low > 0.5);
    let differing: Vec<String> = differing.map(Spread::words).collect();
    match (compared.is_empty(), differing.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Equal(format!(
            "All sent bodies of the same length in {}, and every byte was compared.",
            counted(compared.len() as u64, "scenario")
        ))),
        (false, false) => Some(Unequal(format!(
            "Bodies differ in length although every byte was compared, so something is wrong: {}.",
            differing.join("; ")
        ))),
    }
}

/// Bytes on the wire. They differ in headers if bodies are the same.
fn wire(entrants: &Entrants) -> Option<Said> {
    // The traffic between server and database cannot be separated from that of its responses.
    let own = |(entry, answers): (&Entry, &FairnessAnswers)| {
        let is_alone = entry.scenario.is_some() && entry.database().is_none();
        is_alone.then_some(answers.network_bytes_per_answer).flatten()
    };
    let mut compared = entrants.spread(own);
    compared.sort_by(|left, right| right.share().total_cmp(&left.share()));
    let differing: Vec<&Spread> = compared.iter().filter(|it| it.share() > WIRE_BYTES_TOLERATED).collect();
    let more = differing.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and in {more} more") } else { String::new() };
    let named: Vec<String> = differing.iter().take(MOST_NAMED).map(|it| it.words()).collect();
    let tolerated = amount(Quantity::Share, WIRE_BYTES_TOLERATED);
    match (compared.is_empty(), differing.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Equal(format!(
            "Responses took the same number of bytes on the wire for all, within {tolerated}, in {}.",
            counted(compared.len() as u64, "scenario")
        ))),
        (false, false) => Some(Unequal(format!(
            "Responses take different numbers of bytes on the wire, because headers and packets differ: {}{more}.",
            named.join("; ")
        ))),
    }
}

/// Subjects that close connections that clients would keep. Each costs both sides a handshake.
fn reconnects(entrants: &Entrants) -> Option<Said> {
    let closes = |entrant: &Entrant| {
        let pairs = entrant.cases.iter().zip(&entrant.row.scenarios);
        let rates = pairs.filter_map(|(entry, answers)| {
            let load = &entry.scenario?.load;
            let is_kept = load.connection == tolok_model::Connection::KeepAlive && entry.database().is_none();
            let (opened, held) = (answers.connections?, f64::from(load.connections_max()?));
            let good = entry.trials.trials().map(|trial| trial.ledger.good as f64).sum::<f64>();
            let per_trial = good / entry.trials.scored.len().max(1) as f64;
            Some(if is_kept && opened > held * CONNECTIONS_OPENED_TOLERATED {
                per_trial / opened
            } else {
                f64::INFINITY
            })
        });
        rates.reduce(f64::min).map(|rate| (entrant.title(), rate))
    };
    let known: Vec<(String, f64)> = entrants.competing.iter().filter_map(closes).collect();
    let closing: Vec<&(String, f64)> = known.iter().filter(|(_, rate)| rate.is_finite()).collect();
    let words = |(title, rate): &&(String, f64)| format!("{title} after {} answers", amount(Quantity::Number, *rate));
    match (known.is_empty(), closing.len()) {
        (true, _) => None,
        (false, 0) => Some(Equal("No server closed the connections that clients keep.".to_owned())),
        (false, all) if all == known.len() => None,
        _ => Some(Unequal(format!(
            "Connections that clients keep were closed by {}, on average; the others kept theirs. Each new one costs a handshake.",
            listed(&closing.iter().map(words).collect::<Vec<_>>(), "and")
        ))),
    }
}

/// Subjects that lack trials, because these failed or were disturbed.
fn trials(entrants: &Entrants) -> Option<Said> {
    let of = |entrant: &Entrant, of: fn(&Entry) -> u32| entrant.cases.iter().map(of).sum::<u32>();
    let lacking = entrants.competing.iter().filter(|it| of(it, |entry| entry.scored) < of(it, |entry| entry.planned));
    let words = |it: &Entrant| {
        format!("{} on {} of {}", it.title(), of(it, |entry| entry.scored), of(it, |entry| entry.planned))
    };
    let lacking: Vec<String> = lacking.map(words).collect();
    Some(if lacking.is_empty() {
        Equal("Every figure rests on all of its trials, one in every round, in shuffled order.".to_owned())
    } else {
        Unequal(format!("Figures do not rest on all trials: {}.", listed(&lacking, "and")))
    })
}

/// The limits of all cases of one table, or `None` if tolok started none of them.
fn limits(entrants: &Entrants) -> Option<Said> {
    let ours = || entrants.competing.iter().filter(|it| !it.is_external).map(|it| &it.row);
    let given = each_once(ours().flat_map(|row| row.given.iter().cloned()));
    let has_limit = ours().any(|row| !row.memory_limits_bytes.is_empty());
    let memory = if has_limit { "" } else { ", and no limit of memory" };
    let are_all = entrants.competing.iter().all(|it| !it.is_external);
    let all = if are_all { "All" } else { "All that tolok started" };
    let of_table = if are_all { "All that stand" } else { "All that tolok started and that stand" };
    match given.as_slice() {
        [] => None,
        [only] => Some(Equal(format!("{all} were given the same: {only}{memory}."))),
        several => {
            let several = several.join("; ");
            Some(Equal(format!("{of_table} in one table were given the same, one of: {several}{memory}.")))
        }
    }
}

/// What the records or this version do not show.
fn not_kept(entrants: &Entrants) -> Vec<Said> {
    let (external, ours): (Vec<&Entrant>, Vec<&Entrant>) = entrants.competing.iter().partition(|it| it.is_external);
    let external: Vec<String> = external.into_iter().map(Entrant::title).collect();
    let without_setup: Vec<String> =
        ours.into_iter().filter(|it| it.row.declared.is_empty()).map(Entrant::title).collect();
    let files: Vec<String> = each_once(entrants.rows().flat_map(|row| row.files.iter().cloned()));
    let is_settings = |file: &&String| [".conf", ".ini", ".cnf", ".cfg"].iter().any(|ending| file.ends_with(ending));
    let files: Vec<String> = files.iter().filter(is_settings).cloned().collect();
    let scenarios = || entrants.competing.iter().flat_map(|it| it.cases.iter().zip(&it.row.scenarios));
    let unread = scenarios().filter(|(entry, answers)| {
        entry.scenario.is_some() && entry.scored > 0 && answers.network_bytes_per_answer.is_none()
    });
    let asking = scenarios().any(|(entry, _)| entry.database().is_some());
    let sentences = [
        (!external.is_empty()).then(|| {
            format!("CPUs, limits and neighbours of servers that tolok did not start: {}.", listed(&external, "and"))
        }),
        (!without_setup.is_empty()).then(|| {
            format!("The run did not record how these are set up: {}.", listed(&without_setup, "and"))
        }),
        (!files.is_empty()).then(|| {
            format!("The run does not hold the files of settings ({}); the subjects’ folders do.", files.join(", "))
        }),
        (unread.count() > 0).then(|| {
            "Bytes on the wire were not read in every trial: that needs a server alone in its network namespace, or a tool that counts them.".to_owned()
        }),
        asking.then(|| {
            "With a database, the bytes of responses cannot be separated from those of statements and rows.".to_owned()
        }),
    ];
    sentences.into_iter().flatten().map(Unknown).collect()
}

/// A figure of several subjects in one scenario: its lowest and highest value, and the subjects with these.
struct Spread {
    scenario: String,
    low: f64,
    lowest: String,
    high: f64,
    highest: String,
}

impl Spread {
    /// How much the highest value exceeds the lowest, as a share.
    fn share(&self) -> f64 {
        if self.low > 0.0 { self.high / self.low - 1.0 } else { 0.0 }
    }

    fn words(&self) -> String {
        let Self { scenario, lowest, highest, .. } = self;
        let [low, high] = [self.low, self.high].map(|bytes| amount(Quantity::Bytes, bytes));
        let share = amount(Quantity::Share, self.share());
        format!("in {scenario} from {low} ({lowest}) to {high} ({highest}), {share} more")
    }
}

impl Entrants<'_> {
    fn rows(&self) -> impl Iterator<Item = &FairnessRow> {
        self.competing.iter().map(|entrant| &entrant.row)
    }

    /// A figure in every scenario in which at least two subjects have it.
    fn spread(&self, figure: impl Fn((&Entry, &FairnessAnswers)) -> Option<f64>) -> Vec<Spread> {
        let in_scenario = |scenario: &tolok_model::Scenario| {
            let figures = self.competing.iter().flat_map(|entrant| {
                let own = entrant.cases.iter().zip(&entrant.row.scenarios);
                let own = own.filter(|(entry, _)| entry.case.scenario == scenario.id);
                own.filter_map(|pair| Some((figure(pair)?, entrant.title()))).collect::<Vec<_>>()
            });
            let mut figures: Vec<(f64, String)> = figures.collect();
            figures.sort_by(|left, right| left.0.total_cmp(&right.0));
            let [(low, lowest), .., (high, highest)] = figures.as_slice() else { return None };
            let (lowest, highest) = (lowest.clone(), highest.clone());
            Some(Spread { scenario: scenario.id.clone(), low: *low, lowest, high: *high, highest })
        };
        let own_tool = |scenario: &&tolok_model::Scenario| scenario.tool.name == tolok_model::LoadTool::Tolok;
        self.records.plan.scenarios.iter().filter(own_tool).filter_map(in_scenario).collect()
    }
}

impl Entrant<'_> {
    fn title(&self) -> String {
        self.row.title.clone()
    }
}

/// `1`, or `1 to 3`.
fn range(numbers: impl Iterator<Item = u32> + Clone) -> String {
    let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
