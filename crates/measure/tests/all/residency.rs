//! Files on the disk that Cargo builds on: a file system with a page cache and somewhere to write.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use loadstone_measure::eviction::evict;
use loadstone_measure::residency::{Residency, residency};

/// A file that is removed with its guard.
struct Scratch(PathBuf);

impl Scratch {
    fn of(name: &str, bytes: usize) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, vec![7; bytes]).expect("the target folder is ours");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_just_written_is_resident_and_evicted_it_is_not() {
    let page = rustix::param::page_size();
    let scratch = Scratch::of("evicted", 64 * page + 1);
    let before = residency(&scratch.0).expect("a file of ours");
    assert_eq!((before.resident, before.total), (65, 65));
    evict(&scratch.0).expect("a file of ours");
    let after = residency(&scratch.0).expect("a file of ours");
    assert_eq!((after.resident, after.total), (0, 65), "{}", after.method.name());
    let mut one = [0; 1];
    fs::File::open(&scratch.0).unwrap().read_exact(&mut one).unwrap();
    assert!(residency(&scratch.0).unwrap().resident > 0, "reading brings pages back");
}

#[test]
fn an_empty_file_has_no_pages() {
    let scratch = Scratch::of("empty", 0);
    evict(&scratch.0).expect("nothing to do is not an error");
    let Residency { resident, total, .. } = residency(&scratch.0).unwrap();
    assert_eq!((resident, total), (0, 0));
}

#[test]
fn a_file_that_is_not_regular_is_refused() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for path in [folder.clone(), PathBuf::from("/dev/null")] {
        assert_eq!(evict(&path).unwrap_err().kind(), ErrorKind::InvalidInput, "{path:?}");
        assert_eq!(residency(&path).unwrap_err().kind(), ErrorKind::InvalidInput, "{path:?}");
    }
    let missing = folder.join("missing");
    assert_eq!(evict(&missing).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(residency(&missing).unwrap_err().kind(), ErrorKind::NotFound);
}
