//! Whatever is done to a file of columns, it holds what a map holds, and only what is requested is
//! read.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::page::NO_PAGE;
use crate::page_mut::PageMut;
use crate::pages::counting::CountingPages;
use crate::pages::memory::MemoryPages;

const FILE: FileNumber = 5;

type Model = BTreeMap<RecordId, Vec<u8>>;

fn made(widths: &[usize]) -> (MemoryPages, Columns) {
    let mut pages = MemoryPages::new();
    let shape = Shape::of(widths.iter().copied()).unwrap();
    let columns = Columns::create(&mut pages, FILE, shape).unwrap();
    (pages, columns)
}

fn row(columns: &Columns, seed: u32) -> Vec<u8> {
    let bytes = columns.shape().row_bytes();
    (0..bytes as u32)
        .map(|at| (seed.wrapping_mul(2_654_435_761).wrapping_add(at * 7) >> 5) as u8)
        .collect()
}

/// Every row, read as who reads whole columns does.
fn scanned(pages: &MemoryPages, columns: &Columns) -> Model {
    let mut found = Model::new();
    let (mut chunk, _) = columns.chunks(pages).unwrap();
    while chunk != NO_PAGE {
        let bytes = change::copy(pages, chunk).unwrap();
        let header = header_in(&bytes, chunk, FILE, columns.shape().rows()).unwrap();
        for position in (0..header.positions()).filter(|&at| header.is_live(at)) {
            let id = RecordId { page: chunk, slot: position as u16 };
            let mut row = Vec::new();
            for piece in columns.shape().pieces(position) {
                let page = header.page(piece.place).unwrap();
                let bytes = change::copy(pages, page).unwrap();
                let values = values_in(&bytes, page, FILE, (chunk, piece.place)).unwrap();
                row.extend_from_slice(&values[piece.at..piece.at + piece.bytes]);
            }
            found.insert(id, row);
        }
        chunk = header.next();
    }
    found
}

fn compare(pages: &MemoryPages, columns: &Columns, model: &Model) {
    assert_eq!(columns.check(pages).unwrap(), model.len() as u64);
    assert_eq!(&scanned(pages, columns), model);
    for (&id, row) in model {
        assert_eq!(&columns.get(pages, id).unwrap(), row);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u32),
    Append(Vec<u32>),
    Replace(prop::sample::Index, u32),
    Delete(prop::sample::Index),
    DeleteMany(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        6 => any::<u32>().prop_map(Step::Insert),
        1 => prop::collection::vec(any::<u32>(), 0..80).prop_map(Step::Append),
        3 => (index(), any::<u32>()).prop_map(|(of, seed)| Step::Replace(of, seed)),
        3 => index().prop_map(Step::Delete),
        1 => index().prop_map(Step::DeleteMany),
    ]
}

fn take(step: Step, pages: &mut MemoryPages, columns: &Columns, model: &mut Model) {
    let ids: Vec<_> = model.keys().copied().collect();
    let chosen = |of: prop::sample::Index| (!ids.is_empty()).then(|| *of.get(&ids));
    match step {
        Step::Insert(seed) => {
            let row = row(columns, seed);
            let id = columns.insert(pages, &row).unwrap();
            assert_eq!(model.insert(id, row), None, "{id} was taken");
        }
        Step::Append(seeds) => {
            let mut appender = columns.appender();
            for &seed in &seeds {
                appender.append(pages, &row(columns, seed)).unwrap();
            }
            assert_eq!(&scanned(pages, columns), model, "not yet");
            appender.finish(pages).unwrap();
            let (before, all) = (model.clone(), scanned(pages, columns));
            let new = all.into_iter().filter(|(id, _)| !before.contains_key(id));
            let new: Model = new.collect();
            assert_eq!(new.len(), seeds.len());
            model.extend(new);
        }
        Step::Replace(of, seed) => {
            let Some(id) = chosen(of) else { return };
            let new = row(columns, seed);
            columns.replace(pages, id, (&model[&id], &new)).unwrap();
            model.insert(id, new);
        }
        Step::Delete(of) => {
            let Some(id) = chosen(of) else { return };
            columns.delete(pages, id).unwrap();
            model.remove(&id);
            assert!(matches!(columns.get(pages, id), Err(LodeError::Missing { .. })));
            assert!(matches!(columns.delete(pages, id), Err(LodeError::Missing { .. })));
        }
        Step::DeleteMany(of) => {
            let Some(from) = chosen(of) else { return };
            for &id in ids.iter().filter(|&&id| id >= from) {
                columns.delete(pages, id).unwrap();
                model.remove(&id);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn it_holds_what_a_map_holds(
        widths in prop_oneof![
            Just(vec![4]),
            Just(vec![4, 8, 52, 1, 2]),
            Just(vec![3, 700, 1]),
            Just(vec![4016]),
        ],
        steps in prop::collection::vec(step(), 0..30),
    ) {
        let (mut pages, columns) = made(&widths);
        let mut model = Model::new();
        for step in steps {
            take(step, &mut pages, &columns, &mut model);
        }
        compare(&pages, &columns, &model);
        columns.destroy(&mut pages).unwrap();
        prop_assert_eq!(pages.allocated(), 0);
    }
}

/// A thread that was cancelled leaves a full chunk behind, and another goes on with it.
#[test]
fn an_append_that_failed_is_taken_up_by_the_next() {
    let (mut pages, columns) = made(&[4, 8]);
    let mut appender = columns.appender();
    let rows = columns.shape().rows() as u32;
    pages.refuse(true);
    for seed in 0..rows + 3 {
        let outcome = appender.append(&mut pages, &row(&columns, seed));
        assert_eq!(outcome.is_err(), seed + 1 >= rows, "row {seed}");
    }
    pages.refuse(false);
    appender.append(&mut pages, &row(&columns, rows)).unwrap();
    appender.finish(&mut pages).unwrap();
    assert_eq!(columns.check(&pages).unwrap(), u64::from(rows) + 1);
    let found: Vec<_> = scanned(&pages, &columns).into_values().collect();
    assert_eq!(found, (0..=rows).map(|seed| row(&columns, seed)).collect::<Vec<_>>());
}

#[test]
fn chunks_are_filled_and_what_is_deleted_is_filled_again() {
    let (mut pages, columns) = made(&[4, 52]);
    let mut model = Model::new();
    let many = (0..2_500).collect();
    take(Step::Append(many), &mut pages, &columns, &mut model);
    assert_eq!(columns.chunks(&pages).unwrap().1, 3);
    let before = pages.allocated();
    let ids: Vec<_> = model.keys().copied().take(700).collect();
    for &id in &ids {
        columns.delete(&mut pages, id).unwrap();
        model.remove(&id);
    }
    for seed in 0..700 {
        take(Step::Insert(seed), &mut pages, &columns, &mut model);
    }
    assert_eq!(pages.allocated(), before, "room that was there is taken first");
    compare(&pages, &columns, &model);
}

#[test]
fn the_most_columns_that_there_can_be_are_stored() {
    let (mut pages, columns) = made(&[1; PAGES_MAX]);
    let mut model = Model::new();
    (0..3).for_each(|seed| take(Step::Insert(seed), &mut pages, &columns, &mut model));
    compare(&pages, &columns, &model);
}

/// The layout that `docs/reference/lode-format.md` draws: 1,008 rows, 52 pages of values and a
/// header.
#[test]
fn a_chunk_of_208_bytes_a_row_has_53_pages() {
    let mut widths = vec![4; 13];
    widths.extend([52; 3]);
    let (mut pages, columns) = made(&widths);
    assert_eq!((columns.shape().rows(), columns.shape().row_bytes()), (1008, 208));
    let mut appender = columns.appender();
    for seed in 0..1008 {
        let row = row(&columns, seed);
        appender.append(&mut pages, &row).unwrap();
    }
    appender.finish(&mut pages).unwrap();
    assert_eq!(pages.allocated(), 1 + 53);
    assert_eq!(columns.check(&pages).unwrap(), 1008);
}

#[test]
fn a_replaced_value_writes_only_its_own_page() {
    let (mut pages, columns) = made(&[4, 4, 52]);
    let old = row(&columns, 1);
    let id = columns.insert(&mut pages, &old).unwrap();
    let mut new = old.clone();
    new[5] ^= 1;
    let mut counting = CountingPages::new(pages);
    columns.replace(&mut counting, id, (&old, &new)).unwrap();
    assert_eq!(counting.take_counts().writes, 1);
    assert_eq!(columns.get(&counting, id).unwrap(), new);
}

#[test]
fn impossible_files_of_columns_are_refused() {
    for widths in [vec![], vec![0], vec![4033], vec![1; 977]] {
        let error = Shape::of(widths).unwrap_err();
        assert!(error.to_string().contains("layout=rows"), "{error}");
    }
    let (mut pages, columns) = made(&[4]);
    assert!(matches!(columns.insert(&mut pages, b"long row"), Err(LodeError::TooLong { .. })));
    for page in [columns.root(), 0] {
        let nobody = RecordId { page, slot: 0 };
        assert!(matches!(columns.get(&pages, nobody), Err(LodeError::Missing { .. })), "{page}");
    }
}

#[test]
fn damage_is_reported() {
    type Damage = fn(&mut PageMut<'_>);
    let damages: [(&str, Damage); 4] = [
        ("rows", |bytes| bytes.put_u8(header_offset::BITS, bytes[header_offset::BITS] ^ 1)),
        ("list", |bytes| bytes.put_u8(header_offset::LISTED, bytes[header_offset::LISTED] ^ 1)),
        ("page", |bytes| bytes.put_u32(header_offset::PAGES, 0)),
        ("another's", |bytes| bytes.put_u32(header_offset::PAGES, 4)),
    ];
    for (what, damage) in damages {
        let (mut pages, columns) = made(&[4]);
        let id = columns.insert(&mut pages, b"1234").unwrap();
        columns.check(&pages).unwrap();
        pages.write(id.page, damage).unwrap();
        assert!(matches!(columns.check(&pages), Err(LodeError::Corrupt { .. })), "{what}");
    }
}
