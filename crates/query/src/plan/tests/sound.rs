//! Properties of every plan: what an expression reads was filled before, keys agree in type, and
//! no condition is lost.

use loadstone_quel::check::Checker;
use loadstone_quel::parse;
use loadstone_quel::schema::Kind;
use proptest::prelude::*;

use super::facts::Facts;
use super::{INGRES, operations};
use crate::expression::Expr;
use crate::plan::{Access, Pack, Plan, Sink, Source, Step, plan};
use crate::tactics::Tactics;
use crate::tuple::Layout;

/// Slots that are filled so far.
struct Filled<'p> {
    plan: &'p Plan,
    slots: &'p [Layout],
    done: Vec<bool>,
}

impl Filled<'_> {
    fn fill(&mut self, slot: usize, layout: Option<&Layout>) {
        assert!(!self.done[slot], "slot {slot} is filled twice");
        if let Some(layout) = layout {
            assert_eq!(&self.slots[slot], layout, "slot {slot} has another form");
        }
        self.done[slot] = true;
    }

    fn reads(&self, one: &Expr) {
        match one {
            Expr::Integer(_) | Expr::Real(_) | Expr::Text(_) | Expr::Parameter { .. } => {}
            Expr::Column { slot, field } => {
                assert!(self.done[*slot], "slot {slot} is read before it is filled");
                assert!(self.slots[*slot].fields.contains(field), "{field:?} is not there");
            }
            Expr::Scalar { aggregation, field } => {
                let aggregation = &self.plan.aggregations[*aggregation];
                assert!(aggregation.by == 0 && aggregation.layout.fields.contains(field));
            }
            Expr::RecordId { slot } => assert!(self.done[*slot]),
            Expr::Not(operand)
            | Expr::Negate { operand, .. }
            | Expr::Match { text: operand, .. }
            | Expr::Call { argument: operand, .. } => self.reads(operand),
            Expr::And(parts) | Expr::Or(parts) => {
                assert!(parts.len() > 1);
                for part in parts {
                    self.reads(part);
                }
            }
            Expr::Compare { left, right, .. } | Expr::Arithmetic { left, right, .. } => {
                self.reads(left);
                self.reads(right);
            }
        }
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Once => {}
            Source::Scan { slot, qualification, .. } => {
                self.fill(*slot, None);
                if let Some(one) = qualification {
                    self.reads(one);
                }
            }
            Source::Range { slot, access, low, high, .. } => {
                let is_for_order = matches!(access, Access::Clustered { .. });
                assert!(!matches!(access, Access::Hashed { .. }));
                assert!(is_for_order || low.iter().chain(high).count() > 0);
                low.iter().chain(high).for_each(|(key, _)| self.reads(key));
                self.fill(*slot, None);
            }
            Source::Lookup { slot, key, .. } => {
                self.reads(key);
                self.fill(*slot, None);
            }
            Source::End { slot, access, .. } => {
                assert!(!matches!(access, Access::Hashed { .. }));
                self.fill(*slot, None);
            }
            Source::Temporary { temporary, slot } => {
                self.fill(*slot, Some(&self.plan.temporaries[*temporary]));
            }
            Source::Groups { aggregation, slot } => {
                self.fill(*slot, Some(&self.plan.aggregations[*aggregation].layout));
            }
            Source::First { source, condition } => {
                self.source(source);
                if let Some(one) = condition {
                    self.reads(one);
                }
            }
            Source::Merge { left, right, left_key, right_key } => {
                assert!(left_key == right_key && !left_key.is_empty());
                let (left, right) = (&self.plan.temporaries[*left], &self.plan.temporaries[*right]);
                for &at in left_key {
                    let kinds = (left.fields[at].kind, right.fields[at].kind);
                    assert_eq!(type_of(kinds.0), type_of(kinds.1));
                }
                self.fill(0, Some(left));
                self.fill(1, Some(right));
            }
        }
    }

    fn keys(&self, keys: &[Expr], layout: &Layout, fields: impl Iterator<Item = usize>) {
        let fields: Vec<usize> = fields.collect();
        assert_eq!(keys.len(), fields.len());
        for (key, field) in keys.iter().zip(fields) {
            self.reads(key);
            if let Expr::Column { field: own, .. } = key {
                assert_eq!(type_of(own.kind), type_of(layout.fields[field].kind));
            }
        }
    }

    fn pack(&self, pack: &Pack) {
        assert_eq!(pack.values.len(), pack.layout.fields.len());
        pack.values.iter().for_each(|value| self.reads(value));
    }
}

fn type_of(kind: Kind) -> std::mem::Discriminant<Kind> {
    std::mem::discriminant(&kind)
}

/// Panics where a plan cannot be run.
fn sound(plan: &Plan) {
    let mut built: Vec<Option<usize>> = vec![None; plan.tables.len()];
    for pipeline in &plan.pipelines {
        let slots = &pipeline.slots;
        let mut filled = Filled { plan, slots, done: vec![false; slots.len()] };
        filled.source(&pipeline.source);
        for step in &pipeline.steps {
            match step {
                Step::Filter(condition) => filled.reads(condition),
                Step::Loop(source) => filled.source(source),
                Step::Probe { table, slot, keys } => {
                    let count = built[*table].take();
                    let count = count.expect("a table is built before it is probed, and once");
                    filled.keys(keys, &plan.tables[*table], 0..count);
                    filled.fill(*slot, Some(&plan.tables[*table]));
                }
                Step::ProbeGroups { aggregation, slot, keys } => {
                    let aggregation = &plan.aggregations[*aggregation];
                    filled.keys(keys, &aggregation.layout, 0..aggregation.by);
                    filled.fill(*slot, Some(&aggregation.layout));
                }
                Step::Distinct { pack, slot } => {
                    filled.pack(pack);
                    filled.done.fill(false);
                    filled.fill(*slot, Some(&pack.layout));
                }
            }
        }
        match &pipeline.sink {
            Sink::Rows(pack)
            | Sink::Store { pack, .. }
            | Sink::Append { pack, .. }
            | Sink::Materialise { pack, .. }
            | Sink::Sort { pack, .. } => filled.pack(pack),
            Sink::Replace { pack, id, .. } => {
                filled.pack(pack);
                filled.reads(id);
            }
            Sink::Delete { id, .. } => filled.reads(id),
            Sink::Build { table, pack, key } => {
                filled.pack(pack);
                assert!(key.iter().copied().eq(0..key.len()), "the key's fields come first");
                built[*table] = Some(key.len());
            }
            Sink::Aggregate { by, updates, aggregation } => {
                assert_eq!(by.len(), plan.aggregations[*aggregation].by);
                for one in by {
                    filled.reads(one);
                }
                for update in updates {
                    filled.reads(&update.argument);
                    update.condition.iter().for_each(|one| filled.reads(one));
                }
            }
        }
    }
}

/// The number of conditions that the plan sees to: filters, keys of look-ups and joins, bounds.
fn conditions(plan: &Plan) -> usize {
    fn of_source(source: &Source) -> usize {
        let of = |condition: &Option<Expr>| match condition {
            Some(Expr::And(parts)) => parts.len(),
            Some(_) => 1,
            None => 0,
        };
        match source {
            Source::First { source, condition } => of_source(source) + of(condition),
            Source::Lookup { .. } => 1,
            Source::Range { low, high, .. } => low.iter().chain(high).count(),
            Source::Scan { qualification, .. } => of(qualification),
            Source::Merge { left_key, .. } => left_key.len(),
            _ => 0,
        }
    }
    let of_step = |step: &Step| match step {
        Step::Filter(_) => 1,
        Step::Loop(source) => of_source(source),
        Step::Probe { keys, .. } => keys.len(),
        Step::ProbeGroups { .. } | Step::Distinct { .. } => 0,
    };
    let of_sink = |sink: &Sink| match sink {
        Sink::Aggregate { updates, .. } => updates
            .iter()
            .map(|update| match &update.condition {
                Some(Expr::And(parts)) => parts.len(),
                Some(_) => 1,
                None => 0,
            })
            .sum(),
        _ => 0,
    };
    let of_pipeline = |one: &crate::plan::Pipeline| {
        let steps: usize = one.steps.iter().map(of_step).sum();
        of_source(&one.source) + steps + of_sink(&one.sink)
    };
    plan.pipelines.iter().map(of_pipeline).sum()
}

const TACTICS: [&str; 16] = [
    "",
    "optimizer=rules",
    "optimizer=none",
    "join=hash",
    "join=index",
    "join=nested-loops&optimizer=rules",
    "join=hash&optimizer=none",
    "join=substitution",
    "join=substitution&optimizer=rules&accelerator=on",
    "join=substitution&optimizer=none",
    "accelerator=on",
    "join=merge",
    "join=merge&optimizer=rules",
    "join=merge&optimizer=none",
    "distinct=sort&aggregate=sort",
    "distinct=sort&aggregate=sort&join=merge",
];

fn all_plans(facts: &Facts, program: &str) {
    for tactics in TACTICS {
        let tactics: Tactics = tactics.parse().unwrap();
        let mut checker = Checker::new(facts.catalogue());
        for statement in parse(program).unwrap() {
            let step = checker.statement(&statement);
            let step = step.unwrap_or_else(|fault| panic!("{}", fault.meaning(program)));
            let plan = plan(&step, facts, &tactics).unwrap();
            sound(&plan);
            let inner = step.aggregates.iter().map(|one| one.scope.conditions.len());
            let all = step.scope.conditions.len() + inner.sum::<usize>();
            assert_eq!(conditions(&plan), all, "{program}\n{}", plan.explain(None));
        }
    }
}

#[test]
fn the_papers_plans_can_be_run() {
    let facts = Facts::wisconsin("1993", "indexed");
    for (_, _, program) in operations("1993") {
        all_plans(&facts, &program);
    }
    for (_, program) in INGRES {
        all_plans(&Facts::parts(), &format!("range of p is parts range of q is parts {program}"));
    }
}

/// A number of one of three range variables, perhaps an aggregate's.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[pqr]\\.(pnum|qoh|pweight)",
        1 => "(min|sum|countu)\\([pq]\\.qoh\\)",
        1 => "(max|count)\\(([pq])\\.pnum by p\\.pweight where p\\.qoh > 3\\)",
        1 => "sum\\(r\\.qoh \\* max\\(q\\.pnum by q\\.qoh\\) by r\\.pcolor\\)",
        1 => "[1-9]",
    ]
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (number(), "(=|<|>=|!=)", number())
            .prop_map(|(a, sign, b)| format!("{a} {sign} {b}")),
        1 => "[pqr]\\.pcolor = (\"black\"|\"b\\*\"|q\\.pname)",
        1 => (number(), number()).prop_map(|(a, b)| format!("({a} = 7 or not {b} < 2.5)")),
    ]
}

proptest! {
    #[test]
    fn every_plan_can_be_run(
        targets in prop::collection::vec(number(), 1..4),
        conditions in prop::collection::vec(condition(), 0..4),
        head in prop_oneof![
            Just("retrieve"), Just("retrieve unique"), Just("retrieve into x"),
            Just("append to parts"), Just("replace p"), Just("delete p"),
        ],
    ) {
        let is_query = head.starts_with("retrieve");
        let names = if is_query { ["a", "b", "c"] } else { ["pnum", "qoh", "pweight"] };
        let list: Vec<_> =
            targets.iter().zip(names).map(|(value, name)| format!("{name} = {value}")).collect();
        let list =
            if head == "delete p" { String::new() } else { format!("({})", list.join(", ")) };
        let filter = if conditions.is_empty() { String::new() } else {
            format!("where {}", conditions.join(" and "))
        };
        let ranges = "range of p is parts range of q is parts range of r is parts";
        all_plans(&Facts::parts(), &format!("{ranges} {head} {list} {filter}"));
    }
}
