//! Moves the lab into the control groups of a trial.

use crate::run::session::capabilities::Capabilities;
use tolok_host::group::{GUESTS, Group};
use tolok_host::isolate::TrialBox;

/// While this exists, the lab is in the trial's groups, so that busy neighbours do not delay its readings. The groups of a trial
/// have the greatest possible weight; outside, the lab would weigh only as much as one neighbour.
/// It must leave before the groups are removed.
#[derive(Debug)]
pub(in crate::run) struct CgroupMembership<'a> {
    capabilities: &'a Capabilities,
    group: Option<Group>,
}

impl<'a> CgroupMembership<'a> {
    /// Moves the lab; if the box has no group for it, it stays where it is.
    pub(in crate::run) fn enter(capabilities: &'a Capabilities, trial_box: &TrialBox) -> Self {
        let group = trial_box.group(GUESTS).cloned();
        // A failed join may be a partial one, so the group is left all the same.
        let _ = group.as_ref().map(Group::join);
        Self { capabilities, group }
    }
}

impl Drop for CgroupMembership<'_> {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            // If this fails, the keeper cannot remove the lab's group, and the next session removes it.
            let _ = self.capabilities.hierarchies().leave(group);
        }
    }
}
