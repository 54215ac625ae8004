//! The way in which relations are stored changes no answer.

use super::*;

#[test]
fn structures_change_how_relations_are_reached_and_no_answer() {
    let (_folder, database) = database();
    let relation = generated("1993", "tenktup1", 2_000);
    load(&database, &relation, &Storage::default());
    let before = contents(&database, "tenktup1");
    let one = "range of t is tenktup1 retrieve (t.unique1) where t.unique2 = 77";
    let paths = |expected: &str| {
        database.settle(&["tenktup1"]).unwrap();
        let plan = database.plan(&Statement::new(one).unwrap(), &[]).unwrap();
        assert_eq!(plan.access_paths(), [expected]);
        assert!(!plan.explain(None).is_empty());
        assert_eq!(contents(&database, "tenktup1"), before);
    };
    paths("heap");
    for (text, path) in [
        ("modify tenktup1 to hash on unique2", "hash"),
        ("modify tenktup1 to isam on unique2", "clustered"),
        ("modify tenktup1 to heap", "heap"),
        ("create nonclustered index on tenktup1 (unique2)", "nonclustered"),
    ] {
        assert_eq!(database.execute(text, &[]).unwrap(), None);
        paths(path);
    }
    let error = database.execute("modify tenktup1 to cheap", &[]).unwrap_err().to_string();
    assert!(error.contains("does not store relations as `cheap`"), "{error}");
    assert!(database.remove("tenktup1").unwrap() && !database.remove("tenktup1").unwrap());
    assert!(database.relations().unwrap().is_empty());
}

#[test]
fn an_emptied_relation_takes_another_structure() {
    for structure in ["isam on number", "hash on number", "heap"] {
        let (_folder, database) = parts();
        assert_eq!(database.execute("range of p is parts delete p", &[]).unwrap(), Some(3));
        // The page that the tuples were in is read, has none, and goes.
        database.execute(&format!("modify parts to {structure}"), &[]).unwrap();
        assert_eq!(contents(&database, "parts").rows, 0, "{structure}");
    }
}

#[test]
fn a_unique_index_is_made_only_over_different_values_however_long() {
    let (_folder, database) = database();
    database.execute("create notes (number = i4, text = c2000)", &[]).unwrap();
    // Longer than a key of an index: of the second and third only the last byte differs.
    let long = "x".repeat(1_500);
    for (number, text) in [(1, "short"), (2, &format!("{long}a")), (3, &format!("{long}b"))] {
        let parameters = [Parameter::Integer(number), Parameter::Text(text.into())];
        let append = "append to notes (number = $1, text = $2)";
        database.execute(append, &parameters).unwrap();
    }
    let index = "create unique index on notes (text)";
    database.execute(index, &[]).unwrap();
    let same = "range of n is notes append to notes (n.all) where n.number = 3";
    let refused = |text| matches!(database.execute(text, &[]), Err(QueryError::Duplicate { .. }));
    assert!(refused(same));
    database.execute("range of n is notes retrieve into notes (n.all)", &[]).unwrap();
    database.execute(same, &[]).unwrap();
    assert!(refused(index));
    assert_eq!(contents(&database, "notes").rows, 4);
}
