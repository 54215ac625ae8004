//! Must fail, and soon: it shows that the fuzzer finds its way through the parser and that a
//! failure is noticed. Its claim, that no text is a program, is wrong.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loadstone_quel::parse;

fuzz_target!(|text: &str| {
    assert!(!parse(text).is_ok_and(|program| !program.is_empty()));
});
