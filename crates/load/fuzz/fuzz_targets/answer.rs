//! Answers of a target, cut into pieces in every way: see `tolok_load::fuzzing`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tolok_load::fuzzing::answer(data));
