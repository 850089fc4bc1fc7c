//! Which runtime directory may be believed: a judgement over what `lstat` saw. Owns no I/O.
//!
//! `XDG_RUNTIME_DIR` is inherited through `su`, `sudo` and `runuser`, so it often belongs to somebody
//! else. It is believed only if it is absolute, a real directory, owned by the account in question
//! and not writable by group or others; otherwise `/run/user/UID` on the same terms.

use serde::{Deserialize, Serialize};

use crate::bus::{Failure, FailureKind};

/// Where a candidate came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// `XDG_RUNTIME_DIR` of the environment that is judged.
    Environment,
    /// `/run/user/UID`, where logind puts it.
    Conventional,
}

/// What kind of thing the path is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A real directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// Anything else.
    Other,
}

/// What `lstat` saw of one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// It is there.
    There {
        /// What it is.
        kind: Kind,
        /// Its owner, as this user namespace maps it.
        uid: u32,
        /// The permission bits.
        mode: u32,
        /// When it was made or last replaced: change time, in seconds since 1970.
        changed_at: i64,
        /// Its inode, which differs after a directory was replaced.
        inode: u64,
    },
    /// It is not there, or could not be looked at.
    Not(Failure),
}

/// One candidate, what was seen, and why it is not believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Where the path came from.
    pub origin: Origin,
    /// The path as given.
    pub path: String,
    /// What is there; `None` where it was not worth looking (a relative path).
    pub seen: Option<Seen>,
    /// `None`: believed.
    pub rejected: Option<Failure>,
}

/// The candidates in the order of belief, and the one that won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeDir {
    /// The account for which was judged.
    pub uid: u32,
    /// The directory that may be used and passed on.
    pub path: Option<String>,
    /// Where the winner came from.
    pub origin: Option<Origin>,
    /// All candidates looked at.
    pub candidates: Vec<Candidate>,
    /// Whether the environment named none at all.
    pub unset: bool,
}

impl Candidate {
    /// Judges one candidate for `uid`.
    #[must_use]
    pub fn judge(origin: Origin, path: &str, seen: Option<Seen>, uid: u32) -> Self {
        let rejected = rejection(path, seen.as_ref(), uid);
        Self {
            origin,
            path: path.to_owned(),
            seen,
            rejected,
        }
    }
}

impl RuntimeDir {
    /// The first candidate that may be believed wins.
    #[must_use]
    pub fn choose(uid: u32, candidates: Vec<Candidate>) -> Self {
        let winner = candidates
            .iter()
            .find(|candidate| candidate.rejected.is_none());
        Self {
            uid,
            path: winner.map(|candidate| candidate.path.clone()),
            origin: winner.map(|candidate| candidate.origin),
            unset: !candidates
                .iter()
                .any(|candidate| candidate.origin == Origin::Environment),
            candidates,
        }
    }

    /// The directories that may be believed, in the order of belief.
    pub fn believable(&self) -> impl Iterator<Item = &str> {
        let candidates = self.candidates.iter();
        candidates
            .filter(|candidate| candidate.rejected.is_none())
            .map(|candidate| candidate.path.as_str())
    }

    /// The same, where the manager has answered in this directory: that outranks the order of belief.
    #[must_use]
    pub fn answered_in(mut self, path: &str) -> Self {
        let mut candidates = self.candidates.iter();
        if let Some(winner) = candidates.find(|candidate| candidate.path == path) {
            self.path = Some(winner.path.clone());
            self.origin = Some(winner.origin);
        }
        self
    }

    /// What the environment names and may be believed, where the manager has answered elsewhere.
    #[must_use]
    pub fn passed_over(&self) -> Option<&Candidate> {
        let first = self
            .candidates
            .iter()
            .find(|first| first.rejected.is_none())?;
        (Some(&first.path) != self.path.as_ref()).then_some(first)
    }

    /// Why there is none: the refusal of the last candidate, which is the conventional one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Failure> {
        if self.path.is_some() {
            return None;
        }
        self.candidates
            .iter()
            .rev()
            .find_map(|candidate| candidate.rejected.as_ref())
    }
}

fn rejection(path: &str, seen: Option<&Seen>, uid: u32) -> Option<Failure> {
    if !path.starts_with('/') {
        return Some(Failure::said(
            FailureKind::NotAbsolute,
            "not an absolute path",
        ));
    }
    match seen {
        None => Some(Failure::said(FailureKind::Unknown, "not looked at")),
        Some(Seen::Not(failure)) => Some(failure.clone()),
        Some(Seen::There {
            kind: Kind::Link, ..
        }) => Some(Failure::said(FailureKind::NotADirectory, "a symbolic link")),
        Some(Seen::There {
            kind: Kind::Other, ..
        }) => Some(Failure::said(FailureKind::NotADirectory, "not a directory")),
        Some(Seen::There { uid: owner, .. }) if *owner != uid => Some(Failure::said(
            FailureKind::ForeignOwner,
            format!("belongs to uid {owner}, judged for uid {uid}"),
        )),
        Some(Seen::There { mode, .. }) if mode & 0o022 != 0 => Some(Failure::said(
            FailureKind::InsecureMode,
            format!(
                "mode {:04o}: others than uid {uid} may write into it",
                mode & 0o7777
            ),
        )),
        Some(Seen::There { .. }) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(uid: u32, mode: u32) -> Seen {
        Seen::There {
            kind: Kind::Directory,
            uid,
            mode,
            changed_at: 0,
            inode: 1,
        }
    }

    fn kind_of(candidate: &Candidate) -> Option<FailureKind> {
        candidate.rejected.as_ref().map(|failure| failure.kind)
    }

    #[test]
    fn own_private_directory_is_believed() {
        let own = Candidate::judge(
            Origin::Environment,
            "/run/user/7",
            Some(there(7, 0o40700)),
            7,
        );
        assert_eq!(own.rejected, None);
        let readable = Candidate::judge(
            Origin::Environment,
            "/run/user/7",
            Some(there(7, 0o40755)),
            7,
        );
        assert_eq!(readable.rejected, None);
    }

    #[test]
    fn b09_leaked_directory_of_root_is_not_believed() {
        let denied = Failure {
            errno: Some(13),
            ..Failure::of(FailureKind::PermissionDenied)
        };
        let leaked = Candidate::judge(
            Origin::Environment,
            "/run/user/0",
            Some(there(0, 0o40700)),
            1001,
        );
        assert_eq!(kind_of(&leaked), Some(FailureKind::ForeignOwner));
        let hidden = Candidate::judge(Origin::Environment, "/x/y", Some(Seen::Not(denied)), 1001);
        assert_eq!(kind_of(&hidden), Some(FailureKind::PermissionDenied));
    }

    #[test]
    fn b10_own_directory_wins_over_a_leaked_one() {
        let leaked = Candidate::judge(
            Origin::Environment,
            "/run/user/0",
            Some(there(0, 0o40700)),
            1001,
        );
        let own = Candidate::judge(
            Origin::Conventional,
            "/run/user/1001",
            Some(there(1001, 0o700)),
            1001,
        );
        let chosen = RuntimeDir::choose(1001, vec![leaked, own]);
        assert_eq!(chosen.path.as_deref(), Some("/run/user/1001"));
        assert_eq!(chosen.origin, Some(Origin::Conventional));
        assert!(!chosen.unset);
        assert_eq!(chosen.refusal(), None);
    }

    #[test]
    fn b20_both_ids_are_named() {
        let foreign = Candidate::judge(
            Origin::Environment,
            "/run/user/0",
            Some(there(4, 0o700)),
            1001,
        );
        let text = foreign.rejected.and_then(|failure| failure.text).unwrap();
        assert!(
            text.contains("uid 4") && text.contains("uid 1001"),
            "{text}"
        );
    }

    #[test]
    fn writable_by_others_is_insecure() {
        for mode in [0o40777, 0o40770, 0o41777, 0o40720, 0o40702] {
            let open = Candidate::judge(Origin::Environment, "/tmp/x", Some(there(7, mode)), 7);
            assert_eq!(kind_of(&open), Some(FailureKind::InsecureMode), "{mode:o}");
        }
    }

    #[test]
    fn a_link_and_a_relative_path_are_refused() {
        let link = Seen::There {
            kind: Kind::Link,
            uid: 7,
            mode: 0o777,
            changed_at: 0,
            inode: 1,
        };
        let link = Candidate::judge(Origin::Environment, "/run/user/7", Some(link), 7);
        assert_eq!(kind_of(&link), Some(FailureKind::NotADirectory));
        let relative =
            Candidate::judge(Origin::Environment, "run/user/7", Some(there(7, 0o700)), 7);
        assert_eq!(kind_of(&relative), Some(FailureKind::NotAbsolute));
        assert_eq!(
            kind_of(&Candidate::judge(Origin::Environment, "", None, 7)),
            Some(FailureKind::NotAbsolute)
        );
    }

    #[test]
    fn none_to_believe_says_why() {
        let absent = Seen::Not(Failure {
            errno: Some(2),
            ..Failure::of(FailureKind::Absent)
        });
        let chosen = RuntimeDir::choose(
            7,
            vec![Candidate::judge(
                Origin::Conventional,
                "/run/user/7",
                Some(absent),
                7,
            )],
        );
        assert_eq!(chosen.path, None);
        assert!(chosen.unset);
        assert_eq!(
            chosen.refusal().map(|failure| failure.kind),
            Some(FailureKind::Absent)
        );
    }
}
