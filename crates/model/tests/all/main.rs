//! Studies, subjects, workloads, plans and records: how they are read, and what is refused.
//!
//! One program for all of them, because linking each separately takes longer.

#[path = "../examples/mod.rs"]
mod examples;
#[path = "../support/schema.rs"]
mod schema;

mod data_workload;
mod database;
mod documents;
mod environment;
mod generators;
mod limits;
mod load;
mod objective;
mod plan;
mod plan_database;
mod programs;
mod protocols;
mod published;
mod random_text;
mod record;
mod reference;
mod replication;
mod repository;
mod scale;
mod schemas;
mod slices;
mod sources;
mod study;
mod subject;
mod tools;
mod transcription;
mod transcription_csv;
mod units;
mod validation;
mod workload;
