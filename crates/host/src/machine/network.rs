//! The kernel's network settings that affect servers and clients.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

/// Network settings. Those of TCP belong to the network namespace in which tolok was started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The congestion control of new connections.
    pub congestion_control: Option<String>,
    /// The algorithms that can be chosen without loading a module.
    pub congestion_controls: Vec<String>,
    /// The queueing discipline of new devices.
    pub default_qdisc: Option<String>,
    /// The largest packet on the loopback device.
    pub loopback_mtu_bytes: Option<u32>,
    /// The longest queue of connections that a server can request.
    pub somaxconn: Option<u32>,
    /// The first and the last port for outgoing connections.
    pub local_ports: Option<(u16, u16)>,
    /// Whether a port in TIME_WAIT is reused: 0 never, 1 always, 2 on loopback only.
    pub tcp_tw_reuse: Option<u32>,
    /// Whether a reset is ignored in TIME_WAIT.
    pub tcp_rfc1337: Option<bool>,
    /// How often the kernel resends the answer to a new connection.
    pub tcp_synack_retries: Option<u32>,
    /// Whether connections are accepted without a place in the queue: 0 never, 1 when the queue is full, 2 always.
    pub tcp_syncookies: Option<u32>,
    /// How long a connection in FIN_WAIT_2 waits for the other side.
    pub tcp_fin_timeout_s: Option<u32>,
    /// Whether a connection falls back to slow start after a pause.
    pub tcp_slow_start_after_idle: Option<bool>,
    /// Timestamps in packets: 0 off, 1 with a random offset, 2 without.
    pub tcp_timestamps: Option<u32>,
    /// How many packets may wait between a device and a CPU.
    pub netdev_max_backlog: Option<u32>,
}

pub(super) fn read(files: Files) -> Network {
    let ipv4 = |name: &str| format!("proc/sys/net/ipv4/{name}");
    let core = |name: &str| format!("proc/sys/net/core/{name}");
    let available = files.word(ipv4("tcp_available_congestion_control")).unwrap_or_default();
    Network {
        congestion_control: files.word(ipv4("tcp_congestion_control")),
        congestion_controls: available.split_whitespace().map(str::to_owned).collect(),
        default_qdisc: files.word(core("default_qdisc")),
        loopback_mtu_bytes: files.number("sys/class/net/lo/mtu"),
        somaxconn: files.number(core("somaxconn")),
        local_ports: files.text(ipv4("ip_local_port_range")).and_then(|text| parse::port_range(&text)),
        tcp_tw_reuse: files.number(ipv4("tcp_tw_reuse")),
        tcp_rfc1337: files.switch(ipv4("tcp_rfc1337")),
        tcp_synack_retries: files.number(ipv4("tcp_synack_retries")),
        tcp_syncookies: files.number(ipv4("tcp_syncookies")),
        tcp_fin_timeout_s: files.number(ipv4("tcp_fin_timeout")),
        tcp_slow_start_after_idle: files.switch(ipv4("tcp_slow_start_after_idle")),
        tcp_timestamps: files.number(ipv4("tcp_timestamps")),
        netdev_max_backlog: files.number(core("netdev_max_backlog")),
    }
}
