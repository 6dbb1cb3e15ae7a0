//! How the kernel's network is set up, as far as it decides what a server and its clients see.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

/// Settings of the network. Those of TCP are of the network namespace that tolok was started in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The congestion control of new connections.
    pub congestion_control: Option<String>,
    /// Those that can be chosen without loading a module.
    pub congestion_controls: Vec<String>,
    /// The queueing discipline of new devices.
    pub default_qdisc: Option<String>,
    /// The largest packet on the loopback device.
    pub loopback_mtu_bytes: Option<u32>,
    /// The longest queue of connections that a server can ask for.
    pub somaxconn: Option<u32>,
    /// The first and the last port that outgoing connections are given.
    pub local_ports: Option<(u16, u16)>,
    /// 0 never, 1 always, 2 on loopback only: whether a port in TIME_WAIT is used again.
    pub tcp_tw_reuse: Option<u32>,
    /// Whether a reset is ignored in TIME_WAIT.
    pub tcp_rfc1337: Option<bool>,
    /// How often the answer to a new connection is sent again.
    pub tcp_synack_retries: Option<u32>,
    /// 0 never, 1 when the queue is full, 2 always: whether connections are taken without a place in the queue.
    pub tcp_syncookies: Option<u32>,
    /// How long a closed connection waits for the other side.
    pub tcp_fin_timeout_s: Option<u32>,
    /// Whether a connection starts slowly again after a pause.
    pub tcp_slow_start_after_idle: Option<bool>,
    /// 0 off, 1 with a random offset, 2 without: time stamps in packets.
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
