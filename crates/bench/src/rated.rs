//! The generators that can be given a rate, and how each is told. Nothing is run here.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::tool::Tool;

/// A generator in one of its ways of keeping a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rated {
    Tolok {
        /// How it waits for an instant.
        timer: &'static str,
        arrivals: Arrivals,
    },
    Oha {
        corrected: bool,
    },
    /// A rate for each of its workers.
    Hey,
    /// Arrivals, each of which needs a free virtual user.
    K6 {
        /// As many from the start as there may ever be.
        vus: u32,
    },
    /// Has no rate, and takes part for the record.
    Wrk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    Uniform,
    /// At random, as independent users come.
    Poisson,
}

/// What a generator with a rate is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedJob {
    pub url: String,
    pub connections: u32,
    pub duration: Duration,
    /// Requests a second.
    pub rate_rps: u32,
    /// File with the script for those who want one.
    pub script: String,
}

/// How tolok waits for an instant, as it names it.
pub const TIMERS: [&str; 3] = ["sleep", "hybrid", "spin"];

impl Rated {
    pub fn tool(self) -> Tool {
        match self {
            Rated::Tolok { .. } => Tool::Tolok,
            Rated::Oha { .. } => Tool::Oha,
            Rated::Hey => Tool::Hey,
            Rated::K6 { .. } => Tool::K6,
            Rated::Wrk => Tool::Wrk,
        }
    }

    /// How it works, after its name and version.
    pub fn way(self) -> String {
        match self {
            Rated::Tolok { timer, arrivals: Arrivals::Uniform } => timer.to_owned(),
            Rated::Tolok { timer, arrivals: Arrivals::Poisson } => format!("{timer}, Poisson"),
            Rated::Oha { corrected: false } => "-q".to_owned(),
            Rated::Oha { corrected: true } => "-q, --latency-correction".to_owned(),
            Rated::Hey => "-q for each worker".to_owned(),
            Rated::K6 { vus } => format!("constant-arrival-rate, {vus} VUs"),
            Rated::Wrk => "closed loop, no rate".to_owned(),
        }
    }

    /// Its name, and how it works.
    pub fn label(self) -> String {
        format!("{} ({})", self.tool().name(), self.way())
    }

    /// How long it runs when it is to run so long.
    pub fn told(self, duration: Duration) -> Duration {
        self.tool().told(duration)
    }

    pub fn arguments(self, job: &RatedJob) -> Vec<String> {
        let told = self.told(job.duration);
        let (count, rate, text) =
            (job.connections.to_string(), job.rate_rps.to_string(), format!("{}ms", told.as_millis()));
        let url = job.url.as_str();
        let words: Vec<&str> = match self {
            Rated::Tolok { timer, arrivals } => {
                let mut words = vec!["load", url, "--rate", &rate, "-c", &count, "-d", &text, "--timer", timer];
                words.extend(["--grace", "5s", "--format", "json"]);
                words.extend((arrivals == Arrivals::Poisson).then_some(["--arrivals", "poisson"]).iter().flatten());
                words
            }
            Rated::Oha { corrected } => {
                let mut words = vec!["--no-tui", "--output-format", "json", "-q", &rate, "-z", &text, "-c", &count];
                words.extend(corrected.then_some("--latency-correction"));
                words.push(url);
                words
            }
            Rated::Hey => {
                let each = (f64::from(job.rate_rps) / f64::from(job.connections)).to_string();
                return owned(&["-z", &text, "-c", &count, "-q", &each, url]);
            }
            Rated::K6 { .. } => {
                vec!["run", "--quiet", "--no-color", "--no-usage-report", "--address", "", &job.script]
            }
            Rated::Wrk => {
                let (count, seconds) = (format!("-c{count}"), format!("-d{}s", told.as_secs()));
                return owned(&["-t1", &count, &seconds, "--latency", url]);
            }
        };
        owned(&words)
    }

    /// The script that it is to run, if it runs scripts.
    pub fn script(self, job: &RatedJob) -> Option<String> {
        let Rated::K6 { vus } = self else { return None };
        let (url, rate, duration_ms) = (&job.url, job.rate_rps, job.duration.as_millis());
        Some(format!(
            "import http from 'k6/http';\n\
             export const options = {{\n  \
               summaryTrendStats: ['med', 'p(99)', 'p(99.9)', 'max'],\n  \
               scenarios: {{ load: {{ executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s',\n    \
                 duration: '{duration_ms}ms', preAllocatedVUs: {vus}, maxVUs: {vus} }} }},\n\
             }};\n\
             export default function () {{ http.get('{url}'); }}\n\
             export function handleSummary(data) {{\n  \
               const requests = data.metrics.http_reqs.values.count;\n  \
               const failed = data.metrics.http_req_failed.values.passes;\n  \
               const latency_ms = data.metrics.http_req_duration.values;\n  \
               return {{ stdout: JSON.stringify({{ requests, failed, latency_ms }}) + '\\n' }};\n\
             }}\n"
        ))
    }
}

impl Serialize for Rated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.label())
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> RatedJob {
        RatedJob {
            url: "http://h/x".into(),
            connections: 64,
            duration: Duration::from_millis(2_500),
            rate_rps: 2000,
            script: "SCRIPT".into(),
        }
    }

    fn check(rated: Rated, line: &str) {
        assert_eq!(rated.arguments(&job()).join(" "), line);
    }

    #[test]
    fn everybody_is_told_the_rate_in_its_own_words() {
        let tolok = "load http://h/x --rate 2000 -c 64 -d 2500ms --timer spin --grace 5s --format json";
        check(Rated::Tolok { timer: "spin", arrivals: Arrivals::Uniform }, tolok);
        let poisson = format!("{tolok} --arrivals poisson");
        check(Rated::Tolok { timer: "spin", arrivals: Arrivals::Poisson }, &poisson);
        let oha = "--no-tui --output-format json -q 2000 -z 2500ms -c 64";
        check(Rated::Oha { corrected: false }, &format!("{oha} http://h/x"));
        check(Rated::Oha { corrected: true }, &format!("{oha} --latency-correction http://h/x"));
        // 31.25 for each of 64 workers is 2000.
        check(Rated::Hey, "-z 2500ms -c 64 -q 31.25 http://h/x");
        check(Rated::Wrk, "-t1 -c64 -d3s --latency http://h/x");
        check(Rated::K6 { vus: 64 }, "run --quiet --no-color --no-usage-report --address  SCRIPT");
    }

    #[test]
    fn only_k6_has_a_script_and_it_holds_the_rate() {
        let script = Rated::K6 { vus: 1200 }.script(&job()).unwrap();
        for words in ["rate: 2000, timeUnit: '1s'", "duration: '2500ms', preAllocatedVUs: 1200, maxVUs: 1200"] {
            assert!(script.contains(words), "{words:?} in {script}");
        }
        assert_eq!(Rated::Hey.script(&job()), None);
    }
}
