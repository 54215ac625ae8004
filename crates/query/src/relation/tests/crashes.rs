//! Wherever the machine stops, every relation is whole afterwards, and as some commit left it.

use lode::internals::disk::simulated::{CrashOptions, Simulation};

use super::*;
use crate::tactics::FileLayout;

/// Crashes that are looked at.
const IMAGES_ABOUT: usize = 120;

/// A relation's tuples: a number for each, and how often it was replaced.
type Contents = Vec<(i32, i32)>;

fn form() -> Layout {
    let kinds = [
        ("number", Kind::Integer { bytes: 4 }),
        ("version", Kind::Integer { bytes: 4 }),
        ("filler", Kind::Text { width: 300 }),
    ];
    Layout::of(kinds.map(|(name, kind)| (name.to_owned(), kind, false)))
}

fn tuple((number, version): (i32, i32)) -> Vec<u8> {
    [&number.to_le_bytes()[..], &version.to_le_bytes(), &[b' '; 300]].concat()
}

fn found(pages: &impl PageRead) -> Option<(Arc<RelationInfo>, Vec<u64>, Contents)> {
    let catalog = Catalog::read(pages).unwrap();
    let info = catalog.relation("r")?;
    let mut scan = Relation::open(info).scan(pages).unwrap();
    let (mut ids, mut contents, mut batch) = (Vec::new(), Vec::new(), TupleBatch::new());
    while scan.next_batch(pages, &mut batch, 50).unwrap() {
        ids.extend(batch.record_ids());
        contents.extend((0..batch.len()).map(|at| {
            let number = |from| i32::from_le_bytes(crate::tuple::array(batch.tuple(at), from));
            (number(0), number(4))
        }));
    }
    Some((Arc::clone(info), ids, contents))
}

/// The tuples in the order of their numbers; None where there is no relation.
fn state(pages: &impl PageRead) -> Option<Contents> {
    let mut contents = found(pages)?.2;
    contents.sort_unstable();
    Some(contents)
}

/// Load a relation and change it, and answer the states that were committed.
fn play(database: &Database, structure: NewStructure, layout: FileLayout) -> Vec<Option<Contents>> {
    let mut states = vec![None];
    let mut writing = database.writing();
    let design = Design { structure, indexes: vec![(vec![1, 0], false)], layout };
    let mut loader = Loader::new(&mut writing, "r", form(), design, &workspace()).unwrap();
    for number in (0..60).rev() {
        loader.add_many(&mut writing, &tuple((number, 0)), 1).unwrap();
    }
    loader.finish(&mut writing).unwrap();
    states.push(state(&writing));
    writing.commit().unwrap();
    for step in 1..5 {
        let mut writing = database.writing();
        let (info, ids, contents) = found(&writing).unwrap();
        let mut info = RelationInfo::clone(&info);
        let ids = ids.iter().map(|&id| lode::RecordId::of(id).unwrap());
        match step {
            1 => {
                let added: Vec<_> = (40..70).map(|number| tuple((number, 1))).collect();
                let added = added.iter().map(Vec::as_slice);
                change::append(&mut writing, &mut info, added).unwrap();
            }
            2 => {
                let replaced =
                    contents.iter().map(|&(number, version)| tuple((-number, version + 1)));
                let replaced: Vec<_> = replaced.collect();
                let changes = ids.zip(replaced.iter().map(Vec::as_slice)).step_by(3);
                change::replace(&mut writing, &mut info, changes).unwrap();
            }
            3 => {
                let ids: Vec<_> = ids.step_by(2).collect();
                change::delete(&mut writing, &mut info, &ids).unwrap();
            }
            _ => {
                modify(&mut writing, &info, NewStructure::Heap, info.file_layout, &workspace())
                    .unwrap();
            }
        }
        states.push(state(&writing));
        writing.commit().unwrap();
    }
    states
}

#[test]
fn a_crash_leaves_what_a_commit_left() {
    let stored = [
        (NewStructure::Clustered(vec![0]), FileLayout::Rows),
        (NewStructure::Hash(vec![0]), FileLayout::Rows),
        (NewStructure::Clustered(vec![0]), FileLayout::Columns),
    ];
    for (seed, (structure, layout)) in stored.into_iter().enumerate() {
        let tactics: Tactics = "cache=131072&checkpoint=131072&extent=4".parse().unwrap();
        let simulation = Simulation::new();
        let disk = |name| Arc::new(simulation.disk(name));
        let database = Database::on(disk("volume"), disk("log"), &tactics).unwrap();
        simulation.record();
        let states = play(&database, structure, layout);
        database.abandon();
        let trace = simulation.trace();
        let mut seen = std::collections::BTreeSet::new();
        let options = CrashOptions { images_per_point_max: 2, ..CrashOptions::new(seed as u64) };
        let apart = (2 * trace.event_count() / IMAGES_ABOUT).max(1);
        for crash in trace.crashes(options).step_by(apart) {
            let image = &crash.image;
            let database = Database::on(image.disk("volume"), image.disk("log"), &tactics).unwrap();
            let reading = database.reading();
            check_all(&reading).unwrap_or_else(|error| panic!("{crash}: {error}"));
            let found = state(&reading);
            let at = states.iter().position(|state| *state == found);
            seen.insert(at.unwrap_or_else(|| panic!("{crash}: no commit left that")));
            drop(reading);
            database.abandon();
        }
        assert!(seen.len() >= 4, "{seen:?}");
    }
}
