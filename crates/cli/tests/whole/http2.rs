//! `tolok load --http2` against real servers: thousands of requests, and no false failure.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;
use tolok_testkit::require;

use crate::boxed::program;
use crate::place::{PATIENCE, Place, shared_turn};

const BODY: &str = r#"{"message":"Hello, World!"}"#;

/// More requests than nginx accepts on one connection.
const REQUESTS: u64 = 5_000;

const NODE: &str = "
const fs = require('fs'), [, kind, folder] = process.argv;
const body = fs.readFileSync(folder + '/json');
const pem = (name) => fs.readFileSync(`${folder}/${name}.pem`);
const answer = (request, response) => response.end(body);
const server = {
  http1: () => require('http').createServer(answer),
  h2c: () => require('http2').createServer(answer),
  h2: () => require('http2').createSecureServer({ key: pem('key'), cert: pem('certificate') }, answer),
}[kind]();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
";

/// A server of one test, killed on drop.
struct Server {
    child: Child,
    folder: TempDir,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body, a key and a certificate.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    write("json", BODY);
    write("key.pem", &key.serialize_pem());
    write("certificate.pem", &certificate.pem());
    folder
}

/// Node, serving one of the kinds in the script above.
fn node(kind: &str) -> Option<Server> {
    let (node, folder) = (program("node")?, folder());
    let mut command = Command::new(node.path);
    command.args(["-e", NODE, kind]).arg(folder.path()).envs(node.env).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut port).unwrap();
    let address = ([127, 0, 0, 1], port.trim().parse().unwrap()).into();
    Some(Server { child, folder, address })
}

/// nginx, serving HTTP/2 if `listen` enables it.
fn nginx(listen: &str) -> Option<Server> {
    let (nginx, folder) = (program("nginx")?, folder());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let root = folder.path().display();
    let temporary =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|part| format!("{part}_temp_path {root};"));
    let text = format!(
        "daemon off; master_process off; pid {root}/pid; error_log {root}/log;\nevents {{ }}\nhttp {{ access_log off; {}\n\
         server {{ listen {address} {listen}; root {root}; ssl_certificate {root}/certificate.pem;\n\
         ssl_certificate_key {root}/key.pem; }} }}\n",
        temporary.concat()
    );
    std::fs::write(folder.path().join("nginx.conf"), text).unwrap();
    let mut command = Command::new(nginx.path);
    command.arg("-p").arg(folder.path()).arg("-c").arg(folder.path().join("nginx.conf")).envs(nginx.env);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let server = Server { child, folder, address };
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "nothing listens at {address}");
        std::thread::yield_now();
    }
    Some(server)
}

/// Loads a server and checks that every response is correct.
fn check(server: &Server, scheme: &str) {
    let _turn = shared_turn();
    let url = format!("{scheme}://{}/json", server.address);
    let (body, number) = (server.folder.path().join("json"), REQUESTS.to_string());
    let words = ["load", &url, "--http2", "--streams", "5", "-c", "20", "-n", &number, "--format", "json"];
    let secure: &[&str] = if scheme == "https" { &["--insecure"] } else { &[] };
    let said = Place::new().tolok(&[&words[..], &["--expect-body", path(&body)], secure].concat());
    let record: Value = serde_json::from_str(&said.output).unwrap_or_else(|_| panic!("{}", said.progress));
    let (ledger, connections) = (&record["ledger"], &record["connections"]);
    assert_eq!((&ledger["good"], &ledger["failed"]), (&REQUESTS.into(), &0.into()), "{}", record["error_examples"]);
    assert_eq!((&record["plan"]["http_version"], &record["plan"]["streams_per_connection"]), (&"2".into(), &5.into()));
    assert!(connections["opened"].as_u64() >= Some(4) && connections["failed"] == 0, "{connections}");
    assert_eq!(connections["never_answered"], 0, "{connections}");
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn nginx_answers_every_request() {
    let server = nginx("http2");
    require!(server.is_some(), "nginx is neither in the toolbox nor installed");
    check(&server.unwrap(), "http");
    check(&nginx("ssl http2").unwrap(), "https");
}

#[test]
fn node_answers_every_request() {
    let server = node("h2c");
    require!(server.is_some(), "Node is neither in the toolbox nor installed");
    check(&server.unwrap(), "http");
    check(&node("h2").unwrap(), "https");
}

#[test]
fn a_server_of_http1_is_refused_in_one_sentence() {
    let server = node("http1");
    require!(server.is_some(), "Node is neither in the toolbox nor installed");
    let url = format!("http://{}/json", server.as_ref().unwrap().address);
    let said = Place::new().tolok(&["load", &url, "--http2"]);
    assert_eq!((said.code, said.output.as_str()), (Some(5), ""));
    let reason = "failed to agree on HTTP/2 with the target at 127.0.0.1:";
    assert!(said.progress.contains(reason) && said.progress.contains("leave out --http2"), "{}", said.progress);
    assert_eq!(said.progress.trim().lines().count(), 1, "{}", said.progress);
}
