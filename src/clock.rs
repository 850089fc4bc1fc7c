//! The window on time: wall, monotonic and boot time are three things.
