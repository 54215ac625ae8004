//! Plain structures in the program's memory: what a program without any database does.

pub mod oo1;
pub mod oo7;
pub mod rvm;
