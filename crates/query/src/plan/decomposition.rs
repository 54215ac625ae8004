//! `join=substitution`: a query of several range variables taken apart as INGRES did (Wong and
//! Youssefi, "Decomposition: A Strategy for Query Processing", TODS 1(3), 1976; 4.1BSD `decomp`).
//!
//! The part of a query that speaks of one variable alone is *detached*: run first, into a temporary
//! relation that has only the attributes still needed. Of three variables and more, pieces that
//! have no variable in common are run by themselves, and a piece that hangs on the others by a
//! single variable is run first and takes that variable's place. What can be taken apart no further
//! is left to [`super::substitution`].
//!
//! INGRES decided while it ran, with temporary relations of known size; here all is decided before,
//! by what is known of the stored ones. It ended with the first temporary relation that was empty;
//! here what is detached runs all the same, and loops over it end at once.

use std::collections::BTreeSet;

use loadstone_quel::check::resolved::{SlotSet, Term};

use super::draft::{Draft, Packed};
use super::join::{Joint, Member};
use super::planner::Planner;
use super::scene::Item;
use super::{Purpose, Sink};

/// A range variable that is left, or several that have become one.
#[derive(Debug)]
pub(super) struct Part<'m, 't> {
    /// The slots of the statement that it has.
    pub slots: SlotSet,
    pub place: Place<'m, 't>,
    /// The number of tuples that it has, about.
    pub rows: f64,
}

/// The place where a part's tuples are.
#[derive(Debug)]
pub(super) enum Place<'m, 't> {
    /// The place where they are stored.
    Stored(&'m Member<'t>),
    /// In a temporary relation of that number.
    Kept(usize, Packed),
}

/// The rest of a query while it is taken apart.
pub(super) struct Rest<'r, 't> {
    /// The conditions between parts.
    pub open: Vec<Joint<'t>>,
    /// The items that the sink needs.
    pub wanted: &'r BTreeSet<Item>,
    /// Whether it matters how often a row comes.
    pub counts: bool,
}

impl Rest<'_, '_> {
    /// The items of some slots that the sink and the conditions still to come need.
    pub fn items(&self, planner: &Planner<'_>, of: SlotSet) -> BTreeSet<Item> {
        let mut items = planner.scene.items_of(self.open.iter().map(|joint| joint.term));
        items.extend(self.wanted);
        items.retain(|item| of & 1 << item.slot() != 0);
        items
    }

    /// Whether the sink needs something of some slots.
    pub fn is_wanted(&self, of: SlotSet) -> bool {
        self.wanted.iter().any(|item| of & 1 << item.slot() != 0)
    }
}

impl<'t> Planner<'_> {
    /// The rows of several members, each of which fulfils all conditions; `begun` has those that
    /// depend on no member.
    pub(super) fn decomposed<'m>(
        &mut self,
        begun: Draft,
        members: &'m [Member<'t>],
        mut rest: Rest<'_, 't>,
    ) -> Draft {
        let parts = members.iter().map(|member| self.detached(member, &rest)).collect();
        let parts = self.reduced(parts, &mut rest);
        self.substituted(begun, parts, &mut rest)
    }

    /// One-variable detachment: what a member's own conditions leave of it is kept.
    fn detached<'m>(&mut self, member: &'m Member<'t>, rest: &Rest<'_, 't>) -> Part<'m, 't> {
        let (slots, rows) = (1 << member.slot, member.rows);
        if member.local.is_empty() || self.scene.relations[member.slot].is_none() {
            return Part { slots, place: Place::Stored(member), rows };
        }
        let draft = self.first(member);
        self.kept(draft, slots, Purpose::Detachment, rest)
    }

    /// The rows of a draft as a temporary relation.
    pub(super) fn kept<'m>(
        &mut self,
        mut draft: Draft,
        slots: SlotSet,
        purpose: Purpose,
        rest: &Rest<'_, 't>,
    ) -> Part<'m, 't> {
        let rows = draft.rows;
        let items = rest.items(self, slots);
        // Of what nobody needs only how often it comes counts.
        let nothing = [&Term::Integer(1)];
        let keys: &[&Term] = if items.is_empty() { &nothing } else { &[] };
        let (pack, packed) = draft.pack(&self.scene, keys, &items);
        let temporary = self.plan.temporaries.len();
        self.plan.temporaries.push(pack.layout.clone());
        draft.purpose = purpose;
        self.plan.pipelines.push(draft.into(Sink::Materialise { temporary, pack }));
        Part { slots, place: Place::Kept(temporary, packed), rows }
    }

    /// Pieces that can be run by themselves become one part each.
    fn reduced<'m>(
        &mut self,
        mut parts: Vec<Part<'m, 't>>,
        rest: &mut Rest<'_, 't>,
    ) -> Vec<Part<'m, 't>> {
        while let Some(piece) = piece(&parts, &rest.open) {
            let (own, others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.slots & piece != 0);
            let own = self.reduced(own, rest);
            let draft = self.substituted(Draft::new(), own, rest);
            parts = others;
            parts.push(self.kept(draft, piece, Purpose::Substitution, rest));
        }
        parts
    }
}

/// The slots of parts that can be run before the others: of three parts and more, those that no
/// condition connects with the others, or that only one part connects with them, that part among
/// them.
fn piece(parts: &[Part<'_, '_>], open: &[Joint<'_>]) -> Option<SlotSet> {
    if parts.len() < 3 {
        return None;
    }
    let all: Vec<SlotSet> = parts.iter().map(|part| part.slots).collect();
    let apart = components(&all, open, 0);
    if apart.len() > 1 {
        let is_single = |slots: &SlotSet| all.contains(slots);
        return apart.into_iter().find(|slots| !is_single(slots));
    }
    let rows = |slots: SlotSet| -> f64 {
        parts.iter().filter(|part| part.slots & slots != 0).map(|part| part.rows).product()
    };
    let pieces = all.iter().filter_map(|&joining| {
        let pieces = components(&all, open, joining);
        let least = pieces.iter().copied().min_by(|&a, &b| rows(a).total_cmp(&rows(b)))?;
        (pieces.len() > 1).then_some(joining | least)
    });
    pieces.min_by(|&a, &b| rows(a).total_cmp(&rows(b)))
}

/// The parts that conditions connect, one set of slots for each group, without one part.
fn components(parts: &[SlotSet], open: &[Joint<'_>], without: SlotSet) -> Vec<SlotSet> {
    let mut groups: Vec<SlotSet> = parts.iter().copied().filter(|&one| one != without).collect();
    for joint in open {
        let slots = joint.slots & !without;
        let (touched, mut others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group & slots != 0);
        if !touched.is_empty() {
            others.push(touched.into_iter().fold(0, |all, one| all | one));
        }
        groups = others;
    }
    groups
}
