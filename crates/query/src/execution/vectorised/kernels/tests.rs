//! Every instruction set's loops against what they are to compute.

use proptest::prelude::*;

use super::{InstructionSet, Kernels, all};
use crate::tactics::Simd;
use crate::tuple::{HASH_SEED, hash_integer};

/// Values of which many are equal or at an end.
fn values() -> impl Strategy<Value = Vec<i64>> {
    let value = prop_oneof![
        4 => -20_i64..20,
        1 => any::<i64>(),
        1 => any::<i32>().prop_map(i64::from),
        1 => prop::sample::select(vec![
            i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i32::MAX)
        ]),
    ];
    prop::collection::vec(value, 0..100)
}

proptest! {
    #[test]
    fn all_keep_the_positions_whose_values_lie_between(
        values in values(), step in 1_usize..4, low in -25_i64..25, high in -25_i64..25,
        is_wide: (bool, bool), negated: bool
    ) {
        let low = if is_wide.0 { i64::MIN } else { low };
        let high = if is_wide.1 { i64::MAX } else { high };
        let positions: Vec<u16> = (0..values.len()).map(|at| (at * step) as u16).collect();
        let expected = |values: &[i64]| -> Vec<u16> {
            let within = |at: usize| (low <= values[at] && values[at] <= high) != negated;
            (0..values.len()).filter(|at| within(*at)).map(|at| positions[at]).collect()
        };
        let narrow: Vec<i32> = values.iter().map(|value| *value as i32).collect();
        let narrow_values: Vec<i64> = narrow.iter().map(|value| i64::from(*value)).collect();
        for kernels in all() {
            let mut kept = positions.clone();
            kernels.keep_wide(&mut kept, &values, (low, high), negated);
            prop_assert_eq!(&kept, &expected(&values), "{:?}, wide", kernels);
            let mut kept = positions.clone();
            kernels.keep_narrow(&mut kept, &narrow, (low, high), negated);
            prop_assert_eq!(&kept, &expected(&narrow_values), "{:?}, narrow", kernels);
        }
    }

    #[test]
    fn all_add_up_to_the_same(values in values()) {
        for kernels in all() {
            let least = values.iter().copied().min().unwrap_or(i64::MAX);
            let greatest = values.iter().copied().max().unwrap_or(i64::MIN);
            let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
            prop_assert_eq!(kernels.least(&values), least, "{:?}", kernels);
            prop_assert_eq!(kernels.greatest(&values), greatest, "{:?}", kernels);
            prop_assert_eq!(kernels.sum(&values), sum, "{:?}", kernels);
            let mut hashes = vec![0; values.len()];
            kernels.hash(&values, &mut hashes);
            let expected = values.iter().map(|value| hash_integer(HASH_SEED, *value));
            prop_assert_eq!(hashes, expected.collect::<Vec<_>>(), "{:?}", kernels);
        }
    }
}

#[test]
fn the_tactic_decides_which_are_taken() {
    let (off, on) = (Kernels::of(Simd::Off), Kernels::of(Simd::On));
    assert_eq!(off.instruction_set, InstructionSet::Scalar);
    assert_ne!(on.instruction_set, InstructionSet::Scalar);
}
