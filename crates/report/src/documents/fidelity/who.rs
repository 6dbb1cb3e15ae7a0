//! The shortest names for a group of drivers.

/// Stands for all variants of a subject that were tested.
const EVERY: &str = ":*";

/// A subset of the names: `all`, or by subject `go/nethttp:*` for all of its variants and `bun/serve:mysql2, :single` for some.
pub(super) fn who(names: &[&str], all: &[&str]) -> String {
    if names.len() == all.len() && all.len() > 1 {
        return "all".to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut subjects: Vec<&str> = names.iter().map(|name| subject(name)).collect();
    subjects.dedup();
    let mut told: Vec<&str> = Vec::new();
    for id in subjects {
        if told.contains(&id) {
            continue;
        }
        told.push(id);
        let own: Vec<&str> = names.iter().copied().filter(|name| subject(name) == id).collect();
        let asked = all.iter().filter(|name| subject(name) == id).count();
        if own.len() == asked && asked > 1 {
            parts.push(format!("{id}{EVERY}"));
            continue;
        }
        let short = |(place, name): (usize, &&str)| if place == 0 { *name } else { &name[id.len()..] }.to_owned();
        parts.extend(own.iter().enumerate().map(short));
    }
    parts.join(", ")
}

/// Whether a list of names is shortened.
pub(super) fn stars(who: &str) -> bool {
    who.split(", ").any(|name| name.ends_with(EVERY))
}

fn subject(name: &str) -> &str {
    name.split([':', '?']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 5] =
        ["bun/serve:mysql2", "bun/serve:single", "bun/serve:reuseport", "go/nethttp:struct", "go/nethttp:stream"];

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let check = |names: &[&str], told: &str| assert_eq!(who(names, &ALL), told);
        check(&ALL, "all");
        check(&ALL[..3], "bun/serve:*");
        check(&ALL[1..], "bun/serve:single, :reuseport, go/nethttp:*");
        check(
            &["bun/serve:mysql2", "go/nethttp:stream", "bun/serve:single"],
            "bun/serve:mysql2, :single, go/nethttp:stream",
        );
    }

    #[test]
    fn a_subject_of_one_variant_is_called_by_its_name() {
        assert_eq!(who(&["php/fpm:opcache"], &["php/fpm:opcache"]), "php/fpm:opcache");
        assert_eq!(who(&["php/fpm:jit?pool=4"], &["php/fpm:jit?pool=4", "node/http:single"]), "php/fpm:jit?pool=4");
        assert!(stars("go/nethttp:*, bun/serve:single") && !stars("all"));
    }
}
