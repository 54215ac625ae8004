//! The walk down the tree of assemblies, and through the graph of each composite part.

use crate::error::ClientError;
use crate::oo7::driver::Driver;
use crate::oo7::objects::Part;
use crate::oo7::visits::Visits;

/// A program on its way through the database, and the calls that it made.
pub struct Walk<'a, C: Driver> {
    pub driver: &'a mut C,
    /// Calls made into the driver.
    pub calls: u64,
    seen: Seen,
    links: Vec<C::Part>,
}

/// An atomic part that a walk came to.
pub struct Visited<P> {
    pub handle: P,
    pub part: Part,
    /// Whether the graph was entered there.
    pub is_root: bool,
}

/// Atomic parts visited since a composite part was entered: a table with open addressing, in which
/// what an earlier entry left is as good as empty.
struct Seen {
    /// Identities, and the entry in which each was put in.
    slots: Box<[(u64, u32)]>,
    entry: u32,
    /// Of this entry.
    count: usize,
}

/// Of the smallest table: four times the atomic parts of a composite part of the small database.
const SLOTS_MIN: usize = 128;

impl Default for Seen {
    fn default() -> Self {
        Self { slots: vec![(0, 0); SLOTS_MIN].into_boxed_slice(), entry: 0, count: 0 }
    }
}

impl Seen {
    /// Nothing is seen yet.
    fn enter(&mut self) {
        self.entry += 1;
        self.count = 0;
    }

    /// Whether it is seen for the first time.
    #[inline]
    fn insert(&mut self, identity: u64) -> bool {
        let last = self.slots.len() - 1;
        let mut place = hash(identity) as usize & last;
        loop {
            let (there, entry) = self.slots[place & last];
            if entry != self.entry {
                break;
            }
            if there == identity {
                return false;
            }
            place += 1;
        }
        self.slots[place & last] = (identity, self.entry);
        self.count += 1;
        if 2 * self.count > self.slots.len() {
            self.grow();
        }
        true
    }

    /// Twice as large, with what is seen in it.
    #[cold]
    fn grow(&mut self) {
        let larger = vec![(0, 0); 2 * self.slots.len()].into_boxed_slice();
        let slots = std::mem::replace(&mut self.slots, larger);
        self.count = 0;
        for (identity, entry) in slots {
            if entry == self.entry {
                self.insert(identity);
            }
        }
    }
}

/// Fibonacci hashing, the upper bits below: identities are ids in a row, or addresses.
#[inline]
const fn hash(identity: u64) -> u64 {
    identity.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

impl<'a, C: Driver> Walk<'a, C> {
    pub fn new(driver: &'a mut C) -> Self {
        Self { driver, calls: 0, seen: Seen::default(), links: Vec::with_capacity(1 << 10) }
    }

    /// Depth first through the tree of a module: each private component of each base assembly, as
    /// often as it is named.
    pub fn components(
        &mut self,
        module: u32,
        at: impl FnMut(&mut Self, C::Composite) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        self.tree(module, |_, _| Ok(()), at)
    }

    /// The same, and the whole graph of each; the driver is informed which come next.
    pub fn graphs(
        &mut self,
        module: u32,
        mut at: impl FnMut(&mut Self, &Visited<C::Part>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let expect = |driver: &mut C, bases: &[C::Base]| driver.expect_graphs(bases);
        self.tree(module, expect, |walk, composite| walk.graph(composite, &mut at))
    }

    fn tree(
        &mut self,
        module: u32,
        mut expect: impl FnMut(&mut C, &[C::Base]) -> Result<(), ClientError>,
        mut at: impl FnMut(&mut Self, C::Composite) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let mut complex = vec![self.driver.design_root(module)?];
        let (mut bases, mut composites) = (Vec::new(), Vec::new());
        self.calls += 1;
        while let Some(here) = complex.pop() {
            let first = complex.len();
            self.driver.subassemblies(here, &mut complex, &mut bases)?;
            self.calls += 1 + bases.len() as u64;
            complex[first..].reverse();
            expect(self.driver, &bases)?;
            for base in bases.drain(..) {
                self.driver.components(base, &mut composites)?;
                for composite in composites.drain(..) {
                    at(self, composite)?;
                }
            }
        }
        Ok(())
    }

    /// Depth first along the connections from a composite part's root, each atomic part once.
    pub fn graph(
        &mut self,
        composite: C::Composite,
        at: &mut impl FnMut(&mut Self, &Visited<C::Part>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let root = self.driver.root_part(composite)?;
        self.calls += 1;
        self.seen.enter();
        self.seen.insert(self.driver.identity(root));
        self.descend(root, true, at)
    }

    /// The links of the parts on the way stand one behind another.
    fn descend(
        &mut self,
        handle: C::Part,
        is_root: bool,
        at: &mut impl FnMut(&mut Self, &Visited<C::Part>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let first = self.links.len();
        let part = self.driver.follow(handle, &mut self.links)?;
        self.calls += 1;
        if is_root {
            self.driver.expect_parts(&self.links[first..])?;
        }
        at(self, &Visited { handle, part, is_root })?;
        for place in first..self.links.len() {
            let next = self.links[place];
            if self.seen.insert(self.driver.identity(next)) {
                self.descend(next, false, at)?;
            }
        }
        self.links.truncate(first);
        Ok(())
    }
}

/// All private components of some modules, each with its whole graph.
pub(super) fn t1<C: Driver>(
    driver: &mut C,
    modules: std::ops::RangeInclusive<u32>,
    visits: &mut Visits,
) -> Result<u64, ClientError> {
    let mut walk = Walk::new(driver);
    for module in modules {
        walk.graphs(module, |_, it| {
            visits.part(&it.part);
            Ok(())
        })?;
    }
    Ok(walk.calls)
}

#[cfg(test)]
mod tests {
    use super::{SLOTS_MIN, Seen};

    /// Ids in a row, and those of pages with slots, as engines have them; more than the table holds
    /// at first.
    #[test]
    fn each_is_seen_once_in_an_entry_whatever_its_identity() {
        let mut seen = Seen::default();
        for step in [1, 1 << 16, 1 << 32, 0x100_0001] {
            for _ in 0..3 {
                seen.enter();
                let all = (1..=2 * SLOTS_MIN as u64).map(|number| number * step);
                let first = all.clone().filter(|&one| seen.insert(one)).count();
                assert_eq!(
                    (first, all.filter(|&one| seen.insert(one)).count()),
                    (2 * SLOTS_MIN, 0)
                );
            }
        }
    }
}
