//! The generators, and how each is told to put on a load. Nothing is run here.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The least any generator can do: built into this program.
    Floor,
    Tolok,
    /// wg/wrk.
    Wrk,
    /// giltene/wrk2, at a rate that nothing reaches.
    Wrk2,
    /// MDA2AV/gcannon.
    Gcannon,
    Ab,
    /// nghttp2's.
    H2load,
    /// rakyll/hey.
    Hey,
    /// hatoo/oha.
    Oha,
    K6,
}

/// What a generator is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub url: String,
    pub connections: u32,
    pub duration: Duration,
    pub keep_alive: bool,
    pub discards: bool,
    /// File with the body that answers must have.
    pub body: String,
    /// File with the script for those who want one.
    pub script: String,
}

/// More than anybody manages in a second: ab wants a number of requests also where it is told a time, and 50,000 is what it
/// takes otherwise.
const AB_REQUESTS_PER_SECOND: u64 = 1_000_000;

/// As wrk2 is told it, which knows no load without a rate.
const UNREACHED_RATE: &str = "-R10000000";

/// More of k6's virtual users could take all memory that there is.
const MOST_VIRTUAL_USERS: u32 = 2_000;

impl Tool {
    /// All, ours first.
    pub const ALL: [Tool; 10] = [
        Tool::Floor,
        Tool::Tolok,
        Tool::Wrk,
        Tool::Wrk2,
        Tool::Gcannon,
        Tool::Ab,
        Tool::H2load,
        Tool::Hey,
        Tool::Oha,
        Tool::K6,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Floor => "floor",
            Tool::Tolok => "tolok",
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
            Tool::Gcannon => "gcannon",
            Tool::Ab => "ab",
            Tool::H2load => "h2load",
            Tool::Hey => "hey",
            Tool::Oha => "oha",
            Tool::K6 => "k6",
        }
    }

    pub fn named(name: &str) -> Result<Tool, String> {
        let found = Tool::ALL.into_iter().find(|tool| tool.name() == name);
        found.ok_or_else(|| format!("the generators are {}", Tool::ALL.map(Tool::name).join(", ")))
    }

    /// It has a way to throw bodies away unseen, beside its usual way.
    pub fn can_discard(self) -> bool {
        matches!(self, Tool::Floor | Tool::Tolok | Tool::K6)
    }

    /// How long it runs when it is to run so long: some know whole seconds only.
    pub fn told(self, duration: Duration) -> Duration {
        match self {
            Tool::Wrk | Tool::Wrk2 | Tool::Gcannon | Tool::Ab | Tool::H2load => {
                Duration::from_secs(duration.as_secs_f64().ceil() as u64)
            }
            _ => duration,
        }
    }

    /// Its arguments, or why it cannot do that.
    pub fn arguments(self, job: &Job) -> Result<Vec<String>, &'static str> {
        let (url, count) = (job.url.as_str(), job.connections.to_string());
        let told = self.told(job.duration);
        let (whole, text) = (told.as_secs().to_string(), format!("{}ms", told.as_millis()));
        let words: Vec<&str> = match self {
            Tool::Floor => {
                let words = ["floor", url, "--connections", &count, "--milliseconds", text.trim_end_matches("ms")];
                [&words[..], when(job.discards, &["--discard"]), when(!job.keep_alive, &["--close"])].concat()
            }
            Tool::Tolok => {
                let words = ["load", url, "-c", &count, "-d", &text, "--format", "json"];
                let body = if job.discards { vec!["--discard"] } else { vec!["--expect-body", &job.body] };
                [&words[..], when(!job.keep_alive, &["--no-keepalive"]), &body].concat()
            }
            Tool::Wrk | Tool::Wrk2 => {
                let close = when(!job.keep_alive, &["-H", "Connection: close"]);
                let (count, seconds) = (format!("-c{count}"), format!("-d{whole}s"));
                let rate = when(self == Tool::Wrk2, &[UNREACHED_RATE]);
                return Ok(owned(&[&["-t1", &count, &seconds], rate, close, &[url]].concat()));
            }
            Tool::Gcannon => {
                let seconds = format!("{whole}s");
                let words = ["-t", "1", "-c", &count, "-d", &seconds, "--json"];
                return Ok(owned(&[&[url], when(!job.keep_alive, &["-r", "1"]), &words].concat()));
            }
            Tool::K6 if job.connections > MOST_VIRTUAL_USERS => {
                return Err("k6 takes megabytes for each virtual user");
            }
            Tool::Ab => {
                let most = (told.as_secs() * AB_REQUESTS_PER_SECOND).to_string();
                let words = ["-q", "-t", &whole, "-n", &most, "-c", &count, url];
                // The time goes before the number, or it would set the number back.
                return Ok(owned(&[when(job.keep_alive, &["-k"]), &words].concat()));
            }
            Tool::H2load if !job.keep_alive => return Err("h2load cannot open a connection for every request"),
            Tool::H2load => {
                return Ok(owned(&["--h1", "-t1", &format!("-c{count}"), &format!("-D{whole}"), url]));
            }
            Tool::Hey => {
                [&["-z", &text, "-c", &count][..], when(!job.keep_alive, &["-disable-keepalive"]), &[url]].concat()
            }
            Tool::Oha => {
                let words = ["--no-tui", "--output-format", "json", "-z", &text, "-c", &count];
                [&words[..], when(!job.keep_alive, &["--disable-keepalive"]), &[url]].concat()
            }
            Tool::K6 => vec!["run", "--quiet", "--no-color", "--no-usage-report", "--address", "", &job.script],
        };
        Ok(owned(&words))
    }

    /// The script that it is to run, if it runs scripts.
    pub fn script(self, job: &Job) -> Option<String> {
        (self == Tool::K6).then(|| {
            let Job { url, connections, discards, keep_alive, .. } = job;
            let (duration_ms, close) = (job.duration.as_millis(), !keep_alive);
            format!(
                "import http from 'k6/http';\n\
                 export const options = {{\n  \
                   discardResponseBodies: {discards}, noConnectionReuse: {close},\n  \
                   scenarios: {{ load: {{ executor: 'constant-vus', vus: {connections}, duration: '{duration_ms}ms' }} }},\n\
                 }};\n\
                 export default function () {{ http.get('{url}'); }}\n\
                 export function handleSummary(data) {{\n  \
                   const requests = data.metrics.http_reqs.values.count;\n  \
                   const failed = data.metrics.http_req_failed.values.passes;\n  \
                   return {{ stdout: JSON.stringify({{ requests, failed }}) + '\\n' }};\n\
                 }}\n"
            )
        })
    }

    /// What makes it tell its version, if anything does.
    pub fn version_arguments(self) -> Option<&'static [&'static str]> {
        match self {
            Tool::Floor | Tool::Hey | Tool::Gcannon => None,
            Tool::Tolok | Tool::H2load | Tool::Oha => Some(&["--version"]),
            Tool::Wrk | Tool::Wrk2 => Some(&["-v"]),
            Tool::Ab => Some(&["-V"]),
            Tool::K6 => Some(&["version"]),
        }
    }
}

fn when<'a>(condition: bool, words: &'a [&'a str]) -> &'a [&'a str] {
    if condition { words } else { &[] }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            url: "http://h/x".into(),
            connections: 64,
            duration: Duration::from_millis(2_500),
            keep_alive: true,
            discards: false,
            body: "BODY".into(),
            script: "SCRIPT".into(),
        }
    }

    fn check(tool: Tool, job: &Job, line: &str) {
        assert_eq!(tool.arguments(job).unwrap().join(" "), line, "{tool:?}");
    }

    #[test]
    fn everybody_is_told_to_keep_connections() {
        let job = job();
        check(Tool::Floor, &job, "floor http://h/x --connections 64 --milliseconds 2500");
        check(Tool::Tolok, &job, "load http://h/x -c 64 -d 2500ms --format json --expect-body BODY");
        check(Tool::Wrk, &job, "-t1 -c64 -d3s http://h/x");
        check(Tool::Wrk2, &job, "-t1 -c64 -d3s -R10000000 http://h/x");
        check(Tool::Gcannon, &job, "http://h/x -t 1 -c 64 -d 3s --json");
        check(Tool::Ab, &job, "-k -q -t 3 -n 3000000 -c 64 http://h/x");
        check(Tool::H2load, &job, "--h1 -t1 -c64 -D3 http://h/x");
        check(Tool::Hey, &job, "-z 2500ms -c 64 http://h/x");
        check(Tool::Oha, &job, "--no-tui --output-format json -z 2500ms -c 64 http://h/x");
        check(Tool::K6, &job, "run --quiet --no-color --no-usage-report --address  SCRIPT");
    }

    #[test]
    fn everybody_who_can_is_told_to_open_a_connection_for_every_request() {
        let job = Job { keep_alive: false, ..job() };
        check(Tool::Floor, &job, "floor http://h/x --connections 64 --milliseconds 2500 --close");
        check(Tool::Tolok, &job, "load http://h/x -c 64 -d 2500ms --format json --no-keepalive --expect-body BODY");
        check(Tool::Wrk, &job, "-t1 -c64 -d3s -H Connection: close http://h/x");
        check(Tool::Wrk2, &job, "-t1 -c64 -d3s -R10000000 -H Connection: close http://h/x");
        check(Tool::Gcannon, &job, "http://h/x -r 1 -t 1 -c 64 -d 3s --json");
        check(Tool::Ab, &job, "-q -t 3 -n 3000000 -c 64 http://h/x");
        check(Tool::Hey, &job, "-z 2500ms -c 64 -disable-keepalive http://h/x");
        check(Tool::Oha, &job, "--no-tui --output-format json -z 2500ms -c 64 --disable-keepalive http://h/x");
        assert!(Tool::H2load.arguments(&job).is_err());
        assert!(Tool::K6.arguments(&Job { connections: 10_000, ..job.clone() }).is_err());
        let script = Tool::K6.script(&job).unwrap();
        assert!(script.contains("discardResponseBodies: false, noConnectionReuse: true,"), "{script}");
    }

    #[test]
    fn discarding_is_asked_for_where_it_exists() {
        let job = Job { discards: true, ..job() };
        check(Tool::Tolok, &job, "load http://h/x -c 64 -d 2500ms --format json --discard");
        check(Tool::Floor, &job, "floor http://h/x --connections 64 --milliseconds 2500 --discard");
        let script = Tool::K6.script(&job).unwrap();
        assert!(script.contains("discardResponseBodies: true, noConnectionReuse: false,"), "{script}");
        assert!(script.contains("executor: 'constant-vus', vus: 64, duration: '2500ms'"), "{script}");
    }

    #[test]
    fn names_lead_back_to_their_generators() {
        assert!(Tool::ALL.into_iter().all(|tool| Tool::named(tool.name()) == Ok(tool)));
        assert!(Tool::named("siege").unwrap_err().contains("floor, tolok, wrk"));
    }
}
