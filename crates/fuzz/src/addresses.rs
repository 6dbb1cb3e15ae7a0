//! Addresses and command lines.

use tolok_load::target::Target;
use tolok_model::DatabaseAddress;
use tolok_model::secrets::{masked, masked_in_place};
use tolok_tools::curl;

use crate::text;

pub fn dsn(data: &[u8]) {
    let Some(text) = text(data) else { return };
    assert_eq!(masked_in_place(text).len(), text.len());
    let Ok(address) = DatabaseAddress::read(text, &|_| None) else { return };
    // A password of a few letters may occur elsewhere too, and explanations contain the word `password`.
    let is_telling = address.password.len() > 6 && address.password.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let begins = text.trim();
    if is_telling && address.password != "password" && begins.matches(&address.password).count() == 1 {
        assert!(!masked(text).contains(&address.password), "the password of {text:?} is shown: {:?}", masked(text));
    }
}

pub fn url(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(target) = Target::parse(text) else { return };
    assert_eq!(Target::parse(&target.url()).as_ref().ok(), Some(&target), "{text:?} in full is another URL");
    let head = format!("GET {} HTTP/1.1\r\nHost: {}\r\n", target.path(), target.authority());
    assert_eq!(head.matches(['\r', '\n', ' ']).count(), 7, "{text:?} changes the request: {head:?}");
}

pub fn curl(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(request) = curl::read(text) else { return };
    assert!(request.url.contains("://"), "{text:?} has an address without a scheme: {request:?}");
}
