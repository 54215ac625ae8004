//! Plans as text: the papers' programs under the default tactics are kept in `*.txt` beside this
//! file. `LOADSTONE_UPDATE_GOLDEN=1 cargo test` writes them anew; read the difference.

mod facts;
mod sound;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use loadstone_quel::check::Checker;
use loadstone_quel::parse;

use super::plan;
use crate::tactics::Tactics;
use facts::Facts;

/// The plans of a program's statements, as text; those without pipelines are left out.
fn plans(facts: &Facts, tactics: &Tactics, program: &str) -> String {
    let mut checker = Checker::new(facts.catalogue());
    let mut text = String::new();
    for statement in parse(program).unwrap_or_else(|error| panic!("{error}")) {
        let step = checker.statement(&statement);
        let step = step.unwrap_or_else(|fault| panic!("{}", fault.meaning(program)));
        let plan = plan(&step, facts, tactics).unwrap_or_else(|error| panic!("{error}"));
        text.push_str(&plan.explain(None));
    }
    text
}

/// Plans under tactics written as in a variant.
fn under(facts: &Facts, tactics: &str, program: &str) -> String {
    let tactics: Tactics = tactics.parse().unwrap_or_else(|error| panic!("{error}"));
    plans(facts, &tactics, program)
}

/// Compare with a kept text, or keep this one if that is wanted.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plan/tests").join(name);
    if std::env::var_os("LOADSTONE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (kept, new) in kept.split("\n\n").zip(text.split("\n\n")) {
        assert_eq!(new, kept, "{name}");
    }
    assert!(kept == text, "{name} has more or fewer programs than are kept");
}

/// The operations of an edition's file: name, storage design and program.
fn operations(edition: &str) -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../python/loadstone/benchmarks/wisconsin");
    let text = std::fs::read_to_string(folder.join(format!("queries-{edition}.quel"))).unwrap();
    let mut operations: Vec<(String, String, String)> = Vec::new();
    // The first comment is about all of them.
    for piece in text.split("/*").skip(2) {
        let (heading, program) = piece.split_once("*/").unwrap();
        let parts: Vec<&str> = heading.split('|').map(str::trim).collect();
        match parts.as_slice() {
            [name, _, design, _] => {
                let (design, _) = design.split_once(',').unwrap();
                operations.push(((*name).to_owned(), design.to_owned(), program.to_owned()));
            }
            // The program that undoes an update is an operation, too.
            [undo] if *undo == "undo" => {
                let (name, design, _) = operations.last().unwrap().clone();
                operations.push((format!("{name} undone"), design, program.to_owned()));
            }
            _ => {}
        }
    }
    operations
}

fn papers_plans(edition: &str, tactics: &Tactics) -> String {
    let mut text = String::new();
    let mut designs = BTreeMap::new();
    for (name, design, program) in operations(edition) {
        let facts =
            designs.entry(design.clone()).or_insert_with(|| Facts::wisconsin(edition, &design));
        let plans = plans(facts, tactics, &program);
        _ = writeln!(text, "{name} ({design})\n{plans}");
    }
    text
}

#[test]
fn every_program_of_1983() {
    golden("1983.txt", &papers_plans("1983", &Tactics::default()));
}

#[test]
fn every_program_of_1993() {
    golden("1993.txt", &papers_plans("1993", &Tactics::default()));
}

const INGRES: [(&str, &str); 9] = [
    ("a", "retrieve (a = 1)"),
    ("b", "retrieve (p.pnum)"),
    (
        "c",
        "retrieve (p.pname, p.pnum) where p.pnum > 3 or p.pname = \"processor\"
           or p.pcolor = \"black\"",
    ),
    ("d", "retrieve (p.pnum) where p.qoh < log(9.5) * p.pweight"),
    ("e", "retrieve (p.qoh) where p.pnum < 2500"),
    ("f", "retrieve (p.qoh, q1 = q.qoh) where p.pnum = q.pnum"),
    ("g", "retrieve (p.qoh, q1 = q.qoh) where p.pnum = q.pnum and p.pcolor = \"black\""),
    ("h", "retrieve (p.qoh) where p.pnum = q.pnum and p.pnum < 2500"),
    (
        "i",
        "retrieve (p.qoh, q1 = q.qoh) where p.pnum = q.pnum and p.pcolor = \"black\"
           and p.qoh < log(9.5) * p.pweight and q.qoh < log(9.5) * p.pweight",
    ),
];

fn ingres_plans(tactics: &Tactics) -> String {
    let mut text = String::new();
    for (name, program) in INGRES {
        let program = format!("range of p is parts range of q is parts {program}");
        _ = writeln!(text, "{name}\n{}", plans(&Facts::parts(), tactics, &program));
    }
    text
}

/// As university INGRES would: the decomposition of each program.
#[test]
fn every_join_of_1983_by_substitution() {
    let tactics: Tactics = "profile=u-ingres".parse().unwrap();
    let all = papers_plans("1983", &tactics);
    let joins = all.split("\n\n").filter(|one| one.contains("join"));
    golden("1983-substitution.txt", &format!("{}\n", joins.collect::<Vec<_>>().join("\n\n")));
}

#[test]
fn every_query_of_ingres_by_substitution() {
    let tactics: Tactics = "profile=u-ingres".parse().unwrap();
    golden("ingres-substitution.txt", &ingres_plans(&tactics));
}

#[test]
fn every_query_of_ingres() {
    golden("ingres.txt", &ingres_plans(&Tactics::default()));
}

/// The storage structures that a statement uses under each optimizer.
#[test]
fn an_optimizer_decides_whether_an_index_is_taken() {
    let facts = Facts::wisconsin("1993", "indexed");
    let paths = |optimizer: &str, condition: &str| {
        let text = format!("range of t is tenktup1 retrieve (t.all) where {condition}");
        under(&facts, &format!("optimizer={optimizer}"), &text)
    };
    let kind = |plan: &str| plan[3..].split(' ').next().map(str::to_owned);
    for (condition, by_cost, by_rules) in [
        ("t.unique2 = 5", "look-up", "look-up"),
        ("t.unique1 = 5 and t.unique2 < 3", "range", "look-up"),
        ("t.unique1 < 100", "range", "range"),
        ("t.unique1 < 1000", "scan", "range"),
        ("t.unique2 < 1000", "range", "range"),
        ("t.ten = 1", "scan", "scan"),
    ] {
        assert_eq!(kind(&paths("cost", condition)).as_deref(), Some(by_cost), "{condition}");
        assert_eq!(kind(&paths("rules", condition)).as_deref(), Some(by_rules), "{condition}");
        assert_eq!(kind(&paths("none", condition)).as_deref(), Some("scan"), "{condition}");
    }
}

/// The first pipelines of a statement read an end of an index, or all of it, under
/// `optimizer=cost`, `rules` and `none`.
#[test]
fn an_end_of_an_index_answers_for_the_least_and_the_greatest() {
    let facts = Facts::wisconsin("1993", "indexed");
    let sources = |optimizer: &str, target: &str| {
        let text = format!("range of t is tenktup1 retrieve ({target})");
        let plan = under(&facts, &format!("optimizer={optimizer}"), &text);
        let lines = plan.lines().filter_map(|line| line[..2].ends_with('.').then_some(&line[3..]));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let scan = ["scan a is tenktup1", "once"];
    let least = "least a is tenktup1 by clustered unique2";
    let greatest = "greatest a is tenktup1 by nonclustered unique1";
    for (target, by_cost) in [
        ("x = min(t.unique2)", &[least, "once"][..]),
        ("x = min(t.unique2), y = max(t.unique1)", &[least, greatest, "once"]),
        // No end says how many there are, which value is where, or what else holds of a tuple.
        ("x = min(t.unique2), y = count(t.two)", &scan),
        ("x = min(t.ten)", &scan),
        ("x = min(t.unique2 + 1)", &scan),
        ("x = min(t.unique2 where t.ten = 1)", &scan),
        ("x = sum(t.unique2)", &scan),
    ] {
        assert_eq!(sources("cost", target), by_cost, "{target}");
        for optimizer in ["rules", "none"] {
            assert_eq!(sources(optimizer, target), scan, "{optimizer}: {target}");
        }
    }
    // A hash index has no order.
    let hashed = "range of t is tenktup1 retrieve (x = min(t.unique2))";
    let hashed = under(&Facts::wisconsin("1993", "hash"), "optimizer=cost", hashed);
    assert!(hashed.starts_with("1. scan a is tenktup1\n"), "{hashed}");
}

#[test]
fn a_join_is_made_as_it_is_asked_for() {
    let facts = Facts::wisconsin("1993", "indexed");
    let text = "range of t is tenktup1 range of w is tenktup2
        retrieve (t.two, w.two) where t.unique1 = w.unique2 and w.ten = 3";
    let plan = |tactics: &str| under(&facts, tactics, text);
    assert!(plan("join=hash").contains("probe b is table 0 by a.unique1"), "{}", plan("join=hash"));
    let nested = plan("join=nested-loops");
    assert!(nested.contains("loop scan b is") && !nested.contains("probe"), "{nested}");
    let index = plan("join=index");
    assert!(index.contains("loop look-up b is tenktup1 by nonclustered unique1 = a.unique2"));
    // One side is clustered on its key, and the other is sorted.
    let merge = plan("join=merge");
    let range = "range a is tenktup2 by clustered unique2\n   where a.ten = 3\n   keep temporary";
    assert!(merge.contains(range), "{merge}");
    assert!(merge.contains("scan a is tenktup1\n   sort temporary"), "{merge}");
    assert!(merge.contains("merge a is temporary") && !merge.contains("probe"), "{merge}");
    for optimizer in ["rules", "none"] {
        let merge = plan(&format!("join=merge&optimizer={optimizer}"));
        assert!(merge.contains("merge a is temporary"), "{merge}");
    }
    // An index where one serves, the sorts where none does.
    for optimizer in ["rules", "none"] {
        let both = plan(&format!("join=index-merge&optimizer={optimizer}"));
        assert!(both.contains("loop look-up") && !both.contains("merge a is"), "{both}");
        let unindexed = text.replace("t.unique1 = w.unique2", "t.two = w.four");
        let sorted = under(&facts, &format!("join=index-merge&optimizer={optimizer}"), &unindexed);
        assert!(sorted.contains("merge a is temporary"), "{sorted}");
    }
    let few = text.replace("w.ten = 3", "w.unique2 = 3 and t.unique1 = 3");
    for (join, word) in [("merge", "merge a is"), ("hash", "probe b is"), ("index", "look-up b")] {
        let few = under(&facts, &format!("join={join}"), &few);
        assert!(few.contains(word), "{few}");
    }
    let none = plan("optimizer=none");
    assert!(none.contains("1. scan a is tenktup1\n   loop scan b is tenktup2"), "{none}");
}
