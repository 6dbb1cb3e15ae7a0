//! What each report says, before any format: findings to a [`crate::document::Document`].

pub(crate) mod brief;
pub(crate) mod run;
