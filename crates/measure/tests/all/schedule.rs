use loadstone_measure::schedule::orders;
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_round_gives_every_variant_one_block(
        seed: u64, variants in 0_usize..40, rounds in 0_usize..20,
    ) {
        let schedule = orders(seed, variants, rounds);
        prop_assert_eq!(schedule.len(), rounds);
        for mut order in schedule.clone() {
            order.sort_unstable();
            prop_assert_eq!(order, (0..variants).collect::<Vec<_>>());
        }
        prop_assert_eq!(&orders(seed, variants, rounds), &schedule);
        // More rounds go on where fewer stopped, so a run can be lengthened.
        prop_assert_eq!(&orders(seed, variants, rounds + 1)[..rounds], &schedule[..]);
    }
}

#[test]
fn a_seed_means_the_same_for_ever() {
    assert_eq!(orders(1983, 4, 3), GOLDEN);
    assert_ne!(orders(1984, 4, 3), GOLDEN);
}

const GOLDEN: [[usize; 4]; 3] = [[0, 1, 3, 2], [3, 1, 0, 2], [3, 2, 1, 0]];

#[test]
fn every_order_is_equally_likely() {
    let mut counts = std::collections::HashMap::new();
    for order in orders(7, 3, 6_000) {
        *counts.entry(order).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    // 1,000 each, standard deviation 29: five of them either way.
    assert!(counts.values().all(|count| (855..=1_145).contains(count)), "{counts:?}");
}
