//! The limit on open files: every connection needs a socket.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;

/// Files besides the sockets: standard streams, the event queue, files that the surrounding program has open.
const OTHERS: u64 = 64;

/// At least this many of the others are free for connections that are about to be closed.
const SURELY_ASIDE: u32 = 16;

/// Raises the soft limit to fit this many connections; fails if the hard limit is too low. Also makes as much room as possible for `aside`
/// connections that wait to be closed. Returns how many of those fit.
pub(crate) fn allow(connections: u32, aside: u32) -> Result<u32, LoadError> {
    let now = getrlimit(Resource::Nofile);
    let (limit, aside) = limit_for(now, connections, aside)?;
    if let Some(limit) = limit {
        let refused = |_| LoadError::OpenFiles { needed: needed(connections), limit: now.current.unwrap_or(u64::MAX) };
        setrlimit(Resource::Nofile, limit).map_err(refused)?;
    }
    Ok(aside)
}

/// Raises the soft limit to the hard limit, if that is allowed. Returns the limit then in force; `None` means no limit.
pub fn raise() -> Option<u64> {
    let now = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: now.maximum, maximum: now.maximum };
    if setrlimit(Resource::Nofile, raised).is_ok() { now.maximum } else { now.current }
}

/// Raises the soft limit to the hard limit. Returns how many connections fit, and how many fit aside, at most `aside`.
pub(crate) fn allow_most(aside: u32) -> (u32, u32) {
    let room = raise().unwrap_or(u64::MAX).saturating_sub(OTHERS);
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    let aside = if room / 8 > aside { aside } else { SURELY_ASIDE.min(aside) };
    (if aside > SURELY_ASIDE { room - aside } else { room }, aside)
}

fn needed(connections: u32) -> u64 {
    u64::from(connections) + OTHERS
}

/// The limit to set, if the present one is too low, and how many connections then fit aside. `None` as a limit means no limit.
fn limit_for(now: Rlimit, connections: u32, aside: u32) -> Result<(Option<Rlimit>, u32), LoadError> {
    let needed = needed(connections);
    let wanted = needed + u64::from(aside);
    let Some(soft) = now.current.filter(|soft| *soft < wanted) else { return Ok((None, aside)) };
    let limit = soft.max(now.maximum.map_or(wanted, |most| most.min(wanted)));
    if limit < needed {
        return Err(LoadError::OpenFiles { needed, limit });
    }
    let room = u32::try_from(limit - needed).unwrap_or(aside).max(SURELY_ASIDE.min(aside));
    Ok(((limit > soft).then_some(Rlimit { current: Some(limit), maximum: now.maximum }), room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(current: u64, maximum: u64) -> Rlimit {
        Rlimit { current: Some(current), maximum: Some(maximum) }
    }

    #[test]
    fn the_soft_limit_is_raised_only_when_it_must_and_may_be() {
        let raised = |now, connections, aside| {
            limit_for(now, connections, aside).map(|(limit, room)| (limit.and_then(|limit| limit.current), room))
        };
        assert_eq!(raised(limit(1024, 4096), 100, 256).unwrap(), (None, 256));
        assert_eq!(raised(limit(1024, 4096), 2_000, 0).unwrap(), (Some(2_064), 0));
        assert_eq!(raised(limit(1024, 4096), 2_000, 256).unwrap(), (Some(2_320), 256));
        assert_eq!(raised(limit(1024, 4096), 4_000, 256).unwrap(), (Some(4_096), 32));
        assert_eq!(raised(limit(4096, 4096), 4_032, 256).unwrap(), (None, 16));
        let error = raised(limit(1024, 4096), 10_000, 256).unwrap_err();
        assert!(matches!(error, LoadError::OpenFiles { needed: 10_064, limit: 4096 }), "{error}");
        assert_eq!(raised(Rlimit { current: None, maximum: None }, u32::MAX, 256).unwrap(), (None, 256));
    }
}
