//! Cron jobs: what they are, when they fire, and what is due.
