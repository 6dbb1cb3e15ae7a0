//! Subjects and workloads of a run from outside the checkout: parsed, found, and added to the catalogue.

use std::path::Path;

use tolok_lab::home::{Home, own_workload};
use tolok_lab::run::Laboratory;
use tolok_lab::user_servers::{
    FolderError, UrlError, again, ask_three_times, external_server, is_on_this_machine, local_subject, serves,
    versions_of_study,
};
use tolok_model::{
    Catalogue, ExternalServer, Plan, Skipped, Study, Subject, SubjectSelector, Workload, WrongPart, url_workload,
};

use crate::args::BringArgs;
use crate::exit::{CliError, Exit};
use crate::made_study::study_of_urls;
use crate::output::say;

/// The study for folders alone: the small responses and the rows of the first look.
const STUDY_OF_FOLDERS: &str = "quick";

#[derive(Debug, Default)]
pub struct UserServers {
    /// The study that tolok generated for them, which lists them in its own order: its name and its text.
    pub made: Option<(String, String)>,
    /// Subjects in the user's folders.
    pub folders: Vec<Subject>,
    /// Subjects that the study itself names with a version of their program.
    pub versions: Vec<Subject>,
    /// Servers that already run. tolok finds out which workloads they serve once it has the study.
    pub servers: Vec<ExternalServer>,
    /// Workloads of a resumed run that are in the user's folders. Those of the working folder are in the catalogue.
    pub workloads: Vec<Workload>,
}

impl UserServers {
    /// Reads the folders and parses the URLs. `has_study` is true if a study or a workload was named.
    pub fn of(args: &BringArgs, has_study: bool) -> Result<Self, CliError> {
        if !has_study && args.subject.is_empty() && args.url.is_empty() {
            let message = "nothing to run: name a study (`tolok list studies`), a server with --subject DIR or --url URL, or a --workload";
            return Err(CliError::usage(message));
        }
        let folders = args.subject.iter().map(|path| local_subject(path)).collect::<Result<Vec<_>, _>>()?;
        // With a subject in a folder there is always a study: the one for folders.
        let has_paths = has_study || !folders.is_empty();
        let server = |it: &crate::args::NamedUrl| external_server(it.name.as_deref(), &it.url, has_paths);
        let mut servers = args.url.iter().map(server).collect::<Result<Vec<_>, _>>()?;
        name_apart(&mut servers, args);
        refuse_remote(&servers, args.allow_remote)?;
        if args.pid.len() > servers.len() {
            return Err(CliError::usage(
                "there are more --pid than --url; give one for each server, in the same order",
            ));
        }
        servers.iter_mut().zip(&args.pid).for_each(|(server, pid)| server.pid = Some(*pid));
        refuse_lost_pids(&servers)?;
        Ok(Self { folders, servers, ..Self::default() })
    }

    /// Reads the subjects that a study names with a version: `bun/queue@1.0.0`.
    pub fn read_versions(&mut self, study: Option<&str>) -> Result<(), CliError> {
        let home = Home::find()?;
        if let Some(text) = study.and_then(|name| home.study_text(name)) {
            self.versions = versions_of_study(&text, &home.catalogue()?, &home)?;
        }
        Ok(())
    }

    /// Checks again what the plan of a run brought along. It warns of changes; a missing folder is an error. The user's consent to load
    /// other machines was for one session: a server or its owner may have changed since.
    pub fn again(plan: &Plan, allow_remote: bool) -> Result<Self, CliError> {
        refuse_remote(&plan.brought.servers, allow_remote)?;
        refuse_lost_pids(&plan.brought.servers)?;
        let mut bring = Self { servers: plan.brought.servers.clone(), ..Self::default() };
        for brought in &plan.brought.folders {
            let subject = again(brought).map_err(|error| match error {
                FolderError::NoFolder { path } => {
                    let gone = format!("cannot resume: the folder of {}, {}, is gone", brought.subject, path.display());
                    CliError::new(Exit::Missing, gone)
                }
                error => error.into(),
            })?;
            if subject.folder.as_ref().is_some_and(|now| now.sha256 != brought.sha256) {
                let (id, folder) = (&brought.subject, &brought.folder);
                say(format!(
                    "warning: {id} in {folder} has changed since the run began; its trials cannot be compared"
                ));
            }
            bring.folders.push(subject);
        }
        for brought in &plan.brought.workloads {
            let gone = || format!("cannot resume: the workload in {} is gone", brought.folder);
            let workload =
                own_workload(Path::new(&brought.folder))?.ok_or_else(|| CliError::new(Exit::Missing, gone()))?;
            if workload.folder.as_ref() != Some(brought) {
                let (name, folder) = (&brought.workload, &brought.folder);
                say(format!(
                    "warning: the workload {name} in {folder} has changed since the run began; its trials cannot be compared"
                ));
            }
            bring.workloads.push(workload);
        }
        for server in &bring.servers {
            let now = ask_three_times(server.clone())?;
            if now.own != server.own {
                let id = &server.subject;
                say(format!(
                    "warning: {id} responds differently than when the run began; such responses do not count as correct"
                ));
            }
        }
        Ok(bring)
    }

    /// Adds all of it to the catalogue, and refuses a name that the catalogue has.
    pub fn enter(&self, catalogue: &mut Catalogue) -> Result<(), CliError> {
        // A run's own workload folder takes precedence, wherever the run is resumed.
        catalogue.workloads.retain(|known| self.workloads.iter().all(|own| own.name != known.name));
        catalogue.workloads.extend(self.workloads.iter().cloned());
        let servers = self.servers.iter().map(|server| server.subject(every_workload(catalogue)));
        for subject in self.folders.iter().chain(&self.versions).cloned().chain(servers.collect::<Vec<_>>()) {
            if catalogue.subject(&subject.id).is_some() {
                let help = match subject.external {
                    Some(_) => "give one of them another name: --url NAME=URL",
                    None => "the folder gives the name, so give one of them another",
                };
                return Err(CliError::usage(format!("there are two subjects `{}`; {help}", subject.id)));
            }
            catalogue.subjects.push(subject);
        }
        if self.servers.iter().any(|server| server.own.is_some()) {
            catalogue.workloads.push(url_workload(&self.servers));
        }
        catalogue.settle_mixed().map_err(|WrongPart { mixed, message, .. }| {
            CliError::new(Exit::Usage, format!("the workload {mixed} has a part that cannot be asked for: {message}"))
        })
    }

    /// The default study: its name and, unless it is a file, its text.
    pub fn study(&self) -> (String, Option<String>) {
        if let Some((name, text)) = &self.made {
            (name.clone(), Some(text.clone()))
        } else if self.folders.is_empty() {
            ("url".to_owned(), Some(study_of_urls(&self.servers)))
        } else {
            (STUDY_OF_FOLDERS.to_owned(), None)
        }
    }

    /// The title of a run of these alone: their names.
    pub fn title(&self) -> Option<String> {
        let folders = self.folders.iter().map(|subject| subject.title.as_str());
        let servers = self.servers.iter().map(|server| server.subject.rsplit('/').next().unwrap_or_default());
        let names: Vec<&str> = folders.chain(servers).collect();
        (self.made.is_none() && !names.is_empty()).then(|| names.join(" vs "))
    }

    /// Sends each server the study's requests before anything is measured. It leaves out what a server does not serve, and reports that.
    pub fn ask(&self, study: &Study, laboratory: &mut Laboratory) -> Result<Vec<Skipped>, CliError> {
        let (home, catalogue) = (&laboratory.home, &mut laboratory.catalogue);
        let mut left_out = Vec::new();
        for server in self.servers.iter().filter(|server| server.own.is_none()) {
            let mut reasons = Vec::new();
            let served = served(server, &asked_of(study, catalogue), home, &mut reasons)?;
            if !reasons.is_empty() {
                left_out.push(Skipped::new(&server.subject, reasons.join("; ")));
            }
            let known = catalogue.subjects.iter_mut().filter(|subject| subject.id == server.subject);
            known.flat_map(|subject| subject.variants.values_mut()).for_each(|it| it.workloads.clone_from(&served));
        }
        Ok(left_out)
    }

    /// Requests each server's own URL, and stores the responses as the contract from then on.
    pub fn ask_urls(&mut self) -> Result<(), CliError> {
        for server in &mut self.servers {
            *server = ask_three_times(server.clone())?;
            if let Some(own) = &server.own {
                say(format!("  {}{}: {}", server.base, own.path, own.body.words()));
            }
        }
        Ok(())
    }

    /// Adds what was brought to the subjects of a study.
    pub fn select(&self, study: &mut Study, catalogue: &Catalogue, alone: bool) {
        if self.made.is_some() {
            return;
        }
        let of_folders = self.folders.iter().map(|subject| &subject.id);
        let ids = of_folders.chain(self.servers.iter().map(|server| &server.subject));
        let own = ids.filter_map(|id| SubjectSelector::read(id, catalogue).ok());
        let own: Vec<SubjectSelector> = own.collect();
        if alone && !own.is_empty() {
            study.subjects.clear();
        }
        let new: Vec<SubjectSelector> = own.into_iter().filter(|selector| !study.subjects.contains(selector)).collect();
        study.subjects.extend(new);
    }
}

/// Every workload. Which of them a server serves is only known once a study selects some.
fn every_workload(catalogue: &Catalogue) -> Vec<String> {
    let of_catalogue = catalogue.workloads.iter().map(|workload| workload.name.clone());
    of_catalogue.chain([tolok_model::URL_WORKLOAD.to_owned()]).collect()
}

/// The workloads of a study's scenarios, each once.
fn asked_of(study: &Study, catalogue: &Catalogue) -> Vec<Workload> {
    let mut asked: Vec<Workload> = Vec::new();
    for scenario in &study.scenarios {
        let workload = catalogue.choose_workload(&scenario.workload).ok();
        asked.extend(workload.filter(|workload| asked.iter().all(|known| known.name != workload.name)));
    }
    asked
}

/// Names of the workloads that a server serves. It keeps those that need a database: the plan gives the reason why this server does not get
/// them.
fn served(
    server: &ExternalServer,
    asked: &[Workload],
    home: &Home,
    reasons: &mut Vec<String>,
) -> Result<Vec<String>, UrlError> {
    let mut names = Vec::new();
    for workload in asked {
        let is_served = if workload.database { Ok(()) } else { serves(server, workload, home)? };
        match is_served {
            Ok(()) => names.push(workload.name.split('?').next().unwrap_or_default().to_owned()),
            Err(reason) => reasons.push(reason),
        }
    }
    Ok(names)
}

/// Adds a number to the name of a server that shares host and port with an earlier one, unless the user named it.
fn name_apart(servers: &mut [ExternalServer], args: &BringArgs) {
    for at in 1..servers.len() {
        let (before, rest) = servers.split_at_mut(at);
        let is_taken = |name: &str| before.iter().any(|other| other.subject == name);
        let is_named = args.url.get(at).is_some_and(|url| url.name.is_some());
        if !is_named && is_taken(&rest[0].subject) {
            let mut number = 2;
            while is_taken(&format!("{}-{number}", rest[0].subject)) {
                number += 1;
            }
            rest[0].subject = format!("{}-{number}", rest[0].subject);
        }
    }
}

/// Refuses load on other machines without consent, before any of them gets a request.
fn refuse_remote(servers: &[ExternalServer], allow_remote: bool) -> Result<(), CliError> {
    for server in servers {
        if !is_on_this_machine(server)? && !allow_remote {
            return Err(CliError::usage(remote(server)));
        }
    }
    Ok(())
}

/// Refuses process ids that do not exist, and those of servers on other machines.
fn refuse_lost_pids(servers: &[ExternalServer]) -> Result<(), CliError> {
    for (server, pid) in servers.iter().filter_map(|server| Some((server, server.pid?))) {
        if !is_on_this_machine(server)? {
            return Err(CliError::usage(format!("--pid {pid}: {} is on another machine", server.base)));
        }
        if !Path::new("/proc").join(pid.to_string()).is_dir() {
            let message =
                format!("there is no process {pid} of {}; `ss -ltnp` shows which process listens where", server.base);
            return Err(CliError::usage(message));
        }
    }
    Ok(())
}

fn remote(server: &ExternalServer) -> String {
    format!(
        "{} is not on this machine. Load on somebody else's server may count as an attack. If you may put load on it, add --allow-remote",
        server.base
    )
}

impl From<FolderError> for CliError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Wrong(error) => error.into(),
            FolderError::Files(error) => Self::new(Exit::Internal, error),
            error => Self::usage(error),
        }
    }
}

impl From<UrlError> for CliError {
    fn from(error: UrlError) -> Self {
        match &error {
            UrlError::Url(_) | UrlError::Secure { .. } | UrlError::NotRecorded { .. } | UrlError::Query { .. } => {
                Self::usage(error)
            }
            _ => Self::new(Exit::GateFailed, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::NamedUrl;

    #[test]
    fn servers_of_one_host_and_port_are_told_apart_however_many_they_are() {
        let url = || NamedUrl { name: None, url: "http://a:1/".to_owned() };
        let args = BringArgs { url: vec![url(), url(), url()], ..BringArgs::default() };
        let server =
            || ExternalServer { subject: "external/a-1".to_owned(), base: String::new(), own: None, pid: None };
        let mut servers = [server(), server(), server()];
        name_apart(&mut servers, &args);
        assert_eq!(servers.map(|it| it.subject), ["external/a-1", "external/a-1-2", "external/a-1-3"]);
    }

    #[test]
    fn a_study_names_versions_of_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path().join("versions.toml");
        std::fs::write(&study, "subjects = ['bun/queue', 'bun/queue@1.0.0', 'bun/queue@1.0.0:serial', 'bnu@1.0.0']")
            .unwrap();
        let mut bring = UserServers::default();
        bring.read_versions(study.to_str()).unwrap();
        let ids: Vec<(&str, &str)> = bring.versions.iter().map(|it| (it.id.as_str(), it.needs[0].as_str())).collect();
        assert_eq!(ids, [("bun/queue@1.0.0", "bun@1.0.0")]);
        let mut catalogue = Home::find().unwrap().catalogue().unwrap();
        bring.enter(&mut catalogue).unwrap();
        assert!(SubjectSelector::read("bun/queue@1.0.0:serial", &catalogue).is_ok());
    }

    #[test]
    fn load_on_another_machine_needs_consent_each_time() {
        let server = |base: &str| ExternalServer {
            subject: "external/a".to_owned(),
            base: base.to_owned(),
            own: None,
            pid: None,
        };
        let servers = [server("http://127.0.0.1:1"), server("http://198.51.100.7:80")];
        let refused = refuse_remote(&servers, false).unwrap_err();
        assert!(refused.text.contains("198.51.100.7") && refused.text.contains("--allow-remote"));
        assert!(refuse_remote(&servers, true).is_ok() && refuse_remote(&servers[..1], false).is_ok());
    }
}
