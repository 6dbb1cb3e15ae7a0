//! The options of `tolok load`. It also accepts the options of wrk, hey, oha and k6 where they mean the same in all of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};
use tolok_load::generators::Generator;
use tolok_load::options::{Arrivals, DataOrder, Method, Pool, Sources, ThinkTime, Timer};
use tolok_load::threshold::Threshold;

use super::threshold::threshold;
use super::values::{self, BodyText, CpuList, StageText, Threads, WeightedRequest};

const START: &str = "When requests start";
const CONNECTIONS: &str = "Connections";
const REQUESTS: &str = "Requests";
const ANSWERS: &str = "Correct responses";
const GENERATOR: &str = "The generator";
const JUDGEMENT: &str = "Judgement";
const OUTPUT: &str = "Output";

const EXAMPLES: &str = "\
Examples:
  Closed loop, 64 users for 10 s:
    tolok load http://127.0.0.1:8080/
  Closed loop, 500 users for 30 s after 5 s of warm-up:
    tolok load -c 500 -d 30s --warmup 5s http://127.0.0.1:8080/json
  Open loop: 2000 requests a second, whatever the server does; latency from the planned instant:
    tolok load -R 2000 -d 30s http://127.0.0.1:8080/json
  Independent users, each with a new connection when all are busy:
    tolok load -R 2000 --arrivals poisson --pool unbounded http://127.0.0.1:8080/json
  Ramp the rate from 100/s to 5000/s, then hold it:
    tolok load -R 100 --stage 5000:1m --stage 5000:30s http://127.0.0.1:8080/
  Ramp users as k6 does, each pausing 1 to 3 s:
    tolok load --stage 200:30s --stage 200:1m --stage 0:10s --think 1s..3s http://127.0.0.1:8080/
  100,000 requests by four users:
    tolok load -n 100k -c 4 http://127.0.0.1:8080/
  Compare every body, and judge:
    tolok load --expect-body want.json --threshold 'p99 < 50ms' --threshold 'failed < 0.1%' URL
  Requests from a file, each with its own expected response:
    tolok load --request-file requests.jsonl --seed 7 http://127.0.0.1:8080
  Each iteration with a row of a table, drawn at random:
    tolok load --data users.csv 'http://127.0.0.1:8080/users/{{ id }}'
  HTTP/2: 100 users on 10 connections, each with up to 10 requests at a time:
    tolok load --http2 --streams 10 -c 100 https://127.0.0.1:8443/
  Search for the highest rate within the thresholds:
    tolok load --capacity --threshold 'p99 < 50ms' --threshold 'goodput >= 99.9%' URL
  A record for programs, a table for an issue, the seconds for a plot:
    tolok load --format json|md|csv|junit -o FILE URL

Exit codes:
  0    done: the figures can be trusted, and no threshold was crossed
  2    wrong command line
  3    a threshold was crossed
  5    the figures cannot be trusted, no correct response came, the target cannot be reached, or
       requests failed and no threshold covers failures or goodput
  130  interrupted; it shows what was measured

Put load only on servers that are yours.";

/// What to do if other programs use the CPUs before the load and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IfBusy {
    /// Do not trust the figures: exit with code 5.
    Doubt,
    /// Do not look.
    Ignore,
}

/// Options of `tolok load`.
#[derive(Debug, Clone, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct LoadArgs {
    /// Target: http://HOST[:PORT][/PATH], or https://.
    #[arg(
        required = false,
        required_unless_present_any = ["slices", "curl"],
        default_value_ifs([("slices", ArgPredicate::IsPresent, ""), ("curl", ArgPredicate::IsPresent, "")])
    )]
    pub url: String,

    /// Virtual users, each with one connection and one request at a time [default: 64]. With --rate: connections of the
    /// pool. With --stage alone: users at the start [default: 0].
    #[arg(help_heading = START, short = 'c', long, visible_alias = "connections", value_name = "N",
          value_parser = values::users)]
    pub vus: Option<u32>,
    /// Length of the measured window [default: 10s]. With a number of iterations: its maximum [default: 10m].
    #[arg(help_heading = START, short, long, short_alias = 'z', value_name = "TIME", value_parser = values::duration)]
    pub duration: Option<Duration>,
    /// Warm-up before the window, which is discarded [default: 0s; with --capacity 1s].
    #[arg(help_heading = START, long, value_name = "TIME", value_parser = values::duration)]
    pub warmup: Option<Duration>,
    /// Total number of iterations, shared by all users (shared-iterations). An iteration is one request; with --sequence it
    /// is all of them.
    #[arg(help_heading = START, short = 'n', long, visible_alias = "requests", value_name = "N",
          value_parser = values::count)]
    pub iterations: Option<u64>,
    /// Number of iterations per user (per-vu-iterations).
    #[arg(help_heading = START, long, value_name = "N", value_parser = values::count)]
    pub iterations_per_vu: Option<u64>,
    /// Open loop: iterations start at this rate, whether or not earlier ones have a response
    /// (constant-arrival-rate): 2000, 2000/s, 120/m.
    #[arg(help_heading = START, short = 'R', long, alias = "qps", value_name = "N[/s]", value_parser = values::rate)]
    pub rate: Option<f64>,
    /// Ramp linearly to TARGET within TIME. Repeatable. Alone: TARGET users (ramping-vus). With --rate, which is the start:
    /// TARGET per second (ramping-arrival-rate). k6's TIME:TARGET works too.
    #[arg(help_heading = START, long = "stage", value_name = "TARGET:TIME", value_parser = values::stage)]
    pub stages: Vec<StageText>,
    /// k6's name of the executor. It must match the other options, which imply it.
    #[arg(help_heading = START, long, value_name = "NAME", hide_possible_values = true,
          value_parser = ["constant-vus", "ramping-vus", "per-vu-iterations", "shared-iterations",
                          "constant-arrival-rate", "ramping-arrival-rate"])]
    pub executor: Option<String>,
    /// With --rate: evenly spaced, or random like independent users (Poisson) [default: uniform].
    #[arg(help_heading = START, long, value_name = "HOW", value_parser = arrivals_parser())]
    pub arrivals: Option<Arrivals>,
    /// With --rate: connections for the arrivals. An arrival without a free connection waits (counted in `queue`). With
    /// `unbounded` it gets a new connection, up to MOST [default: the number of --vus].
    #[arg(help_heading = START, long, value_name = "N|unbounded[:MOST]", value_parser = values::pool)]
    pub pool: Option<Pool>,
    /// Think time of a user after each iteration: 300ms, or a random time from a range, 1s..3s.
    #[arg(help_heading = START, long, value_name = "TIME[..TIME]", value_parser = values::think)]
    pub think: Option<ThinkTime>,
    /// Seed of everything random: Poisson arrivals, weighted requests, think times.
    #[arg(help_heading = START, long, default_value_t = 0, value_name = "N", value_parser = values::any_whole)]
    pub seed: u64,

    /// Use HTTP/2: with prior knowledge on http://, and if the server selects it (ALPN) on https://.
    #[arg(help_heading = CONNECTIONS, long)]
    pub http2: bool,
    /// With --http2: number of users, or places of the pool, that share a connection, each with one request at a time
    /// [default: 1].
    #[arg(help_heading = CONNECTIONS, long, requires = "http2", value_name = "N",
          value_parser = values::positive)]
    pub streams: Option<u32>,
    /// Users, or places of the pool, that share a connection of HTTP/1.1, on which their requests queue.
    #[arg(help_heading = CONNECTIONS, long, conflicts_with_all = ["http2", "no_keepalive", "requests_per_connection"],
          value_name = "N", value_parser = values::positive)]
    pub pipeline: Option<u32>,
    /// Open a new connection for every request.
    #[arg(help_heading = CONNECTIONS, long, alias = "disable-keepalive")]
    pub no_keepalive: bool,
    /// Close each connection after this many requests.
    #[arg(help_heading = CONNECTIONS, long, value_name = "N", value_parser = values::positive)]
    pub requests_per_connection: Option<u32>,
    /// A request without a response fails after this time, which includes connecting.
    #[arg(help_heading = CONNECTIONS, long, default_value = "10s", value_name = "TIME", value_parser = values::duration)]
    pub timeout: Duration,
    /// A connection attempt fails after this time [default: 5s, at most --timeout].
    #[arg(help_heading = CONNECTIONS, long, value_name = "TIME", value_parser = values::duration)]
    pub connect_timeout: Option<Duration>,
    /// How long requests that are in flight at the end of the window may take [default: --timeout, at most 5s].
    #[arg(help_heading = CONNECTIONS, long, value_name = "TIME", value_parser = values::duration)]
    pub grace: Option<Duration>,
    /// Local addresses of connections, in turn: a number of addresses from 127.0.0.1 up, `system`, or a list. On the
    /// loopback, 32 addresses keep the local ports from running out [default: 32].
    #[arg(help_heading = CONNECTIONS, long, value_name = "N|system|IP,IP", value_parser = values::sources)]
    pub source_addresses: Option<Sources>,
    /// Connect to this Unix socket. The URL gives the Host header and the path.
    #[arg(help_heading = CONNECTIONS, long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// Limit reading on each connection to this rate, like clients on slow links: 10KB/s, 2MiB/s.
    #[arg(help_heading = CONNECTIONS, long, value_name = "SIZE/s", value_parser = values::bytes_per_second)]
    pub read_rate: Option<u64>,
    /// Limit writing on each connection to this rate.
    #[arg(help_heading = CONNECTIONS, long, value_name = "SIZE/s", value_parser = values::bytes_per_second)]
    pub write_rate: Option<u64>,
    /// Apply --read-rate and --write-rate to this share of the virtual users only, and report slow and fast ones separately.
    #[arg(help_heading = CONNECTIONS, long, value_name = "PERCENT", value_parser = values::part)]
    pub slow_share: Option<f64>,
    /// Congestion control of the generator's sockets, such as cubic or reno [default: the system's].
    #[arg(help_heading = CONNECTIONS, long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS [default: GET].
    #[arg(help_heading = REQUESTS, short = 'm', long, short_alias = 'X', value_name = "METHOD", value_parser = Method::named)]
    pub method: Option<Method>,
    /// Add a header, `Name: value`. Repeatable.
    #[arg(help_heading = REQUESTS, short = 'H', long = "header", value_name = "HEADER", value_parser = values::header)]
    pub headers: Vec<(String, String)>,
    /// Body of POST, PUT and PATCH requests. @FILE reads it from a file.
    #[arg(help_heading = REQUESTS, long, value_name = "TEXT|@FILE", value_parser = values::body)]
    pub body: Option<BodyText>,
    /// Take the address, method, headers and body from a curl command, as browsers copy it: 'curl http://HOST/ -H ...'.
    #[arg(help_heading = REQUESTS, long, value_name = "COMMAND",
          conflicts_with_all = ["url", "slices", "requests", "request_file"])]
    pub curl: Option<String>,
    /// One of several requests, sent in proportion to its weight: '3 GET /items'. Repeatable.
    #[arg(help_heading = REQUESTS, long = "request", value_name = "'WEIGHT METHOD PATH'",
          value_parser = values::weighted_request)]
    pub requests: Vec<WeightedRequest>,
    /// Read the requests from a file of JSON Lines, each with its expected response:
    /// {"weight":1,"method":"GET","path":"/a","expect_body":"a.json"}. The --expect options apply to lines without their own.
    #[arg(help_heading = REQUESTS, long, value_name = "FILE")]
    pub request_file: Option<PathBuf>,
    /// Fill requests with values of this file: `{{ name }}` in a path, header or body. CSV with a header line, or JSON Lines of objects.
    /// Each iteration takes a row.
    #[arg(help_heading = REQUESTS, long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Which row of --data the next iteration takes.
    #[arg(help_heading = REQUESTS, long, value_name = "ORDER", requires = "data", default_value = "random",
          value_parser = data_order_parser())]
    pub data_order: DataOrder,
    /// Make each iteration send all requests of --request, or of the file, in their order, each as often as its weight.
    #[arg(help_heading = REQUESTS, long)]
    pub sequence: bool,

    /// https: trust these certificates (PEM) instead of the machine's. They may include the server's own.
    #[arg(help_heading = CONNECTIONS, long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// https: the name that the server's certificate must have [default: the URL's host].
    #[arg(help_heading = CONNECTIONS, long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// https: accept any certificate.
    #[arg(help_heading = CONNECTIONS, short = 'k', long)]
    pub insecure: bool,

    /// The status of a correct response [default: any 2xx].
    #[arg(help_heading = ANSWERS, long, value_name = "STATUS", value_parser = values::whole::<u16>(200..=599))]
    pub expect_status: Option<u16>,
    /// A file with the body of a correct response. Every body is compared byte for byte.
    #[arg(help_heading = ANSWERS, long, value_name = "FILE")]
    pub expect_body: Option<PathBuf>,
    /// Length of the body of a correct response.
    #[arg(help_heading = ANSWERS, long, value_name = "BYTES", value_parser = values::any_whole)]
    pub expect_length: Option<u64>,
    /// A file with JSON. A correct body has the same meaning; key order and white space may differ.
    #[arg(help_heading = ANSWERS, long, value_name = "FILE")]
    pub expect_json: Option<PathBuf>,
    /// With --expect-json: check the first response of each thread and every Nth after it [default: 1].
    #[arg(help_heading = ANSWERS, long, value_name = "N", value_parser = values::positive)]
    pub check_every: Option<u32>,
    /// Discard bodies inside the kernel without copying them. This is cheapest for large bodies, and checks only their length.
    #[arg(help_heading = ANSWERS, long)]
    pub discard: bool,

    /// Threads, each with its share of users and arrivals. `auto` means one per CPU that tolok may use [default: 1, with
    /// --cpus one per CPU].
    #[arg(help_heading = GENERATOR, short = 't', long, value_name = "N|auto", value_parser = values::threads)]
    pub threads: Option<Threads>,
    /// Pin the threads to these CPUs, in turn: 0,2-3.
    #[arg(help_heading = GENERATOR, long, value_name = "LIST", value_parser = values::cpus)]
    pub cpus: Option<CpuList>,
    /// How a thread waits for a planned instant: `sleep` (cheap, late by a wake-up), `hybrid` (sleeps, then polls the clock),
    /// `spin` (a whole CPU) [default: hybrid with --rate, else sleep].
    #[arg(help_heading = GENERATOR, long, value_name = "HOW", hide_possible_values = true, value_parser = timer_parser())]
    pub timer: Option<Timer>,
    /// Generate the load in a session of its own. Otherwise the kernel divides one session's share of the CPU between the
    /// generator and other programs in this terminal.
    #[arg(help_heading = GENERATOR, long)]
    pub own_session: bool,
    /// What to do if other programs use the CPUs before the load and after it.
    #[arg(help_heading = GENERATOR, long, value_name = "HOW", default_value = "doubt", env = "TOLOK_IF_BUSY")]
    pub if_busy: IfBusy,

    /// A condition that must hold, or tolok exits with code 3. Repeatable: 'p99 < 50ms', 'service.p95 < 5ms',
    /// 'failed < 0.1%', 'goodput >= 1000/s'. k6's spellings work too.
    #[arg(help_heading = JUDGEMENT, long = "threshold", value_name = "CONDITION", value_parser = threshold)]
    pub thresholds: Vec<Threshold>,
    /// Stop as soon as a threshold is crossed.
    #[arg(help_heading = JUDGEMENT, long)]
    pub abort: bool,

    /// Search for the highest rate that keeps all thresholds: many runs of --duration [default: 5s] each.
    #[arg(help_heading = JUDGEMENT, long)]
    pub capacity: bool,
    /// With --capacity: the highest rate to try [default: 10 million per second].
    #[arg(help_heading = JUDGEMENT, long, requires = "capacity", value_name = "N[/s]", value_parser = values::rate)]
    pub capacity_most: Option<f64>,
    /// With --capacity: a search ends when the highest passing and the lowest failing rate are this close [default: 5%].
    #[arg(help_heading = JUDGEMENT, long, requires = "capacity", value_name = "PERCENT", value_parser = values::share)]
    pub capacity_precision: Option<f64>,
    /// With --capacity: number of searches. Their range is reported [default: 5].
    #[arg(help_heading = JUDGEMENT, long, requires = "capacity", value_name = "N",
          value_parser = values::whole::<u32>(1..=100))]
    pub capacity_searches: Option<u32>,
    /// How to print the result.
    #[arg(help_heading = OUTPUT, long, default_value = "text", value_name = "FORMAT")]
    pub format: LoadFormat,
    /// Write the result to this file. Its ending chooses the format. The file appears complete or not at all.
    #[arg(help_heading = OUTPUT, short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Send requests to several servers in turns of a tenth of a second, as this file defines, and freeze all others meanwhile. A study in
    /// slices writes such files. The result is a record in JSON.
    #[arg(help_heading = OUTPUT, long, value_name = "FILE", conflicts_with_all = ["url", "capacity"], requires = "slices_out")]
    pub slices: Option<PathBuf>,
    /// Write one JSON line for each slice to this file.
    #[arg(help_heading = OUTPUT, long, value_name = "FILE", requires = "slices")]
    pub slices_out: Option<PathBuf>,
    /// Generate the load on this other machine; `NAME=ADDRESS:PORT`. The token in `TOLOK_GENERATOR_TOKEN` authenticates tolok to it.
    #[arg(long = "generator", hide = true, value_parser = generator)]
    pub generators: Vec<Generator>,
    /// Tell the laboratory about the window on standard error.
    #[arg(long, hide = true)]
    pub events: bool,
}

/// How the result of a load is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadFormat {
    /// Words and a table for the terminal.
    Text,
    /// The complete record, for programs.
    Json,
    /// Tables for an issue or a README.
    Md,
    /// One row per second.
    Csv,
    /// Thresholds as test cases, for continuous integration.
    Junit,
}

fn generator(text: &str) -> Result<Generator, String> {
    let read = text.split_once('=').and_then(|(name, address)| Some((name, address.parse().ok()?)));
    let (name, address) = read.ok_or("it is NAME=ADDRESS:PORT")?;
    Ok(Generator { name: name.to_owned(), address })
}

fn arrivals_parser() -> impl TypedValueParser<Value = Arrivals> {
    PossibleValuesParser::new(["uniform", "poisson"]).map(|name| match name.as_str() {
        "poisson" => Arrivals::Poisson,
        _ => Arrivals::Uniform,
    })
}

fn data_order_parser() -> impl TypedValueParser<Value = DataOrder> {
    PossibleValuesParser::new(["random", "in-order"]).map(|name| match name.as_str() {
        "in-order" => DataOrder::InOrder,
        _ => DataOrder::Random,
    })
}

fn timer_parser() -> impl TypedValueParser<Value = Timer> {
    PossibleValuesParser::new(["sleep", "hybrid", "spin"]).map(|name| match name.as_str() {
        "sleep" => Timer::Sleep,
        "spin" => Timer::Spin,
        _ => Timer::Hybrid,
    })
}
