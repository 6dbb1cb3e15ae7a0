//! A database for one trial: the commands that copy a template into the trial's folder and serve it on the network.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use super::dialect::Dialect;
use super::template::Template;

/// What a study decides about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub max_connections: u32,
    /// The size of its buffer pool.
    pub buffer_pool_bytes: u64,
    /// The account that runs the server and owns its files, if not the lab's.
    pub account: Option<u32>,
}

/// The commands of a database in its own folder. The folder must exist and belong to the account that runs them.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Copies the template; run once, before the first start.
    pub copy: Vec<String>,
    /// The server: stays in the foreground and logs to standard error.
    pub server: Vec<String>,
    /// Removes what a killed server leaves beside its data; run before it is restarted. The server judges such files by the number
    /// of the killed process, which may belong to another process now.
    pub tidy: Vec<String>,
    /// Closes the folder to everybody else, because root has no password at the socket.
    pub close: Vec<String>,
    /// A file that must exist: statements that MariaDB and MySQL run before they accept logins, or PostgreSQL's access rules.
    pub first: PathBuf,
    /// Environment variables of the server and the client.
    pub env: BTreeMap<String, String>,
    /// The signal on which it exits cleanly.
    pub stop: &'static str,
    /// The socket for the lab. The server listens on the network as well.
    pub socket: PathBuf,
}

impl Template {
    /// A database in `folder` that listens on `at` and on a socket in the folder.
    pub fn instance(&self, folder: &Path, at: SocketAddrV4, settings: &Settings) -> Instance {
        let (program, data) = (&self.program, folder.join("data"));
        let dialect = Dialect::of(program);
        let mut server = dialect.server(program, &data, folder);
        let first = folder.join("first");
        let socket = dialect.socket(folder, at.port());
        server.extend(dialect.network(at, settings, &first));
        // The copy belongs to the copying account, which may differ from the template's owner.
        let mut copy = "cp --archive --no-preserve=ownership --no-target-directory \"$0\" \"$1\"".to_owned();
        if let Some(account) = settings.account {
            server.retain(|word| word != "--user=root");
            copy += &format!(" && chown -R {account}:{account} \"$1\"");
        }
        let copy = ["sh".to_owned(), "-c".to_owned(), copy];
        let paths = [&self.folder, &data].map(|path| path.display().to_string());
        let pid = dialect.pid_file(folder, &data);
        let left = [socket.clone(), socket.with_added_extension("lock"), pid].map(|path| path.display().to_string());
        Instance {
            copy: copy.into_iter().chain(paths).collect(),
            server,
            close: ["chmod", "0700", &folder.display().to_string()].map(str::to_owned).to_vec(),
            tidy: ["rm", "-f"].map(str::to_owned).into_iter().chain(left).collect(),
            first,
            stop: dialect.stop_signal().1,
            env: program.env.clone(),
            socket,
        }
    }
}

/// Options for a MariaDB or MySQL that is measured beside a subject. They make the two comparable.
pub(super) fn options(dialect: Dialect, at: SocketAddrV4, settings: &Settings) -> Vec<String> {
    let connections = settings.max_connections;
    let mut words = vec![
        format!("--bind-address={}", at.ip()),
        format!("--port={}", at.port()),
        // The box has no name server, and every new connection would wait for one.
        "--skip-name-resolve".to_owned(),
        // One more for the lab, so that the subject gets all that the study allows. (MariaDB raises fewer than 10 to 10.)
        format!("--max-connections={}", connections + 1),
        // All connections of a pool may be opened at once, even the pools of several processes.
        "--back-log=1024".to_owned(),
        // MySQL caches far fewer threads than MariaDB, and starting one costs time.
        format!("--thread-cache-size={connections}"),
        format!("--innodb-buffer-pool-size={}", settings.buffer_pool_bytes),
        // Off by default in MariaDB; on in MySQL, where it costs memory and time.
        "--performance-schema=OFF".to_owned(),
        // In MySQL the scheduler is a thread, which would be counted as running a statement.
        "--event-scheduler=OFF".to_owned(),
        // The files are in memory: bypassing the page cache gains nothing, and a kernel may refuse it.
        "--innodb-flush-method=fsync".to_owned(),
        // Files in memory have no asynchronous reads, and other programs may exhaust the limit for them.
        "--innodb-use-native-aio=OFF".to_owned(),
        // Preloading what another trial used would add background work to the start.
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
    ];
    if dialect == Dialect::Mariadb {
        // Newer versions create certificates automatically; MySQL has none here.
        words.push("--skip-ssl".to_owned());
    }
    words
}
