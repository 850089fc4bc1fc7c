//! Which optional properties to ask for, try after try. Pure: a rejection tells nothing that could be
//! read without parsing text, so the order is fixed.

/// The sets to try, each as one flag for each property: all of them; then all but one, each in turn,
/// so that one rejected property does not cost the others; then ever fewer, down to none.
pub(super) fn attempts(count: usize) -> impl Iterator<Item = Vec<bool>> {
    let all = std::iter::once(vec![true; count]);
    let all_but_one = (0..count).map(move |left_out| {
        (0..count)
            .map(|property| property != left_out)
            .collect::<Vec<bool>>()
    });
    let ever_fewer =
        (2..=count).map(move |dropped| (0..count).map(|property| property >= dropped).collect());
    all.chain(all_but_one).chain(ever_fewer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rejected_property_does_not_cost_the_others() {
        let sets: Vec<Vec<bool>> = attempts(3).collect();
        assert_eq!(sets[0], [true, true, true]);
        assert_eq!(sets[1], [false, true, true]);
        assert_eq!(sets[2], [true, false, true]);
        assert_eq!(sets[3], [true, true, false]);
        assert_eq!(sets[4], [false, false, true]);
        assert_eq!(sets[5], [false, false, false]);
        assert_eq!(sets.len(), 6);
    }

    #[test]
    fn the_last_set_is_the_bare_one() {
        for count in 0..6 {
            let last = attempts(count).last().unwrap();
            assert_eq!(last, vec![false; count]);
        }
        assert_eq!(attempts(0).count(), 1);
    }
}
