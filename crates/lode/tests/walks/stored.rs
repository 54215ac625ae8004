//! A graph stored twice: as objects with references, and as records in lists.

use std::ops::ControlFlow;

use lode::internals::error::Result;
use lode::internals::heap::RecordId;
use lode::{
    CountedReferences, Edges, Heap, Joined, LinkField, Links, Objects, PageRead, PageWrite,
    Reference, References, View,
};

/// An object: its number, references to three others, how many lead to it, and references to these.
const TO: usize = 8;
pub const COUNT: usize = 32;
const FROM: usize = 40;

/// A part, and a connection, which is in two lists.
pub const OUT: LinkField = LinkField::new(8, 0);
pub const IN: LinkField = LinkField::new(24, 16);

/// Which numbers each number leads to, at most three.
pub type Graph = Vec<Vec<usize>>;

fn reversed(graph: &Graph) -> Graph {
    let mut reversed = vec![Vec::new(); graph.len()];
    for (from, ends) in graph.iter().enumerate() {
        for &to in ends {
            reversed[to].push(from);
        }
    }
    reversed
}

/// The records that a walk must see.
fn expected(graph: &Graph, from: usize, depth: u32, seen: &mut Vec<usize>) {
    for &to in graph[from].iter().filter(|_| depth > 0) {
        seen.push(to);
        expected(graph, to, depth - 1, seen);
    }
}

/// The same graph stored twice, with references that were right when they were made.
pub struct Stored {
    pub objects: Objects,
    pub oids: Vec<Reference>,
    pub parts: Heap,
    pub connections: Heap,
    pub part_ids: Vec<Reference>,
}

fn words(object: &mut [u8], at: usize, words: impl Iterator<Item = Reference>) {
    for (place, word) in object[at..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.0.to_le_bytes());
    }
}

impl Stored {
    /// Of records with so many bytes more than their fields.
    pub fn new(pages: &mut impl PageWrite, graph: &Graph, more: usize) -> Result<Self> {
        let objects = Objects::create(pages, 500)?;
        let oids = Self::store_objects(pages, objects, graph, more)?;
        let (parts, connections) = (Heap::create(pages, 501)?, Heap::create(pages, 502)?);
        let mut ids = Vec::new();
        for number in 0..graph.len() {
            let mut part = vec![0; 40 + more];
            part[..8].copy_from_slice(&(number as u64).to_le_bytes());
            ids.push(parts.insert(pages, &part, None)?);
        }
        let list = |field| Links { parents: parts, children: connections, field };
        for (from, ends) in graph.iter().enumerate() {
            for &to in ends {
                let connection = connections.insert(pages, &[0; 32], None)?;
                list(OUT).append(pages, ids[from], connection)?;
                list(IN).append(pages, ids[to], connection)?;
            }
        }
        let part_ids = ids.iter().map(|&id| parts.reference(pages, id)).collect::<Result<_>>()?;
        Ok(Self { objects, oids, parts, connections, part_ids })
    }

    fn store_objects(
        pages: &mut impl PageWrite,
        objects: Objects,
        graph: &Graph,
        more: usize,
    ) -> Result<Vec<Reference>> {
        let from = reversed(graph);
        let mut oids = Vec::new();
        for leading in &from {
            let empty = vec![0; FROM + 8 * leading.len() + more];
            let oid = objects.insert(pages, &empty, None)?;
            oids.push(objects.reference(pages, oid)?);
        }
        for (number, oid) in oids.iter().enumerate() {
            objects.change(pages, id(*oid), |object| {
                object[..8].copy_from_slice(&(number as u64).to_le_bytes());
                words(object, TO, graph[number].iter().map(|&to| oids[to]));
                object[COUNT..COUNT + 2]
                    .copy_from_slice(&(from[number].len() as u16).to_le_bytes());
                words(object, FROM, from[number].iter().map(|&from| oids[from]));
            })?;
        }
        Ok(oids)
    }

    /// Make a record longer, so that it may move, within its page or away from it.
    pub fn grow(&self, pages: &mut impl PageWrite, number: usize, len: usize) -> Result<()> {
        for (heap, place) in
            [(*self.objects, self.oids[number]), (self.parts, self.part_ids[number])]
        {
            let mut record = heap.get(pages, id(place))?;
            record.resize(len.max(record.len()), 0);
            heap.update(pages, id(place), &record)?;
        }
        Ok(())
    }

    pub fn to(&self) -> References<3> {
        References { objects: self.objects, at: TO }
    }

    pub fn from(&self) -> CountedReferences {
        CountedReferences { objects: self.objects, count_at: COUNT, at: FROM }
    }

    pub fn joined(&self, along: LinkField, across: LinkField) -> Joined {
        Joined { records: self.parts, joints: self.connections, along, across }
    }

    /// Walk both, forwards and in reverse; how many records were visited.
    pub fn compare(&self, pages: &impl PageRead, graph: &Graph, from: usize, depth: u32) -> u64 {
        let (mut forward, mut reverse) = (Vec::new(), Vec::new());
        expected(graph, from, depth, &mut forward);
        expected(&reversed(graph), from, depth, &mut reverse);
        let (oid, part) = (self.oids[from], self.part_ids[from]);
        assert_eq!(walked(self.to(), pages, oid, depth), forward, "objects");
        assert_eq!(walked(self.from(), pages, oid, depth), reverse, "objects, in reverse");
        assert_eq!(walked(self.joined(OUT, IN), pages, part, depth), forward, "lists");
        assert_eq!(walked(self.joined(IN, OUT), pages, part, depth), reverse, "lists, in reverse");
        2 * (forward.len() + reverse.len()) as u64
    }
}

pub fn id(reference: Reference) -> RecordId {
    reference.id().unwrap()
}

pub fn number(view: View<'_>, at: usize) -> usize {
    view.u64(at) as usize
}

fn walked(edges: impl Edges, pages: &impl PageRead, from: Reference, depth: u32) -> Vec<usize> {
    let mut seen = Vec::new();
    let end = edges.walk(pages, from, depth, number, |_, number| {
        seen.push(number);
        ControlFlow::<()>::Continue(())
    });
    assert!(end.unwrap().is_continue());
    seen
}

/// Values of `swizzle` and of `prefetch`.
pub const SWITCHES: [(&str, &str); 4] =
    [("off", "off"), ("off", "on"), ("on", "off"), ("on", "on")];
