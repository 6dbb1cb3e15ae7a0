//! k6: runs a script that the lab writes, or writes around a user's own, and reads k6's own summary.
//!
//! Tested with k6 1.8.1 and 0.57.0. Both give the same summary to a script's `handleSummary`.

mod objectives;
mod script;
mod summary;

use std::collections::BTreeMap;

use tolok_model::{LoadTool, Protocol};

use super::driver::{Borders, Driver, Invocation, LoadJob, NotUnderstood, ToolOutput, ToolReport};

/// The script's line on standard error about a millisecond before k6 starts its scenarios.
const BEGINS: &str = "tolok: the load begins";

/// The options that k6 gets in place of the user's own options file. A rate limit in that file would apply to every
/// script that does not set another.
const CONFIG: &str = "k6-config.json";

#[derive(Debug, Clone, Copy, Default)]
pub struct K6;

impl Driver for K6 {
    fn tool(&self) -> LoadTool {
        LoadTool::K6
    }

    fn invocation(&self, job: &LoadJob<'_>) -> Invocation {
        let load = &job.scenario.load;
        Invocation {
            files: script::files(job).into_iter().chain([(CONFIG.to_owned(), "{}\n".to_owned())]).collect(),
            warm_up: None,
            arguments: arguments(job),
            env: environment(job),
            // If a number of iterations ends the load, this is the longest it may last, and k6 ends earlier.
            borders: Borders::AfterLine {
                text: BEGINS.to_owned(),
                after_s: script::warmup_s(load),
                for_s: load.duration_s,
            },
        }
    }

    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood> {
        summary::report(output, job)
    }
}

/// Arguments of `k6`. With an empty address it opens no port of its own.
fn arguments(job: &LoadJob<'_>) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["run", "--quiet", "--no-color", "--no-usage-report", "--address=", "--config", CONFIG]
            .map(str::to_owned)
            .into();
    if job.scenario.tool.script.is_some() {
        let url = &job.url;
        arguments.extend(["-e".to_owned(), format!("TOLOK_URL={url}")]);
        arguments.extend(["-e".to_owned(), format!("TOLOK_BASE={}", base(url))]);
    }
    arguments.push(script::name(job).to_owned());
    arguments
}

/// Go's client chooses HTTP/2 whenever a server offers it with TLS.
fn environment(job: &LoadJob<'_>) -> BTreeMap<String, String> {
    let keeps_to_http1 = job.scenario.protocol == Protocol::Https;
    keeps_to_http1.then(|| ("GODEBUG".to_owned(), "http2client=0".to_owned())).into_iter().collect()
}

/// A URL without its path.
fn base(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |path| &url[..host + path])
}

#[cfg(test)]
mod tests;
