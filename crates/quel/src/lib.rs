//! QUEL (INGRES) and IDL (Britton Lee): text to tree and back, and the oracle that says what a
//! program must answer. `docs/reference/quel.md` is the reference; no engine's code is used here.
//!
//! ```
//! use loadstone_quel::{parse, print};
//! let tree = parse("RANGE OF t IS thoustup retrieve (t.all) where (t.ten < 1)")?;
//! assert_eq!(print(&tree)?, "range of t is thoustup\nretrieve (t.all) where t.ten < 1\n");
//! # Ok::<(), loadstone_quel::QuelError>(())
//! ```

pub mod answer;
pub mod check;
mod equality;
pub mod error;
mod json;
mod lexer;
pub mod naming;
pub mod oracle;
mod parser;
pub mod pattern;
mod printer;
pub mod schema;
pub mod tree;
mod value;

pub use answer::Answer;
pub use error::QuelError;
pub use json::{from_json, to_json};
pub use oracle::Oracle;
pub use parser::{MAX_DEPTH, parse, parse_placed};
pub use printer::print;
