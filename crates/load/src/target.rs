//! Where the requests go: a parsed URL and its address.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use serde::{Deserialize, Serialize};

use crate::error::LoadError;

/// A target, as a URL describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    secure: bool,
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// Parses `http://host[:port][/path][?query]`, or the same with `https://`. The host is a name, an IPv4 address, or an IPv6 address in
    /// brackets.
    pub fn parse(url: &str) -> Result<Target, LoadError> {
        let wrong = |reason| LoadError::Url { url: url.to_owned(), reason };
        let (secure, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(wrong("it starts with neither http:// nor https://")),
        };
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        if authority.contains('@') {
            return Err(wrong("user names and passwords are not supported"));
        }
        // A blank or a control character would end the request line early and so change the measured request.
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) || path.contains('#') {
            return Err(wrong("it holds a blank, a `#`, or a character outside ASCII; encode it as %XX"));
        }
        let (host, port) = split_authority(authority, usual_port(secure)).map_err(wrong)?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Target { secure, host: host.to_owned(), port, path })
    }

    /// The path with its query, as in the request line.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of the Host header.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == usual_port(self.secure) { host } else { format!("{host}:{}", self.port) }
    }

    /// The host, as the URL names it; an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether connections are encrypted.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// The full URL.
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.path)
    }

    /// The address of the host, IPv4 if it has one. A name with both must not mean a different protocol from run to run.
    pub fn resolve(&self) -> Result<SocketAddr, LoadError> {
        let failed = |source| LoadError::Host { host: self.host.clone(), source };
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port).to_socket_addrs().map_err(failed)?.collect();
        let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        first.copied().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
    }
}

/// The port that a URL may omit.
fn usual_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

fn split_authority(authority: &str, usual_port: u16) -> Result<(&str, u16), &'static str> {
    let (host, port) = match authority.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(None) => return Err("the bracket of the IPv6 address is not closed"),
        Some(Some((host, port))) => {
            host.parse::<IpAddr>().map_err(|_| "the brackets hold no IPv6 address")?;
            (host, port)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err("the host is missing");
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => usual_port,
        Some(digits) => match digits.parse() {
            Ok(0) | Err(_) => return Err("the port is not a number from 1 to 65535"),
            Ok(port) => port,
        },
        None => return Err("only a port may follow the host"),
    };
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, host: &str, port: u16, path: &str) {
        let expected = Target { secure: url.starts_with("https:"), host: host.into(), port, path: path.into() };
        assert_eq!(Target::parse(url).unwrap(), expected, "{url}");
    }

    #[test]
    fn urls_are_taken_apart() {
        check("http://127.0.0.1:8080/hello", "127.0.0.1", 8080, "/hello");
        check("http://localhost", "localhost", 80, "/");
        check("http://localhost?x=1", "localhost", 80, "/?x=1");
        check("http://[::1]:9000/a?b=c", "::1", 9000, "/a?b=c");
        check("https://localhost/a", "localhost", 443, "/a");
        check("https://[::1]:8443", "::1", 8443, "/");
    }

    #[test]
    fn a_wrong_url_is_refused_with_its_reason() {
        for (url, reason) in [
            ("localhost:80", "it starts with neither http:// nor https://"),
            ("ftp://localhost/", "it starts with neither http:// nor https://"),
            ("http://", "the host is missing"),
            ("http://:80/", "the host is missing"),
            ("http://host:0/", "the port is not a number from 1 to 65535"),
            ("http://host:65536/", "the port is not a number from 1 to 65535"),
            ("http://host:/", "the port is not a number from 1 to 65535"),
            ("http://[::1/", "the bracket of the IPv6 address is not closed"),
            ("http://[nonsense]/", "the brackets hold no IPv6 address"),
            ("http://[::1]80/", "only a port may follow the host"),
            ("http://me:secret@host/", "user names and passwords are not supported"),
        ] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
        assert!(Target::parse("http://host/a b").is_err());
        assert!(Target::parse("http://host/a\r\nX: y").is_err());
    }

    #[test]
    fn the_host_header_names_the_port_unless_it_is_the_usual_one() {
        assert_eq!(Target::parse("http://a.example:80/x").unwrap().authority(), "a.example");
        assert_eq!(Target::parse("http://[::1]:81/x").unwrap().authority(), "[::1]:81");
        assert_eq!(Target::parse("http://a:81?q").unwrap().url(), "http://a:81/?q");
        assert_eq!(Target::parse("https://a:443?q").unwrap().url(), "https://a/?q");
        assert_eq!(Target::parse("https://a:80/").unwrap().authority(), "a:80");
    }

    #[test]
    fn an_address_resolves_to_itself() {
        let address = Target::parse("http://127.0.0.1:8080/").unwrap().resolve().unwrap();
        assert_eq!(address, "127.0.0.1:8080".parse().unwrap());
    }
}
