//! Any text gives a tree or an error, and a tree's canonical text and JSON give the tree again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loadstone_quel::{from_json, parse, print, to_json};

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(tree) => {
            let printed = print(&tree).expect("a parsed tree has a text");
            assert_eq!(parse(&printed).expect("canonical text is QUEL"), tree);
            assert_eq!(from_json(&to_json(&tree)).expect("our own JSON is a tree"), tree);
        }
        Err(error) => assert!(error.to_string().contains('^'), "an error shows the place"),
    }
});
