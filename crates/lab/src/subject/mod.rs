//! A subject from its sources to its first good answer: answer bodies, templates, build, probe.

mod assets;
mod build;
mod png;
mod probe;
mod template;

pub use assets::Assets;
pub use build::{BuildError, Builds, log_tail};
pub use png::noise_png;
pub use probe::{Answer, ProbeError, ask, check};
pub use template::{TemplateError, TemplateNames, program_names};
