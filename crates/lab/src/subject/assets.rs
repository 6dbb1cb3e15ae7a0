//! The answer bodies of all workloads, laid out under the names that URLs give them.
//!
//! Servers read their answers from here, the generator compares with them, and both therefore have the same bytes. The
//! folder is private to one session and readable by everybody, because servers give up their rights after the start
//! and a checkout under `/root` would be closed to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tolok_model::{Body, Workload};

use super::png::noise_png;
use crate::home::Home;

/// The folder with the answer bodies.
#[derive(Debug, Clone)]
pub struct Assets {
    folder: PathBuf,
    bodies: BTreeMap<String, Vec<u8>>,
}

impl Assets {
    /// Writes the bodies of `workloads` into `folder`, which must exist.
    pub fn lay_out(folder: PathBuf, home: &Home, workloads: &[Workload]) -> std::io::Result<Self> {
        let mut bodies = BTreeMap::new();
        for workload in workloads {
            let body = body(&home.workload_folder(&workload.name), &workload.body)?;
            fs::write(folder.join(workload.asset()), &body)?;
            bodies.insert(workload.name.clone(), body);
        }
        Ok(Self { folder, bodies })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that holds the body owed by `workload`.
    pub fn file(&self, workload: &Workload) -> PathBuf {
        self.folder.join(workload.asset())
    }

    /// The body owed by `workload`.
    pub fn body(&self, workload: &Workload) -> &[u8] {
        self.bodies.get(&workload.name).map(Vec::as_slice).unwrap_or_default()
    }
}

fn body(folder: &Path, body: &Body) -> std::io::Result<Vec<u8>> {
    match body {
        Body::File(name) => fs::read(folder.join(name)),
        Body::Generated(generated) => Ok(noise_png(generated.bytes, generated.seed)),
    }
}
