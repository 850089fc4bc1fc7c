//! This very program as a child of its own: as another account, for what only that account may ask, and
//! as itself, for what may be deadly. Owns the spawn and its deadline.

use std::{io, process::Stdio, time::Duration};

use tokio::{io::AsyncWriteExt, process::Command};

/// Our own executable, also after it was replaced on disk.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Runs this program with `words` as `uid` and `gid`, without other groups and without environment,
/// gives it `input`, and returns what it printed. It is killed at the deadline, or when dropped.
pub async fn ask_as(
    (uid, gid): (u32, u32),
    words: &[&str],
    input: &[u8],
    within: Duration,
) -> io::Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "this module is part of `child`")]
    let mut command = Command::new(OWN_PROGRAM);
    command
        .args(words)
        .env_clear()
        .current_dir("/")
        .uid(uid)
        .gid(gid)
        .kill_on_drop(true);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take();
    let asking = async {
        if let Some(pipe) = &mut stdin {
            pipe.write_all(input).await?;
        }
        drop(stdin);
        child.wait_with_output().await
    };
    let output = tokio::time::timeout(within, asking)
        .await
        .unwrap_or_else(|_| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer in {within:?}"),
            ))
        })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{}: {words}", output.status)))
}

/// Whether this program, run with `words`, is killed by no signal.
#[must_use]
pub fn survives(words: &[&str]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "this module is part of `child`")]
    let mut command = std::process::Command::new(OWN_PROGRAM);
    let status = command
        .args(words)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.code().is_some())
}
