//! Whether a history of lists is strictly serializable.
//!
//! Transactions append values, each of which is appended once only, to lists under keys, and read
//! whole lists. So what was read shows in which order the values came, and with it who came before
//! whom (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
//! Observations", VLDB 2020). What is looked for is Adya's ("Weak Consistency", MIT 1999): G0, G1a,
//! G1b, G1c, G-single and G2-item; and cycles that only close in real time.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// One thing that a transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Append { key: usize, value: u64 },
    Read { key: usize, values: Vec<u64> },
}

/// The way in which a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    Aborted,
}

/// A transaction, as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Moments that count up over the whole history: before its first operation, after its end.
    pub began: u64,
    pub ended: u64,
    pub outcome: Outcome,
    pub operations: Vec<Operation>,
}

/// An anomaly of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    pub kind: Kind,
    /// The transactions concerned: of a cycle all, in order.
    pub transactions: Vec<usize>,
}

/// The kinds, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A value is there twice, or nobody appended it.
    Garbage,
    /// A read does not show what its own transaction did before.
    Internal,
    /// Two reads of one list agree in no order of its values.
    IncompatibleOrder,
    /// A committed write is not there at the end.
    LostWrite,
    /// A write that was taken back was read.
    G1a,
    /// A write that was there only in the middle of a transaction was read.
    G1b,
    /// A cycle of writes over writes.
    G0,
    /// A cycle of these and of reads of what was written.
    G1c,
    /// A cycle with one read of what another has written over.
    GSingle,
    /// A cycle with several of these.
    G2Item,
    /// A cycle that closes because somebody had ended before another began.
    RealTime,
}

/// Why one transaction comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Edge {
    WriteWrite,
    WriteRead,
    ReadWrite,
    RealTime,
}

/// The worst that is wrong with a history, of which the last transaction has read all lists when
/// all others had ended.
pub fn check(history: &[Transaction]) -> Option<Anomaly> {
    let lists = match Lists::of(history) {
        Ok(lists) => lists,
        Err(anomaly) => return Some(anomaly),
    };
    let plain = [internal, aborted_read, intermediate_read, lost_write];
    let found = plain.into_iter().find_map(|inspect| inspect(history, &lists));
    found.or_else(|| Graph::of(history, &lists).cycle())
}

/// The order of each list's values, and who appended each.
struct Lists {
    orders: BTreeMap<usize, Vec<u64>>,
    writers: HashMap<u64, usize>,
}

impl Lists {
    fn of(history: &[Transaction]) -> Result<Self, Anomaly> {
        let mut writers = HashMap::new();
        for (number, transaction) in history.iter().enumerate() {
            for operation in &transaction.operations {
                if let Operation::Append { value, .. } = operation {
                    assert!(writers.insert(*value, number).is_none(), "a value is appended once");
                }
            }
        }
        let mut longest: BTreeMap<usize, (usize, &[u64])> = BTreeMap::new();
        for (number, key, values) in reads(history) {
            let unknown = values.iter().any(|value| !writers.contains_key(value));
            let different: HashSet<&u64> = values.iter().collect();
            if unknown || different.len() < values.len() {
                return Err(Anomaly { kind: Kind::Garbage, transactions: vec![number] });
            }
            let known = longest.entry(key).or_insert((number, values));
            let (shorter, longer) =
                if values.len() > known.1.len() { (known.1, values) } else { (values, known.1) };
            if !longer.starts_with(shorter) {
                let transactions = vec![known.0, number];
                return Err(Anomaly { kind: Kind::IncompatibleOrder, transactions });
            }
            if values.len() > known.1.len() {
                *known = (number, values);
            }
        }
        let orders = longest.into_iter().map(|(key, (_, values))| (key, values.to_vec()));
        Ok(Self { orders: orders.collect(), writers })
    }
}

/// The reads of committed transactions; others were reported nothing.
fn reads(history: &[Transaction]) -> impl Iterator<Item = (usize, usize, &[u64])> {
    let committed = history.iter().enumerate().filter(|(_, one)| one.outcome == Outcome::Committed);
    committed.flat_map(|(number, one)| {
        one.operations.iter().filter_map(move |operation| match operation {
            Operation::Read { key, values } => Some((number, *key, values.as_slice())),
            Operation::Append { .. } => None,
        })
    })
}

fn internal(history: &[Transaction], _: &Lists) -> Option<Anomaly> {
    let wrong = history.iter().position(|transaction| {
        // The known content of each list, and the values appended to it before it was known.
        let mut known: HashMap<usize, Vec<u64>> = HashMap::new();
        let mut appended: HashMap<usize, Vec<u64>> = HashMap::new();
        transaction.operations.iter().any(|operation| match operation {
            Operation::Append { key, value } => {
                match known.get_mut(key) {
                    Some(values) => values.push(*value),
                    None => appended.entry(*key).or_default().push(*value),
                }
                false
            }
            Operation::Read { key, values } => {
                let is_wrong = match known.get(key) {
                    Some(known) => known != values,
                    None => appended.get(key).is_some_and(|own| !values.ends_with(own)),
                };
                known.insert(*key, values.clone());
                is_wrong
            }
        })
    });
    wrong.map(|number| Anomaly { kind: Kind::Internal, transactions: vec![number] })
}

fn aborted_read(history: &[Transaction], lists: &Lists) -> Option<Anomaly> {
    reads(history).find_map(|(number, _, values)| {
        let writers = values.iter().map(|value| lists.writers[value]);
        let mut aborted = writers.filter(|&writer| history[writer].outcome == Outcome::Aborted);
        let writer = aborted.next()?;
        Some(Anomaly { kind: Kind::G1a, transactions: vec![writer, number] })
    })
}

fn intermediate_read(history: &[Transaction], lists: &Lists) -> Option<Anomaly> {
    reads(history).find_map(|(number, key, values)| {
        let last = values.last()?;
        let writer = lists.writers[last];
        let is_half = writer != number && last_append(&history[writer], key) != Some(*last);
        is_half.then(|| Anomaly { kind: Kind::G1b, transactions: vec![writer, number] })
    })
}

fn last_append(transaction: &Transaction, of: usize) -> Option<u64> {
    transaction.operations.iter().rev().find_map(|operation| match operation {
        Operation::Append { key, value } if *key == of => Some(*value),
        _ => None,
    })
}

fn lost_write(history: &[Transaction], lists: &Lists) -> Option<Anomaly> {
    let there: HashSet<u64> = lists.orders.values().flatten().copied().collect();
    let lost = lists.writers.iter().find(|&(value, &writer)| {
        history[writer].outcome == Outcome::Committed && !there.contains(value)
    });
    lost.map(|(_, &writer)| Anomaly { kind: Kind::LostWrite, transactions: vec![writer] })
}

/// Which transaction comes before which.
struct Graph {
    edges: Vec<Vec<(usize, Edge)>>,
}

impl Graph {
    fn of(history: &[Transaction], lists: &Lists) -> Self {
        let mut graph = Self { edges: vec![Vec::new(); history.len()] };
        for order in lists.orders.values() {
            for pair in order.windows(2) {
                let [before, after] = [pair[0], pair[1]].map(|value| lists.writers[&value]);
                graph.add(before, after, Edge::WriteWrite);
            }
        }
        for (number, key, values) in reads(history) {
            if let Some(last) = values.last() {
                graph.add(lists.writers[last], number, Edge::WriteRead);
            }
            let following = lists.orders.get(&key).and_then(|order| order.get(values.len()));
            if let Some(next) = following {
                graph.add(number, lists.writers[next], Edge::ReadWrite);
            }
        }
        let committed = |number: &usize| history[*number].outcome == Outcome::Committed;
        for before in (0..history.len()).filter(committed) {
            for after in (0..history.len()).filter(committed) {
                if history[before].ended < history[after].began {
                    graph.add(before, after, Edge::RealTime);
                }
            }
        }
        graph
    }

    fn add(&mut self, before: usize, after: usize, edge: Edge) {
        if before != after && !self.edges[before].contains(&(after, edge)) {
            self.edges[before].push((after, edge));
        }
    }

    /// The worst cycle.
    fn cycle(&self) -> Option<Anomaly> {
        use Edge::{ReadWrite, RealTime, WriteRead, WriteWrite};
        let kinds: [(Kind, &[Edge], &[Edge]); 5] = [
            (Kind::G0, &[WriteWrite], &[WriteWrite]),
            (Kind::G1c, &[WriteRead], &[WriteWrite, WriteRead]),
            (Kind::GSingle, &[ReadWrite], &[WriteWrite, WriteRead]),
            (Kind::G2Item, &[ReadWrite], &[WriteWrite, WriteRead, ReadWrite]),
            (Kind::RealTime, &[RealTime], &[WriteWrite, WriteRead, ReadWrite, RealTime]),
        ];
        kinds.into_iter().find_map(|(kind, first, others)| {
            let transactions = self.cycle_with(first, others)?;
            Some(Anomaly { kind, transactions })
        })
    }

    /// A cycle of one edge of a kind, and others of some kinds.
    fn cycle_with(&self, first: &[Edge], others: &[Edge]) -> Option<Vec<usize>> {
        (0..self.edges.len()).find_map(|from| {
            let firsts = self.edges[from].iter().filter(|(_, edge)| first.contains(edge));
            let firsts: Vec<usize> = firsts.map(|&(to, _)| to).collect();
            self.path(&firsts, from, others)
        })
    }

    /// A shortest way from one of some to another.
    fn path(&self, from: &[usize], to: usize, edges: &[Edge]) -> Option<Vec<usize>> {
        // Each that was reached, and from where; those at the beginning from themselves.
        let mut came_from: HashMap<usize, usize> = from.iter().map(|&one| (one, one)).collect();
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        while let Some(at) = queue.pop_front() {
            if at == to {
                let mut path = vec![at];
                while came_from[path.last().unwrap()] != path[path.len() - 1] {
                    path.push(came_from[path.last().unwrap()]);
                }
                path.reverse();
                return Some(path);
            }
            for &(next, edge) in &self.edges[at] {
                if edges.contains(&edge) && !came_from.contains_key(&next) {
                    came_from.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
