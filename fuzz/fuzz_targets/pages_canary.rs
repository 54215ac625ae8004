//! Must fail, and soon: it shows that the fuzzer finds its way into the pages and that a failure
//! is noticed. Its claim, that a damaged index is never reported, is wrong.

#![no_main]

mod database;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| database::DATABASE.spoil_and_use(bytes, |error| {
    assert!(!error.to_string().contains("bucket"), "{error}");
}));
