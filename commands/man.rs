//! `hermes man [DIR]`: one manual page a command, made from the one definition of the command line.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use hermes::error::{Context, Error, Kind, Result};
use hermes::runtime::Runtime;

use crate::cli::Cli;
use crate::exit::{Exit, TABLE};

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
                let text = String::from_utf8(render(&root, &root)?)
                    .context(Kind::Internal, "the page is no valid UTF-8")?;
                runtime.out.print(&text)?;
            }
            Some(directory) => {
                fs_err::create_dir_all(&directory)
                    .context(Kind::Io, "failed to make the directory of the pages")?;
                write_pages((&root, &root), &directory)?;
            }
        }
        Ok(Exit::OK)
    }
}

fn write_pages((command, parent): (&Command, &Command), directory: &Path) -> Result<()> {
    let name = Page::new(command.clone()).get_filename();
    write(&directory.join(name), &render(command, parent)?)?;
    shown(command).try_for_each(|verb| write_pages((verb, command), directory))
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let verbs = command.get_subcommands();
    verbs.filter(|verb| !verb.is_hide_set())
}

/// One page. What comes after the options is parted into sections that readers of manuals look for.
fn render(command: &Command, parent: &Command) -> Result<Vec<u8>> {
    let source = concat!("hermes ", env!("CARGO_PKG_VERSION"));
    let mut plain = command.clone();
    let after = plain.get_after_long_help().or(plain.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    plain = plain
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::Reset);
    let page = Page::new(plain).source(source);
    let mut text = Vec::new();
    page.render(&mut text)
        .context(Kind::Internal, "failed to make the manual page")?;
    let (notes, examples) = after.split_once("Examples:").unwrap_or((&after, ""));
    let mut sections = String::new();
    section(&mut sections, ("NOTES", false), notes.trim());
    let status = if command.get_name() == parent.get_name() {
        TABLE.trim_start_matches("Exit codes").trim_matches('\n')
    } else {
        "The table of hermes(1), which 'hermes help exit-codes' prints."
    };
    section(&mut sections, ("EXIT STATUS", true), status);
    section(
        &mut sections,
        ("EXAMPLES", true),
        examples.trim_matches('\n'),
    );
    section(
        &mut sections,
        ("SEE ALSO", false),
        &see_also(command, parent),
    );
    text.extend(sections.into_bytes());
    Ok(text)
}

/// A section, where so wanted with its lines as they are.
fn section(page: &mut String, (title, as_it_is): (&str, bool), text: &str) {
    if text.is_empty() {
        return;
    }
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // A line that begins with one of these is an order.
        let guard = if line.starts_with(['.', '\'']) {
            "\\&"
        } else {
            ""
        };
        format!("{guard}{line}\n")
    });
    let (before, after) = if as_it_is {
        (".nf\n", ".fi\n")
    } else {
        ("", "")
    };
    page.extend([".SH \"", title, "\"\n", before]);
    page.extend(lines);
    page.push_str(after);
}

fn see_also(command: &Command, parent: &Command) -> String {
    let page = |command: &Command| {
        let name = Page::new(command.clone()).get_filename();
        name.strip_suffix(".1").map(|name| format!("{name}(1)"))
    };
    let name = command.get_name();
    let above = Some(parent).filter(|parent| parent.get_name() != name);
    let pages = above.into_iter().chain(shown(command)).filter_map(page);
    pages.collect::<Vec<_>>().join(", ")
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
