//! The orchestrator: the toolbox, subjects, databases and runs.

pub mod bounded;
mod computed;
pub mod data_contract;
pub mod database;
pub mod diagnose;
pub mod home;
mod lock;
pub mod pool;
pub mod request_list;
pub mod run;
pub mod subject;
pub mod toolbox;
pub mod tools;
mod upstream;
pub mod user_servers;
