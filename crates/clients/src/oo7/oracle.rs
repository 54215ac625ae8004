//! The expected answer of each operation: a plain evaluation of the generated database in memory.
//!
//! It shares the checksum with the loops, since that is what an answer is, and nothing else: no
//! driver, no loop, no index of an engine.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use loadstone_datasets::oo7::{Database, texts, tree};

use crate::oo7::asked::MODULE;
use crate::oo7::contents::Contents;
use crate::oo7::loops::{LETTER, PERCENT, newest};
use crate::oo7::measure::{Change, Extent, Measure};
use crate::oo7::objects::{Assembly, Object, Part, toggled};
use crate::oo7::updates::{BEGINNINGS, DATES_LOOKED_AT};
use crate::oo7::visits::{Letters, Visits};

/// The generated database in arrays, where number n stands at n − 1.
pub struct Oracle {
    database: Database,
    /// With the composite part of each.
    parts: Vec<(Part, u32)>,
    /// The place where the connections of each atomic part lead to.
    connected: Vec<Vec<u32>>,
    composites: Vec<Object>,
    complex: Vec<(Assembly, Option<u32>)>,
    bases: Vec<(Assembly, u32)>,
    /// Of each base assembly.
    private: Vec<Vec<u32>>,
    shared: Vec<Vec<u32>>,
    generated: Contents,
}

/// Atomic parts that are not as generated, by their ids.
type Changed = BTreeMap<u32, Part>;

impl Oracle {
    /// Generate the whole database; some 100 bytes an atomic part.
    pub fn new(database: Database) -> Self {
        let mut draws = database.draws();
        let parts = (1..=database.part_count()).map(|id| {
            let part = database.part(&mut draws, id);
            (Part::of(&part), part.composite)
        });
        let parts = parts.collect();
        let mut connected = vec![Vec::new(); database.part_count() as usize];
        for number in 0..database.connection_count() {
            let connection = database.connection(&mut draws, number);
            connected[connection.from as usize - 1].push(connection.to);
        }
        let composites = (1..=database.composite_count())
            .map(|id| Object::of(&database.composite(&mut draws, id)))
            .collect();
        let complex = (1..=database.modules * tree::COMPLEX).map(|id| {
            let made = database.complex_assembly(&mut draws, id);
            (Assembly { object: Object::of(&made.object), is_base: false }, made.parent)
        });
        let complex = complex.collect();
        let bases = (1..=database.modules * tree::BASE).map(|id| {
            let made = database.base_assembly(&mut draws, id);
            let parent = made.parent.expect("a base assembly belongs to a complex one");
            (Assembly { object: Object::of(&made.object), is_base: true }, parent)
        });
        let bases = bases.collect();
        let (private, shared) = (1..=database.modules * tree::BASE)
            .map(|id| database.components(&mut draws, id))
            .map(|[private, shared]| (private.to_vec(), shared.to_vec()))
            .unzip();
        let generated = Contents::generated(&database);
        Self { database, parts, connected, composites, complex, bases, private, shared, generated }
    }

    /// Count and checksum of the whole database as generated.
    pub fn contents(&self) -> (u64, u64) {
        let Visits { count, checksum } = *self.generated.visits();
        (count, checksum)
    }

    /// Count and checksum of one iteration of an operation.
    pub fn expected(&self, measure: Measure, iteration: u32) -> (u64, u64) {
        let Visits { count, checksum } = match measure.update() {
            Some((change, extent)) => self.updated(change, extent, Visits::default()),
            None => match measure.visit() {
                Some(visit) => self.visited(visit, iteration),
                None => self.seen(measure, iteration),
            },
        };
        (count, checksum)
    }

    fn seen(&self, measure: Measure, iteration: u32) -> Visits {
        let database = &self.database;
        let mut visits = Visits::default();
        match measure {
            Measure::T1 | Measure::T1Work => self.walked(MODULE, &mut visits),
            Measure::T10 => {
                (1..=database.modules).for_each(|module| self.walked(module, &mut visits));
            }
            Measure::T4 => {
                for composite in self.slots(MODULE) {
                    let text = self.document(composite);
                    visits.letters(letters(&text), text.len() as u64);
                }
            }
            Measure::T6 => {
                for composite in self.slots(MODULE) {
                    visits.part(&self.part(database.root_part(composite)));
                }
            }
            Measure::T7 => self.above(database.start(iteration), &mut visits),
            Measure::T8 => {
                let text = self.manual();
                visits.letters(letters(&text), text.len() as u64);
            }
            Measure::T9 => {
                let text = self.manual();
                visits.ends(text.first().copied(), text.last().copied());
            }
            Measure::Q1 => {
                database.lookup_ids(iteration).iter().for_each(|&id| visits.part(&self.part(id)));
            }
            Measure::Q2 => self.dated(&newest(PERCENT[0]), &Changed::new(), &mut visits),
            Measure::Q3 => self.dated(&newest(PERCENT[1]), &Changed::new(), &mut visits),
            Measure::Q4 => {
                for composite in database.titled(iteration) {
                    self.users(composite).for_each(|base| visits.assembly(&base.0));
                }
            }
            Measure::Q5 => self.older(false, &mut visits),
            Measure::Q6 => self.older(true, &mut visits),
            Measure::Q7 => self.parts.iter().for_each(|(part, _)| visits.part(part)),
            Measure::Q8 => {
                for (part, _) in &self.parts {
                    visits.pair(part.object.id, texts::document_title(part.document).as_bytes());
                }
            }
            Measure::CachedUpdate => {
                self.walked(MODULE, &mut visits);
                return self.updated(Change::Swap, Extent::Root, visits);
            }
            Measure::T5Do => return self.rewritten([0, 1]),
            Measure::T5Undo => return self.rewritten([1, 0]),
            Measure::S1 => return self.inserted(iteration, true),
            Measure::S2 => return self.inserted(iteration, false),
            _ => unreachable!("the others were reported above"),
        }
        visits
    }

    fn part(&self, id: u32) -> Part {
        self.parts[id as usize - 1].0
    }

    /// The private components of all base assemblies of a module.
    fn slots(&self, module: u32) -> impl Iterator<Item = u32> {
        let first = (module - 1) * tree::BASE;
        let bases = first as usize..(first + tree::BASE) as usize;
        self.private[bases].iter().flatten().copied()
    }

    /// The atomic parts that connections lead to from a composite part's root, itself included.
    fn graph(&self, composite: u32) -> BTreeSet<u32> {
        let root = self.database.root_part(composite);
        let (mut reached, mut open) = (BTreeSet::from([root]), vec![root]);
        while let Some(id) = open.pop() {
            let ends = &self.connected[id as usize - 1];
            open.extend(ends.iter().filter(|&&end| reached.insert(end)));
        }
        reached
    }

    fn walked(&self, module: u32, visits: &mut Visits) {
        for composite in self.slots(module) {
            self.graph(composite).iter().for_each(|&id| visits.part(&self.part(id)));
        }
    }

    /// A traversal that updates, after what `visits` saw before it.
    fn updated(&self, change: Change, extent: Extent, visits: Visits) -> Visits {
        self.updated_in(self.slots(MODULE), change, extent, visits)
    }

    fn updated_in(
        &self,
        composites: impl Iterator<Item = u32>,
        change: Change,
        extent: Extent,
        mut visits: Visits,
    ) -> Visits {
        let mut changed = Changed::new();
        let mut updates = 0;
        for composite in composites {
            for id in self.graph(composite) {
                let part = changed.entry(id).or_insert_with(|| self.part(id));
                visits.part(part);
                let times = match extent {
                    Extent::Root => u32::from(id == self.database.root_part(composite)),
                    Extent::Each => 1,
                    Extent::Repeated(times) => times,
                };
                for _ in 0..times {
                    match change {
                        Change::Swap => (part.x, part.y) = (part.y, part.x),
                        Change::Date => part.object.build_date = toggled(part.object.build_date),
                    }
                }
                updates += u64::from(times);
            }
        }
        let left = self.left(&changed, |_| {});
        visits.leaving(updates, &left)
    }

    /// The contents that an update leaves: everything but the atomic parts that are changed and
    /// what `instead` replaces, and what the index on dates leads to.
    fn left(&self, changed: &Changed, instead: impl FnOnce(&mut Contents)) -> Visits {
        let mut left = *self.contents_with(changed, instead).visits();
        for dates in &DATES_LOOKED_AT {
            self.dated(dates, changed, &mut left);
        }
        left
    }

    fn contents_with(&self, changed: &Changed, instead: impl FnOnce(&mut Contents)) -> Contents {
        let mut contents = self.generated;
        for (id, part) in changed {
            let (before, composite) = &self.parts[*id as usize - 1];
            contents.without(|gone| gone.part(before, *composite));
            contents.part(part, *composite);
        }
        instead(&mut contents);
        contents
    }

    fn dated(&self, dates: &std::ops::RangeInclusive<i32>, changed: &Changed, visits: &mut Visits) {
        for (before, _) in &self.parts {
            let part = changed.get(&before.object.id).unwrap_or(before);
            if dates.contains(&part.object.build_date) {
                visits.part(part);
            }
        }
    }

    /// The base assemblies that use a composite part privately, once for each use.
    fn users(&self, composite: u32) -> impl Iterator<Item = &(Assembly, u32)> {
        let uses = move |used: &&Vec<u32>| used.iter().filter(|&&one| one == composite).count();
        self.private
            .iter()
            .zip(&self.bases)
            .flat_map(move |(used, base)| std::iter::repeat_n(base, uses(&used)))
    }

    /// Every assembly above an atomic part, once.
    fn above(&self, part: u32, visits: &mut Visits) {
        let (_, composite) = self.parts[part as usize - 1];
        let mut open: BTreeSet<u32> = BTreeSet::new();
        let mut bases = BTreeSet::new();
        for (base, parent) in self.users(composite) {
            if bases.insert(base.object.id) {
                visits.assembly(base);
                open.insert(*parent);
            }
        }
        // A parent is made before its children, so its id is less than theirs.
        while let Some(id) = open.pop_last() {
            let (assembly, parent) = self.complex[id as usize - 1];
            visits.assembly(&assembly);
            open.extend(parent);
        }
    }

    /// Assemblies that use a composite part that is newer; `all`: complex ones, too, through those
    /// below them.
    fn older(&self, all: bool, visits: &mut Visits) {
        let date = |id: &u32| self.composites[*id as usize - 1].build_date;
        let mut newest: BTreeMap<u32, i32> = BTreeMap::new();
        let raise = |id: u32, date: i32, newest: &mut BTreeMap<u32, i32>| {
            let known = newest.entry(id).or_insert(date);
            *known = date.max(*known);
        };
        for ((base, parent), private) in self.bases.iter().zip(&self.private) {
            let used = private.iter().map(date).max().expect("it has components");
            if used > base.object.build_date {
                visits.assembly(base);
            }
            raise(*parent, used, &mut newest);
        }
        if !all {
            return;
        }
        while let Some((id, used)) = newest.pop_last() {
            let (assembly, parent) = self.complex[id as usize - 1];
            if used > assembly.object.build_date {
                visits.assembly(&assembly);
            }
            if let Some(parent) = parent {
                raise(parent, used, &mut newest);
            }
        }
    }

    fn document(&self, composite: u32) -> Vec<u8> {
        let mut text = Vec::new();
        texts::push_document(&mut text, composite, self.database.document_length());
        text
    }

    fn manual(&self) -> Vec<u8> {
        let mut text = Vec::new();
        texts::push_manual(&mut text, MODULE, self.database.manual_length());
        text
    }

    /// T5: from one of the two beginnings to the other.
    fn rewritten(&self, [from, to]: [usize; 2]) -> Visits {
        let mut visits = Visits::default();
        let texts_of = |composite: u32| {
            let first = self.document(composite);
            let rest = first.strip_prefix(BEGINNINGS[0]).expect("so every document begins");
            [first.clone(), [BEGINNINGS[1], rest].concat()]
        };
        let mut changed = BTreeSet::new();
        for composite in self.slots(MODULE) {
            let is_first = changed.insert(composite);
            let text = &texts_of(composite)[if is_first { from } else { to }];
            visits.letters(u64::from(is_first), text.len() as u64);
        }
        let updates = changed.len() as u64;
        let left = self.left(&Changed::new(), |contents| {
            for composite in changed.iter().filter(|_| to == 1) {
                let title = texts::document_title(*composite);
                let [before, after] = texts_of(*composite).map(|it| Letters::default().and(&it));
                contents.without(|gone| gone.document(*composite, title.as_bytes(), before));
                contents.document(*composite, title.as_bytes(), after);
            }
        });
        visits.leaving(updates, &left)
    }

    /// S1, or S2 after it, which leaves the database as it was.
    fn inserted(&self, iteration: u32, stays: bool) -> Visits {
        let database = &self.database;
        let receivers = database.receivers(iteration);
        let made = database.new_composites().zip(&receivers);
        let mut left = self.left(&Changed::new(), |contents| {
            for (composite, receiver) in made.filter(|_| stays) {
                contents.made_composite(database, composite);
                contents.component(*receiver, composite, true);
            }
        });
        if stays {
            // The new atomic parts are in the index on dates, too.
            let mut draws = database.draws();
            for composite in database.new_composites() {
                let root = database.root_part(composite);
                for id in root..root + database.parts_per_composite {
                    let part = Part::generated(database, &mut draws, id);
                    let date = part.object.build_date;
                    if DATES_LOOKED_AT.iter().any(|dates| dates.contains(&date)) {
                        left.part(&part);
                    }
                }
            }
        }
        Visits::default().leaving(receivers.len() as u64, &left)
    }
}

fn letters(text: &[u8]) -> u64 {
    text.split(|&byte| byte == LETTER).count() as u64 - 1
}
