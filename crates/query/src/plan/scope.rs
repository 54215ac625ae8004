//! From the slots and conditions of a statement or an aggregate to a pipeline without its sink,
//! and the pipelines that must run before it.

use std::collections::BTreeSet;

use loadstone_quel::check::resolved::{AggregatePlace, Slot, SlotSet, Term};

use super::decomposition::Rest;
use super::draft::Draft;
use super::join::{Joint, Member, Question, Stage, Way};
use super::path::{Choice, Keys, fits, simple};
use super::planner::Planner;
use super::scene::Item;
use super::{Access, Sink, Source, Step};
use crate::expression::Expr;
use crate::tactics::{Accelerator, Join, Optimizer};

/// The slots to run over, and the items wanted of them.
pub(super) struct Scope<'t> {
    pub slots: SlotSet,
    pub conditions: &'t [Term],
    /// The items that the sink needs of the tuples.
    pub wanted: BTreeSet<Item>,
    /// Whether it matters how often a row comes.
    pub counts: bool,
}

impl Planner<'_> {
    /// The rows that fulfil a scope's conditions.
    pub(super) fn rows(&mut self, scope: &Scope<'_>) -> Draft {
        let (constant, others): (Vec<_>, Vec<_>) =
            scope.conditions.iter().partition(|condition| condition.slots() == 0);
        let (local, between): (Vec<&Term>, Vec<_>) =
            others.into_iter().partition(|condition| condition.slots().is_power_of_two());
        let members: Vec<Member<'_>> =
            bits(scope.slots).map(|slot| self.member(slot, &local)).collect();
        let joints: Vec<Joint<'_>> =
            between.into_iter().map(|term| Joint::new(&self.scene, term)).collect();
        if self.tactics.join == Join::Substitution && members.len() > 1 {
            let mut begun = Draft::new();
            for condition in &constant {
                begun.filter(&self.scene, condition);
            }
            let (wanted, counts) = (&scope.wanted, scope.counts);
            return self.decomposed(begun, &members, Rest { open: joints, wanted, counts });
        }
        let question = Question {
            scene: &self.scene,
            members: &members,
            joints: &joints,
            tactics: self.tactics,
        };
        let stages = question.answer();
        let mut draft = Draft::new();
        for condition in &constant {
            draft.filter(&self.scene, condition);
        }
        let mut joining = Joining {
            members: &members,
            open: joints.clone(),
            joints: &joints,
            wanted: &scope.wanted,
            bound: 0,
        };
        for (position, stage) in stages.iter().enumerate() {
            if position == 0 && constant.is_empty() {
                draft = self.first(&members[stage.member]);
            } else if position == 0 {
                self.again(&mut draft, &members[stage.member], None);
            } else {
                draft = self.join(draft, stage, &mut joining);
            }
            joining.bound |= 1 << members[stage.member].slot;
            joining.ready(self, &mut draft);
            draft.rows = stage.rows;
        }
        draft
    }

    fn member<'t>(&self, slot: usize, local: &[&'t Term]) -> Member<'t> {
        let own = local.iter().filter(|condition| condition.slots() == 1 << slot);
        let local: Vec<&Term> = own.copied().collect();
        let Some(stored) = &self.scene.relations[slot] else {
            let (rows, kept) = (100.0, 0.3_f64.powi(local.len() as i32));
            return Member { slot, local, path: None, rows: rows * kept, cost: rows };
        };
        let simple = |condition: &&'t Term| {
            let simple = simple(condition, slot).filter(|simple| {
                let kind = stored.layout.fields[simple.column].kind;
                simple.value.slots() == 0
                    && fits(kind, simple.value, self.scene.type_of(simple.value))
            });
            (*condition, simple)
        };
        let choice = Choice { stored, conditions: local.iter().map(simple).collect() };
        let path = choice.path(self.tactics.optimizer);
        let cost = path.as_ref().map_or(choice.scan_cost(), |path| choice.cost(path));
        let rows = stored.rows * choice.part();
        Member { slot, local, path, rows, cost }
    }

    /// A pipeline over one member.
    pub(super) fn first(&self, member: &Member<'_>) -> Draft {
        let mut draft = Draft::new();
        draft.source = self.source(&mut draft, member);
        self.filter_local(&mut draft, member);
        draft.rows = member.rows;
        draft
    }

    /// Every tuple of a member for each row.
    pub(super) fn again(&self, draft: &mut Draft, member: &Member<'_>, rows: Option<f64>) {
        let source = self.source(draft, member);
        draft.steps.push(Step::Loop(source));
        self.filter_local(draft, member);
        draft.rows = rows.unwrap_or(member.rows);
    }

    fn filter_local(&self, draft: &mut Draft, member: &Member<'_>) {
        let used = member.path.as_ref().map(|path| path.used.as_slice()).unwrap_or_default();
        for (position, condition) in member.local.iter().enumerate() {
            if !used.contains(&position) && !self.is_judged(member, condition) {
                draft.filter(&self.scene, condition);
            }
        }
    }

    /// Whether the scan of a member itself holds its tuples against a condition.
    fn is_judged(&self, member: &Member<'_>, condition: &Term) -> bool {
        self.tactics.accelerator != Accelerator::Off
            && member.path.is_none()
            && self.scene.relations[member.slot].is_some()
            && is_of_its_tuple(condition)
    }

    /// The conditions that a scan holds its tuples against.
    fn qualification(&self, draft: &mut Draft, member: &Member<'_>) -> Option<Expr> {
        let judged = member.local.iter().filter(|condition| self.is_judged(member, condition));
        let mut parts: Vec<Expr> =
            judged.map(|condition| draft.expr(&self.scene, condition)).collect();
        if parts.len() > 1 { Some(Expr::And(parts)) } else { parts.pop() }
    }

    fn source(&self, draft: &mut Draft, member: &Member<'_>) -> Source {
        let Some(stored) = &self.scene.relations[member.slot] else {
            let aggregation = self.groups_of(member.slot);
            let layout = self.scene.aggregations[aggregation].layout.clone();
            return Source::Groups { aggregation, slot: draft.whole(member.slot, layout) };
        };
        let relation = stored.name.clone();
        let Some(path) = &member.path else {
            let slot = draft.whole(member.slot, stored.layout.clone());
            let qualification = self.qualification(draft, member);
            return Source::Scan { relation, slot, qualification };
        };
        let access = path.access.clone();
        match path.keys {
            Keys::Equal(key) => {
                let key = self.key(draft, member.slot, &access, key);
                let slot = draft.whole(member.slot, stored.layout.clone());
                Source::Lookup { relation, slot, access, key }
            }
            Keys::Between(low, high) => {
                let mut bound = |bound: Option<(&Term, bool)>| {
                    bound.map(|(key, is_in)| (self.key(draft, member.slot, &access, key), is_in))
                };
                let (low, high) = (bound(low), bound(high));
                let slot = draft.whole(member.slot, stored.layout.clone());
                Source::Range { relation, slot, access, low, high }
            }
        }
    }

    /// A key of the attribute's own type: an integer that [`fits`] reals is one of them.
    fn key(&self, draft: &mut Draft, slot: usize, access: &Access, key: &Term) -> Expr {
        let key = draft.expr(&self.scene, key);
        let stored = self.scene.relations[slot].as_ref();
        let kind = stored.map(|stored| stored.layout.fields[access.attribute()].kind);
        match (key, kind) {
            (Expr::Integer(value), Some(loadstone_quel::schema::Kind::Real { .. })) => {
                Expr::Real(value as f64)
            }
            (key, _) => key,
        }
    }

    /// The aggregation whose tuples a slot of partitions runs over.
    fn groups_of(&self, slot: usize) -> usize {
        let Slot::Partition(partition) = self.statement.slots[slot] else {
            unreachable!("a slot without a relation runs over partitions")
        };
        self.scene.groups[partition].expect("partitions are planned before they are run over")
    }

    fn join(&mut self, mut draft: Draft, stage: &Stage, joining: &mut Joining<'_, '_>) -> Draft {
        let member = &joining.members[stage.member];
        match &stage.way {
            Way::Loop => {
                self.nested(&mut draft, member, joining);
                draft
            }
            Way::Lookup { access, joint } => {
                let term = joining.take(*joint);
                self.look_up(&mut draft, member, access, term);
                draft
            }
            Way::Build => {
                let keys = joining.keys(member.slot);
                let (old, new): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
                let entries = self.first(member);
                self.probe(entries, &new, draft, &old, joining, 1 << member.slot)
            }
            Way::Swap => {
                let keys = joining.keys(member.slot);
                let (old, new): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
                let rows = self.first(member);
                self.probe(draft, &old, rows, &new, joining, joining.bound)
            }
            Way::Merge => {
                let keys = joining.keys(member.slot);
                self.merge(draft, &keys, member, joining)
            }
        }
    }

    /// The tuples of a member that an access gives for each row by an equality.
    pub(super) fn look_up(
        &self,
        draft: &mut Draft,
        member: &Member<'_>,
        access: &Access,
        term: &Term,
    ) {
        let key = simple(term, member.slot).expect("the way was found so").value;
        let key = self.key(draft, member.slot, access, key);
        let stored = self.scene.relations[member.slot].as_ref();
        let stored = stored.expect("only relations have indexes");
        let (relation, layout) = (stored.name.clone(), stored.layout.clone());
        let slot = draft.whole(member.slot, layout);
        let access = access.clone();
        draft.steps.push(Step::Loop(Source::Lookup { relation, slot, access, key }));
        // The access takes care of that equality alone.
        for condition in &member.local {
            draft.filter(&self.scene, condition);
        }
    }

    /// Put entries into a hash table and look for the rows there.
    fn probe(
        &mut self,
        mut entries: Draft,
        entry_keys: &[&Term],
        mut rows: Draft,
        row_keys: &[&Term],
        joining: &Joining<'_, '_>,
        of: SlotSet,
    ) -> Draft {
        let items = joining.items(self, of);
        let (pack, packed) = entries.pack(&self.scene, entry_keys, &items);
        let table = self.plan.tables.len();
        self.plan.tables.push(pack.layout.clone());
        let key = (0..entry_keys.len()).collect();
        self.plan.pipelines.push(entries.into(Sink::Build { table, pack, key }));
        let keys = row_keys.iter().map(|key| rows.expr(&self.scene, key)).collect();
        let slot = rows.packed(&packed);
        rows.steps.push(Step::Probe { table, slot, keys });
        rows
    }

    /// Every tuple of a member for each row: the relation is scanned again as in 1983, or, where
    /// costs decide and nobody requests nested loops, what is needed of it is kept and run over
    /// again.
    fn nested(&mut self, draft: &mut Draft, member: &Member<'_>, joining: &Joining<'_, '_>) {
        let items = joining.items(self, 1 << member.slot);
        let is_kept = self.tactics.join != Join::NestedLoops
            && self.tactics.optimizer == Optimizer::Cost
            && self.scene.relations[member.slot].is_some()
            && !items.is_empty();
        if !is_kept {
            return self.again(draft, member, None);
        }
        let mut kept = self.first(member);
        let (pack, packed) = kept.pack(&self.scene, &[], &items);
        let temporary = self.plan.temporaries.len();
        self.plan.temporaries.push(pack.layout.clone());
        self.plan.pipelines.push(kept.into(Sink::Materialise { temporary, pack }));
        let slot = draft.packed(&packed);
        draft.steps.push(Step::Loop(Source::Temporary { temporary, slot }));
    }
}

/// The work left while members are joined.
pub(super) struct Joining<'j, 't> {
    members: &'j [Member<'t>],
    /// All conditions between slots.
    joints: &'j [Joint<'t>],
    /// Those that no step has seen to yet.
    open: Vec<Joint<'t>>,
    wanted: &'j BTreeSet<Item>,
    /// The slots whose tuples the pipeline has.
    pub bound: SlotSet,
}

impl<'j, 't> Joining<'j, 't> {
    /// The members to join.
    pub fn members(&self) -> std::slice::Iter<'j, Member<'t>> {
        self.members.iter()
    }

    /// Filter by the conditions that can be decided now.
    fn ready(&mut self, planner: &Planner<'_>, draft: &mut Draft) {
        let bound = self.bound;
        let (ready, open) = self.open.iter().partition(|joint| joint.slots & !bound == 0);
        self.open = open;
        for joint in Vec::<Joint<'_>>::from_iter(ready) {
            draft.filter(&planner.scene, joint.term);
        }
    }

    /// Take a condition by its number.
    fn take(&mut self, number: usize) -> &'t Term {
        let term = self.joints[number].term;
        self.open.retain(|joint| !std::ptr::eq(joint.term, term));
        term
    }

    /// Take the equalities between what is bound and a new slot: the old sides and the new ones.
    fn keys(&mut self, slot: usize) -> Vec<(&'t Term, &'t Term)> {
        let bound = self.bound;
        let mut keys = Vec::new();
        self.open.retain(|joint| match joint.sides(bound, slot) {
            Some(sides) => {
                keys.push(sides);
                false
            }
            None => true,
        });
        keys
    }

    /// The items of some slots that the sink and the conditions still to come need.
    pub fn items(&self, planner: &Planner<'_>, of: SlotSet) -> BTreeSet<Item> {
        let mut items = planner.scene.items_of(self.open.iter().map(|joint| joint.term));
        items.extend(self.wanted);
        items.retain(|item| of & 1 << item.slot() != 0);
        items
    }
}

/// Whether a condition needs nothing but the tuple and what is known before: the results of other
/// partitions are looked up by steps.
fn is_of_its_tuple(condition: &Term) -> bool {
    match condition {
        Term::Integer(_)
        | Term::Real(_)
        | Term::Text(_)
        | Term::Parameter { .. }
        | Term::Column { .. } => true,
        Term::Aggregate { place, .. } => *place == AggregatePlace::Scalar,
        Term::Not(operand)
        | Term::Negate { operand, .. }
        | Term::Match { text: operand, .. }
        | Term::Call { argument: operand, .. } => is_of_its_tuple(operand),
        Term::And(left, right)
        | Term::Or(left, right)
        | Term::Compare { left, right, .. }
        | Term::Arithmetic { left, right, .. } => is_of_its_tuple(left) && is_of_its_tuple(right),
    }
}

/// The slots in a set.
pub(super) fn bits(slots: SlotSet) -> impl Iterator<Item = usize> {
    (0..64).filter(move |slot| slots & 1 << slot != 0)
}
