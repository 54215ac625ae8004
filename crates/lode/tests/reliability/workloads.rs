//! Scripts that lead access methods over their edges, a transaction at a time.

use lode::PageWrite;
use lode::internals::error::Result;

use crate::contents::Contents;
use crate::operations::{Changes, Operator, remove_range, take_many, unlink};

/// The number of transactions that each has.
pub const STEPS: usize = 6;

/// The changes of each step, within a transaction that sees the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Leaves are cut, the root becomes an inner page, and leaves are joined again.
    TreeSplit,
    /// Buckets are divided and the directory doubled, until they merge.
    HashDoubling,
    /// Records outgrow their pages, move on, and come home.
    HeapMove,
    /// Objects grow from a few bytes to a page, are read by references, and go.
    ObjectGrowth,
    /// Children come, go and find other parents, while their records move.
    Links,
    /// Files give their pages back, which others take.
    Reuse,
    /// More new pages at once than the cache holds, in files that were made before and that give
    /// pages back.
    Load,
    /// A little of everything.
    Mixed,
}

impl Workload {
    pub const ALL: [Self; 8] = [
        Self::TreeSplit,
        Self::HashDoubling,
        Self::HeapMove,
        Self::ObjectGrowth,
        Self::Links,
        Self::Reuse,
        Self::Load,
        Self::Mixed,
    ];

    /// A step; the contents see what it does.
    pub fn play(
        self,
        step: usize,
        operator: &mut Operator,
        pages: &mut impl PageWrite,
        now: &mut Contents,
        extent: u32,
    ) -> Result<()> {
        let rounds = match self {
            Self::TreeSplit | Self::HashDoubling => 2,
            Self::HeapMove | Self::ObjectGrowth | Self::Links => 6,
            Self::Reuse | Self::Load | Self::Mixed => 4,
        };
        for round in 0..rounds {
            let changes = self.once(step, round, operator, pages, now, extent)?;
            for change in changes {
                now.apply(change);
            }
        }
        Ok(())
    }

    fn once(
        self,
        step: usize,
        round: usize,
        operator: &mut Operator,
        pages: &mut impl PageWrite,
        now: &Contents,
        extent: u32,
    ) -> Result<Changes> {
        match self {
            Self::TreeSplit if step < 4 => operator.put_many(pages, now),
            Self::TreeSplit => remove_range(pages, now, &[0, 0, 0, round as u8 * 40]),
            Self::HashDoubling if step < 4 => operator.insert_many(pages, now),
            Self::HashDoubling => take_many(pages, now, step as u64),
            Self::HeapMove => operator.record(pages, now),
            Self::ObjectGrowth => operator.object(pages, now),
            Self::Links if step == 0 => operator.new_node(pages, now),
            Self::Links if step == 1 => {
                let parent = now.nodes.first_key_value().expect("there are some");
                let child = now.nodes.iter().nth(round).expect("there are some");
                operator.link(pages, now, (*parent.0, parent.1), (*child.0, child.1))
            }
            Self::Links if step == 2 => match now.nodes.keys().nth(round) {
                Some(&child) => unlink(pages, now, child),
                None => Ok(Changes::new()),
            },
            Self::Links => operator.node(pages, now),
            Self::Reuse if round.is_multiple_of(2) => operator.rebuild(pages, now, extent),
            Self::Reuse => match step % 3 {
                0 => operator.put_many(pages, now),
                1 => operator.record(pages, now),
                _ => operator.insert_many(pages, now),
            },
            Self::Load => match (step + round) % 4 {
                0 | 1 => operator.append_records(pages, now, 40),
                2 => operator.put_many(pages, now),
                _ => operator.rebuild(pages, now, extent),
            },
            Self::Mixed => operator.operate(pages, now, extent),
        }
    }
}
