//! Every client, held to the oracle.

mod answers;
mod integrity;
mod variants;
