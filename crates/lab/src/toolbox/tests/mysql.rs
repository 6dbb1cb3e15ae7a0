//! MySQL: found, distinguished from MariaDB, and fetched from a newer Debian.

use super::*;

#[test]
fn mysql_is_a_server_with_its_messages_and_its_client_and_no_mariadb() {
    let lab = Lab::new();
    lab.program("bin/mysqld", "echo 'mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64'");
    let reason = lab.missing("mysql").0;
    assert!(reason.contains("bin/mysqld is a MariaDB, 10.11.19-MariaDB"), "{reason}");

    let newer = |path: &str| format!("toolbox/newer/mysql/{path}");
    lab.program(&newer("bin/mysqld"), "echo '/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))'");
    lab.program(&newer("bin/mysql"), "exit 0");
    lab.write(&newer("usr/share/mysql/english/errmsg.sys"), "");
    fs::create_dir_all(lab.path(&newer("usr/lib/mysql/plugin"))).unwrap();
    let mysql = lab.ready("mysql");
    assert_eq!((mysql.version.as_str(), mysql.source), ("9.7.4-2", Source::Toolbox));
    assert!(mysql.env.is_empty(), "its own loader finds its libraries: {mysql:?}");
    let parts =
        [("base", "usr"), ("client", "bin/mysql"), ("plugins", "usr/lib/mysql/plugin"), ("share", "usr/share/mysql")];
    for (name, path) in parts {
        assert_eq!(Path::new(&mysql.extras[name]), lab.path(&newer(path)), "{name}");
    }
}

#[test]
fn what_only_a_newer_debian_has_comes_from_the_systems_own_mirror() {
    let lab = Lab::debian();
    assert!(lab.missing("mysql").0.contains("this is no Debian system"));
    lab.write("system/etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n");
    lab.write("system/etc/apt/sources.list", "deb http://mirror.example/debian bookworm main\n");
    let from = "packages mysql-server-core, mysql-client-core of Debian's sid".to_owned();
    assert_eq!(lab.missing("mysql").1, Remedy::Fetch { program: "mysql".to_owned(), from });
    // An apt that logs its source, and provides a loader and the two packages.
    lab.program(
        "bin/apt-get",
        r#"staging=${APT_CONFIG%/apt.conf}; cat $staging/sources/debian.list >> $staging/../seen
        case "$*" in *update) exit 0;; esac
        grep -q "State::status \"$staging/status\"" $APT_CONFIG && test ! -s $staging/status || exit 9
        shift 4; for package in libc6 "$@"; do : > $staging/cache/archives/${package}_1.0_all.deb; done"#,
    );
    lab.program(
        "bin/dpkg-deb",
        r#"mkdir -p $3/usr/sbin $3/usr/bin $3/usr/lib64 $3/usr/lib/x86_64-linux-gnu $3/usr/share/mysql/english
        touch $3/usr/bin/mysql $3/usr/sbin/mysqld $3/usr/share/mysql/english/errmsg.sys
        printf '#!/bin/sh\necho Ver 9.7.4-2 by $2 of ${3#*/../}\n' > $3/usr/lib64/ld-linux-x86-64.so.2
        chmod +x $3/usr/lib64/ld-linux-x86-64.so.2"#,
    );
    let (outcome, _) = fetch(&lab.toolbox(), &["mysql"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!(lab.ready("mysql").version, "9.7.4-2");
    let seen = fs::read_to_string(lab.path("toolbox/seen")).unwrap();
    assert!(seen.lines().all(|line| line == "deb  http://mirror.example/debian sid main"), "{seen}");
    let record = fs::read_to_string(lab.path("toolbox/installed.json")).unwrap();
    assert!(record.contains(r#""name": "libc6""#) && record.contains(r#""name": "mysql-server-core""#), "{record}");
}
