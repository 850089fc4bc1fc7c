//! How a job is launched: one pure decision, and the launchers that follow it.
