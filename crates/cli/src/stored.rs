//! A stored run, with the titles that its analysis needs.

use tolok_analysis::{Names, Records};
use tolok_store::{RunFolder, StoreError, StoredRun};

pub struct Stored {
    run: StoredRun,
    names: Names,
}

impl Stored {
    pub fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        Ok(Self { run: folder.read()?, names: folder.names()? })
    }

    pub fn records(&self) -> Records<'_> {
        let StoredRun { run, plan, trials, diagnoses, records_sha256, .. } = &self.run;
        Records { run, plan, names: &self.names, trials, diagnoses, records_sha256: records_sha256.as_deref() }
    }
}
