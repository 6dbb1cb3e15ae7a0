//! The configuration of Slurm and munge, and the scripts that start and stop them. Nothing here reads or writes files.

use std::fmt::Write;
use std::path::Path;

use tolok_host::shell;

use super::hosts_file::HostsFile;
use super::probe::SlurmVersion;

/// Run on each machine of a pool, and by hand after a machine was rebooted.
const START: &str = include_str!("start.sh");
const STOP: &str = include_str!("stop.sh");
const LOOK: &str = include_str!("look.sh");

/// The Slurm daemon of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Daemon {
    Controller,
    Node,
}

impl Daemon {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Controller => "slurmctld",
            Self::Node => "slurmd",
        }
    }
}

/// The files of a pool.
pub(super) struct Files {
    slurm_conf: String,
    cgroup_conf: &'static str,
    munge_key: String,
}

impl Files {
    /// `nodes` are the nodes in slurmd's description, in the order of the hosts.
    pub(super) fn of(pool: &HostsFile, nodes: &[String], user: &str, version: SlurmVersion, munge_key: String) -> Self {
        Self { slurm_conf: slurm_conf(pool, nodes, user), cgroup_conf: cgroup_conf(version), munge_key }
    }

    /// The script that creates the folder of a pool on a machine and starts the daemons there. It exits with code 3 if the folder
    /// exists already.
    pub(super) fn installer(&self, folder: &Path, daemon: Daemon) -> String {
        let Self { slurm_conf, cgroup_conf, munge_key } = self;
        let (folder, start) = (quoted(folder), starter(folder, daemon));
        // munged requires a socket that every user can reach, and a key that nobody else can read.
        let mut script = format!(
            "umask 077\n[ ! -e {folder} ] || exit 3\nmkdir {folder} && chmod 755 {folder} && cd {folder} || exit\n"
        );
        let files = [("slurm.conf", 644, slurm_conf.as_str()), ("cgroup.conf", 644, cgroup_conf)];
        for (name, mode, text) in
            files.into_iter().chain([("munge.key", 400, munge_key.as_str()), ("start", 700, &start)])
        {
            let _ = writeln!(script, "cat >{name} <<'END-OF-FILE'\n{text}END-OF-FILE\nchmod {mode} {name} || exit");
        }
        script + "mkdir -p state spool && exec sh ./start\n"
    }
}

fn starter(folder: &Path, daemon: Daemon) -> String {
    format!("FOLDER={}\nDAEMON={}\n{START}", quoted(folder), daemon.program())
}

/// The script that stops the daemons of a pool on a machine and removes its folder.
pub(super) fn stopper(folder: &Path) -> String {
    format!("FOLDER={}\n{STOP}", quoted(folder))
}

/// The script that lists the running daemons of a pool on a machine.
pub(super) fn looker(folder: &Path) -> String {
    format!("FOLDER={}\n{LOOK}", quoted(folder))
}

/// A path quoted for a shell.
pub(super) fn quoted(path: &Path) -> String {
    shell::quoted(&path.display().to_string())
}

fn slurm_conf(pool: &HostsFile, nodes: &[String], user: &str) -> String {
    let (folder, controller) = (pool.folder(), &pool.controller);
    let folder = folder.display();
    let (port, of_nodes) = (controller.port, controller.port + 1);
    let mut text =
        format!("# Written by `tolok pool init`; `tolok pool down` removes it.\nClusterName=tolok{}\n", &pool.id[..8]);
    let _ = write!(
        text,
        "SlurmctldHost={}({})\nSlurmctldPort={port}\nSlurmdPort={of_nodes}\n",
        controller.name, controller.address
    );
    let _ = write!(text, "SlurmUser={user}\nSlurmdUser={user}\n");
    let _ = write!(
        text,
        "AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\nMpiDefault=none\n"
    );
    let _ = write!(text, "StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n");
    for (key, daemon) in [("Slurmctld", Daemon::Controller), ("Slurmd", Daemon::Node)] {
        let program = daemon.program();
        let _ = write!(text, "{key}PidFile={folder}/{program}.pid\n{key}LogFile={folder}/{program}.log\n");
    }
    // A round has its node to itself, and tolok's boxes keep track of its processes.
    text += "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n";
    // The next round starts at once. tolok, not Slurm, restarts a lost round.
    text += "SchedulerParameters=bf_interval=5,sched_interval=5,sched_min_interval=0\nJobRequeue=0\nKillWait=5\nMessageTimeout=10\n";
    // A node that was away returns automatically.
    text += "SlurmdTimeout=30\nReturnToService=2\nInactiveLimit=0\n";
    for (host, node) in pool.host.iter().zip(nodes) {
        let _ = writeln!(text, "NodeName={} NodeAddr={} {node} State=UNKNOWN", host.name, host.address);
    }
    text + "PartitionName=tolok Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE MaxTime=UNLIMITED State=UP\n"
}

/// Slurm before 24.05 uses control groups only for plugins that need them; later versions must be told so.
fn cgroup_conf(version: SlurmVersion) -> &'static str {
    if version >= SlurmVersion(24, 5) { "CgroupPlugin=disabled\n" } else { "CgroupPlugin=autodetect\n" }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::pool::hosts_file::example;

    fn nodes() -> Vec<String> {
        vec!["CPUs=2 Boards=1 RealMemory=1000".to_owned(), "CPUs=2 Boards=1 RealMemory=1001".to_owned()]
    }

    #[test]
    fn slurm_is_told_its_ports_its_folder_and_its_nodes() {
        assert_snapshot!(slurm_conf(&example(), &nodes(), "root"));
    }

    #[test]
    fn each_machine_gets_all_files_and_its_daemon() {
        let files = Files::of(&example(), &nodes(), "root", SlurmVersion(22, 5), "c0ffee\n".to_owned());
        let script = files.installer(&example().folder(), Daemon::Node);
        for wanted in
            ["cat >munge.key <<'END-OF-FILE'\nc0ffee\nEND-OF-FILE\nchmod 400", "DAEMON=slurmd\n", "NodeName=n2 "]
        {
            assert!(script.contains(wanted), "{wanted}");
        }
        assert!(files.installer(&example().folder(), Daemon::Controller).contains("DAEMON=slurmctld\n"));
        assert_eq!(quoted(Path::new("/it's")), r"'/it'\''s'");
    }

    #[test]
    fn only_a_slurm_that_touches_control_groups_is_told_to_leave_them() {
        assert_eq!(cgroup_conf(SlurmVersion(22, 5)), "CgroupPlugin=autodetect\n");
        assert_eq!(cgroup_conf(SlurmVersion(24, 11)), "CgroupPlugin=disabled\n");
    }
}
