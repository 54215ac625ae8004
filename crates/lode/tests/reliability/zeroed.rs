//! Every page of a database overwritten with zeros, one at a time: a page that is in use is never
//! all zeros, so a reader that comes to it hears which is damaged: nothing is missing
//! silently.

use std::sync::Arc;

use lode::internals::catalog;
use lode::internals::disk::Disk;
use lode::internals::disk::simulated::{Image, Simulation};
use lode::internals::heap::Reference;
use lode::internals::page::{PAGE_BYTES, PageNumber};
use lode::internals::space::{self, FilePages};
use lode::{Database, LodeError, PageRead};

use crate::contents::{Contents, tactics};
use crate::operations::{Operator, commit_some};
use crate::reading::{is_damage, read_and_check};

const TACTICS: &str = "cache=262144&extent=4&swizzle=on";

/// The superblock has two copies.
const FIRST_PAGE: PageNumber = 2;

/// A database that was closed, and what is in it.
fn closed() -> (Image, Contents, Vec<PageNumber>) {
    let simulation = Simulation::new();
    let disk = |name| Arc::new(simulation.disk(name));
    let database = Database::on(disk("volume"), disk("log"), &tactics(TACTICS)).unwrap();
    let mut contents = Contents::create(&database).unwrap();
    commit_some(&mut Operator::new(5), &database, &mut contents, 160).unwrap();
    let (reading, mut used) = (database.reading(), Vec::new());
    for entry in catalog::all(&reading).unwrap() {
        let mut of_file = FilePages::new(database.extent_pages(), entry.file).unwrap();
        used.extend(std::iter::from_fn(|| of_file.next(&reading).unwrap()));
    }
    drop(reading);
    database.close().unwrap();
    (simulation.killed(), contents, used)
}

/// The database with zeros in place of a page.
fn without(image: &Image, page: PageNumber) -> Result<Database, LodeError> {
    let volume = image.disk("volume");
    let zeros = [0; PAGE_BYTES];
    volume.write(u64::from(page) * PAGE_BYTES as u64, &zeros).unwrap();
    Database::on(volume, image.disk("log"), &tactics(TACTICS))
}

/// The outcome of one way to read something.
type Outcome = (String, Result<(), LodeError>);

/// Everything that is known, each thing alone and by what leads to it.
fn each_alone(pages: &impl PageRead, known: &Contents) -> Vec<Outcome> {
    let (files, mut outcomes) = (&known.files, Vec::new());
    let mut report = |what: String, outcome| outcomes.push((what, outcome));
    for (heap, records) in [(files.records, &known.records), (*files.objects, &known.objects)] {
        for record in records.values() {
            let is_right = |bytes: Vec<u8>| assert!(bytes == record.bytes, "{}", record.id);
            report(format!("record {}", record.id), heap.get(pages, record.id).map(is_right));
            let reference = Reference::to(record.id);
            let read = heap.read_at(pages, reference, |view, at| view.u64(at)).map(drop);
            report(format!("reference {}", record.id), read);
        }
    }
    for (key, value) in &known.entries {
        let found = files.entries.1.get(pages, key, |bytes| {
            let mut value = Vec::new();
            bytes.append_to(&mut value);
            value
        });
        report(format!("key {key:?}"), found.map(|found| assert_eq!(found.as_ref(), Some(value))));
    }
    for (&key, values) in &known.values {
        let mut found = Vec::new();
        let got = files.values.1.get(pages, key, |value| found.push(value));
        let is_right = |()| {
            found.sort_unstable();
            assert_eq!(&found, values, "key {key}");
        };
        report(format!("key {key}"), got.map(is_right));
        let one = files.values.1.get_one(pages, key);
        report(format!("one of key {key}"), one.map(|one| assert!(one.is_some(), "key {key}")));
    }
    outcomes
}

#[test]
fn a_zeroed_page_in_use_is_damage_reported_with_its_number() {
    let (image, contents, used) = closed();
    let folder = tempfile::tempdir().unwrap();
    let pages_total = image.disk("volume").len_bytes().unwrap() / PAGE_BYTES as u64;
    let (mut refused, mut right) = (0, 0);
    for page in FIRST_PAGE..pages_total as PageNumber {
        let is_used = used.contains(&page) || page <= space::SPACE_PAGE;
        let names_it = |error: &LodeError| {
            let reported = error.to_string();
            assert!(is_damage(error), "page {page}: {reported}");
            assert!(reported.contains(&format!("page {page} ")), "page {page}: {reported}");
        };
        let database = match without(&image, page) {
            Ok(database) => database,
            Err(error) => {
                names_it(&error);
                continue;
            }
        };
        for (what, outcome) in each_alone(&database.reading(), &contents) {
            if let Err(error) = outcome {
                assert!(is_damage(&error), "page {page}, {what}: {error}");
                assert!(is_used, "page {page}, {what}: {error}");
                if what.starts_with("rec") || what.starts_with("ref") {
                    names_it(&error);
                }
            }
        }
        match read_and_check(&database) {
            Ok(found) => {
                assert!(found.as_ref() == Some(&contents), "page {page}");
                assert!(!is_used, "page {page} is not missed");
                right += 1;
            }
            Err(error) => {
                assert!(is_damage(&error), "page {page}: {error}");
                refused += 1;
            }
        }
        if is_used {
            let copied = database.backup(&folder.path().join("copy.lode"));
            names_it(&copied.expect_err("what is missing is not copied"));
        }
        database.abandon();
    }
    assert!(refused > 20 && right > 0, "{refused} {right}");
}
