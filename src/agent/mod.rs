//! The agent command: how a prompt becomes a turn.
