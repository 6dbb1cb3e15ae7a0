//! The command line.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use crate::BUILD;
use crate::planted::Planted;

/// How to serve.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// The only address to listen on.
    pub host: Ipv4Addr,
    /// Port; 0 lets the system choose.
    pub port: u16,
    /// Folder with the bodies of the answers.
    pub assets: PathBuf,
    /// Number of threads, each with its own listener and loop.
    pub threads: usize,
    /// Whether to answer each line on standard input with the current counts.
    pub counts: bool,
    /// Work and slowness that a benchmark plants.
    pub planted: Planted,
}

const USAGE: &str = "usage: ceiling [--host ADDRESS] --port N --assets DIR [--threads N] [--counts] [--steps N] \
     [--slowness SHARE] [--build NAME]";

/// Parses the arguments after the program's name.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let (mut host, mut port, mut assets, mut threads, mut counts) = (Ipv4Addr::LOCALHOST, None, None, 1, false);
    let mut planted = Planted::default();
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        if name == "--counts" {
            counts = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value; {USAGE}"))?;
        match name.as_str() {
            "--host" => host = value.parse().map_err(|_| format!("{name} {value} is not an IPv4 address; {USAGE}"))?,
            "--port" => port = Some(number(&name, &value)?),
            "--assets" => assets = Some(PathBuf::from(value)),
            "--threads" => threads = number(&name, &value)?,
            "--steps" => planted.steps = u32::from(number(&name, &value)?),
            "--build" if value == BUILD => {}
            "--build" => return Err(format!("this ceiling is the build {BUILD}, and not {value}")),
            "--slowness" => planted.slowness = Some(share(&name, &value)?),
            _ => return Err(format!("unknown argument {name}; {USAGE}")),
        }
    }
    match (port, assets) {
        (Some(port), Some(assets)) if threads > 0 => {
            Ok(Options { host, port, assets, threads: usize::from(threads), counts, planted })
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn number(name: &str, value: &str) -> Result<u16, String> {
    value.parse().map_err(|_| format!("{name} {value} is not a number from 0 to 65535; {USAGE}"))
}

fn share(name: &str, value: &str) -> Result<f64, String> {
    let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("{name} {value} is not a share from 0 to 1; {USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Result<Options, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read() {
        let options = check("--host 198.18.0.2 --port 8080 --assets /a --threads 4").unwrap();
        let host = Ipv4Addr::new(198, 18, 0, 2);
        assert_eq!(
            options,
            Options { host, port: 8080, assets: "/a".into(), threads: 4, counts: false, planted: Planted::default() }
        );
        assert_eq!(check("--port 1 --assets a").unwrap().host, Ipv4Addr::LOCALHOST, "this machine only by default");
        assert!(check("--counts --port 0 --assets a").unwrap().counts);
        assert_eq!(check("--assets a --port 0").unwrap().threads, 1);
        assert!(check(&format!("--build {BUILD} --port 0 --assets a")).is_ok());
        assert!(check("--build 0123 --port 0 --assets a").unwrap_err().contains(BUILD), "another program");
        let planted = check("--steps 9000 --slowness 0.03 --port 0 --assets a").unwrap().planted;
        assert_eq!(planted, Planted { steps: 9000, slowness: Some(0.03) });
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for line in [
            "",
            "--port 1",
            "--assets a",
            "--port x --assets a",
            "--port 1 --assets a --threads 0",
            "--port",
            "--x 1",
            "--port 1 --assets a --slowness -0.1",
            "--host localhost --port 1 --assets a",
        ] {
            assert!(check(line).is_err(), "{line}");
        }
    }
}
