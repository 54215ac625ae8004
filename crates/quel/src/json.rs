//! The tree as JSON, for the translation in Python.

use crate::error::QuelError;
use crate::parser::MAX_DEPTH;
use crate::tree::Statement;
use serde::Deserialize;

/// Brackets that one level of the tree can open: an object, and a list of arguments in it. The
/// statement, its target list and the target around them take six more.
const BRACKETS_MAX: usize = 2 * MAX_DEPTH + 6;

/// Stack for reading the deepest tree allowed, in a build without optimisation.
const STACK_BYTES: usize = 256 << 20;

/// The program's tree as JSON: a list of statements.
pub fn to_json(program: &[Statement]) -> String {
    serde_json::to_string(program).expect("a tree holds only finite numbers and string keys")
}

/// The tree that a JSON text describes.
pub fn from_json(text: &str) -> Result<Vec<Statement>, QuelError> {
    if bracket_depth(text) > BRACKETS_MAX {
        let message = format!("the tree is nested too deeply: at most {MAX_DEPTH} levels");
        return Err(QuelError::Tree(message));
    }
    let read = || {
        let mut reader = serde_json::Deserializer::from_str(text);
        reader.disable_recursion_limit();
        let program = Vec::<Statement>::deserialize(&mut reader)?;
        reader.end()?;
        Ok(program)
    };
    // The reader recurses with large frames: it gets a stack that fits the depth just checked.
    let read = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, read).map(|handle| handle.join().expect("reading cannot panic"))
    });
    read.map_err(|error| QuelError::Tree(format!("no thread to read the tree: {error}")))?
        .map_err(|error: serde_json::Error| QuelError::Tree(format!("not a tree: {error}")))
}

/// The depth to which brackets nest outside of strings.
fn bracket_depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
