//! Whatever is done to a heap, it holds what a map holds; damaged, it says so and never loops.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Insert(Vec<u8>, Option<prop::sample::Index>),
    Append(Vec<Vec<u8>>),
    Update(prop::sample::Index, Vec<u8>),
    Change(prop::sample::Index, u8),
    Delete(prop::sample::Index),
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    let any_length = prop_oneof![
        5 => 0..200_usize,
        2 => 200..1500_usize,
        1 => 1500..=RECORD_BYTES_MAX,
        1 => Just(RECORD_BYTES_MAX),
    ];
    (any_length, any::<u8>())
        .prop_map(|(len, first)| (0..len).map(|at| first.wrapping_add((at * 3) as u8)).collect())
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        5 => (record(), prop::option::of(index()))
            .prop_map(|(record, allocation_hint)| Step::Insert(record, allocation_hint)),
        1 => prop::collection::vec(record(), 0..8).prop_map(Step::Append),
        4 => (index(), record()).prop_map(|(of, record)| Step::Update(of, record)),
        1 => (index(), any::<u8>()).prop_map(|(of, byte)| Step::Change(of, byte)),
        3 => index().prop_map(Step::Delete),
    ]
}

pub(super) fn take(step: Step, pages: &mut MemoryPages, heap: Heap, model: &mut Model) {
    let chosen = |of: prop::sample::Index| {
        let ids: Vec<_> = model.keys().copied().collect();
        (!ids.is_empty()).then(|| *of.get(&ids))
    };
    match step {
        Step::Insert(record, allocation_hint) => {
            let allocation_hint = allocation_hint.and_then(chosen).map(|id| id.page);
            let id = heap.insert(pages, &record, allocation_hint).unwrap();
            assert_eq!(model.insert(id, record), None, "{id} was taken");
        }
        Step::Append(records) => {
            let mut appender = heap.appender();
            for record in records {
                let id = appender.append(pages, &record).unwrap();
                assert!(matches!(heap.get(pages, id), Err(LodeError::Missing { .. })), "not yet");
                assert_eq!(model.insert(id, record), None, "{id} was taken");
            }
            appender.finish(pages).unwrap();
        }
        Step::Update(of, record) => {
            let Some(id) = chosen(of) else { return };
            heap.update(pages, id, &record).unwrap();
            model.insert(id, record);
        }
        Step::Change(of, byte) => {
            let Some(id) = chosen(of) else { return };
            let mine = model.get_mut(&id).unwrap();
            mine.fill(byte);
            let len = heap.change(pages, id, |record| {
                record.fill(byte);
                record.len()
            });
            assert_eq!(len.unwrap(), mine.len());
        }
        Step::Delete(of) => {
            let Some(id) = chosen(of) else { return };
            heap.delete(pages, id).unwrap();
            model.remove(&id);
            assert!(matches!(heap.get(pages, id), Err(LodeError::Missing { .. })));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_heap_holds_what_a_map_holds(steps in prop::collection::vec(step(), 1..160)) {
        let (mut pages, heap) = made();
        let mut model = Model::new();
        for (at, step) in steps.into_iter().enumerate() {
            take(step, &mut pages, heap, &mut model);
            heap.check(&pages).unwrap();
            if at % 16 == 0 {
                compare(&pages, heap, &model);
            }
        }
        compare(&pages, heap, &model);
        heap.destroy(&mut pages).unwrap();
        prop_assert_eq!(pages.allocated(), 0);
    }

    #[test]
    fn damage_is_reported_and_never_loops(
        damage in prop::collection::vec(
            (any::<prop::sample::Index>(), 16..120_usize, any::<u8>()),
            1..4,
        ),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let (mut pages, heap) = made();
        let mut ids: Vec<_> = (0..120)
            .map(|number| heap.insert(&mut pages, &[number; 100], None).unwrap())
            .collect();
        for id in ids.drain(..40) {
            heap.delete(&mut pages, id).unwrap();
        }
        for id in &ids[..20] {
            heap.update(&mut pages, *id, &[0; 300]).unwrap();
        }
        let count = pages.allocated();
        for (page, at, byte) in damage {
            pages.write(4 + page.index(count) as u32, |bytes| bytes.put_u8(at, byte)).unwrap();
        }
        let _ = heap.check(&pages);
        for step in steps {
            let any = |of: prop::sample::Index| *of.get(&ids);
            let _ = match step {
                Step::Insert(record, allocation_hint) => {
                    heap.insert(&mut pages, &record, allocation_hint.map(|of| any(of).page)).err()
                }
                Step::Append(records) => {
                    let mut appender = heap.appender();
                    let appended = records
                        .iter()
                        .try_for_each(|record| appender.append(&mut pages, record).map(drop));
                    appended.and_then(|()| appender.finish(&mut pages)).err()
                }
                Step::Update(of, record) => heap.update(&mut pages, any(of), &record).err(),
                Step::Change(of, byte) => {
                    heap.change(&mut pages, any(of), |record| record.fill(byte)).err()
                }
                Step::Delete(of) => heap.delete(&mut pages, any(of)).err(),
            };
            let scanned = heap.scan::<()>(&pages, |_, _| Ok(ControlFlow::Continue(())));
            let pulled = heap.cursor(&pages).and_then(|mut cursor| {
                while cursor.next_page(&pages)?.is_some() {}
                Ok(())
            });
            assert_eq!(scanned.is_ok(), pulled.is_ok(), "what a scan refuses, a cursor does");
        }
    }
}
