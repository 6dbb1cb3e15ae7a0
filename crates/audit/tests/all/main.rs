//! The laws, on sound, broken and published tables.
//!
//! One program for all of them, because linking each separately takes longer.

#[path = "../invented/closed_loop.rs"]
mod closed_loop;
#[path = "../invented/mod.rs"]
mod invented;
#[path = "../reading/mod.rs"]
mod reading;

mod broken;
mod claims;
mod conditions;
mod duplicates;
mod grim;
mod noise;
mod planted;
mod promise;
mod reference;
mod sizes;
mod sound;
mod sources;
mod sources_text;
mod work;
