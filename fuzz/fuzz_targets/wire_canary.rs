//! Must fail, and soon: it shows that the fuzzer finds its way into a request and that a failure is
//! noticed. Its claim, that no client changes anything, is wrong.

#![no_main]

mod frame;

use libfuzzer_sys::fuzz_target;
use lode::internals::wire::{Request, decode_request};

fuzz_target!(|bytes: &[u8]| {
    let Some(frame) = frame::around(bytes) else { return };
    if let Some(Request::Commit { changes, .. }) = decode_request(&frame) {
        assert!(changes.is_empty());
    }
});
