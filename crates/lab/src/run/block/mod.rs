//! Runs a block: a process of its own runs the trials of one block on its machine.
//!
//! ```text
//! run  --job, words-->  block  --> keeper --> init --> servers
//!      <--events------
//! ```
//!
//! The run plans, builds, loads data, applies the rule for stopping, holds the lock of the folder and writes the manifest.
//! The block opens boxes, measures, judges disturbances, and writes the folders of its trials. It holds no lock.
//! Both exchange JSON lines over the block's standard input and output ([`protocol`]), so the block can run on another machine that
//! shares the run's folder. Before each trial the block waits for the run's consent. By then the run has entered the previous trial
//! in the manifest, so no hashing runs beside a measurement.
//!
//! - [`process`]: the run's side. [`work`]: the block's side, behind the hidden verb `block`.
//! - [`generator`]: other nodes of the block's job, which generate its load. They get the same words as the block, and answer on
//!   standard error.
//!
//! When the run ends for any reason, the kernel kills a local block; a block elsewhere stops because its input ends.
//! When the block is killed, the keeper of its box cleans up, and the run records the current trial as failed by the lab.

pub(super) mod generator;
pub(super) mod process;
pub(super) mod protocol;
pub(super) mod work;
