//! The operations of several users: their answers, executed by one, and the contents that any
//! number of them leave.

use loadstone_datasets::oo7::tree;

use super::{Changed, Oracle};
use crate::oo7::asked::MODULE;
use crate::oo7::measure::{Change, Components, Extent, Measure, Visit};
use crate::oo7::objects::Assembly;
use crate::oo7::visits::Visits;

impl Oracle {
    /// The base assembly that an iteration of the operations of several users comes to: children
    /// were made one after another, each with all below it.
    fn base_on_path(&self, iteration: u32) -> usize {
        let mut here = (MODULE - 1) * tree::COMPLEX + 1;
        let path = self.database.path(iteration);
        let (last, way) = path.split_last().expect("a tree has levels");
        for &child in way {
            let below = |(assembly, parent): &&(Assembly, Option<u32>)| {
                (*parent == Some(here)).then_some(assembly.object.id)
            };
            let mut children = self.complex.iter().filter_map(|one| below(&one));
            here = children.nth(child as usize).expect("a complex assembly has three children");
        }
        let mut children = (0..).zip(&self.bases).filter(|(_, (_, parent))| *parent == here);
        children.nth(*last as usize).expect("the last complex assembly has three bases").0
    }

    fn components(&self, base: usize, components: Components) -> &[u32] {
        match components {
            Components::Private => &self.private[base],
            Components::Shared => &self.shared[base],
        }
    }

    /// An operation of several users, executed by one.
    pub(super) fn visited(&self, visit: Visit, iteration: u32) -> Visits {
        let base = self.base_on_path(iteration);
        let mut visits = Visits::default();
        for &composite in visit.reads.iter().flat_map(|&kind| self.components(base, kind)) {
            self.graph(composite).iter().for_each(|&id| visits.part(&self.part(id)));
        }
        let Some(changes) = visit.changes else { return visits };
        let composites = self.components(base, changes).iter().copied();
        self.updated_in(composites, Change::Swap, Extent::Each, visits)
    }

    /// Count and checksum of the whole database after these transactions of several users, in any
    /// order: each swap is its own inverse.
    pub fn after(&self, transactions: &[(Measure, u32)]) -> (u64, u64) {
        let mut changed = Changed::new();
        for &(measure, iteration) in transactions {
            let Some(kind) = measure.visit().and_then(|visit| visit.changes) else { continue };
            for &composite in self.components(self.base_on_path(iteration), kind) {
                for id in self.graph(composite) {
                    let part = changed.entry(id).or_insert_with(|| self.part(id));
                    (part.x, part.y) = (part.y, part.x);
                }
            }
        }
        let Visits { count, checksum } = *self.contents_with(&changed, |_| {}).visits();
        (count, checksum)
    }
}
