//! The execution ledger: one row an attempt, one immutable end.
