//! Unpacking, with limits.

use std::io::{self, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;

use crate::{MAX_PACKAGE, MAX_UNPACKED};

/// One byte of LZ4 stands for at most this many.
const LZ4_RATIO: u64 = 255;

/// Unpacks a block of LZ4 to `size` bytes.
pub(crate) fn lz4(bytes: &[u8], size: u64) -> Result<Vec<u8>, String> {
    if size > MAX_UNPACKED {
        return Err(too_long(MAX_UNPACKED));
    }
    if size > (bytes.len() as u64 + 1) * LZ4_RATIO {
        return Err(broken("LZ4"));
    }
    let unpacked = lz4_flex::block::decompress(bytes, size as usize).map_err(|_| broken("LZ4"))?;
    if unpacked.len() as u64 == size { Ok(unpacked) } else { Err(broken("LZ4")) }
}

/// Unpacks a frame of zstd to at most `max` bytes.
pub(crate) fn zstd(bytes: &[u8], max: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let mut rest = bytes;
    // Frames follow each other.
    while !rest.is_empty() {
        let decoder = StreamingDecoder::new(&mut rest).map_err(|_| broken("zstd"))?;
        limited(decoder, max, &mut unpacked).map_err(|error| told(&error, "zstd", max))?;
    }
    Ok(unpacked)
}

/// Unpacks the members of a file of gzip to at most `max` bytes.
pub(crate) fn gzip(bytes: &[u8], max: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    limited(MultiGzDecoder::new(bytes), max, &mut unpacked).map_err(|error| told(&error, "gzip", max))?;
    Ok(unpacked)
}

/// Unpacks the members of a file of bzip2 to at most `max` bytes.
pub(crate) fn bzip2(bytes: &[u8], max: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    limited(MultiBzDecoder::new(bytes), max, &mut unpacked).map_err(|error| told(&error, "bzip2", max))?;
    Ok(unpacked)
}

/// A file of xz says how far back it refers, and so much memory is taken before anything comes out.
const MAX_XZ_KIB: u32 = 256 << 10;

/// What unpacks a file of xz.
pub(crate) fn xz_reader(bytes: &[u8]) -> impl Read {
    XzReader::new_mem_limit(bytes, true, MAX_XZ_KIB)
}

/// Unpacks the members of a file of xz to at most `max` bytes.
pub(crate) fn xz(bytes: &[u8], max: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    limited(xz_reader(bytes), max, &mut unpacked).map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => {
            format!("unpacking it needs more than {} MiB of memory", MAX_XZ_KIB >> 10)
        }
        _ => told(&error, "xz", max),
    })?;
    Ok(unpacked)
}

fn limited(reader: impl Read, max: u64, out: &mut Vec<u8>) -> io::Result<()> {
    reader.take(max + 1 - out.len() as u64).read_to_end(out)?;
    if out.len() as u64 > max { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

fn told(error: &io::Error, what: &str, max: u64) -> String {
    if error.kind() == io::ErrorKind::FileTooLarge { too_long(max) } else { broken(what) }
}

fn broken(what: &str) -> String {
    format!("its {what} data are broken or cut off")
}

fn too_long(max: u64) -> String {
    format!("unpacked it is longer than the {} MiB that are supported", max >> 20)
}

pub(crate) fn too_much() -> String {
    format!("the package is unpacked no further than {} MiB", MAX_PACKAGE >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn limits_hold() {
        let packed = gzipped(&[b'\n'; 100_000]);
        assert!(packed.len() < 1000);
        assert_eq!(gzip(&packed, 100_000).unwrap().len(), 100_000);
        assert!(gzip(&packed, 99_999).unwrap_err().contains("longer than"));
        assert!(gzip(&packed[..packed.len() - 9], 100_000).unwrap_err().contains("cut off"));
        let several = [&packed[..], &packed[..]].concat();
        assert!(gzip(&several, 199_999).is_err());
        assert!(lz4(&[0; 10], 1 << 20).unwrap_err().contains("LZ4"));
        assert!(lz4(&[0; 10], 1 << 40).unwrap_err().contains("longer"));
    }
}
