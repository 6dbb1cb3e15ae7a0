//! Slurm's client programs, without the user's own settings for them.

use std::path::Path;
use std::process::Command;

/// A client program of Slurm that uses this cluster's configuration. The user's own settings could hide jobs or nodes, make `scancel`
/// ask for confirmation, or name another cluster.
pub(crate) fn client(program: &str, conf: Option<&Path>) -> Command {
    let mut client = Command::new(program);
    client.envs(conf.map(|conf| ("SLURM_CONF", conf)));
    let own = ["SQUEUE_", "SCANCEL_", "SINFO_"];
    remove_variables(&mut client, |name| name == "SLURM_CLUSTERS" || own.iter().any(|own| name.starts_with(own)));
    client
}

/// Starts the command without the environment variables whose names satisfy `is_meant`.
pub(crate) fn remove_variables(command: &mut Command, is_meant: impl Fn(&str) -> bool) {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| is_meant(name)).for_each(|name| {
        command.env_remove(name);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_user_is_removed_and_the_configuration_stays() {
        let mut command = client("squeue", Some(Path::new("/pool/slurm.conf")));
        // `PATH` is set in every test, so it stands for a setting of the user.
        remove_variables(&mut command, |name| name == "PATH");
        let set: Vec<(String, bool)> =
            command.get_envs().map(|(name, value)| (name.to_string_lossy().into_owned(), value.is_some())).collect();
        assert_eq!(set, [("PATH".to_owned(), false), ("SLURM_CONF".to_owned(), true)]);
    }
}
