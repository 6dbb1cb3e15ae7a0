//! A comparison as a piece of a page.

mod html;

pub use html::html;
