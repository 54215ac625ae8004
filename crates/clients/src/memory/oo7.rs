//! OO7 as plain structures: each class a vector, objects joined by their places in it, indexes as
//! maps. What a program does without any database, and so the limit of what one can do with one.
//! Lost when closed.
//!
//! Deleted objects must be the last that were made: their places are cut off.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use loadstone_datasets::oo7::{Database, texts, tree};
use rustc_hash::FxHashMap;

use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::objects::toggled;
use crate::oo7::visits::{Letters, Visits};
use crate::oo7::{Assembly, Kind, Object, Part};
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

impl Transactions for Memory {
    fn begin(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        Ok(())
    }
}

impl Driver for Memory {
    const ENGINE: &'static str = "memory";

    type Complex = Place;
    type Base = Place;
    type Composite = Place;
    type Part = Place;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        *self = Self { fan_out: database.fan_out as usize, ..Self::default() };
        self.add_tree(database);
        (1..=database.composite_count()).for_each(|id| self.add_composite(database, id));
        for (place, base) in (0..).map(Place).zip(&self.bases) {
            base.private.iter().for_each(|used| self.composites[used.at()].private.push(place));
            base.shared.iter().for_each(|used| self.composites[used.at()].shared.push(place));
        }
        Ok(())
    }

    fn design_root(&mut self, module: u32) -> Result<Place, ClientError> {
        let module = self.modules.get(Place::of(module).at());
        module.map(|module| module.root).ok_or_else(|| Self::missing(1))
    }

    fn subassemblies(
        &mut self,
        of: Place,
        complex: &mut Vec<Place>,
        bases: &mut Vec<Place>,
    ) -> Result<(), ClientError> {
        let here = &self.complex[of.at()];
        complex.extend_from_slice(&here.below);
        bases.extend_from_slice(&here.bases);
        Ok(())
    }

    fn components(&mut self, of: Place, out: &mut Vec<Place>) -> Result<(), ClientError> {
        out.extend_from_slice(&self.bases[of.at()].private);
        Ok(())
    }

    #[inline]
    fn root_part(&mut self, of: Place) -> Result<Place, ClientError> {
        Ok(self.composites[of.at()].root)
    }

    #[inline]
    fn identity(&self, part: Place) -> u64 {
        part.0.into()
    }

    #[inline]
    fn read(&mut self, part: Place) -> Result<Part, ClientError> {
        Ok(self.parts[part.at()].part)
    }

    #[inline]
    fn connected(&mut self, part: Place, out: &mut Vec<Place>) -> Result<(), ClientError> {
        out.extend(self.leaving(part).iter().map(|connection| connection.to));
        Ok(())
    }

    fn find(&mut self, id: u32) -> Result<(Place, Part), ClientError> {
        let place = *self.by_id.get(&id).ok_or_else(|| Self::missing(id))?;
        Ok((place, self.parts[place.at()].part))
    }

    fn dated(
        &mut self,
        dates: RangeInclusive<i32>,
        visits: &mut Visits,
    ) -> Result<(), ClientError> {
        let (first, last) = dates.into_inner();
        for (_, id) in self.by_date.range((first, 0)..=(last, u32::MAX)) {
            visits.part(&self.parts[self.by_id[id].at()].part);
        }
        Ok(())
    }

    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        self.parts.iter().for_each(|node| visits.part(&node.part));
        Ok(())
    }

    fn composite_of(&mut self, part: Place) -> Result<Place, ClientError> {
        Ok(self.parts[part.at()].composite)
    }

    fn composite(&mut self, composite: Place) -> Result<Object, ClientError> {
        Ok(self.composites[composite.at()].object)
    }

    fn users(&mut self, of: Place, out: &mut Vec<Place>) -> Result<(), ClientError> {
        out.extend_from_slice(&self.composites[of.at()].private);
        Ok(())
    }

    fn base(&mut self, base: Place) -> Result<(Assembly, Place), ClientError> {
        let here = &self.bases[base.at()];
        Ok((Assembly { object: here.object, is_base: true }, here.parent))
    }

    fn complex(&mut self, complex: Place) -> Result<(Assembly, Option<Place>), ClientError> {
        let here = &self.complex[complex.at()];
        Ok((Assembly { object: here.object, is_base: false }, here.parent))
    }

    fn bases(&mut self, out: &mut Vec<Place>) -> Result<(), ClientError> {
        out.extend((0..self.bases.len() as u32).map(Place));
        Ok(())
    }

    fn titled(&mut self, title: &str) -> Result<Place, ClientError> {
        self.by_title.get(title).copied().ok_or_else(|| Self::missing(0))
    }

    fn document(&mut self, of: Place, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(&self.composites[of.at()].document);
        Ok(())
    }

    fn manual(&mut self, module: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(&self.modules[Place::of(module).at()].manual);
        Ok(())
    }

    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError> {
        for node in &self.parts {
            let document = &self.composites[Place::of(node.part.document).at()];
            visits.pair(node.part.object.id, document.title.as_bytes());
        }
        Ok(())
    }

    #[inline]
    fn swap(&mut self, part: Place) -> Result<(), ClientError> {
        let part = &mut self.parts[part.at()].part;
        std::mem::swap(&mut part.x, &mut part.y);
        Ok(())
    }

    fn toggle_date(&mut self, part: Place) -> Result<(), ClientError> {
        let Object { id, build_date, .. } = &mut self.parts[part.at()].part.object;
        self.by_date.remove(&(*build_date, *id));
        *build_date = toggled(*build_date);
        self.by_date.insert((*build_date, *id));
        Ok(())
    }

    fn rewrite(&mut self, of: Place, text: &[u8]) -> Result<(), ClientError> {
        let document = &mut self.composites[of.at()].document;
        document.clear();
        document.extend_from_slice(text);
        Ok(())
    }

    fn insert(
        &mut self,
        database: &Database,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError> {
        self.add_composite(database, composite);
        let (composite, receiver) = (Place::of(composite), Place::of(receiver));
        self.bases[receiver.at()].private.push(composite);
        self.composites[composite.at()].private.push(receiver);
        Ok(())
    }

    fn delete(&mut self, database: &Database, composite: u32) -> Result<(), ClientError> {
        let gone = Place::of(composite);
        let Composite { root, title, private, shared, .. } = self
            .composites
            .get_mut(gone.at())
            .map(|it| std::mem::replace(it, Composite::empty()))
            .ok_or_else(|| Self::missing(composite))?;
        for base in private {
            self.bases[base.at()].private.retain(|&used| used != gone);
        }
        for base in shared {
            self.bases[base.at()].shared.retain(|&used| used != gone);
        }
        self.by_title.remove(&title);
        for node in &self.parts[root.at()..][..database.parts_per_composite as usize] {
            let Object { id, build_date, .. } = node.part.object;
            self.by_id.remove(&id);
            self.by_date.remove(&(build_date, id));
        }
        self.cut_off();
        Ok(())
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        for module in &self.modules {
            contents.module(&module.object, module.root.id());
            let text = Letters::default().and(&module.manual);
            contents.manual(module.object.id, module.title.as_bytes(), text);
        }
        for complex in &self.complex {
            let assembly = Assembly { object: complex.object, is_base: false };
            contents.assembly(&assembly, complex.parent.map_or(0, Place::id), complex.module);
        }
        for base in &self.bases {
            let assembly = Assembly { object: base.object, is_base: true };
            contents.assembly(&assembly, base.parent.id(), base.module);
            let id = base.object.id;
            base.private.iter().for_each(|used| contents.component(id, used.id(), true));
            base.shared.iter().for_each(|used| contents.component(id, used.id(), false));
        }
        for composite in &self.composites {
            contents.composite(&composite.object, composite.root.id());
            let text = Letters::default().and(&composite.document);
            contents.document(composite.object.id, composite.title.as_bytes(), text);
        }
        for (place, node) in (0..).map(Place).zip(&self.parts) {
            contents.part(&node.part, node.composite.id());
            for it in self.leaving(place) {
                contents.connection(place.id(), it.to.id(), it.kind, it.length);
            }
        }
        Ok(())
    }

    /// Of the vectors, without the indexes and the allocator's own.
    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        let texts: usize = self.modules.iter().map(|it| it.manual.len()).sum::<usize>()
            + self.composites.iter().map(|it| it.document.len()).sum::<usize>();
        let objects = size_of::<Node>() * self.parts.len()
            + size_of::<Connection>() * self.connections.len()
            + size_of::<Composite>() * self.composites.len()
            + size_of::<Base>() * self.bases.len()
            + size_of::<Complex>() * self.complex.len();
        Ok((texts + objects) as u64)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let terms = [
            ("durability", "none: the structures are lost when the program ends"),
            ("transactions", "none: no rollback, one user"),
            ("access", "places in vectors; hash maps on id and title, B-tree on date"),
            ("prefetch", "off"),
        ];
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }
}

impl Composite {
    /// What is left of one that is deleted, until it is cut off.
    const fn empty() -> Self {
        let object = Object { id: 0, kind: Kind::of(0), build_date: 0 };
        Self {
            object,
            root: Place(0),
            title: String::new(),
            document: Vec::new(),
            private: Vec::new(),
            shared: Vec::new(),
        }
    }
}

impl Memory {
    /// Deleted composite parts at the end, with all that is their own.
    fn cut_off(&mut self) {
        while self.composites.last().is_some_and(|last| last.object.id == 0) {
            self.composites.pop();
            let gone = Place(self.composites.len() as u32);
            while self.parts.last().is_some_and(|last| last.composite == gone) {
                self.parts.pop();
                self.incoming.pop();
                self.connections.truncate(self.parts.len() * self.fan_out);
            }
        }
    }
}
