//! Rasterises a card: places that show a picture for a link accept PNG but not SVG.
//!
//! It reads only the drawing that [`super::card`] makes: rectangles, words, and the paths of markers, each with its own
//! colours. A renderer of any SVG would cost a quarter of tolok's build time (docs/dependencies.md).

use std::io::Write as _;

use ab_glyph::{Font, FontRef, OutlineCurve, Point, point};
use ab_glyph_rasterizer::Rasterizer;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const REGULAR: &[u8] = include_bytes!("../../fonts/card-regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/card-bold.ttf");
/// Corners of the polygon that approximates a small circle.
const CORNERS: usize = 24;

type Colour = [u8; 3];

/// Renders a drawing of this size as a PNG.
pub(crate) fn png(svg: &str, width: usize, height: usize) -> Vec<u8> {
    let mut canvas = Canvas::new(width, height);
    let mut place = Place::default();
    for piece in svg.split('<').skip(1) {
        let (tag, words) = piece.split_once('>').unwrap_or((piece, ""));
        let element = Element { tag };
        match tag.split([' ', '/']).next().unwrap_or_default() {
            "g" => place = Place::of(&element),
            "rect" => canvas.rectangle(&element),
            "path" => canvas.path(&element, place),
            "text" => canvas.words(&element, words),
            _ if tag.starts_with("/g") => place = Place::default(),
            _ => {}
        }
    }
    canvas.png()
}

/// A tag with its attributes.
struct Element<'a> {
    tag: &'a str,
}

impl<'a> Element<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.tag.split_once(&format!(" {name}=\""))?;
        Some(value.split_once('"')?.0)
    }

    fn number(&self, name: &str) -> f32 {
        self.attribute(name).and_then(|value| value.trim_end_matches("px").parse().ok()).unwrap_or_default()
    }

    /// Parses `#15181d`; `None` for other notations.
    fn colour(&self, name: &str) -> Option<Colour> {
        let digits = self.attribute(name)?.strip_prefix('#')?;
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6)?;
        let [_, red, green, blue] = value.to_be_bytes();
        Some([red, green, blue])
    }
}

/// The offset and the scale of a group.
#[derive(Clone, Copy)]
struct Place {
    by: Point,
    scale: f32,
}

impl Default for Place {
    fn default() -> Self {
        Self { by: point(0.0, 0.0), scale: 1.0 }
    }
}

impl Place {
    /// Parses `transform="translate(72 186.0) scale(1.8)"`.
    fn of(group: &Element<'_>) -> Self {
        let transform = group.attribute("transform").unwrap_or_default();
        let numbers = |name: &str| -> Vec<f32> {
            let inside = transform.split_once(name).and_then(|(_, rest)| rest.split_once(')'));
            inside.map_or("", |(inside, _)| inside).split(' ').filter_map(|number| number.parse().ok()).collect()
        };
        let scale = numbers("scale(").first().copied().unwrap_or(1.0);
        match numbers("translate(")[..] {
            [x, y, ..] => Self { by: point(x, y), scale },
            _ => Self { scale, ..Self::default() },
        }
    }

    fn put(self, at: Point) -> Point {
        point(self.by.x + at.x * self.scale, self.by.y + at.y * self.scale)
    }
}

/// A line of points; a closed one returns to its start.
#[derive(Default)]
struct Line {
    points: Vec<Point>,
    is_closed: bool,
}

/// The lines in a marker's path: `M`, `h`, `v`, `l`, `a` for half a circle, and `z`.
fn lines(path: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut at = point(0.0, 0.0);
    let mut rest = path;
    while let Some(step) = rest.chars().next() {
        let end = rest[1..].find(|letter: char| letter.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        let numbers: Vec<f32> = rest[1..end].split([' ', ',']).filter_map(|number| number.parse().ok()).collect();
        rest = &rest[end..];
        let from = at;
        match (step, &numbers[..]) {
            ('M', [x, y]) => {
                at = point(*x, *y);
                lines.push(Line::default());
            }
            ('l', [x, y]) => at = point(at.x + x, at.y + y),
            ('h', [x]) => at.x += x,
            ('v', [y]) => at.y += y,
            ('a', [radius, .., x, _]) => {
                at.x += x;
                let Some(line) = lines.last_mut() else { continue };
                // From one side of the circle to the opposite one, the first half below.
                line.points.extend((1..CORNERS / 2).map(|corner| {
                    let angle = std::f32::consts::PI * corner as f32 / (CORNERS / 2) as f32;
                    let towards = x.signum();
                    point(from.x + towards * radius * (1.0 - angle.cos()), from.y + towards * radius * angle.sin())
                }));
            }
            ('z', _) => lines.iter_mut().rev().take(1).for_each(|line| line.is_closed = true),
            _ => {}
        }
        if let Some(line) = lines.last_mut().filter(|_| step != 'z') {
            line.points.push(at);
        }
    }
    lines
}

/// A filled outline of straight and curved pieces.
#[derive(Default)]
struct Shape {
    curves: Vec<OutlineCurve>,
}

impl Shape {
    fn polygon(&mut self, points: &[Point]) {
        let ends = points.iter().skip(1).chain(points.first());
        self.curves.extend(points.iter().zip(ends).map(|(from, to)| OutlineCurve::Line(*from, *to)));
    }

    /// A straight line with some thickness.
    fn stroke(&mut self, from: Point, to: Point, thickness: f32) {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let length = x.hypot(y);
        if length > 0.0 {
            let (x, y) = (x / length * thickness / 2.0, y / length * thickness / 2.0);
            let corner = |at: Point, side: f32| point(at.x - side * y, at.y + side * x);
            self.polygon(&[corner(from, 1.0), corner(to, 1.0), corner(to, -1.0), corner(from, -1.0)]);
        }
    }

    fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.curves.iter().flat_map(|curve| match *curve {
            OutlineCurve::Line(a, b) => vec![a, b],
            OutlineCurve::Quad(a, b, c) => vec![a, b, c],
            OutlineCurve::Cubic(a, b, c, d) => vec![a, b, c, d],
        })
    }
}

struct Canvas {
    width: usize,
    height: usize,
    /// Rows of red, green and blue, initially white.
    pixels: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![u8::MAX; width * height * 3] }
    }

    fn rectangle(&mut self, element: &Element<'_>) {
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| element.number(name));
        let mut shape = Shape::default();
        shape.polygon(&[point(x, y), point(x + width, y), point(x + width, y + height), point(x, y + height)]);
        self.paint(&shape, element.colour("fill"));
    }

    fn path(&mut self, element: &Element<'_>, place: Place) {
        let lines = lines(element.attribute("d").unwrap_or_default());
        let put = |line: &Line| line.points.iter().map(|at| place.put(*at)).collect::<Vec<Point>>();
        let mut filled = Shape::default();
        lines.iter().for_each(|line| filled.polygon(&put(line)));
        self.paint(&filled, element.colour("fill"));
        let thickness = element.number("stroke-width").max(1.0) * place.scale;
        let mut stroked = Shape::default();
        for line in &lines {
            let points = put(line);
            let closing = points.first().filter(|_| line.is_closed);
            points
                .iter()
                .zip(points.iter().skip(1).chain(closing))
                .for_each(|(a, b)| stroked.stroke(*a, *b, thickness));
        }
        self.paint(&stroked, element.colour("stroke"));
    }

    fn words(&mut self, element: &Element<'_>, words: &str) {
        let is_bold = element.attribute("font-weight").is_some_and(|weight| weight >= "600");
        // Both fonts are built in, and a test draws with both.
        let Ok(font) = FontRef::try_from_slice(if is_bold { BOLD } else { REGULAR }) else { return };
        let scale = element.number("font-size") / font.units_per_em().unwrap_or(1000.0);
        let glyphs: Vec<_> = unescaped(words).chars().map(|letter| font.glyph_id(letter)).collect();
        let width: f32 = glyphs.iter().map(|glyph| font.h_advance_unscaled(*glyph) * scale).sum();
        let before = match element.attribute("text-anchor") {
            Some("end") => width,
            Some("middle") => width / 2.0,
            _ => 0.0,
        };
        let (mut x, y) = (element.number("x") - before, element.number("y"));
        let mut shape = Shape::default();
        for glyph in glyphs {
            let put = |at: Point| point(x + at.x * scale, y - at.y * scale);
            let curves = font.outline(glyph).map(|outline| outline.curves).unwrap_or_default();
            shape.curves.extend(curves.into_iter().map(|curve| match curve {
                OutlineCurve::Line(a, b) => OutlineCurve::Line(put(a), put(b)),
                OutlineCurve::Quad(a, b, c) => OutlineCurve::Quad(put(a), put(b), put(c)),
                OutlineCurve::Cubic(a, b, c, d) => OutlineCurve::Cubic(put(a), put(b), put(c), put(d)),
            }));
            x += font.h_advance_unscaled(glyph) * scale;
        }
        self.paint(&shape, element.colour("fill"));
    }

    /// Paints a shape, clipped to the canvas. A partly covered pixel gets a proportional share of the colour.
    fn paint(&mut self, shape: &Shape, colour: Option<Colour>) {
        let Some(colour) = colour else { return };
        let ends = |most: usize, value: fn(Point) -> f32| {
            let (low, high) = shape.points().map(value).fold((f32::MAX, f32::MIN), |(a, b), it| (a.min(it), b.max(it)));
            (low.floor().clamp(0.0, most as f32) as usize, high.ceil().clamp(0.0, most as f32) as usize)
        };
        let ((left, right), (top, bottom)) = (ends(self.width, |at| at.x), ends(self.height, |at| at.y));
        if left >= right || top >= bottom {
            return;
        }
        // One more column, because what ends at the border of the last pixel is counted beyond it.
        let mut rasterizer = Rasterizer::new(right - left + 1, bottom - top);
        let put = |at: Point| point((at.x - left as f32).max(0.0), at.y - top as f32);
        for curve in &shape.curves {
            match *curve {
                OutlineCurve::Line(a, b) => rasterizer.draw_line(put(a), put(b)),
                OutlineCurve::Quad(a, b, c) => rasterizer.draw_quad(put(a), put(b), put(c)),
                OutlineCurve::Cubic(a, b, c, d) => rasterizer.draw_cubic(put(a), put(b), put(c), put(d)),
            }
        }
        rasterizer.for_each_pixel_2d(|x, y, covered| {
            let (x, y) = (left + x as usize, top + y as usize);
            if x < self.width && covered > 0.0 {
                let start = (y * self.width + x) * 3;
                for (pixel, wanted) in self.pixels[start..start + 3].iter_mut().zip(colour) {
                    let share = covered.min(1.0);
                    *pixel = (f32::from(*pixel) * (1.0 - share) + f32::from(wanted) * share).round() as u8;
                }
            }
        });
    }

    fn png(&self) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in self.pixels.chunks(self.width * 3) {
            // Filter "none", and the row. Writing to memory cannot fail.
            let _ = encoder.write_all(&[0]).and_then(|()| encoder.write_all(row));
        }
        let mut header = Vec::new();
        [self.width, self.height].iter().for_each(|size| header.extend((*size as u32).to_be_bytes()));
        header.extend([8, 2, 0, 0, 0]); // 8-bit RGB, deflate, adaptive filters, not interlaced
        let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut picture, b"IHDR", &header);
        chunk(&mut picture, b"IDAT", &encoder.finish().unwrap_or_default());
        chunk(&mut picture, b"IEND", &[]);
        picture
    }
}

fn chunk(picture: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(data);
    picture.extend((data.len() as u32).to_be_bytes());
    picture.extend(kind);
    picture.extend(data);
    picture.extend(sum.sum().to_be_bytes());
}

/// Reverses [`crate::svg::escaped`].
fn unescaped(words: &str) -> String {
    let letters = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    letters.iter().fold(words.to_owned(), |words, (escaped, letter)| words.replace(escaped, letter))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    /// The pixels of a picture, decoded row by row.
    fn pixels(picture: &[u8], width: usize) -> Vec<Vec<Colour>> {
        let start = picture.windows(4).position(|kind| kind == b"IDAT").unwrap() + 4;
        let length = u32::from_be_bytes(picture[start - 8..start - 4].try_into().unwrap()) as usize;
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(&picture[start..start + length]).read_to_end(&mut bytes).unwrap();
        let colour = |bytes: &[u8]| [bytes[0], bytes[1], bytes[2]];
        bytes.chunks(1 + width * 3).map(|row| row[1..].chunks(3).map(colour).collect()).collect()
    }

    fn drawn(body: &str) -> Vec<Vec<Colour>> {
        pixels(&png(&format!("<svg>{body}</svg>"), 40, 30), 40)
    }

    /// Left, top, right and bottom of everything that is not white.
    fn extent(rows: &[Vec<Colour>]) -> [usize; 4] {
        let inked = |pixel: &Colour| *pixel != [255; 3];
        let rows_with: Vec<usize> = (0..rows.len()).filter(|y| rows[*y].iter().any(inked)).collect();
        let columns: Vec<usize> = (0..rows[0].len()).filter(|x| rows.iter().any(|row| inked(&row[*x]))).collect();
        [columns[0], rows_with[0], columns[columns.len() - 1] + 1, rows_with[rows_with.len() - 1] + 1]
    }

    #[test]
    fn a_rectangle_has_its_place_its_colour_and_soft_borders() {
        let rows = drawn("<rect fill=\"#102030\" x=\"2\" y=\"3\" width=\"10.5\" height=\"4\"/>");
        assert_eq!(extent(&rows), [2, 3, 13, 7]);
        assert_eq!((rows[4][5], rows[4][20]), ([16, 32, 48], [255; 3]));
        assert!((134..=137).contains(&rows[4][12][0]), "half covered: {:?}", rows[4][12]);
        assert_eq!(
            extent(&drawn("<rect fill=\"#000000\" x=\"-5\" y=\"20\" width=\"99\" height=\"99\"/>")),
            [0, 20, 40, 30]
        );
    }

    #[test]
    fn markers_are_moved_enlarged_filled_and_stroked() {
        let group = |path: &str| drawn(&format!("<g transform=\"translate(20 15) scale(2)\">{path}</g>"));
        let circle = group("<path fill=\"#000000\" d=\"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z\"/>");
        assert_eq!((extent(&circle), circle[15][20], circle[8][13]), ([12, 7, 28, 23], [0; 3], [255; 3]));
        let plus = group("<path fill=\"none\" stroke=\"#000000\" stroke-width=\"1\" d=\"M0 -4v8M-4 0h8\"/>");
        assert_eq!((extent(&plus), plus[15][14], plus[10][14]), ([12, 7, 28, 23], [0; 3], [255; 3]));
        let ring = group(
            "<path fill=\"none\" stroke=\"#000000\" stroke-width=\"1\" d=\"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z\"/>",
        );
        assert_eq!((extent(&ring), ring[15][20]), ([11, 6, 29, 24], [255; 3]));
    }

    #[test]
    fn words_begin_or_end_at_their_place_and_no_title_is_drawn() {
        let text = |more: &str| {
            drawn(&format!(
                "<title>x</title><text fill=\"#000000\" font-size=\"20\" {more} x=\"20\" y=\"25\">l&amp;</text>"
            ))
        };
        let [begins, ends] = [text(""), text("text-anchor=\"end\"")].map(|rows| extent(&rows));
        assert!(begins[0] >= 20 && ends[2] <= 20 && begins[3] <= 26, "{begins:?} {ends:?}");
        let ink = |rows: Vec<Vec<Colour>>| rows.iter().flatten().map(|pixel| u64::from(255 - pixel[0])).sum::<u64>();
        assert!(ink(text("font-weight=\"700\"")) > ink(text("")), "bold is darker");
        assert!(drawn("<title>x</title>").iter().flatten().all(|pixel| *pixel == [255; 3]));
    }

    #[test]
    fn a_picture_is_a_png_with_its_size_and_right_sums() {
        let picture = png("<svg></svg>", 40, 30);
        assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(picture[16..24], [0, 0, 0, 40, 0, 0, 0, 30]);
        assert_eq!(picture[picture.len() - 12..], *b"\0\0\0\0IEND\xaeB`\x82");
    }
}
