//! LMDB as a store of objects: one value for each part, its connections both ways in it.

use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use super::store::{CURSOR_OWN, Store, key};
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::lmdb::raw::{ENGINE, Table};
use crate::lmdb::tables::Shape;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::object::{self, NOBODY, Object};
use crate::oo1::part::Part;
use crate::oo1::visits::Visits;
use crate::tactics::{Address, Tactics};

/// LMDB with one value a part.
pub struct Objects {
    store: Store<1>,
    /// The part whose object the reader found last, within this transaction.
    last: u32,
    ids: Vec<u32>,
}

impl Objects {
    /// Open or create a file.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self::attach(Store::open(address, tactics, [(c"object", Shape::Single)])?))
    }

    fn attach(store: Store<1>) -> Self {
        Self { store, last: NOBODY, ids: Vec::new() }
    }

    const fn table(&self) -> Table {
        self.store.own[0]
    }

    #[inline]
    fn object(&mut self, id: u32) -> Result<Object<'_>, ClientError> {
        let table = self.table();
        let value = self.store.reader().get(table, &key(id))?;
        Object::of(ENGINE, value.ok_or_else(|| Self::missing(id))?)
    }

    /// Write an object anew; answers its build time before and after.
    fn change(
        &mut self,
        id: u32,
        change: impl FnOnce(Object<'_>) -> Vec<u8>,
    ) -> Result<(i64, i64), ClientError> {
        let table = self.table();
        let writer = self.store.writer()?;
        let value = writer.get(table, &key(id))?.ok_or_else(|| Self::missing(id))?;
        let object = Object::of(ENGINE, value)?;
        let before_s = object.build_s();
        let changed = change(object);
        writer.put(table, &key(id), &changed)?;
        Ok((before_s, Object::of(ENGINE, &changed)?.build_s()))
    }
}

impl Transactions for Objects {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.store.begin()
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.last = NOBODY;
        self.store.end();
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        self.last = NOBODY;
        self.store.begin_write()
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.store.commit()
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.store.rollback();
        Ok(())
    }
}

impl Driver for Objects {
    const ENGINE: &'static str = ENGINE;

    type Handle = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.begin_write()?;
        self.store.clear()?;
        let table = self.table();
        let store = &mut self.store;
        object::for_each(database, |id, value| {
            store.writer()?.put(table, &key(id), value)?;
            store.add_build(Object::of(ENGINE, value)?.build_s(), id)
        })?;
        self.commit()
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(Self::attach(self.store.another()?))
    }

    #[inline(always)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    #[inline(always)]
    fn read(&mut self, handle: u32) -> Result<Part, ClientError> {
        let table = self.table();
        self.last = NOBODY;
        let value = self.store.reader().find(table, &key(handle))?;
        let part = Object::of(ENGINE, value.ok_or_else(|| Self::missing(handle))?)?.part(handle);
        self.last = handle;
        Ok(part)
    }

    #[inline]
    fn links(
        &mut self,
        handle: u32,
        direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        if self.last != handle {
            self.read(handle)?;
        }
        let value = self.store.reader().found().ok_or_else(|| Self::missing(handle))?;
        Object::of(ENGINE, value)?.append_links(direction, out);
        Ok(())
    }

    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        out.extend(self.object(handle)?.to_in_order());
        Ok(())
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.store.built(&build_s, &mut ids)?;
        for &id in &ids {
            visits.part(&self.object(id)?.part(id));
        }
        self.ids = ids;
        Ok(())
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.store.reader().walk(CURSOR_OWN, &key(0), |_, value| {
            let part = Object::of(ENGINE, value)?.part(0);
            visits.point(part.x, part.y);
            Ok(true)
        })
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        if !self.object(from)?.to().contains(&to) {
            return Err(Self::missing(to));
        }
        Ok(self.object(to)?.part(to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        self.object(id)?.links(id).iter().for_each(|link| visits.link(link));
        Ok(())
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        let id = new.part.id;
        let table = self.table();
        let value = object::encode(&new.part, &new.to, &[]);
        self.store.writer()?.put(table, &key(id), &value)?;
        self.store.add_build(new.part.build_s, id)?;
        for to in &new.to {
            self.change(to.to, |object| object.with_from(id))?;
        }
        Ok(())
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        let (before_s, after_s) = self.change(id, |object| object.turned(build_sum_s))?;
        self.store.remove_build(before_s, id)?;
        self.store.add_build(after_s, id)
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        let table = self.table();
        for id in ids.clone() {
            let value = self.store.writer()?.get(table, &key(id))?;
            let object = Object::of(ENGINE, value.ok_or_else(|| Self::missing(id))?)?;
            let (to, build_s) = (object.to(), object.build_s());
            for to in to.into_iter().filter(|to| !ids.contains(to)) {
                self.change(to, |object| object.without_from(&ids))?;
            }
            self.store.remove_build(build_s, id)?;
        }
        for id in ids {
            self.store.writer()?.remove(table, &key(id), None)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    fn empty(&mut self) -> Result<(), ClientError> {
        self.store.empty()
    }

    fn constant(&mut self) -> Result<i32, ClientError> {
        self.store.constant()
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        self.store.size_bytes()
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        self.store.terms()
    }
}
