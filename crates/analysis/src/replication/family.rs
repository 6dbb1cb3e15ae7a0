//! All judged ratios of a replication, as one family.

use std::collections::BTreeMap;

use tolok_model::transcription::Quantity;

use super::contrast::{Contrast, SMALLEST_SHARE};
use super::gauge::Scale;
use super::sites::Site;
use crate::findings::{Estimate, Verdict};
use crate::published::UNSURE;
use crate::verdict::{FALSE_ALARMS, adjusted, verdict};

/// Two cases, the quantity to compare them by, and what the comparison covers.
pub(super) type Wanted<'a> = (Site<'a>, Site<'a>, Quantity, Span);

/// What a comparison of two windows covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Span {
    /// The whole run of the source, so a window must be long enough to show the same.
    Window,
    /// The same seconds of the source.
    SameSeconds,
}

type Place = (String, String);

type Key = (Place, Place, Quantity, Span);

/// The comparison of two cases by one quantity, judged among all of the replication.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The first over the second, or for shares the first minus the second.
    pub(super) found: Estimate,
    pub(super) scale: Scale,
    /// *Faster* if the figure of the first is larger, whether larger is better or not.
    pub(super) verdict: Verdict,
    /// Why it is undecided, if it is.
    pub(super) why: Option<String>,
    /// Differences smaller than this fraction do not matter.
    pub(super) smallest_effect: f64,
}

/// All comparisons, each once.
#[derive(Debug)]
pub(super) struct Family {
    judged: BTreeMap<Key, Result<Judged, String>>,
}

impl Family {
    pub(super) fn of(wanted: &[Wanted]) -> Self {
        let mut contrasts: BTreeMap<Key, Result<Contrast, String>> = BTreeMap::new();
        for (a, b, measured, span) in wanted {
            let (a, b) = if place(a) <= place(b) { (a, b) } else { (b, a) };
            let key = (place(a), place(b), measured.clone(), *span);
            contrasts.entry(key).or_insert_with(|| Contrast::of(a, b, measured, *span));
        }
        let known = || contrasts.values().flatten();
        let differences = adjusted(known().map(|contrast| contrast.p).collect());
        let equivalences = adjusted(known().map(|contrast| contrast.p_equivalence).collect());
        let mut p = differences.into_iter().zip(equivalences);
        let judged = contrasts.into_iter().map(|(key, contrast)| {
            let judged = contrast.map(|contrast| judged(contrast, p.next().unwrap_or((None, None))));
            (key, judged)
        });
        Self { judged: judged.collect() }
    }

    /// The first against the second, or why they cannot be compared.
    pub(super) fn pair(&self, a: &Site, b: &Site, measured: &Quantity, span: Span) -> Result<Judged, String> {
        let is_turned = place(a) > place(b);
        let (first, second) = if is_turned { (b, a) } else { (a, b) };
        let found = self.judged.get(&(place(first), place(second), measured.clone(), span));
        let found = found.cloned().unwrap_or_else(|| Err("it was not asked for".to_owned()))?;
        Ok(if is_turned { found.turned() } else { found })
    }
}

fn place(site: &Site) -> Place {
    (site.part.to_owned(), site.case.id.clone())
}

fn judged(contrast: Contrast, (p, p_equivalence): (Option<f64>, Option<f64>)) -> Judged {
    let verdict = match contrast.scale {
        Scale::Ratio => verdict(&contrast.found, contrast.rule, p, p_equivalence),
        Scale::Difference => verdict_of_shares(&contrast.found, p, p_equivalence),
    };
    let is_unsure = verdict == Verdict::CannotTell;
    Judged {
        found: contrast.found,
        scale: contrast.scale,
        verdict,
        why: contrast.too_few.or_else(|| is_unsure.then(|| UNSURE.to_owned())),
        smallest_effect: contrast.rule.smallest_effect,
    }
}

/// Applies the rule of `verdict.rs` to a difference of two shares. [`SMALLEST_SHARE`] is what matters. An interval of at most
/// five times that to either side can show that no difference was found.
fn verdict_of_shares(found: &Estimate, p: Option<f64>, p_equivalence: Option<f64>) -> Verdict {
    let (Some(low), Some(high)) = (found.low, found.high) else { return Verdict::CannotTell };
    let is_sure = |p: Option<f64>| p.is_some_and(|p| p < FALSE_ALARMS);
    let is_large = found.value.abs() >= SMALLEST_SHARE;
    match () {
        () if is_sure(p) && is_large => {
            if found.value > 0.0 {
                Verdict::Faster
            } else {
                Verdict::Slower
            }
        }
        () if is_sure(p_equivalence) => Verdict::Equivalent,
        () if high - low <= 10.0 * SMALLEST_SHARE && (low <= 0.0 && high >= 0.0 || !is_large) => {
            Verdict::NoDifferenceFound
        }
        () => Verdict::CannotTell,
    }
}

impl Judged {
    fn turned(self) -> Self {
        let found = match self.scale {
            Scale::Ratio => self.found.turned(),
            Scale::Difference => self.found.falling(|difference| -difference),
        };
        Self { found, verdict: self.verdict.turned(), ..self }
    }
}
