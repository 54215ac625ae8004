//! Plain structs on the heap, joined by pointers, found by a hash map: what a program without any
//! database does, and so the limit of what one can do with one. Lost when closed.
//!
//! The tactic `prefetch` is lode's, so that both can be compared with their like: with `on`, the
//! processor prefetches all nodes that one leads to before the first of them is read. The driver
//! is compiled for either.
//!
//! The only unsafe code is the pointers' own: a node is freed when the database is, never before,
//! so a pointer that this file made is good for as long as its driver.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::ptr::NonNull;

use loadstone_datasets::oo1::{Connection, Database, NewPart, Part as Row};
use rustc_hash::FxHashMap;

use crate::clocked::NoTransactions;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver, X_MAX};
use crate::oo1::part::{Kind, Link, Part};
use crate::oo1::visits::Visits;
use crate::tactics::{Address, Tactics};

/// A part with its connections, as a program would have it. What a traversal touches comes first
/// and lies in one cache line.
#[repr(C, align(64))]
struct Node {
    part: Part,
    to: [NonNull<Node>; 3],
    from: Vec<NonNull<Node>>,
    lengths: [i32; 3],
    kinds: [Kind; 3],
    build_s: i64,
}

/// A part that was reached. Only this file makes one, of a node of its own, or looks into it.
#[derive(Debug, Clone, Copy)]
pub struct Handle(NonNull<Node>);

/// The choices of the tactic, the default first.
pub const PREFETCH: [(&str, bool); 2] = [("off", false), ("on", true)];

const ELSEWHERE: &str = "it requires an x86-64 processor, and this is another";

/// Parts by id and by build time.
#[derive(Default)]
pub struct Memory<const PREFETCHES: bool> {
    by_id: FxHashMap<u32, NonNull<Node>>,
    by_build: BTreeSet<(i64, u32)>,
    removed: Vec<NonNull<Node>>,
    /// Nodes that the processor was requested.
    prefetches: u64,
}

#[expect(unsafe_code, reason = "a thread owns its whole graph")]
// SAFETY: no pointer leaves the crate, and all of them lead to nodes of this very value.
unsafe impl<const PREFETCHES: bool> Send for Memory<PREFETCHES> {}

impl<const PREFETCHES: bool> Memory<PREFETCHES> {
    /// An empty database.
    pub fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        if PREFETCHES && !cfg!(target_arch = "x86_64") {
            return Err(Self::unsupported("prefetch=on", ELSEWHERE));
        }
        Ok(Self::default())
    }

    /// Ask the processor for what a traversal touches of these nodes.
    #[inline]
    fn prefetch(&mut self, nodes: &[Handle]) {
        for node in nodes {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "an instruction of the processor's")]
            // SAFETY: a prefetch has no effect but on time, whatever the address.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(node.0.as_ptr().cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = node;
        }
        self.prefetches += nodes.len() as u64;
    }

    /// The tactic, found out by having links followed; `None` where there are none yet.
    fn seen_prefetch(&mut self) -> Result<Option<&'static str>, ClientError> {
        let Some(&node) = self.by_id.values().next() else { return Ok(None) };
        let before = self.prefetches;
        self.links(Handle(node), Direction::Forward, &mut Vec::new())?;
        Ok(Some(if self.prefetches > before { "on" } else { "off" }))
    }

    #[inline]
    #[expect(clippy::unused_self, reason = "it ties the borrow to the owner of the node")]
    fn node(&self, handle: NonNull<Node>) -> &Node {
        #[expect(unsafe_code, reason = "heap pointers are this driver's point")]
        // SAFETY: nodes live until `self` is cleared, and change only through `&mut self`.
        unsafe {
            handle.as_ref()
        }
    }

    #[expect(clippy::unused_self, reason = "it ties the borrow to the owner of the node")]
    fn node_mut(&mut self, mut handle: NonNull<Node>) -> &mut Node {
        #[expect(unsafe_code, reason = "heap pointers are this driver's point")]
        // SAFETY: as in `node`; `&mut self` says that no other borrow of any node is alive.
        unsafe {
            handle.as_mut()
        }
    }

    #[inline]
    fn address(&self, id: u32) -> Result<NonNull<Node>, ClientError> {
        self.by_id.get(&id).copied().ok_or_else(|| Self::missing(id))
    }

    /// A node that is connected to itself until [`Self::connect`].
    fn add(&mut self, row: &Row) {
        let node = Box::new(Node {
            part: Part { id: row.id, x: row.x, y: row.y, kind: Kind::of(row.kind) },
            to: [NonNull::dangling(); 3],
            from: Vec::new(),
            lengths: [0; 3],
            kinds: [Kind::of(0); 3],
            build_s: row.build_s,
        });
        let handle = NonNull::from(Box::leak(node));
        self.node_mut(handle).to = [handle; 3];
        self.by_id.insert(row.id, handle);
        self.by_build.insert((row.build_s, row.id));
    }

    fn connect(&mut self, place: usize, connection: &Connection) -> Result<(), ClientError> {
        let (from, to) = (self.address(connection.from)?, self.address(connection.to)?);
        let node = self.node_mut(from);
        node.to[place] = to;
        node.lengths[place] = connection.length;
        node.kinds[place] = Kind::of(connection.kind);
        self.node_mut(to).from.push(from);
        Ok(())
    }

    fn clear(&mut self) {
        self.by_build.clear();
        let kept = self.by_id.drain().map(|(_, handle)| handle);
        for handle in kept.chain(self.removed.drain(..)) {
            #[expect(unsafe_code, reason = "heap pointers are this driver's point")]
            // SAFETY: `add` leaked this box, and each pointer stands in one of the two lists once.
            drop(unsafe { Box::from_raw(handle.as_ptr()) });
        }
    }
}

impl<const PREFETCHES: bool> Drop for Memory<PREFETCHES> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<const PREFETCHES: bool> NoTransactions for Memory<PREFETCHES> {}

impl<const PREFETCHES: bool> Driver for Memory<PREFETCHES> {
    const ENGINE: &'static str = "memory";

    type Handle = Handle;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.clear();
        database.part_range(1..database.parts + 1).for_each(|row| self.add(&row));
        let numbers = 0..database.connection_count();
        for (number, connection) in database.connection_range(numbers).enumerate() {
            self.connect(number % 3, &connection)?;
        }
        Ok(())
    }

    fn another(&self) -> Result<Self, ClientError> {
        Err(Self::unsupported("second user", "plain structs have no concurrency control"))
    }

    #[inline]
    fn find(&mut self, id: u32) -> Result<(Self::Handle, Part), ClientError> {
        let handle = self.address(id)?;
        Ok((Handle(handle), self.node(handle).part))
    }

    #[inline]
    fn read(&mut self, handle: Self::Handle) -> Result<Part, ClientError> {
        Ok(self.node(handle.0).part)
    }

    #[inline]
    fn links(
        &mut self,
        handle: Self::Handle,
        direction: Direction,
        out: &mut Vec<Self::Handle>,
    ) -> Result<(), ClientError> {
        let (node, first) = (self.node(handle.0), out.len());
        match direction {
            Direction::Forward => out.extend(node.to.map(Handle)),
            Direction::Reverse => out.extend(node.from.iter().copied().map(Handle)),
        }
        if PREFETCHES {
            self.prefetch(&out[first..]);
        }
        Ok(())
    }

    fn links_in_order(
        &mut self,
        handle: Self::Handle,
        out: &mut Vec<Self::Handle>,
    ) -> Result<(), ClientError> {
        let node = self.node(handle.0);
        let mut places = [0, 1, 2];
        places.sort_unstable_by_key(|&at| (node.lengths[at], self.node(node.to[at]).part.id));
        out.extend(places.map(|at| Handle(node.to[at])));
        Ok(())
    }

    fn range(&mut self, build_s: Range<i64>, visits: &mut Visits) -> Result<(), ClientError> {
        for &(_, id) in self.by_build.range((build_s.start, 0)..(build_s.end, 0)) {
            visits.part(&self.node(self.address(id)?).part);
        }
        Ok(())
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        for &handle in self.by_id.values() {
            let part = &self.node(handle).part;
            visits.point(part.x, part.y);
        }
        Ok(())
    }

    fn reference(&mut self, from: u32, to: u32) -> Result<Part, ClientError> {
        let node = self.node(self.address(from)?);
        let parts = node.to.iter().map(|&handle| self.node(handle).part);
        parts.into_iter().find(|part| part.id == to).ok_or_else(|| Self::missing(to))
    }

    fn group(&mut self, id: u32, visits: &mut Visits) -> Result<(), ClientError> {
        let node = self.node(self.address(id)?);
        for at in 0..3 {
            let to = self.node(node.to[at]).part.id;
            visits.link(&Link { from: id, to, length: node.lengths[at], kind: node.kinds[at] });
        }
        Ok(())
    }

    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        self.add(&new.part);
        new.to.iter().enumerate().try_for_each(|(place, to)| self.connect(place, to))
    }

    fn update(&mut self, id: u32, build_sum_s: i64) -> Result<(), ClientError> {
        let handle = self.address(id)?;
        let node = self.node_mut(handle);
        let before_s = node.build_s;
        node.part.x = X_MAX - node.part.x;
        node.part.y = X_MAX - node.part.y;
        node.build_s = build_sum_s - before_s;
        self.by_build.remove(&(before_s, id));
        self.by_build.insert((build_sum_s - before_s, id));
        Ok(())
    }

    fn remove(&mut self, ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        for id in ids {
            let handle = self.by_id.remove(&id).ok_or_else(|| Self::missing(id))?;
            let node = self.node(handle);
            let (targets, build_s) = (node.to, node.build_s);
            for target in targets {
                self.node_mut(target).from.retain(|&from| from != handle);
            }
            self.by_build.remove(&(build_s, id));
            self.removed.push(handle);
        }
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        std::hint::black_box(self);
        Ok(())
    }

    /// Of the nodes and of what stands in the indexes, without the allocator's and the tables' own.
    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        let nodes = self.by_id.len() * (size_of::<Node>() + size_of::<(u32, NonNull<Node>)>());
        let links: usize = self.by_id.values().map(|&at| self.node(at).from.capacity()).sum();
        let builds = self.by_build.len() * size_of::<(i64, u32)>();
        Ok((nodes + links * size_of::<NonNull<Node>>() + builds) as u64)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let terms = [
            ("durability", "none: the structs are lost when the program ends"),
            ("transactions", "none: no rollback, one user"),
            ("access", "pointers; hash map on id, B-tree on build"),
        ];
        let prefetch = self.seen_prefetch()?.map(|value| ("prefetch", value));
        let terms = terms.into_iter().chain(prefetch);
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}
