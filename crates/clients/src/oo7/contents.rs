//! Everything that a database holds, as one count and one checksum: what shows that an update left
//! what it must, and that nothing of it is left once it is taken back.

use loadstone_datasets::oo7::database::Database;
use loadstone_datasets::oo7::{texts, tree};

use crate::oo7::objects::{Assembly, Kind, Object, Part};
use crate::oo7::visits::{Letters, NO_KIND, Visits, mix, mix_object, mix_part, pair};

/// Takes what is stored, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contents(Visits);

impl From<Visits> for Contents {
    /// Go on from a count.
    fn from(counted: Visits) -> Self {
        Self(counted)
    }
}

impl Contents {
    /// The answer.
    pub const fn visits(&self) -> &Visits {
        &self.0
    }

    /// Take away what `gone` adds.
    pub fn without(&mut self, gone: impl FnOnce(&mut Self)) {
        let mut taken = Self::default();
        gone(&mut taken);
        self.0.count -= taken.0.count;
        self.0.checksum = self.0.checksum.wrapping_sub(taken.0.checksum);
    }

    /// A module and its root, a complex assembly.
    pub fn module(&mut self, module: &Object, root: u32) {
        self.0.add(mix(mix_object(module, 10), root.into(), NO_KIND));
    }

    /// A module's manual.
    pub fn manual(&mut self, module: u32, title: &[u8], text: Letters) {
        self.text(module, title, text, 11);
    }

    /// An assembly, its parent (0 at a root) and its module.
    pub fn assembly(&mut self, assembly: &Assembly, parent: u32, module: u32) {
        let class = 12 + u64::from(assembly.is_base);
        self.0.add(mix(mix_object(&assembly.object, class), pair(parent, module), NO_KIND));
    }

    /// A component of a base assembly. Repeated ones count as often as they are repeated.
    pub fn component(&mut self, assembly: u32, composite: u32, is_private: bool) {
        self.0.add(mix(pair(assembly, composite), 14 + u64::from(is_private), NO_KIND));
    }

    /// A composite part and its root, an atomic part.
    pub fn composite(&mut self, composite: &Object, root: u32) {
        self.0.add(mix(mix_object(composite, 16), root.into(), NO_KIND));
    }

    /// A composite part's document.
    pub fn document(&mut self, composite: u32, title: &[u8], text: Letters) {
        self.text(composite, title, text, 17);
    }

    /// An atomic part, and the composite part that it belongs to.
    pub fn part(&mut self, part: &Part, composite: u32) {
        self.0.add(mix(mix_part(part), pair(18, composite), NO_KIND));
    }

    /// A connection. Parallel ones are distinguished by their types and lengths alone.
    pub fn connection(&mut self, from: u32, to: u32, kind: Kind, length: i32) {
        self.0.add(mix(pair(from, to), pair(19, length.cast_unsigned()), kind));
    }

    fn text(&mut self, id: u32, title: &[u8], text: Letters, class: u32) {
        let titled = Letters::default().and(title).hash;
        self.0.add(mix(text.hash ^ titled.rotate_left(1), pair(class, id), NO_KIND));
    }

    /// Of the database as generated.
    pub fn generated(database: &Database) -> Self {
        let mut all = Self::default();
        let mut draws = database.draws();
        for id in 1..=database.modules {
            let root = (id - 1) * tree::COMPLEX + 1;
            all.module(&Object::of(&database.module(&mut draws, id)), root);
            let mut text = Vec::new();
            texts::push_manual(&mut text, id, database.manual_length());
            let title = texts::manual_title(id);
            all.manual(id, title.as_bytes(), Letters::default().and(&text));
        }
        for id in 1..=database.modules * tree::COMPLEX {
            let made = database.complex_assembly(&mut draws, id);
            let assembly = Assembly { object: Object::of(&made.object), is_base: false };
            all.assembly(&assembly, made.parent.unwrap_or(0), made.module);
        }
        for id in 1..=database.modules * tree::BASE {
            let made = database.base_assembly(&mut draws, id);
            let assembly = Assembly { object: Object::of(&made.object), is_base: true };
            all.assembly(&assembly, made.parent.unwrap_or(0), made.module);
            let [private, shared] = database.components(&mut draws, id);
            for (used, is_private) in [(private, true), (shared, false)] {
                for composite in used {
                    all.component(id, composite, is_private);
                }
            }
        }
        for id in 1..=database.composite_count() {
            all.made_composite(database, id);
        }
        all
    }

    /// A composite part with all that is its own, as generated.
    pub fn made_composite(&mut self, database: &Database, id: u32) {
        let mut draws = database.draws();
        let root = database.root_part(id);
        self.composite(&Object::of(&database.composite(&mut draws, id)), root);
        let mut text = Vec::new();
        texts::push_document(&mut text, id, database.document_length());
        let title = texts::document_title(id);
        self.document(id, title.as_bytes(), Letters::default().and(&text));
        let parts = root..root + database.parts_per_composite;
        for part in parts.clone() {
            self.part(&Part::generated(database, &mut draws, part), id);
        }
        let fan_out = database.fan_out;
        for number in (parts.start - 1) * fan_out..(parts.end - 1) * fan_out {
            let made = database.connection(&mut draws, number);
            self.connection(made.from, made.to, Kind::of(made.kind), made.length);
        }
    }
}
