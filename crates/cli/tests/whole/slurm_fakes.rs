//! Runs on a fake Slurm made of scripts, which reproduces a real one's rare answers on demand.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{Place, Said, Started, assert_done, shared_turn};

/// A fake Slurm with nodes `n1` and `n2`, whose jobs run on this machine.
struct Fakes {
    place: Place,
}

impl Fakes {
    /// The shell script `block` runs in a round's job before tolok starts. `$job` is the job's name.
    fn of(block: &str) -> Self {
        Self::with_queue("", block)
    }

    /// Like [`Self::of`]. The script `before` runs before the job enters the queue.
    fn with_queue(before: &str, block: &str) -> Self {
        let place = Place::new().with_faulty("one", "none").with_faulty("two", "none");
        let fakes = Self { place: place.with_study("['test/one', 'test/two']", 2, "1s") };
        let log = fakes.path("log").display().to_string();
        fakes.write(
            "sinfo",
            "case \"$*\" in *%c*) printf '2 (null) n1\\n2 (null) n2\\n' ;; *) printf 'n1 idle\\nn2 idle\\n' ;; esac",
        );
        fs::write(fakes.path("queue"), "").unwrap();
        let queue = fakes.path("queue").display().to_string();
        fakes.write_squeue("");
        // Like the real one, it spares jobs if the user has set a filter.
        let cancel = format!("for job; do sed -i \"/^$job /d\" {queue}; done");
        fakes.write("scancel", &format!("echo \"scancel $*\" >>{log}\n[ -n \"$SCANCEL_STATE\" ] || {{ {cancel}; }}"));
        let srun = format!(
            "for word; do case $word in --job-name=*) job=${{word#*=}} ;; -*) ;; *) break ;; esac; shift; done\n\
             export SLURMD_NODENAME=n1 SLURM_JOB_ID=7 SLURM_PROCID=0\n\
             if [ \"$2\" = block ]; then\n{before}\necho \"$$ $job\" >>{queue}\n{block}\nfi\nexec \"$@\""
        );
        fakes.write("srun", &srun);
        fakes
    }

    fn path(&self, name: &str) -> PathBuf {
        let folder = self.place.path().join("slurm");
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    fn write(&self, name: &str, script: &str) {
        fs::write(self.path(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes the fake `squeue`, which runs the script `before` first. Like the real one, it hides jobs if the user has set a filter.
    fn write_squeue(&self, before: &str) {
        let [log, queue] = ["log", "queue"].map(|name| self.path(name).display().to_string());
        let list = format!("case $* in *%A*) cat {queue} ;; *) sed 's/^[0-9]* //' {queue} ;; esac");
        self.write("squeue", &format!("echo \"squeue $*\" >>{log}\n{before}\n[ -n \"$SQUEUE_STATES\" ] || {list}"));
    }

    fn tolok(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", Path::new(&self.path("")).display()));
        command
    }

    /// The calls of `squeue` and `scancel`.
    fn asked(&self) -> Vec<String> {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

#[test]
fn no_job_of_a_run_is_left_and_those_of_others_stay() {
    let _turn = shared_turn();
    // The first attempt at each round reports that it is alive, and then falls silent.
    let silent = "case $job in *-1) echo '{\"alive\":{\"name\":\"n1\",\"job\":\"7\"}}'; exec sleep 600 ;; esac";
    let fakes = Fakes::of(silent);
    fs::write(fakes.path("queue"), "7 tolok-of-somebody-else\n").unwrap();
    let mut run = fakes.tolok(&["run", "try", "--on", "slurm"]);
    let said = Said::of(run.env("SQUEUE_STATES", "COMPLETED").env("SCANCEL_STATE", "COMPLETED").output().unwrap());
    assert_done(said.code, &said.progress);
    assert_eq!(said.progress.matches("was lost on n1 (job 7): it was silent").count(), 2, "{}", said.progress);
    assert_eq!(fs::read_to_string(fakes.path("queue")).unwrap(), "7 tolok-of-somebody-else\n");
    let asked = fakes.asked();
    let squeues = asked.iter().filter(|line| line.starts_with("squeue") && line.contains("%A")).count();
    let scancels = asked.iter().filter(|line| line.starts_with("scancel")).count();
    assert!(scancels <= squeues, "at most one scancel for each squeue: {asked:?}");
}

#[test]
fn a_resumed_run_cancels_the_jobs_it_lost_and_not_those_it_has_just_submitted() {
    let _turn = shared_turn();
    // The first attempt at each round fails, which ends the run.
    let fakes = Fakes::of("case $job in *-1) echo '{\"failed\":\"bad luck\"}'; exit 1 ;; esac");
    let said = Said::of(fakes.tolok(&["run", "try", "--on", "slurm"]).output().unwrap());
    assert!(said.code == Some(1) && said.progress.contains("bad luck"), "{}", said.progress);
    // A job of the first attempts is still there, and `squeue` answers only after a second attempt's job is in the queue.
    let run = fakes.place.run_folder();
    let lost = fs::read_dir(run.join("attempts")).unwrap().next().unwrap().unwrap().file_name();
    let job = format!("tolok-{}-{}", run.file_name().unwrap().display(), lost.display());
    let queue = fakes.path("queue");
    fs::write(&queue, format!("8 {job}\n")).unwrap();
    fs::write(fakes.path("log"), "").unwrap();
    fakes.write_squeue(&format!("while ! grep -q -- '-2$' {}; do sleep 0.05; done", queue.display()));
    let said = Said::of(fakes.tolok(&["resume", "latest"]).output().unwrap());
    assert_done(said.code, &said.progress);
    let cancelled: Vec<String> = fakes.asked().into_iter().filter(|line| line.starts_with("scancel")).collect();
    assert_eq!(cancelled[0], "scancel --quiet 8");
}

#[test]
fn a_job_that_slurm_forgot_is_asked_for_again() {
    let _turn = shared_turn();
    let fakes = Fakes::with_queue("case $job in *-b1-1) exec sleep 600 ;; esac", "");
    let said = Said::of(fakes.tolok(&["run", "try", "--on", "slurm"]).output().unwrap());
    assert_done(said.code, &said.progress);
    assert!(said.progress.contains("round 1 cannot begin: Slurm no longer knows its job"), "{}", said.progress);
}

#[test]
fn a_job_that_ends_slowly_holds_up_no_other_round() {
    let _turn = shared_turn();
    // The first round's first job closes its output, and ends only after the other round.
    let slow = "case $job in *-b1-1) exec >&-; while [ ! -e $0.go ]; do sleep 0.05; done; \
                echo 'srun: error: no luck' >&2; exit 1 ;; esac";
    let fakes = Fakes::of(slow);
    let mut run = Started::of(fakes.tolok(&["run", "try", "--on", "slurm"]));
    let before = run.wait_for("2/4");
    assert!(!before.contains("cannot begin"), "{before}");
    fs::write(fakes.path("srun.go"), "").unwrap();
    let refused = run.wait_for("cannot begin");
    assert!(refused.contains("round 1 cannot begin: srun: error: no luck"), "{refused}");
    let (said, code) = run.finish();
    assert_done(code, &said);
}

#[test]
fn a_node_without_the_cpus_of_the_plan_is_refused_with_both_figures() {
    let _turn = shared_turn();
    let lacks = std::thread::available_parallelism().unwrap().get() < 2;
    tolok_testkit::require!(!lacks, "this machine has one CPU");
    let fakes = Fakes::of("exec taskset -c 0 \"$@\"");
    let said = Said::of(fakes.tolok(&["run", "try", "--on", "slurm", "--mixed-hardware"]).output().unwrap());
    assert_eq!(said.code, Some(1), "{}", said.progress);
    let sentence = "cannot begin on a node of Slurm: n1 lets a round use 1 CPU (numbers 0), and the plan needs 2 CPUs (numbers 0,1)";
    assert!(said.progress.contains(sentence), "{}", said.progress);
    assert!(said.progress.contains("Choose like nodes with --partition or --constraint"), "{}", said.progress);
}
