//! Values on the command line of `tolok load`. Each text is parsed into a type here, or into an error that shows a correct value.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use tolok_load::options::{Method, Pool, Sources, ThinkTime, without_blanks_in_braces};

/// Threads of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// This many.
    Count(u32),
    /// One for each CPU that tolok may use.
    Auto,
}

/// A linear ramp to a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageText {
    /// Virtual users, or requests per second, at its end.
    pub target: f64,
    /// Whether it was written as a rate.
    pub is_rate: bool,
    /// How long it takes.
    pub duration: Duration,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyText {
    /// This text.
    Text(String),
    /// The content of this file.
    File(PathBuf),
}

/// One of several requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedRequest {
    /// How often it is sent, in proportion to the others.
    pub weight: u32,
    /// Its method.
    pub method: Method,
    /// Path and query.
    pub path: String,
}

/// CPUs by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

/// `500ms`, `10s`, `2m 30s`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let is_bare = text.trim().parse::<f64>().is_ok_and(|number| number != 0.0);
    let example = if is_bare { format!("{}s", text.trim()) } else { "500ms, 10s or 2m".to_owned() };
    humantime::parse_duration(text).map_err(|_| format!("a time needs its unit, such as {example}"))
}

/// `64`, `10k`, `2M`.
pub fn count(text: &str) -> Result<u64, String> {
    let number = scaled(text).filter(|number| *number >= 1.0 && number.fract() == 0.0 && *number <= 1e15);
    number
        .map(|number| number as u64)
        .ok_or_else(|| "it is a whole number from 1 to 10^15, such as 500 or 10k".to_owned())
}

/// Like [`count`], limited to the connections that one machine can have.
pub fn connections(text: &str) -> Result<u32, String> {
    let number = count(text).ok().and_then(|number| u32::try_from(number).ok()).filter(|number| *number <= 100_000);
    number.ok_or_else(|| "it is a whole number from 1 to 100000".to_owned())
}

/// A whole number in a range, as the option's type.
pub fn whole<N: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        let wrong = || format!("it is a whole number from {} to {}", range.start(), range.end());
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(wrong)
    }
}

/// A number of at least one.
pub fn positive(text: &str) -> Result<u32, String> {
    whole(1..=u64::from(u32::MAX))(text)
}

/// A port that does not require root and is not the last one: the next port must also exist.
pub fn port(text: &str) -> Result<u16, String> {
    whole(1024..=u64::from(u16::MAX) - 1)(text)
}

/// A seed, or a length that may be zero.
pub fn any_whole(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// The number of users at the start, which may be zero.
pub fn users(text: &str) -> Result<u32, String> {
    if text == "0" { Ok(0) } else { connections(text) }
}

/// `2000`, `2000/s`, `120/m`, `2k/s`: as a rate per second.
pub fn rate(text: &str) -> Result<f64, String> {
    rate_of(text).ok_or_else(|| "a rate is a number a second, or with its time: 2000, 2000/s, 120/m or 90/h".to_owned())
}

fn rate_of(text: &str) -> Option<f64> {
    let (number, seconds) = tolok_model::rate_parts(text)?;
    scaled(number).map(|number| number / seconds)
}

/// A non-negative number, with the suffix k, M or G for thousands, millions and billions.
fn scaled(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'm' | b'M' => (&text[..text.len() - 1], 1e6),
        b'g' | b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = number.parse().ok().filter(|_| is_plain)?;
    Some(number * factor)
}

/// `5%` as 0.05; between 0.1% and 50%.
pub fn share(text: &str) -> Result<f64, String> {
    percentage(text, 50.0)
}

/// `5%` as 0.05; between 0.1% and 99.9%.
pub fn part(text: &str) -> Result<f64, String> {
    percentage(text, 99.9)
}

fn percentage(text: &str, most: f64) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    percent
        .filter(|percent| (0.1..=most).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("`{text}` is no percentage from 0.1% to {most}%, such as 5%"))
}

/// `10KB/s`, `64KiB/s`, `2MB/s`: bytes per second.
pub fn bytes_per_second(text: &str) -> Result<u64, String> {
    tolok_model::parse_byte_rate(text)
        .ok_or_else(|| "it is a size a second, such as 10KB/s, 64KiB/s or 2MB/s".to_owned())
}

/// `200:30s`, `2000/s:1m`, or in k6's order, `30s:200`.
pub fn stage(text: &str) -> Result<StageText, String> {
    let wrong = || "a stage has the form TARGET:TIME, such as 200:30s or 2000/s:1m".to_owned();
    let (left, right) = text.split_once(':').ok_or_else(wrong)?;
    let read = |target: &str, time: &str| {
        let duration = humantime::parse_duration(time).ok()?;
        Some(StageText { target: rate_of(target)?, is_rate: target.contains('/'), duration })
    };
    // A bare `0` parses both as a target and as a time.
    read(left, right).or_else(|| read(right, left)).ok_or_else(wrong)
}

/// `300ms`, or `1s..3s` for a pause drawn from a range.
pub fn think(text: &str) -> Result<ThinkTime, String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let think = ThinkTime { least: duration(least)?, most: duration(most)? };
    if think.least > think.most {
        return Err("the shorter pause comes first: 1s..3s".to_owned());
    }
    Ok(think)
}

/// `100`, `unbounded`, `unbounded:5000`.
pub fn pool(text: &str) -> Result<Pool, String> {
    let wrong = |_| "a pool is a number of connections, `unbounded`, or `unbounded:MOST`".to_owned();
    match text.strip_prefix("unbounded") {
        Some("") => Ok(Pool::Unbounded { at_most: None }),
        Some(rest) => {
            let most = rest.strip_prefix(':').ok_or_else(String::new).and_then(connections).map_err(wrong)?;
            Ok(Pool::Unbounded { at_most: Some(most) })
        }
        None => connections(text).map(Pool::Bounded).map_err(wrong),
    }
}

/// `8`, `system`, `127.0.0.2,127.0.0.3`.
pub fn sources(text: &str) -> Result<Sources, String> {
    if text == "system" {
        return Ok(Sources::System);
    }
    if let Ok(count) = text.parse::<u32>() {
        let count = u8::try_from(count).ok().filter(|count| (1..=254).contains(count));
        return count.map(Sources::Rotated).ok_or_else(|| "127.0.0.1 to 127.0.0.254 are 254 addresses".to_owned());
    }
    let addresses: Result<Vec<IpAddr>, _> = text.split(',').map(|one| one.trim().parse()).collect();
    addresses.map(Sources::Listed).map_err(|_| {
        "it is a number of loopback addresses, `system`, or addresses such as 10.0.0.2,10.0.0.3".to_owned()
    })
}

/// `0,2-3`.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    let wrong = || "CPUs are numbers and ranges, such as 0,2-3".to_owned();
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|cpu| *cpu < 1024);
        let (first, last) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
        if first > last {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    Ok(CpuList(cpus))
}

/// `4`, or `auto`.
pub fn threads(text: &str) -> Result<Threads, String> {
    match text {
        "auto" => Ok(Threads::Auto),
        _ => {
            let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
            number.map(Threads::Count).ok_or_else(|| "it is a number of threads from 1 to 1024, or `auto`".to_owned())
        }
    }
}

/// `Name: value`.
pub fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header has the form `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The text itself, or `@` and the file that contains it.
pub fn body(text: &str) -> Result<BodyText, String> {
    Ok(match text.strip_prefix('@') {
        Some(file) => BodyText::File(PathBuf::from(file)),
        None => BodyText::Text(text.to_owned()),
    })
}

/// `3 GET /a`; the default weight is 1.
pub fn weighted_request(text: &str) -> Result<WeightedRequest, String> {
    let wrong = || "a request has the form 'WEIGHT METHOD PATH', such as '3 GET /items?page=2'".to_owned();
    let text = without_blanks_in_braces(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let (weight, rest) = match words.as_slice() {
        [weight, rest @ ..] if rest.len() == 2 => (weight.parse().map_err(|_| wrong())?, rest),
        rest => (1, rest),
    };
    let [name, path] = rest else { return Err(wrong()) };
    Ok(WeightedRequest { weight, method: Method::named(name)?, path: (*path).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn blanks_inside_the_braces_of_a_placeholder_are_removed() {
        assert_eq!(weighted_request("2 GET /a/{{ id }}?b={{c}}").unwrap().path, "/a/{{id}}?b={{c}}");
    }

    #[test]
    fn numbers_may_have_a_suffix() {
        assert_eq!(["64", "10k", "1.5M"].map(count), [Ok(64), Ok(10_000), Ok(1_500_000)]);
        assert!(["0", "-1", "1.5", "k", "", "1e3", "ten"].iter().all(|text| count(text).is_err()));
        assert_eq!((users("0"), connections("100k")), (Ok(0), Ok(100_000)));
        assert!(connections("0").is_err() && connections("100001").is_err());
    }

    #[test]
    fn a_whole_number_is_refused_in_words_that_say_which_would_do() {
        let wrong = Err("it is a whole number from 1 to 4294967295".to_owned());
        assert_eq!(["0", "ten", "-1", "1.5", "4294967296", ""].map(positive), std::array::from_fn(|_| wrong.clone()));
        assert_eq!((positive("10"), any_whole("0")), (Ok(10), Ok(0)));
        assert_eq!(any_whole("-1"), Err(format!("it is a whole number from 0 to {}", u64::MAX)));
        assert_eq!(whole::<u16>(200..=599)("600"), Err("it is a whole number from 200 to 599".to_owned()));
    }

    #[test]
    fn rates_have_a_time_or_mean_a_second() {
        assert_eq!(
            ["2000", "2000/s", "120/m", "7200/h", "2k/s", "0"].map(rate),
            [2e3, 2e3, 2.0, 2.0, 2e3, 0.0].map(Ok)
        );
        assert!(["", "/s", "10/d", "-1", "inf", "1e3", "10 per s"].iter().all(|text| rate(text).is_err()));
    }

    #[test]
    fn a_stage_is_understood_in_either_order() {
        let stage = |text: &str| stage(text).map(|stage| (stage.target, stage.is_rate, stage.duration));
        assert_eq!(stage("200:30s"), Ok((200.0, false, MS(30_000))));
        assert_eq!(stage("30s:200"), Ok((200.0, false, MS(30_000))));
        assert_eq!(stage("120/m:500ms"), Ok((2.0, true, MS(500))));
        assert_eq!(stage("0:10s"), Ok((0.0, false, MS(10_000))));
        assert_eq!(stage("10s:0"), Ok((0.0, false, MS(10_000))));
        assert_eq!(stage("100:0s"), Ok((100.0, false, MS(0))));
        assert!(["200", "200:30", "30s", ":", "a:b"].iter().all(|text| stage(text).is_err()));
    }

    #[test]
    fn pauses_pools_and_sources() {
        assert_eq!(think("300ms"), Ok(ThinkTime { least: MS(300), most: MS(300) }));
        assert_eq!(think("1s..3s"), Ok(ThinkTime { least: MS(1000), most: MS(3000) }));
        assert!(think("3s..1s").is_err() && think("1..3").is_err());
        assert_eq!(pool("100"), Ok(Pool::Bounded(100)));
        assert_eq!(pool("unbounded"), Ok(Pool::Unbounded { at_most: None }));
        assert_eq!(pool("unbounded:500"), Ok(Pool::Unbounded { at_most: Some(500) }));
        assert!(["0", "unbounded:0", "unbounded500", "all"].iter().all(|text| pool(text).is_err()));
        assert_eq!(sources("8"), Ok(Sources::Rotated(8)));
        assert_eq!(sources("system"), Ok(Sources::System));
        let listed = ["127.0.0.2", "::1"].map(|text| text.parse().unwrap()).to_vec();
        assert_eq!(sources("127.0.0.2, ::1"), Ok(Sources::Listed(listed)));
        assert!(["0", "255", "eth0"].iter().all(|text| sources(text).is_err()));
    }

    #[test]
    fn sizes_cpus_and_threads() {
        let sizes = ["10KB/s", "64KiB/s", "2MB", "100", "1.5 kb/s"].map(bytes_per_second);
        assert_eq!(sizes, [10_000, 65_536, 2_000_000, 100, 1_500].map(Ok));
        assert!(["0", "fast", "10KB/m", "10 apples"].iter().all(|text| bytes_per_second(text).is_err()));
        assert_eq!(cpus("0,2-3"), Ok(CpuList(vec![0, 2, 3])));
        assert!(["", "3-2", "a", "0,,1", "5000"].iter().all(|text| cpus(text).is_err()));
        assert_eq!((threads("4"), threads("auto")), (Ok(Threads::Count(4)), Ok(Threads::Auto)));
        assert!(threads("0").is_err() && threads("all").is_err());
    }

    #[test]
    fn requests_and_bodies() {
        let request = |weight, method, path: &str| Ok(WeightedRequest { weight, method, path: path.to_owned() });
        assert_eq!(weighted_request("3 GET /a?b=c"), request(3, Method::Get, "/a?b=c"));
        assert_eq!(weighted_request("post /a"), request(1, Method::Post, "/a"));
        assert!(["GET", "x GET /a", "3 FETCH /a", "3 GET /a b"].iter().all(|text| weighted_request(text).is_err()));
        assert_eq!(body("@in.json"), Ok(BodyText::File("in.json".into())));
        assert_eq!(body("a=1"), Ok(BodyText::Text("a=1".into())));
    }

    #[test]
    fn a_time_without_unit_is_answered_with_the_likely_one() {
        assert_eq!(duration("30"), Err("a time needs its unit, such as 30s".to_owned()));
        assert_eq!(duration("soon"), Err("a time needs its unit, such as 500ms, 10s or 2m".to_owned()));
    }
}
