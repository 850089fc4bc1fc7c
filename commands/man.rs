//! `hermes man [DIR]`: one manual page a command, made from the one definition of the command line.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use hermes::error::{Context, Error, Kind, Result};
use hermes::runtime::Runtime;

use crate::cli::Cli;
use crate::exit::Exit;

/// Print the manual page, or write all pages into a directory
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  hermes man | man -l -
  hermes man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Directory to write every page into [default: hermes(1) to stdout]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    /// Prints one page or writes all.
    pub(crate) fn run(self, runtime: &mut Runtime) -> Result<Exit> {
        let mut root = Cli::command();
        root.build();
        match self.directory {
            None => {
                let text = String::from_utf8(render(&Page::new(root))?)
                    .context(Kind::Internal, "the page is no valid UTF-8")?;
                runtime.out.print(&text)?;
            }
            Some(directory) => {
                fs_err::create_dir_all(&directory)
                    .context(Kind::Io, "failed to make the directory of the pages")?;
                write_pages(&root, &directory)?;
            }
        }
        Ok(Exit::OK)
    }
}

fn write_pages(command: &Command, directory: &Path) -> Result<()> {
    let page = Page::new(command.clone());
    write(&directory.join(page.get_filename()), &render(&page)?)?;
    let verbs = command.get_subcommands();
    verbs
        .filter(|verb| !verb.is_hide_set())
        .try_for_each(|verb| write_pages(verb, directory))
}

fn render(page: &Page) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text)
        .context(Kind::Internal, "failed to make the manual page")?;
    Ok(text)
}

/// A whole page or none: readers of the old one never see half of the new.
fn write(path: &Path, text: &[u8]) -> Result<()> {
    let failed = |error| Error::io(format!("failed to write '{}'", path.display()), error);
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    file.write_all(text).map_err(failed)?;
    let readable = std::fs::Permissions::from_mode(0o644);
    file.as_file().set_permissions(readable).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
