//! Attacks that a stranger may have prepared in a folder.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, mknodat};
use tempfile::TempDir;

use super::*;

/// A run's folder, and beside it a file that must not be reachable.
fn folder() -> (TempDir, Folder) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("run/trials/1")).unwrap();
    fs::write(root.path().join("secret"), "of the user").unwrap();
    fs::write(root.path().join("run/trials/1/tool.log"), "said").unwrap();
    let folder = Folder::at(&root.path().join("run"));
    (root, folder)
}

fn secret(root: &TempDir) -> String {
    fs::read_to_string(root.path().join("secret")).unwrap()
}

/// A folder with links in every place where a run may have a file or a folder.
fn with_links() -> (TempDir, Folder) {
    let (root, folder) = folder();
    let run = root.path().join("run");
    symlink("../secret", run.join("relative")).unwrap();
    symlink(root.path().join("secret"), run.join("absolute")).unwrap();
    symlink("trials/1/tool.log", run.join("within")).unwrap();
    symlink("..", run.join("above")).unwrap();
    (root, folder)
}

const LINKS: [&str; 5] = ["relative", "absolute", "within", "above/secret", "above/run/trials/1/tool.log"];

#[test]
fn no_link_is_followed_to_read() {
    let (_root, folder) = with_links();
    assert_eq!(folder.text("trials/1/tool.log").unwrap(), "said");
    for name in LINKS {
        let error = folder.read(name).unwrap_err();
        assert!(error.to_string().contains("behind a symbolic link"), "{name}: {error}");
        assert!(!folder.is_file(name));
    }
}

#[test]
fn no_link_is_followed_where_the_kernel_cannot_be_asked_to() {
    let (_root, folder) = with_links();
    let handle = folder.handle().unwrap();
    let open = |name: &str| part_by_part(handle, name, OFlags::RDONLY | CAREFUL, Mode::empty());
    assert!(open("trials/1/tool.log").is_ok());
    for name in LINKS {
        let error = open(name).unwrap_err();
        assert!(matches!(error, Errno::LOOP | Errno::NOTDIR), "{name}: {error}");
    }
}

#[test]
fn no_link_is_followed_to_write() {
    let (root, folder) = with_links();
    for name in LINKS {
        assert!(folder.append(name).is_err() && folder.lock_file(name).is_err(), "{name}");
    }
    for name in ["above/new", "above/secret"] {
        assert!(folder.put(name, b"changed").is_err() && folder.create_file(name).is_err(), "{name}");
        assert!(folder.make(name).is_err() && folder.rename("within", name).is_err(), "{name}");
    }
    // These replace the links themselves.
    folder.put("relative", b"changed").unwrap();
    folder.create_file("absolute").unwrap().write_all(b"changed").unwrap();
    assert_eq!(folder.text("relative").unwrap() + &folder.text("absolute").unwrap(), "changedchanged");
    assert_eq!(secret(&root), "of the user");
    assert!(!root.path().join("new").exists());
}

#[test]
fn removing_takes_links_away_and_not_what_they_lead_to() {
    let (root, folder) = with_links();
    symlink("../../..", root.path().join("run/trials/1/out")).unwrap();
    folder.remove("trials").unwrap();
    folder.remove("above").unwrap();
    folder.remove("nothing/there").unwrap();
    assert!(!folder.has("trials") && !folder.has("above"));
    assert_eq!(secret(&root), "of the user");
}

#[test]
fn a_name_that_leads_out_is_refused() {
    let (root, folder) = folder();
    let absolute = root.path().join("secret").display().to_string();
    for name in ["../secret", "trials/../../secret", "trials/./1", "", "trials//1", &absolute, "a\0b"] {
        let refused = [
            folder.read(name).map(drop),
            folder.put(name, b""),
            folder.make(name),
            folder.remove(name),
            folder.append(name).map(drop),
        ];
        for result in refused {
            let error = result.unwrap_err().to_string();
            assert_eq!(error, "its name leads out of its folder", "{name}");
        }
    }
}

/// Opening any of these must not block.
#[test]
fn what_is_no_regular_file_is_never_opened() {
    let (root, folder) = folder();
    let run = root.path().join("run");
    mknodat(CWD, run.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(run.join("socket")).unwrap();
    fs::create_dir(run.join("folder")).unwrap();
    for name in ["fifo", "socket", "folder"] {
        let wrong = [folder.read(name).map(drop), folder.append(name).map(drop), folder.lock_file(name).map(drop)];
        for result in wrong {
            let error = result.unwrap_err();
            let says = error.to_string().contains("no regular file") || error.raw_os_error().is_some();
            assert!(says, "{name}: {error}");
        }
    }
    assert!(fs::metadata(run.join("fifo")).unwrap().file_type().is_fifo());
}

#[test]
fn a_file_beyond_its_bound_is_refused_before_it_is_read() {
    let (root, folder) = folder();
    // Sparse files have a length but use no space.
    for (name, bytes) in [("run.json", (32 << 20) + 1), ("samples.jsonl", 1 << 40)] {
        File::create(root.path().join("run").join(name)).unwrap().set_len(bytes).unwrap();
        let error = folder.read(name).unwrap_err().to_string();
        assert_eq!(error, limits::of_file(name).sentence());
    }
}

#[test]
fn a_file_with_a_second_name_is_not_written_after() {
    let (root, folder) = folder();
    fs::hard_link(root.path().join("secret"), root.path().join("run/manifest.jsonl")).unwrap();
    assert!(folder.append("manifest.jsonl").unwrap_err().to_string().contains("a second name"));
    folder.create_file("manifest.jsonl").unwrap().write_all(b"new").unwrap();
    assert_eq!(secret(&root), "of the user");
}

#[test]
fn unfinished_files_have_names_that_nobody_can_guess_and_leave_nothing() {
    let (root, folder) = folder();
    let names: std::collections::BTreeSet<String> =
        (0..50).map(|_| unguessable(folder.handle().unwrap(), "report.md").unwrap().0).collect();
    assert_eq!(names.len(), 50);
    names.iter().for_each(|name| folder.remove(name).unwrap());
    fs::create_dir(root.path().join("run/report.md")).unwrap();
    assert!(folder.put("report.md", b"text").is_err());
    assert_eq!(folder.entries().unwrap().len(), 2);
}

#[test]
fn a_folder_that_nests_without_end_is_neither_listed_nor_removed() {
    let (root, folder) = folder();
    let deep: String = "d/".repeat(40);
    fs::create_dir_all(root.path().join("run/trials").join(deep)).unwrap();
    assert!(folder.each_file(&mut |_| Ok(())).unwrap_err().to_string().contains("nested too deeply"));
    assert!(folder.remove("trials").is_err());
}

#[test]
fn lines_are_whole_up_to_the_last_line_feed_however_far_back_it_is() {
    let (_root, folder) = folder();
    for (text, whole) in
        [(String::new(), 0), ("a\nb".to_owned(), 2), (format!("a\n{}", "x".repeat(200_000)), 2), ("x".repeat(9), 0)]
    {
        folder.put("events.jsonl", text.as_bytes()).unwrap();
        assert_eq!(whole_lines_bytes(&mut folder.append("events.jsonl").unwrap()).unwrap(), whole);
    }
}
