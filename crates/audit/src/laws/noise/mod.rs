//! Noise: is a difference larger than the spread, and than what starting a program takes?
//!
//! - **Welch's test** of two subjects under one setting, from mean, standard deviation s and number of runs n:
//!   t = (m₁ − m₂) ÷ √(s₁² ÷ n₁ + s₂² ÷ n₂), with (v₁ + v₂)² ÷ (v₁² ÷ (n₁ − 1) + v₂² ÷ (n₂ − 1)) degrees of freedom,
//!   v = s² ÷ n. B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
//!   involved", *Biometrika* 34, 1947. It assumes that runs are independent; those of a list of repetitions and those of a
//!   timer of programs are taken to be, requests of one run are not. p values are adjusted by Holm (1979) over all pairs of the
//!   source. Rounding: the means are moved towards each other and the deviations up, each to the end of its rounding. Below 5%
//!   even so, the difference is larger than the spread. If it is not, nothing is contradicted: a difference that is not shown may
//!   still be there.
//! - **Without a spread** nothing tells a difference from noise; said of neighbours within 5% of each other.
//! - **A spread that is possible**: n values with mean m, the least a and the largest b have a sample variance
//!   s² ≤ n ÷ (n − 1) · (b − m)(m − a) (R. Bhatia and C. Davis, "A better bound on the variance", *American Mathematical Monthly*
//!   107, 2000), and as a and b are among them, s² ≥ ((b − m)² + (m − a)² + (a + b − 2m)² ÷ (n − 2)) ÷ n, because the others
//!   have least spread where they are all equal (÷ n and not n − 1, because a source may take either). Beyond that, with all rounding, is contradicted.
//! - **Start of a program**: below 5 ms hyperfine itself warns that times may be inaccurate, because it cannot measure the
//!   start of the shell, which it takes off, much more exactly than that (`MIN_EXECUTION_TIME` and its warnings).

mod possible;
mod start;
mod welch;

use tolok_model::transcription::Transcription;

use crate::AuditFinding;
use crate::laws::LawInfo;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Differences and noise",
    says: "A difference counts if it exceeds the spread, and the time to start a program.",
    needs: "figures of two subjects with their spread and number of runs",
    check,
};

/// Tests pairs, then spreads, then short times.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let pairs = welch::check(transcription);
    let pairs = pairs.into_iter().chain(welch::without_spread(transcription));
    pairs.chain(possible::check(transcription)).chain(start::check(transcription)).collect()
}
