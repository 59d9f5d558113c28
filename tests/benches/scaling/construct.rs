//! Texts with many of something.

/// Something that a text may have many of.
pub struct Construct {
    /// What it is.
    pub name: &'static str,
    place: &'static str,
    commands: Vec<&'static str>,
    template: &'static str,
}

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
    /// The commands to ask, in order.
    pub fn commands(&self) -> impl Iterator<Item = &'static str> {
        let more = self.commands.iter().flat_map(|&command| match command {
            "text" => &["format", "canonicalize", "ast"][..],
            "flow" => &["facts", "cfg"],
            "find" => &["concise", "json", "sarif", "github"],
            "fix" => &["fix"],
            other => panic!("{}: no command {other}", self.name),
        });
        std::iter::once("verify").chain(more.copied())
    }

    /// How its file is named.
    pub fn file_name(&self) -> &'static str {
        if self.place == "cuda" { "text.cu" } else { "text.ptx" }
    }

    /// How often it repeats in a text of this many bytes.
    pub fn repetitions(&self, bytes: usize) -> usize {
        let (few, many) = (self.text(1000).len(), self.text(2000).len());
        (bytes * 1000 / (many - few).max(1)).max(1)
    }

    /// The text with `n` repetitions.
    pub fn text(&self, n: usize) -> String {
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
        let mut text = before.to_owned();
        let mut random = 1;
        let mut rest = self.template;
        while let Some((once, repeated)) = rest.split_once('«') {
            let (item, next) = repeated.split_once('»').expect("an end of what is repeated");
            append(&mut text, once, 0, n, &mut random);
            for index in 0..n {
                append(&mut text, item, index, n, &mut random);
            }
            rest = next;
        }
        append(&mut text, rest, 0, n, &mut random);
        text.push_str(after);
        text
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
