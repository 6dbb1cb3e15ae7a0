//! The commands of a private MySQL, which differ from MariaDB's in how its tables are made and in what has to be turned
//! off.

use std::path::Path;

use super::commands::part;
use crate::toolbox::Program;

pub(super) fn install(program: &Program, data: &Path) -> Vec<String> {
    let mut words = server(program, data);
    // The server makes its tables itself, and a root without a password that only the socket lets in.
    words.push("--initialize-insecure".to_owned());
    if rustix::process::geteuid().is_root() {
        words.push("--user=root".to_owned());
    }
    words
}

pub(super) fn server(program: &Program, data: &Path) -> Vec<String> {
    let share = part(program, "share");
    let mut words = vec![program.path.display().to_string(), "--no-defaults".to_owned()];
    words.extend([
        format!("--datadir={}", data.display()),
        format!("--basedir={}", part(program, "base")),
        format!("--lc-messages-dir={share}"),
        format!("--character-sets-dir={share}/charsets"),
        // The log of transactions is 100 MiB by default, and a folder in memory has to hold it.
        "--innodb-redo-log-capacity=8M".to_owned(),
        // Else it refuses to start where the folder that its package would make for files is not there.
        "--secure-file-priv=".to_owned(),
        // A second protocol with a port and a socket of its own.
        "--mysqlx=OFF".to_owned(),
        // TLS is offered by default with certificates that it makes; MariaDB has none, and the two are to be compared.
        "--auto-generate-certs=OFF".to_owned(),
    ]);
    words.extend(
        Some(part(program, "plugins")).filter(|folder| !folder.is_empty()).map(|it| format!("--plugin-dir={it}")),
    );
    words
}
