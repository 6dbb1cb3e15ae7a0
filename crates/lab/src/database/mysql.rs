//! The commands of a private MySQL. They differ from MariaDB's in how its tables are created and in what must be turned
//! off.

use std::path::Path;

use super::commands::part;
use crate::toolbox::Program;

pub(super) fn install(program: &Program, data: &Path) -> Vec<String> {
    let mut words = server(program, data);
    // The server creates its tables itself, and a root without a password that can log in only at the socket.
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
        // The redo log is 100 MiB by default, too large for a folder in memory.
        "--innodb-redo-log-capacity=8M".to_owned(),
        // Otherwise it refuses to start if the folder that its package creates for files is missing.
        "--secure-file-priv=".to_owned(),
        // Disables a second protocol with its own port and socket.
        "--mysqlx=OFF".to_owned(),
        // By default MySQL offers TLS with generated certificates; MariaDB does not, and the two must be comparable.
        "--auto-generate-certs=OFF".to_owned(),
    ]);
    words.extend(
        Some(part(program, "plugins")).filter(|folder| !folder.is_empty()).map(|it| format!("--plugin-dir={it}")),
    );
    words
}
