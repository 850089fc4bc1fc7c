//! Moments and numbers by a seed, the same on each run.

/// A linear congruential generator: no quality is asked of it but that it repeats.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number below this.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// One of these.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let most = u64::try_from(of.len()).expect("a length");
        &of[usize::try_from(self.below(most)).expect("a place")]
    }

    /// Fewer bytes than this.
    pub(crate) fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.below(most);
        (0..length)
            .map(|_| u8::try_from(self.below(256)).expect("a byte"))
            .collect()
    }
}
