//! The walk down the tree of assemblies, and through the graph of each composite part.

use crate::error::ClientError;
use crate::oo7::driver::Driver;
use crate::oo7::visits::Visits;

/// A program on its way through the database, and the calls that it made.
pub struct Walk<'a, C: Driver> {
    pub driver: &'a mut C,
    /// Calls made into the driver.
    pub calls: u64,
    seen: Seen,
    links: Vec<C::Part>,
}

/// Atomic parts visited since a composite part was entered: the entry's number under each id.
#[derive(Default)]
struct Seen {
    entered: Vec<u32>,
    entry: u32,
}

impl Seen {
    /// Nothing is seen yet.
    fn enter(&mut self) {
        self.entry += 1;
    }

    /// Whether it is seen for the first time.
    #[inline]
    fn insert(&mut self, id: u32) -> bool {
        let place = id as usize;
        if place >= self.entered.len() {
            self.entered.resize(place + 1, 0);
        }
        let before = std::mem::replace(&mut self.entered[place], self.entry);
        before != self.entry
    }
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
            for base in bases.drain(..) {
                self.driver.components(base, &mut composites)?;
                for composite in composites.drain(..) {
                    at(self, composite)?;
                }
            }
        }
        Ok(())
    }

    /// Depth first along the connections from a composite part's root, each atomic part once. `at`
    /// is told whether a part is the root.
    pub fn graph(
        &mut self,
        composite: C::Composite,
        at: &mut impl FnMut(&mut Self, C::Part, bool) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let root = self.driver.root_part(composite)?;
        self.calls += 1;
        self.seen.enter();
        let id = self.driver.part_id(root)?;
        self.seen.insert(id);
        at(self, root, true)?;
        self.descend(root, at)
    }

    /// The links of the parts on the way stand one behind another.
    fn descend(
        &mut self,
        part: C::Part,
        at: &mut impl FnMut(&mut Self, C::Part, bool) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let first = self.links.len();
        self.driver.connected(part, &mut self.links)?;
        self.calls += 1;
        for place in first..self.links.len() {
            let next = self.links[place];
            let id = self.driver.part_id(next)?;
            if self.seen.insert(id) {
                at(self, next, false)?;
                self.descend(next, at)?;
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
        walk.components(module, |walk, composite| {
            walk.graph(composite, &mut |walk, part, _| {
                visits.part(&walk.driver.read(part)?);
                walk.calls += 1;
                Ok(())
            })
        })?;
    }
    Ok(walk.calls)
}
