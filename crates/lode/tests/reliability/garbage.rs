//! Pages that say what no access method wrote, under checksums that fit: whatever is read of them
//! or done to them ends with an answer or an error, and rolled back it never was.

use lode::PageWrite;
use std::ops::ControlFlow;
use std::sync::Arc;

use lode::internals::disk::Memory;
use lode::internals::heap::Reference;
use lode::internals::page::{PAGE_BYTES, PageNumber};
use lode::internals::{btree, catalog, space};
use lode::{Database, LodeError, PageRead, Writing};

use crate::contents::{Contents, tactics};
use crate::operations::{Operator, commit_some};
use crate::random::{Random, setting, show};
use crate::reading::read_and_check;

const ROUNDS: u64 = 400;

/// The superblock is not read again.
const FIRST_PAGE: PageNumber = 2;

#[test]
fn garbage_in_pages_neither_panics_nor_hangs_nor_stays() {
    let tactics = tactics("cache=1MiB&swizzle=on&extent=4");
    let database =
        Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics).unwrap();
    let mut contents = Contents::create(&database).unwrap();
    commit_some(&mut Operator::new(9), &database, &mut contents, 120).unwrap();
    let extent_pages = database.extent_pages();
    let pages_total = space::pages_total(&database.reading(), extent_pages).unwrap();
    let rounds = match setting("LODE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("LODE_RUNS").unwrap_or(ROUNDS),
    };
    let mut refused = 0;
    for seed in rounds {
        let mut random = Random::new(seed);
        let mut writing = database.writing();
        for _ in 0..=random.below(4) {
            spoil(&mut random, &mut writing, pages_total);
        }
        refused += u32::from(use_all(&mut random, &mut writing, &contents, extent_pages));
        writing.rollback().unwrap();
        if seed % 20 == 0 {
            let found = read_and_check(&database).unwrap();
            assert!(found.as_ref() == Some(&contents), "seed {seed}");
        }
    }
    show(format!("{refused} times something was refused"));
    assert!(setting("LODE_SEED").is_some() || refused > 100, "{refused}");
    assert_eq!(read_and_check(&database).unwrap(), Some(contents));
}

/// Change some of a page: a field, a word that is another page's, a stretch, or all.
fn spoil(random: &mut Random, writing: &mut Writing, pages_total: PageNumber) {
    let among = (pages_total - FIRST_PAGE) as usize;
    let page = FIRST_PAGE + random.below(among) as PageNumber;
    let at = match random.below(3) {
        0 => 16 + random.below(48),
        _ => random.below(PAGE_BYTES),
    };
    let other = random.below(pages_total as usize + 2) as u32;
    let word = random.next().to_le_bytes();
    let step = random.below(6);
    let write = |bytes: &mut [u8]| match step {
        0 => bytes[at] ^= 1 << (word[0] % 8),
        1 => bytes[at] = word[0],
        2 => {
            let at = (at & !3).min(PAGE_BYTES - 4);
            bytes[at..at + 4].copy_from_slice(&other.to_le_bytes());
        }
        3 => {
            let end = (at + usize::from(word[1])).min(PAGE_BYTES);
            bytes[at..end].fill(word[0]);
        }
        4 => bytes[at.max(16)..].fill(0),
        _ => {
            let mut random = Random::new(u64::from_le_bytes(word));
            bytes[32..].fill_with(|| random.next() as u8);
        }
    };
    writing.write(page, |page| page.change(0..PAGE_BYTES, write)).unwrap();
}

/// Everything that there is to do; whether anything was refused.
fn use_all(
    random: &mut Random,
    writing: &mut Writing,
    known: &Contents,
    extent_pages: u32,
) -> bool {
    let mut refused = false;
    let mut ended = |outcome: Result<(), LodeError>| match outcome {
        Ok(()) | Err(LodeError::Missing { .. } | LodeError::TooLong { .. }) => {}
        Err(LodeError::Corrupt { .. } | LodeError::Exists { .. } | LodeError::Limit { .. }) => {
            refused = true;
        }
        Err(error) => panic!("{error}"),
    };
    ended(inspect(writing, known, extent_pages));
    let files = known.files;
    let (serial, word) = (random.below(known.records.len().max(1)), random.next());
    if let Some(record) = known.records.values().nth(serial) {
        ended(files.records.update(writing, record.id, &vec![1; random.below(4_000)]));
        ended(files.records.delete(writing, record.id));
    }
    ended(files.records.insert(writing, &vec![2; random.below(4_000)], None).map(drop));
    if let Some(object) = known.objects.values().next() {
        ended(files.objects.update(writing, object.id, &vec![3; random.below(4_000)]));
        ended(files.objects.change(writing, object.id, |bytes| bytes.fill(4)));
    }
    if let Some(node) = known.nodes.values().nth(serial % known.nodes.len().max(1)) {
        ended(files.links().unlink(writing, node.id).map(drop));
        let other = known.nodes.values().next().expect("there is one");
        ended(files.links().append(writing, other.id, node.id).map(drop));
    }
    for (key, value) in known.entries.iter().take(20) {
        ended(files.entries.1.remove(writing, key).map(drop));
        ended(files.entries.1.put(writing, &[&key[..], b"more"].concat(), value).map(drop));
    }
    for (&key, values) in known.values.iter().take(40) {
        ended(files.values.1.remove(writing, key, values[0]).map(drop));
        ended(files.values.1.insert(writing, key ^ word >> 52, values[0]));
    }
    for destroyed in 0..4 {
        ended(match destroyed {
            0 => files.records.destroy(writing),
            1 => files.objects.destroy(writing),
            2 => space::free_file(writing, extent_pages, files.entries.0),
            _ => files.values.1.destroy(writing),
        });
    }
    ended(catalog::remove(writing, "records").map(drop));
    ended(catalog::create(writing, "new", catalog::FileKind::Heap).map(drop));
    refused
}

/// Read everything in every way and let everything be checked.
fn inspect(pages: &impl PageRead, known: &Contents, extent_pages: u32) -> Result<(), LodeError> {
    let files = known.files;
    let mut first = Ok(());
    let mut ended = |outcome: Result<(), LodeError>| {
        if first.is_ok() {
            first = outcome;
        }
    };
    let go_on = || Ok::<_, LodeError>(ControlFlow::<()>::Continue(()));
    ended(files.records.scan(pages, |_, _| go_on()).map(drop));
    ended(files.objects.scan(pages, |_, _| go_on()).map(drop));
    ended(files.records.check(pages).map(drop));
    ended(files.objects.check(pages).map(drop));
    for record in known.records.values() {
        ended(files.records.get(pages, record.id).map(drop));
    }
    for object in known.objects.values() {
        ended(files.objects.get(pages, object.id).map(drop));
        for _ in 0..2 {
            ended(files.objects.read_at(pages, Reference::to(object.id), |_, _| ()));
        }
    }
    for node in known.nodes.values() {
        ended(files.links().walk(pages, node.id, |_, _, _| (), |_, ()| go_on()).map(drop));
        ended(files.links().check(pages, node.id).map(drop));
    }
    ended(walk_tree(pages, known));
    ended(btree::check(pages, files.entries.1.root()).map(drop));
    ended(files.values.1.scan(pages, |_, _| ()));
    ended(files.values.1.check(pages).map(drop));
    for &key in known.values.keys() {
        ended(files.values.1.get(pages, key, |_| ()));
        ended(files.values.1.get_one(pages, key).map(drop));
    }
    ended(space::usage(pages, extent_pages).map(drop));
    ended(catalog::all(pages).map(drop));
    first
}

fn walk_tree(pages: &impl PageRead, known: &Contents) -> Result<(), LodeError> {
    let (_, tree) = known.files.entries;
    for key in known.entries.keys() {
        // One that leads nowhere must not keep the others from being tried.
        let _ = tree.get(pages, key, |value| value.append_to(&mut Vec::new()));
    }
    let mut cursor = tree.backwards(pages, ..)?;
    while cursor.entry()?.is_some() {}
    let mut cursor = tree.forwards(pages, ..)?;
    while cursor.entry()?.is_some() {}
    Ok(())
}
