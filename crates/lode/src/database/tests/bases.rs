//! Pages that the log has whole: written without an image, and rebuilt where the write was torn.

use super::bulk::{load, log_bytes};
use super::*;
use crate::buffer::{Occasion, WriteBack};
use crate::disk::simulated::CrashOptions;
use crate::log::IMAGE_BYTES;

/// Beside the pages themselves, pages of the space and of the catalog change.
const OTHERS_MAX: u64 = 4;

/// The images that a checkpoint logs, and the pages that it writes.
fn checkpoint(database: &Database) -> (u64, usize) {
    let written = || database.counters().unwrap().buffer.pages_written;
    let (log_before, written_before) = (log_bytes(database), written());
    database.checkpoint().unwrap();
    let images = (log_bytes(database) - log_before) / IMAGE_BYTES as u64;
    (images, (written() - written_before) as usize)
}

/// A new value for each page, in one transaction.
fn change(database: &Database, pages: &[PageNumber], value: u64) {
    let mut writing = database.writing();
    for &page in pages {
        put(&mut writing, page, value);
    }
    writing.commit().unwrap();
}

#[test]
fn only_the_first_change_since_a_checkpoint_needs_an_image() {
    for log in ["page-diff", "page-grain", "set-range"] {
        let text = format!("cache=4MiB&checkpoint=64MiB&bulk=unlogged&log={log}");
        let database = database_on(&Simulation::new(), &tactics(&text)).unwrap();
        // Few are logged, many are placed.
        let (few, many) = (load(&database, 10, 7), load(&database, 300, 7));
        assert!(checkpoint(&database).0 <= OTHERS_MAX, "{text}: the log has the few whole");
        for pages in [&few, &many] {
            change(&database, pages, 8);
            let (images, written) = checkpoint(&database);
            assert!(images as usize >= pages.len() && written >= pages.len(), "{text}: {images}");
        }
        database.close().unwrap();
    }
    for log in ["page-diff", "set-range"] {
        let text = format!("cache=4MiB&checkpoint=64MiB&bulk=logged&log={log}");
        let database = database_on(&Simulation::new(), &tactics(&text)).unwrap();
        let pages = load(&database, 300, 7);
        change(&database, &pages, 8);
        let (images, written) = checkpoint(&database);
        let at_most = if log == "page-diff" { OTHERS_MAX } else { 300 + OTHERS_MAX };
        assert!(images <= at_most && written >= 300, "{text}: {images} images, {written} pages");
        database.close().unwrap();
    }
}

#[test]
fn a_page_that_was_placed_is_not_taken_for_one_that_the_log_has() {
    let text = "cache=4MiB&checkpoint=64MiB&bulk=unlogged";
    let database = database_on(&Simulation::new(), &tactics(text)).unwrap();
    let pages = load(&database, 10, 1);
    let mut writing = database.writing();
    for &page in &pages {
        writing.free(page).unwrap();
    }
    writing.commit().unwrap();
    // The same pages and more: placed.
    let again = load(&database, 30, 2);
    assert!(pages.iter().all(|page| again.contains(page)));
    change(&database, &pages, 3);
    assert!(checkpoint(&database).0 >= 10);
}

#[test]
fn a_checkpoint_alone_counts_on_what_it_will_forget() {
    let text = "cache=4MiB&checkpoint=64MiB&bulk=logged";
    let database = database_on(&Simulation::new(), &tactics(text)).unwrap();
    let page = load(&database, 3, 1)[0];
    let bytes = *database.buffer().latch(page).unwrap();
    let changes = database.changes();
    let images = |occasion| {
        let before = log_bytes(&database);
        changes.before_write(&[(page, &bytes)], occasion).unwrap();
        (log_bytes(&database) - before) / IMAGE_BYTES as u64
    };
    assert_eq!(images(Occasion::Other), 0, "the log has it since it was begun");
    changes.retire_bases(changes.log().end());
    assert_eq!(images(Occasion::Checkpoint), 0, "it syncs before it forgets");
    assert_eq!(images(Occasion::Other), 1, "this write may come after that sync");
    assert_eq!(images(Occasion::Other), 0, "the image counts from now on");
    changes.forget_bases(changes.log().end());
    assert_eq!(images(Occasion::Checkpoint), 1, "recovery would not read it any more");
    database.abandon();
}

#[test]
fn a_commit_is_durable_before_its_page_is_written_without_an_image() {
    let text = "cache=4MiB&checkpoint=64MiB&bulk=logged&durability=none";
    let simulation = Simulation::new();
    let database = database_on(&simulation, &tactics(text)).unwrap();
    let page = load(&database, 3, 1)[0];
    change(&database, &[page], 2);
    let bytes = *database.buffer().latch(page).unwrap();
    let changes = database.changes();
    assert!(changes.log().durable() < changes.log().end());
    changes.before_write(&[(page, &bytes)], Occasion::Other).unwrap();
    let recovered = after(&simulation.image(&[]), &tactics(text));
    assert_eq!(values(&recovered, &[page]), [2]);
    recovered.abandon();
    database.abandon();
}

/// Every way in which a checkpoint's writes may be torn: alone, and while a transaction runs.
#[test]
fn torn_pages_without_an_image_are_rebuilt() {
    for (durability, among_others) in
        [("full", false), ("none", false), ("full", true), ("none", true)]
    {
        let text = format!("cache=1MiB&checkpoint=64MiB&bulk=logged&durability={durability}");
        let simulation = Simulation::new();
        let database = database_on(&simulation, &tactics(&text)).unwrap();
        let other = load(&database, 1, 9);
        database.checkpoint().unwrap();
        let pages = load(&database, 12, 1);
        change(&database, &pages, 2);
        let mut writing = database.writing();
        if among_others {
            put(&mut writing, other[0], 10);
        }
        simulation.record();
        assert!(checkpoint(&database).0 <= OTHERS_MAX);
        writing.rollback().unwrap();
        change(&database, &pages[..6], 3);
        database.checkpoint().unwrap();
        database.abandon();
        let options = CrashOptions { images_per_point_max: 40, ..CrashOptions::new(11) };
        for crash in simulation.trace().crashes(options) {
            let recovered = after(&crash.image, &tactics(&text));
            let found = values(&recovered, &pages);
            // Nothing was synced before: not even that there are pages.
            let is_before = durability == "none" && (found == [0; 12] || found == [1; 12]);
            let is_one = found[6..] == [2; 6] && (found[..6] == [2; 6] || found[..6] == [3; 6]);
            assert!(is_before || is_one, "{text}, {crash}: {found:?}");
            assert_eq!(values(&recovered, &other), [9]);
            recovered.abandon();
        }
    }
}
