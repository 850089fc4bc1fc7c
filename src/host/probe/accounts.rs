//! The user database: `/etc/passwd` first, which cannot hang, then whatever the system knows, which may
//! ask services, with a deadline.

use std::path::PathBuf;
use std::time::Duration;

use nix::unistd::{Uid, User};

use crate::bounded::start;
use crate::host::choose::Accounts;
use crate::host::facts::AccountFacts;

/// How long a look-up may take that goes beyond `/etc/passwd`.
const PATIENCE: Duration = Duration::from_millis(500);

/// The accounts of this host.
#[derive(Clone, Debug, Default)]
pub(super) struct Database(Vec<AccountFacts>);

impl Database {
    /// Reads `/etc/passwd`.
    pub(super) fn read() -> Self {
        let bytes = std::fs::read("/etc/passwd").unwrap_or_default();
        Self(passwd(&String::from_utf8_lossy(&bytes)))
    }
}

fn passwd(text: &str) -> Vec<AccountFacts> {
    let account = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok();
        let home = fields.nth(1).map(PathBuf::from);
        Some(AccountFacts {
            uid,
            gid,
            name: Some(name),
            home: home.filter(|home| home.is_absolute()),
        })
    };
    text.lines().filter_map(account).collect()
}

fn of_user(user: User) -> AccountFacts {
    AccountFacts {
        uid: user.uid.as_raw(),
        gid: Some(user.gid.as_raw()),
        name: Some(user.name),
        home: Some(user.dir),
    }
}

impl Accounts for Database {
    fn by_uid(&self, uid: u32) -> Option<AccountFacts> {
        let known = self.0.iter().find(|account| account.uid == uid).cloned();
        known.or_else(|| {
            start("accounts", move || User::from_uid(Uid::from_raw(uid)))
                .wait(PATIENCE)?
                .ok()?
                .map(of_user)
        })
    }

    fn by_name(&self, name: &str) -> Option<AccountFacts> {
        let same = |account: &&AccountFacts| account.name.as_deref() == Some(name);
        let known = self.0.iter().find(same).cloned();
        let owned = name.to_owned();
        known
            .or_else(|| {
                start("accounts", move || User::from_name(&owned))
                    .wait(PATIENCE)?
                    .ok()?
                    .map(of_user)
            })
            .or_else(|| self.by_uid(name.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_name_and_by_number() {
        let text = "root:x:0:0:root:/root:/bin/sh\nbot:x:1001:1002::/srv/bot:\n+nis\nbad:x:y:z\n";
        let database = Database(passwd(text));
        let bot = database.by_name("bot").unwrap();
        assert_eq!((bot.uid, bot.gid), (1001, Some(1002)));
        assert_eq!(bot.home, Some("/srv/bot".into()));
        assert_eq!(database.by_uid(0).unwrap().name.as_deref(), Some("root"));
        assert_eq!(database.by_name("1001").unwrap().uid, 1001);
    }
}
