mod guesses;
mod model;

use proptest::prelude::*;

use super::*;
use crate::pages::counting::{CountingPages, Counts};
use crate::pages::memory::MemoryPages;

const FILE: FileNumber = 3;

fn made() -> (CountingPages, Objects) {
    let mut pages = CountingPages::new(MemoryPages::swizzling());
    let objects = Objects::create(&mut pages, FILE).unwrap();
    (pages, objects)
}

/// How many pages were looked at by a mark, and how many otherwise, since the last call.
fn counts(pages: &CountingPages) -> (u64, u64) {
    let Counts { looks, marked, .. } = pages.take_counts();
    (marked, looks)
}

fn through(pages: &CountingPages, objects: Objects, oid: Oid) -> Result<Vec<u8>> {
    objects.look(pages, oid, |view, at| {
        let mut object = Vec::new();
        let len = length_of(view.u64(at - HEADER_BYTES), oid).expect("its header is before it");
        view.append_to(&mut object, at, len);
        object
    })
}

/// Look at it twice: the second time, the mark leads there.
fn settle(pages: &CountingPages, objects: Objects, oid: Oid) -> Vec<u8> {
    let first = through(pages, objects, oid).unwrap();
    counts(pages);
    assert_eq!(through(pages, objects, oid).unwrap(), first);
    assert_eq!(counts(pages), (1, 0), "not read directly");
    first
}

fn missing<T>(result: &Result<T>) -> bool {
    matches!(result, Err(LodeError::Missing { .. }))
}

fn corrupt<T>(result: &Result<T>) -> bool {
    matches!(result, Err(LodeError::Corrupt { .. }))
}

#[test]
fn a_direct_reference_needs_no_slots_and_without_swizzling_there_is_none() {
    let (mut pages, objects) = made();
    let oid = objects.insert(&mut pages, b"a part", None).unwrap();
    assert_eq!(settle(&pages, objects, oid), b"a part");
    pages.pages = MemoryPages::new();
    let objects = Objects::create(&mut pages, FILE).unwrap();
    let oid = objects.insert(&mut pages, b"a part", None).unwrap();
    for _ in 0..3 {
        counts(&pages);
        assert_eq!(through(&pages, objects, oid).unwrap(), b"a part");
        assert_eq!(counts(&pages), (0, 1));
    }
}

#[test]
fn objects_of_every_length_up_to_the_longest() {
    let (mut pages, objects) = made();
    let mut oids = Vec::new();
    for len in (0..70).chain([1_000, OBJECT_BYTES_MAX - 1, OBJECT_BYTES_MAX]) {
        let object = vec![len as u8; len];
        oids.push((objects.insert(&mut pages, &object, None).unwrap(), object));
    }
    for (oid, object) in &oids {
        assert_eq!(&settle(&pages, objects, *oid), object);
    }
    let long = vec![0; OBJECT_BYTES_MAX + 1];
    assert!(matches!(objects.insert(&mut pages, &long, None), Err(LodeError::TooLong { .. })));
    let update = objects.update(&mut pages, oids[0].0, &long);
    assert!(matches!(update, Err(LodeError::TooLong { .. })));
    assert_eq!(objects.check(&pages).unwrap(), oids.len() as u64);
}

#[test]
fn bytes_begin_at_a_multiple_of_8_also_of_one_that_has_moved() {
    let (mut pages, objects) = made();
    let oids: Vec<_> =
        (0..40).map(|_| objects.insert(&mut pages, &[7; 90], None).unwrap()).collect();
    objects.update(&mut pages, oids[3], &[8; 3_000]).unwrap();
    for oid in oids {
        let at = objects.read(&pages, oid, |_, at, _| at).unwrap();
        assert_eq!(at % 8, 0);
    }
}

#[test]
fn a_neighbour_that_pushes_the_object_aside_is_noticed() {
    let (mut pages, objects) = made();
    let first = objects.insert(&mut pages, &[1; 1_000], None).unwrap();
    let second = objects.insert(&mut pages, &[2; 1_000], None).unwrap();
    settle(&pages, objects, second);
    objects.delete(&mut pages, first).unwrap();
    // Fits only after the hole is closed, which moves the second.
    let third = objects.insert(&mut pages, &[3; 2_500], Some(second.page)).unwrap();
    assert_eq!(third.page, second.page);
    assert_eq!(through(&pages, objects, second).unwrap(), [2; 1_000]);
    assert_eq!(settle(&pages, objects, third), [3; 2_500]);
}

#[test]
fn a_slot_that_is_used_again_holds_the_new_object() {
    let (mut pages, objects) = made();
    let keeper = objects.insert(&mut pages, b"keeps the page", None).unwrap();
    let old = objects.insert(&mut pages, b"the old one", None).unwrap();
    settle(&pages, objects, old);
    objects.delete(&mut pages, old).unwrap();
    assert!(missing(&through(&pages, objects, old)));
    let new = objects.insert(&mut pages, b"the new one", Some(keeper.page)).unwrap();
    assert_eq!(new, old);
    assert_eq!(through(&pages, objects, old).unwrap(), b"the new one");
}

#[test]
fn an_object_that_moves_away_and_comes_home_is_followed() {
    let (mut pages, objects) = made();
    let oid = objects.insert(&mut pages, &[1; 100], None).unwrap();
    while objects.insert(&mut pages, &[2; 100], Some(oid.page)).unwrap().page == oid.page {}
    settle(&pages, objects, oid);
    for len in [3_000, 4_000, 2_000, OBJECT_BYTES_MAX] {
        objects.update(&mut pages, oid, &vec![3; len]).unwrap();
        for _ in 0..2 {
            assert_eq!(through(&pages, objects, oid).unwrap(), vec![3; len]);
        }
        // Home and where it lives, and never a third page.
        counts(&pages);
        objects.get(&pages, oid).unwrap();
        assert_eq!(counts(&pages), (0, 2));
    }
    for slot in 0..40 {
        let other = Oid { page: oid.page, slot };
        if other != oid && objects.get(&pages, other).is_ok() {
            objects.delete(&mut pages, other).unwrap();
        }
    }
    // The page in which it lives has no room for more, its home has.
    objects.update(&mut pages, oid, &[4; 60]).unwrap();
    assert_eq!(through(&pages, objects, oid).unwrap(), [4; 60]);
    objects.delete(&mut pages, oid).unwrap();
    assert!(missing(&through(&pages, objects, oid)));
    objects.check(&pages).unwrap();
}

#[test]
fn objects_of_one_page_have_marks_of_their_own() {
    let (mut pages, objects) = made();
    let one = objects.insert(&mut pages, b"one", None).unwrap();
    let two = objects.insert(&mut pages, b"two", None).unwrap();
    assert_eq!(one.page, two.page);
    for _ in 0..3 {
        assert_eq!(through(&pages, objects, one).unwrap(), b"one");
        assert_eq!(through(&pages, objects, two).unwrap(), b"two");
    }
}

#[test]
fn what_is_not_there_is_missing_and_what_is_another_s_is_corrupt() {
    let (mut pages, objects) = made();
    let oid = objects.insert(&mut pages, &[5; 20], None).unwrap();
    let nobody = Oid { page: oid.page, slot: 7 };
    assert!(missing(&through(&pages, objects, nobody)));
    assert!(missing(&through(&pages, objects, Oid { page: objects.root(), slot: 0 })));
    assert!(missing(&objects.update(&mut pages, nobody, &[])));
    assert!(missing(&objects.delete(&mut pages, nobody)));
    assert!(missing(&objects.change(&mut pages, nobody, |_| ())));
    let beyond = Oid { page: 1_000_000, slot: 0 };
    assert!(through(&pages, objects, beyond).is_err());
    let of_other_file = Objects::open(FILE + 1, objects.root());
    assert!(missing(&through(&pages, of_other_file, oid)));

    let at = objects.read(&pages, oid, |_, at, _| at).unwrap() - HEADER_BYTES;
    for word in [header(nobody, 20), header(oid, 19), oid.to_u64(), 0] {
        pages.write(oid.page, |bytes| page::put_u64(bytes, at, word)).unwrap();
        assert!(corrupt(&through(&pages, objects, oid)), "{word:x}");
        assert!(corrupt(&objects.get(&pages, oid)), "{word:x}");
        assert!(corrupt(&objects.change(&mut pages, oid, |_| ())), "{word:x}");
        assert!(corrupt(&objects.update(&mut pages, oid, &[])), "{word:x}");
        assert!(corrupt(&objects.delete(&mut pages, oid)), "{word:x}");
        assert!(corrupt(&objects.check(&pages)), "{word:x}");
    }
}

#[test]
fn a_scan_ends_when_it_is_told_to() {
    let (mut pages, objects) = made();
    for number in 0..100_u8 {
        objects.insert(&mut pages, &[number; 100], None).unwrap();
    }
    let end = objects.scan(&pages, |_, object| match object[0] {
        60 => Ok(ControlFlow::Break(object.len())),
        _ => Ok(ControlFlow::Continue(())),
    });
    assert_eq!(end.unwrap(), ControlFlow::Break(100));
    objects.destroy(&mut pages).unwrap();
    assert_eq!(pages.pages.allocated(), 0);
}

proptest! {
    #[test]
    fn a_header_is_its_object_s_alone(
        page: PageNumber,
        slot: u16,
        len in 0..=OBJECT_BYTES_MAX,
        other: u64,
    ) {
        let oid = Oid { page, slot };
        prop_assert_eq!(length_of(header(oid, len), oid), Some(len));
        prop_assert_eq!(length_of(header(oid, len), Oid { page, slot: slot ^ 1 }), None);
        prop_assert_eq!(length_of(header(oid, len), Oid { page: page ^ 1, slot }), None);
        prop_assert_eq!(length_of(other >> 1, oid), None);
    }
}
