use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::aligned_page::AlignedPage;
use crate::page::PageKind;
use crate::page_mut::PageMut;

fn empty() -> AlignedPage {
    let mut page = AlignedPage::zeros();
    page::format(&mut page.page_mut(), PageKind::Heap, 7);
    page
}

fn contents(page: &AlignedPage) -> BTreeMap<u16, (Vec<u8>, u8)> {
    let view = View::of(page);
    let mut found = BTreeMap::new();
    for slot in 0..slots(view) {
        let record = find(view, slot).expect("a whole page");
        assert_eq!(record, find_in(page, slot).expect("a whole page"));
        if let Some(record) = record {
            let mut bytes = Vec::new();
            view.append_to(&mut bytes, record.at, record.len);
            found.insert(slot, (bytes, record.flags));
        }
    }
    found
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>, u8),
    Update(prop::sample::Index, Vec<u8>, u8),
    Resize(prop::sample::Index, usize),
    Delete(prop::sample::Index),
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    let any_length = prop_oneof![
        4 => 0..60_usize,
        2 => 60..700_usize,
        1 => 700..PAGE_BYTES,
    ];
    (any_length, any::<u8>())
        .prop_map(|(len, first)| (0..len).map(|at| first.wrapping_add((at * 7) as u8)).collect())
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (record(), 0..16_u8).prop_map(|(record, flags)| Step::Insert(record, flags)),
        3 => (index(), record(), 0..16_u8)
            .prop_map(|(of, record, flags)| Step::Update(of, record, flags)),
        1 => (index(), 0..PAGE_BYTES).prop_map(|(of, len)| Step::Resize(of, len)),
        2 => index().prop_map(Step::Delete),
    ]
}

type Model = BTreeMap<u16, (Vec<u8>, u8)>;

/// Bytes that the model's records take, and their slots as the page has them.
fn free_bytes(model: &Model) -> usize {
    let taken: usize = model.values().map(|(record, _)| span(record.len())).sum();
    let slots = model.last_key_value().map_or(0, |(&slot, _)| usize::from(slot) + 1);
    PAGE_BYTES - RECORDS_AT - taken - slots * SLOT_BYTES
}

fn take(step: Step, page: &mut PageMut<'_>, model: &mut Model) {
    let chosen = |of: prop::sample::Index| {
        let slots: Vec<_> = model.keys().copied().collect();
        if slots.is_empty() { 3 } else { *of.get(&slots) }
    };
    match step {
        Step::Insert(record, flags) => {
            let free_space = free_space_in(page).expect("a whole page");
            let slot = insert(page, &record, flags).expect("a whole page");
            assert_eq!(slot.is_some(), record.len() <= free_space && free_space > 0);
            if let Some(slot) = slot {
                let is_new = model.insert(slot, (record, flags)).is_none();
                assert!(is_new, "slot {slot} was taken");
            }
        }
        Step::Update(of, record, flags) => {
            let slot = chosen(of);
            let before = model.get(&slot).map(|(record, _)| span(record.len()));
            let fits = before.is_some_and(|before| {
                record.len() <= RECORD_BYTES_MAX && span(record.len()) <= free_bytes(model) + before
            });
            match update(page, slot, &record, flags).expect("a whole page") {
                Fit::Done(place) => {
                    assert!(fits && place.len == record.len());
                    model.insert(slot, (record, flags));
                }
                Fit::NoSpace => assert!(before.is_some() && !fits),
                Fit::NoRecord => assert_eq!(before, None),
            }
        }
        Step::Resize(of, len) => {
            let slot = chosen(of);
            if let Fit::Done(_) = resize(page, slot, len).expect("a whole page") {
                model.get_mut(&slot).expect("there is one").0.resize(len, 0);
            }
        }
        Step::Delete(of) => {
            let slot = chosen(of);
            let was = delete(page, slot).expect("a whole page");
            assert_eq!(model.remove(&slot).is_some(), was);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_page_holds_what_a_map_holds(steps in prop::collection::vec(step(), 1..120)) {
        let mut page = empty();
        let mut model = Model::new();
        for step in steps {
            take(step, &mut page.page_mut(), &mut model);
            prop_assert_eq!(check(&page), Ok(()));
            prop_assert_eq!(&contents(&page), &model);
            prop_assert_eq!(free_space(View::of(&page)), free_space_in(&page).expect("whole"));
        }
    }

    #[test]
    fn a_page_of_garbage_neither_panics_nor_hangs(
        words in prop::collection::vec(any::<u64>(), PAGE_BYTES / 8),
        small in prop::option::of((0..40_u16, 0..4048_u16, 0..80_u16, 0..8_u16)),
        steps in prop::collection::vec(step(), 1..10),
    ) {
        let mut page = empty();
        for (at, word) in words.into_iter().enumerate() {
            page.page_mut().put_u64(at * 8, word);
        }
        // Fields that pass for whole lead deeper in.
        if let Some((slots, extent, holes, slots_free)) = small {
            page.page_mut().put_u16(page::offset::COUNT, slots);
            page.page_mut().put_u16(offset::EXTENT, extent);
            page.page_mut().put_u16(offset::HOLES, holes);
            page.page_mut().put_u16(offset::SLOTS_FREE, slots_free);
            for slot in 0..slots {
                let at = slot_at(slot);
                let word = page::u32_at(&page, at) & 0x0fff_0ff8;
                page.page_mut().put_u32(at, word);
            }
        }
        let view = View::of(&page);
        prop_assert!(free_space(view) <= RECORD_BYTES_MAX);
        for slot in (0..slots(view)).chain([u16::MAX]) {
            if let Ok(Some(record)) = find(view, slot) {
                prop_assert!(record.at >= RECORDS_AT && record.at + record.len <= PAGE_BYTES);
            }
        }
        for step in steps {
            let any = |of: prop::sample::Index| of.index(50) as u16;
            let _ = match step {
                Step::Insert(record, flags) => insert(&mut page.page_mut(), &record, flags).err(),
                Step::Update(of, record, flags) => {
                    update(&mut page.page_mut(), any(of), &record, flags).err()
                }
                Step::Resize(of, len) => resize(&mut page.page_mut(), any(of), len).err(),
                Step::Delete(of) => delete(&mut page.page_mut(), any(of)).err(),
            };
        }
    }

    #[test]
    fn a_record_id_is_its_word(page in 1..=u32::MAX, slot: u16) {
        let id = RecordId { page, slot };
        prop_assert_eq!(RecordId::of(id.to_u64()), Some(id));
        prop_assert_eq!(RecordId::of(id.to_u64() | 1 << 48), None);
        prop_assert_eq!(RecordId::of(u64::from(slot)), None);
    }
}

#[test]
fn the_longest_record_fits_alone_and_a_longer_one_not() {
    let mut page = empty();
    assert_eq!(free_space_in(&page), Ok(RECORD_BYTES_MAX));
    assert_eq!(insert(&mut page.page_mut(), &[1; RECORD_BYTES_MAX + 1], 0), Ok(None));
    assert_eq!(insert(&mut page.page_mut(), &[1; RECORD_BYTES_MAX], 0), Ok(Some(0)));
    assert_eq!(free_space_in(&page), Ok(0));
    assert_eq!(insert(&mut page.page_mut(), &[], 0), Ok(None));
    assert_eq!(check(&page), Ok(()));
}

#[test]
fn a_page_of_empty_records_is_full_when_its_bytes_are() {
    let mut page = empty();
    let fit = (PAGE_BYTES - RECORDS_AT) / (ALIGNMENT_BYTES + SLOT_BYTES);
    for slot in 0..fit {
        assert_eq!(insert(&mut page.page_mut(), &[], 5), Ok(Some(slot as u16)));
    }
    assert_eq!(insert(&mut page.page_mut(), &[], 5), Ok(None));
    assert_eq!(contents(&page).len(), fit);
    assert_eq!(check(&page), Ok(()));
}

#[test]
fn a_freed_slot_is_used_again_and_trailing_ones_go() {
    let mut page = empty();
    for record in [b"a", b"b", b"c"] {
        insert(&mut page.page_mut(), record, 0).unwrap();
    }
    assert_eq!(delete(&mut page.page_mut(), 1), Ok(true));
    assert_eq!(delete(&mut page.page_mut(), 1), Ok(false));
    assert_eq!(insert(&mut page.page_mut(), b"d", 0), Ok(Some(1)));
    assert_eq!(delete(&mut page.page_mut(), 1), Ok(true));
    assert_eq!(delete(&mut page.page_mut(), 2), Ok(true));
    assert_eq!(slots(View::of(&page)), 1);
    assert_eq!(delete(&mut page.page_mut(), 0), Ok(true));
    assert_eq!(free_space_in(&page), Ok(RECORD_BYTES_MAX));
}

#[test]
fn a_contradiction_is_reported() {
    let mut whole = empty();
    for record in [&b"one"[..], b"the second", b"three"] {
        insert(&mut whole.page_mut(), record, 0).unwrap();
    }
    delete(&mut whole.page_mut(), 1).unwrap();
    let corrupt = |at: usize, value: u16| {
        let mut page = whole.clone();
        page.page_mut().put_u16(at, value);
        check(&page).expect_err("it is damaged")
    };
    assert_eq!(check(&whole), Ok(()));
    let cases = [
        (page::offset::COUNT, 1020, "its records and its slots overlap"),
        (page::offset::COUNT, 4, "it has another number of free slots than its header"),
        (page::offset::COUNT, 2, "its records take another number of bytes than its header"),
        (offset::EXTENT, 64, "its records take another number of bytes than its header"),
        (offset::HOLES, 64, "more of it is free than there is"),
        (offset::HOLES, 8, "its records take another number of bytes than its header"),
        (offset::SLOTS_FREE, 0, "it has another number of free slots than its header"),
        (slot_at(0), 68, "a record lies where none can"),
        (slot_at(0), 40, "a record lies where none can"),
        (slot_at(0), 4088, "a record lies where none can"),
        (slot_at(0), 88, "two of its records overlap"),
        (slot_at(2), 0, "its records take another number of bytes than its header"),
    ];
    for (at, value, how) in cases {
        assert_eq!(corrupt(at, value), Corruption(how), "{value} at {at}");
    }
    let error = Corruption("how").on(9).to_string();
    assert!(error.starts_with("page 9 is damaged (how)"), "{error}");
}

#[test]
fn bytes_of_a_record_or_of_a_gap_are_no_slots() {
    let mut page = empty();
    let as_slots = (RECORDS_AT as u32 | 8 << 16).to_le_bytes().repeat(RECORD_BYTES_MAX / 4);
    insert(&mut page.page_mut(), &as_slots, 0).unwrap();
    for is_gap in [false, true] {
        for slot in [1, 2, 500, SLOTS_MAX as u16, u16::MAX] {
            assert_eq!(find(View::of(&page), slot), Ok(None), "{slot} {is_gap}");
            assert_eq!(find_in(&page, slot), Ok(None), "{slot} {is_gap}");
        }
        resize(&mut page.page_mut(), 0, 1).unwrap();
    }
}

#[test]
fn a_record_behind_the_last_is_not_touched() {
    let mut page = empty();
    insert(&mut page.page_mut(), b"first", 0).unwrap();
    insert(&mut page.page_mut(), b"second", 0).unwrap();
    page.page_mut().put_u16(offset::EXTENT, 8);
    let before = *page;
    let how = Corruption("a record lies behind the last");
    assert_eq!(delete(&mut page.page_mut(), 1), Err(how));
    assert_eq!(update(&mut page.page_mut(), 1, b"other", 0), Err(how));
    assert_eq!(*page, before);
}

#[test]
fn a_page_whose_next_record_would_lie_askew_is_damaged() {
    let mut page = empty();
    assert_eq!(check(&page), Ok(()));
    page.page_mut().put_u16(offset::EXTENT, 4);
    page.page_mut().put_u16(offset::HOLES, 4);
    check(&page).expect_err("no record is four bytes long");
    insert(&mut page.page_mut(), b"record", 0).expect_err("it would begin at 52");
}
