//! Where the requests go: a URL taken apart, and its address.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use crate::error::LoadError;

/// A target as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    path: String,
}

impl Target {
    /// Takes `http://host[:port][/path][?query]` apart. The host is a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn parse(url: &str) -> Result<Target, LoadError> {
        let wrong = |reason| LoadError::Url { url: url.to_owned(), reason };
        if url.starts_with("https://") {
            return Err(wrong("https is not supported"));
        }
        let rest = url.strip_prefix("http://").ok_or_else(|| wrong("it does not start with http://"))?;
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        if authority.contains('@') {
            return Err(wrong("user names and passwords are not supported"));
        }
        // A blank or a control character would end the request line early and change the request that is measured.
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) || path.contains('#') {
            return Err(wrong("it holds a blank, a `#`, or a character outside ASCII; encode it as %XX"));
        }
        let (host, port) = split_authority(authority).map_err(wrong)?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Target { host: host.to_owned(), port, path })
    }

    /// The path with its query, as it stands in the request line.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of the Host header.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == 80 { host } else { format!("{host}:{}", self.port) }
    }

    /// Whether connections are encrypted.
    pub fn is_secure(&self) -> bool {
        false
    }

    /// The URL, written in full.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }

    /// The address of the host, IPv4 if it has one: a name with both must not mean another protocol from run to run.
    pub fn resolve(&self) -> Result<SocketAddr, LoadError> {
        let failed = |source| LoadError::Host { host: self.host.clone(), source };
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port).to_socket_addrs().map_err(failed)?.collect();
        let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        first.copied().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
    }
}

fn split_authority(authority: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = match authority.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(None) => return Err("the bracket of the IPv6 address is not closed"),
        Some(Some((host, port))) => {
            host.parse::<IpAddr>().map_err(|_| "what stands in brackets is no IPv6 address")?;
            (host, port)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err("the host is missing");
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => 80,
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
        let expected = Target { host: host.into(), port, path: path.into() };
        assert_eq!(Target::parse(url).unwrap(), expected, "{url}");
    }

    #[test]
    fn urls_are_taken_apart() {
        check("http://127.0.0.1:8080/hello", "127.0.0.1", 8080, "/hello");
        check("http://localhost", "localhost", 80, "/");
        check("http://localhost?x=1", "localhost", 80, "/?x=1");
        check("http://[::1]:9000/a?b=c", "::1", 9000, "/a?b=c");
    }

    #[test]
    fn a_wrong_url_is_refused_with_its_reason() {
        for (url, reason) in [
            ("https://localhost/", "https is not supported"),
            ("localhost:80", "it does not start with http://"),
            ("http://", "the host is missing"),
            ("http://:80/", "the host is missing"),
            ("http://host:0/", "the port is not a number from 1 to 65535"),
            ("http://host:65536/", "the port is not a number from 1 to 65535"),
            ("http://host:/", "the port is not a number from 1 to 65535"),
            ("http://[::1/", "the bracket of the IPv6 address is not closed"),
            ("http://[nonsense]/", "what stands in brackets is no IPv6 address"),
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
    fn the_host_header_names_the_port_unless_it_is_80() {
        assert_eq!(Target::parse("http://a.example:80/x").unwrap().authority(), "a.example");
        assert_eq!(Target::parse("http://[::1]:81/x").unwrap().authority(), "[::1]:81");
        assert_eq!(Target::parse("http://a:81?q").unwrap().url(), "http://a:81/?q");
    }

    #[test]
    fn an_address_resolves_to_itself() {
        let address = Target::parse("http://127.0.0.1:8080/").unwrap().resolve().unwrap();
        assert_eq!(address, "127.0.0.1:8080".parse().unwrap());
    }
}
