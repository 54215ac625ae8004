//! Aggregations against a model of lists.

use std::collections::BTreeMap;

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::AggregateFunction;
use proptest::prelude::*;

use super::*;

const INTEGER: Kind = Kind::Integer { bytes: 8 };
const REAL: Kind = Kind::Real { bytes: 8 };
const TEXT: Kind = Kind::Text { width: 4 };

fn aggregation(by: &[Kind], functions: &[(AggregateFunction, Kind)], sorted: bool) -> Aggregation {
    let results = functions.iter().map(|(_, kind)| kind);
    let kinds = by.iter().chain(results).enumerate();
    Aggregation {
        layout: Layout::of(kinds.map(|(at, kind)| (format!("a{at}"), *kind, true))),
        by: by.len(),
        functions: functions.iter().map(|(function, _)| (*function, Span::default())).collect(),
        is_sorted: sorted,
    }
}

fn rows(groups: &Groups, layout: &Layout) -> Vec<Vec<String>> {
    let (mut scan, mut rows) = (groups.tuples().scan(), Vec::new());
    while let Some(tuple) = scan.next_tuple().unwrap() {
        let text = |field| format!("{:?}", tuple::read(tuple, field));
        rows.push(layout.fields.iter().map(text).collect());
    }
    rows.sort();
    rows
}

fn text(value: Option<Value<'_>>) -> String {
    format!("{:?}", value.unwrap_or(Value::Null))
}

/// By-value, argument; a null argument is a row that does not count.
type Row = (Option<i64>, Option<i64>);

fn expected(input: &[Row]) -> Vec<Vec<String>> {
    let mut lists = BTreeMap::<Option<i64>, Vec<i64>>::new();
    for (by, argument) in input {
        lists.entry(*by).or_default().extend(argument);
    }
    let mut rows: Vec<_> = lists
        .iter()
        .map(|(by, list)| {
            let mut distinct = list.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let sum: i64 = list.iter().sum();
            let average = (!list.is_empty()).then(|| Value::Real(sum as f64 / list.len() as f64));
            vec![
                text(by.map(Value::Integer)),
                text(Some(Value::Integer(list.len() as i64))),
                text(Some(Value::Integer(distinct.len() as i64))),
                text((!list.is_empty()).then_some(Value::Integer(sum))),
                text((!list.is_empty()).then(|| Value::Integer(distinct.iter().sum()))),
                text(average),
                text(list.iter().min().map(|least| Value::Integer(*least))),
                text(list.iter().max().map(|most| Value::Integer(*most))),
                text(Some(Value::Integer(i64::from(!list.is_empty())))),
            ]
        })
        .collect();
    rows.sort();
    rows
}

proptest! {
    #[test]
    fn partitions_and_aggregates_are_those_of_lists(
        mut input in prop::collection::vec(
            (prop::option::weighted(0.9, -30i64..30), prop::option::weighted(0.8, -9i64..9)), 0..400
        ),
        sorted: bool, reopened in 0usize..200,
    ) {
        use AggregateFunction as F;
        let functions = [
            (F::Count, INTEGER), (F::CountU, INTEGER), (F::Sum, INTEGER), (F::SumU, INTEGER),
            (F::Avg, REAL), (F::Min, INTEGER), (F::Max, INTEGER), (F::Any, INTEGER),
        ];
        let aggregation = aggregation(&[INTEGER], &functions, sorted);
        if sorted {
            let end = reopened.min(input.len());
            input[..end].sort();
        }
        let reopened = if sorted { reopened } else { usize::MAX };
        let memory = Memory::new(1 << 22);
        let mut partitions = Box::new(Partitions::new(&aggregation, &memory).unwrap());
        for (number, (by, argument)) in input.iter().enumerate() {
            // From there on the order is another pipeline's.
            if number == reopened {
                partitions = partitions.reopened();
            }
            let by = [by.map_or(Value::Null, Value::Integer)];
            let partition = partitions.partition(&by).unwrap();
            for aggregate in 0..functions.len() {
                let value = argument.map_or(Value::Null, Value::Integer);
                partitions.update(partition, aggregate, value).unwrap();
            }
        }
        let groups = partitions.finish("", &|| Ok(())).unwrap();
        prop_assert_eq!(rows(&groups, &aggregation.layout), expected(&input));
        for (by, _) in &input {
            let by = by.map_or(Value::Null, Value::Integer);
            let found = groups.find(&[by]).expect("each row has a partition");
            prop_assert_eq!(tuple::read(found, &aggregation.layout.fields[0]), by);
        }
        prop_assert!(groups.find(&[Value::Integer(30)]).is_none());
    }
}

proptest! {
    #[test]
    fn several_accumulators_merge_to_one(
        input in prop::collection::vec(
            (
                prop::option::weighted(0.9, -30i64..30),
                prop::option::weighted(0.8, -9i64..9),
                0usize..3,
            ),
            0..300,
        ),
        is_scalar: bool,
    ) {
        use AggregateFunction as F;
        let functions = [
            (F::Count, INTEGER), (F::CountU, INTEGER), (F::Sum, INTEGER), (F::SumU, REAL),
            (F::Avg, REAL), (F::AvgU, REAL), (F::Min, INTEGER), (F::Max, REAL), (F::Any, INTEGER),
            (F::Min, TEXT), (F::CountU, INTEGER),
        ];
        let by = if is_scalar { &[][..] } else { &[INTEGER] };
        let aggregation = aggregation(by, &functions, false);
        let memory = Memory::new(1 << 22);
        let new = || Partitions::new(&aggregation, &memory).unwrap();
        let (mut whole, mut parts) = (new(), [new(), new(), new()]);
        for (by, argument, part) in &input {
            let by = [by.map_or(Value::Null, Value::Integer)];
            for partitions in [&mut whole, &mut parts[*part]] {
                let partition = partitions.partition(&by[..usize::from(!is_scalar)]).unwrap();
                for (aggregate, (_, kind)) in functions.iter().enumerate() {
                    let text = argument.map(|value| value.to_string()).unwrap_or_default();
                    // The last one's argument is a text, whose values are counted.
                    let kind = if aggregate == functions.len() - 1 { &TEXT } else { kind };
                    let value = match (argument, kind) {
                        (None, _) => Value::Null,
                        (Some(value), Kind::Integer { .. }) => Value::Integer(*value),
                        (Some(value), Kind::Real { .. }) => Value::Real(*value as f64 / 2.0),
                        (Some(_), Kind::Text { .. }) => Value::Text(text.as_bytes()),
                    };
                    partitions.update(partition, aggregate, value).unwrap();
                }
            }
        }
        let mut merged = new();
        for part in parts {
            merged.merge(part).unwrap();
        }
        let of = |partitions: Partitions| {
            rows(&partitions.finish("", &|| Ok(())).unwrap(), &aggregation.layout)
        };
        prop_assert_eq!(of(merged), of(whole));
    }
}

#[test]
fn a_scalar_aggregate_of_nothing_has_a_result() {
    use AggregateFunction as F;
    let functions = [(F::Count, INTEGER), (F::Min, TEXT), (F::Sum, REAL), (F::Any, INTEGER)];
    let aggregation = aggregation(&[], &functions, false);
    let partitions = Partitions::new(&aggregation, &Memory::new(1 << 20)).unwrap();
    let groups = partitions.finish("", &|| Ok(())).unwrap();
    let values: Vec<_> =
        aggregation.layout.fields.iter().map(|f| tuple::read(groups.scalar(), f)).collect();
    assert_eq!(values, [Value::Integer(0), Value::Null, Value::Null, Value::Integer(0)]);
    assert_eq!(groups.tuples().len(), 1);
}

#[test]
fn texts_and_reals_have_a_least_and_distinct_values() {
    use AggregateFunction as F;
    let functions = [(F::Min, TEXT), (F::Max, TEXT), (F::CountU, INTEGER)];
    let aggregation = aggregation(&[REAL], &functions, false);
    let mut partitions = Partitions::new(&aggregation, &Memory::new(1 << 20)).unwrap();
    for (by, text) in [(0.0, "b"), (-0.0, "a  "), (0.0, "a"), (1.5, "c")] {
        let partition = partitions.partition(&[Value::Real(by)]).unwrap();
        for aggregate in 0..3 {
            partitions.update(partition, aggregate, Value::Text(text.as_bytes())).unwrap();
        }
    }
    let groups = partitions.finish("", &|| Ok(())).unwrap();
    let found = groups.find(&[Value::Integer(0)]).unwrap();
    let values: Vec<_> =
        aggregation.layout.fields[1..].iter().map(|f| tuple::read(found, f)).collect();
    assert_eq!(values, [Value::Text(b"a"), Value::Text(b"b"), Value::Integer(2)]);
}

#[test]
fn a_sum_too_large_for_64_bits_is_an_error_and_passing_by_it_is_none() {
    let aggregation = aggregation(&[], &[(AggregateFunction::Sum, INTEGER)], false);
    let sum = |values: &[i64]| {
        let mut partitions = Partitions::new(&aggregation, &Memory::new(1 << 20)).unwrap();
        for value in values {
            partitions.update(0, 0, Value::Integer(*value)).unwrap();
        }
        let groups =
            partitions.finish("retrieve (x = sum(t.a))", &|| Ok(())).map_err(|e| e.to_string())?;
        Ok::<_, String>(format!(
            "{:?}",
            tuple::read(groups.scalar(), &aggregation.layout.fields[0])
        ))
    };
    assert_eq!(sum(&[i64::MAX, 1, -1]), Ok(format!("Integer({})", i64::MAX)));
    assert!(sum(&[i64::MAX, 1]).unwrap_err().contains("does not fit into 64 bits"));
}
