//! Audits as one page.

mod html;

pub use html::html;
