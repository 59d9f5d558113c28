//! Texts with many of something.

use std::io::{self, Write};

/// Something that a text may have many of.
pub struct Construct {
    /// What it is.
    pub name: String,
    place: &'static str,
    /// Whether it is in many kernels rather than in one.
    in_kernels: bool,
    commands: Vec<&'static str>,
    template: &'static str,
}

/// How findings are shown, and at the end their fixes applied.
const FINDINGS: &[&str] = &["full", "concise", "json", "sarif", "github", "fix"];

/// What is made of a text, whatever it means.
const TEXT: &[&str] = &["format", "canonicalize", "ast", "ir", "needs"];

/// What is known of its control flow and values.
const FLOW: &[&str] = &["facts", "cfg"];

/// How often what is in many kernels repeats in each.
const IN_ONE_KERNEL: usize = 50;

/// All that `constructs.txt` lists, and once more what can be in many kernels.
pub fn all() -> impl Iterator<Item = Construct> {
    include_str!("constructs.txt").split("\n== ").skip(1).flat_map(|text| {
        let (head, template) = text.split_once('\n').expect("a template");
        let mut parts = head.split(" | ").map(|part| part.trim_end_matches('|').trim());
        let name = parts.next().expect("a name");
        let place = parts.next().unwrap_or_else(|| panic!("{name}: where is it?"));
        let commands: Vec<_> = parts.next().unwrap_or("").split_whitespace().collect();
        let construct = |in_kernels: bool| Construct {
            name: if in_kernels { format!("{name}, in many kernels") } else { name.to_owned() },
            place,
            in_kernels,
            commands: commands.clone(),
            template,
        };
        let again = place.starts_with("kernel").then(|| construct(true));
        std::iter::once(construct(false)).chain(again)
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
        let header = match self.place {
            "module" | "kernel" => ".version 8.6\n.target sm_90a\n.address_size 64\n",
            "kernel100" => ".version 8.7\n.target sm_100a\n.address_size 64\n",
            "bare" | "cuda" => "",
            other => panic!("{}: nothing is in {other}", self.name),
        };
        let mut writer = Writer { out, bytes: 0, buffer: String::new(), random: 1 };
        writer.text(header)?;
        match self.place {
            "kernel" | "kernel100" => {
                let each = if self.in_kernels { n.min(IN_ONE_KERNEL) } else { n };
                let mut rest = n;
                while rest > 0 {
                    let repetitions = rest.min(each);
                    rest -= repetitions;
                    writer.text(&format!(".visible .entry k{rest}{}", include_str!("kernel.txt")))?;
                    writer.template(self.template, repetitions)?;
                    writer.text("ret;\n}\n")?;
                }
            }
            _ => writer.template(self.template, n)?,
        }
        Ok(writer.bytes)
    }
}

/// Writes a text and counts its bytes.
struct Writer<'o, W> {
    out: &'o mut W,
    bytes: usize,
    buffer: String,
    random: u64,
}

impl<W: Write> Writer<'_, W> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len();
        self.out.write_all(text.as_bytes())
    }

    /// What a template says, with `n` repetitions.
    fn template(&mut self, template: &str, n: usize) -> io::Result<()> {
        let mut rest = template;
        while let Some((once, repeated)) = rest.split_once('«') {
            let (item, next) = repeated.split_once('»').expect("an end of what is repeated");
            self.piece(once, 0, n)?;
            for index in 0..n {
                self.piece(item, index, n)?;
            }
            rest = next;
        }
        self.piece(rest, 0, n)
    }

    fn piece(&mut self, piece: &str, index: usize, n: usize) -> io::Result<()> {
        self.buffer.clear();
        append(&mut self.buffer, piece, index, n, &mut self.random);
        self.bytes += self.buffer.len();
        self.out.write_all(self.buffer.as_bytes())
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
