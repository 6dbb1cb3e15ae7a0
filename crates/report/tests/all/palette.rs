//! Measures the colours of the style sheet: against their background, and against each other as seen with deficient
//! colour vision.
//!
//! Contrast is that of WCAG 2.1. Deficient vision is simulated with the matrices of G. M. Machado, M. M. Oliveira and
//! L. A. F. Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15(6), 2009,
//! at full severity. Distances are measured in OKLab (B. Ottosson, 2020), times 100.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tolok_model::{Colour, Subject};
use tolok_report::marker;
use tolok_report::print::style;

/// WCAG 2.1, 1.4.11, for graphics.
const LEAST_GRAPHIC_CONTRAST: f64 = 3.0;
/// WCAG 2.1, 1.4.3, for text.
const LEAST_TEXT_CONTRAST: f64 = 4.5;
/// For comparison: Okabe and Ito's well-known palette has 7.6 in its worst pair.
const LEAST_DISTANCE: f64 = 8.0;

type Rgb = [f64; 3];
type Matrix = [[f64; 3]; 3];

const NORMAL: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTANOPIA: Matrix =
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
const DEUTERANOPIA: Matrix =
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
const TRITANOPIA: Matrix =
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]];

/// The variables of the first block after `start`, as linear RGB.
fn colours(start: &str) -> BTreeMap<String, Rgb> {
    let block = style().split_once(start).expect("the style sheet has this block").1;
    let block = block.split_once(":root {").map_or(block, |(_, inside)| inside).split('}').next().unwrap_or(block);
    let variables = block.split(';').filter_map(|entry| entry.trim().strip_prefix("--")?.split_once(": "));
    variables.filter_map(|(name, value)| Some((name.to_owned(), linear(value.strip_prefix('#')?)))).collect()
}

fn linear(hex: &str) -> Rgb {
    let wide: String =
        if hex.len() == 3 { hex.chars().flat_map(|digit| [digit, digit]).collect() } else { hex.to_owned() };
    [0, 2, 4].map(|place| {
        let value =
            f64::from(u8::from_str_radix(&wide[place..place + 2], 16).expect("a colour in hexadecimal digits")) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn multiply(matrix: &Matrix, colour: Rgb) -> Rgb {
    matrix.map(|row| row.iter().zip(colour).map(|(factor, part)| factor * part).sum())
}

fn luminance(colour: Rgb) -> f64 {
    0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]
}

fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

fn oklab(colour: Rgb) -> Rgb {
    const TO_CONES: Matrix = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    const TO_LAB: Matrix = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    multiply(&TO_LAB, multiply(&TO_CONES, colour).map(|part| part.max(0.0).cbrt()))
}

fn distance(vision: &Matrix, one: Rgb, other: Rgb) -> f64 {
    let seen = |colour| oklab(multiply(vision, colour).map(|part| part.clamp(0.0, 1.0)));
    let squares = seen(one).iter().zip(seen(other)).map(|(one, other)| (one - other).powi(2)).sum::<f64>();
    100.0 * squares.sqrt()
}

#[test]
fn the_measures_are_the_published_ones() {
    let [black, white] = ["000000", "ffffff"].map(linear);
    assert!((contrast(black, white) - 21.0).abs() < 1e-9);
    assert!((distance(&NORMAL, black, white) - 100.0).abs() < 0.01);
    let [orange, sky] = ["e69f00", "56b4e9"].map(linear);
    assert!(contrast(orange, white) < 2.4 && contrast(sky, white) < 2.4, "why Okabe and Ito's colours are not used");
}

/// Every subject of this repository.
fn subjects() -> Vec<Subject> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects"));
    let folders = |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|it| it.is_dir());
    let all = folders(root).flat_map(|runtime| folders(&runtime).collect::<Vec<_>>());
    let texts = all.filter_map(|folder| Some((folder.clone(), fs::read_to_string(folder.join("subject.toml")).ok()?)));
    texts.map(|(folder, text)| Subject::read(&folder.display().to_string(), &text).unwrap()).collect()
}

/// The colours of each runtime, from its subjects.
fn runtimes() -> BTreeMap<String, Colour> {
    let mut runtimes = BTreeMap::new();
    for subject in subjects() {
        let Some(colour) = subject.colour else { continue };
        let other = runtimes.insert(subject.runtime.clone(), colour.clone());
        assert!(other.is_none_or(|other| other == colour), "{} has two colours", subject.runtime);
    }
    runtimes
}

#[test]
fn every_runtime_can_be_seen_and_told_from_the_others() {
    for theme in ["", "prefers-color-scheme: dark", "@media print"] {
        let page = colours(theme);
        let own = |colour: &Colour| if theme.contains("dark") { colour.dark.clone() } else { colour.light.clone() };
        let runtimes = runtimes().into_iter().map(|(runtime, colour)| (runtime, linear(&own(&colour)[1..])));
        let all: Vec<_> = runtimes.chain([("other".to_owned(), page["other"])]).collect();
        for (place, (runtime, colour)) in all.iter().enumerate() {
            let against_card = contrast(*colour, page["card"]);
            assert!(against_card >= LEAST_GRAPHIC_CONTRAST, "{theme:?} {runtime}: contrast {against_card:.2}");
            for (other, its_colour) in &all[place + 1..] {
                for vision in [NORMAL, PROTANOPIA, DEUTERANOPIA, TRITANOPIA] {
                    let apart = distance(&vision, *colour, *its_colour);
                    assert!(apart >= LEAST_DISTANCE, "{theme:?} {runtime} and {other}: distance {apart:.1}");
                }
            }
        }
    }
}

#[test]
fn the_page_has_the_colours_of_the_subjects_folders() {
    for (runtime, Colour { light, dark }) in runtimes() {
        for variable in [format!("--{runtime}: {light};"), format!("--{runtime}: {dark};")] {
            assert!(style().contains(&variable), "{variable}");
        }
        assert!(style().contains(&format!(".r-{runtime} {{ --c: var(--{runtime}); }}")), "{runtime}");
    }
}

#[test]
fn every_runtime_has_a_marker_of_its_own() {
    let path = |runtime: &str| {
        marker(runtime).split(" d=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
    };
    let mut seen = BTreeMap::new();
    for runtime in runtimes().into_keys().chain(["unheard-of".to_owned()]) {
        let other = seen.insert(path(&runtime).expect("a marker is a path"), runtime.clone());
        assert_eq!(other, None, "{runtime}");
    }
}

#[test]
fn text_can_be_read_on_every_ground_it_stands_on() {
    let pairs = [("fg", "bg"), ("fg", "card"), ("fg", "soft"), ("mut", "bg"), ("mut", "card"), ("mut", "soft")];
    for theme in ["", "prefers-color-scheme: dark", "@media print"] {
        let colours = colours(theme);
        for (text, ground) in pairs.into_iter().chain([("ok", "okb"), ("warn", "warnb"), ("ok", "bg"), ("warn", "bg")])
        {
            let contrast = contrast(colours[text], colours[ground]);
            assert!(contrast >= LEAST_TEXT_CONTRAST, "{theme:?} {text} on {ground}: {contrast:.2}");
        }
    }
}
