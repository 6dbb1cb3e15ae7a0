//! What the init imposes on the processes that it starts: their view of the files, their account, and the rights they
//! give up.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};

use super::namespace::{enter_mounts, separate_mounts};
use super::protocol::InitJob;
use super::spawn::{Placement, hand_over};
use super::spec::{GuardSpec, ProcessSpec, Trust};
use crate::guard::{Accounts, Guard, SelfGuard, View};

#[derive(Debug)]
pub(super) struct Guards {
    accounts: Option<Accounts>,
    /// The mount namespace for programs.
    view: Option<OwnedFd>,
}

impl Guards {
    /// Makes the view if mounts are possible, and reports what is missing.
    pub(super) fn make(spec: &GuardSpec, job: &InitJob, can_mount: bool, fallbacks: &mut Vec<String>) -> Self {
        let made = can_mount.then(|| view(spec, job)).transpose();
        let view = made.unwrap_or_else(|error| {
            fallbacks.push(format!("The servers may look at, and write, what their account may ({error})"));
            None
        });
        Self { accounts: spec.accounts, view }
    }

    pub(super) fn view_number(&self) -> Option<i32> {
        self.view.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// The account that a process starts with, if it differs from the init's.
    pub(super) fn account(&self, spec: &ProcessSpec) -> Option<u32> {
        let accounts = self.accounts.filter(|_| spec.trust == Trust::Guarded)?;
        Some(accounts.of_part(&spec.part))
    }

    /// Prepares a process according to its trust.
    pub(super) fn put_on(
        &self,
        spec: &ProcessSpec,
        placement: &mut Placement,
        command: &mut Command,
    ) -> io::Result<()> {
        let account = self.accounts.map(|accounts| accounts.of_part(&spec.part));
        match spec.trust {
            Trust::Lab => {}
            Trust::Guarded => {
                placement.guard = Some(Guard::of(account));
                if let Some(number) = self.view_number() {
                    placement.namespaces.push(PathBuf::from(format!("/proc/self/fd/{number}")));
                    placement.folder = Some(spec.cwd.clone());
                }
            }
            Trust::GuardsItself => {
                let view = self.view.as_ref().map(OwnedFd::try_clone).transpose()?;
                let given = SelfGuard { account, view: view.as_ref().map(AsRawFd::as_raw_fd) };
                command.env(SelfGuard::VARIABLE, serde_json::to_string(&given)?);
                hand_over(command, view.into_iter().collect());
                placement.keeps_rights = true;
            }
        }
        Ok(())
    }
}

/// Makes the mount namespace for programs and returns to the own one.
fn view(spec: &GuardSpec, job: &InitJob) -> io::Result<OwnedFd> {
    let run_folder = job.run_folder.as_ref().map(|folder| folder.path.clone());
    let view = View {
        shown: spec.shown.clone(),
        hidden: spec.hidden.clone(),
        writable: ["/tmp", "/dev/shm", "/proc"].map(PathBuf::from).into_iter().chain(run_folder).collect(),
        other_account: spec.accounts.is_some(),
    };
    let here = open(Path::new("."), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let own = File::open("/proc/self/ns/mnt")?;
    separate_mounts()?;
    let made = view.make().and_then(|()| File::open("/proc/self/ns/mnt"));
    enter_mounts(&own, &here)?;
    Ok(made?.into())
}
