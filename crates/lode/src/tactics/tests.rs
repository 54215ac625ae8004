use super::*;

#[test]
fn printed_forms_are_read_back() {
    let texts = [
        "",
        "log=page-grain&bulk=unlogged",
        "log=set-range&locks=relation",
        "durability=none&locks=page&disk=direct&prefetch=on",
        "cache=1MiB&replacement=lru-2&swizzle=on&extent=8&readahead=on&checkpoint=65536",
    ];
    for text in texts {
        let tactics: Tactics = text.parse().unwrap();
        assert_eq!(tactics.to_string().parse::<Tactics>().unwrap(), tactics, "{text}");
    }
    assert_eq!("".parse::<Tactics>().unwrap(), Tactics::default());
    assert_ne!("log=page-grain".parse::<Tactics>().unwrap(), Tactics::default());
}

#[test]
fn every_tactic_says_all_six_things_and_reads_its_own_values() {
    let all = all();
    assert_eq!(all.len(), Tactics::default().pairs().len());
    for tactic in all.iter().chain([&place()]) {
        let Description { does, buys, costs, loses, excludes, source, .. } = tactic;
        for text in [does, buys, costs, loses, excludes, source] {
            assert!(text.len() > 5 && !text.contains("**"), "{}: {text:?}", tactic.name);
        }
    }
    for tactic in &all {
        for value in tactic.values.iter().filter(|_| tactic.values.len() > 1) {
            let mut tactics = Tactics::default();
            tactics.set(tactic.name, value.name).unwrap();
            assert!(tactics.pairs().contains(&(tactic.name, value.name.to_owned())));
            assert!(!value.about.is_empty());
        }
        let (_, default) =
            &Tactics::default().pairs()[all.iter().position(|other| other == tactic).unwrap()];
        Tactics::default().set(tactic.name, default).unwrap();
    }
}

#[test]
fn unknown_tactics_are_reported_with_the_known_ones() {
    let message = |text: &str| text.parse::<Tactics>().unwrap_err().to_string();
    assert!(message("log=maybe").contains("page-diff, page-grain"));
    assert!(message("locks=table").contains("locks=database"));
    assert!(message("lgo=page-diff").contains("log, shadows, detect, bulk, durability"));
    for detect in ["sigsegv", "kernel"] {
        let refused = message(&format!("log=set-range&detect={detect}"));
        assert!(refused.contains("detect=explicit"), "{refused}");
        assert!(format!("log=page-grain&detect={detect}").parse::<Tactics>().is_ok());
    }
    assert!(message("cache=1").contains("65536"));
    assert!(message("cache=99999999999GiB").contains("not known"));
    assert!(message("extent=5").contains("4, 8, 16"));
    assert!(message("swizzle").contains("name=value"));
    assert!(message("cache=65536&readahead=on").contains("needs a cache"));
}
