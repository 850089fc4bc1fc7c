//! The texts of /proc, good and hostile.

use proptest::prelude::*;

use super::*;
use crate::host::facts::FileId;

const LINE: &str = " S 812 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 100000 1 2 3\n";

#[test]
fn a_name_may_hold_parentheses_and_newlines() {
    let line = format!("4242 (a) b (\n1 2) S (x){LINE}");
    let stat = stat(line.as_bytes()).unwrap();
    assert_eq!(stat.pid, 4242);
    assert_eq!(stat.comm, "a) b (\n1 2) S (x");
    assert_eq!((stat.state, stat.ppid), ('S', 812));
    assert_eq!(stat.start_ticks, 100_000);
    assert!(!stat.is_zombie());
}

#[test]
fn a_short_line_is_no_stat() {
    assert_eq!(stat(b"4242 (a) S 1 2 3"), None);
    assert_eq!(stat(b""), None);
}

#[test]
fn ids_and_namespace_pids_of_a_status() {
    let text = "Name:\tx\nUid:\t1000\t1001\t1000\t1000\nGid:\t5\t6\t7\t8\nNSpid:\t812\t1\n";
    let status = status(text);
    assert_eq!(status.euid(), Some(1001));
    assert_eq!(status.gids, Some([5, 6, 7, 8]));
    assert_eq!(status.namespace_pids, [812, 1]);
    assert_eq!(super::status("Uid:\tx\n"), Status::default());
}

#[test]
fn words_of_a_command_line() {
    assert_eq!(command_line(b"hermes\0serve\0"), ["hermes", "serve"]);
    assert_eq!(command_line(b"a\0\0b\0"), ["a", "", "b"]);
    assert!(command_line(b"").is_empty());
}

#[test]
fn the_first_of_two_equal_names_counts() {
    let pairs = environ(b"A=1\0B=x=y\0A=2\0junk\0=no\0\xff=1\0C=\0");
    let text: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(text, ["A=1", "B=x=y", "C="]);
}

#[test]
fn limits_of_open_files() {
    let line =
        |value: &str| format!("Limit Soft\nMax open files            {value}  4096  files\n");
    assert_eq!(descriptors_limit(&line("1024")), Some(Some(1024)));
    assert_eq!(descriptors_limit(&line("unlimited")), Some(None));
    assert_eq!(descriptors_limit("Max processes 1 2"), None);
}

#[test]
fn flocks_of_a_descriptor() {
    let text = "pos:\t0\nlock:\t1: FLOCK  ADVISORY  WRITE 4242 00:36:1234 0 EOF\n\
                lock:\t2: POSIX  ADVISORY  READ 4242 fe:01:99 0 EOF\n";
    assert_eq!(
        held_flocks(text),
        [FileId {
            device: (0, 0x36),
            inode: 1234
        }]
    );
}

#[test]
fn mounts_are_read_with_their_escapes() {
    let text = "36 35 98:0 /mnt1 /a\\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n\
                22 27 0:21 / /proc rw,relatime - proc proc rw,hidepid=invisible\nbroken\n";
    let all = mounts(text);
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].id, all[0].device), (36, (98, 0)));
    assert_eq!(
        (all[0].point.as_str(), all[0].root.as_str()),
        ("/a b", "/mnt1")
    );
    assert_eq!(all[0].option("errors"), Some("continue"));
    assert_eq!(all[0].option("noatime"), Some(""));
    assert_eq!(all[1].option("hidepid"), Some("invisible"));
    assert_eq!(all[1].option("subset"), None);
}

#[test]
fn the_system_files() {
    assert_eq!(
        key_bytes("MemTotal:       24684092 kB\n", "MemTotal"),
        Some(24_684_092 * 1024)
    );
    assert_eq!(
        key_bytes("HugePages_Total:   3\n", "HugePages_Total"),
        Some(3)
    );
    assert_eq!(key_bytes("MemTotal: x kB\n", "MemTotal"), None);
    assert_eq!(
        swaps("Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n"),
        ["/dev/zram0"]
    );
    assert_eq!(
        initial_user_namespace("         0          0 4294967295\n"),
        Some(true)
    );
    assert_eq!(initial_user_namespace("0 1000 1\n"), Some(false));
    assert_eq!(initial_user_namespace(""), None);
    assert_eq!(boot_time("cpu 1\nbtime 1795991000\n"), Some(1_795_991_000));
    assert_eq!(
        os_name("NAME=Debian\nPRETTY_NAME=\"Debian 12 (bookworm)\"\n").as_deref(),
        Some("Debian 12 (bookworm)")
    );
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        drop((stat(&bytes), status(&text), command_line(&bytes), environ(&bytes)));
        drop((descriptors_limit(&text), held_flocks(&text), mounts(&text)));
        drop((key_bytes(&text, "a"), swaps(&text), initial_user_namespace(&text)));
        drop((boot_time(&text), os_name(&text)));
    }

    /// Texts of the right shape with anything in them, which random bytes never reach.
    #[test]
    fn shaped_texts_do_not_panic(name in any::<String>(), number in any::<u64>()) {
        let line = format!("{number} ({name}){LINE}");
        if let Some(stat) = stat(line.as_bytes()) {
            prop_assert_eq!(stat.start_ticks, 100_000);
            prop_assert_eq!(stat.comm, name.clone());
        }
        drop(mounts(&format!("{number} 1 0:{number} /{name} /\\{name} rw - {name} x {name}\n")));
        drop(held_flocks(&format!("lock:\t1: FLOCK ADVISORY WRITE {number} {name}:{number} 0 EOF")));
        let bytes = key_bytes(&format!("MemTotal: {number} kB"), "MemTotal");
        prop_assert_eq!(bytes, number.checked_mul(1024));
    }
}
