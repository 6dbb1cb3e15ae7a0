//! Parts for tests: a server that answers by a script, fake `/proc` trees, and skips that nobody can overlook.
//!
//! Only tests depend on this crate. The fake clock lives beside its trait, in `tolok_load::clock::ManualClock`.

mod proc_tree;
mod reply;
mod server;
mod skip;

pub use proc_tree::{FakeProc, FakeProcess, FakeThread};
pub use reply::{Framing, Reply};
pub use server::{Request, ScriptedServer};
pub use skip::skip;
