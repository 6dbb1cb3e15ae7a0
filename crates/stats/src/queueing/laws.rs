//! The operational laws: identities between counts in any window, whatever the distributions.
//!
//! Source: Denning and Buzen 1978 (see the module above). Their error is due to the window's ends: jobs that are in
//! flight when it begins and when it ends.

/// Little's law, N = X · R: the mean number of jobs present.
pub fn jobs_present(throughput_rps: f64, residence_s: f64) -> f64 {
    throughput_rps * residence_s
}

/// The interactive response time law, R = N / X − Z, for users with a mean think time Z between two jobs.
pub fn response_time_s(users: f64, throughput_rps: f64, think_s: f64) -> f64 {
    users / throughput_rps - think_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laws_agree_with_each_other_on_one_window() {
        // 20 users who think for 1 s; in 10 s there were 100 jobs.
        let throughput_rps = 100.0 / 10.0;
        let response_s = response_time_s(20.0, throughput_rps, 1.0);
        assert_eq!(response_s, 1.0);
        assert_eq!(jobs_present(throughput_rps, response_s + 1.0), 20.0);
    }
}
