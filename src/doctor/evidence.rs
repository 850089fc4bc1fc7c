//! All that the checks read: the facts of the host, the decision about dispatch, and what each home
//! holds. Gathered once; judged afterwards.

use jiff::Timestamp;

use crate::host::Facts;

/// All that the checks read.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// When it was gathered.
    pub now: Timestamp,
    /// The host.
    pub facts: Facts,
}
