//! The contract between the loops and an engine: one implementation per engine, in a file of its
//! name.

use std::ops::{Range, RangeInclusive};

use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo1::part::Part;
use crate::oo1::visits::Visits;
use loadstone_datasets::oo1::{Database, NewPart};

/// Largest x, y and length: an update turns values over by taking them from it.
pub const X_MAX: i32 = 99_999;

/// Which way a connection is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a part to the three that it is connected to.
    Forward,
    /// From a part to those that are connected to it.
    Reverse,
}

/// An engine as the calling program sees it. Every call is one interaction of OO1: program code
/// runs between any two.
///
/// A driver is opened on an address, before or after the load, and makes what it needs to be fast
/// (prepared statements) once, outside every clock.
pub trait Driver: Transactions {
    /// The engine's name, as [`crate::engines`] knows it.
    const ENGINE: &'static str;

    /// The way in which this engine names a part that the program reached: an id, an address. It
    /// holds until the next [`Transactions::end`], [`Transactions::commit`] or [`Driver::load`].
    type Handle: Copy;

    /// Create the database in place of any other: parts, connections, every access path that the
    /// measures use, durable at return.
    fn load(&mut self, database: &Database) -> Result<(), ClientError>;

    /// Another driver of the same database with the same tactics, for another thread.
    fn another(&self) -> Result<Self, ClientError>;

    /// A part by its id.
    fn find(&mut self, id: u32) -> Result<(Self::Handle, Part), ClientError>;

    /// The part that a handle names: one call for each visit.
    fn read(&mut self, handle: Self::Handle) -> Result<Part, ClientError>;

    /// Append the parts at the other ends of a part's connections, repeated ones repeated, in any
    /// order. The loops ask right after `find` or `read` of the same part, so that a driver may
    /// keep the last object that it fetched.
    fn links(
        &mut self,
        handle: Self::Handle,
        direction: Direction,
        out: &mut Vec<Self::Handle>,
    ) -> Result<(), ClientError>;

    /// Visit the parts of a traversal below a part that `find` or `read` gave, every path and in
    /// any order, to [`Visits::part`] one by one; answers how often the engine gave one. `None`
    /// where the engine follows no links by itself, so that the loops follow them.
    fn walk(
        &mut self,
        _from: Self::Handle,
        _depth: u32,
        _direction: Direction,
        _visits: &mut Visits,
    ) -> Option<Result<u64, ClientError>> {
        None
    }

    /// As [`Driver::links`], forward, in ascending (length, to).
    fn links_in_order(
        &mut self,
        handle: Self::Handle,
        out: &mut Vec<Self::Handle>,
    ) -> Result<(), ClientError>;

    /// The parts with a build time in `build_s`, to [`Visits::part`].
    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError>;

    /// x and y of all parts, to [`Visits::point`].
    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError>;

    /// The part that the connection `from` → `to` leads to, by way of that connection, once even
    /// if the connection is a repeated one; [`ClientError::Missing`] where there is none.
    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError>;

    /// The three connections of a part, to [`Visits::link`].
    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError>;

    /// A new part and its three connections, all access paths maintained. Not durable before
    /// [`Transactions::commit`].
    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError>;

    /// Turn a part's place and build time over: x and y become 99,999 less themselves, build
    /// becomes `build_sum_s` less itself; twice is as before. All access paths maintained.
    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError>;

    /// Delete the parts of these ids with the connections that leave them, which are all that
    /// touch them.
    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError>;

    /// The parts of these ids, in one call, repeated ones repeated.
    fn find_batch(&mut self, _ids: &[u32], _visits: &mut Visits) -> Result<(), ClientError> {
        Err(Self::unsupported("batch look-up", "it takes one key at a time"))
    }

    /// A traversal of that depth in one call (or one a level, as the tactics say), every path
    /// counted, the start included.
    fn traverse_batch(
        &mut self,
        _start: u32,
        _depth: u32,
        _direction: Direction,
        _visits: &mut Visits,
    ) -> Result<(), ClientError> {
        Err(Self::unsupported("batch traversal", "it has no query language"))
    }

    /// The ladder's first rung: a call that reaches the driver and goes no further.
    fn nothing(&mut self) -> Result<(), ClientError>;

    /// The second rung: the least that the engine itself can be asked, nothing fetched.
    fn empty(&mut self) -> Result<(), ClientError> {
        Err(Self::unsupported("empty statement", "it has no statements"))
    }

    /// The third rung: a constant fetched from the engine.
    fn constant(&mut self) -> Result<i32, ClientError> {
        Err(Self::unsupported("constant", "it has no statements"))
    }

    /// Bytes that the database takes where it is kept, log included.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms, read back from it: version, durability, indexes, what a read transaction
    /// spans; and each tactic of this program under its own name, found out by what is done
    /// ([`crate::oo1::habits`]) or by what lies in the database, never from what was asked. Of an
    /// empty database the latter are left out.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;

    /// A part that the engine does not have.
    fn missing(id: u32) -> ClientError {
        ClientError::Missing { engine: Self::ENGINE, id }
    }

    /// A gap, with its reason.
    fn unsupported(what: &'static str, reason: &'static str) -> ClientError {
        ClientError::Unsupported { engine: Self::ENGINE, what, reason }
    }
}
