//! CPU time of a server, from its control group or from the clocks of its processes.

use std::fs;
use std::path::Path;

use super::job::CpuAccount;
use crate::process_cpu::{ProcessClocks, tree};

/// Reads an account repeatedly.
#[derive(Debug)]
pub(super) struct CpuReader<'job> {
    account: &'job CpuAccount,
    /// Used only without a control group.
    clocks: ProcessClocks,
}

impl<'job> CpuReader<'job> {
    pub fn new(account: &'job CpuAccount) -> Self {
        Self { account, clocks: ProcessClocks::default() }
    }

    /// CPU time used so far, in seconds, or `None` where it cannot be read.
    pub fn read_s(&mut self) -> Option<f64> {
        match self.account {
            CpuAccount::Cpuacct(file) => Some(fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()? as f64 / 1e9),
            CpuAccount::CpuStat(file) => {
                let text = fs::read_to_string(file).ok()?;
                let usage = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(usage.trim().parse::<u64>().ok()? as f64 / 1e6)
            }
            CpuAccount::Processes(roots) => {
                let pids = tree(Path::new("/proc"), roots)?;
                Some(self.clocks.read(&pids) as f64 / 1e9)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_s(account: &CpuAccount) -> Option<f64> {
        CpuReader::new(account).read_s()
    }

    #[test]
    fn control_groups_are_read_in_either_form_and_time_is_absent_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (usage, stat) = (folder.path().join("cpuacct.usage"), folder.path().join("cpu.stat"));
        fs::write(&usage, "1500000000\n").unwrap();
        fs::write(&stat, "usage_usec 2500000\nuser_usec 1\n").unwrap();
        assert_eq!(read_s(&CpuAccount::Cpuacct(usage)), Some(1.5));
        assert_eq!(read_s(&CpuAccount::CpuStat(stat)), Some(2.5));
        assert_eq!(read_s(&CpuAccount::Cpuacct("/nonexistent".into())), None);
    }

    #[test]
    fn without_a_group_the_clocks_of_the_processes_are_read() {
        let account = CpuAccount::Processes(vec![std::process::id()]);
        let mut reader = CpuReader::new(&account);
        let before_s = reader.read_s().unwrap();
        assert!(before_s > 0.0 && reader.read_s().unwrap() >= before_s);
        assert_eq!(read_s(&CpuAccount::Processes(Vec::new())), None);
    }
}
