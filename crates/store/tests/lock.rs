//! Tests who may write into a run's folder. This is a separate program because a child that another test starts would hold the
//! lock for the moment between fork and exec.

use std::process::{Command, Stdio};

use tolok_store::RunFolder;

#[test]
fn a_run_has_one_writer_and_its_children_do_not_inherit_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let writer = RunFolder::open_to_write(path).unwrap();
    let refused = RunFolder::open_to_write(path).unwrap_err();
    let expect = format!("another tolok is working in {}; wait until it has ended", path.display());
    assert_eq!(refused.to_string(), expect);

    // A server that outlives the writer, as after a kill of tolok.
    let mut server = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    drop(writer);
    let next_writer = RunFolder::open_to_write(path);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(next_writer.is_ok(), "{next_writer:?}");
}
