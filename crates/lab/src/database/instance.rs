//! A database for one trial: the commands that copy a template into the trial's folder and serve it on the network.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use super::commands::Dialect;
use super::postgres;
use super::template::Template;

/// What a study decides about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub max_connections: u32,
    /// How much of its tables it may keep in memory.
    pub buffer_pool_bytes: u64,
    /// The account that the server runs under and its files belong to, if that is not the lab's.
    pub account: Option<u32>,
}

/// The commands of a database in a folder of its own. The folder must exist and belong to the account that runs them.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Copies the template; run once, before the first start.
    pub copy: Vec<String>,
    /// The server; stays in the foreground and logs to standard error.
    pub server: Vec<String>,
    /// Removes what a killed server leaves beside its data; run before it is started again, as the number of the killed
    /// process, by which the server judges such files, may belong to another one now.
    pub tidy: Vec<String>,
    /// Lets nobody else into the folder: root has no password at the socket.
    pub close: Vec<String>,
    /// A file that must be there: statements that MariaDB and MySQL carry out before they let anybody in, or whom PostgreSQL lets in.
    pub first: PathBuf,
    /// What must be in the environment of the server and of the client.
    pub env: BTreeMap<String, String>,
    /// The signal on which it ends well.
    pub stop: &'static str,
    /// Where the lab logs in. It listens on the network as well.
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
        if dialect == Dialect::Postgres {
            server.extend(postgres::options(at, settings));
            server.extend(["-c".to_owned(), format!("hba_file={}", first.display())]);
        } else {
            server.extend(options(dialect, at, settings));
            server.push(format!("--init-file={}", first.display()));
        }
        // The files are the copier's own, who need not be the one who made the template.
        let mut copy = "cp --archive --no-preserve=ownership --no-target-directory \"$0\" \"$1\"".to_owned();
        if let Some(account) = settings.account {
            server.retain(|word| word != "--user=root");
            copy += &format!(" && chown -R {account}:{account} \"$1\"");
        }
        let copy = ["sh".to_owned(), "-c".to_owned(), copy];
        let paths = [&self.folder, &data].map(|path| path.display().to_string());
        let pid = if dialect == Dialect::Postgres { data.join("postmaster.pid") } else { folder.join("db.pid") };
        let left = [socket.clone(), socket.with_added_extension("lock"), pid].map(|path| path.display().to_string());
        Instance {
            copy: copy.into_iter().chain(paths).collect(),
            server,
            close: ["chmod", "0700", &folder.display().to_string()].map(str::to_owned).to_vec(),
            tidy: ["rm", "-f"].map(str::to_owned).into_iter().chain(left).collect(),
            first,
            stop: if dialect == Dialect::Postgres { "INT" } else { "TERM" },
            env: program.env.clone(),
            socket,
        }
    }
}

/// What makes a MariaDB or MySQL that is measured beside a subject, and the two comparable.
fn options(dialect: Dialect, at: SocketAddrV4, settings: &Settings) -> Vec<String> {
    let connections = settings.max_connections;
    let mut words = vec![
        format!("--bind-address={}", at.ip()),
        format!("--port={}", at.port()),
        // The box has no name server, and every new connection would wait for its answer.
        "--skip-name-resolve".to_owned(),
        // The lab's own takes none of those that the study gives the subject. (MariaDB makes 10 of fewer.)
        format!("--max-connections={}", connections + 1),
        // All connections of a pool may be opened at once, and of several processes' pools.
        "--back-log=1024".to_owned(),
        // MySQL keeps far fewer threads for later connections than MariaDB, and to start one costs time.
        format!("--thread-cache-size={connections}"),
        format!("--innodb-buffer-pool-size={}", settings.buffer_pool_bytes),
        // Off in MariaDB by default, on in MySQL, where it costs memory and time.
        "--performance-schema=OFF".to_owned(),
        // In MySQL a thread of its own, which would be counted as busy with a statement.
        "--event-scheduler=OFF".to_owned(),
        // Its files are in memory: there is no cache of the kernel's to be avoided, and a kernel may refuse to.
        "--innodb-flush-method=fsync".to_owned(),
        // Files in memory have no asynchronous reads, and what these need may be used up by others on the machine.
        "--innodb-use-native-aio=OFF".to_owned(),
        // A start that loads what another trial used would be another start, with work in the background.
        "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
        "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
    ];
    if dialect == Dialect::Mariadb {
        // Newer ones make certificates for themselves; MySQL has none here.
        words.push("--skip-ssl".to_owned());
    }
    words
}
