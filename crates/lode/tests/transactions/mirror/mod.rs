//! A database of two copies: crashes with one of them dead, lost, stale or torn; files that are
//! not there; processes that are killed while a copy is filled.

mod copies;
mod crashes;
mod kills;
mod losses;
