//! tolok's exact output: `transcripts/*.trycmd` serve as examples for readers as well as for this test.

#[test]
fn what_people_type_and_what_they_get() {
    trycmd::TestCases::new()
        .default_bin_path(env!("CARGO_BIN_EXE_tolok"))
        .env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("NO_COLOR", "1")
        .case("tests/whole/transcripts/*.trycmd")
        .run();
}
