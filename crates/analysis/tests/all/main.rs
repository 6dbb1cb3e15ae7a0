//! Tests the rules of the analysis on invented runs. A single program, because each test program would be linked separately.

#[path = "../invented/mod.rs"]
mod invented;
#[path = "../predictable/mod.rs"]
mod predictable;

mod analyse;
mod bottlenecks;
mod compare;
mod courses;
mod database;
mod duel;
mod environment;
mod fairness;
mod forecast;
mod gates;
mod judgement;
mod loads;
mod nodes;
mod programs;
mod published;
mod recommend;
mod reference;
mod replication;
mod sensitivity;
mod settlements;
mod slices;
mod soundness;
mod speed;
mod tools;
