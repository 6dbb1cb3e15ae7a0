//! Test support: servers that answer by a script or by the clock, fake `/proc` trees, tests in processes of their own,
//! and skips that are hard to overlook.
//!
//! Only tests depend on this crate. The fake clock is beside its trait, in `tolok_load::clock::ManualClock`.

mod event_server;
mod group_tree;
mod hiccups;
mod http2_server;
mod own_process;
mod proc_tree;
mod reply;
mod server;
mod skip;
mod stream;

pub use event_server::{EventServer, Log, Pattern};
pub use group_tree::{FakeGroups, FakeUsage};
pub use hiccups::Hiccups;
pub use http2_server::{Act, Http2Request, Http2Server};
pub use own_process::{is_own_process, run_in_own_process};
pub use proc_tree::{FakeProc, FakeProcess, FakeThread};
pub use reply::{Framing, Reply};
pub use server::{Request, ScriptedServer, read_head};
pub use skip::skip;
