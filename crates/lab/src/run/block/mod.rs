//! A block as a thing that can be run: a process of its own runs the trials of one block on the machine it stands on.
//!
//! ```text
//! run  --job, words-->  block  --> keeper --> init --> servers
//!      <--events------
//! ```
//!
//! The run plans, builds, loads data, asks the rule for stopping, holds the lock of the folder and writes the manifest.
//! The block opens boxes, measures, judges disturbances, and writes the folders of its trials; it holds no lock. Both talk
//! JSON lines over the block's standard input and output ([`protocol`]), so the block can stand on another machine that
//! shares the run's folder. Before each trial the block asks the run for its consent: until then the run has entered the
//! trial before it, and nothing is hashed beside a measurement.
//!
//! - [`process`]: the run's side. [`work`]: the block's side, behind the hidden verb `block`.
//! - [`generator`]: other nodes of the block's job, which generate its load. They hear the same words as the block, and answer on
//!   standard error.
//!
//! When the run ends, however that comes about, the kernel kills a local block, and the end of its input stops any other.
//! When the block is killed, the keeper of its box cleans up, and the run records the trial at hand as failed by the lab.

pub(super) mod generator;
pub(super) mod process;
pub(super) mod protocol;
pub(super) mod work;
