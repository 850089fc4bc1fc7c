//! The home directory, its profiles, and where each file of it lies.
