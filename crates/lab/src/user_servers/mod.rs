//! Servers that are brought to a run from elsewhere than the checkout: folders with a `subject.toml`, and servers that run already.

mod folder;
mod url;

pub use folder::{FolderError, local_subject};
pub use url::{UrlError, ask_three_times, differs, external_server, is_on_this_machine, serves};
