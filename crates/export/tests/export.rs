//! Properties of exported files: parts, threads, interruption.

use std::ops::ControlFlow;
use std::path::Path;

use loadstone_export::{Compression, ExportError, Format, Request, Summary, export};
use proptest::prelude::*;

fn request(path: &Path, format: Format, rows: u64) -> Request {
    let source = loadstone_datasets::open("wisconsin", "1993", "tenktup1", rows, 0);
    Request {
        source: source.expect("a size within the range"),
        path: path.to_owned(),
        format,
        compression: Compression::None,
        part: 1,
        part_count: 1,
        threads: 1,
    }
}

fn written(request: &Request) -> (Summary, Vec<u8>) {
    let summary = export(request, &mut |_| ControlFlow::Continue(())).expect("a sound request");
    (summary, std::fs::read(&request.path).expect("the file just written"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn parts_of_any_count_and_threads_are_the_whole(
        rows in 10_u64..60_000,
        part_count in 1_u64..9,
        threads in 1_usize..5,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let (_, whole) = written(&request(&path, Format::Csv, rows));
        let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut joined = whole[..header].to_vec();
        let mut total = 0;
        for part in 1..=part_count {
            let whole_request = request(&path, Format::Csv, rows);
            let (summary, bytes) =
                written(&Request { part, part_count, threads, ..whole_request });
            prop_assert_eq!(summary.bytes, bytes.len() as u64);
            prop_assert_eq!(&bytes[..header], &whole[..header]);
            joined.extend_from_slice(&bytes[header..]);
            total += summary.rows;
        }
        prop_assert_eq!(total, rows);
        prop_assert!(joined == whole);
    }
}

#[test]
fn the_observer_hears_every_piece_and_may_break_off() {
    let folder = tempfile::tempdir().unwrap();
    for (format, threads) in [
        (Format::Csv, 1),
        (Format::Csv, 3),
        (Format::Parquet, 1),
        (Format::Parquet, 3),
        (Format::Arrow, 1),
        (Format::Arrow, 3),
    ] {
        let path = folder.path().join("r");
        let request = Request { threads, ..request(&path, format, 400_000) };
        let mut heard = Vec::new();
        export(&request, &mut |rows| {
            heard.push(rows);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(heard.is_sorted() && heard.len() > 3);
        assert_eq!(heard.last(), Some(&400_000));
        std::fs::remove_file(&path).unwrap();
        let broken = export(&request, &mut |_| ControlFlow::Break(()));
        assert!(matches!(broken, Err(ExportError::Interrupted)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
