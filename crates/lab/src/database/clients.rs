//! The client programs of MariaDB and MySQL, which read statements from standard input.

use std::process::{Command, Stdio};

use tolok_model::DatabaseAddress;

use super::client::Target;
use super::commands::part;
use super::dialect::Dialect;
use crate::toolbox::Program;

/// Limit for connecting, in seconds. Short, because a client that waits for the network does not notice the end of its input.
const CONNECT_LIMIT_S: u32 = 10;

/// The client program of MariaDB and MySQL with the options that every use needs. `--no-defaults` must come first.
pub(super) fn words(dialect: Dialect, program: &Program) -> Vec<String> {
    let mut words = vec![part(program, "client"), "--no-defaults".to_owned()];
    // Otherwise a server could request any file that the client can read.
    words.push("--local-infile=0".to_owned());
    // The server's login method may be a plugin, which an unpacked installation does not find without this.
    words.extend(Some(part(program, "plugins")).filter(|folder| !folder.is_empty()).map(plugin_folder));
    if dialect == Dialect::Mysql {
        // Without TLS, the password is encrypted with the server's public key, which the client must request.
        words.push("--get-server-public-key".to_owned());
    }
    words
}

fn plugin_folder(folder: String) -> String {
    format!("--plugin-dir={folder}")
}

/// The client's command for this target. It reads statements from standard input.
pub(super) fn command(dialect: Dialect, program: &Program, target: &Target, options: &[&str]) -> Command {
    let words = words(dialect, program);
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.iter().skip(1)).args(options).envs(&program.env).stdin(Stdio::piped());
    // The client passes data on byte for byte, and treats nothing in them as its own command.
    command.args(["--binary-mode", "--default-character-set=utf8mb4"]);
    // MySQL's clients read an account from this file even with options that forbid it.
    command.env("MYSQL_TEST_LOGIN_FILE", "/dev/null").env_remove("MYSQL_PWD").env_remove("MYSQL_HOST");
    match target {
        Target::Socket { path } => {
            command.arg("--protocol=socket").arg(format!("--socket={}", path.display())).arg("--user=root");
            if dialect == Dialect::Mariadb {
                // Clients of MariaDB 11.4 and later require TLS even on a Unix socket, where it is pointless.
                command.arg("--skip-ssl");
            }
        }
        Target::Network(address) => {
            let DatabaseAddress { host, port, name, user, password, .. } = address;
            command.arg("--protocol=tcp").arg(format!("--host={host}")).arg(format!("--port={port}"));
            command.arg(format!("--user={user}")).arg(format!("--database={name}"));
            command.arg(format!("--connect-timeout={CONNECT_LIMIT_S}"));
            if dialect == Dialect::Mariadb {
                // Newer clients require a verifiable certificate, which few private databases have.
                command.arg("--skip-ssl-verify-server-cert");
            }
            // Every user can read a command line, but only the owner can read the environment.
            command.env("MYSQL_PWD", password);
        }
    }
    command
}
