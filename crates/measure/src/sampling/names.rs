//! The name of a function as people write it: without hash, parameters and copies of the compiler.

use cpp_demangle::{DemangleOptions, Symbol};

/// Longer names are cut: a template's may run to kilobytes.
const NAME_CHARS_MAX: usize = 160;

/// A linker's name in words: `_ZN6duckdb4ScanEv` is `duckdb::Scan`.
pub fn demangled(name: &str) -> String {
    let name = name.split('@').next().unwrap_or(name);
    let plain = rust(name).or_else(|| cpp(name)).unwrap_or_else(|| without_suffix(name).to_owned());
    match plain.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

fn rust(name: &str) -> Option<String> {
    let found = rustc_demangle::try_demangle(name).ok()?;
    Some(format!("{found:#}"))
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    // The suffix that the compiler adds is no part of the grammar everywhere.
    let symbol = Symbol::new(name).or_else(|_| Symbol::new(without_suffix(name))).ok()?;
    let plain = symbol.demangle_with_options(&options).ok()?;
    Some(plain.split(" [clone").next().unwrap_or(&plain).to_owned())
}

/// Without `.constprop.0`, `.isra.0`, `.part.0`, `.cold` and their like.
fn without_suffix(name: &str) -> &str {
    name.find('.').filter(|&end| end > 0).map_or(name, |end| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::{NAME_CHARS_MAX, demangled};

    #[test]
    fn names_of_four_compilers_are_read() {
        for (name, expected) in [
            (
                "_ZN6duckdb16PhysicalHashJoin7ExecuteERNS_9DataChunkE",
                "duckdb::PhysicalHashJoin::Execute",
            ),
            ("_ZN3foo3barILi3EEEvi.constprop.0", "foo::bar<3>"),
            ("_ZN4lode4heap4scan17h0123456789abcdefE", "lode::heap::scan"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("ExecInterpExpr", "ExecInterpExpr"),
            ("slot_deform_heap_tuple.isra.0", "slot_deform_heap_tuple"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            (".L17", ".L17"),
        ] {
            assert_eq!(demangled(name), expected);
        }
    }

    #[test]
    fn a_name_that_only_looks_mangled_stays_as_it_is() {
        for name in ["_Z", "_ZN", "_R", "_ZN9999999999x", "", "_ZZZZZZZZ"] {
            assert_eq!(demangled(name), name);
        }
    }

    #[test]
    fn a_name_without_end_is_cut() {
        for long in ["é".repeat(10_000), format!("_Z{}", "N3foo".repeat(5_000))] {
            assert!(demangled(&long).chars().count() <= NAME_CHARS_MAX + 1);
        }
    }
}
