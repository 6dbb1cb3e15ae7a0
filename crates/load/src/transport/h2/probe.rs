//! Checks whether a target speaks HTTP/2: its first frame must be SETTINGS (RFC 9113 §3.4).

/// The client's first bytes: the preface, and empty settings.
pub(crate) const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Length of a frame's head; the probe looks at no more of the answer.
pub(crate) const HEAD_BYTES: usize = 9;

/// Fails with the reason if a target's first bytes are not HTTP/2.
pub(crate) fn judge(word: &[u8]) -> Result<(), String> {
    const ADVICE: &str = "; leave out --http2 if it speaks HTTP/1.1 only";
    match word {
        // SETTINGS on stream 0, and not just an acknowledgement.
        [_, _, _, 4, flags, 0, 0, 0, 0, ..] if flags & 1 == 0 => Ok(()),
        [] => Err(format!("it closes the connection when it is greeted in HTTP/2{ADVICE}")),
        [b'H', b'T', b'T', b'P', b'/', ..] => {
            let line = word.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
            Err(format!("it answers `{}`{ADVICE}", String::from_utf8_lossy(line)))
        }
        _ => Err(format!("its first word is not that of HTTP/2 (SETTINGS){ADVICE}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_are_the_first_word_of_http2() {
        let judged = |word: &[u8]| judge(word).err();
        assert_eq!(judged(b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80"), None);
        let reason = |word: &[u8], reason: &str| {
            let told = judged(word).unwrap();
            assert_eq!(told, format!("{reason}; leave out --http2 if it speaks HTTP/1.1 only"));
        };
        reason(b"", "it closes the connection when it is greeted in HTTP/2");
        reason(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n", "it answers `HTTP/1.1 400 Bad Request`");
        reason(b"\0\0\0\x04\x01\0\0\0\0", "its first word is not that of HTTP/2 (SETTINGS)");
        reason(b"\0\0\0\x04\0\0", "its first word is not that of HTTP/2 (SETTINGS)");
        reason(b"+PONG\r\n and so on", "its first word is not that of HTTP/2 (SETTINGS)");
    }
}
