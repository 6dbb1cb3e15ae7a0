//! What each report says, before any format: findings to a [`crate::document::Document`].

pub(crate) mod run;
