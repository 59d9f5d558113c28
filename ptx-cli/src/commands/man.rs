//! `man`: the manual pages.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Command};
use clap_mangen::Man;

use crate::cli;
use crate::foreign;
use crate::outcome::Exit;
use crate::source::plain;
use crate::write;

const AFTER_HELP: &str = "\
Exit status:
  0  printed or written
  2  there is no such command, or a page could not be written

Examples:
  ptx-cli man | man -l -                      the page of the program
  ptx-cli man verify | man -l -               that of a command
  ptx-cli man --out ~/.local/share/man/man1   all pages as files";

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ManArgs {
    /// The command; without it the page of the program is printed
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,

    /// Write all pages into this folder instead
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Runs `man`.
pub fn run(args: &ManArgs) -> anyhow::Result<Exit> {
    let pages = pages();
    if let Some(folder) = &args.out {
        for (name, command) in pages {
            write_page(folder, &format!("{name}.1"), &page(command)?)?;
        }
        return Ok(Exit::Clean);
    }
    let wanted = args.command.as_ref().map_or_else(|| "ptx-cli".to_owned(), |name| format!("ptx-cli-{name}"));
    let Some((_, command)) = pages.into_iter().find(|(name, _)| *name == wanted) else {
        bail!(
            "there is no command `{}`; `ptx-cli help` lists them",
            args.command.as_deref().unwrap_or_default()
        );
    };
    let mut out = io::stdout().lock();
    out.write_all(&page(command)?).and_then(|()| out.flush())?;
    Ok(Exit::Clean)
}

/// The commands that users see, by the names of their pages; the program first.
fn pages() -> Vec<(String, Command)> {
    let mut program = cli::visible();
    program.build();
    let commands = program.get_subcommands().map(|command| {
        let name = format!("ptx-cli-{}", command.get_name());
        // A page has its name in its title, which clap wants for as long as the program runs.
        let title: &'static str = name.clone().leak();
        (name, command.clone().name(title))
    });
    let commands: Vec<_> = commands.collect();
    std::iter::once(("ptx-cli".to_owned(), program)).chain(commands).collect()
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}

fn write_page(folder: &Path, name: &str, page: &[u8]) -> anyhow::Result<()> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| write::create(&path, page))
        .map_err(|error| anyhow::anyhow!("cannot write `{}`: {}", foreign::path(&path), plain(&error)))
}
