//! Takes what may be a secret out of the words of other programs, before it reaches a report.

/// What stands for it.
const HIDDEN: &str = "[redacted]";
/// A part of a path that is as long as this may be a key: web hooks carry theirs so.
const LONG: usize = 20;
/// Names whose values are secrets, in lower case, as part of the name.
const NAMES: [&str; 6] = ["token", "secret", "password", "passwd", "api_key", "apikey"];

/// The words, with user names, queries and long path parts of addresses, and values of telling names,
/// taken out.
pub(super) fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&redact_word(word));
    }
    out
}

fn redact_word(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        return format!("{scheme}://{}", address(rest));
    }
    let split = word.find(['=', ':']);
    if let Some((name, value)) = split.and_then(|at| word.split_at_checked(at)) {
        let lower = name.to_ascii_lowercase();
        if value.len() > 1 && NAMES.iter().any(|secret| lower.contains(secret)) {
            return format!("{name}{}{HIDDEN}", value.get(..1).unwrap_or_default());
        }
    }
    word.to_owned()
}

fn address(rest: &str) -> String {
    let (place, query) = match rest.split_once(['?', '#']) {
        Some((place, _)) => (place, format!("?{HIDDEN}")),
        None => (rest, String::new()),
    };
    let mut parts = place.split('/');
    let host = parts.next().unwrap_or_default();
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => host.to_owned(),
    };
    let mut out = host;
    for part in parts {
        let long = part.len() >= LONG && part.chars().any(|c| c.is_ascii_digit());
        out.push('/');
        out.push_str(if long { HIDDEN } else { part });
    }
    out + &query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b143_secrets_in_addresses_are_taken_out() {
        for (text, safe) in [
            ("no route to host", "no route to host"),
            (
                "POST https://me:pw@chat.example/hooks/T0123456789abcdefghijkl/x?key=1 failed",
                "POST https://[redacted]@chat.example/hooks/[redacted]/x?[redacted] failed",
            ),
            ("bad API_KEY=sk-123, stop", "bad API_KEY=[redacted] stop"),
            ("token: ", "token: "),
            (
                "see https://docs.example/cron/errors",
                "see https://docs.example/cron/errors",
            ),
        ] {
            assert_eq!(redacted(text), safe);
        }
    }
}
