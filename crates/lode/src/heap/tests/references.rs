//! References lead to their record or say nothing, whatever has become of it since they were made.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::model::{step, take};
use super::*;
use crate::page::PAGE_BYTES;

fn swizzling() -> (CountingPages, Heap) {
    let mut pages = CountingPages::new(MemoryPages::swizzling());
    let heap = Heap::create(&mut pages, FILE).unwrap();
    (pages, heap)
}

fn first_word(view: View<'_>, at: usize) -> u64 {
    view.u64(at)
}

fn number(value: u64, len: usize) -> Vec<u8> {
    let mut record = vec![0; len];
    record[..8].copy_from_slice(&value.to_le_bytes());
    record
}

/// Bytes that begin with a number and go on with what looks like tags and references.
fn bytes_of(len: usize, value: u64, other: Option<RecordId>) -> Vec<u8> {
    let other = other.map_or(0, RecordId::to_u64);
    let words = [value, other, tag(RecordId { page: 5, slot: 1 }, 0), other | 64 << 48];
    words.iter().cycle().flat_map(|word| word.to_le_bytes()).take(len).collect()
}

#[test]
fn a_good_reference_needs_one_look_and_no_slots() {
    let (mut pages, heap) = swizzling();
    let ids = [7, 8].map(|value| heap.insert(&mut pages, &number(value, 24), None).unwrap());
    for (id, value) in ids.into_iter().zip([7, 8]) {
        let reference = heap.reference(&pages, id).unwrap();
        assert_eq!(reference.id(), Some(id));
        assert!(reference.is_to_same(Reference::to(id)) && reference != Reference::to(id));
        assert_eq!(reference.number(), id.to_u64());
        pages.take_counts();
        assert_eq!(heap.read_at(&pages, reference, first_word).unwrap(), value);
        assert_eq!(pages.take_counts(), Counts { try_reads: 1, ..Counts::default() });
        assert_eq!(heap.read_at(&pages, Reference::to(id), first_word).unwrap(), value);
        assert_eq!(pages.take_counts(), Counts { try_reads: 1, reads: 1, ..Counts::default() });
    }
    // The header and the slots are not even read.
    let reference = heap.reference(&pages, ids[0]).unwrap();
    pages
        .write(ids[0].page, |bytes| {
            bytes.put_u16(page::offset::COUNT, 0);
            bytes.clear(PAGE_BYTES - 8..PAGE_BYTES);
        })
        .unwrap();
    assert_eq!(heap.try_read_at(&pages, reference, first_word), Some(7));
}

#[test]
fn without_swizzling_the_slot_is_read_whatever_the_offset_hint() {
    let (mut pages, heap) = made();
    let id = heap.insert(&mut pages, &number(7, 24), None).unwrap();
    for reference in [heap.reference(&pages, id).unwrap(), Reference::to(id)] {
        assert_eq!(heap.try_read_at(&pages, reference, first_word), Some(7));
    }
    heap.delete(&mut pages, id).unwrap();
    assert_eq!(heap.try_read_at(&pages, Reference::to(id), first_word), None);
}

#[test]
fn a_wrong_offset_hint_is_noticed_wherever_it_points() {
    let (mut pages, heap) = swizzling();
    let ids: Vec<_> = (0..20)
        .map(|value| heap.insert(&mut pages, &bytes_of(100, value, None), None).unwrap())
        .collect();
    for &id in &ids {
        let right = heap.reference(&pages, id).unwrap();
        for at in 0..1_u64 << 16 {
            let reference = Reference(id.to_u64() | at << 48);
            let seen = heap.try_read_at(&pages, reference, |_, _| ());
            assert_eq!(seen.is_some(), at & 0xff8 == right.0 >> 48, "{at}");
        }
        let of_none = Reference(right.0 ^ 1 << 5);
        assert_eq!(heap.try_read_at(&pages, of_none, first_word), None);
        assert!(matches!(
            heap.read_at(&pages, of_none, first_word),
            Err(LodeError::Missing { .. })
        ));
    }
    for word in [0, 7, 64 << 48, u64::MAX] {
        assert!(heap.try_read_at(&pages, Reference(word), first_word).is_none());
        assert!(heap.read_at(&pages, Reference(word), first_word).is_err());
    }
}

#[test]
fn a_record_that_moved_within_its_page_is_found_and_not_where_it_was() {
    let (mut pages, heap) = swizzling();
    let ids = [7, 8].map(|value| heap.insert(&mut pages, &number(value, 24), None).unwrap());
    let before = heap.reference(&pages, ids[0]).unwrap();
    // Longer, so that it lies behind the other now.
    heap.update(&mut pages, ids[0], &number(9, 64)).unwrap();
    assert_eq!(heap.try_read_at(&pages, before, first_word), None);
    assert_eq!(heap.read_at(&pages, before, first_word).unwrap(), 9);
    let now = heap.reference(&pages, ids[0]).unwrap();
    assert!(now != before && now.is_to_same(before));
    assert_eq!(heap.try_read_at(&pages, now, first_word), Some(9));
}

#[test]
fn a_record_away_from_home_is_read_through_it() {
    let (mut pages, heap) = swizzling();
    let id = heap.insert(&mut pages, &number(7, 24), None).unwrap();
    heap.insert(&mut pages, &[0; 3_000], Some(id.page)).unwrap();
    heap.update(&mut pages, id, &number(9, 2_000)).unwrap();
    let reference = heap.reference(&pages, id).unwrap();
    assert_eq!(reference, Reference::to(id));
    pages.take_counts();
    assert_eq!(heap.read_at(&pages, reference, first_word).unwrap(), 9);
    assert_eq!(pages.take_counts(), Counts { try_reads: 1, reads: 2, ..Counts::default() });
}

#[test]
fn an_id_that_is_used_again_refers_to_the_new_record() {
    let (mut pages, heap) = swizzling();
    let keeper = heap.insert(&mut pages, b"keeps the page", None).unwrap();
    let old = heap.insert(&mut pages, &number(7, 24), None).unwrap();
    let reference = heap.reference(&pages, old).unwrap();
    heap.delete(&mut pages, old).unwrap();
    assert_eq!(heap.try_read_at(&pages, reference, first_word), None);
    assert_eq!(heap.insert(&mut pages, &number(8, 40), Some(keeper.page)).unwrap(), old);
    assert_eq!(heap.read_at(&pages, reference, first_word).unwrap(), 8);
}

#[test]
fn a_record_under_another_s_tag_is_damage_to_all() {
    let (mut pages, heap) = made();
    let ids = [1, 2].map(|value| heap.insert(&mut pages, &number(value, 24), None).unwrap());
    let at = heap.read(&pages, ids[0], |_, at, _| at).unwrap() - TAG_BYTES;
    let is_reported = |result: Result<()>| matches!(result, Err(LodeError::Corrupt { .. }));
    for word in [tag(ids[1], pages.salt()), tag(ids[0], 0), ids[1].to_u64(), 0] {
        pages.write(ids[0].page, |bytes| bytes.put_u64(at, word)).unwrap();
        assert!(is_reported(heap.get(&pages, ids[0]).map(drop)), "{word:x}");
        assert!(is_reported(heap.reference(&pages, ids[0]).map(drop)), "{word:x}");
        assert!(is_reported(heap.change(&mut pages, ids[0], |_| ())), "{word:x}");
        assert!(is_reported(heap.update(&mut pages, ids[0], &[])), "{word:x}");
        assert!(is_reported(heap.delete(&mut pages, ids[0])), "{word:x}");
        assert!(is_reported(heap.check(&pages).map(drop)), "{word:x}");
        let scan = heap.scan::<()>(&pages, |_, _| Ok(ControlFlow::Continue(())));
        assert!(is_reported(scan.map(drop)), "{word:x}");
    }
    assert_eq!(heap.get(&pages, ids[1]).unwrap(), number(2, 24));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Every reference that was ever right is followed after each step, and every place of a record
    /// holds its tag alone.
    #[test]
    fn references_of_any_age_lead_to_what_is_there(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut pages = MemoryPages::swizzling();
        let heap = Heap::create(&mut pages, FILE).unwrap();
        let (mut model, mut made) = (Model::new(), BTreeSet::new());
        for step in steps {
            take(step, &mut pages, heap, &mut model);
            for &id in model.keys() {
                made.insert(heap.reference(&pages, id).unwrap().0);
            }
            for &word in &made {
                let reference = Reference(word);
                let record = model.get(&reference.id().unwrap());
                let start = |record: &Vec<u8>| record.iter().take(8).copied().collect::<Vec<u8>>();
                let len = record.map_or(0, |record| record.len().min(8));
                let seen = |view: View<'_>, at| {
                    let mut bytes = Vec::new();
                    view.append_to(&mut bytes, at, len);
                    bytes
                };
                if let Some(seen) = heap.try_read_at(&pages, reference, seen) {
                    prop_assert_eq!(Some(seen), record.map(start), "{:?}", reference);
                }
                let read = heap.read_at(&pages, reference, seen).ok();
                prop_assert_eq!(read, record.map(start), "{:?}", reference);
            }
        }
    }
}
