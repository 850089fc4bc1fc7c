//! `/proc/PID/mountinfo`.

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its id.
    pub id: u64,
    /// Major and minor number of the superblock's device.
    pub device: (u32, u32),
    /// The directory of the file system that is mounted.
    pub root: String,
    /// Where it is mounted.
    pub point: String,
    /// Options of this mount.
    pub options: Vec<String>,
    /// Type of the file system.
    pub kind: String,
    /// Options of the file system.
    pub super_options: Vec<String>,
}

impl Mount {
    /// Value of an option, of the mount or of the file system; empty for a bare word.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .chain(&self.super_options)
            .find_map(|option| match option.split_once('=') {
                Some((key, value)) => (key == name).then_some(value),
                None => (option == name).then_some(""),
            })
    }
}

/// Parses `/proc/PID/mountinfo`; lines that do not parse are passed over.
#[must_use]
pub fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (first, second) = line.split_once(" - ")?;
    let mut fields = first.split(' ');
    let id = fields.next()?.parse().ok()?;
    let (major, minor) = fields.nth(1)?.split_once(':')?;
    let (root, point) = (fields.next()?, fields.next()?);
    let options = list(fields.next()?);
    let mut fields = second.split(' ');
    let kind = fields.next()?.to_owned();
    let super_options = list(fields.nth(1).unwrap_or_default());
    Some(Mount {
        id,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: unescaped(root),
        point: unescaped(point),
        options,
        kind,
        super_options,
    })
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

/// Blanks, tabs, newlines and backslashes of a path are three octal digits behind a backslash.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = tail
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escape.unwrap_or(*first));
        rest = match escape {
            Some(_) => tail.get(3..).unwrap_or_default(),
            None => tail,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
