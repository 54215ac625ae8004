//! Stores that should not be, each in a process of its own: they end it as any such store does, or
//! reach the handler that was there before.

#![expect(unsafe_code, reason = "stores that safe code cannot make")]

use std::env;
use std::io::{Write, stdout};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::Arc;

use lode::Database;
use lode::internals::disk::Memory;
use lode::internals::page::PAGE_BYTES;

use crate::setup::{combinations, create, tactics};

const CASE: &str = "LODE_TEST_FAULT";
const TACTICS: &str = "LODE_TEST_TACTICS";

/// The exit codes by which the child's handlers end it.
const EARLIER: i32 = 42;
const LATER: i32 = 43;

fn run(case: &str, tactics: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "faults::the_process_that_stores", "--nocapture"])
        .env(CASE, case)
        .env(TACTICS, tactics)
        .output()
        .unwrap()
}

#[test]
fn a_store_beside_the_mapping_ends_the_process() {
    for text in combinations().into_iter().filter(|text| text.contains("page-diff")) {
        for case in ["behind the end", "before the begin", "after the commit", "to be read"] {
            let ended = run(case, text);
            let reported = String::from_utf8_lossy(&ended.stdout).into_owned();
            assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{case}, {text}: {reported}");
            assert!(reported.contains("about to store"), "{case}, {text}: {reported}");
        }
    }
}

#[test]
fn a_fault_of_somebody_else_reaches_the_handler_that_was_there_before() {
    let ended = run("elsewhere", "detect=sigsegv");
    assert_eq!(ended.status.code(), Some(EARLIER), "{ended:?}");
    let ended = run("sent", "detect=sigsegv");
    assert_eq!(ended.status.code(), Some(EARLIER), "{ended:?}");
}

#[test]
fn a_handler_that_comes_later_is_reported_and_not_fought() {
    let ended = run("later handler", "detect=sigsegv");
    let reported = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(reported.contains("was installed after lode's"), "{reported}");
    assert!(ended.status.success(), "{ended:?}");
}

extern "C" fn earlier(_: i32) {
    // SAFETY: it ends the process.
    unsafe { libc::_exit(EARLIER) }
}

extern "C" fn later(_: i32) {
    // SAFETY: it ends the process.
    unsafe { libc::_exit(LATER) }
}

fn install(handler: extern "C" fn(i32)) {
    // SAFETY: both handlers only end the process.
    unsafe { libc::signal(libc::SIGSEGV, handler as *const () as usize) };
}

fn report(text: &str) {
    stdout().write_all(format!("{text}\n").as_bytes()).unwrap();
    stdout().flush().unwrap();
}

/// Not a test by itself: the others start it.
#[test]
fn the_process_that_stores() {
    let Ok(case) = env::var(CASE) else { return };
    if matches!(case.as_str(), "elsewhere" | "sent") {
        install(earlier);
    }
    let tactics = tactics(&env::var(TACTICS).unwrap());
    let database =
        Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics).unwrap();
    let pages = create(&database, 2);
    if case == "later handler" {
        install(later);
        let refused = database.writing().map(&pages).unwrap_err();
        report(&refused.to_string());
        return;
    }
    let mut writing = database.writing();
    let mapping = writing.map(&pages).unwrap();
    let memory = writing.memory_of(mapping).unwrap().as_ptr().cast_mut();
    let reading = Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics).unwrap();
    let others = create(&reading, 1);
    let mapped_reading = reading.reading().map(&others).unwrap();
    let to = match case.as_str() {
        "behind the end" => memory.wrapping_add(2 * PAGE_BYTES),
        "before the begin" => memory.wrapping_sub(1),
        "to be read" => mapped_reading.as_ptr().cast_mut(),
        "after the commit" => {
            writing.commit().unwrap();
            // Others map meanwhile, and memory is requested.
            let mut next = database.writing();
            next.map(&pages).unwrap();
            drop(vec![1_u8; 1 << 20]);
            memory
        }
        _ => std::ptr::without_provenance_mut(64),
    };
    report("about to store");
    if case == "sent" {
        // SAFETY: a signal to this thread.
        unsafe { libc::raise(libc::SIGSEGV) };
    } else {
        // SAFETY: none: this is what must not be done, and the process is here to show it.
        unsafe { to.write_volatile(1) };
    }
    report("it went on");
}
