//! Texts with many of something.

use std::io::{self, Write};

/// Something that a text may have many of.
pub struct Construct {
    /// What it is.
    pub name: &'static str,
    place: &'static str,
    commands: Vec<&'static str>,
    template: &'static str,
}

/// How findings are shown, and at the end their fixes applied.
const FINDINGS: &[&str] = &["full", "concise", "json", "sarif", "github", "fix"];

/// What is made of a text, whatever it means.
const TEXT: &[&str] = &["format", "canonicalize", "ast", "ir", "needs"];

/// What is known of its control flow and values.
const FLOW: &[&str] = &["facts", "cfg"];

/// All that `constructs.txt` lists.
pub fn all() -> impl Iterator<Item = Construct> {
    include_str!("constructs.txt").split("\n== ").skip(1).map(|text| {
        let (head, template) = text.split_once('\n').expect("a template");
        let mut parts = head.split(" | ").map(|part| part.trim_end_matches('|').trim());
        let name = parts.next().expect("a name");
        let place = parts.next().unwrap_or_else(|| panic!("{name}: where is it?"));
        let commands = parts.next().unwrap_or("").split_whitespace().collect();
        Construct { name, place, commands, template }
    })
}

impl Construct {
    /// The commands to ask, in order: those that `constructs.txt` names, or every one that takes such a text.
    pub fn commands(&self, every: bool) -> Vec<&'static str> {
        let mut commands = vec!["verify"];
        if every {
            commands.extend(FINDINGS);
            if self.place != "cuda" {
                commands.extend(TEXT.iter().chain(FLOW));
            }
            return commands;
        }
        for &command in &self.commands {
            commands.extend(match command {
                "text" => TEXT,
                "flow" => FLOW,
                "find" => &FINDINGS[..FINDINGS.len() - 1],
                "fix" => &FINDINGS[FINDINGS.len() - 1..],
                other => panic!("{}: no command {other}", self.name),
            });
        }
        commands
    }

    /// How its file is named.
    pub fn file_name(&self) -> &'static str {
        if self.place == "cuda" { "text.cu" } else { "text.ptx" }
    }

    /// How often it repeats in a text of this many bytes.
    pub fn repetitions(&self, bytes: usize) -> usize {
        let length = |n| self.write(n, &mut io::sink()).expect("nothing to fail");
        let (few, many) = (length(1000), length(2000));
        (bytes * 1000 / (many - few).max(1)).max(1)
    }

    /// Writes the text with `n` repetitions, and says how many bytes it has. No more than a piece of it is in memory:
    /// what the system says of a process counts that of its parent at the start.
    pub fn write(&self, n: usize, out: &mut impl Write) -> io::Result<usize> {
        let (before, after) = match self.place {
            "module" => (".version 8.6\n.target sm_90a\n.address_size 64\n", ""),
            "kernel" => (
                concat!(".version 8.6\n.target sm_90a\n.address_size 64\n", include_str!("kernel.txt")),
                "ret;\n}\n",
            ),
            "kernel100" => (
                concat!(".version 8.7\n.target sm_100a\n.address_size 64\n", include_str!("kernel.txt")),
                "ret;\n}\n",
            ),
            "bare" | "cuda" => ("", ""),
            other => panic!("{}: nothing is in {other}", self.name),
        };
        let mut bytes = before.len() + after.len();
        out.write_all(before.as_bytes())?;
        let (mut random, mut buffer) = (1, String::new());
        let mut piece = |text: &str, index: usize| {
            buffer.clear();
            append(&mut buffer, text, index, n, &mut random);
            bytes += buffer.len();
            out.write_all(buffer.as_bytes())
        };
        let mut rest = self.template;
        while let Some((once, repeated)) = rest.split_once('«') {
            let (item, next) = repeated.split_once('»').expect("an end of what is repeated");
            piece(once, 0)?;
            for index in 0..n {
                piece(item, index)?;
            }
            rest = next;
        }
        piece(rest, 0)?;
        out.write_all(after.as_bytes())?;
        Ok(bytes)
    }
}

/// Appends a piece with its numbers filled in.
fn append(text: &mut String, piece: &str, index: usize, n: usize, random: &mut u64) {
    let mut rest = piece;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let mut letters = from.chars().skip(1);
        let number = match (letters.next(), letters.next()) {
            (Some('i'), Some('}')) => index,
            (Some('j'), Some('}')) => index + 1,
            (Some('h'), Some('}')) => index.saturating_sub(1),
            (Some('r'), Some('}')) => n - 1 - index,
            (Some('n'), Some('}')) => n,
            (Some('x'), Some('}')) => below(random, n),
            _ => {
                text.push('{');
                rest = &from[1..];
                continue;
            }
        };
        text.push_str(&number.to_string());
        rest = &from[3..];
    }
    text.push_str(rest);
}

fn below(random: &mut u64, limit: usize) -> usize {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize % limit.max(1)
}
