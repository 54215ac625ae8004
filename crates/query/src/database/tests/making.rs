//! A relation that cannot be is refused wherever relations are made, and harms nothing.

use super::*;

/// Load that many attributes of these names, with no rows.
fn load_empty(database: &Database, relation: &str, names: &[&str]) -> Result<u64> {
    let kind = Kind::Integer { bytes: 4 };
    let attributes: Vec<_> =
        names.iter().map(|name| Attribute { name: (*name).to_owned(), kind }).collect();
    let fields: Vec<_> = names
        .iter()
        .map(|name| arrow_schema::Field::new(*name, arrow_schema::DataType::Int32, false))
        .collect();
    let rows = RecordBatchIterator::new([], Arc::new(arrow_schema::Schema::new(fields)));
    database.load(relation, &attributes, &Storage::default(), rows)
}

#[test]
fn a_relation_without_attributes_is_refused_and_the_others_stay() {
    let (_folder, database) = parts();
    let refused = load_empty(&database, "n", &[]).unwrap_err().to_string();
    assert!(refused.contains("`n` would have no attributes"), "{refused}");
    assert_eq!(contents(&database, "parts").rows, 3);
    assert_eq!(database.relations().unwrap().len(), 1);
}

#[test]
fn names_that_no_text_can_say_are_refused() {
    let (_folder, database) = parts();
    let long = "n".repeat(5_000);
    for name in ["A", "", "a b", "é", "a\0", "1a", "a.b", long.as_str()] {
        let of_relation = load_empty(&database, name, &["a"]).unwrap_err().to_string();
        assert!(of_relation.contains("relation"), "{of_relation}");
        let of_attribute = load_empty(&database, "n", &["a", name]).unwrap_err().to_string();
        assert!(of_attribute.contains("attribute"), "{of_attribute}");
    }
    let word = load_empty(&database, "where", &["a"]).unwrap_err().to_string();
    assert!(word.contains("`where`: it is a word of the language"), "{word}");
    for text in ["create n (all = i4)", "range of p is parts retrieve into n (all = p.number)"] {
        let refused = database.execute(text, &[]).unwrap_err().to_string();
        assert!(refused.contains("no attribute can be called `all`"), "{refused}");
    }
    assert_eq!(database.relations().unwrap().len(), 1);
    // An attribute may be called by any other word of the language.
    assert_eq!(load_empty(&database, "n", &["where", "retrieve"]).unwrap(), 0);
    assert_eq!(answer(&database, "range of n is n retrieve (n.where, n.retrieve)", &[]).rows, 0);
}

#[test]
fn an_attribute_is_made_once() {
    let (_folder, database) = parts();
    let created = database.execute("create n (a = i4, b = f8, a = i4)", &[]).unwrap_err();
    let created = created.to_string();
    assert!(created.starts_with("line 1, column 27: there is an attribute `a`"), "{created}");
    let loaded = load_empty(&database, "n", &["a", "b", "a"]).unwrap_err().to_string();
    assert!(loaded.contains("two attributes `a`"), "{loaded}");
    // The papers store whole tuples of several relations.
    let text = "range of p is parts range of q is parts
        retrieve into both (p.all, q.all) where p.number = q.number";
    assert_eq!(database.execute(text, &[]).unwrap(), Some(3));
    database.execute("modify both to heap", &[]).unwrap();
    assert_eq!(contents(&database, "both").rows, 3);
}

#[test]
fn the_longest_names_are_read_again_with_statistics() {
    let (_folder, database) = database();
    let name = "n".repeat(catalog::NAME_BYTES_MAX);
    database.execute(&format!("create {name} ({name} = c80)"), &[]).unwrap();
    let text = format!("append to {name} ({name} = {:?})", "t".repeat(80));
    assert_eq!(database.execute(&text, &[]).unwrap(), Some(1));
    database.settle(&[&name]).unwrap();
    assert_eq!(contents(&database, &name).rows, 1);
}
