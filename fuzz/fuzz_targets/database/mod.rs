//! A small database in memory with a file of each kind, whose pages the fuzzer rewrites.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use lode::internals::btree::{self, Btree};
use lode::internals::catalog::{self, FileKind};
use lode::internals::disk::Memory;
use lode::internals::error::Result;
use lode::internals::hash::Hash;
use lode::internals::heap::{Heap, RecordId, Reference};
use lode::internals::links::{LinkField, Links};
use lode::internals::objects::Objects;
use lode::internals::page::PAGE_BYTES;
use lode::internals::space;
use lode::{Database, LodeError, PageRead, Writing};

pub static DATABASE: LazyLock<Small> = LazyLock::new(|| Small::new().expect("memory is enough"));

/// A database and where everything begins.
pub struct Small {
    database: Database,
    pages_total: u32,
    heap: Heap,
    records: Vec<RecordId>,
    objects: Objects,
    oids: Vec<RecordId>,
    tree: Btree,
    index: Hash,
}

const FIELD: LinkField = LinkField::new(0, 16);

/// Whether a page of impossible content may be answered so.
const fn is_answer(error: &LodeError) -> bool {
    matches!(
        error,
        LodeError::Corrupt { .. }
            | LodeError::Missing { .. }
            | LodeError::TooLong { .. }
            | LodeError::Exists { .. }
            | LodeError::Full { .. }
    )
}

impl Small {
    fn new() -> Result<Self> {
        let tactics = "cache=1MiB&extent=4&swizzle=on".parse()?;
        let disks = (Arc::new(Memory::new()), Arc::new(Memory::new()));
        let database = Database::on(disks.0, disks.1, &tactics)?;
        let mut writing = database.writing();
        let pages = &mut writing;
        let heap = catalog::create(pages, "heap", FileKind::Heap)?.file;
        let heap = Heap::create(pages, heap)?;
        let objects = catalog::create(pages, "objects", FileKind::Objects)?.file;
        let objects = Objects::create(pages, objects)?;
        let tree = catalog::create(pages, "tree", FileKind::Btree)?.file;
        let tree = Btree::create(pages, tree)?;
        let index = catalog::create(pages, "index", FileKind::Hash)?.file;
        let index = Hash::open(Hash::create(pages, index)?);
        let (mut records, mut oids) = (Vec::new(), Vec::new());
        for number in 0..300_u32 {
            let bytes = vec![0; 32 + number as usize];
            if number % 8 == 0 {
                records.push(heap.insert(pages, &bytes, None)?);
                oids.push(objects.insert(pages, &bytes, None)?);
            }
            tree.insert(pages, &number.to_be_bytes(), &bytes[..number as usize % 90])?;
            index.insert(pages, u64::from(number), u64::from(number))?;
            index.insert(pages, 1_000, u64::from(number))?;
        }
        for &moved in records.iter().chain(&oids).step_by(5) {
            // Whichever of the two it is, the other says that there is none, or moves one, too.
            let _ = heap.update(pages, moved, &[0; 2_000]);
            let _ = objects.update(pages, moved, &[0; 2_000]);
        }
        let links = Links { parents: heap, children: heap, field: FIELD };
        for &child in &records[1..] {
            links.append(pages, records[0], child)?;
        }
        writing.commit()?;
        let pages_total = space::pages_total(&database.reading(), database.extent_pages())?;
        Ok(Self { database, pages_total, heap, records, objects, oids, tree, index })
    }

    /// Seven bytes for each change: a page, an offset, and four bytes that are written there. Then
    /// everything is read, changed and checked; `refused` hears of each error that says so.
    pub fn spoil_and_use(&self, bytes: &[u8], mut refused: impl FnMut(LodeError)) {
        let mut writing = self.database.writing();
        for change in bytes.chunks_exact(7).take(64) {
            let page = 2 + u32::from(change[0]) % (self.pages_total - 2);
            let at = usize::from(u16::from_le_bytes([change[1], change[2]])) % PAGE_BYTES;
            let at = at.clamp(16, PAGE_BYTES - 4);
            writing.write(page, |page| page.put(at, &change[3..])).expect("the page is there");
        }
        let mut ended = |outcome: Result<()>| {
            if let Err(error) = outcome {
                assert!(is_answer(&error), "{error}");
                refused(error);
            }
        };
        self.look(&writing, &mut ended);
        self.change(&mut writing, &mut ended);
        writing.rollback().expect("memory does not fail");
        // Nothing of it has stayed.
        self.look(&self.database.reading(), &mut |outcome| outcome.expect("it is whole"));
    }

    fn look(&self, pages: &impl PageRead, ended: &mut impl FnMut(Result<()>)) {
        let go_on = || Ok::<_, LodeError>(ControlFlow::<()>::Continue(()));
        let links = Links { parents: self.heap, children: self.heap, field: FIELD };
        ended(self.heap.scan(pages, |_, _| go_on()).map(drop));
        ended(self.heap.check(pages).map(drop));
        ended(self.objects.check(pages).map(drop));
        ended(links.check(pages, self.records[0]).map(drop));
        for &record in &self.records {
            ended(self.heap.get(pages, record).map(drop));
        }
        for &oid in &self.oids {
            ended(self.objects.get(pages, oid).map(drop));
            ended(self.objects.read_at(pages, Reference::to(oid), |_, _| ()));
        }
        ended(btree::check(pages, self.tree.root()).map(drop));
        ended(self.walk(pages));
        ended(self.index.check(pages).map(drop));
        ended(self.index.get(pages, 1_000, drop));
        for number in (0..300_u32).step_by(7) {
            ended(self.tree.get(pages, &number.to_be_bytes(), |_| ()).map(drop));
            ended(self.index.get_one(pages, number.into()).map(drop));
        }
        ended(space::usage(pages, self.database.extent_pages()).map(drop));
        ended(catalog::all(pages).map(drop));
    }

    fn walk(&self, pages: &impl PageRead) -> Result<()> {
        let mut cursor = self.tree.backwards(pages, ..)?;
        while cursor.entry()?.is_some() {}
        let mut cursor = self.tree.forwards(pages, ..)?;
        while cursor.entry()?.is_some() {}
        Ok(())
    }

    fn change(&self, pages: &mut Writing, ended: &mut impl FnMut(Result<()>)) {
        let links = Links { parents: self.heap, children: self.heap, field: FIELD };
        for (at, &record) in self.records.iter().enumerate().skip(1).step_by(5) {
            ended(links.unlink(pages, record).map(drop));
            ended(self.heap.update(pages, record, &vec![1; 32 + at * 70]));
            ended(links.append(pages, self.records[at - 1], record).map(drop));
        }
        for (at, &oid) in self.oids.iter().enumerate().step_by(5) {
            ended(self.objects.update(pages, oid, &vec![1; at * 80]));
            ended(self.objects.insert(pages, &vec![2; at * 9], Some(oid.page)).map(drop));
        }
        for number in (0..300_u32).step_by(3) {
            ended(self.tree.remove(pages, &number.to_be_bytes()).map(drop));
            ended(self.tree.put(pages, &number.to_le_bytes(), &[3; 40]).map(drop));
            ended(self.index.remove(pages, 1_000, number.into()).map(drop));
            ended(self.index.insert(pages, (number * 77).into(), 5));
        }
        ended(self.heap.destroy(pages));
        ended(self.index.destroy(pages));
        ended(catalog::create(pages, "new", FileKind::Heap).map(drop));
    }
}
