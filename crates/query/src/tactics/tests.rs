use super::*;

#[test]
fn what_is_printed_is_read_back() {
    for text in ["", "join=index", "optimizer=none&cache=1MiB&join=hash", "log=page-grain"] {
        let tactics: Tactics = text.parse().unwrap();
        assert_eq!(tactics.to_string().parse::<Tactics>().unwrap(), tactics, "{text}");
    }
    assert_eq!("".parse::<Tactics>().unwrap(), Tactics::default());
    assert_ne!("join=hash".parse::<Tactics>().unwrap(), Tactics::default());
}

#[test]
fn every_tactic_says_all_six_things_and_reads_its_own_values() {
    for tactic in all() {
        let Description { does, buys, costs, loses, excludes, source, .. } = &tactic;
        for text in [does, buys, costs, loses, excludes, source] {
            assert!(text.len() > 5 && !text.contains("**"), "{}: {text:?}", tactic.name);
        }
        for value in tactic.values.iter().filter(|_| tactic.values.len() > 1) {
            let mut tactics = Tactics::default();
            tactics.set(tactic.name, value.name).unwrap();
            assert!(tactics.pairs().contains(&(tactic.name, value.name.to_owned())));
            assert!(!value.about.is_empty());
        }
    }
}

#[test]
fn no_name_means_two_tactics() {
    let names: Vec<_> = Tactics::default().pairs().into_iter().map(|(name, _)| name).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{names:?}");
    assert!(!names.contains(&lode::tactics::place().name));
}

#[test]
fn what_is_not_known_is_told_with_what_is() {
    let message = |text: &str| text.parse::<Tactics>().unwrap_err().to_string();
    assert!(message("join=sideways").contains("nested-loops, index"));
    assert!(message("jion=hash").contains("join, optimizer"));
    assert!(message("jion=hash").contains("durability"));
    assert!(message("log=maybe").contains("page-diff, page-grain"));
    assert!(message("join").contains("name=value"));
    assert!(message("cache=65536&readahead=on").contains("needs a cache"));
}
