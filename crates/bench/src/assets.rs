//! The bodies of the answers, in the folder structure that the server expects.

use std::path::{Path, PathBuf};

use tolok_bench::error::{BenchError, failed};
use tolok_model::SplitMix64;

const HELLO: &[u8] = include_bytes!("../../../workloads/hello/body.html");
const LARGE_BYTES: usize = 546_816;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    /// The workload `hello`.
    Hello,
    /// As long as the body of the workload `file-534k`; noise, like an image to a generator.
    File534k,
}

impl Asset {
    /// Its name in a URL and in the folder.
    pub fn name(self) -> &'static str {
        match self {
            Asset::Hello => "hello",
            Asset::File534k => "file-534k.png",
        }
    }

    pub fn bytes(self) -> u64 {
        match self {
            Asset::Hello => HELLO.len() as u64,
            Asset::File534k => LARGE_BYTES as u64,
        }
    }

    pub fn file(self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }
}

pub fn lay_out(folder: &Path) -> Result<(), BenchError> {
    std::fs::create_dir(folder).map_err(failed("make a folder for the bodies"))?;
    let mut rng = SplitMix64::new(534);
    let mut large: Vec<u8> = (0..LARGE_BYTES.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    large.truncate(LARGE_BYTES);
    for (asset, body) in [(Asset::Hello, HELLO), (Asset::File534k, &large)] {
        let path = asset.file(folder);
        std::fs::write(&path, body).map_err(failed("write the bodies"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bodies_are_as_long_as_those_of_the_workloads() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("assets");
        lay_out(&folder).unwrap();
        assert_eq!(std::fs::metadata(Asset::File534k.file(&folder)).unwrap().len(), 546_816);
        assert_eq!(std::fs::read(Asset::Hello.file(&folder)).unwrap(), HELLO);
    }
}
