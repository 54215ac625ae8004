//! OO7 as plain structures: each class a vector, objects joined by their places in it, indexes as
//! maps. What a program does without any database, and so the limit of what one can do with one.
//! Lost when closed.
//!
//! Deleted objects must be the last that were made: their places are cut off.

mod driver;

use std::collections::{BTreeSet, HashMap};

use loadstone_datasets::oo7::{Database, texts, tree};
use rustc_hash::FxHashMap;

use crate::error::ClientError;
use crate::oo7::{Kind, Object, Part};
use crate::tactics::{Address, Tactics};

/// The place of an object in the vector of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u32);

impl Place {
    #[inline]
    const fn of(id: u32) -> Self {
        Self(id - 1)
    }

    #[inline]
    const fn at(self) -> usize {
        self.0 as usize
    }

    const fn id(self) -> u32 {
        self.0 + 1
    }
}

struct Module {
    object: Object,
    root: Place,
    title: String,
    manual: Vec<u8>,
}

struct Complex {
    object: Object,
    parent: Option<Place>,
    module: u32,
    below: Vec<Place>,
    bases: Vec<Place>,
}

struct Base {
    object: Object,
    parent: Place,
    module: u32,
    private: Vec<Place>,
    shared: Vec<Place>,
}

struct Composite {
    object: Object,
    root: Place,
    title: String,
    document: Vec<u8>,
    /// The base assemblies that use it, once for each use.
    private: Vec<Place>,
    shared: Vec<Place>,
}

/// An atomic part; its connections stand in a vector of their own.
struct Node {
    part: Part,
    composite: Place,
}

struct Connection {
    to: Place,
    length: i32,
    kind: Kind,
}

/// The vectors and the indexes.
#[derive(Default)]
pub struct Memory {
    fan_out: usize,
    modules: Vec<Module>,
    complex: Vec<Complex>,
    bases: Vec<Base>,
    composites: Vec<Composite>,
    parts: Vec<Node>,
    /// Those that leave atomic part n begin at n times the number of each.
    connections: Vec<Connection>,
    /// For each atomic part, the ones from which connections lead to it.
    incoming: Vec<Vec<Place>>,
    by_id: FxHashMap<u32, Place>,
    by_date: BTreeSet<(i32, u32)>,
    by_title: HashMap<String, Place>,
}

impl Memory {
    /// An empty database.
    #[expect(clippy::unnecessary_wraps, reason = "every driver opens in this shape")]
    pub fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self::default())
    }

    fn add_tree(&mut self, database: &Database) {
        let mut draws = database.draws();
        for id in 1..=database.modules {
            let mut manual = Vec::new();
            texts::push_manual(&mut manual, id, database.manual_length());
            self.modules.push(Module {
                object: Object::of(&database.module(&mut draws, id)),
                root: Place((id - 1) * tree::COMPLEX),
                title: texts::manual_title(id),
                manual,
            });
        }
        for id in 1..=database.modules * tree::COMPLEX {
            let made = database.complex_assembly(&mut draws, id);
            let parent = made.parent.map(Place::of);
            if let Some(parent) = parent {
                self.complex[parent.at()].below.push(Place::of(id));
            }
            self.complex.push(Complex {
                object: Object::of(&made.object),
                parent,
                module: made.module,
                below: Vec::new(),
                bases: Vec::new(),
            });
        }
        for id in 1..=database.modules * tree::BASE {
            let made = database.base_assembly(&mut draws, id);
            let parent = Place::of(made.parent.expect("it belongs to a complex one"));
            self.complex[parent.at()].bases.push(Place::of(id));
            let [private, shared] =
                database.components(&mut draws, id).map(|ids| ids.map(Place::of).to_vec());
            self.bases.push(Base {
                object: Object::of(&made.object),
                parent,
                module: made.module,
                private,
                shared,
            });
        }
    }

    /// A composite part that nobody uses yet, behind the others.
    fn add_composite(&mut self, database: &Database, id: u32) {
        let mut draws = database.draws();
        let root = database.root_part(id);
        let mut document = Vec::new();
        texts::push_document(&mut document, id, database.document_length());
        let title = texts::document_title(id);
        self.by_title.insert(title.clone(), Place::of(id));
        self.composites.push(Composite {
            object: Object::of(&database.composite(&mut draws, id)),
            root: Place::of(root),
            title,
            document,
            private: Vec::new(),
            shared: Vec::new(),
        });
        for part in root..root + database.parts_per_composite {
            let part = Part::generated(database, &mut draws, part);
            let place = Place(self.parts.len() as u32);
            self.by_id.insert(part.object.id, place);
            self.by_date.insert((part.object.build_date, part.object.id));
            self.parts.push(Node { part, composite: Place::of(id) });
            self.incoming.push(Vec::new());
        }
        let numbers = (root - 1) * database.fan_out;
        for number in numbers..numbers + database.parts_per_composite * database.fan_out {
            let made = database.connection(&mut draws, number);
            let to = Place::of(made.to);
            self.connections.push(Connection {
                to,
                length: made.length,
                kind: Kind::of(made.kind),
            });
            self.incoming[to.at()].push(Place::of(made.from));
        }
    }

    /// The connections that leave an atomic part.
    #[inline]
    fn leaving(&self, part: Place) -> &[Connection] {
        let first = part.at() * self.fan_out;
        &self.connections[first..first + self.fan_out]
    }
}
