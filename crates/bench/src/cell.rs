//! What is measured: a cell is one kind of load, and everybody who can put it on takes part.

use crate::assets::Asset;
use crate::tool::Tool;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// As `--only` names it.
    pub name: &'static str,
    pub title: &'static str,
    pub asset: Asset,
    pub connections: u32,
    pub exercise: Exercise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exercise {
    /// Closed loop; connections are kept.
    KeepAlive,
    /// Closed loop; every request opens a connection.
    ConnectionPerRequest,
}

/// All cells, in the order of the report.
pub const CELLS: [Cell; 5] = [
    Cell {
        name: "hello-64",
        title: "hello, keep-alive, 64 connections",
        asset: Asset::Hello,
        connections: 64,
        exercise: Exercise::KeepAlive,
    },
    Cell {
        name: "hello-512",
        title: "hello, keep-alive, 512 connections",
        asset: Asset::Hello,
        connections: 512,
        exercise: Exercise::KeepAlive,
    },
    Cell {
        name: "hello-10000",
        title: "hello, keep-alive, 10,000 connections",
        asset: Asset::Hello,
        connections: 10_000,
        exercise: Exercise::KeepAlive,
    },
    Cell {
        name: "big",
        title: "534 KB, keep-alive, 16 connections",
        asset: Asset::File534k,
        connections: 16,
        exercise: Exercise::KeepAlive,
    },
    Cell {
        name: "close",
        title: "hello, a connection per request, 64 at a time",
        asset: Asset::Hello,
        connections: 64,
        exercise: Exercise::ConnectionPerRequest,
    },
];

/// A generator in one of its ways of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    pub tool: Tool,
    pub discards: bool,
}

impl Contender {
    /// tolok as it is used: every byte is compared.
    pub const TOLOK: Contender = Contender { tool: Tool::Tolok, discards: false };
    /// What the others are compared with in the literature.
    pub const WRK: Contender = Contender { tool: Tool::Wrk, discards: false };
    /// System calls and nothing else.
    pub const FLOOR: Contender = Contender { tool: Tool::Floor, discards: false };

    /// Its name, and how it works if that is not its only way.
    pub fn label(self) -> String {
        format!("{}{}", self.tool.name(), if self.discards { " (discarding)" } else { "" })
    }
}

impl Cell {
    /// Who could take part. Throwing bodies away is told apart only where there is much to throw.
    pub fn contenders(&self) -> Vec<Contender> {
        let plain = Tool::ALL.into_iter().map(|tool| Contender { tool, discards: false });
        let discarding = Tool::ALL.into_iter().filter(|tool| tool.can_discard() && self.asset == Asset::File534k);
        plain.chain(discarding.map(|tool| Contender { tool, discards: true })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discarding_takes_part_with_the_large_body_only() {
        let discarding = |cell: &Cell| cell.contenders().iter().filter(|one| one.discards).count();
        assert_eq!(CELLS.each_ref().map(discarding), [0, 0, 0, 3, 0]);
        assert!(CELLS.iter().all(|cell| cell.contenders().contains(&Contender::TOLOK)));
    }
}
