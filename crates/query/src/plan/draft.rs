//! A pipeline that is being made, and how terms of the checked tree become expressions over it.

use std::collections::{BTreeMap, BTreeSet};

use loadstone_quel::check::resolved::{AggregatePlace, Term};

use super::scene::{Item, Scene, trimmed};
use super::{Pack, Pipeline, Purpose, Sink, Source, Step};
use crate::expression::Expr;
use crate::tuple::Layout;

/// A pipeline without its sink.
#[derive(Debug)]
pub(super) struct Draft {
    pub source: Source,
    pub steps: Vec<Step>,
    pub slots: Vec<Layout>,
    /// The number of rows that are expected here.
    pub rows: f64,
    pub purpose: Purpose,
    /// The pipeline's slot that holds the whole tuple of a statement's slot.
    whole: BTreeMap<usize, usize>,
    /// The items in tuples made by earlier pipelines or steps.
    held: BTreeMap<Item, Expr>,
    /// The slots of partitions looked up, by the partition's slot of the statement (None: by the
    /// row's own by-values) and the aggregation.
    probed: BTreeMap<(Option<usize>, usize), usize>,
}

impl Draft {
    /// One row, or, once `source` is set, that source's.
    pub fn new() -> Self {
        Self {
            source: Source::Once,
            steps: Vec::new(),
            slots: Vec::new(),
            rows: 1.0,
            purpose: Purpose::default(),
            whole: BTreeMap::new(),
            held: BTreeMap::new(),
            probed: BTreeMap::new(),
        }
    }

    /// A slot more.
    pub fn slot(&mut self, layout: Layout) -> usize {
        self.slots.push(layout);
        self.slots.len() - 1
    }

    /// A slot for the whole tuple of a slot of the statement.
    pub fn whole(&mut self, of: usize, layout: Layout) -> usize {
        let slot = self.slot(layout);
        self.whole.insert(of, slot);
        slot
    }

    /// A slot for tuples that an earlier pipeline packed.
    pub fn packed(&mut self, packed: &Packed) -> usize {
        let slot = self.slot(packed.layout.clone());
        for (item, field) in &packed.items {
            let field = packed.layout.fields[*field].clone();
            self.held.insert(*item, Expr::Column { slot, field });
        }
        slot
    }

    /// Drop rows for which a condition does not hold.
    pub fn filter(&mut self, scene: &Scene<'_>, condition: &Term) {
        let condition = self.expr(scene, condition);
        self.steps.push(Step::Filter(condition));
    }

    /// The finished pipeline.
    pub fn into(self, sink: Sink) -> Pipeline {
        let Self { source, steps, slots, rows, purpose, .. } = self;
        Pipeline { source, steps, sink, slots, purpose, rows_estimated: rows }
    }

    /// The value of an item.
    pub fn item(&mut self, scene: &Scene<'_>, item: Item) -> Expr {
        if let Some(held) = self.held.get(&item) {
            return held.clone();
        }
        match item {
            Item::Column { slot, column } => self.field(slot, column),
            Item::RecordId { slot } => Expr::RecordId { slot: self.whole[&slot] },
            Item::Aggregate { slot, number } => {
                let home = scene.home(number);
                let partition = self.whole[&slot];
                let groups = self.groups_of(scene, slot, home.aggregation, partition);
                let field = self.slots[groups].fields[home.field].clone();
                Expr::Column { slot: groups, field }
            }
        }
    }

    fn field(&self, slot: usize, column: usize) -> Expr {
        let slot = self.whole[&slot];
        Expr::Column { slot, field: self.slots[slot].fields[column].clone() }
    }

    /// The slot with a partition's tuple of one aggregation: the source's own, or one looked up.
    fn groups_of(
        &mut self,
        scene: &Scene<'_>,
        slot: usize,
        aggregation: usize,
        partition: usize,
    ) -> usize {
        if scene.groups.contains(&Some(aggregation)) {
            return partition;
        }
        if let Some(probed) = self.probed.get(&(Some(slot), aggregation)) {
            return *probed;
        }
        let by = scene.aggregations[aggregation].by;
        let keys = self.slots[partition].fields[..by].iter();
        let keys = keys.map(|field| Expr::Column { slot: partition, field: field.clone() });
        let keys = keys.collect();
        let probed = self.probe_groups(scene, aggregation, keys);
        self.probed.insert((Some(slot), aggregation), probed);
        probed
    }

    fn probe_groups(&mut self, scene: &Scene<'_>, aggregation: usize, keys: Vec<Expr>) -> usize {
        let slot = self.slot(scene.aggregations[aggregation].layout.clone());
        self.steps.push(Step::ProbeGroups { aggregation, slot, keys });
        slot
    }

    /// The slot with the tuple of the partition to which the row's own by-values belong.
    fn linked(&mut self, scene: &Scene<'_>, partition: usize, aggregation: usize) -> usize {
        if let Some(probed) = self.probed.get(&(None, aggregation)) {
            return *probed;
        }
        let by = scene.partitions[partition].by.iter();
        let keys = by.map(|term| self.expr(scene, term)).collect();
        let probed = self.probe_groups(scene, aggregation, keys);
        self.probed.insert((None, aggregation), probed);
        probed
    }

    /// A term over this pipeline's slots. May add steps that look partitions up.
    pub fn expr(&mut self, scene: &Scene<'_>, term: &Term) -> Expr {
        match term {
            Term::Integer(value) => Expr::Integer(*value),
            Term::Real(value) => Expr::Real(*value),
            Term::Text(text) => Expr::Text(trimmed(text).to_vec()),
            Term::Parameter { number, type_ } => Expr::Parameter { number: *number, type_: *type_ },
            Term::Column { slot, column } => {
                self.item(scene, Item::Column { slot: *slot, column: *column })
            }
            Term::Aggregate { number, place, .. } => self.aggregate(scene, *number, *place),
            Term::Not(operand) => Expr::Not(Box::new(self.expr(scene, operand))),
            Term::And(left, right) => {
                let (left, right) = (self.expr(scene, left), self.expr(scene, right));
                Expr::And(chain(left, right, |one| match one {
                    Expr::And(parts) => Ok(parts),
                    other => Err(other),
                }))
            }
            Term::Or(left, right) => {
                let (left, right) = (self.expr(scene, left), self.expr(scene, right));
                Expr::Or(chain(left, right, |one| match one {
                    Expr::Or(parts) => Ok(parts),
                    other => Err(other),
                }))
            }
            Term::Compare { operator, left, right } => Expr::Compare {
                operator: *operator,
                left: Box::new(self.expr(scene, left)),
                right: Box::new(self.expr(scene, right)),
            },
            Term::Match { text, pattern, negated } => Expr::Match {
                text: Box::new(self.expr(scene, text)),
                pattern: pattern.clone(),
                negated: *negated,
            },
            Term::Negate { operand, span } => {
                Expr::Negate { operand: Box::new(self.expr(scene, operand)), span: *span }
            }
            Term::Arithmetic { operator, left, right, span } => Expr::Arithmetic {
                operator: *operator,
                left: Box::new(self.expr(scene, left)),
                right: Box::new(self.expr(scene, right)),
                span: *span,
            },
            Term::Call { function, argument, span } => Expr::Call {
                function: *function,
                argument: Box::new(self.expr(scene, argument)),
                span: *span,
            },
        }
    }

    fn aggregate(&mut self, scene: &Scene<'_>, number: usize, place: AggregatePlace) -> Expr {
        let home = scene.home(number);
        let slot = match place {
            AggregatePlace::Scalar => {
                let field = scene.aggregate_field(number).clone();
                return Expr::Scalar { aggregation: home.aggregation, field };
            }
            AggregatePlace::Slot(slot) => {
                return self.item(scene, Item::Aggregate { slot, number });
            }
            AggregatePlace::Linked { partition } => self.linked(scene, partition, home.aggregation),
        };
        Expr::Column { slot, field: self.slots[slot].fields[home.field].clone() }
    }

    /// A tuple of this row: the keys first, then the items that are not among them.
    pub fn pack(
        &mut self,
        scene: &Scene<'_>,
        keys: &[&Term],
        items: &BTreeSet<Item>,
    ) -> (Pack, Packed) {
        let mut values = Vec::new();
        let mut fields = Vec::new();
        let mut places = BTreeMap::new();
        for (position, key) in keys.iter().enumerate() {
            let mut own = format!("key{position}");
            if let Term::Column { slot, column } = key {
                let item = Item::Column { slot: *slot, column: *column };
                places.entry(item).or_insert(position);
                own = scene.form(item).0;
            }
            let (kind, is_nullable) = scene.kind(key);
            fields.push((own, kind, is_nullable));
            values.push(self.expr(scene, key));
        }
        for item in items {
            if places.contains_key(item) {
                continue;
            }
            places.insert(*item, fields.len());
            fields.push(scene.form(*item));
            values.push(self.item(scene, *item));
        }
        let layout = Layout::of(fields);
        let span = loadstone_quel::tree::Span::default();
        (Pack { values, layout: layout.clone(), span }, Packed { layout, items: places })
    }
}

/// The places of items in tuples that a pipeline packed.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    pub layout: Layout,
    /// The field of each item.
    items: BTreeMap<Item, usize>,
}

/// Two operands of `and` or `or`, those of nested ones taken apart.
fn chain(left: Expr, right: Expr, parts: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut all = parts(left).unwrap_or_else(|one| vec![one]);
    all.extend(parts(right).unwrap_or_else(|one| vec![one]));
    all
}
