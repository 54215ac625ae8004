//! The relations of the Britton Lee IDM tests, 1983 to 1986.

mod dictionary;
pub mod edition_1986;
mod simple;
