//! Where builds of subjects go: the cache that all runs share, or a folder of one block.

use std::path::{Path, PathBuf};

use tolok_model::{Failure, FailureKind, Subject};

use crate::run::session::Laboratory;
use crate::subject::BuildError;

#[derive(Clone, Copy)]
pub(super) enum BuildPlace<'a> {
    /// Builds are made once and kept for later runs.
    Cache,
    /// Compiled subjects are rebuilt with the order of functions that `layout` draws.
    Block { folder: &'a Path, layout: u32 },
}

impl BuildPlace<'_> {
    /// Whether builds of this subject go here.
    pub(super) fn takes(self, subject: &Subject) -> bool {
        match self {
            Self::Cache => true,
            Self::Block { .. } => subject.build.is_some() && subject.external.is_none(),
        }
    }

    pub(super) fn must_build(self, laboratory: &Laboratory, subject: &Subject) -> bool {
        match self {
            Self::Cache => laboratory.must_be_built(subject),
            Self::Block { .. } => true,
        }
    }

    /// Returns the folder of the build. Calls `begins` if there is anything to build, and gives up once `is_wanted` returns false.
    pub(super) fn build(
        self,
        laboratory: &Laboratory,
        subject: &Subject,
        begins: &mut dyn FnMut(),
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<PathBuf, BuildError> {
        match self {
            Self::Cache => laboratory.build(subject, begins, is_wanted),
            Self::Block { folder, layout } => {
                begins();
                let folder = folder.join(subject.id.replace('/', "-"));
                laboratory.build_in(&folder, subject, layout, is_wanted).map(|()| folder)
            }
        }
    }
}

pub(super) fn build_failure(error: BuildError) -> Failure {
    let message = error.to_string();
    let log_tail = match error {
        BuildError::Command { tail, .. } => tail,
        _ => Vec::new(),
    };
    Failure { reason: FailureKind::BuildFailed, message, log_tail }
}
