//! Runs one reader under libFuzzer: the one that `TOLOK_FUZZ_TARGET` names.

#![no_main]

use std::sync::LazyLock;

use tolok_fuzz::{Target, targets};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("TOLOK_FUZZ_TARGET").expect("script/fuzz names the target");
    targets().find(|target| target.name == name).expect("script/fuzz asks which targets there are")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
