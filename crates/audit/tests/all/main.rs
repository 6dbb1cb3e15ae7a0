//! The laws, on tables that are sound, broken and published.
//! One program for all of them, because linking each by itself takes longer.

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
