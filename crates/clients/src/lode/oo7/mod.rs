//! OO7 on lode, `access=objects`: an object for each of the schema's, references both ways between
//! them, one hash index on ids, B-trees on dates and titles. A text lies in pieces, since it is
//! longer than a page.
//!
//! With `detect=sigsegv` or `kernel` the pages of the atomic parts are mapped as plain memory
//! before the first of them is changed, and what changes them are stores: see `plain`.

#[macro_use]
mod asking;
mod driver;
mod files;
mod load;
mod plain;
mod writing;

use loadstone_datasets::oo7::Database as Data;
use lode::Database;
use lode::internals::objects::Reference;
use lode::remote::Remote;
use lode::tactics::{Detect, Prefetch, ReadAhead};

use self::files::Files;
use self::plain::Plain;
use super::ENGINE;
use super::place::Place;
use super::store::Store;
use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::{Client, Program};
use crate::outcome::Logged;
use crate::tactics::{Address, Tactics};

/// A program with its files, which are created where there are none, or at a server.
pub fn open(
    address: &Address,
    mut tactics: Tactics,
    data: Data,
) -> Result<Box<dyn Client>, ClientError> {
    let places = [Database::NAME, Remote::NAME].map(|name| (name, name));
    if tactics.take("place", &places)? == Remote::NAME {
        return program(Lode::<Remote>::open(address, &mut tactics)?, tactics, data);
    }
    program(Lode::<Database>::open(address, &mut tactics)?, tactics, data)
}

fn program<P: Place>(
    driver: Lode<P>,
    tactics: Tactics,
    data: Data,
) -> Result<Box<dyn Client>, ClientError> {
    tactics.finish()?;
    Ok(Box::new(Program::new(driver, data)))
}

/// lode at one of its places.
pub struct Lode<P: Place> {
    reader: Option<P::Reader>,
    writer: Option<P::Writer>,
    files: Option<Files>,
    /// Atomic parts as plain memory, where stores are found.
    plain: Option<Plain>,
    /// Of the next composite parts, to be read ahead; `None` under `readahead=off`.
    expected: Option<Vec<Reference>>,
    store: Store<P>,
}

impl<P: Place> Lode<P> {
    /// Open the database that is there.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Self::attach(Store::<P>::open(address, tactics)?)
    }

    /// A database that is open already.
    fn attach(store: Store<P>) -> Result<Self, ClientError> {
        if store.database()?.tactics().prefetch == Prefetch::On {
            let (what, reason) = ("prefetch=on", "OO7's program goes along references by itself");
            return Err(ClientError::Unsupported { engine: ENGINE, what, reason });
        }
        let reader = P::reader(store.database()?);
        let files = Files::open(P::pages(&reader));
        drop(reader);
        let files = files.map_err(|failure| failure.reported("finding its files"))?;
        let finds = store.database()?.tactics().detect != Detect::Explicit;
        let plain = finds.then(Plain::default);
        let reads_ahead = store.database()?.tactics().read_ahead == ReadAhead::On;
        let expected = reads_ahead.then(Vec::new);
        Ok(Self { reader: None, writer: None, files, plain, expected, store })
    }
}

#[cold]
fn not_loaded() -> ClientError {
    ClientError::engine(ENGINE, "finding its files", "nothing was loaded: load it first")
}

#[cold]
fn not_begun() -> ClientError {
    ClientError::engine(ENGINE, "using it", "nothing was begun: begin to read or to write first")
}

impl<P: Place> Transactions for Lode<P> {
    fn begin(&mut self) -> Result<(), ClientError> {
        self.files.as_ref().ok_or_else(not_loaded)?;
        self.reader = Some(P::reader(self.store.database()?));
        Ok(())
    }

    fn end(&mut self) -> Result<(), ClientError> {
        self.reader = None;
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        // A read transaction of one's own would keep the write transaction from its locks.
        self.reader = None;
        self.rollback()?;
        self.writer = Some(P::writer(self.store.database()?));
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        self.end_mapping();
        let committed = self.writer.take().map_or(Ok(()), P::commit);
        committed.map_err(|error| ClientError::engine(ENGINE, "committing", error))
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        self.end_mapping();
        self.writer = None;
        Ok(())
    }

    fn logged(&self) -> Option<Logged> {
        self.store.database().ok().and_then(|database| database.logged())
    }
}
