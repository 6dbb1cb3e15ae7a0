//! TCP congestion control in a network namespace.
//!
//! As the default of another namespace, the kernel accepts only algorithms that the machine allows to all users
//! (`tcp_allowed_congestion_control`). Allowing one more would change the machine. A route may name any algorithm,
//! however, and connections over it use that one, on both the connecting and the accepting side.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use tolok_link::tun;

use super::topology::PREFIX;

/// The setting, by its dotted name.
pub(super) const KEY: &str = "net.ipv4.tcp_congestion_control";

/// The algorithms that the kernel has, allowed or not.
pub(super) fn available() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// Whether the kernel has an algorithm, allowed or not.
pub(super) fn is_available(algorithm: &str) -> bool {
    available().iter().any(|name| name == algorithm)
}

/// Sets an algorithm on the routes of this namespace: those of its loopback, and those to the other ends of its links.
pub(super) fn name_in_routes(algorithm: &str, links: &[(&str, Ipv4Addr)]) -> io::Result<()> {
    // An address has a route of its own, beside that of its network.
    for prefix in [8, 32] {
        tun::set_congestion_control("lo", Ipv4Addr::LOCALHOST, prefix, algorithm)?;
    }
    links.iter().try_for_each(|(device, address)| tun::set_congestion_control(device, *address, PREFIX, algorithm))
}

/// What a new connection over this namespace's loopback uses.
pub(super) fn in_force() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let connection = TcpStream::connect(listener.local_addr()?)?;
    Ok(rustix::net::sockopt::tcp_congestion(&connection)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_names_what_connections_use_has_it() {
        assert!(is_available(&in_force().unwrap()));
        assert!(!is_available("no-such-thing") && !is_available(""));
    }
}
