//! Addresses of databases: `mysql://user:password@host:3306/name`.

use std::fmt;

/// MySQL's and MariaDB's own.
const DEFAULT_PORT: u16 = 3306;

/// A database on the network, and the account that may use it. Neither way of printing it shows the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The account.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// Name or address of the machine; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Name of the database.
    pub name: String,
}

/// What is wrong with an address. The address itself is not shown, as it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DsnError {
    /// The variable that should hold it does not.
    #[error("the variable {0} is not set; set it to mysql://user:password@host:3306/name")]
    NoVariable(String),
    /// A part is missing or wrong.
    #[error("the database's address {0}; write mysql://user:password@host:3306/name")]
    Wrong(&'static str),
}

impl Dsn {
    /// Reads an address, or `env:NAME` for the variable that `lookup` knows.
    pub fn read(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, DsnError> {
        match text.strip_prefix("env:") {
            Some(name) => Self::parse(&lookup(name).ok_or_else(|| DsnError::NoVariable(name.to_owned()))?),
            None => Self::parse(text),
        }
    }

    fn parse(text: &str) -> Result<Self, DsnError> {
        let wrong = DsnError::Wrong;
        let schemes = ["mysql://", "mariadb://"];
        let rest = schemes.iter().find_map(|scheme| text.trim().strip_prefix(scheme));
        let rest = rest.ok_or(wrong("does not begin with mysql://"))?;
        // A password that is not encoded may hold an `@`; a host never does.
        let (account, place) = rest.rsplit_once('@').ok_or(wrong("names no user"))?;
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (place, name) = place.split_once('/').ok_or(wrong("names no database"))?;
        if name.contains('?') {
            return Err(wrong("has options behind the name, which are not understood"));
        }
        let (host, port) = split_port(place).ok_or(wrong("has a port that is none"))?;
        let decoded = |text, what| percent_decoded(text).ok_or(wrong(what));
        let dsn = Self {
            user: decoded(user, "has a user that is wrongly encoded")?,
            password: decoded(password, "has a password that is wrongly encoded")?,
            host: host.to_owned(),
            port,
            name: decoded(name, "has a name that is wrongly encoded")?,
        };
        let complete = [(&dsn.user, "names no user"), (&dsn.host, "names no host"), (&dsn.name, "names no database")];
        let missing = complete.into_iter().find(|(part, _)| part.is_empty()).map(|(_, what)| what);
        missing.map_or(Ok(()), |what| Err(wrong(what)))?;
        Ok(dsn)
    }
}

fn split_port(place: &str) -> Option<(&str, u16)> {
    if let Some(bracketed) = place.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, port.parse().ok()?)),
            None => rest.is_empty().then_some((host, DEFAULT_PORT)),
        };
    }
    match place.split_once(':') {
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((place, DEFAULT_PORT)),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if first == b'%' {
            let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, host, port, name, .. } = self;
        if host.contains(':') {
            return write!(f, "mysql://{user}@[{host}]:{port}/{name}");
        }
        write!(f, "mysql://{user}@{host}:{port}/{name}")
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dsn({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Dsn, DsnError> {
        Dsn::read(text, &|name| (name == "SHOP").then(|| "mysql://bo:s%23cret@db/shop".to_owned()))
    }

    #[test]
    fn an_address_has_an_account_a_place_and_a_name() {
        let dsn = read("mysql://ann:p%40ss%2Fword@db.example:3307/shop").unwrap();
        let parts = (dsn.user.as_str(), dsn.password.as_str(), dsn.host.as_str(), dsn.port, dsn.name.as_str());
        assert_eq!(parts, ("ann", "p@ss/word", "db.example", 3307, "shop"));
        let dsn = read("mysql://ann@[::1]/shop").unwrap();
        assert_eq!((dsn.password.as_str(), dsn.host.as_str(), dsn.port), ("", "::1", 3306));
        assert_eq!(read("mysql://ann:a@b:c@db/shop").unwrap().password, "a@b:c", "as people write it");
        assert_eq!(read("env:SHOP").unwrap().password, "s#cret");
    }

    #[test]
    fn it_is_shown_without_its_password() {
        let dsn = read("mysql://ann:secret@[::1]:3307/shop").unwrap();
        assert_eq!(dsn.to_string(), "mysql://ann@[::1]:3307/shop");
        assert_eq!(read("env:SHOP").unwrap().to_string(), "mysql://bo@db:3306/shop");
        assert!(!format!("{dsn:?}").contains("secret"), "{dsn:?}");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_address() {
        for (text, expect) in [
            ("postgres://ann@db/shop", "does not begin with mysql://"),
            ("mysql://db:secret/shop", "names no user"),
            ("mysql://ann:secret@db", "names no database"),
            ("mysql://ann:secret@db/", "names no database"),
            ("mysql://ann:secret@/shop", "names no host"),
            ("mysql://:secret@db/shop", "names no user"),
            ("mysql://ann:secret@db:many/shop", "has a port that is none"),
            ("mysql://ann:secret@[::1]x/shop", "has a port that is none"),
            ("mysql://ann:%zzsecret@db/shop", "has a password that is wrongly encoded"),
            ("mysql://ann:secret@db/shop?ssl=1", "has options behind the name"),
            ("env:NOWHERE", "the variable NOWHERE is not set"),
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(said.contains(expect) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
