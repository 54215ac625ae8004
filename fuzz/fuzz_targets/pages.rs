//! Whatever stands in the pages of a database, under checksums that fit: what is read of it or done
//! to it ends with an answer or an error, and rolled back it never was.

#![no_main]

mod database;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| database::DATABASE.spoil_and_use(bytes, drop));
