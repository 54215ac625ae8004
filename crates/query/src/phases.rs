//! The phases of a statement, and the time that each took.

use loadstone_measure::clock::now_ns;

use crate::plan::Sink;

/// Nanoseconds of statements by phase. Each reading of the clock ends one phase and begins the
/// next, so that they add up to the time between the call and the last row, but for making rows
/// what the caller's language has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Finding the text among those that are kept, or reading it.
    pub reading_ns: u64,
    /// Beginning a transaction, and reading the catalog.
    pub beginning_ns: u64,
    /// Checking and planning, or finding a plan that was made.
    pub planning_ns: u64,
    /// Pipelines into hash tables.
    pub tables_ns: u64,
    /// Pipelines into aggregations.
    pub aggregations_ns: u64,
    /// Pipelines into temporary relations, with the sorting of those that are sorted.
    pub temporaries_ns: u64,
    /// Pipelines whose rows are for the client.
    pub rows_ns: u64,
    /// Pipelines whose rows are stored, appended, replaced or deleted, indexes included.
    pub changing_ns: u64,
    /// Making relations and structures without a pipeline, and removing them.
    pub defining_ns: u64,
    /// Ending the transaction: its log, and the wait for the disk.
    pub committing_ns: u64,
}

impl Phases {
    /// Count another's time in.
    pub fn add(&mut self, other: &Self) {
        for ((_, ns), (_, more)) in self.named_mut().into_iter().zip(other.named()) {
            *ns += more;
        }
    }

    /// Each phase by its name.
    pub fn named(&self) -> [(&'static str, u64); 10] {
        let mut copy = *self;
        copy.named_mut().map(|(name, ns)| (name, *ns))
    }

    fn named_mut(&mut self) -> [(&'static str, &mut u64); 10] {
        [
            ("reading", &mut self.reading_ns),
            ("beginning", &mut self.beginning_ns),
            ("planning", &mut self.planning_ns),
            ("hash tables", &mut self.tables_ns),
            ("aggregations", &mut self.aggregations_ns),
            ("temporary relations", &mut self.temporaries_ns),
            ("rows", &mut self.rows_ns),
            ("changing", &mut self.changing_ns),
            ("defining", &mut self.defining_ns),
            ("committing", &mut self.committing_ns),
        ]
    }

    /// The phase of a pipeline with that sink.
    pub fn of_sink(&mut self, sink: &Sink) -> &mut u64 {
        match sink {
            Sink::Build { .. } => &mut self.tables_ns,
            Sink::Aggregate { .. } => &mut self.aggregations_ns,
            Sink::Materialise { .. } | Sink::Sort { .. } => &mut self.temporaries_ns,
            Sink::Rows(_) => &mut self.rows_ns,
            Sink::Store { .. }
            | Sink::Append { .. }
            | Sink::Replace { .. }
            | Sink::Delete { .. } => &mut self.changing_ns,
        }
    }
}

/// A clock that is read once between two phases.
#[derive(Debug)]
pub struct Lap(u64);

impl Lap {
    /// Begin the first phase.
    pub fn begin() -> Self {
        Self(now_ns())
    }

    /// Nanoseconds of the phase that ends now; the next begins.
    pub fn end(&mut self) -> u64 {
        let now = now_ns();
        now - std::mem::replace(&mut self.0, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_added_and_named() {
        let one = Phases {
            reading_ns: 1,
            beginning_ns: 2,
            planning_ns: 3,
            tables_ns: 4,
            aggregations_ns: 5,
            temporaries_ns: 6,
            rows_ns: 7,
            changing_ns: 8,
            defining_ns: 9,
            committing_ns: 10,
        };
        let mut two = one;
        two.add(&one);
        let counted = two.named().map(|(_, ns)| ns);
        assert_eq!(counted, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    }
}
