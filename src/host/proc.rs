//! The texts of `/proc`, parsed. Pure: bytes in, plain data out. Nothing here panics on any bytes, and
//! what does not parse is `None`, never a default.

mod mounts;
mod stat;
mod system;
mod words;

pub use mounts::{Mount, mounts};
pub use stat::{Stat, Status, stat, status};
pub use system::{boot_time, initial_user_namespace, key_bytes, os_name, swaps, uid_map};
pub use words::{command_line, descriptors_limit, environ, held_flocks};

#[cfg(test)]
mod tests;
