//! `rules`: the list of all rules.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use ptx_syntax::Severity;
use ptx_verify::RuleInfo;
use serde_json::json;

use crate::outcome::Exit;
use crate::terminal::Terminal;

const AFTER_HELP: &str = "\
Exit status:
  0  listed

Examples:
  ptx-cli rules
  ptx-cli rules --message-format json | jq -r 'select(.class == \"hazard\") | .rule'";

/// Arguments of `rules`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct RulesArgs {
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    message_format: RulesFormat,
}

/// How the list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// A table
    Full,
    /// JSON Lines, one object a rule
    Json,
}

/// Runs `rules`.
pub fn run(args: &RulesArgs, _: &Terminal) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    let width = ptx_verify::rules().map(|rule| rule.name.len()).max().unwrap_or(0);
    for rule in ptx_verify::rules() {
        match args.message_format {
            RulesFormat::Full => writeln!(out, "{}", row(rule, width))?,
            RulesFormat::Json => writeln!(out, "{}", object(rule))?,
        }
    }
    out.flush()?;
    Ok(Exit::Clean)
}

fn row(rule: &RuleInfo, width: usize) -> String {
    let class = rule.class.as_str();
    format!("{}  {:width$}  {class:7}  {:7}  {}", rule.code, rule.name, level(rule), rule.summary)
}

fn object(rule: &RuleInfo) -> serde_json::Value {
    json!({
        "rule": rule.name,
        "code": rule.code,
        "class": rule.class.as_str(),
        "level": level(rule),
        "summary": rule.summary,
        "doc": ptx_project::page(rule.doc),
    })
}

fn level(rule: &RuleInfo) -> &'static str {
    rule.default_level.severity().map_or("off", Severity::as_str)
}
