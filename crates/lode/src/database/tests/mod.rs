//! Databases as wholes: what transactions do, what opening finds.

mod bases;
mod bulk;
mod cold;
mod failures;
mod files;
mod forks;
mod interrupts;
mod mapped;
mod pins;
mod relations;
mod schemes;
mod shared;
mod transactions;

use crate::pages::PageWrite;
use std::sync::Arc;

use super::Database;
use crate::disk::simulated::{Image, Simulation};
use crate::page::{self, PAGE_BYTES, PageKind, PageNumber};
use crate::pages::PageRead;
use crate::tactics::Tactics;
use crate::transaction::Writing;

/// The place where the tests put their values.
const AT: usize = 3_600;

fn tactics(text: &str) -> Tactics {
    text.parse().unwrap()
}

/// A database on simulated files.
fn database_on(simulation: &Simulation, tactics: &Tactics) -> crate::error::Result<Database> {
    Database::on(Arc::new(simulation.disk("volume")), Arc::new(simulation.disk("log")), tactics)
}

/// The database that a crash left.
fn after(image: &Image, tactics: &Tactics) -> Database {
    Database::on(image.disk("volume"), image.disk("log"), tactics).unwrap()
}

/// Pages of a heap, all zeros but the header.
fn allocate(database: &Database, count: usize) -> Vec<PageNumber> {
    let mut writing = database.writing();
    let pages = (0..count).map(|_| writing.allocate(1, PageKind::Heap).unwrap()).collect();
    writing.commit().unwrap();
    pages
}

/// A value that fills the end of the page.
fn put(writing: &mut Writing, page: PageNumber, value: u64) {
    writing
        .write(page, |bytes| {
            for at in (AT..PAGE_BYTES).step_by(8) {
                bytes.put_u64(at, value);
            }
        })
        .unwrap();
}

/// The value of a page, which is the same in every word of it.
fn get(pages: &impl PageRead, page: PageNumber) -> u64 {
    pages
        .read(page, |view| {
            let value = view.u64(AT);
            let whole = (AT..PAGE_BYTES).step_by(8).all(|at| view.u64(at) == value);
            if whole { Ok(value) } else { Err(format!("page {page} is not whole")) }
        })
        .unwrap()
        .unwrap()
}

fn values(database: &Database, pages: &[PageNumber]) -> Vec<u64> {
    let reading = database.reading();
    pages.iter().map(|&page| get(&reading, page)).collect()
}
