//! The window on SQLite: snapshots for the doctor, connections for the runtime.
