//! The address (DSN) of an existing database, as people write it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::database::Wire;

/// The address of a database and the account to use: `mysql://user:password@host:3306/name`, or the same with
/// `postgres://`.
///
/// It may hold a password, so serialize it only into pipes between processes of a run, never into a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseAddress {
    /// Protocol of its server.
    pub wire: Wire,
    /// Name or address of its machine.
    pub host: String,
    /// Its port; defaults to the protocol's usual port.
    pub port: u16,
    pub name: String,
    pub user: String,
    /// The password; empty if not given.
    pub password: String,
}

/// Why a DSN is invalid. No message quotes the DSN, because it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it begins neither with `mysql://` nor with `postgres://`")]
    Scheme,
    #[error("it names no user")]
    User,
    #[error("it has no host")]
    Host,
    #[error("its port is no number from 1 to 65535")]
    Port,
    #[error("it names no database")]
    Name,
    #[error("it has more after the name of the database, which tolok does not support")]
    Options,
    /// A `%` is not followed by two hexadecimal digits, or the decoded bytes are not UTF-8.
    #[error("a `%` in it is not followed by two hexadecimal digits; itself it is written `%25`")]
    Escape,
    #[error(
        "the variable {0} is not set; set it to mysql://user:password@host:3306/name, or the same with postgres://"
    )]
    NoVariable(String),
}

const SCHEMES: [(&str, Wire); 4] = [
    ("mysql://", Wire::Mysql),
    ("mariadb://", Wire::Mysql),
    ("postgres://", Wire::Postgres),
    ("postgresql://", Wire::Postgres),
];

impl DatabaseAddress {
    /// Reads an address as a study writes it. `env:NAME` takes the address from that variable, via `lookup`.
    pub fn read(written: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, AddressError> {
        match written.strip_prefix("env:") {
            Some(name) => Self::parse(&lookup(name).ok_or_else(|| AddressError::NoVariable(name.to_owned()))?),
            None => Self::parse(written),
        }
    }

    /// Parses `mysql://user:password@host:port/name`, or the same with `postgres://`. Password and port are optional;
    /// reserved characters are percent-encoded.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let of_scheme = |(scheme, wire): &(&str, Wire)| Some((text.trim().strip_prefix(scheme)?, *wire));
        let (rest, wire) = SCHEMES.iter().find_map(of_scheme).ok_or(AddressError::Scheme)?;
        // A password may hold an unencoded `@` or `/`, so the last `@` ends the account.
        let (account, place) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (server, name) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = split_port(server)?;
        let port = port.unwrap_or(wire.usual_port());
        if host.is_empty() {
            return Err(AddressError::Host);
        }
        if name.is_empty() {
            return Err(AddressError::Name);
        }
        if name.contains(['/', '?', '#']) {
            return Err(AddressError::Options);
        }
        if user.is_empty() {
            return Err(AddressError::User);
        }
        let (name, user, password) = (decoded(name)?, decoded(user)?, decoded(password)?);
        Ok(Self { wire, host: host.to_owned(), port, name, user, password })
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// Omits the account, so that no password gets into a message or a log.
impl fmt::Display for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, name, .. } = self;
        if host.contains(':') {
            write!(formatter, "[{host}]:{port}/{name}")
        } else {
            write!(formatter, "{host}:{port}/{name}")
        }
    }
}

/// `host`, `host:port`, or the same with an IPv6 address in brackets.
fn split_port(server: &str) -> Result<(&str, Option<u16>), AddressError> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(AddressError::Host)?,
        None => server.split_at(server.find(':').unwrap_or(server.len())),
    };
    if port.is_empty() {
        return Ok((host, None));
    }
    let number = port.strip_prefix(':').and_then(|port| port.parse().ok()).filter(|port| *port > 0);
    number.map(|port| (host, Some(port))).ok_or(AddressError::Port)
}

/// Decodes percent-encoding: `a%40b` is `a@b`.
fn decoded(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (high, low) = digit(0).zip(digit(1)).ok_or(AddressError::Escape)?;
        bytes.push((high * 16 + low) as u8);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| AddressError::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<[String; 5], AddressError> {
        let DatabaseAddress { host, port, name, user, password, .. } = DatabaseAddress::parse(text)?;
        Ok([host, port.to_string(), name, user, password])
    }

    #[test]
    fn omitted_parts_have_a_default_or_are_empty() {
        assert_eq!(
            parts("mysql://me:secret@db.example:3307/shop"),
            Ok(["db.example", "3307", "shop", "me", "secret"].map(str::to_owned))
        );
        assert_eq!(parts(" mariadb://me@db/shop\n"), Ok(["db", "3306", "shop", "me", ""].map(str::to_owned)));
        assert_eq!(parts("mysql://me@[::1]:3307/shop"), Ok(["::1", "3307", "shop", "me", ""].map(str::to_owned)));
        assert_eq!(parts("postgres://me@db/shop"), Ok(["db", "5432", "shop", "me", ""].map(str::to_owned)));
        assert_eq!(parts("postgresql://me:s@db:6000/shop"), Ok(["db", "6000", "shop", "me", "s"].map(str::to_owned)));
        let wire = |text: &str| DatabaseAddress::parse(text).unwrap().wire;
        assert_eq!([wire("mariadb://me@db/shop"), wire("postgres://me@db/shop")], [Wire::Mysql, Wire::Postgres]);
        assert_eq!(parts("mysql://me@[::1]/shop"), Ok(["::1", "3306", "shop", "me", ""].map(str::to_owned)));
    }

    #[test]
    fn passwords_may_hold_anything() {
        let password = |text: &str| parts(text).map(|[.., password]| password);
        assert_eq!(password("mysql://me:a%40b%2Fc%25@db/shop").as_deref(), Ok("a@b/c%"));
        assert_eq!(password("mysql://me:a@b/c:d@db/shop").as_deref(), Ok("a@b/c:d"));
        assert_eq!(password("mysql://me:%C3%BC@db/shop").as_deref(), Ok("ü"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(parts(&format!("mysql://me:{broken}@db/shop")), Err(AddressError::Escape), "{broken}");
        }
    }

    #[test]
    fn missing_and_superfluous_parts_are_errors() {
        let errors = [
            ("sqlite://db/shop", AddressError::Scheme),
            ("db/shop", AddressError::Scheme),
            ("mysql://", AddressError::Host),
            ("mysql:///shop", AddressError::Host),
            ("mysql://me:secret@:3306/shop", AddressError::Host),
            ("mysql://[::1/shop", AddressError::Host),
            ("mysql://db/shop", AddressError::User),
            ("mysql://:secret@db/shop", AddressError::User),
            ("mysql://db:0/shop", AddressError::Port),
            ("mysql://db:70000/shop", AddressError::Port),
            ("mysql://db:/shop", AddressError::Port),
            ("mysql://[::1]3306/shop", AddressError::Port),
            ("mysql://db", AddressError::Name),
            ("mysql://db/", AddressError::Name),
            ("mysql://db/shop?ssl=1", AddressError::Options),
            ("mysql://db/shop/orders", AddressError::Options),
        ];
        for (text, error) in errors {
            assert_eq!(parts(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = DatabaseAddress::parse("mysql://me:secret@db/shop").unwrap();
        assert_eq!(format!("{address} {address:?}"), "db:3306/shop db:3306/shop");
        let address = DatabaseAddress::parse("postgres://me:secret@db/shop").unwrap();
        assert_eq!(format!("{address} {address:?}"), "db:5432/shop db:5432/shop");
        assert_eq!(DatabaseAddress::parse("mysql://me@[::1]/shop").unwrap().to_string(), "[::1]:3306/shop");
    }

    #[test]
    fn a_variable_may_hold_it() {
        let read = |text: &str| {
            DatabaseAddress::read(text, &|name| (name == "SHOP").then(|| "mysql://bo:s%23cret@db/shop\n".to_owned()))
        };
        assert_eq!(read("env:SHOP").unwrap().password, "s#cret");
        assert_eq!(read("mysql://ann@db/shop").unwrap().user, "ann");
        let unset = "the variable NOWHERE is not set; set it to mysql://user:password@host:3306/name, or the same \
                     with postgres://";
        assert_eq!(read("env:NOWHERE").unwrap_err().to_string(), unset);
    }
}
