//! What a person may have meant: the nearest of a list of names.

/// The candidates that are at most a third of the typed word away, the nearest first, three at most.
#[must_use]
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let limit = (typed.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .map(|candidate| (distance(&typed, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Letters to insert, remove or replace to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (above, y) in row.iter_mut().skip(1).zip(&b) {
            let cell = (diagonal + usize::from(x != *y))
                .min(left + 1)
                .min(*above + 1);
            diagonal = std::mem::replace(above, cell);
            left = cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("hm204", "hm240", 2),
            ("linger", "linger", 0),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let names = ["session-bus", "sessions", "stores", "host"];
        assert_eq!(nearest("Sesions", names.into_iter()), ["sessions"]);
        assert_eq!(nearest("hots", names.into_iter()), [""; 0]);
        assert_eq!(nearest("hst", names.into_iter()), ["host"]);
    }
}
