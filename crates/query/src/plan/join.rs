//! In which order the relations of a statement are joined, and how each.

use loadstone_quel::check::resolved::{SlotSet, Term};
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::BinaryOperator;

use super::Access;
use super::path::{Choice, Keys, Path, access_cost, fits, simple};
use super::scene::Scene;
use crate::tactics::{Join, Optimizer, Tactics};

/// The costs of joining, in nanoseconds: an entry put into a hash table, a look into one, a pair of
/// tuples looked at, a row handed on; a tuple kept for a merge, one of them looked at, and one
/// compared in a sort.
mod ns {
    pub(super) const BUILD: f64 = 25.0;
    pub(super) const PROBE: f64 = 10.0;
    pub(super) const PAIR: f64 = 3.0;
    pub(super) const ROW: f64 = 5.0;
    pub(super) const KEEP: f64 = 15.0;
    pub(super) const MERGE: f64 = 8.0;
    pub(super) const COMPARISON: f64 = 4.0;
}

/// The part of all pairs that a condition leaves that is no equality.
const OTHER_PART: f64 = 1.0 / 3.0;

/// A relation or partition that a statement runs over.
#[derive(Debug)]
pub(super) struct Member<'t> {
    /// The slot of the statement.
    pub slot: usize,
    /// The conditions on it alone.
    pub local: Vec<&'t Term>,
    /// The way in which its tuples are reached by these; None for a scan.
    pub path: Option<Path<'t>>,
    /// The number of tuples that these leave.
    pub rows: f64,
    /// The cost of reaching them.
    pub cost: f64,
}

impl Member<'_> {
    /// Whether its tuples can be read in the order of that key instead of being sorted: they are
    /// clustered on it, and no other path leads to them.
    pub fn is_ordered(&self, scene: &Scene<'_>, key: &Term) -> bool {
        let Term::Column { slot, column } = key else { return false };
        let Some(stored) = scene.relations[self.slot].as_ref().filter(|_| *slot == self.slot)
        else {
            return false;
        };
        let is_path_fit = self.path.as_ref().is_none_or(|path| {
            path.access == Access::Clustered { attribute: *column }
                && matches!(path.keys, Keys::Between(..))
        });
        let is_whole = match stored.layout.fields[*column].kind {
            Kind::Text { width } => width <= TEXT_WHOLE_BYTES_MAX,
            _ => true,
        };
        let own = Access::Clustered { attribute: *column };
        stored.organisation == Some(own) && is_path_fit && is_whole
    }
}

/// The widest texts that an index holds whole, whatever they are: behind longer ones, which it cuts
/// off, tuples lie in any order.
const TEXT_WHOLE_BYTES_MAX: usize = 250;

/// A condition on several slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint<'t> {
    pub term: &'t Term,
    pub slots: SlotSet,
    /// Two sides of one type, for an equality.
    pub equality: Option<(&'t Term, &'t Term)>,
}

impl<'t> Joint<'t> {
    pub fn new(scene: &Scene<'_>, term: &'t Term) -> Self {
        let equality = match term {
            Term::Compare { operator: BinaryOperator::Equal, left, right } => {
                let same = scene.type_of(left) == scene.type_of(right);
                same.then_some((left.as_ref(), right.as_ref()))
            }
            _ => None,
        };
        Self { term, slots: term.slots(), equality }
    }

    /// The side that depends on what is bound alone, then the one on the new slot alone.
    pub fn sides(&self, bound: SlotSet, slot: usize) -> Option<(&'t Term, &'t Term)> {
        let (left, right) = self.equality?;
        let is_old = |term: &Term| term.slots() != 0 && term.slots() & !bound == 0;
        let is_new = |term: &Term| term.slots() == 1 << slot;
        if is_old(left) && is_new(right) {
            Some((left, right))
        } else if is_old(right) && is_new(left) {
            Some((right, left))
        } else {
            None
        }
    }
}

/// The way in which a member joins those before it.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Each of its tuples with each row.
    Loop,
    /// Those of its tuples that an index gives for each row, by the equality of that number.
    Lookup { access: Access, joint: usize },
    /// It goes into a hash table in which each row looks.
    Build,
    /// The rows go into a hash table in which each of its tuples looks.
    Swap,
    /// Both are brought into the order of the key and read side by side.
    Merge,
}

/// One step of the order: a member by its position, how it joins, and how many rows there are then.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub member: usize,
    pub way: Way,
    pub rows: f64,
}

/// An order with what it costs.
#[derive(Debug, Clone)]
struct Order {
    stages: Vec<Stage>,
    cost: f64,
}

/// The members, the conditions between them, and the tactics: what an order is chosen from.
pub(super) struct Question<'q, 't> {
    pub scene: &'q Scene<'q>,
    pub members: &'q [Member<'t>],
    pub joints: &'q [Joint<'t>],
    pub tactics: &'q Tactics,
}

impl Question<'_, '_> {
    /// The order in which the members are joined, and how. Empty if there are none.
    pub fn answer(&self) -> Vec<Stage> {
        let all: Vec<usize> = (0..self.members.len()).collect();
        match self.tactics.optimizer {
            Optimizer::Off => self.in_order(&all),
            Optimizer::Rules => self.in_order(&self.by_rank()),
            Optimizer::Cost => {
                let orders = all.iter().map(|&first| self.greedily(first));
                let best = orders.min_by(|one, other| one.cost.total_cmp(&other.cost));
                best.map(|order| order.stages).unwrap_or_default()
            }
        }
    }

    /// The most restricted member first, then always one that is joined with those before it.
    fn by_rank(&self) -> Vec<usize> {
        let rank = |&member: &usize| {
            let one = &self.members[member];
            match (&one.path, one.local.is_empty()) {
                (Some(Path { keys: Keys::Equal(_), .. }), _) => 0,
                (Some(_), _) => 1,
                (None, false) => 2,
                (None, true) => 3,
            }
        };
        let mut open: Vec<usize> = (0..self.members.len()).collect();
        open.sort_by_key(rank);
        let mut order = Vec::new();
        let mut bound = 0;
        while !open.is_empty() {
            let joined = open.iter().position(|&member| {
                let slot = self.members[member].slot;
                self.joints.iter().any(|joint| joint.sides(bound, slot).is_some())
            });
            let next = open.remove(joined.unwrap_or(0));
            bound |= 1 << self.members[next].slot;
            order.push(next);
        }
        order
    }

    fn start(&self, member: usize) -> Order {
        let one = &self.members[member];
        Order { stages: vec![Stage { member, way: Way::Loop, rows: one.rows }], cost: one.cost }
    }

    /// The members one after another, each joined the best way that the rules allow.
    fn in_order(&self, members: &[usize]) -> Vec<Stage> {
        let Some((&first, rest)) = members.split_first() else { return Vec::new() };
        let mut order = self.start(first);
        let mut bound = 1 << self.members[first].slot;
        for &member in rest {
            let rows = order.stages.last().map_or(1.0, |stage| stage.rows);
            let mut ways = self.ways(rows, bound, member);
            let position = match self.tactics.optimizer {
                // Where an index fits it is taken, else the smaller side is put into a table.
                Optimizer::Rules => ways
                    .iter()
                    .position(|(way, _)| matches!(way, Way::Lookup { .. }))
                    .or_else(|| {
                        let is_smaller = self.members[member].rows <= rows;
                        ways.iter().position(|(way, _)| match way {
                            Way::Build => is_smaller,
                            Way::Swap => !is_smaller,
                            Way::Merge => {
                                matches!(self.tactics.join, Join::Merge | Join::IndexMerge)
                            }
                            _ => false,
                        })
                    }),
                // The text's order decides, so a row looks for the later one.
                _ => ways.iter().position(|(way, _)| {
                    self.tactics.join != Join::Auto
                        && matches!(way, Way::Build | Way::Lookup { .. } | Way::Merge)
                }),
            };
            let (way, _) = ways.swap_remove(position.unwrap_or(0));
            bound |= 1 << self.members[member].slot;
            let rows = rows * self.members[member].rows * self.part(bound, member);
            order.stages.push(Stage { member, way, rows });
        }
        order.stages
    }

    /// From one member on, always the cheapest next.
    fn greedily(&self, first: usize) -> Order {
        let mut order = self.start(first);
        let mut bound = 1 << self.members[first].slot;
        let mut open: Vec<usize> =
            (0..self.members.len()).filter(|&member| member != first).collect();
        while !open.is_empty() {
            let rows = order.stages.last().map_or(1.0, |stage| stage.rows);
            let mut best: Option<(f64, f64, usize, Way)> = None;
            for (position, &member) in open.iter().enumerate() {
                let then = bound | 1 << self.members[member].slot;
                let rows_then = rows * self.members[member].rows * self.part(then, member);
                for (way, cost) in self.ways(rows, bound, member) {
                    let cost = cost + rows_then * ns::ROW;
                    if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        best = Some((cost, rows_then, position, way));
                    }
                }
            }
            let Some((cost, rows, position, way)) = best else { break };
            let member = open.remove(position);
            bound |= 1 << self.members[member].slot;
            order.cost += cost;
            order.stages.push(Stage { member, way, rows });
        }
        order
    }

    /// The way in which a member can join so many rows of what is bound, with what it costs; at
    /// least one.
    fn ways(&self, rows: f64, bound: SlotSet, member: usize) -> Vec<(Way, f64)> {
        let one = &self.members[member];
        let join = self.tactics.join;
        let mut ways = vec![(Way::Loop, one.cost + rows * one.rows * ns::PAIR)];
        let is_joined = self.joints.iter().any(|joint| joint.sides(bound, one.slot).is_some());
        if is_joined && matches!(join, Join::Auto | Join::Hash) {
            ways.push((Way::Build, one.cost + one.rows * ns::BUILD + rows * ns::PROBE));
            ways.push((Way::Swap, one.cost + rows * ns::BUILD + one.rows * ns::PROBE));
        }
        if matches!(join, Join::Auto | Join::Index | Join::IndexMerge) {
            ways.extend(self.lookups(rows, bound, one));
        }
        if is_joined && matches!(join, Join::Auto | Join::Merge | Join::IndexMerge) {
            ways.push((Way::Merge, self.merging(rows, bound, member)));
        }
        // A join that is requested by name is used where it can be, also where loops would cost
        // less.
        if join != Join::Auto && ways.len() > 1 {
            ways.remove(0);
        }
        ways
    }

    /// The cost of bringing so many rows and a member into the order of their key, and of reading
    /// them side by side.
    fn merging(&self, rows: f64, bound: SlotSet, member: usize) -> f64 {
        let one = &self.members[member];
        let mut keys = self.joints.iter().filter_map(|joint| joint.sides(bound, one.slot));
        let key = keys.next().filter(|_| keys.next().is_none());
        let is_ordered = |of: SlotSet, key: Option<&Term>| {
            let sole = self.members.iter().find(|member| of == 1 << member.slot);
            sole.zip(key).is_some_and(|(member, key)| member.is_ordered(self.scene, key))
        };
        let kept = |rows: f64, is_ordered: bool| {
            let comparisons = if is_ordered { 0.0 } else { rows.max(2.0).log2() };
            rows * (ns::KEEP + ns::MERGE + comparisons * ns::COMPARISON)
        };
        one.cost
            + kept(rows, is_ordered(bound, key.map(|(old, _)| old)))
            + kept(one.rows, is_ordered(1 << one.slot, key.map(|(_, new)| new)))
    }

    fn lookups(&self, rows: f64, bound: SlotSet, one: &Member<'_>) -> Vec<(Way, f64)> {
        let Some(stored) = &self.scene.relations[one.slot] else { return Vec::new() };
        let choice = Choice { stored, conditions: Vec::new() };
        let second = stored.indexes.iter().map(|&attribute| Access::Index { attribute });
        let accesses = stored.organisation.clone().into_iter().chain(second);
        let found = accesses.filter_map(|access| {
            let joint = self.joints.iter().position(|joint| {
                let Some(simple) = simple(joint.term, one.slot) else { return false };
                let kind = stored.layout.fields[simple.column].kind;
                simple.column == access.attribute()
                    && simple.operator == BinaryOperator::Equal
                    && simple.value.slots() & !bound == 0
                    && fits(kind, simple.value, self.scene.type_of(simple.value))
            })?;
            let part = choice.equal_part(access.attribute());
            let cost = rows * access_cost(stored, &access, part);
            Some((Way::Lookup { access, joint }, cost))
        });
        found.collect()
    }

    /// The part of all pairs that stays when a member has joined what makes up `bound` with it.
    fn part(&self, bound: SlotSet, member: usize) -> f64 {
        let slot = 1 << self.members[member].slot;
        let ready = |joint: &&Joint<'_>| joint.slots & slot != 0 && joint.slots & !bound == 0;
        let parts = self.joints.iter().filter(ready).map(|joint| match joint.equality {
            Some((left, right)) => 1.0 / self.distinct(left).max(self.distinct(right)).max(1.0),
            None => OTHER_PART,
        });
        parts.product()
    }

    /// The number of values that a term has, about.
    fn distinct(&self, term: &Term) -> f64 {
        let Term::Column { slot, column } = term else { return 10.0 };
        let Some(stored) = &self.scene.relations[*slot] else { return 10.0 };
        let known = stored.statistics.get(*column).map(|known| known.distinct);
        known.unwrap_or(stored.rows)
    }
}
