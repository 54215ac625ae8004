//! Calls to mapped pages where not each store is found by itself.

use std::sync::Arc;

use crate::database::Database;
use crate::disk::Memory;
use crate::mapped;
use crate::page::PAGE_BYTES;
use crate::pages::PageWrite;
use crate::tactics::{Detect, Tactics};

/// Each page may have been stored to then: what tells is what was mapped.
#[test]
fn where_mappings_run_out_a_call_to_a_mapped_page_stays_unless_it_is_stored_to() {
    let _alone = mapped::tests::alone();
    mapped::prepare(Detect::Sigsegv).unwrap();
    for (log, stored) in
        ["page-diff", "page-grain"].into_iter().flat_map(|log| [(log, 5), (log, 6)])
    {
        let tactics = Tactics::of([("detect", "sigsegv"), ("log", log)]).unwrap();
        let disk = || Arc::new(Memory::new());
        let database = Database::on(disk(), disk(), &tactics).unwrap();
        let mut writing = database.writing();
        let region = writing.region("object").unwrap();
        region.extend(&mut writing, 8).unwrap();
        let pages = region.pages(&writing).unwrap();
        writing.commit().unwrap();
        let before = mapped::set_mappings_max(2);
        let mut writing = database.writing();
        let mapping = writing.map(&pages).unwrap();
        for at in [0, 2, 4, stored] {
            writing.memory(mapping).unwrap()[at * PAGE_BYTES + 100] = 1;
        }
        mapped::set_mappings_max(before);
        writing.write(pages[6], |bytes| bytes.put_u64(200, 8)).unwrap();
        let committed = writing.commit();
        let found = database.reading().map(&pages).unwrap();
        let is_there = |at: usize, offset: usize| found[at * PAGE_BYTES + offset] != 0;
        let seen = [is_there(0, 100), is_there(5, 100), is_there(6, 100), is_there(6, 200)];
        if stored == 6 {
            let refused = committed.unwrap_err().to_string();
            assert!(refused.contains("changed through a call"), "{log}: {refused}");
            assert_eq!(seen, [false; 4], "{log}");
        } else {
            committed.unwrap();
            assert_eq!(seen, [true, true, false, true], "{log}");
        }
    }
}
