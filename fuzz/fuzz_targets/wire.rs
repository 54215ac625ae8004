//! Any bytes under a checksum that fits are a request, a reply or neither, and what is one comes
//! back as its own bytes; the runs of a change lie within a page.

#![no_main]

mod frame;

use libfuzzer_sys::fuzz_target;
use lode::internals::page::PAGE_BYTES;
use lode::internals::log::apply;
use lode::internals::wire::{Request, decode_reply, decode_request};

fuzz_target!(|bytes: &[u8]| {
    // As they are: next to nothing fits.
    let _ = (decode_request(bytes), decode_reply(bytes));
    let Some(frame) = frame::around(bytes) else { return };
    let mut again = Vec::new();
    match (decode_request(&frame), decode_reply(&frame)) {
        (None, None) => return,
        (Some(request), None) => {
            if let Request::Changes { changes, .. } | Request::Commit { changes, .. } = &request {
                let mut page = [0; PAGE_BYTES];
                for change in changes {
                    apply(&change.runs, &mut page).expect("decoded runs lie within a page");
                }
            }
            request.encode(&mut again);
        }
        (None, Some(reply)) => reply.encode(&mut again),
        (Some(request), Some(reply)) => panic!("{request:?} and {reply:?}"),
    }
    assert_eq!(again, frame);
});
