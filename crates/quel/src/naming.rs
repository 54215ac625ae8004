//! Which names of relations and attributes a text can say.

use crate::parser::RESERVED;

/// Why no text can call a relation so; None where one can.
pub fn relation_fault(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("no relation can be called `{name}`: it is a word of the language"));
    }
    word_fault("relation", name)
}

/// Why no text can call an attribute so; None where one can. The language's own words are names of
/// attributes, except for `all`: `t.all` are all attributes.
pub fn attribute_fault(name: &str) -> Option<String> {
    if name == "all" {
        let why = "`t.all` stands for all attributes of `t`";
        return Some(format!("no attribute can be called `all`: {why}"));
    }
    word_fault("attribute", name)
}

fn word_fault(what: &str, name: &str) -> Option<String> {
    let is_in_words = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_word = name.bytes().all(is_in_words)
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if is_word {
        return None;
    }
    Some(format!(
        "no {what} can be called {name:?}: a name has small letters from a to z, digits and \
         underscores, and begins with no digit"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn a_name_is_good_where_a_text_with_it_is_read_as_it_stands() {
        let words = ["r", "_", "a1", "thoustup", "count", "min", "i4", "unqiue", "x_9"];
        let others = ["", "A", "a b", "1a", "é", "a\0", "a-b", "\"a\"", "9", " a", "a.b", "/**/a"];
        for name in words.into_iter().chain(others).chain(RESERVED) {
            let is_read = |text: &str, named: &str| {
                let printed = parse(text).ok().and_then(|tree| crate::print(&tree).ok());
                printed.is_some_and(|printed| printed.contains(named))
            };
            let relation = is_read(&format!("create {name} (a = i4)"), &format!("create {name} ("));
            assert_eq!(relation_fault(name).is_none(), relation, "{name:?}");
            let attribute = is_read(&format!("retrieve (x = t.{name})"), &format!("= t.{name})"));
            assert_eq!(attribute_fault(name).is_none(), attribute, "{name:?}");
        }
    }
}
