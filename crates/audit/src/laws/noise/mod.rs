//! Noise: is a difference larger than the spread, and than the time to start a program?
//!
//! - **Welch's test** of two subjects in one setting, from mean, standard deviation s and number of runs n: t = (m₁ −
//!   m₂) ÷ √(s₁² ÷ n₁ + s₂² ÷ n₂), with (v₁ + v₂)² ÷ (v₁² ÷ (n₁ − 1) + v₂² ÷ (n₂ − 1)) degrees of freedom, v = s² ÷ n.
//!   B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
//!   *Biometrika* 34, 1947. It assumes independent runs. Repetitions in a list and runs of a timer of programs count as
//!   independent; requests of one run do not. p values are adjusted by Holm (1979) over all pairs of the source.
//!   Rounding: the means move towards each other and the deviations up, each to the end of its rounding. If p is below
//!   5% even then, the difference is larger than the spread. Otherwise nothing is contradicted: a difference that is
//!   not shown may still exist.
//! - **Without a spread**, nothing distinguishes a difference from noise. Reported for neighbours within 5% of each
//!   other.
//! - **A possible spread**: n values with mean m, minimum a and maximum b have a sample variance s² ≤ n ÷ (n − 1) · (b
//!   − m)(m − a) (R. Bhatia and C. Davis, "A better bound on the variance", *American Mathematical Monthly* 107, 2000).
//!   Because a and b are among them, s² ≥ ((b − m)² + (m − a)² + (a + b − 2m)² ÷ (n − 2)) ÷ n: the others have the
//!   least spread if they are all equal. This divides by n rather than n − 1, because a source may use either. A spread
//!   outside these bounds, with all rounding, is contradicted.
//! - **Start of a program**: below 5 ms, hyperfine itself warns that times may be inaccurate. It subtracts the start of
//!   the shell, which it cannot measure much more exactly than that (`MIN_EXECUTION_TIME` and its warnings).

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
