//! How PTX is laid out: the flags of the command line on top of the configuration file.

use clap::Args;
use ptx_emit::format::{Layout, Options};
use ptx_project::Error;
use ptx_project::config::{Config, LayoutName};
use ptx_project::layout as of;

/// The flags that say how PTX is laid out.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Layout")]
pub struct FormattingArgs {
    /// How columns are made [default: compiler]
    #[arg(long, value_name = "LAYOUT", value_enum)]
    layout: Option<LayoutName>,

    /// Columns of a level of indentation where the layout is aligned [default: the file's own]
    #[arg(long, value_name = "COLUMNS")]
    indent: Option<u8>,

    /// Columns that a line should not exceed [default: 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,

    /// Format the asm templates of CUDA sources, too
    ///
    /// Standard input without a name is then taken for a CUDA source.
    #[arg(long, overrides_with = "no_asm")]
    asm: bool,

    /// Leave CUDA sources alone, whatever the configuration says
    #[arg(long, overrides_with = "asm")]
    no_asm: bool,
}

impl FormattingArgs {
    /// Whether the flags ask for asm templates.
    pub fn asks_for_asm(&self) -> bool {
        self.asm
    }
}

/// Whether asm templates are formatted; nothing where neither the flags nor the configuration say.
pub fn asm(args: &FormattingArgs, config: Option<&Config>) -> Option<bool> {
    let by_flag = (args.asm || args.no_asm).then_some(args.asm);
    by_flag.or_else(|| config?.format.asm)
}

/// Puts the flags on top of the configuration. Fails on widths that are not sensible.
pub fn options(args: &FormattingArgs, config: Option<&Config>) -> Result<Options, Error> {
    let of_config = config.map_or_else(|| Ok(Options::default()), Config::layout)?;
    of(
        args.layout.map_or(of_config.layout, Layout::from),
        args.indent.or(of_config.indent),
        args.width.unwrap_or(of_config.width),
    )
}
