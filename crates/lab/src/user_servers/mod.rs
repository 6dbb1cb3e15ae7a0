//! Servers from outside the checkout: folders with a `subject.toml`, and servers that run already.

mod folder;
mod git;
mod url;
mod versions;

pub use folder::{FolderError, local_subject};
pub use git::{GitError, state_of_folder};
pub use url::{
    RecordedAnswer, UrlError, ask_three_times, differs, external_server, is_on_this_machine, record, serves,
};
pub use versions::{again, titled, versions_of_study, with_version};
