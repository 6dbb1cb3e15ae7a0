//! CPU time of a request and of a run.
//!
//! CPU time per request = CPUs in use ÷ throughput (service demand, D = U ÷ X: Denning and Buzen 1978); a printed one
//! must equal that quotient. CPUs in use are at most the existing ones, with 5% for the reader's clock. For a program,
//! CPU time = share of a CPU × time.
//!
//! A lower share of CPU is not a lower cost: over a longer time, or with fewer answers, it is a higher one. Claims that
//! rely on shares are therefore compared with CPU times, if those follow from the figures.

mod claims;

use tolok_model::transcription::{Figure, Moment, Quantity, Row, Transcription, Unit};

use crate::draft::{Draft, Lacks, OfRow, folded};
use crate::finding::{AuditFinding, Input};
use crate::groups::comparable;
use crate::laws::{Law, LawInfo};
use crate::range::Range;
use crate::rows::{self, Companions, Known};
use crate::wording;

/// Tolerance for CPU use sampled at intervals, as a share.
const SAMPLING: f64 = 0.05;

/// A program that computes uses more than this share of its CPU.
const BUSY: f64 = 0.5;

/// Shorter programs, in seconds, mostly start, which waits for the disk.
const LONG_S: f64 = 1.0;

pub(super) const LAW: LawInfo = LawInfo {
    title: "CPU time",
    says: "CPU time of a request = CPUs in use ÷ throughput, and no subject uses more CPUs than there are.",
    needs: "CPU use beside throughput, or CPU time per request",
    check,
};

/// Checks CPU in use against CPUs, and printed CPU times against computed ones.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let companions = Companions::of(&transcription.rows);
    let mut lacks = Lacks::new(Law::CpuTime, "CPU time of a request = CPUs in use ÷ throughput.");
    let (mut within, mut findings) = (Vec::new(), Vec::new());
    for row in &transcription.rows {
        let Some((figure, _)) = rows::cpu_figure(row) else { continue };
        match rows::cpus_in_use(row, figure) {
            Ok(cpus) => {
                within.extend(at_most_all(transcription, row, &cpus));
                findings.extend(more_than_workers(transcription, row, &cpus));
                findings.extend(of_a_request(transcription, &companions, row, &cpus));
            }
            // A program's share of CPU is by convention of one CPU, and its times need no throughput.
            Err(missing) if program_time(&companions, row).is_none() => {
                lacks.note(row.table.as_ref(), missing, [Input::of_row(row, figure)]);
            }
            Err(_) => {}
        }
    }
    note_series(transcription, &mut lacks);
    findings.extend(shares_that_mislead(transcription, &companions));
    findings.extend(waiting(transcription, &companions));
    findings.extend(claims::check(transcription, &companions));
    findings.extend(lacks.findings(transcription));
    folded(within).into_iter().chain(findings).collect()
}

/// Notes series of CPU shares that cannot be converted to CPUs.
fn note_series(transcription: &Transcription, lacks: &mut Lacks) {
    for series in transcription.series.iter().filter(|series| series.conditions.cpu_scope.is_none()) {
        let is_share = |figure: &&Figure| matches!(figure.quantity, Quantity::Cpu(_)) && figure.unit == Unit::Percent;
        for figure in series.figures.iter().filter(is_share) {
            let missing = "whether the CPU percentage is of one CPU or of the machine";
            lacks.note(series.table.as_ref(), missing, [Input::of_series(series, figure)]);
        }
    }
}

/// No subject uses more CPUs than it has.
fn at_most_all(transcription: &Transcription, row: &Row, cpus: &Known) -> Option<OfRow> {
    let there_are = row.conditions.subject_cpus?;
    let (used, all) = (wording::number(cpus.value), wording::number(there_are));
    let draft = Draft::new(Law::CpuTime, transcription.row_name(row), "No more CPUs are in use than there are.")
        .inputs(cpus.inputs.clone())
        .condition(row, "CPUs of the subject", all.clone())
        .arithmetic(format!("CPUs in use: {used}; CPUs there are: {all}"));
    let finding = if cpus.range.low > there_are * (1.0 + SAMPLING) {
        draft.contradicted(format!("More CPUs are in use ({used}) than there are ({all})."))
    } else {
        draft.holds(format!("No more CPUs are in use ({used}) than there are ({all})."))
    };
    Some(OfRow { table: row.table.clone(), closeness: cpus.value / there_are, finding })
}

/// Reports more CPUs than the stated workers could use with one thread each.
fn more_than_workers(transcription: &Transcription, row: &Row, cpus: &Known) -> Option<AuditFinding> {
    let workers = row.conditions.subject_workers? as f64;
    if cpus.range.low <= workers * (1.0 + SAMPLING) {
        return None;
    }
    let (used, served) = (wording::number(cpus.value), wording::number(workers));
    let serving =
        if workers == 1.0 { "1 process or thread is".to_owned() } else { format!("{served} processes or threads are") };
    let draft =
        Draft::new(Law::CpuTime, transcription.row_name(row), "The CPUs in use are those of the workers stated.")
            .inputs(cpus.inputs.clone())
            .condition(row, "workers of the subject", served.clone())
            .arithmetic(format!("{used} CPUs in use; {served} stated to serve"))
            .inferring(Some(
                "Either more processes served than stated, or one of them had several threads at work.".to_owned(),
            ));
    let sentence = format!("{serving} stated to serve, and {used} CPUs were in use; a thread uses one at most.");
    Some(draft.lacks(["how many threads served"]).cannot_tell(sentence))
}

/// CPU time of a request: checks the printed one, or computes it.
fn of_a_request<'a>(
    transcription: &Transcription,
    companions: &Companions<'a>,
    row: &'a Row,
    cpus: &Known,
) -> Option<AuditFinding> {
    let (other, _) = companions.find(row, &Quantity::Throughput).unzip();
    let throughput =
        rows::throughput(row).or_else(|| other.and_then(rows::throughput)).filter(|known| known.value > 0.0)?;
    let is_peak = rows::cpu_figure(row).is_some_and(|(_, moment)| moment == Moment::Max);
    let x = wording::per_second(throughput.value);
    let request = cpus.clone().over(throughput);
    let computed = wording::seconds(request.value);
    let statement = "CPU time of a request = CPUs in use ÷ throughput.";
    let draft = Draft::new(Law::CpuTime, transcription.row_name(row), statement).inputs(request.inputs.clone());
    let arithmetic = format!("{} CPUs ÷ {x} = {computed}", wording::number(cpus.value));
    let Some(printed) = row.figure(&Quantity::CpuPerRequest) else {
        let most = if is_peak { "at most " } else { "" };
        return Some(draft.arithmetic(arithmetic).holds(format!("A request took {most}{computed} of CPU time.")));
    };
    let is_share = printed.unit == Unit::Percent;
    let computed_s = if is_share { format!(" ({})", wording::seconds(printed.value())) } else { String::new() };
    let text = format!("{}{computed_s}", wording::quoted(printed));
    let draft = draft.figure(row, printed).arithmetic(format!("{arithmetic}; printed {text}"));
    let fits = is_peak || request.range.meets(Range::of(printed).widened(0.005));
    Some(if fits {
        draft.holds(format!("The CPU time of a request is as printed: {computed}."))
    } else {
        draft.contradicted(format!("CPU in use and throughput make {computed} a request, and not {text}."))
    })
}

/// The mean time of the program that a row's share of CPU is about.
fn program_time<'a>(companions: &Companions<'a>, row: &'a Row) -> Option<(&'a Row, Known)> {
    let means = [Quantity::Time(Moment::Mean), Quantity::Time(Moment::Whole)];
    means.iter().find_map(|quantity| {
        let (other, figure) = companions.find(row, quantity)?;
        Some((other, Known::printed(other, figure)))
    })
}

/// CPU time of a program's run.
fn program_cpu<'a>(companions: &Companions<'a>, row: &'a Row) -> Option<Known> {
    let (figure, _) = rows::cpu_figure(row)?;
    let share = rows::cpus_in_use(row, figure).unwrap_or_else(|_| Known::printed(row, figure));
    program_time(companions, row).map(|(_, time)| share.times(time))
}

/// The first two programs of which one has the lower share of CPU but more CPU time.
fn first_flip<'p, 'r>(programs: &'p [Program<'r>]) -> Option<(&'p Program<'r>, &'p Program<'r>)> {
    let flips = |a: &Program, b: &Program| b.1.is_above(a.1) && a.2.range.is_above(b.2.range);
    // The least CPU time among the programs with the largest shares. It shows whether a program has a partner without
    // trying all.
    let mut by_share: Vec<&Program> = programs.iter().collect();
    by_share.sort_by(|a, b| b.1.low.total_cmp(&a.1.low));
    let mut least = f64::INFINITY;
    let least: Vec<f64> = by_share
        .iter()
        .map(|program| {
            least = least.min(program.2.range.high);
            least
        })
        .collect();
    let has_partner = |a: &&Program| {
        let above = by_share.partition_point(|b| b.1.is_above(a.1));
        above > 0 && a.2.range.low > least[above - 1]
    };
    let a = programs.iter().find(has_partner)?;
    programs.iter().find(|b| flips(a, b)).map(|b| (a, b))
}

/// One finding for all programs that used less than half of a CPU.
fn waiting<'a>(transcription: &'a Transcription, companions: &Companions<'a>) -> Option<AuditFinding> {
    let of = |row: &'a Row| {
        let (share, (_, time)) = (rows::cpu_figure(row)?.0, program_time(companions, row)?);
        let waits = Range::of(share).high < BUSY && time.range.low > LONG_S;
        waits.then_some((row, share, time))
    };
    let all: Vec<(&Row, &Figure, Known)> = transcription.rows.iter().filter_map(of).collect();
    let (row, share, time) = all.iter().min_by(|a, b| a.1.value().total_cmp(&b.1.value()))?;
    let name = transcription.row_name(row);
    let terms = all.iter().map(|(row, share, _)| format!("{} {}", transcription.row_name(row), wording::quoted(share)));
    let draft = Draft::new(Law::CpuTime, name.clone(), "A program that computes uses its CPU throughout.")
        .figures(all.iter().map(|(row, share, _)| (*row, *share)))
        .arithmetic(terms.collect::<Vec<_>>().join("; "));
    Some(draft.lacks(["what the program waited for: memory, the disk, or other programs"]).cannot_tell(format!(
        "{name} used {} of a CPU, so it stood still for most of its {}.",
        wording::quoted(share),
        wording::seconds(time.value)
    )))
}

/// A program of a setting: its row, its share of CPU, and its CPU time.
type Program<'r> = (&'r Row, Range, Known);

/// One finding for the tables in which a lower share of CPU means more CPU time.
fn shares_that_mislead<'a>(transcription: &'a Transcription, companions: &Companions<'a>) -> Option<AuditFinding> {
    let mut settings = 0;
    let mut misled: Vec<(String, Known, Known)> = Vec::new();
    for group in comparable(transcription) {
        let programs: Vec<Program> = group
            .rows
            .iter()
            .filter_map(|&row| Some((row, Range::of(rows::cpu_figure(row)?.0), program_cpu(companions, row)?)))
            .collect();
        settings += usize::from(programs.len() > 1);
        misled.extend(first_flip(&programs).map(|(a, b)| {
            (format!("{} against {}", transcription.row_name(a.0), b.0.subject), a.2.clone(), b.2.clone())
        }));
    }
    let (first, more, less) = misled.first()?;
    let terms: Vec<String> = misled
        .iter()
        .map(|(name, more, less)| {
            format!("{name}: {} and {}", wording::seconds(more.value), wording::seconds(less.value))
        })
        .collect();
    let sentence = format!(
        "In {} of {settings} settings the one with the lower share of CPU used more CPU time, if the shares hold for the times printed (for instance {first}: {} and {}); so a share alone does not show who needs less CPU.",
        misled.len(),
        wording::seconds(more.value),
        wording::seconds(less.value)
    );
    let inputs: Vec<Input> = misled.iter().flat_map(|(_, a, b)| a.inputs.iter().chain(&b.inputs)).cloned().collect();
    let draft =
        Draft::new(Law::CpuTime, "shares of CPU and times", "A lower share of CPU is less CPU time.").inputs(inputs);
    Some(
        draft
            .arithmetic(format!("share × time: {}", terms.join("; ")))
            .lacks(["CPU time and time of the same runs"])
            .cannot_tell(sentence),
    )
}
