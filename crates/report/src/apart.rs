//! Shortens names together, so different names stay different.
//!
//! Subjects that differ only in a setting have long names with the same beginning and often the same end. If each were shortened
//! alone, they could become the same.

/// Shortens each name to at most `most` characters. A name that would become the same as another keeps the words that differ.
pub(crate) fn shortened_apart(names: &[&str], most: usize, shorten: impl Fn(&str, usize) -> String) -> Vec<String> {
    let usual: Vec<String> = names.iter().map(|name| shorten(name, most)).collect();
    let differing = |(place, name): (usize, &&str)| {
        let alike = |other: &usize| usual[*other] == usual[place] && names[*other] != *name;
        let others: Vec<&str> = (0..names.len()).filter(alike).map(|other| names[other]).collect();
        if others.is_empty() { usual[place].clone() } else { by_difference(name, &others, most) }
    };
    let told: Vec<String> = names.iter().enumerate().map(differing).collect();
    let numbered = |(place, name): (usize, &&str)| {
        let is_alike = |other: usize| told[other] == told[place] && names[other] != *name;
        if !(0..names.len()).any(is_alike) {
            return told[place].clone();
        }
        // The names differ in several places, and there is no room for all of them, so a number tells them apart.
        // Every name counts once, where it first stands, so the same name always has the same number.
        let first = |place: usize| names.iter().position(|other| *other == names[place]).unwrap_or(place);
        let counts = |other: &usize| usual[*other] == usual[place] && first(*other) == *other;
        let number = format!(" #{}", (0..first(place)).filter(counts).count() + 1);
        shorten(name, most.saturating_sub(number.len())) + &number
    };
    names.iter().enumerate().map(numbered).collect()
}

/// The beginning of a name, and its text from the first word that differs from the others.
fn by_difference(name: &str, others: &[&str], most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let common = |other: &&str| letters.iter().zip(other.chars()).take_while(|(own, other)| **own == *other).count();
    let at = others.iter().map(common).min().unwrap_or(0).min(letters.len().saturating_sub(1));
    let word = letters[..at].iter().rposition(|letter| " ,(".contains(*letter)).map_or(0, |before| before + 1);
    let room = most.saturating_sub(1) * 2 / 3;
    let start = if at - word < room { word } else { at };
    let tail: String = letters[start..].iter().take(room).collect();
    let head: String = letters[..start].iter().take(most.saturating_sub(1 + tail.chars().count())).collect();
    format!("{}…{}", head.trim_end(), tail.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts off the end of a long name.
    fn cut(name: &str, most: usize) -> String {
        let start: String = name.chars().take(most.saturating_sub(1)).collect();
        if name.chars().count() <= most { name.to_owned() } else { format!("{}…", start.trim_end()) }
    }

    #[test]
    fn names_that_differ_in_a_setting_keep_it() {
        let names = ["PHP-FPM + nginx (plain, pool=16)", "PHP-FPM + nginx (plain, pool=32)", "Bun.serve"];
        assert_eq!(shortened_apart(&names, 22, cut), ["PHP-FPM + ngi…pool=16)", "PHP-FPM + ngi…pool=32)", "Bun.serve"]);
        assert_eq!(
            shortened_apart(&names[1..], 22, cut),
            ["PHP-FPM + nginx (plai…", "Bun.serve"],
            "alone it needs no setting"
        );
        assert_eq!(
            shortened_apart(&[names[0], names[0]], 22, cut),
            ["PHP-FPM + nginx (plai…"; 2],
            "the same name twice is one"
        );
    }

    #[test]
    fn names_that_differ_in_many_places_are_numbered_at_least() {
        let name = |pool: u32, jit: &str| format!("PHP-FPM (plain, pool={pool}, opcache.jit={jit})");
        let names = [name(16, "off"), name(16, "on"), name(32, "off"), name(32, "on")];
        let told = shortened_apart(&names.each_ref().map(String::as_str), 20, cut);
        for (place, one) in told.iter().enumerate() {
            assert!(one.chars().count() <= 20 && !told[..place].contains(one), "{told:?}");
        }
    }

    #[test]
    fn a_name_that_comes_twice_keeps_its_number() {
        let name = |pool: u32, jit: &str| format!("PHP-FPM (plain, pool={pool}, opcache.jit={jit})");
        let names = [name(16, "off"), name(16, "on"), name(32, "off"), name(16, "off"), name(32, "on")];
        let told = shortened_apart(&names.each_ref().map(String::as_str), 20, cut);
        assert_eq!(told[0], told[3]);
        for (name, one) in names.iter().zip(&told) {
            let mut others = names.iter().zip(&told).filter(|(other, _)| *other != name);
            assert!(others.all(|(_, other)| other != one), "{told:?}");
        }
    }

    #[test]
    fn a_long_word_is_shown_from_where_it_differs() {
        let names = ["x".repeat(40) + "a", "x".repeat(40) + "b"];
        let told = shortened_apart(&names.each_ref().map(String::as_str), 12, cut);
        assert_eq!(told, ["xxxxxxxxxx…a", "xxxxxxxxxx…b"]);
    }
}
