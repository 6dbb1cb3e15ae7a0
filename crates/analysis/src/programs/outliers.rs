//! Runs that are far from the others of their trial.
//!
//! The rule is that of B. Iglewicz and D. Hoaglin ("How to Detect and Handle Outliers", 1993) with hyperfine's threshold. A run
//! is an outlier if it is more than 10 standard deviations from the median of its trial, estimated as 1.4826 times the median
//! absolute deviation (MAD). Two things are our own. The MAD is at least the timer's step, because equal readings of a coarse
//! timer do not prove that the program is steady. And fewer than five runs have no outliers, because their MAD means little.
//!
//! Outliers are counted and never removed: the program did take that time.

use tolok_model::ProgramTiming;
use tolok_stats::SD_OF_MAD;

use crate::estimate::middle;

/// A run is an outlier beyond this many standard deviations.
pub const OUTLIER_SD: f64 = 10.0;
/// With fewer runs than this, none is an outlier.
pub const FEWEST_RUNS_FOR_OUTLIERS: usize = 5;

/// Whether each run of a trial is an outlier, by its wall time.
pub(crate) fn outliers(timing: &ProgramTiming) -> Vec<bool> {
    let walls: Vec<f64> = timing.runs.iter().map(|run| run.wall_s).collect();
    let Some(median) = middle(&walls).filter(|_| walls.len() >= FEWEST_RUNS_FOR_OUTLIERS) else {
        return vec![false; walls.len()];
    };
    let off: Vec<f64> = walls.iter().map(|wall_s| (wall_s - median).abs()).collect();
    let mad = middle(&off).unwrap_or_default().max(timing.resolution_s);
    off.iter().map(|off| *off > OUTLIER_SD * SD_OF_MAD * mad).collect()
}

#[cfg(test)]
mod tests {
    use tolok_model::ProgramRun;

    use super::*;

    fn found(walls: &[f64], resolution_s: f64) -> Vec<bool> {
        let runs = walls.iter().map(|wall_s| ProgramRun { wall_s: *wall_s, ..ProgramRun::default() }).collect();
        outliers(&ProgramTiming { resolution_s, runs, ..ProgramTiming::default() })
    }

    #[test]
    fn a_run_is_an_outlier_beyond_ten_estimated_standard_deviations() {
        // The median is 1.00 and the MAD is 0.01, so the limit is 1.00 + 10 × 1.4826 × 0.01 = 1.14826.
        assert_eq!(found(&[0.99, 1.0, 1.0, 1.01, 0.99, 1.01, 1.148], 1e-9), [false; 7]);
        let far = found(&[0.99, 1.0, 1.0, 1.01, 0.99, 1.01, 1.149], 1e-9);
        assert_eq!(far, [false, false, false, false, false, false, true]);
        assert!(found(&[0.85, 0.99, 1.0, 1.0, 1.01, 0.99, 1.01], 1e-9)[0], "a fast run is an outlier too");
    }

    #[test]
    fn equal_readings_of_a_coarse_timer_make_no_outlier_of_the_next_step() {
        assert_eq!(found(&[0.02, 0.02, 0.02, 0.02, 0.03], 0.01), [false; 5]);
        assert!(found(&[0.02, 0.02, 0.02, 0.02, 0.20], 0.01)[4]);
    }

    #[test]
    fn of_four_runs_none_is_an_outlier() {
        assert_eq!(found(&[1.0, 1.0, 1.0, 90.0], 1e-9), [false; 4]);
    }
}
