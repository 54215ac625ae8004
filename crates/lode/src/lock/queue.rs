//! The holders of one lock, and the transactions that wait for it.

use std::collections::VecDeque;

use super::{Mode, TransactionNumber};

/// A lock that a transaction holds or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) transaction: TransactionNumber,
    pub(super) mode: Mode,
}

impl Claim {
    /// Whether both cannot be held at once.
    fn excludes(self, other: Self) -> bool {
        let shared = self.mode == Mode::Shared && other.mode == Mode::Shared;
        !shared && self.transaction != other.transaction
    }
}

/// The claims on one thing. First come, first served; but who holds it shared and wants it
/// exclusive goes to the front, because nobody before it could be served anyway.
#[derive(Debug, Default)]
pub(super) struct Queue {
    holders: Vec<Claim>,
    line: VecDeque<Claim>,
}

impl Queue {
    /// Take it at once, if that is fair.
    pub(super) fn take(&mut self, claim: Claim) -> bool {
        let Some(mode_of) = self.mode_of(claim.transaction) else {
            let free = self.line.is_empty() && self.compatible(claim);
            if free {
                self.holders.push(claim);
            }
            return free;
        };
        if mode_of >= claim.mode {
            return true;
        }
        let free = self.compatible(claim);
        if free {
            self.hold(claim);
        }
        free
    }

    /// Get in line.
    pub(super) fn wait(&mut self, claim: Claim) {
        if self.mode_of(claim.transaction).is_some() {
            self.line.push_front(claim);
        } else {
            self.line.push_back(claim);
        }
    }

    /// Leave the line.
    pub(super) fn give_up(&mut self, transaction: TransactionNumber) {
        self.line.retain(|claim| claim.transaction != transaction);
    }

    /// Give it back.
    pub(super) fn release(&mut self, transaction: TransactionNumber) {
        self.holders.retain(|claim| claim.transaction != transaction);
    }

    /// Serve the front of the line as long as that is possible; who was served.
    pub(super) fn serve(&mut self) -> Vec<TransactionNumber> {
        let mut served = Vec::new();
        while let Some(&claim) = self.line.front() {
            if !self.compatible(claim) {
                break;
            }
            self.line.pop_front();
            self.hold(claim);
            served.push(claim.transaction);
        }
        served
    }

    /// For whom a transaction in line waits: holders, and those before it, that exclude it.
    pub(super) fn blockers(&self, transaction: TransactionNumber) -> Vec<TransactionNumber> {
        let Some(place) = self.line.iter().position(|claim| claim.transaction == transaction)
        else {
            return Vec::new();
        };
        let mine = self.line[place];
        let before = self.holders.iter().chain(self.line.iter().take(place));
        before.filter(|claim| claim.excludes(mine)).map(|claim| claim.transaction).collect()
    }

    /// Nobody claims it.
    pub(super) fn is_empty(&self) -> bool {
        self.holders.is_empty() && self.line.is_empty()
    }

    fn mode_of(&self, transaction: TransactionNumber) -> Option<Mode> {
        let claim = self.holders.iter().find(|claim| claim.transaction == transaction)?;
        Some(claim.mode)
    }

    fn compatible(&self, claim: Claim) -> bool {
        !self.holders.iter().any(|holder| holder.excludes(claim))
    }

    fn hold(&mut self, claim: Claim) {
        match self.holders.iter_mut().find(|holder| holder.transaction == claim.transaction) {
            Some(holder) => holder.mode = claim.mode,
            None => self.holders.push(claim),
        }
    }
}
