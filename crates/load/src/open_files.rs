//! The limit on open files: every connection needs a socket.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;

/// Files beside the sockets: standard streams, the event queue, what the program around the engine has open.
const OTHERS: u64 = 64;

/// Raises the soft limit as far as these many connections need, if the hard limit allows it.
pub(crate) fn allow(connections: u32) -> Result<(), LoadError> {
    let now = getrlimit(Resource::Nofile);
    match limit_for(now, connections)? {
        Some(limit) => {
            let refused =
                |_| LoadError::OpenFiles { needed: needed(connections), limit: now.current.unwrap_or(u64::MAX) };
            setrlimit(Resource::Nofile, limit).map_err(refused)
        }
        None => Ok(()),
    }
}

/// Raises the soft limit as far as it goes. Returns how many connections it has room for.
pub(crate) fn allow_most() -> u32 {
    let now = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: now.maximum, maximum: now.maximum };
    let current = if setrlimit(Resource::Nofile, raised).is_ok() { now.maximum } else { now.current };
    let room = current.unwrap_or(u64::MAX).saturating_sub(OTHERS);
    u32::try_from(room).unwrap_or(u32::MAX)
}

fn needed(connections: u32) -> u64 {
    u64::from(connections) + OTHERS
}

/// The limit to set, if the present one does not do. No number means no limit.
fn limit_for(now: Rlimit, connections: u32) -> Result<Option<Rlimit>, LoadError> {
    let needed = needed(connections);
    if now.current.is_none_or(|soft| soft >= needed) {
        return Ok(None);
    }
    match now.maximum {
        Some(limit) if limit < needed => Err(LoadError::OpenFiles { needed, limit }),
        maximum => Ok(Some(Rlimit { current: Some(needed), maximum })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(current: u64, maximum: u64) -> Rlimit {
        Rlimit { current: Some(current), maximum: Some(maximum) }
    }

    #[test]
    fn the_soft_limit_is_raised_only_when_it_must_and_may_be() {
        assert!(limit_for(limit(1024, 4096), 100).unwrap().is_none());
        assert_eq!(limit_for(limit(1024, 4096), 2_000).unwrap().unwrap().current, Some(2_064));
        let error = limit_for(limit(1024, 4096), 10_000).unwrap_err();
        assert!(matches!(error, LoadError::OpenFiles { needed: 10_064, limit: 4096 }), "{error}");
        assert!(limit_for(Rlimit { current: None, maximum: None }, u32::MAX).unwrap().is_none());
    }
}
