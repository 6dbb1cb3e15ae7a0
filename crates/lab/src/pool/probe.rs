//! Facts about machines before they become a pool, and the problems found in them. Nothing here reads or writes files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::conf::quoted;
use super::hosts_file::is_node_name;

const PROBE: &str = include_str!("probe.sh");
/// Munge refuses credentials older than five minutes, and slurmd jobs older than two. One minute is left for messages.
const CLOCK_LIMIT: Duration = Duration::from_secs(60);
/// The programs that each machine needs, Slurm's daemon first, with their Debian packages.
pub(super) const OF_CONTROLLER: Needs = &[("slurmctld", "slurmctld"), ("munged", "munge"), ("srun", "slurm-client")];
pub(super) const OF_NODE: Needs = &[("slurmd", "slurmd"), ("munged", "munge"), ("scancel", "slurm-client")];
type Needs = &'static [(&'static str, &'static str)];

/// A version of Slurm, without the patch number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlurmVersion(pub(super) u32, pub(super) u32);

/// What to find out about a machine.
pub(super) struct Questions<'a> {
    pub(super) port: u16,
    /// This program.
    pub(super) tolok: &'a Path,
    /// Files that every machine must see, each with a word that only this machine has written.
    pub(super) shared: &'a [(PathBuf, String)],
}

impl Questions<'_> {
    pub(super) fn script(&self, needs: Needs, port: u16) -> String {
        let programs: Vec<&str> = needs.iter().map(|(program, _)| *program).collect();
        let files: Vec<String> = self.shared.iter().map(|(path, _)| path.display().to_string()).collect();
        let (programs, shared) = (programs.join(" "), quoted(Path::new(&files.join("\n"))));
        format!("PROGRAMS='{programs}'\nPORT={port}\nTOLOK={}\nSHARED={shared}\n{PROBE}", quoted(self.tolok))
    }
}

/// A machine's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Seconds since 1970.
    clock: Option<u64>,
    uid: String,
    pub(super) user: String,
    /// Its name up to the first dot.
    pub(super) name: String,
    /// Its address, as ssh reached it.
    pub(super) address: Option<String>,
    lacks: Vec<String>,
    slurm: String,
    /// slurmd's description of the hardware, without the node's name.
    pub(super) node: String,
    cpu: String,
    is_taken: bool,
    tolok: String,
    shared: Vec<String>,
}

impl Facts {
    pub(super) fn parse(text: &str) -> Self {
        let mut facts = Self::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once('\t')) {
            let value = value.trim();
            match key {
                "clock" => facts.clock = value.parse().ok(),
                "uid" => facts.uid = value.to_owned(),
                "user" => facts.user = value.to_owned(),
                "name" => facts.name = value.split('.').next().unwrap_or_default().to_owned(),
                "connection" => facts.address = value.split(' ').nth(2).map(str::to_owned),
                "lacks" => facts.lacks.push(value.to_owned()),
                "slurm" => facts.slurm = value.to_owned(),
                "node" => facts.node = value.split_once(' ').map_or("", |(_, rest)| rest).to_owned(),
                "cpu" => facts.cpu = value.to_owned(),
                "taken" => facts.is_taken = true,
                "tolok" => facts.tolok = value.to_owned(),
                "shared" => facts.shared.push(value.to_owned()),
                // A login shell may print a greeting.
                _ => {}
            }
        }
        facts
    }

    /// Parsed from, for example, `slurm-wlm 22.05.8`.
    pub(super) fn version(&self) -> Option<SlurmVersion> {
        let mut numbers = self.slurm.split_whitespace().last()?.split('.').map(str::parse);
        Some(SlurmVersion(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.node.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
    }

    pub(super) fn cpus(&self) -> Option<u64> {
        self.number("CPUs")
    }

    pub(super) fn memory_mib(&self) -> Option<u64> {
        self.number("RealMemory")
    }

    pub(super) fn hardware(&self) -> String {
        let count = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
        let memory = count(self.memory_mib().map(|memory| memory >> 10));
        format!("{} CPUs ({}) and {memory}GiB", count(self.cpus()), self.cpu)
    }

    /// The check that a run later makes of nodes: the same CPUs, and nearly as much memory.
    fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (self.memory_mib().unwrap_or(0), other.memory_mib().unwrap_or(0));
        (&self.cpu, self.cpus()) == (&other.cpu, other.cpus()) && one.abs_diff(two) <= one.max(two) / 20
    }
}

/// A machine's answers, and when this machine asked and got them, in seconds since 1970.
pub(super) struct Asked {
    /// Its name for people.
    pub(super) who: String,
    pub(super) facts: Facts,
    pub(super) between: (u64, u64),
}

/// Everything that prevents these machines from being a pool, in sentences. The first machine is the controller's.
pub(super) fn problems(machines: &[Asked], questions: &Questions<'_>, may_differ: bool) -> Vec<String> {
    let Some((controller, hosts)) = machines.split_first() else { return Vec::new() };
    let mut found = own_problems(controller, OF_CONTROLLER, questions.port);
    for host in hosts {
        let own = own_problems(host, OF_NODE, questions.port + 1);
        // Other differences matter only once the programs are installed.
        let with_controller = if own.is_empty() { problems_between(controller, host, questions) } else { Vec::new() };
        found.extend(own.into_iter().chain(with_controller));
    }
    found.extend(same_names(machines));
    let like = hosts.iter().find(|host| host.facts.cpus().is_some());
    for (first, host) in like.into_iter().flat_map(|first| hosts.iter().map(move |host| (first, host))) {
        if !may_differ && host.facts.cpus().is_some() && !host.facts.is_like(&first.facts) {
            let (here, there) = (host.facts.hardware(), first.facts.hardware());
            found.push(format!(
                "{}: it has {here}, and {} has {there}. Leave one of them out, or allow the difference with --mixed-hardware",
                host.who, first.who
            ));
        }
    }
    found
}

/// Problems of a single machine.
fn own_problems(machine: &Asked, needs: Needs, port: u16) -> Vec<String> {
    let (who, facts) = (&machine.who, &machine.facts);
    if facts.clock.is_none() {
        return vec![format!("{who}: it does not answer as a Linux with a POSIX shell would")];
    }
    let lacking = needs.iter().filter(|(program, _)| facts.lacks.iter().any(|lack| lack == program));
    let (programs, packages): (Vec<&str>, Vec<&str>) = lacking.copied().unzip();
    let mut found = Vec::new();
    if !programs.is_empty() {
        found.push(format!(
            "{who}: it lacks {}. Install there (Debian): apt-get install {}",
            programs.join(", "),
            packages.join(" ")
        ));
    } else if facts.version().is_none() {
        found.push(format!("{who}: {} does not say its version", needs[0].0));
    } else if needs == OF_NODE && (facts.cpus().is_none() || facts.memory_mib().is_none()) {
        found.push(format!("{who}: `slurmd -C` does not say what the machine has"));
    }
    if facts.is_taken {
        found.push(format!("{who}: port {port} is taken. --port N chooses another, and the one behind it"));
    }
    if !is_node_name(&facts.name) {
        found.push(format!("{who}: it calls itself `{}`, and Slurm takes letters, digits and hyphens", facts.name));
    }
    found
}

/// Conflicts between a host and the controller's machine.
fn problems_between(controller: &Asked, host: &Asked, questions: &Questions<'_>) -> Vec<String> {
    let (who, there, here) = (&host.who, &host.facts, &controller.facts);
    let mut found = Vec::new();
    if there.uid != here.uid {
        let (other, own) = (format!("{} ({})", there.user, there.uid), format!("{} ({})", here.user, here.uid));
        found.push(format!(
            "{who}: ssh logs in as {other}, and you are {own} here. Runs need the same user and number on all"
        ));
    }
    if let Some(words) = clock_words(there.clock.unwrap_or_default(), host.between) {
        found.push(format!(
            "{who}: its clock is {words}. Slurm's messages would be refused; let both follow one time server"
        ));
    }
    if there.version() != here.version() {
        found.push(format!(
            "{who}: it has {}, and this machine {}. Install the same version on both",
            there.slurm, here.slurm
        ));
    }
    let wanted = questions.shared.iter().zip(there.shared.iter().map(String::as_str).chain(std::iter::repeat("")));
    for ((path, _), _) in wanted.filter(|((_, word), seen)| word != seen) {
        let folder = path.parent().unwrap_or(path).display();
        found.push(format!(
            "{who}: a file that was written here in {folder} is not there. All machines must share that folder"
        ));
    }
    if there.tolok != here.tolok {
        let (tolok, what) =
            (questions.tolok.display(), if there.tolok.is_empty() { "nothing that runs" } else { &there.tolok });
        found.push(format!(
            "{who}: {tolok} is {what} there, and {} here. All machines must share that folder",
            here.tolok
        ));
    }
    found
}

/// How far a clock is off from ours, if that is too far. It was read at some instant between our two readings.
fn clock_words(clock: u64, (asked, answered): (u64, u64)) -> Option<String> {
    let (ahead, behind) = (clock.saturating_sub(answered), asked.saturating_sub(clock));
    let is_far = ahead.max(behind) > CLOCK_LIMIT.as_secs();
    is_far.then(|| if ahead > 0 { format!("{ahead} s ahead") } else { format!("{behind} s behind") })
}

fn same_names(machines: &[Asked]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for machine in machines.iter().filter(|machine| !machine.facts.name.is_empty()) {
        by_name.entry(&machine.facts.name).or_default().push(&machine.who);
    }
    let several = by_name.into_iter().filter(|(_, who)| who.len() > 1);
    several
        .map(|(name, who)| {
            format!(
                "{} call themselves `{name}`; Slurm needs a name for each, and the controller's machine runs no rounds",
                who.join(" and ")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const NODE: &str = "motd\nclock\t1000\nuid\t0\nuser\troot\nname\tn1.lab.example\nconnection\t10.0.0.1 5000 10.0.0.11 22\n\
        slurm\tslurm-wlm 22.05.8\nnode\tNodeName=n1 CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000\n\
        cpu\tEPYC\ntolok\ttolok 0.1.0\nshared\tword\n";

    fn asked(who: &str, text: &str) -> Asked {
        Asked { who: who.to_owned(), facts: Facts::parse(text), between: (999, 1001) }
    }

    /// The problems of hosts `n1` and `n2` when the answer of the second is changed.
    fn wrong(from: &str, to: &str) -> String {
        let second = NODE.replace("n1", "n2").replacen(from, to, 1);
        let machines =
            [asked("this machine", &NODE.replace("n1", "desk")), asked("root@n1", NODE), asked("root@n2", &second)];
        let shared = [(PathBuf::from("/nfs/runs/.tolok-x"), "word".to_owned())];
        let questions = Questions { port: 16817, tolok: Path::new("/nfs/tolok"), shared: &shared };
        problems(&machines, &questions, false).join("\n")
    }

    #[test]
    fn machines_that_fit_have_no_problem_and_their_facts_are_read() {
        assert_eq!(wrong("", ""), "");
        let facts = Facts::parse(NODE);
        assert_eq!((facts.name.as_str(), facts.address.as_deref()), ("n1", Some("10.0.0.11")));
        assert_eq!(
            (facts.version(), facts.cpus(), facts.memory_mib()),
            (Some(SlurmVersion(22, 5)), Some(16), Some(64000))
        );
        assert!(facts.node.starts_with("CPUs=16 Boards=1 "));
    }

    #[test]
    fn each_problem_says_where_it_is_and_what_to_do() {
        let all = [
            wrong("slurm\tslurm-wlm 22.05.8", "lacks\tslurmd\nlacks\tmunged\nslurm\t"),
            wrong("clock\t1000", "clock\t1400"),
            wrong("clock\t1000", "clock\t900"),
            wrong("uid\t0\nuser\troot", "uid\t1000\nuser\tlab"),
            wrong("22.05.8", "24.11.5"),
            wrong("shared\tword", "shared\t"),
            wrong("tolok 0.1.0", ""),
            wrong("CPUs=16", "CPUs=8"),
            wrong("RealMemory=64000", "RealMemory=32000"),
            wrong("cpu\t", "taken\t16818\ncpu\t"),
            wrong("name\tn2", "name\tn1"),
            wrong("clock\t1000\n", ""),
        ];
        assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn a_clock_is_judged_by_both_ends_of_the_question() {
        assert_eq!(clock_words(1000, (900, 1100)), None);
        assert_eq!(clock_words(1160, (900, 1100)), None);
        assert_eq!(clock_words(1161, (900, 1100)).as_deref(), Some("61 s ahead"));
        assert_eq!(clock_words(800, (900, 1100)).as_deref(), Some("100 s behind"));
    }

    #[test]
    fn what_is_asked_reaches_the_shell_whole() {
        let shared = [(PathBuf::from("/nfs/it's"), "word".to_owned()), (PathBuf::from("/cache"), "other".to_owned())];
        let questions = Questions { port: 16817, tolok: Path::new("/nfs/tolok"), shared: &shared };
        let script = questions.script(OF_NODE, 16818);
        assert!(script.starts_with(
            "PROGRAMS='slurmd munged scancel'\nPORT=16818\nTOLOK=/nfs/tolok\nSHARED='/nfs/it'\\''s\n/cache'\n"
        ));
    }
}
