//! The driver of the loops over plain structures.

use std::ops::RangeInclusive;

use loadstone_datasets::oo7::Database;

use super::{Base, Complex, Composite, Connection, Memory, Node, Place};
use crate::clocked::NoTransactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::objects::toggled;
use crate::oo7::visits::{Letters, Visits};
use crate::oo7::{Assembly, Kind, Object, Part};

impl NoTransactions for Memory {}

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

    fn another(&self) -> Result<Self, ClientError> {
        let (what, reason) = ("second user", "plain structures have no concurrency control");
        Err(ClientError::Unsupported { engine: Self::ENGINE, what, reason })
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

    fn shared_components(&mut self, of: Place, out: &mut Vec<Place>) -> Result<(), ClientError> {
        out.extend_from_slice(&self.bases[of.at()].shared);
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
    /// The remains of a deleted part, until it is cut off.
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
