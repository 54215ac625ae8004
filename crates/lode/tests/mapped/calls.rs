//! Calls that change mapped pages, beside stores and without.

use lode::tactics::Detect;
use lode::{Database, Heap, LodeError, Mapping, PageWrite, RecordId, Writing};

use crate::setup::{PAGE_DATA, combinations, contents, create, in_memory, store, store_at};

const RECORD_BYTES: usize = 64;

/// Changes of the second of a heap's three records, or of its page.
type Call = fn(&mut Writing, Heap, RecordId) -> Result<(), LodeError>;

const CALLS: [(&str, Call); 8] = [
    ("change", |writing, heap, id| heap.change(writing, id, |record| record[40] = 8)),
    ("change_range", |writing, heap, id| heap.change_range(writing, id, 40..41, |it| it[0] = 8)),
    ("update", |writing, heap, id| heap.update(writing, id, &[8; RECORD_BYTES])),
    ("shorten", |writing, heap, id| heap.update(writing, id, &[8; 9])),
    ("insert", |writing, heap, _| heap.insert(writing, &[8; RECORD_BYTES], None).map(drop)),
    ("delete", |writing, heap, id| heap.delete(writing, id)),
    ("write", |writing, _, id| writing.write(id.page, |bytes| bytes.put_u64(4_000, 8))),
    ("destroy", |writing, heap, _| heap.destroy(writing)),
];

/// A heap of three records, of ones, twos and threes.
fn three(database: &Database) -> (Heap, [RecordId; 3]) {
    let mut writing = database.writing();
    let heap = writing.heap("three").unwrap();
    let ids = [1, 2, 3].map(|fill| {
        let record = [fill; RECORD_BYTES];
        heap.insert(&mut writing, &record, None).unwrap()
    });
    writing.commit().unwrap();
    (heap, ids)
}

/// The bytes of a heap's page behind checksum and lsn.
fn page(database: &Database, id: RecordId) -> Vec<u8> {
    let reading = database.reading();
    let mapped = reading.map(&[id.page]).unwrap();
    mapped[16..].to_vec()
}

fn store_to_first(writing: &mut Writing, detect: Detect, mapping: Mapping) {
    let memory = writing.memory_of(mapping).unwrap();
    let at = memory.windows(RECORD_BYTES).position(|bytes| bytes == [1; RECORD_BYTES]).unwrap();
    store_at(writing, detect, mapping, at + 5, &[9; 3]);
}

#[test]
fn a_store_and_a_call_to_one_page_are_reported_whichever_is_first() {
    for text in combinations() {
        for (name, call) in CALLS {
            for (is_changed_before, is_call_first) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let database = in_memory(text);
                let detect = database.tactics().detect;
                let (heap, ids) = three(&database);
                let before = page(&database, ids[1]);
                let mut writing = database.writing();
                if is_changed_before {
                    heap.change(&mut writing, ids[2], |record| record[0] = 7).unwrap();
                }
                let mapping = writing.map(&[ids[0].page]).unwrap();
                if is_call_first {
                    call(&mut writing, heap, ids[1]).unwrap();
                }
                store_to_first(&mut writing, detect, mapping);
                if !is_call_first {
                    call(&mut writing, heap, ids[1]).unwrap();
                }
                let case = format!("{text}, {name}, {is_changed_before}, {is_call_first}");
                let refused = writing.commit().expect_err(&case).to_string();
                assert!(refused.contains("changed through a call after"), "{case}: {refused}");
                assert!(page(&database, ids[1]) == before, "{case}");
            }
        }
    }
}

#[test]
fn a_call_to_a_mapped_page_without_a_store_stays() {
    for text in combinations() {
        for (name, call) in CALLS {
            let committed = |maps: bool| {
                let database = in_memory(text);
                let (heap, ids) = three(&database);
                let mut writing = database.writing();
                let mapping = maps.then(|| writing.map(&[ids[0].page]).unwrap());
                call(&mut writing, heap, ids[1]).unwrap();
                let seen = mapping.map(|mapping| writing.memory_of(mapping).unwrap()[4_000]);
                assert_eq!(seen, maps.then_some(0), "{text}, {name}: the area is what was mapped");
                writing.commit().unwrap();
                let reading = database.reading();
                ids.map(|id| heap.get(&reading, id).ok())
            };
            assert_eq!(committed(true), committed(false), "{text}, {name}");
        }
    }
}

/// Neither is reported where a call came before the page was mapped, and each stays.
#[test]
fn a_store_to_a_page_that_a_call_changed_before_it_was_mapped_stays_with_it() {
    for text in combinations() {
        let database = in_memory(text);
        let detect = database.tactics().detect;
        let (heap, ids) = three(&database);
        let mut writing = database.writing();
        heap.change(&mut writing, ids[1], |record| record[40] = 8).unwrap();
        let mapping = writing.map(&[ids[0].page]).unwrap();
        store_to_first(&mut writing, detect, mapping);
        store_to_first_again(&mut writing, detect, mapping);
        writing.commit().unwrap_or_else(|error| panic!("{text}: {error}"));
        let reading = database.reading();
        assert_eq!(heap.get(&reading, ids[0]).unwrap()[4..9], [6, 9, 9, 9, 1], "{text}");
        assert_eq!(heap.get(&reading, ids[1]).unwrap()[39..42], [2, 8, 2], "{text}");
    }
}

fn store_to_first_again(writing: &mut Writing, detect: Detect, mapping: Mapping) {
    let memory = writing.memory_of(mapping).unwrap();
    let at = memory.windows(4).position(|bytes| bytes == [1, 9, 9, 9]).unwrap();
    store_at(writing, detect, mapping, at, &[6]);
}

#[test]
fn a_region_is_filled_in_the_transaction_that_makes_it() {
    for text in combinations() {
        let database = in_memory(text);
        let detect = database.tactics().detect;
        let mut writing = database.writing();
        let region = writing.region("object").unwrap();
        region.extend(&mut writing, 3).unwrap();
        let pages = region.pages(&writing).unwrap();
        let mapping = writing.map(&pages).unwrap();
        for offset in [0, 8, 8, 4_000] {
            store(&mut writing, detect, mapping, 1, offset, &[7; 8]);
        }
        // Of other pages of the region, calls are as good as before.
        region.extend(&mut writing, 1).unwrap();
        writing.commit().unwrap_or_else(|error| panic!("{text}: {error}"));
        let bytes = contents(&database).unwrap();
        let mut expected = vec![0; 4 * PAGE_DATA];
        for at in [0, 8, 4_000] {
            expected[PAGE_DATA + at..][..8].fill(7);
        }
        assert!(bytes == expected, "{text}");
        assert_eq!(create(&database, 0).len(), 4);
    }
}
