//! The contract of every disk, whatever is behind it.

use std::io;

use crate::aligned_bytes::AlignedBytes;
use crate::disk::Disk;
use crate::random::Random;

/// A folder on the disk that the tests were built on, because the folder for temporary files may
/// be a file system without direct I/O.
pub(crate) fn test_folder() -> tempfile::TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::tempdir_in(program.parent().unwrap()).unwrap()
}

/// Random calls, all offsets and lengths multiples of `grain`, against a `Vec<u8>`.
pub(crate) fn behaves_like_a_model(disk: &dyn Disk, grain: usize) {
    const SEED: u64 = 20_260_101;
    let mut random = Random::new(SEED);
    let mut model: Vec<u8> = Vec::new();
    disk.set_len(0).unwrap();
    for step in 0..300 {
        let offset = random.below(20 * 4096 / grain) * grain;
        let mut buffer = AlignedBytes::new(random.below(5 * 4096 / grain) * grain);
        let bytes = buffer.bytes();
        let end = offset + bytes.len();
        match random.below(10) {
            0..4 => {
                bytes.fill_with(|| random.next() as u8);
                disk.write(offset as u64, bytes).unwrap();
                if !bytes.is_empty() {
                    model.resize(model.len().max(end), 0);
                    model[offset..end].copy_from_slice(bytes);
                }
            }
            4..8 => {
                let read = disk.read(offset as u64, bytes);
                match model.get(offset..end) {
                    Some(expected) => assert!(
                        read.is_ok() && bytes == expected,
                        "seed {SEED} step {step} offset {offset}: {read:?}"
                    ),
                    None if bytes.is_empty() => {}
                    None => assert_eq!(
                        read.unwrap_err().kind(),
                        io::ErrorKind::UnexpectedEof,
                        "seed {SEED} step {step}"
                    ),
                }
            }
            8 => {
                disk.set_len(offset as u64).unwrap();
                model.resize(offset, 0);
            }
            _ => disk.sync().unwrap(),
        }
        assert_eq!(disk.len_bytes().unwrap(), model.len() as u64, "seed {SEED} step {step}");
    }
}

/// The edges of a disk: nothing, the last byte, one byte more.
pub(crate) fn ends_where_it_ends(disk: &dyn Disk) {
    disk.set_len(0).unwrap();
    disk.set_len(5 * 4096).unwrap();
    let mut buffer = AlignedBytes::new(2 * 4096);
    disk.read(3 * 4096, buffer.bytes()).unwrap();
    assert!(buffer.bytes().iter().all(|&byte| byte == 0));
    let beyond = disk.read(4 * 4096, buffer.bytes()).unwrap_err();
    assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
    let beyond = disk.read(5 * 4096, buffer.bytes()).unwrap_err();
    assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
}
