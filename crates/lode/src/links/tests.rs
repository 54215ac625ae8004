use proptest::prelude::*;

use super::*;
use crate::pages::memory::MemoryPages;

/// A connection of OO1: in the list of the part that it comes from, and of the part it goes to.
const FROM: LinkField = LinkField::new(8, 0);
const TO: LinkField = LinkField::new(24, 16);
const PART_BYTES: usize = 45;
const CONNECTION_BYTES: usize = 51;

struct Base {
    pages: MemoryPages,
    lists: [Links; 2],
    parts: Vec<RecordId>,
    connections: Vec<RecordId>,
}

/// Records without links: parts whose first byte is their number, connections that end with it.
fn made(parts: u8, connections: u8) -> Base {
    let mut pages = MemoryPages::new();
    let parents = Heap::create(&mut pages, 1).unwrap();
    let children = Heap::create(&mut pages, 2).unwrap();
    let part = |number| {
        let mut record = [0; PART_BYTES];
        record[0] = number;
        parents.insert(&mut pages, &record, None).unwrap()
    };
    let parts = (0..parts).map(part).collect();
    let connection = |number| {
        let mut record = [0; CONNECTION_BYTES];
        record[CONNECTION_BYTES - 1] = number;
        children.insert(&mut pages, &record, None).unwrap()
    };
    let connections = (0..connections).map(connection).collect();
    let lists = [FROM, TO].map(|field| Links { parents, children, field });
    Base { pages, lists, parts, connections }
}

impl Base {
    fn walked(&self, list: usize, part: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let number = |view: View<'_>, at, _| view.u8(at + CONNECTION_BYTES - 1);
        let end = self.lists[list].walk::<_, ()>(
            &self.pages,
            self.parts[part],
            number,
            |child, number| {
                assert_eq!(self.connections[usize::from(number)], child);
                found.push(usize::from(number));
                Ok(ControlFlow::Continue(()))
            },
        );
        assert_eq!(end.unwrap(), ControlFlow::Continue(()));
        found
    }

    fn compare(&self, model: &[Vec<Vec<usize>>; 2]) {
        for (list, parts) in model.iter().enumerate() {
            let mut linked = 0;
            for (part, expected) in parts.iter().enumerate() {
                let id = self.parts[part];
                assert_eq!(&self.walked(list, part), expected);
                let count = self.lists[list].check(&self.pages, id).unwrap();
                assert_eq!(count, expected.len() as u64);
                for &child in expected {
                    let link = self.lists[list].link_of(&self.pages, self.connections[child]);
                    assert_eq!(link.unwrap().unwrap().parent, id);
                    linked += 1;
                }
            }
            let alone = self
                .connections
                .iter()
                .filter(|&&child| self.lists[list].link_of(&self.pages, child).unwrap().is_none());
            assert_eq!(alone.count(), self.connections.len() - linked);
        }
    }
}

const PARTS: usize = 4;
const CONNECTIONS: usize = 24;

#[derive(Debug, Clone, Copy)]
enum Step {
    Append { list: usize, part: usize, child: usize },
    Unlink { list: usize, child: usize },
    Grow { is_part: bool, which: usize, len: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let list = 0..2_usize;
    let child = 0..CONNECTIONS;
    prop_oneof![
        4 => (list.clone(), 0..PARTS, child.clone())
            .prop_map(|(list, part, child)| Step::Append { list, part, child }),
        2 => (list, child.clone()).prop_map(|(list, child)| Step::Unlink { list, child }),
        1 => (any::<bool>(), child, 60..2500_usize)
            .prop_map(|(is_part, which, len)| Step::Grow { is_part, which, len }),
    ]
}

fn take(step: Step, base: &mut Base, model: &mut [Vec<Vec<usize>>; 2]) {
    match step {
        Step::Append { list, part, child } => {
            let is_free = !model[list].iter().flatten().any(|&other| other == child);
            let (parent, id) = (base.parts[part], base.connections[child]);
            let done = base.lists[list].append(&mut base.pages, parent, id).unwrap();
            assert_eq!(done, is_free);
            if is_free {
                model[list][part].push(child);
            }
        }
        Step::Unlink { list, child } => {
            let done = base.lists[list].unlink(&mut base.pages, base.connections[child]).unwrap();
            let children = model[list].iter_mut().find(|children| children.contains(&child));
            assert_eq!(done, children.is_some());
            if let Some(children) = children {
                children.retain(|&other| other != child);
            }
        }
        Step::Grow { is_part, which, len } => {
            let Links { parents, children, .. } = base.lists[0];
            let (heap, id) = if is_part {
                (parents, base.parts[which % PARTS])
            } else {
                (children, base.connections[which])
            };
            let mut record = heap.get(&base.pages, id).unwrap();
            record.resize(len, 0);
            heap.update(&mut base.pages, id, &record).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn lists_hold_in_order_what_vectors_hold(steps in prop::collection::vec(step(), 1..120)) {
        let mut base = made(PARTS as u8, CONNECTIONS as u8);
        let mut model = [vec![Vec::new(); PARTS], vec![Vec::new(); PARTS]];
        for (at, step) in steps.into_iter().enumerate() {
            take(step, &mut base, &mut model);
            if at % 8 == 0 {
                base.compare(&model);
            }
        }
        base.compare(&model);
    }

    #[test]
    fn a_circle_of_any_shape_is_seen(before in 0..70_u16, around in 1..70_u16) {
        let mut ring = Ring::default();
        let id = |slot| RecordId { page: 9, slot };
        let straight = (0..before).chain((0..around).cycle().map(|at| before + at));
        let bound = 4 * usize::from(before + around) + 4;
        let end = straight.take(bound).position(|slot| ring.step(id(slot)).is_err());
        prop_assert!(end.is_some_and(|steps| steps >= usize::from(before + around)));
    }

    #[test]
    fn damaged_links_are_reported_and_never_loop(
        changes in prop::collection::vec((0..12_usize, 0..4_usize, 0..14_usize), 1..4),
        garbage in any::<u64>(),
        child in 0..10_usize,
    ) {
        let mut base = made(2, 10);
        for child in 0..10 {
            let id = base.connections[child];
            let [from, to] = [child % 2, child / 5].map(|part| base.parts[part]);
            base.lists[0].append(&mut base.pages, from, id).unwrap();
            base.lists[1].append(&mut base.pages, to, id).unwrap();
        }
        let ids = [&base.parts[..], &base.connections[..]].concat();
        for (which, word, to) in changes {
            let (heap, at) = match which {
                0 | 1 => (base.lists[0].parents, 8 + word * 8),
                _ => (base.lists[0].children, word * 8),
            };
            let value = match to {
                12 => 0,
                13 => garbage & 0xffff_ffff_ffff,
                to => ids[to].to_u64(),
            };
            heap.change(&mut base.pages, ids[which], |record| {
                record[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }).unwrap();
        }
        let appended = base.lists[0].children.insert(&mut base.pages, &[0; 51], None).unwrap();
        for list in base.lists {
            for &part in &base.parts {
                let _ = list.check(&base.pages, part);
                let _ = list.append(&mut base.pages, part, appended);
            }
            let _ = list.unlink(&mut base.pages, base.connections[child]);
        }
    }
}

#[test]
fn a_ring_is_drawn_as_the_format_says() {
    let mut base = made(1, 2);
    let (part, children) = (base.parts[0], base.connections.clone());
    let [from, _] = base.lists;
    let words = |base: &Base, heap: Heap, id, at: usize| {
        let record = heap.get(&base.pages, id).unwrap();
        [at, at + 8].map(|at| u64::from_le_bytes(record[at..at + 8].try_into().unwrap()))
    };
    for child in &children {
        assert!(from.append(&mut base.pages, part, *child).unwrap());
    }
    let reference = |heap: Heap, id| heap.reference(&base.pages, id).unwrap().0;
    let [first, second] = [0, 1].map(|at| reference(from.children, children[at]));
    let part = reference(from.parents, part);
    assert_eq!(words(&base, from.parents, base.parts[0], 8), [first, second]);
    assert_eq!(words(&base, from.children, children[0], 0), [part, second]);
    assert_eq!(words(&base, from.children, children[1], 0), [part, part]);
    for child in &children {
        assert!(from.unlink(&mut base.pages, *child).unwrap());
        assert!(!from.unlink(&mut base.pages, *child).unwrap());
        assert_eq!(words(&base, from.children, *child, 0), [0, 0]);
    }
    assert_eq!(words(&base, from.parents, base.parts[0], 8), [0, 0]);
}

#[test]
fn a_record_has_one_parent_a_list_and_is_not_its_own() {
    let mut base = made(2, 1);
    let [from, to] = base.lists;
    let child = base.connections[0];
    assert!(from.append(&mut base.pages, base.parts[0], child).unwrap());
    assert!(!from.append(&mut base.pages, base.parts[1], child).unwrap());
    assert!(to.append(&mut base.pages, base.parts[1], child).unwrap());
    let tree =
        Links { parents: from.parents, children: from.parents, field: LinkField::new(8, 24) };
    assert!(!tree.append(&mut base.pages, base.parts[0], base.parts[0]).unwrap());
    assert!(matches!(
        to.append(&mut base.pages, RecordId { slot: 99, ..child }, child),
        Err(LodeError::Missing { .. })
    ));
}

#[test]
fn damage_is_named() {
    let list_of_three = || {
        let mut base = made(2, 3);
        let children = base.connections.clone();
        for child in &children {
            assert!(base.lists[0].append(&mut base.pages, base.parts[0], *child).unwrap());
        }
        (base, children)
    };
    let reported = |how: &str, damage: &dyn Fn(&mut Base, &[RecordId])| {
        let (mut base, children) = list_of_three();
        damage(&mut base, &children);
        let list = base.lists[0];
        let error = list.check(&base.pages, base.parts[0]).expect_err(how).to_string();
        assert!(error.contains(how), "{error}");
    };
    let set = |base: &mut Base, child, at: usize, value: Option<RecordId>| {
        let reference = value.map(Reference::to);
        put(&mut base.pages, base.lists[0].children, child, at, reference).unwrap();
    };
    reported("its list runs in a circle", &|base, children| {
        set(base, children[2], offset::NEXT, Some(children[1]));
    });
    reported("links lead to it and it is not there", &|base, children| {
        base.lists[0].children.delete(&mut base.pages, children[1]).unwrap();
    });
    reported("it is in the list of another parent", &|base, children| {
        set(base, children[1], offset::PARENT, Some(base.parts[1]));
    });
    reported("its list ends at another child than its last", &|base, children| {
        set(base, children[1], offset::NEXT, Some(base.parts[0]));
    });
    reported("its links are no references", &|base, children| {
        set(base, children[1], offset::NEXT, None);
    });
    reported("it is too short for its links", &|base, children| {
        base.lists[0].children.update(&mut base.pages, children[1], &[0; 15]).unwrap();
    });
}
