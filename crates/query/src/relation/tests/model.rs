//! Relations against a model, in all organisations.

use std::collections::BTreeMap;
use std::ops::Bound;

use loadstone_quel::tree::Span;
use lode::RecordId;
use proptest::prelude::*;

use super::*;
use crate::plan::{Access, Side};
use crate::tactics::FileLayout;
use crate::tuple::{self, Value};

/// An integer, a real and a text, of which the real may be null.
fn layout() -> Layout {
    let attributes = [
        ("number", Kind::Integer { bytes: 4 }, false),
        ("weight", Kind::Real { bytes: 8 }, true),
        ("name", Kind::Text { width: 9 }, false),
        ("filler", Kind::Text { width: 150 }, false),
    ];
    Layout::of(attributes.map(|(name, kind, null)| (name.to_owned(), kind, null)))
}

/// The values of a tuple; few, so that many are equal.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    number: i64,
    weight: Option<f64>,
    name: Vec<u8>,
}

impl Row {
    fn values(&self) -> [Value<'_>; 3] {
        let weight = self.weight.map_or(Value::Null, Value::Real);
        [Value::Integer(self.number), weight, Value::Text(&self.name)]
    }

    fn tuple(&self) -> Vec<u8> {
        let layout = layout();
        let mut tuple = vec![b' '; layout.bytes];
        for (field, value) in layout.fields.iter().zip(self.values()) {
            tuple::write(&mut tuple, field, value, Span::default()).unwrap();
        }
        tuple
    }
}

fn rows() -> impl Strategy<Value = Row> {
    let weight = prop::option::weighted(0.9, (-6i8..6).prop_map(|halves| f64::from(halves) / 2.0));
    let name = prop::collection::vec(prop_oneof![Just(0u8), Just(b' '), Just(b'b')], 0..3);
    (-20i64..20, weight, name).prop_map(|(number, weight, mut name)| {
        name.truncate(name.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1));
        Row { number, weight, name }
    })
}

fn design() -> impl Strategy<Value = Design> {
    let attributes = prop::collection::vec(0usize..3, 1..3);
    let structure = prop_oneof![
        Just(NewStructure::Heap),
        attributes.clone().prop_map(NewStructure::Clustered),
        attributes.clone().prop_map(NewStructure::Hash),
    ];
    let indexes = prop::collection::vec(attributes.prop_map(|on| (on, false)), 0..3);
    let layout = prop_oneof![Just(FileLayout::Rows), Just(FileLayout::Columns)];
    (structure, indexes, layout).prop_map(|(structure, indexes, layout)| Design {
        structure,
        indexes,
        layout,
    })
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Row>),
    /// Tuples by their places among those that there are, and what they become.
    Replace(Vec<(prop::sample::Index, Row)>),
    Delete(Vec<prop::sample::Index>),
    Modify(Design),
    RollBack(Vec<Row>),
}

fn step() -> impl Strategy<Value = Step> {
    let places = any::<prop::sample::Index>();
    prop_oneof![
        prop::collection::vec(rows(), 0..30).prop_map(Step::Append),
        prop::collection::vec((places, rows()), 0..20).prop_map(Step::Replace),
        prop::collection::vec(any::<prop::sample::Index>(), 0..20).prop_map(Step::Delete),
        design().prop_map(Step::Modify),
        prop::collection::vec(rows(), 0..9).prop_map(Step::RollBack),
    ]
}

/// All tuples as they are found, by record id.
fn contents(pages: &impl PageRead, info: &Arc<RelationInfo>) -> BTreeMap<u64, Vec<u8>> {
    collect(pages, || Relation::open(info).scan(pages).unwrap())
}

/// The tuples of a scan, checked against those of several scans that share it.
fn collect(pages: &impl PageRead, scan: impl Fn() -> Scan) -> BTreeMap<u64, Vec<u8>> {
    let (mut found, mut together) = (BTreeMap::new(), BTreeMap::new());
    let mut alone = scan();
    while take_batch(pages, &mut alone, &mut found) {}
    let shared = scan().shared(3);
    let mut scans: Vec<_> = (0..3).map_while(|_| shared.scan(pages).unwrap()).collect();
    while !scans.is_empty() {
        scans.retain_mut(|scan| take_batch(pages, scan, &mut together));
    }
    assert_eq!(together, found);
    found
}

/// Put the next tuples of a scan to others; whether there were any.
fn take_batch(pages: &impl PageRead, scan: &mut Scan, found: &mut BTreeMap<u64, Vec<u8>>) -> bool {
    let mut batch = TupleBatch::new();
    let is_there = scan.next_batch(pages, &mut batch, 7).unwrap();
    assert!(batch.len() <= 7);
    for at in 0..batch.len() {
        let twice = found.insert(batch.record_id(at), batch.tuple(at).to_vec());
        assert_eq!(twice, None, "a tuple is given once");
    }
    is_there
}

fn sorted(tuples: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut tuples: Vec<_> = tuples.into_iter().collect();
    tuples.sort();
    tuples
}

/// The ways in which a relation can be reached.
fn accesses(info: &RelationInfo) -> Vec<(Access, usize)> {
    let primary = match info.organisation {
        Organisation::Heap => None,
        Organisation::Clustered { attribute } => Some((Access::Clustered { attribute }, attribute)),
        Organisation::Hash { attribute } => Some((Access::Hashed { attribute }, attribute)),
    };
    let secondary = info.indexes.iter().filter(|index| !index.is_primary);
    let secondary = secondary.map(|index| index.attributes[0]);
    primary.into_iter().chain(secondary.map(|at| (Access::Index { attribute: at }, at))).collect()
}

/// By every access, for each bound, the relation gives what the model has.
fn check_accesses(
    pages: &impl PageRead,
    info: &Arc<RelationInfo>,
    model: &[Row],
    (low, high): (&Row, &Row),
) {
    let relation = Relation::open(info);
    for (access, attribute) in accesses(info) {
        let (low, high) = (low.values()[attribute], high.values()[attribute]);
        let with = |is_wanted: &dyn Fn(Value<'_>) -> bool| {
            let wanted = model.iter().filter(|row| is_wanted(row.values()[attribute]));
            sorted(wanted.map(Row::tuple))
        };
        let found = collect(pages, || relation.lookup(pages, &access, low).unwrap());
        let expected = with(&|value| value.compare(low).is_some_and(std::cmp::Ordering::is_eq));
        assert_eq!(sorted(found.into_values()), expected, "{access:?} {low:?}");
        if matches!(access, Access::Hashed { .. }) {
            continue;
        }
        check_ends(pages, &relation, model, (&access, attribute));
        for (low, high) in [
            (Bound::Included(low), Bound::Excluded(high)),
            (Bound::Excluded(low), Bound::Included(high)),
            (Bound::Unbounded, Bound::Included(high)),
            (Bound::Excluded(low), Bound::Unbounded),
        ] {
            let found = collect(pages, || relation.range(pages, &access, low, high).unwrap());
            let expected = with(&|value| range::holds(value, low, high));
            assert_eq!(sorted(found.into_values()), expected, "{access:?} {low:?} {high:?}");
        }
    }
}

/// At either end of an index is a tuple with the least value of all, or the greatest.
fn check_ends(
    pages: &impl PageRead,
    relation: &Relation,
    model: &[Row],
    (access, attribute): (&Access, usize),
) {
    let values = || model.iter().map(|row| row.values()[attribute]).filter(|v| *v != Value::Null);
    let order = |one: &Value<'_>, other: &Value<'_>| one.compare(*other).unwrap();
    for (side, best) in
        [(Side::Least, values().min_by(order)), (Side::Greatest, values().max_by(order))]
    {
        let found = collect(pages, || relation.end(pages, access, side).unwrap());
        let field = &layout().fields[attribute];
        let found: Vec<_> = found.values().map(|tuple| tuple::read(tuple, field)).collect();
        let is_best = |value: &Value<'_>| best.is_some_and(|best| order(value, &best).is_eq());
        assert_eq!(found.len(), usize::from(best.is_some()), "{access:?} {side:?}");
        assert!(found.iter().all(is_best), "{access:?} {side:?} {found:?} {best:?}");
    }
}

/// The tuples that these places name, each once.
fn chosen(there: &BTreeMap<u64, Vec<u8>>, places: &[prop::sample::Index]) -> Vec<RecordId> {
    let ids: Vec<_> = there.keys().copied().collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let mut chosen: Vec<_> = places.iter().map(|at| RecordId::of(*at.get(&ids)).unwrap()).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Take one tuple like that out of the model.
fn take_out(model: &mut Vec<Row>, tuple: &[u8]) {
    let at = model.iter().position(|row| row.tuple() == tuple).expect("the model has it");
    model.swap_remove(at);
}

fn load(database: &Database, rows: &[Row], design: Design) {
    let mut writing = database.writing();
    let mut loader = Loader::new(&mut writing, "parts", layout(), design, &workspace()).unwrap();
    let tuples: Vec<u8> = rows.iter().flat_map(Row::tuple).collect();
    loader.add_many(&mut writing, &tuples, rows.len()).unwrap();
    loader.finish(&mut writing).unwrap();
    writing.commit().unwrap();
}

fn info(pages: &impl PageRead) -> Arc<RelationInfo> {
    Arc::clone(Catalog::read(pages).unwrap().relation("parts").unwrap())
}

fn run(database: &Database, step: &Step, model: &mut Vec<Row>) {
    let mut writing = database.writing();
    let mut info = (*info(&writing)).clone();
    let there = contents(&writing, &Arc::new(info.clone()));
    match step {
        Step::Append(rows) => {
            let tuples: Vec<_> = rows.iter().map(Row::tuple).collect();
            let tuples = tuples.iter().map(Vec::as_slice);
            let count = change::append(&mut writing, &mut info, tuples).unwrap();
            assert_eq!(count, rows.len() as u64);
            model.extend(rows.iter().cloned());
        }
        Step::Replace(changes) => {
            let places: Vec<_> = changes.iter().map(|(place, _)| *place).collect();
            let ids = chosen(&there, &places);
            let rows: Vec<_> = changes.iter().map(|(_, row)| row).take(ids.len()).collect();
            let tuples: Vec<_> = rows.iter().map(|row| row.tuple()).collect();
            let changes = ids.iter().copied().zip(tuples.iter().map(Vec::as_slice));
            change::replace(&mut writing, &mut info, changes).unwrap();
            for id in ids {
                take_out(model, &there[&id.to_u64()]);
            }
            model.extend(rows.into_iter().cloned());
        }
        Step::Delete(places) => {
            let ids = chosen(&there, places);
            change::delete(&mut writing, &mut info, &ids).unwrap();
            for id in ids {
                take_out(model, &there[&id.to_u64()]);
            }
        }
        Step::Modify(design) => {
            modify(&mut writing, &info, design.structure.clone(), design.layout, &workspace())
                .unwrap();
        }
        Step::RollBack(rows) => {
            let tuples: Vec<_> = rows.iter().map(Row::tuple).collect();
            change::append(&mut writing, &mut info, tuples.iter().map(Vec::as_slice)).unwrap();
            return;
        }
    }
    writing.commit().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_relation_holds_what_was_put_in(
        first in prop::collection::vec(rows(), 0..200),
        design in design(),
        steps in prop::collection::vec(step(), 0..6),
        bounds in (rows(), rows()),
    ) {
        let database = database();
        load(&database, &first, design);
        let mut model = first;
        for step in [None].into_iter().chain(steps.iter().map(Some)) {
            if let Some(step) = step {
                run(&database, step, &mut model);
            }
            let reading = database.reading();
            let counts = check_all(&reading).unwrap();
            prop_assert_eq!(counts, [("parts".to_owned(), model.len() as u64)]);
            let info = info(&reading);
            let found = sorted(contents(&reading, &info).into_values());
            prop_assert_eq!(found, sorted(model.iter().map(Row::tuple)));
            check_accesses(&reading, &info, &model, (&bounds.0, &bounds.1));
        }
    }
}
