//! `/proc/PID/stat` and `/proc/PID/status`.

/// What is used of `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The process.
    pub pid: u32,
    /// Its name, cut by the kernel to 15 bytes.
    pub comm: String,
    /// Its state: `Z` and `X` have ended.
    pub state: char,
    /// Its parent.
    pub ppid: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Its start, in clock ticks since boot.
    pub start_ticks: u64,
}

impl Stat {
    /// Whether it has ended and is only waited for.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Parses `/proc/PID/stat`. The name may hold parentheses, blanks and newlines, so it ends at the last
/// closing parenthesis.
#[must_use]
pub fn stat(bytes: &[u8]) -> Option<Stat> {
    let text = String::from_utf8_lossy(bytes);
    let (pid, rest) = text.split_once(" (")?;
    let (comm, rest) = rest.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let (group, session) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    // Field 22 of the whole line: state is the third, the session the sixth.
    let start_ticks = fields.nth(15)?.parse().ok()?;
    Some(Stat {
        pid: pid.trim().parse().ok()?,
        comm: comm.to_owned(),
        state,
        ppid: parent,
        group,
        session,
        start_ticks,
    })
}

/// What is used of `/proc/PID/status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Real, effective, saved and file system uid.
    pub uids: Option<[u32; 4]>,
    /// The same of the gid.
    pub gids: Option<[u32; 4]>,
    /// The supplementary groups.
    pub groups: Option<Vec<u32>>,
    /// Its pids, from the namespace of `/proc` down to its own.
    pub namespace_pids: Vec<u32>,
}

impl Status {
    /// The effective uid.
    #[must_use]
    pub fn euid(&self) -> Option<u32> {
        self.uids.map(|[_, effective, ..]| effective)
    }
}

/// Parses `/proc/PID/status`.
#[must_use]
pub fn status(text: &str) -> Status {
    let mut status = Status::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match key {
            "Uid" => status.uids = four(value),
            "Gid" => status.gids = four(value),
            "Groups" => status.groups = Some(numbers(value)),
            "NSpid" => status.namespace_pids = numbers(value),
            _ => {}
        }
    }
    status
}

fn numbers(text: &str) -> Vec<u32> {
    text.split_ascii_whitespace()
        .map_while(|word| word.parse().ok())
        .collect()
}

fn four(text: &str) -> Option<[u32; 4]> {
    numbers(text).try_into().ok()
}
