//! Kernel settings of this process's network namespace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a setting differs from the request: text that follows its name.
#[derive(Debug, thiserror::Error)]
pub(super) enum SysctlError {
    #[error("cannot be set here: {0}")]
    NotOurs(&'static str),
    #[error("cannot be set to {0:?} here: the kernel does not allow it")]
    NotPermitted(String),
    #[error("cannot be set to {value:?} here ({source})")]
    NotTaken { value: String, source: io::Error },
    #[error("was set to {value:?} and reads {found:?}")]
    Differs { value: String, found: String },
}

/// Sets one, and returns the value in force.
pub(super) fn set(key: &str, value: &str) -> Result<String, SysctlError> {
    let file = file(key)?;
    let not_taken = |source: io::Error| match source.kind() {
        io::ErrorKind::PermissionDenied => SysctlError::NotPermitted(value.to_owned()),
        _ => SysctlError::NotTaken { value: value.to_owned(), source },
    };
    fs::write(&file, value).map_err(not_taken)?;
    let found = in_words(&fs::read_to_string(&file).map_err(not_taken)?);
    if found == in_words(value) { Ok(found) } else { Err(SysctlError::Differs { value: value.to_owned(), found }) }
}

/// The file of a setting. Only network settings belong to a namespace; others would change the machine.
fn file(key: &str) -> Result<PathBuf, SysctlError> {
    let Some(rest) = key.strip_prefix("net.") else {
        return Err(SysctlError::NotOurs("only the settings below net. belong to a trial, all others to the machine"));
    };
    if rest.contains('/') || rest.split('.').any(str::is_empty) {
        return Err(SysctlError::NotOurs("it is not the name of a setting"));
    }
    let path = Path::new("/proc/sys/net").join(rest.replace('.', "/"));
    let missing = SysctlError::NotOurs("a network namespace of its own has no such setting");
    if path.exists() { Ok(path) } else { Err(missing) }
}

/// Blanks or tabs separate the numbers of a setting.
fn in_words(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_not_of_a_network_namespace_are_refused() {
        let check = |key: &str, expect: &str| {
            let error = set(key, "1").unwrap_err();
            assert_eq!(error.to_string(), format!("cannot be set here: {expect}"));
        };
        check("vm.swappiness", "only the settings below net. belong to a trial, all others to the machine");
        check("net.ipv4.no_such_thing", "a network namespace of its own has no such setting");
        check("net.ipv4..tcp_sack", "it is not the name of a setting");
        check("net.../../vm/swappiness", "it is not the name of a setting");
    }

    #[test]
    fn blanks_and_tabs_are_the_same() {
        assert_eq!(in_words("4096\t65536  131072\n"), "4096 65536 131072");
    }
}
