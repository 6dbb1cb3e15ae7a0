//! The command line.

use std::path::PathBuf;

/// How to serve.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Port on 127.0.0.1; 0 lets the system choose.
    pub port: u16,
    /// Folder with the answers' bodies.
    pub assets: PathBuf,
    /// Number of threads, each with its own listener and loop.
    pub threads: usize,
    /// Answer each line on standard input with what was counted so far.
    pub counts: bool,
}

const USAGE: &str = "usage: ceiling --port N --assets DIR [--threads N] [--counts]";

/// Reads the arguments after the program's name.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let (mut port, mut assets, mut threads, mut counts) = (None, None, 1, false);
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        if name == "--counts" {
            counts = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value; {USAGE}"))?;
        match name.as_str() {
            "--port" => port = Some(number(&name, &value)?),
            "--assets" => assets = Some(PathBuf::from(value)),
            "--threads" => threads = number(&name, &value)?,
            _ => return Err(format!("unknown argument {name}; {USAGE}")),
        }
    }
    match (port, assets) {
        (Some(port), Some(assets)) if threads > 0 => {
            Ok(Options { port, assets, threads: usize::from(threads), counts })
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn number(name: &str, value: &str) -> Result<u16, String> {
    value.parse().map_err(|_| format!("{name} {value} is not a number from 0 to 65535; {USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Result<Options, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read() {
        let options = check("--port 8080 --assets /a --threads 4").unwrap();
        assert_eq!(options, Options { port: 8080, assets: "/a".into(), threads: 4, counts: false });
        assert!(check("--counts --port 0 --assets a").unwrap().counts);
        assert_eq!(check("--assets a --port 0").unwrap().threads, 1);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for line in
            ["", "--port 1", "--assets a", "--port x --assets a", "--port 1 --assets a --threads 0", "--port", "--x 1"]
        {
            assert!(check(line).is_err(), "{line}");
        }
    }
}
