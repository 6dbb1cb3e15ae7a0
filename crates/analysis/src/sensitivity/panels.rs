//! Scenarios that differ in only one factor, side by side.

use super::crossing::{Crossing, Scale, crossing};
use super::factor::Factor;
use super::profile::{Profile, fixed_words, workload_of};
use super::resampling::Resampling;
use super::sentence::panel_sentence;
use super::{Goodput, Records};
use crate::estimate::ratio_within_blocks;
use crate::findings::{
    CaseFinding, FactorCrossover, FactorLevel, FactorLine, FactorPanel, FactorPoint, ScenarioFinding, Verdict,
};

/// The scenarios of a panel, the lowest value of its factor first.
struct Group<'a> {
    factor: Factor,
    members: Vec<Member<'a>>,
}

/// A scenario with the value of the factor in it.
#[derive(Clone, Copy)]
struct Member<'a> {
    value: f64,
    profile: &'a Profile<'a>,
    finding: &'a ScenarioFinding,
}

/// Every panel with at least two values, by workload and then by factor.
pub(crate) fn panels(
    records: &Records,
    profiles: &[Profile],
    findings: &[ScenarioFinding],
    goodput: &Goodput,
) -> Vec<FactorPanel> {
    let groups = groups(profiles, findings);
    let mut resampling = Resampling::default();
    groups.iter().filter_map(|group| panel(records, group, &groups, goodput, &mut resampling)).collect()
}

/// Groups scenarios that differ in a single factor that has an axis.
fn groups<'a>(profiles: &'a [Profile<'a>], findings: &'a [ScenarioFinding]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for (profile, finding) in profiles.iter().zip(findings) {
        for (factor, setting) in &profile.settings {
            let Some(value) = setting.value else { continue };
            let member = Member { value, profile, finding };
            let is_own =
                |group: &&mut Group| group.factor == *factor && profile.differs_at_most_in(group.first(), factor);
            match groups.iter_mut().find(is_own) {
                None => groups.push(Group { factor: factor.clone(), members: vec![member] }),
                // Scenarios that differ only in their objectives are one level, represented by the first.
                Some(group) if group.members.iter().any(|it| it.value == value) => {}
                Some(group) => group.members.push(member),
            }
        }
    }
    groups.retain(|group| group.members.len() > 1);
    for group in &mut groups {
        group.members.sort_by(|left, right| left.value.total_cmp(&right.value));
    }
    let workloads: Vec<&str> = profiles.iter().map(|profile| profile.scenario.workload_name()).collect();
    let place = |group: &Group| {
        let own = group.first().scenario.workload_name();
        workloads.iter().position(|workload| *workload == own)
    };
    groups.sort_by(|left, right| place(left).cmp(&place(right)).then_with(|| left.factor.cmp(&right.factor)));
    groups
}

impl<'a> Group<'a> {
    fn first(&self) -> &'a Profile<'a> {
        self.members[0].profile
    }
}

fn panel(
    records: &Records,
    group: &Group,
    all: &[Group],
    goodput: &Goodput,
    resampling: &mut Resampling,
) -> Option<FactorPanel> {
    let lines = lines(group, goodput);
    let profiles: Vec<&Profile> = group.members.iter().map(|member| member.profile).collect();
    let workload = workload_of(&profiles);
    let beside = all.iter().filter(|it| it.factor == group.factor && it.first().is_of_workload(group.first()));
    let beside: Vec<&Profile> = beside.map(|it| it.first()).collect();
    let level = |member: &Member| FactorLevel {
        value: member.value,
        label: group.factor.label(member.value),
        scenario: member.finding.id.clone(),
    };
    let title = match group.members.iter().all(|member| member.finding.title == group.members[0].finding.title) {
        true => group.members[0].finding.title.clone(),
        false => records.names.workload(&workload),
    };
    let mut panel = FactorPanel {
        factor: group.factor.word(),
        title: group.factor.title(),
        unit: group.factor.unit().to_owned(),
        workload_title: title,
        workload,
        fixed: fixed_words(group.first(), &beside, |factor| *factor == group.factor),
        levels: group.members.iter().map(level).collect(),
        crossovers: crossovers(group, &lines, goodput, resampling),
        lines,
        sentence: String::new(),
    };
    panel.sentence = panel_sentence(&panel, &group.factor, records.plan.smallest_effect);
    (!panel.lines.is_empty()).then_some(panel)
}

/// Lines in the order of the last scenario's table. Subjects missing there come last.
fn lines(group: &Group, goodput: &Goodput) -> Vec<FactorLine> {
    let mut lines: Vec<FactorLine> = Vec::new();
    for case in group.members.iter().rev().flat_map(|member| &member.finding.cases) {
        if lines.iter().all(|line| line.subject != case.subject) {
            let points = points(group, &case.subject, goodput);
            let (subject, title, runtime) = (case.subject.clone(), case.title.clone(), case.runtime.clone());
            lines.push(FactorLine { subject, title, runtime, points });
        }
    }
    lines.retain(|line| line.points.len() > 1);
    lines
}

fn points(group: &Group, subject: &str, goodput: &Goodput) -> Vec<FactorPoint> {
    let lowest = ranked(&group.members[0], subject);
    let point = |(place, member): (usize, &Member)| {
        let case = ranked(member, subject)?;
        let below = lowest.filter(|_| place > 0);
        let ratio = below.and_then(|below| ratio_within_blocks(goodput.of(case), goodput.of(below)));
        Some(FactorPoint {
            value: member.value,
            goodput_rps: case.shown_goodput_rps()?.clone(),
            of_lowest: ratio.map(|found| found.ratio),
            limited_by: case.bottleneck.as_ref().map(|it| it.kind.words().to_owned()),
        })
    };
    group.members.iter().enumerate().filter_map(point).collect()
}

fn ranked<'a>(member: &Member<'a>, subject: &str) -> Option<&'a CaseFinding> {
    member.finding.cases.iter().find(|case| case.subject == subject && case.ranked)
}

/// Crossings of every pair of subjects between neighbouring levels at which both are ranked.
fn crossovers(
    group: &Group,
    lines: &[FactorLine],
    goodput: &Goodput,
    resampling: &mut Resampling,
) -> Vec<FactorCrossover> {
    // The same scale as the axis of the panel's chart.
    let scale = if group.members[0].value > 0.0 { Scale::Logarithmic } else { Scale::Even };
    let mut found = Vec::new();
    for (place, a) in lines.iter().enumerate() {
        for b in &lines[place + 1..] {
            let has_both =
                |member: &&Member| ranked(member, &a.subject).is_some() && ranked(member, &b.subject).is_some();
            let shared: Vec<&Member> = group.members.iter().filter(has_both).collect();
            let pairs = shared.windows(2);
            found.extend(pairs.filter_map(|both| crossover([a, b], [both[0], both[1]], scale, goodput, resampling)));
        }
    }
    found.sort_by(|left: &FactorCrossover, right| right.sure.cmp(&left.sure).then(left.at.total_cmp(&right.at)));
    found
}

fn crossover(
    [a, b]: [&FactorLine; 2],
    [below, above]: [&Member; 2],
    scale: Scale,
    goodput: &Goodput,
    resampling: &mut Resampling,
) -> Option<FactorCrossover> {
    let of = |member: &Member, line: &FactorLine| ranked(member, &line.subject).map(|case| goodput.of(case));
    let ratios = |member| Some(log_ratios(of(member, a)?, of(member, b)?));
    let both = ratios(below)?.into_iter().zip(ratios(above)?);
    let blocks: Vec<[f64; 2]> = both.filter_map(|(below, above)| Some([below?, above?])).collect();
    let between = (below.value, above.value);
    let Crossing { at, low, high } = crossing(between, scale, &blocks, resampling)?;
    let is_a = blocks.iter().map(|block| block[0]).sum::<f64>() > 0.0;
    let (first, second) = if is_a { (a, b) } else { (b, a) };
    Some(FactorCrossover {
        sure: is_faster(below.finding, first, second) && is_faster(above.finding, second, first),
        faster_below: first.subject.clone(),
        faster_above: second.subject.clone(),
        between,
        at,
        at_low: low,
        at_high: high,
    })
}

fn log_ratios(above: &[Option<f64>], below: &[Option<f64>]) -> Vec<Option<f64>> {
    let ratio = |(above, below): (&Option<f64>, &Option<f64>)| Some((above.as_ref()? / below.as_ref()?).ln());
    above.iter().zip(below).map(|both| ratio(both).filter(|ratio| ratio.is_finite())).collect()
}

/// Whether the first is faster by the scenario's own verdict.
fn is_faster(scenario: &ScenarioFinding, first: &FactorLine, second: &FactorLine) -> bool {
    scenario.comparisons.iter().any(|pair| match pair.verdict {
        Verdict::Faster => pair.a == first.subject && pair.b == second.subject,
        Verdict::Slower => pair.b == first.subject && pair.a == second.subject,
        Verdict::Equivalent | Verdict::NoDifferenceFound | Verdict::CannotTell => false,
    })
}
