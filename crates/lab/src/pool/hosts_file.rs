//! `hosts.toml`: written by `tolok pool init`, and read by the commands that use, watch and end a pool. It contains no secrets, and
//! nothing in it is run as a command.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::PoolError;

/// The format version of the file.
const FORMAT: u32 = 1;
/// Prefix of a pool's folder on each of its machines.
const FOLDER: &str = "/var/tmp/tolok-pool-";
/// More than a file with some thousand hosts needs.
const MOST_BYTES: u64 = 1 << 20;
const HEAD: &str = "# A pool of machines, written by `tolok pool init`. Use it: tolok run STUDY --on FILE. End it: tolok pool down FILE.\n";

/// A pool of machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsFile {
    pub format: u32,
    /// Identifies the pool: 16 hexadecimal digits.
    pub id: String,
    /// The version of tolok that made it.
    pub tolok: String,
    pub controller: Controller,
    pub host: Vec<Host>,
}

/// The machine of the controller, on which `tolok pool init` ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    pub name: String,
    pub address: String,
    /// The port of slurmctld. slurmd has the next one.
    pub port: u16,
}

/// A machine that runs rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name in Slurm.
    pub name: String,
    /// Its destination for ssh.
    pub ssh: String,
    pub address: String,
}

impl HostsFile {
    pub(super) fn new(id: String, controller: Controller, host: Vec<Host>) -> Self {
        Self { format: FORMAT, id, tolok: env!("CARGO_PKG_VERSION").to_owned(), controller, host }
    }

    pub fn read(path: &Path) -> Result<Self, PoolError> {
        let wrong = |why: String| PoolError::WrongFile { path: path.to_owned(), why };
        let advice = |error| wrong(format!("{error}; `tolok pool init HOST…` writes one"));
        let found = fs::metadata(path).map_err(advice)?;
        if !found.is_file() || found.len() > MOST_BYTES {
            return Err(wrong("it is no file that `tolok pool init` wrote".to_owned()));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(wrong)
    }

    fn parse(text: &str) -> Result<Self, String> {
        /// Read first, because a later format may have other keys.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let said = |error: toml::de::Error| error.message().to_owned();
        let Head { format } = toml::from_str(text).map_err(said)?;
        if format != FORMAT {
            return Err(format!("its format is {format}, and this tolok reads {FORMAT}; use the tolok that wrote it"));
        }
        let file: Self = toml::from_str(text).map_err(said)?;
        if file.id.len() != 16 || !file.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("`id` is not 16 hexadecimal digits".to_owned());
        }
        if file.host.is_empty() {
            return Err("it names no host".to_owned());
        }
        match file.host.iter().find(|host| !is_destination(&host.ssh) || !is_node_name(&host.name)) {
            Some(host) => Err(format!("`{}` is no host", host.ssh)),
            None => Ok(file),
        }
    }

    /// Writes a new file; an existing one is an error.
    pub(super) fn write(&self, path: &Path) -> Result<(), PoolError> {
        let failed = |why: String| PoolError::NotWritten { path: path.to_owned(), why };
        let text = toml::to_string(self).map_err(|error| failed(error.to_string()))?;
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let written = file.and_then(|mut file| file.write_all((HEAD.to_owned() + &text).as_bytes()));
        written.map_err(|error| failed(error.to_string()))
    }

    /// The pool's own folder on each of its machines.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(format!("{FOLDER}{}", self.id))
    }

    /// The configuration file for Slurm's client.
    pub fn slurm_conf(&self) -> PathBuf {
        self.folder().join("slurm.conf")
    }
}

/// Whether ssh would take a word as a host, not as an option.
pub(super) fn is_destination(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether slurm.conf can contain the name: other characters have a special meaning there.
pub(super) fn is_node_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_letter)
}

/// A pool of two hosts.
#[cfg(test)]
pub(super) fn example() -> HostsFile {
    let host = |name: &str, address: &str| Host {
        name: name.to_owned(),
        ssh: format!("root@{name}"),
        address: address.to_owned(),
    };
    let controller = Controller { name: "desk".to_owned(), address: "10.0.0.1".to_owned(), port: 16817 };
    HostsFile::new("0123456789abcdef".to_owned(), controller, vec![host("n1", "10.0.0.11"), host("n2", "10.0.0.12")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        example().write(&path).unwrap();
        assert_eq!(HostsFile::read(&path).unwrap(), example());
        assert!(fs::read_to_string(&path).unwrap().starts_with("# A pool"));
        assert!(example().write(&path).unwrap_err().to_string().contains("File exists"));
        assert_eq!(example().slurm_conf(), Path::new("/var/tmp/tolok-pool-0123456789abcdef/slurm.conf"));
    }

    #[test]
    fn a_file_that_says_something_else_is_refused_with_the_reason() {
        let whole = toml::to_string(&example()).unwrap();
        let refused = |from: &str, to: &str| HostsFile::parse(&whole.replacen(from, to, 1)).unwrap_err();
        assert!(refused("format = 1", "format = 2\nnew = 1").contains("use the tolok that wrote it"));
        assert!(refused("tolok =", "also = 1\ntolok =").contains("unknown field `also`"));
        assert!(refused("0123456789abcdef", "../../etc").contains("hexadecimal"));
        assert!(refused("root@n2", "-oProxyCommand=sh").contains("`-oProxyCommand=sh` is no host"));
    }
}
