//! The merge join: both sides in the order of their keys, then side by side.

use loadstone_quel::check::resolved::{SlotSet, Term};

use super::draft::{Draft, Packed};
use super::join::Member;
use super::planner::Planner;
use super::scope::Joining;
use super::{Access, Sink, Source, Step};

impl Planner<'_> {
    /// The pairs of what is bound and a member that agree in these keys: the old sides and the new
    /// ones.
    pub(super) fn merge(
        &mut self,
        old: Draft,
        keys: &[(&Term, &Term)],
        member: &Member<'_>,
        joining: &Joining<'_, '_>,
    ) -> Draft {
        let (old_keys, new_keys): (Vec<_>, Vec<_>) = keys.iter().copied().unzip();
        let sole = joining.members().find(|one| joining.bound == 1 << one.slot);
        let (left, left_packed) = self.in_order(old, &old_keys, sole, joining, joining.bound);
        let new = self.first(member);
        let of = 1 << member.slot;
        let (right, right_packed) = self.in_order(new, &new_keys, Some(member), joining, of);
        let mut merged = Draft::new();
        merged.packed(&left_packed);
        merged.packed(&right_packed);
        let key: Vec<usize> = (0..keys.len()).collect();
        merged.source = Source::Merge { left, right, left_key: key.clone(), right_key: key };
        merged
    }

    /// A temporary relation of a pipeline's rows in the order of their keys, which come first in
    /// its tuples.
    fn in_order(
        &mut self,
        mut draft: Draft,
        keys: &[&Term],
        sole: Option<&Member<'_>>,
        joining: &Joining<'_, '_>,
        of: SlotSet,
    ) -> (usize, Packed) {
        let is_ordered = match (keys, sole) {
            ([key], Some(member)) => {
                member.is_ordered(&self.scene, key) && read_in_order(&mut draft, key)
            }
            _ => false,
        };
        let items = joining.items(self, of);
        let (pack, packed) = draft.pack(&self.scene, keys, &items);
        let temporary = self.plan.temporaries.len();
        self.plan.temporaries.push(pack.layout.clone());
        let sink = if is_ordered {
            Sink::Materialise { temporary, pack }
        } else {
            let key = (0..keys.len()).collect();
            Sink::Sort { temporary, pack, key, unique: false }
        };
        self.plan.pipelines.push(draft.into(sink));
        (temporary, packed)
    }
}

/// Have a pipeline over a relation that is clustered on a key run in its order; false where it
/// cannot: a step of it does more than drop rows.
fn read_in_order(draft: &mut Draft, key: &Term) -> bool {
    let Term::Column { column, .. } = key else { return false };
    if !draft.steps.iter().all(|step| matches!(step, Step::Filter(_))) {
        return false;
    }
    match &draft.source {
        Source::Scan { relation, slot, qualification: None } => {
            let access = Access::Clustered { attribute: *column };
            let (relation, slot) = (relation.clone(), *slot);
            draft.source = Source::Range { relation, slot, access, low: None, high: None };
            true
        }
        Source::Range { .. } => true,
        _ => false,
    }
}
