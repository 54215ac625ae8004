use super::*;

#[test]
fn printed_forms_are_read_back() {
    for text in [
        "",
        "join=index",
        "optimizer=none&cache=1MiB&join=merge",
        "log=page-grain",
        "memory=64MiB&distinct=sort",
        "memory=cache&cache=1MiB",
    ] {
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
        let named = tactic.values.iter().filter(|value| !value.name.contains("bytes from"));
        for value in named.filter(|_| tactic.values.len() > 1) {
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
fn unknown_tactics_are_reported_with_the_known_ones() {
    let message = |text: &str| text.parse::<Tactics>().unwrap_err().to_string();
    assert!(message("join=sideways").contains("nested-loops, index"));
    assert!(message("jion=hash").contains("join, optimizer"));
    assert!(message("jion=hash").contains("durability"));
    assert!(message("log=maybe").contains("page-diff, page-grain"));
    assert!(message("join").contains("name=value"));
    assert!(message("memory=4096").contains("bytes from 262144"));
    assert!(message("memory=cache&cache=65536").contains("write cache=1048576 or more"));
    assert!("memory=cache&cache=1MiB".parse::<Tactics>().is_ok());
    assert!(message("cache=65536&readahead=on").contains("needs a cache"));
}

#[test]
fn a_profile_sets_what_nobody_names() {
    for (name, about, profile) in profiles() {
        let settings = profile.settings();
        let tactics: Tactics = format!("profile={name}").parse().unwrap();
        assert!(!about.is_empty() && !settings.is_empty(), "{name}");
        let pairs = tactics.pairs();
        let value = |of: &str| pairs.iter().find(|(name, _)| *name == of).unwrap().1.as_str();
        assert_eq!(value("profile"), name);
        for Setting { tactic, value: own, why } in &settings {
            assert_eq!(value(tactic), *own, "{name} {tactic}");
            assert!(why.len() > 10, "{name} {tactic}");
            assert_eq!(settings.iter().filter(|one| one.tactic == *tactic).count(), 1);
        }
        let others = Tactics::default().pairs().into_iter().filter(|(name, _)| {
            *name != "profile" && settings.iter().all(|one| one.tactic != *name)
        });
        others.for_each(|(tactic, default)| assert_eq!(value(tactic), default, "{tactic}"));
        assert_eq!(tactics.to_string().parse::<Tactics>().unwrap(), tactics);
    }
}

#[test]
fn a_named_tactic_overrides_the_profile_wherever_it_stands() {
    for text in ["profile=u-ingres&cache=2MiB", "cache=2MiB&profile=u-ingres"] {
        let tactics: Tactics = text.parse().unwrap();
        assert_eq!(tactics.storage.cache.0, 2 << 20, "{text}");
        assert_eq!(
            (tactics.execution, tactics.profile),
            (Execution::Interpreted, Profile::UIngres)
        );
    }
}

#[test]
fn a_profile_that_there_is_not_is_refused_with_those_that_there_are() {
    let error = "profile=system-r".parse::<Tactics>().unwrap_err();
    assert!(matches!(error, QueryError::Lode(lode::LodeError::Tactic { .. })), "{error:?}");
    let unknown = error.to_string();
    assert!(unknown.contains("u-ingres, c-ingres"), "{unknown}");
}
