//! Tuple substitution: the tuples of one variable after another are put into the query, and what
//! is then a query of one variable is run for each (4.1BSD `decomp/selectv.c`, `reformat.c`).
//!
//! The variable with the fewest tuples for each page that a query on it would read goes first. A
//! relation that would be scanned again and again, and is joined by an equality, is *reformatted*
//! where that costs fewer pages: what is needed of it is kept, and, if that still pays, hashed.
//! Where a variable serves only as a qualification and it does not matter how often a row comes,
//! the first hit ends its scan.

use loadstone_quel::check::resolved::{SlotSet, Term};
use loadstone_quel::tree::BinaryOperator;

use super::decomposition::{Part, Place, Rest};
use super::draft::Draft;
use super::join::Joint;
use super::path::{fits, simple};
use super::planner::Planner;
use super::{Access, Pack, Purpose, Sink, Source, Step};
use crate::expression::Expr;
use crate::tactics::Optimizer;
use crate::tuple::Layout;

/// The rule's costs, in pages read or written.
mod pages {
    /// A page of lode, in bytes.
    pub(super) const BYTES: f64 = 4_096.0;
    /// The cost of a projection beside its pages.
    pub(super) const PROJECTING: f64 = 2.0;
    /// The cost of making a hash organisation beside its pages.
    pub(super) const HASHING: f64 = 10.0;
    /// Pages that are sorted in memory: 32,767 bytes of 1981's.
    pub(super) const SORTED: f64 = 32.0;
    /// Files that one pass of a sort merges.
    pub(super) const MERGED: f64 = 7.0;
    /// Of a relation that is only tested for a tuple this part is read, about.
    pub(super) const TESTED: f64 = 0.25;
}

/// The part of the rows that a condition leaves that is no equality.
const OTHER_PART: f64 = 1.0 / 3.0;

/// The way in which a relation that is joined by equalities is reached for each row.
enum Way<'t> {
    /// By a look-up with the other side of an equality.
    Lookup(Access, &'t Term),
    /// From end to end, where it is.
    Scan,
    /// From end to end, what is needed of it.
    Projected,
    /// By a hash of what is needed of it.
    Hashed,
}

impl<'t> Planner<'_> {
    /// The rows that all parts give together with the conditions between them.
    pub(super) fn substituted<'m>(
        &mut self,
        begun: Draft,
        mut parts: Vec<Part<'m, 't>>,
        rest: &mut Rest<'_, 't>,
    ) -> Draft {
        let mut draft = begun;
        draft.purpose = Purpose::Substitution;
        let mut bound = 0;
        let all = parts.iter().fold(0, |all, part| all | part.slots);
        while !parts.is_empty() {
            let part = parts.remove(self.next(&parts, rest));
            let (slots, steps_before) = (part.slots, draft.steps.len());
            let rows = if bound == 0 { 1.0 } else { draft.rows };
            let rows = rows * part.rows * self.left(rest, bound | slots, slots);
            if bound == 0 {
                self.begin(&mut draft, &part);
            } else {
                self.substitute(&mut draft, &part, bound, rest);
            }
            bound |= slots;
            for joint in ready(rest, bound) {
                draft.filter(&self.scene, joint.term);
            }
            let is_test = steps_before > 0 || bound != slots;
            if is_test && !rest.counts && rest.items(self, slots).is_empty() {
                first_hit(&mut draft, steps_before);
            }
            draft.rows = rows;
        }
        debug_assert_eq!(bound, all);
        draft
    }

    /// The part to substitute next: the one with the fewest tuples for each page that a query on
    /// it reads when the others are known, of equal ones the smaller.
    fn next(&self, parts: &[Part<'_, 't>], rest: &Rest<'_, 't>) -> usize {
        if self.tactics.optimizer == Optimizer::Off {
            return 0;
        }
        let cost = |part: &Part<'_, 't>| (part.rows / self.pages_read(part, rest)).floor();
        let numbered = parts.iter().enumerate();
        let least = numbered.min_by(|(_, one), (_, other)| {
            let order = cost(one).total_cmp(&cost(other));
            order.then(one.rows.total_cmp(&other.rows))
        });
        least.map_or(0, |(position, _)| position)
    }

    /// The pages that a query on a part reads when all other parts are known, by the crude rule: 1
    /// for a hash, 2 for a clustered relation, 3 for a secondary index, else all of its own.
    fn pages_read(&self, part: &Part<'_, 't>, rest: &Rest<'_, 't>) -> f64 {
        if let Some((access, _)) = self.lookup(part, !part.slots, rest) {
            return match access {
                Access::Hashed { .. } => 1.0,
                Access::Clustered { .. } => 2.0,
                Access::Index { .. } => 3.0,
            };
        }
        let tested = if rest.is_wanted(part.slots) { 1.0 } else { pages::TESTED };
        (self.pages(part) * tested).max(1.0)
    }

    /// The pages that a part takes.
    fn pages(&self, part: &Part<'_, '_>) -> f64 {
        match &part.place {
            Place::Stored(member) => {
                let stored = self.scene.relations[member.slot].as_ref();
                stored.map_or(1.0, |stored| stored.pages.max(1.0))
            }
            Place::Kept(_, packed) => pages_of(part.rows, &packed.layout),
        }
    }

    /// A look-up of a stored relation by an equality with what is bound.
    fn lookup(
        &self,
        part: &Part<'_, 't>,
        bound: SlotSet,
        rest: &Rest<'_, 't>,
    ) -> Option<(Access, &'t Term)> {
        let Place::Stored(member) = &part.place else { return None };
        let stored = self.scene.relations[member.slot].as_ref()?;
        if self.tactics.optimizer == Optimizer::Off {
            return None;
        }
        let second = stored.indexes.iter().map(|&attribute| Access::Index { attribute });
        let mut accesses = stored.organisation.clone().into_iter().chain(second);
        accesses.find_map(|access| {
            let found = rest.open.iter().find_map(|joint| {
                let simple = simple(joint.term, member.slot)?;
                let kind = stored.layout.fields[simple.column].kind;
                let is_key = simple.column == access.attribute()
                    && simple.operator == BinaryOperator::Equal
                    && simple.value.slots() != 0
                    && simple.value.slots() & !bound == 0
                    && fits(kind, simple.value, self.scene.type_of(simple.value));
                is_key.then_some(joint.term)
            });
            found.map(|term| (access, term))
        })
    }

    /// The tuples of the first part.
    fn begin(&self, draft: &mut Draft, part: &Part<'_, 't>) {
        let is_once = draft.steps.is_empty() && matches!(draft.source, Source::Once);
        match &part.place {
            Place::Stored(member) if is_once => {
                let purpose = draft.purpose;
                *draft = self.first(member);
                draft.purpose = purpose;
            }
            Place::Stored(member) => self.again(draft, member, None),
            Place::Kept(temporary, packed) => {
                let slot = draft.packed(packed);
                let source = Source::Temporary { temporary: *temporary, slot };
                if is_once {
                    draft.source = source;
                } else {
                    draft.steps.push(Step::Loop(source));
                }
            }
        }
    }

    /// The tuples of a further part for each row.
    fn substitute(
        &mut self,
        draft: &mut Draft,
        part: &Part<'_, 't>,
        bound: SlotSet,
        rest: &mut Rest<'_, 't>,
    ) {
        match self.way(part, draft.rows, bound, rest) {
            Way::Lookup(access, term) => {
                rest.open.retain(|joint| !std::ptr::eq(joint.term, term));
                let Place::Stored(member) = &part.place else { return };
                self.look_up(draft, member, &access, term);
            }
            Way::Scan => self.begin(draft, part),
            Way::Projected => {
                let (slots, entries) = (part.slots, self.alone(part));
                let kept = self.kept(entries, slots, Purpose::Reformatting, rest);
                self.begin(draft, &kept);
            }
            Way::Hashed => self.hashed(draft, part, bound, rest),
        }
    }

    /// The rule: as it is where it is keyed usefully, and where nothing else costs less.
    fn way(&self, part: &Part<'_, 't>, times: f64, bound: SlotSet, rest: &Rest<'_, 't>) -> Way<'t> {
        if let Some((access, term)) = self.lookup(part, bound, rest) {
            return Way::Lookup(access, term);
        }
        let is_linked = rest.open.iter().any(|joint| sides(joint, bound, part.slots).is_some());
        let is_groups = matches!(&part.place, Place::Stored(member)
            if self.scene.relations[member.slot].is_none());
        if !is_linked || is_groups {
            return Way::Scan;
        }
        let own = self.pages(part);
        let as_it_is = times * own;
        if matches!(part.place, Place::Kept(..)) {
            let hashed = hashing(own) + times + pages::HASHING;
            return if as_it_is <= hashed { Way::Scan } else { Way::Hashed };
        }
        let items = rest.items(self, part.slots);
        let layout = Layout::of(items.iter().map(|item| self.scene.form(*item)));
        let new = pages_of(part.rows, &layout);
        let projected = own + new + times * new + pages::PROJECTING;
        let hashed = own + new + hashing(new) + times + pages::PROJECTING + pages::HASHING;
        if as_it_is < pages::PROJECTING + 1.0 + own || as_it_is <= projected.min(hashed) {
            Way::Scan
        } else if projected <= hashed {
            Way::Projected
        } else {
            Way::Hashed
        }
    }

    /// A pipeline over one part.
    fn alone(&self, part: &Part<'_, 't>) -> Draft {
        let mut draft = Draft::new();
        self.begin(&mut draft, part);
        draft.rows = part.rows;
        draft
    }

    /// A hash organisation of what is needed of a part, and a look into it for each row.
    fn hashed(
        &mut self,
        draft: &mut Draft,
        part: &Part<'_, 't>,
        bound: SlotSet,
        rest: &mut Rest<'_, 't>,
    ) {
        let mut keys = Vec::new();
        rest.open.retain(|joint| match sides(joint, bound, part.slots) {
            Some(sides) => {
                keys.push(sides);
                false
            }
            None => true,
        });
        let (old, new): (Vec<&Term>, Vec<&Term>) = keys.into_iter().unzip();
        let mut entries = self.alone(part);
        let items = rest.items(self, part.slots);
        let (mut pack, packed) = entries.pack(&self.scene, &new, &items);
        if !rest.counts && !rest.is_wanted(part.slots) {
            pack = once(&mut entries, pack);
        }
        entries.purpose = Purpose::Reformatting;
        let table = self.plan.tables.len();
        self.plan.tables.push(pack.layout.clone());
        let key = (0..new.len()).collect();
        self.plan.pipelines.push(entries.into(Sink::Build { table, pack, key }));
        let keys = old.iter().map(|key| draft.expr(&self.scene, key)).collect();
        let slot = draft.packed(&packed);
        draft.steps.push(Step::Probe { table, slot, keys });
    }

    /// The part of all rows that the conditions leave that can be decided when a part has joined
    /// what makes up `bound` with it.
    fn left(&self, rest: &Rest<'_, 't>, bound: SlotSet, slots: SlotSet) -> f64 {
        let distinct = |term: &Term| {
            let Term::Column { slot, column } = term else { return 10.0 };
            let Some(stored) = &self.scene.relations[*slot] else { return 10.0 };
            stored.statistics.get(*column).map_or(stored.rows, |known| known.distinct)
        };
        let ready = |joint: &&Joint<'_>| joint.slots & slots != 0 && joint.slots & !bound == 0;
        let parts = rest.open.iter().filter(ready).map(|joint| match joint.equality {
            Some((left, right)) => 1.0 / distinct(left).max(distinct(right)).max(1.0),
            None => OTHER_PART,
        });
        parts.product()
    }
}

/// The side of an equality that depends on what is bound alone, and the one on a part alone.
fn sides<'t>(joint: &Joint<'t>, bound: SlotSet, part: SlotSet) -> Option<(&'t Term, &'t Term)> {
    let (left, right) = joint.equality?;
    let is_of = |term: &Term, slots: SlotSet| term.slots() != 0 && term.slots() & !slots == 0;
    if is_of(left, bound) && is_of(right, part) {
        Some((left, right))
    } else if is_of(right, bound) && is_of(left, part) {
        Some((right, left))
    } else {
        None
    }
}

/// The conditions that can be decided now, which are then open no longer.
fn ready<'t>(rest: &mut Rest<'_, 't>, bound: SlotSet) -> Vec<Joint<'t>> {
    let (ready, open) = rest.open.iter().partition(|joint| joint.slots & !bound == 0);
    rest.open = open;
    ready
}

/// The loop behind so many steps, whose tuples only those conditions need that are its filters,
/// ends with the first tuple that fulfils them.
fn first_hit(draft: &mut Draft, before: usize) {
    let is_filter = |step: &Step| matches!(step, Step::Filter(_));
    let Some((Step::Loop(_), filters)) = draft.steps[before..].split_first() else { return };
    if !filters.iter().all(is_filter) {
        return;
    }
    let mut source = None;
    let mut parts = Vec::new();
    for step in draft.steps.drain(before..) {
        match step {
            Step::Loop(looped) => source = Some(Box::new(looped)),
            Step::Filter(Expr::And(all)) => parts.extend(all),
            Step::Filter(one) => parts.push(one),
            _ => unreachable!("they are filters"),
        }
    }
    let condition = if parts.len() > 1 { Some(Expr::And(parts)) } else { parts.pop() };
    draft.steps.extend(source.map(|source| Step::Loop(Source::First { source, condition })));
}

/// Each tuple once.
fn once(draft: &mut Draft, pack: Pack) -> Pack {
    let slot = draft.slot(pack.layout.clone());
    let column = |field: &crate::tuple::Field| Expr::Column { slot, field: field.clone() };
    let values = pack.layout.fields.iter().map(column).collect();
    let each = Pack { values, ..pack.clone() };
    draft.steps.push(Step::Distinct { pack, slot });
    each
}

/// The pages that so many tuples take.
fn pages_of(rows: f64, layout: &Layout) -> f64 {
    (rows * layout.bytes as f64 / pages::BYTES).ceil().max(1.0)
}

/// The pages that making a hash organisation reads and writes: a sort by the hash, the sorted file
/// read, and the new relation written twice.
fn hashing(own: f64) -> f64 {
    let mut files = (own / pages::SORTED).floor();
    let mut sorting = 2.0 * own;
    while files > 1.0 {
        files = ((files + pages::MERGED - 1.0) / pages::MERGED).floor();
        sorting += 2.0 * own;
    }
    sorting + 3.0 * own
}
