//! Looks programs up by name, as a shell does.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::facts::OwnName;

/// The `PATH` of what was given none: whatever starts it looks there.
pub const LIBC_PATH: &str = "/usr/bin:/bin";

/// The first executable of that name on a `PATH`.
#[must_use]
pub fn on_path(name: &str, path: &str) -> Option<PathBuf> {
    places(name, path).find(|place| is_program(place))
}

/// Where a program of that name may lie, wherever one works, the first first.
pub fn places(name: &str, path: &str) -> impl Iterator<Item = PathBuf> {
    path.split(':')
        .filter(|directory| directory.starts_with('/'))
        .map(move |directory| Path::new(directory).join(name))
}

/// The other elements of a `PATH`, the empty ones among them: they begin in the working directory of
/// whoever looks.
pub fn relative(path: &str) -> impl Iterator<Item = &str> {
    path.split(':')
        .filter(|directory| !directory.starts_with('/'))
}

/// Whether this is a file that somebody may execute.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// How this program, which is this file, is called on this `PATH`.
pub(super) fn own_name(file: Option<PathBuf>, path: &str) -> OwnName {
    let identity = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    // The link of the kernel leads to the file whatever became of its name.
    let own = identity(Path::new("/proc/self/exe"));
    let found = on_path(OwnName::BARE, path);
    OwnName {
        on_path: found.filter(|found| own.is_some() && identity(found) == own),
        file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_where_it_may_be_executed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("systemd-run");
        std::fs::write(&file, "").unwrap();
        let path = format!("relative::{}", dir.path().display());
        assert_eq!(on_path("systemd-run", &path), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(on_path("systemd-run", &path), Some(file));
        assert_eq!(on_path("systemd-run", ""), None);
    }

    #[test]
    fn the_bare_name_is_ours_only_where_it_leads_to_our_file() {
        let own = std::env::current_exe().unwrap();
        let [ours, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(&own, ours.path().join("hermes")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", other.path().join("hermes")).unwrap();
        let [ours, other] = [ours.path(), other.path()].map(|path| path.display().to_string());
        let on_path = |path: &str| own_name(Some(own.clone()), path).on_path;
        let link = PathBuf::from(format!("{ours}/hermes"));
        assert_eq!(on_path(&format!("/nowhere:{ours}:{other}")), Some(link));
        assert_eq!(on_path(&format!("{other}:{ours}")), None);
        assert_eq!(on_path("/nowhere"), None);
    }
}
