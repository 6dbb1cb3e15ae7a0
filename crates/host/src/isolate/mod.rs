//! Where the processes of a trial run (in which box, with which control groups, namespaces and network, on which CPUs),
//! and how they are certain to end.
//!
//! [`TrialBox`] is the lab's side. [`keeper`] makes the box and holds it together; [`init`] is the first process in it.
//! [`run_link`] passes packets between its network namespaces.

mod channel;
mod congestion;
mod connect;
mod groups;
mod guards;
pub mod init;
mod iproute;
mod job;
pub mod keeper;
mod kill;
mod mounts;
mod namespace;
mod netem;
mod network;
mod numbers;
mod probe;
mod protocol;
mod requests;
mod run_files;
pub mod session_folder;
mod spawn;
mod spec;
mod sysctl;
mod topology;
mod trial_box;
mod wait;

pub use init::run_init;
pub use job::{NotForPeople, is_refusal, job_of, refuse as refuse_people};
pub use keeper::run_keeper;
pub use kill::{ignore_stop_signals, kill_trees};
pub use namespace::can_separate;
pub(crate) use namespace::enter_mounts;
pub use network::run_link;
pub use probe::run_namespace_probe;
pub use spawn::{Placement, place};
pub use spec::{
    Backend, BoxSpec, ExitReport, GroupsSpec, GuardSpec, Isolation, LinkBetween, NetworkSpec, ProcessSpec, RunFolder,
    Trust,
};
pub use tolok_link::LinkSpec;
pub use trial_box::{BoxError, TrialBox};
pub use wait::{end_within, readable_before, wait_within};
