//! Timers of a session: loops and heartbeats.
