//! Who reads and writes the files of a home, and in which groups.

use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

use nix::unistd::{Gid, Uid, User, getgrouplist};

use super::files;
use crate::bounded;
use crate::doctor::evidence::home::{Access, Reader};
use crate::doctor::evidence::read::Stat;
use crate::home::Source;
use crate::host::{Facts, proc};

/// How long the user database may take: it may ask a service.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a dispatcher does with its home: read it, fill it and enter it.
const USE: u32 = 7;

/// What it does at least with one that is meant for it.
const LOOK: u32 = 5;

/// The process that dispatches, else the account that would. Where that is only who asks, it is whoever owns
/// the home that was named, or that root looks at: what another may do says nothing of him. It is still who
/// asks where he may use that home himself, or where root made it and lets him look in: nobody else is known
/// to use that.
pub(super) fn look(facts: &Facts, home: Option<&Stat>) -> Reader {
    let dispatcher = &facts.dispatcher;
    let process = dispatcher.process.as_ref();
    if let Some(process) = process
        && let Some(uid) = process.uid.known()
    {
        let running = of_process(process.pid).filter(|reader| reader.uid == *uid);
        return running.unwrap_or_else(|| of_account(*uid));
    }
    let asks = dispatcher.unit.is_none() && facts.caller.uid == facts.account.uid;
    let named = facts.home.source == Source::Flag;
    let by_root = facts.account.uid == 0;
    let account = of_account(facts.account.uid);
    let is_own = |home: &Stat| {
        let need = if home.uid == 0 { LOOK } else { USE };
        !by_root && account.may(home, need) == Access::Yes
    };
    match home {
        Some(home) if asks && (named || by_root) && !is_own(home) => of_account(home.uid),
        _ => account,
    }
}

/// What the kernel says of a process that runs.
fn of_process(pid: u32) -> Option<Reader> {
    let status = files::text(Path::new(&format!("/proc/{pid}/status")));
    let status = proc::status(status.got()?);
    // Real, effective, saved, and the one that files are opened with.
    let of_files = |ids: [u32; 4]| ids[3];
    Some(Reader {
        uid: of_files(status.uids?),
        gid: status.gids.map(of_files),
        groups: status.groups,
    })
}

/// What the user database says of an account.
fn of_account(uid: u32) -> Reader {
    let found = bounded::start("groups", move || {
        let user = User::from_uid(Uid::from_raw(uid)).ok()??;
        let name = CString::new(user.name).ok()?;
        let groups = getgrouplist(&name, user.gid).ok()?;
        Some((user.gid, groups))
    });
    let (gid, groups) = found.wait(PATIENCE).flatten().unzip();
    let numbers = |groups: Vec<Gid>| groups.into_iter().map(Gid::as_raw).collect();
    Reader {
        uid,
        gid: gid.map(Gid::as_raw),
        groups: groups.map(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::evidence::read::FileKind;
    use crate::host::facts::Fact;

    fn judged(change: impl FnOnce(&mut Facts)) -> u32 {
        of_home(change, (1_234, 0o700))
    }

    fn of_home(change: impl FnOnce(&mut Facts), (uid, mode): (u32, u32)) -> u32 {
        let mut facts = Facts::example_laptop();
        facts.account.uid = 0;
        facts.caller = facts.account.clone();
        change(&mut facts);
        let home = Stat {
            kind: FileKind::Directory,
            link: false,
            uid,
            gid: uid,
            mode,
            size: 0,
            modified: jiff::Timestamp::UNIX_EPOCH,
        };
        look(&facts, Some(&home)).uid
    }

    #[test]
    fn root_that_only_asks_is_not_who_reads() {
        assert_eq!(judged(|_| ()), 1_234);
        // Somebody else asks for root, and a unit of root's runs as root.
        assert_eq!(judged(|facts| facts.caller.uid = 7), 0);
        assert_eq!(
            judged(|facts| facts.dispatcher.unit = Facts::example().dispatcher.unit),
            0
        );
        let of_bot = |facts: &mut Facts| {
            facts.dispatcher.process = Facts::example().dispatcher.process;
            if let Some(process) = &mut facts.dispatcher.process {
                process.uid = Fact::Known(1_001);
            }
        };
        assert_eq!(judged(of_bot), 1_001);
        assert_eq!(judged(|facts| facts.account.uid = 1_002), 1_002);
        let other = |facts: &mut Facts, source| {
            facts.account.uid = 65_534;
            facts.caller.uid = 65_534;
            facts.home.source = source;
        };
        assert_eq!(judged(|facts| other(facts, Source::Flag)), 1_234);
        assert_eq!(judged(|facts| other(facts, Source::Environment)), 65_534);
        // Root made it and this account is to use it, or may use it as it is.
        let named = |facts: &mut Facts| other(facts, Source::Flag);
        assert_eq!(of_home(named, (0, 0o755)), 65_534);
        assert_eq!(of_home(named, (0, 0o700)), 0);
        assert_eq!(of_home(named, (1_234, 0o777)), 65_534);
        assert_eq!(of_home(named, (1_234, 0o755)), 1_234);
    }

    #[test]
    fn groups_are_those_of_the_process_or_of_the_user_database() {
        let own = of_process(std::process::id()).expect("this process");
        assert_eq!(own.uid, rustix::process::geteuid().as_raw());
        let listed = rustix::process::getgroups().expect("its groups");
        let listed: Vec<u32> = listed
            .into_iter()
            .map(rustix::process::Gid::as_raw)
            .collect();
        assert_eq!(own.groups, Some(listed));
        let root = of_account(0);
        assert_eq!(root.gid, Some(0));
        assert!(root.groups.is_some_and(|groups| groups.contains(&0)));
        let nobody = of_account(4_000_000_001);
        assert_eq!((nobody.gid, nobody.groups), (None, None));
    }
}
