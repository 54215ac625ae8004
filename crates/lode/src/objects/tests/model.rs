//! Random operations against a map.

use std::collections::HashMap;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Insert(usize, Option<prop::sample::Index>),
    Update(prop::sample::Index, usize),
    Change(prop::sample::Index),
    Delete(prop::sample::Index),
    /// Follow a reference to that object.
    Follow(prop::sample::Index),
    /// Follow one to an object that may not be there.
    Stray(u32, u16),
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    let len = || prop_oneof![6 => 0..120_usize, 2 => 120..1_200_usize, 1 => 0..=OBJECT_BYTES_MAX];
    prop_oneof![
        6 => (len(), prop::option::of(index()))
            .prop_map(|(len, near)| Step::Insert(len, near)),
        4 => (index(), len()).prop_map(|(of, len)| Step::Update(of, len)),
        1 => index().prop_map(Step::Change),
        3 => index().prop_map(Step::Delete),
        12 => index().prop_map(Step::Follow),
        1 => (4..12_u32, 0..20_u16).prop_map(|(page, slot)| Step::Stray(page, slot)),
    ]
}

/// Bytes that tell objects, and versions of one, apart; with words that look like headers and
/// references.
fn bytes_of(len: usize, number: u64, oid: Option<Oid>) -> Vec<u8> {
    let words = [number, oid.map_or(0, |oid| header(oid, 16)), oid.map_or(0, Oid::to_u64)];
    words.iter().cycle().flat_map(|word| word.to_le_bytes()).take(len).collect()
}

fn against_map(swizzle: bool, steps: &[Step]) {
    let memory = if swizzle { MemoryPages::swizzling() } else { MemoryPages::new() };
    let mut pages = CountingPages::new(memory);
    let objects = Objects::create(&mut pages, FILE).unwrap();
    let mut model: HashMap<Oid, Vec<u8>> = HashMap::new();
    let follow = |pages: &CountingPages, oid| through(pages, objects, oid);
    for (number, step) in steps.iter().enumerate() {
        let mut oids: Vec<Oid> = model.keys().copied().collect();
        oids.sort_unstable();
        let chosen = |of: &prop::sample::Index| (!oids.is_empty()).then(|| *of.get(&oids));
        let number = number as u64;
        match step {
            Step::Insert(len, near) => {
                let near = near.as_ref().and_then(chosen);
                let object = bytes_of(*len, number, near);
                let oid = objects.insert(&mut pages, &object, near.map(|oid| oid.page)).unwrap();
                assert_eq!(model.insert(oid, object), None, "{oid} was taken");
            }
            Step::Update(of, len) => {
                let Some(oid) = chosen(of) else { continue };
                let object = bytes_of(*len, number, Some(oid));
                objects.update(&mut pages, oid, &object).unwrap();
                model.insert(oid, object);
            }
            Step::Change(of) => {
                let Some(oid) = chosen(of) else { continue };
                let object = model.get_mut(&oid).unwrap();
                let change = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
                change(object);
                objects.change(&mut pages, oid, change).unwrap();
            }
            Step::Delete(of) => {
                let Some(oid) = chosen(of) else { continue };
                objects.delete(&mut pages, oid).unwrap();
                model.remove(&oid);
            }
            Step::Follow(of) => {
                let Some(oid) = chosen(of) else { continue };
                assert_eq!(follow(&pages, oid).unwrap(), model[&oid]);
            }
            Step::Stray(page, slot) => {
                let oid = Oid { page: *page, slot: *slot };
                assert_eq!(follow(&pages, oid).ok().as_ref(), model.get(&oid));
            }
        }
    }
    for (oid, object) in &model {
        assert_eq!(&follow(&pages, *oid).unwrap(), object);
    }
    holds(&objects, &pages, &model);
}

/// The file holds these objects, whole, and no others, by id and by scan.
fn holds(objects: &Objects, pages: &CountingPages, model: &HashMap<Oid, Vec<u8>>) {
    assert_eq!(objects.check(pages).unwrap(), model.len() as u64);
    for (oid, object) in model {
        assert_eq!(&objects.get(pages, *oid).unwrap(), object);
    }
    let mut scanned = HashMap::new();
    let end: ControlFlow<()> = objects
        .scan(pages, |oid, object| {
            assert_eq!(scanned.insert(oid, object.to_vec()), None, "{oid} twice");
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    assert!(end.is_continue());
    assert_eq!(&scanned, model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn objects_are_a_map(swizzle: bool, steps in prop::collection::vec(step(), 1..250)) {
        against_map(swizzle, &steps);
    }
}
