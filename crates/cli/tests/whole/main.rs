//! tolok as a whole, from outside: the binary, real servers, real bad luck. One binary, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

mod audit;
mod bad_luck;
mod begin;
mod box_ends;
mod boxed;
mod boxes;
mod bring;
mod compare;
mod conformance;
mod database_boxes;
mod databases;
mod documents;
mod duel;
mod edges;
mod environments;
mod events;
mod fidelity;
mod frameworks;
mod guarded;
mod http2;
mod interruptions;
mod judgement;
mod launches;
mod load_verb;
mod manual;
mod mixed;
mod own_workloads;
mod place;
mod postgres;
mod program_launches;
mod programs;
mod protocols;
mod real_servers;
mod replicate;
mod report;
mod run_folders;
mod standalone;
mod stored_runs;
mod strangers;
mod tools;
mod transcripts;
mod unprivileged;
mod verify;
mod wire;
