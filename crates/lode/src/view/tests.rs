use proptest::prelude::*;

use super::*;
use crate::page_mut::PageMut;

/// A change of a page, as numbers that are brought within it.
#[derive(Debug, Clone)]
enum Step {
    Field { at: usize, bytes: usize, value: u64 },
    Put { at: usize, bytes: Vec<u8> },
    Clear { at: usize, bytes: usize },
    CopyWithin { from: usize, bytes: usize, to: usize },
    Change { at: usize, bytes: usize, mask: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..=PAGE_BYTES;
    // Most ranges short, so that every place of both ends in a word comes up.
    let bytes = || prop_oneof![3 => 0..40_usize, 1 => 0..=PAGE_BYTES];
    prop_oneof![
        (at.clone(), 0..4_u32, any::<u64>()).prop_map(|(at, power, value)| Step::Field {
            at,
            bytes: 1 << power,
            value
        }),
        (
            at.clone(),
            prop_oneof![
                3 => prop::collection::vec(any::<u8>(), 0..40),
                1 => prop::collection::vec(any::<u8>(), 0..=PAGE_BYTES),
            ]
        )
            .prop_map(|(at, bytes)| Step::Put { at, bytes }),
        (at.clone(), bytes()).prop_map(|(at, bytes)| Step::Clear { at, bytes }),
        (at.clone(), bytes(), at.clone()).prop_map(|(from, bytes, to)| Step::CopyWithin {
            from,
            bytes,
            to
        }),
        (at, bytes(), any::<u8>()).prop_map(|(at, bytes, mask)| Step::Change { at, bytes, mask }),
    ]
}

fn take(step: &Step, page: &mut PageMut<'_>, model: &mut PageBytes) {
    match *step {
        Step::Field { at, bytes, value } => {
            let at = at.min(PAGE_BYTES - bytes);
            model[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            match bytes {
                1 => page.put_u8(at, value as u8),
                2 => page.put_u16(at, value as u16),
                4 => page.put_u32(at, value as u32),
                _ => page.put_u64(at, value),
            }
        }
        Step::Put { at, ref bytes } => {
            let at = at.min(PAGE_BYTES - bytes.len());
            model[at..at + bytes.len()].copy_from_slice(bytes);
            page.put(at, bytes);
        }
        Step::Clear { at, bytes } => {
            let range = at..(at + bytes).min(PAGE_BYTES);
            model[range.clone()].fill(0);
            page.clear(range);
        }
        Step::CopyWithin { from, bytes, to } => {
            let bytes = bytes.min(PAGE_BYTES - from.max(to));
            model.copy_within(from..from + bytes, to);
            page.copy_within(from..from + bytes, to);
        }
        Step::Change { at, bytes, mask } => {
            let range = at..(at + bytes).min(PAGE_BYTES);
            let flip = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte ^= mask);
            flip(&mut model[range.clone()]);
            page.change(range, flip);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Miri is a thousand times slower, and has no folder to write to.
        cases: if cfg!(miri) { 4 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A page is changed as a plain array is, and shows it.
    #[test]
    fn it_is_an_array(
        seed in any::<[u8; 32]>(),
        steps in prop::collection::vec(step(), 1..20),
        reads in prop::collection::vec((0..=PAGE_BYTES, 0..60_usize), 1..20),
    ) {
        let mut model: PageBytes = [0; PAGE_BYTES];
        for (at, byte) in model.iter_mut().enumerate() {
            *byte = seed[at % 32] ^ (at / 32) as u8;
        }
        let mut page = AlignedPage::new(model);
        for step in &steps {
            take(step, &mut page.page_mut(), &mut model);
            prop_assert!(*page == model, "{step:?}");
        }
        let view = View::of(&page);
        prop_assert!(*view.copy() == model);
        for (at, bytes) in reads {
            let there = &model[at..(at + bytes).min(PAGE_BYTES)];
            let mut seen = Vec::new();
            view.append_to(&mut seen, at, bytes);
            prop_assert_eq!(&seen[..], there);
            let mut other = there.to_vec();
            prop_assert!(view.compare(at, bytes, &other).is_eq());
            if let Some(last) = other.last_mut() {
                *last ^= 1;
                prop_assert_eq!(view.compare(at, bytes, &other), there.cmp(&other));
                other.pop();
                prop_assert!(view.compare(at, bytes, &other).is_gt());
                prop_assert!(view.compare(at, other.len(), there).is_lt());
            }
            let field = |size: usize| {
                let fits = at.is_multiple_of(size) && at + size <= PAGE_BYTES;
                let mut field = [0; 8];
                if fits {
                    field[..size].copy_from_slice(&model[at..at + size]);
                }
                u64::from_le_bytes(field)
            };
            prop_assert_eq!(u64::from(view.u8(at)), field(1));
            prop_assert_eq!(u64::from(view.u16(at)), field(2));
            prop_assert_eq!(u64::from(view.u32(at)), field(4));
            prop_assert_eq!(view.u64(at), field(8));
        }
    }
}

#[test]
fn a_change_keeps_to_its_page() {
    let beyond: [fn(&mut PageMut<'_>); 7] = [
        |page| page.put_u8(PAGE_BYTES, 1),
        |page| page.put_u64(PAGE_BYTES - 7, 1),
        |page| page.put_u64(usize::MAX & !7, 1),
        |page| page.put(PAGE_BYTES - 1, &[1, 1]),
        |page| page.clear(PAGE_BYTES - 8..PAGE_BYTES + 1),
        |page| page.copy_within(0..9, PAGE_BYTES - 8),
        |page| page.change(PAGE_BYTES - 1..PAGE_BYTES + 1, |_| ()),
    ];
    for change in beyond {
        let mut page = AlignedPage::zeros();
        let refused =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| change(&mut page.page_mut())));
        assert!(refused.is_err());
        assert!(page.iter().all(|&byte| byte == 0));
    }
}
