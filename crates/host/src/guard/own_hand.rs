//! A tolok process that drops its own rights after it has opened the files that its program must not reach.
#![allow(unsafe_code, reason = "a descriptor that a process inherits is known by its number only")]

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;

use rustix::process::{DumpableBehavior, chdir, set_dumpable_behavior};
use serde::{Deserialize, Serialize};

use super::Guard;
use crate::isolate::enter_mounts;

/// What the init tells such a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SelfGuard {
    pub(crate) account: Option<u32>,
    /// The number of the inherited mount namespace for programs.
    pub(crate) view: Option<i32>,
}

impl SelfGuard {
    /// The environment variable that contains it.
    pub(crate) const VARIABLE: &str = "TOLOK_GUARD";

    /// What the init told this process, if anything.
    pub(crate) fn given() -> io::Result<Option<Self>> {
        let Ok(text) = std::env::var(Self::VARIABLE) else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text)?))
    }

    /// Drops the rights and continues in `folder`. Programs of the same account cannot look into this process.
    pub(crate) fn apply(self, folder: &Path) -> io::Result<()> {
        if let Some(number) = self.view {
            // SAFETY: the init made the descriptor for this process, and no other code here knows its number.
            let view = File::from(unsafe { OwnedFd::from_raw_fd(number) });
            let here = File::open(".")?;
            enter_mounts(&view, &here)?;
        }
        chdir(folder)?;
        Guard::of_own(self.account).apply()?;
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }
}
