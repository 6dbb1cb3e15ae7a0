//! A replication as one page.

mod html;
mod html_series;

pub use html::html;
