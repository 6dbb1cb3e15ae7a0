//! Turns a written `[environment]` into the environments of a study, one for each combination of listed values.

use std::collections::{BTreeMap, BTreeSet};

use crate::database::Database;
use crate::database::reading::{WrittenDatabase, read_database};
use crate::environment::file::{EnvironmentFile, GeneratorFile, LimitsFile, LinkFile, LinkTable, NetworkFile, Setting};
use crate::environment::{CpuMode, Environment, Limits, Link, LinkBackend, NAMESPACED, Network, USUAL_CONGESTION};
use crate::limits::ENVIRONMENTS;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::reading::text::{Reading, Span};
use crate::units::{Percent, Seconds, format_bit_rate, format_bytes, format_duration, percent_words};

/// No link on earth takes longer, so a longer one is a typo.
const LONGEST_S: f64 = 10.0;

/// One of several settings, and its name.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T> {
    pub value: T,
    /// Its part of the environment's name, or `None` if there is only one value.
    pub word: Option<String>,
}

/// What `[environment]` defines.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Every combination of listed values.
    pub environments: Vec<Environment>,
    /// Maps each environment's id to the id it has without its database.
    pub ids_without_database: BTreeMap<String, String>,
    /// The database, if the study describes one.
    pub database: Option<WrittenDatabase>,
}

/// Reads `[environment]` into every combination of its listed values.
pub(crate) fn read_environments(file: Table<EnvironmentFile>, reading: &mut Reading) -> Surroundings {
    let Table { span, entries: EnvironmentFile { subject, generator, link, network, database } } = file;
    let generator = read_generator(generator.entries, reading);
    let subjects = read_limits(subject, reading);
    let (link_span, network_span) = (link.as_ref().map(Spanned::span), network.span.clone());
    let links = read_links(link, reading);
    let networks = read_network(network, reading);
    let database = database.map(|database| read_database(database, reading));
    if database.as_ref().is_some_and(|database| database.is_external) {
        refuse_networks(&links, link_span, &networks, network_span, reading);
    }
    let databases = choices_of(database.as_ref());
    let parts = crossed(&subjects, &links, |subject, link| (subject, link));
    let with_networks = crossed(&parts, &networks, |(subject, link), network| Environment {
        subject,
        link,
        network,
        generator: generator.clone(),
        ..Environment::default()
    });
    let (mut environments, mut ids_without_database) = (Vec::new(), BTreeMap::new());
    if let Err(why) = ENVIRONMENTS.holds((with_networks.len() * databases.len()) as u64) {
        reading.note(span, why, None);
        return Surroundings { environments, ids_without_database, database };
    }
    for environment in &with_networks {
        for database in &databases {
            let id = joined(&[&environment.word, &database.word]);
            ids_without_database.insert(id.clone(), environment.word.clone().unwrap_or_default());
            environments.push(Environment { id, database: database.value.clone(), ..environment.value.clone() });
        }
    }
    Surroundings { environments, ids_without_database, database }
}

fn choices_of(database: Option<&WrittenDatabase>) -> Vec<Choice<Option<Database>>> {
    let Some(written) = database else { return vec![Choice { value: None, word: None }] };
    let choice = |one: &Choice<Database>| Choice { value: Some(one.value.clone()), word: one.word.clone() };
    written.choices.iter().map(choice).collect()
}

/// An external server is reached over the machine's own network, which tolok must not change.
fn refuse_networks(
    links: &[Choice<Link>],
    link_span: Option<Span>,
    networks: &[Choice<Network>],
    network_span: Span,
    reading: &mut Reading,
) {
    let help = "leave it out, or let the lab start the database: without `dsn`";
    if let Some(span) = link_span.filter(|_| links.iter().any(|link| !link.value.is_local())) {
        let message = "with the `dsn` of a database all parts are in the machine's own network, where there is no link";
        reading.note(span, message, help.to_owned());
    }
    if networks.iter().any(|network| network.value != Network::default()) {
        let message =
            "with the `dsn` of a database all parts are in the machine's own network, whose settings stay as they are";
        reading.note(network_span, message, help.to_owned());
    }
}

pub(crate) fn joined(words: &[&Option<String>]) -> String {
    words.iter().filter_map(|word| word.as_deref()).collect::<Vec<_>>().join("-")
}

/// Every combination of two settings, named by both words.
pub(crate) fn crossed<A: Clone, B: Clone, C>(
    left: &[Choice<A>],
    right: &[Choice<B>],
    combine: impl Fn(A, B) -> C,
) -> Vec<Choice<C>> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
    let choice = |(left, right): (&Choice<A>, &Choice<B>)| {
        let word = Some(joined(&[&left.word, &right.word])).filter(|word| !word.is_empty());
        Choice { value: combine(left.value.clone(), right.value.clone()), word }
    };
    // One more than the limit, so that the caller can report that there are too many.
    pairs.take(ENVIRONMENTS.most as usize + 1).map(choice).collect()
}

/// Reads a key that may list several values. Each gets a word if there is more than one; a missing key yields the
/// default. Refuses two values with the same word, because their environments would share a name.
pub(crate) fn choices<W, T: Clone>(
    written: Option<Several<W>>,
    default: T,
    mut read: impl FnMut(Spanned<W>, &mut Reading) -> Option<T>,
    word: impl Fn(&T) -> String,
    reading: &mut Reading,
) -> Vec<Choice<T>> {
    let mut values: Vec<T> = Vec::new();
    // One more than the limit, as in `crossed`.
    for one in written.into_iter().flat_map(|several| several.0).take(ENVIRONMENTS.most as usize + 1) {
        let place = one.span();
        let Some(value) = read(one, reading) else { continue };
        if values.iter().any(|known| word(known) == word(&value)) {
            reading.note(place, "this value appears twice", None);
        } else {
            values.push(value);
        }
    }
    match values.as_slice() {
        [] => vec![Choice { value: default, word: None }],
        [only] => vec![Choice { value: only.clone(), word: None }],
        several => several.iter().map(|value| Choice { value: value.clone(), word: Some(word(value)) }).collect(),
    }
}

fn read_generator(file: GeneratorFile, reading: &mut Reading) -> Limits {
    let mode = file.mode.unwrap_or_default();
    let cpus = file.cpus.and_then(|cpus| read_cpus(&cpus, mode == CpuMode::Dedicated, reading));
    Limits { cpus: cpus.unwrap_or(1.0), mode, ..Limits::default() }
}

fn read_limits(file: Table<LimitsFile>, reading: &mut Reading) -> Vec<Choice<Limits>> {
    let LimitsFile { cpus, mode, memory, pids } = file.entries;
    let modes =
        choices(mode, CpuMode::Dedicated, |mode, _| Some(mode.into_inner()), |mode| mode.word().to_owned(), reading);
    let dedicates = modes.iter().any(|mode| mode.value == CpuMode::Dedicated);
    let cpus = choices(
        cpus.map(Spanned::into_inner),
        1.0,
        |cpus, reading| read_cpus(&cpus, dedicates, reading),
        |cpus| format!("{cpus}cpu").replace('.', "_"),
        reading,
    );
    let size = |bytes: &Option<u64>| bytes.map(format_bytes).unwrap_or_default();
    let memories = choices(memory, None, |memory, _| Some(Some(memory.into_inner().0)), size, reading);
    let pids = pids.map(|pids| {
        reading.note_if(*pids.get_ref() == 0, pids.span(), "`pids` must be at least 1", None);
        pids.into_inner()
    });
    let parts = crossed(&modes, &cpus, |mode, cpus| (mode, cpus));
    crossed(&parts, &memories, |(mode, cpus), memory_bytes| Limits { mode, cpus, memory_bytes, pids })
}

fn read_cpus(cpus: &Spanned<f64>, dedicates: bool, reading: &mut Reading) -> Option<f64> {
    let number = *cpus.get_ref();
    if dedicates && (number < 1.0 || number.fract() != 0.0) {
        let help = "a share of a CPU is a quota: mode = \"quota\"";
        reading.note(cpus.span(), "dedicated `cpus` must be a whole number, at least 1", help);
        return None;
    }
    if !(0.01..=4096.0).contains(&number) {
        reading.note(cpus.span(), "`cpus` must be between 0.01 and 4096", None);
        return None;
    }
    Some(number)
}

pub(crate) fn read_links(written: Option<Spanned<Several<LinkFile>>>, reading: &mut Reading) -> Vec<Choice<Link>> {
    let Some(written) = written else { return vec![Choice { value: Link::default(), word: None }] };
    let span = written.span();
    let mut links: Vec<Choice<Link>> = Vec::new();
    let listed = written.into_inner().0;
    let several = listed.len() > 1;
    for link in listed {
        let place = link.span();
        match link.into_inner() {
            LinkFile::Preset(name) => {
                let value = preset(&Spanned::new(place, name.clone()), reading);
                links.extend(value.map(|value| Choice { value, word: several.then_some(name) }));
            }
            LinkFile::Table(table) => links.extend(read_link(*table, &place, several, reading)),
        }
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = links.iter().find(|link| !seen.insert(link.word.clone())) {
        let word = twice.word.clone().unwrap_or_default();
        let help = "links are told apart by preset, rtt, jitter, rate and loss";
        reading.note(span, format!("link `{word}` appears twice"), help);
    }
    if links.is_empty() { vec![Choice { value: Link::default(), word: None }] } else { links }
}

fn preset(name: &Spanned<String>, reading: &mut Reading) -> Option<Link> {
    let found = Link::preset(name.get_ref());
    if found.is_none() {
        reading.note_unknown(name, "there is no link", &Link::PRESETS);
    }
    found
}

/// Every combination of the values that a link's table lists.
fn read_link(table: LinkTable, place: &Span, several: bool, reading: &mut Reading) -> Vec<Choice<Link>> {
    let base = table.preset.as_ref().and_then(|name| preset(name, reading)).unwrap_or_default();
    let rtts = times("rtt", table.rtt, base.rtt_s, reading);
    let jitters = times("jitter", table.jitter, base.jitter_s, reading);
    let rate_word =
        |rate: &Option<f64>| compact(&rate.map(format_bit_rate).unwrap_or_default().replace("bit/s", "bit"));
    let rates = choices(table.rate, base.rate_bps, |rate, _| Some(Some(rate.into_inner().0)), rate_word, reading);
    let loss_word = |loss: &f64| format!("loss-{}", compact(&percent_words(*loss).to_string()));
    let losses = choices(table.loss, base.loss, |loss, reading| read_loss(&loss, reading), loss_word, reading);
    let backend = table.backend.unwrap_or(base.backend);
    let queue_bytes = table.queue.map(|queue| queue.0).or(base.queue_bytes);
    let base = Link { queue_bytes, seed: table.seed, backend, ..base };
    let links = crossed(&rtts, &jitters, |rtt_s, jitter_s| Link { rtt_s, jitter_s, ..base.clone() });
    let links = crossed(&links, &rates, |link, rate_bps| Link { rate_bps, ..link });
    let mut links = crossed(&links, &losses, |link, loss| Link { loss, ..link });
    for link in links.iter_mut().filter(|link| several && link.word.is_none()) {
        link.word = Some(whole_name(&link.value)).filter(|name| !name.is_empty());
    }
    if backend == LinkBackend::Veth && links.iter().any(|link| link.value.emulates()) {
        reading.note(place.clone(), "a veth link emulates nothing", "leave `backend` out, or ask for nothing but veth");
    }
    links
}

/// The times that a key of a link lists, in seconds, each named by key and time: `rtt-20ms`.
pub(crate) fn times(
    key: &'static str,
    written: Option<Several<Seconds>>,
    default_s: f64,
    reading: &mut Reading,
) -> Vec<Choice<f64>> {
    let read = |time: Spanned<Seconds>, reading: &mut Reading| {
        let seconds = time.get_ref().0;
        let message = format!("`{key}` must be {} at most", format_duration(LONGEST_S));
        reading.note_if(seconds > LONGEST_S, time.span(), message, None);
        Some(seconds)
    };
    choices(written, default_s, read, |seconds| format!("{key}-{}", compact(&format_duration(*seconds))), reading)
}

/// A name for a link, from all its settings.
fn whole_name(link: &Link) -> String {
    let words = [
        link.preset.clone(),
        (link.rtt_s > 0.0).then(|| format!("rtt-{}", compact(&format_duration(link.rtt_s)))),
        (link.jitter_s > 0.0).then(|| format!("jitter-{}", compact(&format_duration(link.jitter_s)))),
        link.rate_bps.map(|rate| compact(&format_bit_rate(rate).replace("bit/s", "bit"))),
        (link.loss > 0.0).then(|| format!("loss-{}", compact(&percent_words(link.loss).to_string()))),
        (link.backend == LinkBackend::Veth).then(|| "veth".to_owned()),
        (link.backend == LinkBackend::Netem).then(|| "netem".to_owned()),
    ];
    joined(&words.each_ref())
}

/// A value as part of a name, without blanks and dots.
fn compact(words: &str) -> String {
    words.replace(' ', "").replace('.', "_")
}

fn read_loss(loss: &Spanned<Percent>, reading: &mut Reading) -> Option<f64> {
    let share = loss.get_ref().0;
    if share >= 1.0 {
        let help = "nothing can be measured if every packet is lost";
        reading.note(loss.span(), "`loss` must be less than 100%", help);
        return None;
    }
    Some(share)
}

fn read_network(file: Table<NetworkFile>, reading: &mut Reading) -> Vec<Choice<Network>> {
    let NetworkFile { congestion, preset, sysctl } = file.entries;
    let mut sysctls = BTreeMap::new();
    if let Some(name) = preset {
        match Network::preset(name.get_ref()) {
            Some(settings) => sysctls = settings,
            None => reading.note_unknown(&name, "there are no network settings", &Network::PRESETS),
        }
    }
    for (name, Setting(value)) in sysctl {
        if let Some(message) = refuse_setting(name.get_ref()) {
            let help = "only settings of a network namespace are changed: net.ipv4.*, net.ipv6.*, net.core.somaxconn, net.mptcp.*";
            reading.note(name.span(), message, help.to_owned());
        } else {
            sysctls.insert(name.into_inner(), value);
        }
    }
    let named = choices(
        congestion,
        USUAL_CONGESTION.to_owned(),
        |name, _| Some(name.into_inner()),
        |name: &String| name.chars().filter(char::is_ascii_alphanumeric).collect(),
        reading,
    );
    let network = |congestion: Choice<String>| Choice {
        value: Network { congestion: congestion.value, sysctls: sysctls.clone() },
        word: congestion.word,
    };
    named.into_iter().map(network).collect()
}

/// Refuses machine-wide settings, which a trial must not change, and names that lead out of the settings' folder.
fn refuse_setting(name: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let leads_out = name.split('.').any(str::is_empty);
    if !name.chars().all(is_plain) || leads_out {
        return Some(format!("`{name}` is no name of a kernel setting"));
    }
    if name == "net.ipv4.tcp_congestion_control" {
        return Some("the congestion control has a key of its own: `congestion`".to_owned());
    }
    let namespaced = NAMESPACED.iter().any(|prefix| name.starts_with(prefix));
    (!namespaced).then(|| format!("`{name}` is a setting of the whole machine"))
}
