//! A server's counters, and the figures of a window made from them.
//!
//! The lab's own connection and its statements are subtracted, so what remains is the subject's work. The lab reads
//! the counters of its own connection right before those of the server.

use tolok_load::clock::MonotonicNs;
use tolok_model::DatabaseWindow;

use tolok_host::sample::{Series, Window};

/// Variables read for the lab's own connection.
const OWN: &str = "'Questions', 'Bytes_sent', 'Rows_sent'";
/// Variables read for the whole server.
const ALL: &str = "'Uptime', 'Questions', 'Connections', 'Threads_connected', 'Threads_running', \
    'Connection_errors_max_connections', 'Aborted_connects', 'Aborted_connects_preauth', 'Access_denied_errors', \
    'Max_used_connections', 'Bytes_sent', 'Rows_sent', 'Innodb_rows_read'";

/// The statements that read the figures of the lab's own connection, its number first, and then the server's.
pub(super) fn questions(version: &str) -> [String; 2] {
    let ask = |scope: &str, names: &str| {
        // MariaDB adds what SHOW STATUS itself sends to the server's figures, but not to the connection's. It counts a query
        // of these tables in both. MySQL lacks them, and counts SHOW in both.
        if version.contains("MariaDB") {
            let table = format!("information_schema.{scope}_STATUS");
            return format!("SELECT VARIABLE_NAME, VARIABLE_VALUE FROM {table} WHERE VARIABLE_NAME IN ({names})");
        }
        format!("SHOW {scope} STATUS WHERE Variable_name IN ({names})")
    };
    [format!("SELECT 'Session', CONNECTION_ID();\n{}", ask("SESSION", OWN)), ask("GLOBAL", ALL)]
}

/// Statements between the own figure and the server's: the mark after the first answer, and the second statement.
const OWN_SINCE: u64 = 2;

/// A server's counters at one instant, all since its start. Missing counters are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusReading {
    /// The lab's connection. Figures of different connections cannot be compared.
    pub session: u64,
    /// Uptime in seconds.
    pub uptime_s: Option<u64>,
    /// Statements that clients ran.
    pub queries: Option<u64>,
    /// Attempts to connect.
    pub connections: Option<u64>,
    /// Open connections.
    pub connected: Option<u64>,
    /// The most connections that were open at once.
    pub connected_most: Option<u64>,
    /// Threads that are running a statement.
    pub running: Option<u64>,
    /// Connections refused because the limit was reached.
    pub refused: Option<u64>,
    /// Rows read for clients: sent rows where they are counted (MariaDB), else rows read from the tables (MySQL).
    pub rows: Option<u64>,
    pub sent_bytes: Option<u64>,
}

/// A reading from the answers of the two statements.
pub(super) fn reading(own: &[Vec<Option<String>>], all: &[Vec<Option<String>>]) -> StatusReading {
    let figure = |rows: &[Vec<Option<String>>], name: &str| {
        let is_name = |field: &Option<String>| field.as_ref().is_some_and(|field| field.eq_ignore_ascii_case(name));
        let is_it = |row: &&Vec<Option<String>>| row.first().is_some_and(is_name);
        rows.iter().find(is_it)?.get(1)?.as_ref()?.parse::<u64>().ok()
    };
    let counted = |name: &'static str| figure(all, name);
    let others = |name: &'static str| Some(counted(name)?.saturating_sub(figure(own, name)?));
    let without_lab = |name: &'static str| counted(name).map(|count| count.saturating_sub(1));
    StatusReading {
        session: figure(own, "Session").unwrap_or_default(),
        uptime_s: counted("Uptime"),
        queries: others("Questions").map(|queries| queries.saturating_sub(OWN_SINCE)),
        connections: without_lab("Connections"),
        connected: without_lab("Threads_connected"),
        connected_most: without_lab("Max_used_connections"),
        running: without_lab("Threads_running"),
        refused: counted("Connection_errors_max_connections").map(|refused| refused + refused_late(&counted)),
        rows: others("Rows_sent").or_else(|| counted("Innodb_rows_read")),
        sent_bytes: others("Bytes_sent"),
    }
}

/// MariaDB lets one connection above the limit begin its login, in case it is root's, and counts its refusal as a failed
/// login. Only MariaDB reports how many logins failed for other reasons.
fn refused_late(counted: &impl Fn(&'static str) -> Option<u64>) -> u64 {
    let names = ["Aborted_connects", "Aborted_connects_preauth", "Access_denied_errors"];
    match names.map(counted) {
        [Some(failed), Some(early), Some(denied)] => failed.saturating_sub(early + denied),
        _ => 0,
    }
}

/// Readings during a trial.
#[derive(Debug, Default)]
pub struct StatusSeries {
    readings: Series<StatusReading>,
}

impl StatusSeries {
    pub fn push(&mut self, at: MonotonicNs, reading: StatusReading) {
        self.readings.push(at, reading);
    }

    /// The figures of a window. Counters are interpolated at its borders. They are absent if the server
    /// was restarted in between or the lab had to log in again, because earlier counts are lost then.
    pub fn window(&self, window: Window, version: &str) -> DatabaseWindow {
        let is_whole = self.is_one_session(window);
        let grown = |counter: fn(&StatusReading) -> Option<u64>| {
            let grown = self.readings.grown(window, counter).filter(|_| is_whole);
            grown.map(|count| count.round() as u64)
        };
        DatabaseWindow {
            version: version.to_owned(),
            resources: None,
            queries: grown(|reading| reading.queries),
            connections_opened: grown(|reading| reading.connections),
            connections_max: self.readings.most(window, |reading| reading.connected),
            running_max: self.readings.most(window, |reading| reading.running),
            running_mean: self.running_mean(window),
            refused_connections: self.refused(window),
            rows_sent: grown(|reading| reading.rows),
            sent_bytes: grown(|reading| reading.sent_bytes),
            link: None,
            outage: None,
        }
    }

    fn is_one_session(&self, window: Window) -> bool {
        let readings: Vec<_> = self.readings.iter().collect();
        let touching = readings.windows(2).filter(|pair| pair[1].0 > window.began && pair[0].0 < window.ended);
        touching.into_iter().all(|pair| continues(&pair[0].1, &pair[1].1))
    }

    fn running_mean(&self, window: Window) -> Option<f64> {
        let inside = self.readings.iter().filter(|(at, _)| (window.began..=window.ended).contains(at));
        let running: Vec<u64> = inside.filter_map(|(_, reading)| reading.running).collect();
        (!running.is_empty()).then(|| running.iter().sum::<u64>() as f64 / running.len() as f64)
    }

    /// The total at the end of the window, or at the first reading after it.
    fn refused(&self, window: Window) -> Option<u64> {
        let mut until = None;
        for (at, reading) in self.readings.iter().filter(|(at, _)| *at >= window.began) {
            until = reading.refused.or(until);
            if *at >= window.ended {
                break;
            }
        }
        until
    }
}

/// Whether no counts were lost between two readings.
fn continues(before: &StatusReading, after: &StatusReading) -> bool {
    let grows = |count: fn(&StatusReading) -> Option<u64>| count(after) >= count(before);
    before.session == after.session && grows(|reading| reading.uptime_s) && grows(|reading| reading.queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pairs: &[(&str, &str)]) -> Vec<Vec<Option<String>>> {
        pairs.iter().map(|(name, value)| vec![Some((*name).to_owned()), Some((*value).to_owned())]).collect()
    }

    /// A reading every second from 0 on, with these query counts.
    fn series(queries: &[u64]) -> StatusSeries {
        let mut series = StatusSeries::default();
        for (second, count) in queries.iter().enumerate() {
            let queries = Some(*count);
            let (refused, running) = (Some(second as u64), Some(second as u64 % 3));
            let uptime_s = Some(10 + second as u64);
            let reading = StatusReading { session: 8, uptime_s, queries, refused, running, ..StatusReading::default() };
            series.push(at_s(second as f64), reading);
        }
        series
    }

    fn at_s(seconds: f64) -> MonotonicNs {
        MonotonicNs((seconds * 1e9) as u64)
    }

    fn window(began: f64, ended: f64) -> Window {
        Window { began: at_s(began), ended: at_s(ended) }
    }

    #[test]
    fn the_lab_is_taken_out_of_what_a_server_counts() {
        let own = rows(&[("Session", "8"), ("Questions", "40"), ("Bytes_sent", "4000"), ("Rows_sent", "60")]);
        let all = rows(&[
            ("Uptime", "90"),
            ("Questions", "1042"),
            ("Connections", "18"),
            ("Threads_connected", "17"),
            ("Threads_running", "5"),
            ("Max_used_connections", "17"),
            ("Connection_errors_max_connections", "1"),
            ("Aborted_connects", "9"),
            ("Aborted_connects_preauth", "3"),
            ("Access_denied_errors", "4"),
            ("Bytes_sent", "9004000"),
            ("Rows_sent", "10060"),
        ]);
        let expect = StatusReading {
            session: 8,
            uptime_s: Some(90),
            queries: Some(1000),
            connections: Some(17),
            connected: Some(16),
            connected_most: Some(16),
            running: Some(4),
            refused: Some(3),
            rows: Some(10_000),
            sent_bytes: Some(9_000_000),
        };
        assert_eq!(reading(&own, &all), expect);
    }

    #[test]
    fn what_a_server_does_not_count_is_absent() {
        let mysql = reading(&rows(&[("Session", "8")]), &rows(&[("Innodb_rows_read", "70"), ("Questions", "9")]));
        assert_eq!(mysql, StatusReading { session: 8, rows: Some(70), ..StatusReading::default() });
        let nothing = StatusSeries::default().window(window(1.0, 2.0), "9.7");
        assert_eq!((nothing.queries, nothing.running_mean, nothing.refused_connections), (None, None, None));
        assert_eq!(nothing.version, "9.7");
    }

    #[test]
    fn a_window_is_what_was_counted_between_its_borders() {
        let seen = series(&[100, 200, 300, 400, 500, 600]).window(window(0.5, 3.5), "10.11");
        assert_eq!((seen.queries, seen.connections_opened, seen.rows_sent), (Some(300), None, None));
        assert_eq!((seen.running_max, seen.running_mean), (Some(2), Some(1.0)), "1, 2, 0 inside");
        assert_eq!(seen.refused_connections, Some(4), "at the first reading after the window");
    }

    #[test]
    fn a_server_that_was_started_anew_has_lost_what_it_counted() {
        let restarted = series(&[100, 200, 300, 40, 140, 240]);
        assert_eq!(restarted.window(window(0.5, 4.5), "10.11").queries, None);
        assert_eq!(restarted.window(window(2.9, 5.0), "10.11").queries, None);
        assert_eq!(restarted.window(window(3.2, 4.8), "10.11").queries, Some(160));
        assert_eq!(restarted.window(window(0.5, 4.5), "10.11").running_max, Some(2), "which is not a counter");
    }
}
