//! A PNG of exactly the requested length, the same bytes for the same seed on every machine.
//!
//! The picture is noise in stored (uncompressed) deflate blocks. So its length is known in advance, it has no runs of zeros that
//! a file system could skip, and no library version can change a byte of it. Format: W3C PNG (third edition),
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

/// Keyword of the text chunk that fills the bytes left over by whole rows.
const KEYWORD: &[u8] = b"Comment\0";
const PADDING_FRAME: usize = CHUNK_FRAME + KEYWORD.len();

/// A valid grey PNG of exactly `bytes` bytes whose pixels are drawn from `seed`. `None` if a picture of whole rows does not fit
/// into so few bytes (up to about 1.1 kB).
pub fn noise_png(bytes: usize, seed: u64) -> Option<Vec<u8>> {
    let fits = |rows: &usize| {
        let spare = bytes.checked_sub(FIXED + stream_length(rows * ROW));
        spare.is_some_and(|spare| spare == 0 || spare >= PADDING_FRAME)
    };
    let rows = (1..=bytes / ROW).rev().find(fits)?;
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
    Some(picture)
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
        let picture = noise_png(546_816, 534).unwrap();
        assert_eq!(picture.len(), 546_816);
        assert_eq!(picture, noise_png(546_816, 534).unwrap());
        assert_ne!(picture, noise_png(546_816, 535).unwrap());
        // The bytes must never change, or results of different tolok versions would not be comparable.
        assert_eq!(format!("{:08x}", crc32(&picture)), "de516d3f");
    }

    #[test]
    fn every_length_that_is_large_enough_can_be_had() {
        let smallest = FIXED + stream_length(ROW);
        // Every remainder over whole rows, and some around the end of a stored block.
        for bytes in (smallest + PADDING_FRAME..smallest + PADDING_FRAME + ROW).chain((65_400..66_800).step_by(100)) {
            assert_eq!(noise_png(bytes, 1).unwrap().len(), bytes);
        }
        assert_eq!(noise_png(smallest, 1).unwrap().len(), smallest);
        assert_eq!(noise_png(smallest - 1, 1), None);
        assert_eq!(noise_png(0, 1), None);
    }

    #[test]
    fn a_decoder_reads_the_pixels_back() {
        let picture = noise_png(200_000, 9).unwrap();
        let (width, height, pixels) = decode(&picture);
        assert_eq!(width, WIDTH);
        assert_eq!(pixels.len(), width * height);
        let mut random = SplitMix64::new(9);
        let drawn: Vec<u8> = (0..pixels.len()).map(|_| random.next_u64() as u8).collect();
        assert_eq!(pixels, drawn);
    }

    /// An independent decoder for grey 8-bit pictures of stored blocks without filters. It makes every check that the
    /// standards require of a decoder.
    fn decode(picture: &[u8]) -> (usize, usize, Vec<u8>) {
        let chunks = chunks(picture);
        let kinds: Vec<&str> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "IDAT", "tEXt", "IEND"]);
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap()) as usize;
        let (header, stream) = (&chunks[0].1, &chunks[1].1);
        let (width, height) = (number(&header[..4]), number(&header[4..8]));
        assert_eq!(header[8..], [8, 0, 0, 0, 0], "8-bit grey, deflate, adaptive filters, not interlaced");
        let rows = inflate_stored(stream);
        assert_eq!(rows.len(), height * (1 + width));
        let mut pixels = Vec::new();
        for row in rows.chunks(1 + width) {
            assert_eq!(row[0], 0, "filter type none");
            pixels.extend_from_slice(&row[1..]);
        }
        (width, height, pixels)
    }

    fn chunks(picture: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = picture.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("the signature");
        let mut chunks = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            let (covered, after) = after.split_at(4 + length);
            let (checksum, after) = after.split_first_chunk::<4>().unwrap();
            assert_eq!(crc32(covered), u32::from_be_bytes(*checksum));
            chunks.push((String::from_utf8(covered[..4].to_vec()).unwrap(), covered[4..].to_vec()));
            rest = after;
        }
        assert_eq!(rest, b"");
        chunks
    }

    /// Decodes RFC 1950 around stored blocks of RFC 1951.
    fn inflate_stored(stream: &[u8]) -> Vec<u8> {
        let (head, mut rest) = stream.split_at(2);
        assert_eq!(head[0], 0x78, "deflate with a window of 32 KiB");
        assert_eq!(u16::from_be_bytes([head[0], head[1]]) % 31, 0, "the header's own checksum");
        let mut data = Vec::new();
        loop {
            let (block, after) = rest.split_at(5);
            assert!(block[0] <= 1, "a stored block, with or without the mark of the last");
            let length = u16::from_le_bytes([block[1], block[2]]);
            assert_eq!(u16::from_le_bytes([block[3], block[4]]), !length);
            let (content, after) = after.split_at(length.into());
            data.extend_from_slice(content);
            rest = after;
            if block[0] == 1 {
                break;
            }
        }
        assert_eq!(rest, adler32(&data).to_be_bytes());
        data
    }
}
