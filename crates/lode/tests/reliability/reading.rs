//! Everything read back, each thing in every way that there is, and checked.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lode::internals::error::Result;
use lode::internals::heap::{Heap, RecordId};
use lode::internals::page::{self, FileNumber, PageKind, PageNumber};
use lode::internals::space::{self, FilePages};
use lode::internals::{btree, catalog};
use lode::{Database, LodeError, PageRead};

use crate::contents::{Contents, Files, NAMES, NODE_AT, Node, Record, Serial};

/// The place where a heap's root counts its pages, as `docs/reference/lode-format.md` draws it.
const HEAP_PAGES_AT: usize = 44;

/// The content of a database, `None` as long as it has no files. Panics where two ways to read the
/// same thing say different things.
pub fn read(database: &Database) -> Result<Option<Contents>> {
    let reading = database.reading();
    Files::find(&reading)?.map(|files| read_files(&reading, files)).transpose()
}

/// The same, and everything that must hold of each structure does.
pub fn read_and_check(database: &Database) -> Result<Option<Contents>> {
    let contents = read(database)?;
    if let Some(contents) = &contents {
        check(&database.reading(), contents, database.extent_pages())?;
    }
    Ok(contents)
}

pub fn read_files(pages: &impl PageRead, files: Files) -> Result<Contents> {
    Ok(Contents {
        files,
        records: records(pages, files.records)?,
        objects: objects(pages, &files)?,
        nodes: nodes(pages, &files)?,
        entries: entries(pages, &files)?,
        values: values(pages, &files)?,
    })
}

/// The number that a record begins with.
fn serial_of(bytes: &[u8]) -> Serial {
    u64::from_le_bytes(*bytes.first_chunk().expect("every record begins with a number"))
}

type Found = BTreeMap<Serial, Record>;

fn take(found: &mut Found, id: RecordId, bytes: &[u8], own_at: usize) {
    let record = Record { id, bytes: bytes.to_vec() };
    let twice = found.insert(serial_of(&bytes[own_at..]), record);
    assert!(twice.is_none(), "{id} is there twice");
}

fn records(pages: &impl PageRead, heap: Heap) -> Result<Found> {
    let found = scanned(pages, heap, 0)?;
    for record in found.values() {
        assert_eq!(heap.get(pages, record.id)?, record.bytes, "{}", record.id);
    }
    Ok(found)
}

fn scanned(pages: &impl PageRead, heap: Heap, own_at: usize) -> Result<Found> {
    let mut found = Found::new();
    let _: ControlFlow<()> = heap.scan(pages, |id, bytes| {
        take(&mut found, id, bytes, own_at);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn objects(pages: &impl PageRead, files: &Files) -> Result<Found> {
    let objects = files.objects;
    let mut found = Found::new();
    let _: ControlFlow<()> = objects.scan(pages, |oid, bytes| {
        take(&mut found, oid, bytes, 0);
        Ok(ControlFlow::Continue(()))
    })?;
    for (serial, object) in &found {
        assert_eq!(objects.get(pages, object.id)?, object.bytes, "{}", object.id);
        // The second time from where the first has found it, if tactics keep that.
        for _ in 0..2 {
            let reference = objects.reference(pages, object.id)?;
            let read = objects.read_at(pages, reference, |view, at| view.u64(at))?;
            assert_eq!(read, *serial, "{}", object.id);
        }
    }
    Ok(found)
}

fn nodes(pages: &impl PageRead, files: &Files) -> Result<BTreeMap<Serial, Node>> {
    let links = files.links();
    let mut found = BTreeMap::new();
    for (serial, Record { id, bytes }) in scanned(pages, files.nodes, NODE_AT)? {
        let mut children = Vec::new();
        let inspect = |view: lode::View<'_>, at: usize, _: usize| view.u64(at + NODE_AT);
        let _: ControlFlow<()> = links.walk(pages, id, inspect, |_, serial| {
            children.push(serial);
            Ok(ControlFlow::Continue(()))
        })?;
        assert_eq!(links.check(pages, id)?, children.len() as u64, "{id}");
        found.insert(serial, Node { id, bytes: bytes[NODE_AT..].to_vec(), children });
    }
    for parent in found.values() {
        for child in &parent.children {
            let link = links.link_of(pages, found[child].id)?.expect("it was met in a list");
            assert_eq!(link.parent, parent.id);
        }
    }
    Ok(found)
}

fn entries(pages: &impl PageRead, files: &Files) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let (_, tree) = files.entries;
    let mut forwards = Vec::new();
    let mut cursor = tree.forwards(pages, ..)?;
    while let Some((key, value)) = cursor.entry()? {
        forwards.push((key.to_vec(), value.to_vec()));
    }
    let mut cursor = tree.backwards(pages, ..)?;
    for (key, value) in forwards.iter().rev() {
        assert_eq!(cursor.entry()?, Some((&key[..], &value[..])), "backwards");
        let got = tree.get(pages, key, |bytes| {
            let mut value = Vec::new();
            bytes.append_to(&mut value);
            value
        })?;
        assert_eq!(got.as_ref(), Some(value), "by its key");
    }
    assert_eq!(cursor.entry()?, None, "backwards");
    Ok(forwards.into_iter().collect())
}

fn values(pages: &impl PageRead, files: &Files) -> Result<BTreeMap<u64, Vec<u64>>> {
    let (_, index) = files.values;
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    index.scan(pages, |key, value| found.entry(key).or_default().push(value))?;
    for (&key, values) in &mut found {
        values.sort_unstable();
        let mut got = Vec::new();
        index.get(pages, key, |value| got.push(value))?;
        got.sort_unstable();
        assert_eq!(&got, values, "key {key}");
        let one = index.get_one(pages, key)?;
        assert!(one.is_some_and(|one| values.contains(&one)), "key {key}");
    }
    Ok(found)
}

/// Check each structure, and that no page is held that none of them knows.
pub fn check(pages: &impl PageRead, contents: &Contents, extent_pages: u32) -> Result<()> {
    let files = &contents.files;
    assert_eq!(files.records.check(pages)?, contents.records.len() as u64);
    assert_eq!(files.objects.check(pages)?, contents.objects.len() as u64);
    assert_eq!(files.nodes.check(pages)?, contents.nodes.len() as u64);
    let census = btree::check(pages, files.entries.1.root())?;
    assert_eq!(census.entries, contents.entries.len());
    let summary = files.values.1.check(pages)?;
    assert_eq!(summary.entries, contents.values.values().map(|v| v.len() as u64).sum::<u64>());

    let roots = files.roots();
    let tree_pages = (census.inner_pages + census.leaves) as u32;
    let counted = [
        heap_pages(pages, roots[0])?,
        heap_pages(pages, roots[1])?,
        heap_pages(pages, roots[2])?,
        tree_pages,
        summary.pages(),
    ];
    for (name, counted) in NAMES.into_iter().zip(counted) {
        let file = catalog::find(pages, name)?.file;
        assert_eq!(pages_of(pages, extent_pages, file)?, counted, "pages of {name}");
    }
    let used = space::usage(pages, extent_pages)?.pages_used;
    assert_eq!(used, u64::from(counted.iter().sum::<u32>()), "pages in use");
    Ok(())
}

/// The root, and the pages that it counts.
fn heap_pages(pages: &impl PageRead, root: PageNumber) -> Result<u32> {
    Ok(1 + pages.read(root, |view| view.u32(HEAP_PAGES_AT))?)
}

/// The number of pages that belong to a file. None of them is free.
fn pages_of(pages: &impl PageRead, extent_pages: u32, file: FileNumber) -> Result<u32> {
    let mut of_file = FilePages::new(extent_pages, file)?;
    let mut count = 0;
    while let Some(page) = of_file.next(pages)? {
        let kind = pages.read(page, |view| view.u8(page::offset::KIND))?;
        assert_ne!(kind, PageKind::Free as u8, "page {page} of file {file}");
        count += 1;
    }
    Ok(count)
}

/// Whether an error shows a reader that the files are not what was written.
pub const fn is_damage(error: &LodeError) -> bool {
    matches!(
        error,
        LodeError::Corrupt { .. } | LodeError::NotADatabase { .. } | LodeError::Version { .. }
    )
}
