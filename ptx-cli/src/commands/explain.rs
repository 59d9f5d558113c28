//! `explain`: the manual page of a rule.

use std::io::{self, Write};

use clap::Args;
use ptx_project::Error;
use ptx_syntax::Severity;
use ptx_verify::{UnknownRule, find_rule, nearest_rule};

use crate::outcome::Exit;
use crate::terminal::Terminal;

const AFTER_HELP: &str = "\
Exit status:
  0  explained
  2  there is no such rule

Examples:
  ptx-cli explain carry-undefined
  ptx-cli explain P0205";

/// Arguments of `explain`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ExplainArgs {
    /// Name of a rule, such as `operand-type`, or code, such as `P0205`
    #[arg(value_name = "RULE|CODE")]
    rule: String,
}

/// Runs `explain`.
pub fn run(args: &ExplainArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let name = args.rule.trim();
    let unknown = || UnknownRule { name: name.to_owned(), nearest: nearest_rule(name) };
    let rule = find_rule(name).ok_or_else(|| Error::Rule(unknown()))?;
    let level = rule.default_level.severity().map_or("off", Severity::as_str);
    let mut out = io::stdout().lock();
    let mut page = String::new();
    page.push_str(&format!("# {}: {}\n\n", rule.name, rule.summary));
    page.push_str(&format!("{}\n\n", ptx_project::page(rule.doc)));
    if let Some(address) = ptx_project::page_address(rule.name) {
        page.push_str(&format!("{address}\n\n"));
    }
    let former = match rule.former {
        [] => String::new(),
        former => format!(" (formerly {})", former.join(", ")),
    };
    let class = rule.class.as_str();
    page.push_str(&format!("Code {}{former}, class {class}, level by default: {level}.\n", rule.code));
    out.write_all(styled(&page, terminal.stdout.color).as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Markdown as it is, with headings in bold where there is colour.
fn styled(page: &str, color: bool) -> String {
    if !color {
        return page.to_owned();
    }
    let mut code = false;
    let mut out = String::new();
    for line in page.lines() {
        code ^= line.starts_with("```");
        if line.starts_with('#') && !code {
            out.push_str(&format!("\x1b[1m{line}\x1b[0m\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
