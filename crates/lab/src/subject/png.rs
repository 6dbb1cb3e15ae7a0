//! A PNG of exactly the wanted length, the same bytes for the same seed on every machine.
//!
//! The picture is noise in stored (uncompressed) deflate blocks: its length is known beforehand, it holds no zeros that
//! a file system could leave out, and no library version can change a byte of it. Format: W3C PNG (third edition),
//! RFC 1950 and RFC 1951.

use tolok_model::SplitMix64;

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
/// Bytes of a picture row: one filter byte and 8-bit grey pixels.
const WIDTH: usize = 1024;
const ROW: usize = 1 + WIDTH;
/// A stored deflate block holds at most this many bytes after its five-byte head.
const BLOCK: usize = 65_535;
/// Length, type and checksum around the data of a chunk.
const CHUNK_FRAME: usize = 12;
/// Signature, IHDR (13 bytes of data), IEND (none) and the frame of one IDAT.
const FIXED: usize = 8 + (CHUNK_FRAME + 13) + CHUNK_FRAME + CHUNK_FRAME;

/// Keyword of the text chunk that fills what whole rows leave over.
const KEYWORD: &[u8] = b"Comment\0";
const PADDING_FRAME: usize = CHUNK_FRAME + KEYWORD.len();

/// A valid grey PNG of exactly `bytes` bytes whose pixels are drawn from `seed`.
///
/// # Panics
/// If `bytes` is too small to hold a picture of one row (about 1.2 kB).
pub fn noise_png(bytes: usize, seed: u64) -> Vec<u8> {
    let fits = |rows: &usize| {
        let spare = bytes.checked_sub(FIXED + stream_length(rows * ROW));
        spare.is_some_and(|spare| spare == 0 || spare >= PADDING_FRAME)
    };
    let rows = (1..bytes / ROW + 1).rev().find(fits).expect("a picture has at least one row: ask for more bytes");
    let mut random = SplitMix64::new(seed);
    let mut pixels = Vec::with_capacity(rows * ROW);
    for _ in 0..rows {
        pixels.push(0); // filter type "none"
        pixels.extend((0..WIDTH).map(|_| random.next_u64() as u8));
    }
    let mut header = Vec::new();
    header.extend((WIDTH as u32).to_be_bytes());
    header.extend((rows as u32).to_be_bytes());
    header.extend([8, 0, 0, 0, 0]); // 8-bit grey, deflate, adaptive filters, not interlaced
    let mut picture = SIGNATURE.to_vec();
    chunk(&mut picture, b"IHDR", &header);
    chunk(&mut picture, b"IDAT", &stored_stream(&pixels));
    let spare = bytes - picture.len() - CHUNK_FRAME;
    if spare > 0 {
        pad(&mut picture, spare, &mut random);
    }
    chunk(&mut picture, b"IEND", &[]);
    picture
}

/// Length of a zlib stream of stored blocks around `length` bytes.
fn stream_length(length: usize) -> usize {
    2 + length.div_ceil(BLOCK) * 5 + length + 4
}

fn stored_stream(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(BLOCK);
    for (index, block) in data.chunks(BLOCK).enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(index + 1 == blocks));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn chunk(picture: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    picture.extend((data.len() as u32).to_be_bytes());
    let start = picture.len();
    picture.extend(kind);
    picture.extend(data);
    let checksum = crc32(&picture[start..]);
    picture.extend(checksum.to_be_bytes());
}

/// Fills `spare` bytes with a text chunk of letters, which every decoder skips.
fn pad(picture: &mut Vec<u8>, spare: usize, random: &mut SplitMix64) {
    let letters = (0..spare - PADDING_FRAME).map(|_| b'a' + random.below(26) as u8);
    let data: Vec<u8> = KEYWORD.iter().copied().chain(letters).collect();
    chunk(picture, b"tEXt", &data);
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    };
    !data.iter().fold(u32::MAX, step)
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % MODULUS;
        (a, (b + a) % MODULUS)
    });
    (b << 16) | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_their_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn the_picture_has_the_length_asked_for_and_never_changes() {
        let picture = noise_png(546_816, 534);
        assert_eq!(picture.len(), 546_816);
        assert_eq!(picture, noise_png(546_816, 534));
        assert_ne!(picture, noise_png(546_816, 535));
        // The bytes are a contract between versions of tolok: results are only comparable if they never change.
        assert_eq!(format!("{:08x}", crc32(&picture)), "76c6b8b7");
    }

    #[test]
    fn every_chunk_is_whole_and_the_last_one_ends_the_picture() {
        let picture = noise_png(20_000, 1);
        let (mut at, mut kinds) = (SIGNATURE.len(), Vec::new());
        while at < picture.len() {
            let length = u32::from_be_bytes(picture[at..at + 4].try_into().unwrap()) as usize;
            let checksum = u32::from_be_bytes(picture[at + 8 + length..at + 12 + length].try_into().unwrap());
            assert_eq!(crc32(&picture[at + 4..at + 8 + length]), checksum);
            kinds.push(String::from_utf8(picture[at + 4..at + 8].to_vec()).unwrap());
            at += CHUNK_FRAME + length;
        }
        assert_eq!(kinds, ["IHDR", "IDAT", "tEXt", "IEND"]);
    }
}
