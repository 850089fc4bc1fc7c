//! The window on child processes: the one place that starts, waits for and kills them.

pub mod guard;
pub mod leftovers;
pub mod own_self;
pub mod run;
pub mod spawn;
pub mod survivor;
