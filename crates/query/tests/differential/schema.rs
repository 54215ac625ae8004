//! Random relations: what statements may say of them, and the commands that make them.

use std::fmt::Write;

use crate::draw::Draw;

/// The form of an attribute's values, as far as expressions that cannot fail need to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// Integers below 2 to that power in magnitude.
    Integer { bits: u32 },
    /// Reals; those of few binary digits add up to the same sum in any order.
    Real { is_exact: bool },
    /// Texts.
    Text,
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Attribute {
    pub name: String,
    pub form: Form,
    /// Bytes of a value, as in its type; 0 in a relation that a `retrieve` made.
    pub bytes: usize,
}

/// A relation.
#[derive(Debug, Clone)]
pub struct Relation {
    pub name: String,
    pub attributes: Vec<Attribute>,
    /// Tuples that it has, or more than it has.
    pub rows: u64,
}

/// Of the relation of digits, whose products with itself fill the others.
const TEXTS: [&str; 12] =
    ["a", "", "ab", "b", "abc", "a b", "B", "aé", "c  ", "a\\*", "zz", "abcabcabcabcabcabcabc"];

/// The commands that make the relation of digits: `n` from 0, and a text for each.
fn digits(text: &mut String, draw: &mut Draw<'_>) {
    text.push_str("create digits (n = i4, t = c24)\n");
    for number in 0..10 {
        let value = draw.of(&TEXTS);
        _ = writeln!(text, "append to digits (n = {number}, t = \"{value}\")");
    }
    text.push_str(
        "range of d is digits range of e is digits range of f is digits range of g is digits\n",
    );
}

/// Some relations, and the commands that make them.
pub fn relations(draw: &mut Draw<'_>) -> (Vec<Relation>, String) {
    let mut text = String::new();
    digits(&mut text, draw);
    let count = 1 + draw.below(3);
    let made = (0..count).map(|number| relation(number, draw, &mut text)).collect();
    (made, text)
}

fn relation(number: usize, draw: &mut Draw<'_>, text: &mut String) -> Relation {
    let name = format!("r{number}");
    let mut attributes = vec![integer("k".to_owned(), 4)];
    for at in 0..=draw.below(5) {
        attributes.push(attribute(format!("a{at}"), draw));
    }
    let list = attributes.iter().map(|one| format!("{} = {}", one.name, type_name(one)));
    _ = writeln!(text, "create {name} ({})", list.collect::<Vec<_>>().join(", "));
    // Twenty tuples at most, but for one relation in six, and one that is more than a batch.
    let [thousands, hundreds, tens, ones] = match draw.below(12) {
        11 => [draw.between(1, 2), 10, 10, 10],
        10 => [1, 1, draw.between(5, 10), 10],
        _ => [1, 1, draw.between(1, 2), draw.of(&[5, 10, 3, 8, 10, 1, 0])],
    };
    let values =
        attributes.iter().skip(1).map(|one| format!("{} = {}", one.name, formula(one, draw)));
    let values = values.collect::<Vec<_>>().join(", ");
    _ = writeln!(
        text,
        "append to {name} (k = d.n + 10 * e.n + 100 * f.n + 1000 * g.n, {values})\n    \
         where d.n < {ones} and e.n < {tens} and f.n < {hundreds} and g.n < {thousands}"
    );
    let extremes = draw.below(3) as i64;
    for at in 0..extremes {
        let values =
            attributes.iter().skip(1).map(|one| format!("{} = {}", one.name, extreme(one, draw)));
        let values = values.collect::<Vec<_>>().join(", ");
        _ = writeln!(text, "append to {name} (k = {}, {values})", 5000 + at);
    }
    structures(&name, &attributes, draw, text);
    Relation { name, attributes, rows: (thousands * hundreds * tens * ones + extremes) as u64 }
}

/// The place where its tuples are, and which indexes lead there.
fn structures(name: &str, attributes: &[Attribute], draw: &mut Draw<'_>, text: &mut String) {
    let any = |draw: &mut Draw<'_>| attributes[draw.below(attributes.len())].name.clone();
    match draw.below(5) {
        0 => {}
        1 => _ = writeln!(text, "modify {name} to isam on {}", any(draw)),
        2 => _ = writeln!(text, "modify {name} to hash on {}", any(draw)),
        3 => _ = writeln!(text, "modify {name} to btree on {}, k", any(draw)),
        _ => _ = writeln!(text, "modify {name} to hash on k"),
    }
    for _ in 0..draw.below(3) {
        _ = writeln!(text, "create nonclustered index on {name} ({})", any(draw));
    }
}

/// An integer attribute of so many bytes.
pub fn integer(name: String, bytes: usize) -> Attribute {
    Attribute { name, form: Form::Integer { bits: 8 * bytes as u32 - 1 }, bytes }
}

fn attribute(name: String, draw: &mut Draw<'_>) -> Attribute {
    match draw.below(9) {
        kind @ 0..4 => integer(name, [4, 2, 1, 8][kind]),
        kind @ 4..6 => {
            Attribute { name, form: Form::Real { is_exact: true }, bytes: [8, 4][kind - 4] }
        }
        _ => Attribute { name, form: Form::Text, bytes: draw.of(&[24, 40, 300]) },
    }
}

fn type_name(attribute: &Attribute) -> String {
    let letter = match attribute.form {
        Form::Integer { .. } => "i",
        Form::Real { .. } => "f",
        Form::Text => "c",
    };
    format!("{letter}{}", attribute.bytes)
}

/// A value that follows from the digits.
fn formula(attribute: &Attribute, draw: &mut Draw<'_>) -> String {
    let (one, other) = (draw.between(1, 12), draw.between(0, 12));
    let modulus = draw.of(&[3, 1, 7, 50, 120]);
    let number = format!("mod({one} * d.n + {other} * e.n + f.n, {modulus})");
    match attribute.form {
        Form::Integer { .. } if attribute.bytes == 8 => {
            let factor = draw.of(&["1", "1000000007", "9007199254740993"]);
            format!("({number} - 2) * {factor}")
        }
        Form::Integer { .. } => format!("{number} - {}", draw.between(0, 3)),
        Form::Real { .. } => format!("({number} - {}) / 4.0", draw.between(0, 9)),
        Form::Text => draw.of(&["d.t", "e.t"]).to_owned(),
    }
}

/// The least or the greatest value, or one that is easily mistaken for another.
fn extreme(attribute: &Attribute, draw: &mut Draw<'_>) -> String {
    match attribute.form {
        Form::Integer { .. } => {
            let most = i64::MAX >> (64 - 8 * attribute.bytes);
            draw.of(&[format!("{most}").as_str(), format!("-{most} - 1").as_str()]).to_owned()
        }
        Form::Real { .. } => draw.of(&["-0.0", "131072.25", "-131072.5", "9007.0"]).to_owned(),
        Form::Text => format!("\"{}\"", draw.of(&["\u{1}", "~~~~", "abcabcabcabcabcabcabcabc"])),
    }
}
