//! The words of a comparison's tables and lists.

use tolok_analysis::figures::{Figure, NONE, Quantity, amount, counted, figure, moment};
use tolok_analysis::{
    CaseChange, Change, ComparedSide, ControlShift, Difference, FigureChange, RunComparison, ScenarioChange,
};

/// A figure of a case.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) scenario: &'a ScenarioChange,
    pub(crate) case: &'a CaseChange,
    pub(crate) figure: &'a FigureChange,
}

/// All figures, or the essential ones: main figures, and others that changed.
pub(crate) fn lines(found: &RunComparison, is_all: bool) -> Vec<Line<'_>> {
    let all = found.figures().map(|(scenario, case, figure)| Line { scenario, case, figure });
    all.filter(|line| is_all || line.figure.is_main || line.has_changed()).collect()
}

impl Line<'_> {
    fn has_changed(&self) -> bool {
        !matches!(self.figure.verdict, None | Some(Change::Equivalent | Change::NoDifferenceFound | Change::CannotTell))
    }

    /// `goodput`, `p99`.
    pub(super) fn metric(&self) -> &'static str {
        self.figure.metric.title(self.scenario.kind)
    }

    /// `34.3k`
    pub(super) fn before(&self) -> String {
        self.amount(self.figure.before.as_ref().map(|estimate| estimate.value))
    }

    /// `32.1k`
    pub(super) fn after(&self) -> String {
        self.amount(self.figure.after.as_ref().map(|estimate| estimate.value))
    }

    fn amount(&self, value: Option<f64>) -> String {
        value.map_or_else(|| NONE.to_owned(), |value| amount(self.figure.metric.quantity(), value))
    }

    /// `0.94× (0.92–0.95)`
    pub(super) fn ratio(&self) -> Figure {
        match self.figure.ratio {
            Some(ratio) => figure(Quantity::Ratio, &ratio.estimate()),
            None => Figure { value: NONE.to_owned(), interval: None },
        }
    }

    /// `regression`, `not judged`.
    pub(super) fn verdict(&self) -> &'static str {
        self.figure.verdict.map_or("not judged", Change::words)
    }

    /// Why a figure is undecided or not judged. `None` if there is a verdict.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.case.not_judged.as_deref().or(self.figure.reason.as_deref())
    }
}

/// `2026-11-21-api-000001 · 2026-11-21 10:00:00 UTC · tolok 0.1.0 · 10 blocks`
pub(super) fn side(side: &ComparedSide) -> String {
    let blocks = counted(u64::from(side.blocks), "round");
    format!("{} · {} · tolok {} · {blocks}", side.id, moment(&side.started_at), side.tolok_version)
}

/// `JSON (json-c64): closed loop, 64 virtual users, keep-alive, 2s`
pub(super) fn heading(scenario: &ScenarioChange) -> String {
    let id = if scenario.id == scenario.id_after {
        scenario.id.clone()
    } else {
        format!("{}, then {}", scenario.id, scenario.id_after)
    };
    format!("{} ({id}): {}", scenario.title, scenario.load)
}

/// Facts about the machine in a scenario: its own shift, and the noise floor of each run.
pub(super) fn of_machine(scenario: &ScenarioChange) -> Vec<String> {
    let control = scenario.control.as_ref().map(|control| {
        let shift = |shift: &ControlShift| {
            let ratio = figure(Quantity::Ratio, &shift.ratio.estimate()).line();
            let remark = if shift.is_usable { "" } else { ", too wide to judge by" };
            format!("{} {ratio}{remark}", shift.metric.title(scenario.kind))
        };
        let shifts: Vec<String> = control.shifts.iter().map(shift).collect();
        format!("shift of the machine, by the ceiling {}: {}", control.title, shifts.join(" · "))
    });
    let no_control = scenario.no_control.as_ref().map(|reason| format!("shift of the machine: unknown ({reason})"));
    let floors = [("before", &scenario.noise_floor_before), ("after", &scenario.noise_floor_after)];
    let floor = floors
        .into_iter()
        .filter_map(|(when, floor)| Some(format!("noise floor {when}: {}", floor.as_ref()?.sentence)));
    control.into_iter().chain(no_control).chain(floor).collect()
}

/// `CPU model: Example CPU 3000 → Other CPU 9`, with the scenarios concerned.
pub fn difference(one: &Difference) -> String {
    let of = if one.scenarios.is_empty() { String::new() } else { format!(" ({})", one.scenarios.join(", ")) };
    format!("{}{of}: {} → {}", one.what, one.before, one.after)
}

/// `; runs of one side differ by 0.4% to 1.3%`: the standard deviation among runs of one side, over all judged figures.
fn between_runs(found: &RunComparison) -> String {
    let all = found.figures().filter_map(|(_, _, figure)| figure.between_runs);
    let ends = all.fold(None, |ends: Option<(f64, f64)>, one| {
        Some(ends.map_or((one, one), |(low, high)| (low.min(one), high.max(one))))
    });
    let share = |value| amount(Quantity::Share, value);
    ends.map(|(low, high)| format!("; runs of one side differ by {} to {}", share(low), share(high)))
        .unwrap_or_default()
}

/// How to read the table.
pub(super) fn legend(found: &RunComparison) -> String {
    let is_pair = found.before.len() + found.after.len() == 2;
    let values = format!("before and after are geometric means over {}", if is_pair { "trials" } else { "runs" });
    if found.tally.judged == 0 {
        return values;
    }
    format!(
        "{values}; the ratio has its own 95% interval{}. Verdicts are corrected for all {} (Holm); \
         differences below {} do not matter",
        if is_pair { String::new() } else { between_runs(found) },
        counted(u64::from(found.tally.judged), "judged figure"),
        amount(Quantity::Share, found.threshold)
    )
}
