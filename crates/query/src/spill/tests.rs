use proptest::prelude::*;

use super::*;
use crate::memory::Memory;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

proptest! {
    #[test]
    fn runs_give_their_tuples_in_order(
        lengths in prop::collection::vec(0usize..600, 1..5), tuple_bytes in 1usize..9000
    ) {
        let (folder, memory) = (folder(), Memory::new(1 << 30));
        let spill = Spill::new(folder.path(), 0);
        let tuple = |run: usize, number: usize| {
            let mut tuple = vec![run as u8; tuple_bytes];
            tuple[tuple_bytes - 1] = number as u8;
            tuple
        };
        let mut runs = Vec::new();
        for (number, len) in lengths.iter().enumerate() {
            let mut writer =
                RunWriter::new(&spill, tuple_bytes, memory.reservation("a test")).unwrap();
            (0..*len).for_each(|at| writer.push(&tuple(number, at)).unwrap());
            runs.push(writer.finish().unwrap());
        }
        let all = lengths.iter().sum::<usize>() * tuple_bytes;
        prop_assert_eq!(spill.written_bytes() as usize, all);
        for (number, (run, len)) in runs.into_iter().zip(lengths).enumerate() {
            let mut reader = RunReader::new(run, memory.reservation("a test")).unwrap();
            for _ in 0..2 {
                let mut at = 0;
                while reader.advance().unwrap() {
                    prop_assert_eq!(reader.tuple(), tuple(number, at));
                    at += 1;
                }
                prop_assert_eq!(at, len);
                reader.rewind();
            }
        }
        prop_assert_eq!(memory.used_bytes(), 0);
    }
}

#[test]
fn room_is_used_again_and_no_file_has_a_name() {
    let (folder, memory) = (folder(), Memory::new(1 << 20));
    let spill = Spill::new(folder.path(), 0);
    for _ in 0..10 {
        let mut writer = RunWriter::new(&spill, 8, memory.reservation("a test")).unwrap();
        (0..5_000_u64).for_each(|number| writer.push(&number.to_le_bytes()).unwrap());
        let run = writer.finish().unwrap();
        assert_eq!(run.len(), 5_000);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    assert_eq!((spill.file_bytes(), spill.written_bytes()), (40_960, 400_000));
}

#[test]
fn a_full_disk_and_a_missing_folder_are_reported() {
    let (folder, memory) = (folder(), Memory::new(1 << 20));
    let fill = |spill: &Spill| {
        let mut writer = RunWriter::new(spill, 8, memory.reservation("a test")).unwrap();
        (0..5_000_u64).try_for_each(|number| writer.push(&number.to_le_bytes()))
    };
    let error = fill(&Spill::on_full_disk(folder.path(), 0, 10_000)).unwrap_err().to_string();
    assert!(error.contains(&folder.path().display().to_string()), "{error}");
    assert!(error.contains("free space"), "{error}");
    let missing = folder.path().join("missing");
    assert!(matches!(fill(&Spill::new(&missing, 0)), Err(QueryError::Spill { .. })));
}
