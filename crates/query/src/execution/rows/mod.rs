//! Row at a time: what `execution=interpreted` and `execution=closures` share. They differ in how
//! an expression is computed, which is behind the traits of [`evaluation`].

pub mod evaluation;

pub use evaluation::{Condition, Evaluation, Known, Packer, Row, Scalar};
