//! The lab as a guest in the control groups of a trial.

use crate::run::session::capabilities::Capabilities;
use tolok_host::group::{GUESTS, Group};
use tolok_host::isolate::TrialBox;

/// While it lives, the lab is in the trial's groups, so that neighbours who keep the machine busy do not keep it from reading
/// in time: the groups of a trial weigh as much as groups can, and the lab outside would weigh as little as one neighbour.
/// It must leave before the groups are removed.
#[derive(Debug)]
pub(in crate::run) struct CgroupMembership<'a> {
    capabilities: &'a Capabilities,
    group: Option<Group>,
}

impl<'a> CgroupMembership<'a> {
    /// Moves the lab; where the box has no group for it, it stays where it is.
    pub(in crate::run) fn enter(capabilities: &'a Capabilities, trial_box: &TrialBox) -> Self {
        let group = trial_box.group(GUESTS).cloned();
        // One that it cannot join may be half joined, and is left all the same.
        let _ = group.as_ref().map(Group::join);
        Self { capabilities, group }
    }
}

impl Drop for CgroupMembership<'_> {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            // Where it fails, the keeper cannot remove the lab's group, and the next session sweeps it up.
            let _ = self.capabilities.hierarchies().leave(group);
        }
    }
}
