use super::parts::ITEMS_CHECKED;
use super::*;
use loadstone_quel::tree::Span;
use proptest::prelude::*;

fn layout() -> Layout {
    Layout::of([
        ("integer".to_owned(), Kind::Integer { bytes: 2 }, true),
        ("real".to_owned(), Kind::Real { bytes: 8 }, false),
        ("text".to_owned(), Kind::Text { width: 12 }, false),
        ("number".to_owned(), Kind::Integer { bytes: 8 }, false),
    ])
}

fn row(layout: &Layout, values: &(Option<i64>, i8, String), number: usize) -> Vec<u8> {
    let mut tuple = vec![0; layout.bytes];
    let values = [
        values.0.map_or(Value::Null, Value::Integer),
        Value::Real(f64::from(values.1) / 4.0),
        Value::Text(values.2.as_bytes()),
        Value::Integer(number as i64),
    ];
    for (field, value) in layout.fields.iter().zip(values) {
        tuple::write(&mut tuple, field, value, Span::default()).unwrap();
    }
    tuple
}

#[test]
fn many_tuples_are_sorted_in_parts_and_equal_ones_stay_in_their_order() {
    let layout = Layout::of(
        ["key", "number"].map(|name| (name.to_owned(), Kind::Integer { bytes: 4 }, false)),
    );
    let count = 5 * ITEMS_CHECKED / 2;
    for divisor in [1, 1000] {
        let mut sorter = Sorter::new(&layout, &[0], false, &Memory::new(1 << 30));
        for number in 0..count as u32 {
            let key = number.wrapping_mul(0x9E37_79B1) >> 8;
            let row = [(key / divisor).to_le_bytes(), number.to_le_bytes()].concat();
            sorter.add(&row).unwrap();
        }
        let whole = sorter.finish(&|| Ok(())).unwrap();
        let (mut scan, mut before, mut found) = (whole.scan(), (0, 0), 0);
        while let Some(row) = scan.next_tuple().unwrap() {
            let word = |at| u32::from_le_bytes(tuple::array(row, at));
            let now = (word(0), word(4));
            assert!(found == 0 || before < now, "{before:?} {now:?}");
            (before, found) = (now, found + 1);
        }
        assert_eq!(found, count);
    }
}

#[test]
fn a_cancelled_sort_ends_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (layout, memory) = (layout(), Memory::new(64 << 10));
    let spill = Spill::new(folder.path(), memory.budget_bytes());
    let cancel = Arc::new(AtomicBool::new(false));
    let sorter = Sorter::new(&layout, &[0], false, &memory);
    let mut sorter = sorter.spilling(&spill, &memory).unwrap().cancelled_by(&cancel);
    let rows = (0..).map(|number| row(&layout, &(None, 0, "t".to_owned()), number));
    let reported = rows.enumerate().find_map(|(number, row)| {
        cancel.store(number > 3000, AtomicOrdering::Relaxed);
        sorter.add(&row).err()
    });
    assert!(matches!(reported, Some(QueryError::Cancelled)), "{reported:?}");
    assert!(spill.written_bytes() > 0, "it had spilled before");
    let reported = sorter.finish(&|| Ok(())).unwrap_err();
    assert!(matches!(reported, QueryError::Cancelled), "{reported:?}");
    assert_eq!(memory.used_bytes(), 0);
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_values(
        rows in prop::collection::vec(
            (prop::option::weighted(0.8, -9i64..9), -5i8..5, "[ab]{0,2}abcdefg[ab\u{1}]{0,2}"),
            0..900
        ),
        budget in prop_oneof![Just(24_000), Just(1 << 20)],
        key in prop::sample::select(
            vec![vec![0], vec![1, 0], vec![2], vec![2, 1], vec![0, 1, 2]]
        ),
        unique: bool, beside in 0usize..400,
    ) {
        let layout = layout();
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(budget);
        let spill = Spill::new(folder.path(), budget);
        let sorter = Sorter::new(&layout, &key, unique, &memory);
        let mut sorter = sorter.spilling(&spill, &memory).unwrap();
        // Some that another has sorted stand behind all that are equal to them.
        let (own, others) = rows.split_at(rows.len() - beside.min(rows.len()));
        for (number, values) in own.iter().enumerate() {
            sorter.add(&row(&layout, values, number)).unwrap();
        }
        let other = Memory::new(1 << 20);
        let mut part = sorter.part(&other);
        for (number, values) in others.iter().enumerate() {
            assert!(part.try_add(&row(&layout, values, own.len() + number)));
        }
        part.sort().unwrap();
        sorter.merge(part).unwrap();
        let sorted = sorter.finish(&|| Ok(())).unwrap();
        prop_assert!(memory.peak_bytes() <= budget);
        prop_assert_eq!(sorted.is_spilled(), spill.written_bytes() > 0);
        let by_key = |left: &(Option<i64>, i8, String), right: &(Option<i64>, i8, String)| {
            key.iter().map(|field| match field {
                0 => left.0.cmp(&right.0),
                1 => left.1.cmp(&right.1),
                _ => left.2.cmp(&right.2),
            }).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut expected: Vec<_> = rows.iter().enumerate().collect();
        expected.sort_by(|left, right| by_key(left.1, right.1));
        if unique {
            expected.dedup_by(|later, earlier| by_key(later.1, earlier.1).is_eq());
        }
        let mut scan = sorted.scan();
        for (number, values) in expected {
            let expected = row(&layout, values, number);
            prop_assert_eq!(scan.next_tuple().unwrap(), Some(&expected[..]));
        }
        prop_assert_eq!(scan.next_tuple().unwrap(), None);
    }
}
