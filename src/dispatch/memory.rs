//! The memory that one worker may use. Pure.

/// Names the most that one worker may use, in MiB.
pub const VARIABLE: &str = "TERMINAL_LOCAL_MEMORY_MAX_MB";
/// One MiB, in bytes.
pub const MIB: u64 = 1 << 20;
/// The least that a worker is given unasked, in bytes; so does Hermes Agent.
pub const LEAST: u64 = 64 * MIB;
/// The most, whatever the machine has, in bytes; so does Hermes Agent.
const MOST: u64 = 4096 * MIB;

/// The limit of one worker in bytes: half of `total`, within bounds, and no more than the value of
/// [`VARIABLE`], where that is a number.
#[must_use]
pub fn worker_limit(total: u64, variable: Option<&str>) -> u64 {
    let own = (total / 2).clamp(LEAST, MOST);
    let asked = variable
        .and_then(|text| text.trim().parse::<u64>().ok())
        .filter(|mib| *mib > 0)
        .map(|mib| mib.saturating_mul(MIB));
    asked.map_or(own, |asked| asked.min(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_machine_within_bounds() {
        assert_eq!(worker_limit(1024 * MIB, None), 512 * MIB);
        assert_eq!(worker_limit(MIB, None), LEAST);
        assert_eq!(worker_limit(64 * MOST, None), MOST);
    }

    #[test]
    fn who_asks_for_less_gets_it_and_never_more() {
        assert_eq!(worker_limit(1024 * MIB, Some("100")), 100 * MIB);
        assert_eq!(worker_limit(1024 * MIB, Some("9000")), 512 * MIB);
        for senseless in ["0", "", "much", "-1"] {
            assert_eq!(worker_limit(1024 * MIB, Some(senseless)), 512 * MIB);
        }
    }
}
