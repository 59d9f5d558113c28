//! What the asm statements of a file are to each other. It is found in one pass over the file, when the first of them
//! asks, so that many may ask.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use ptx_ir::directive::DirectiveKind;
use ptx_ir::isa::Computation;
use ptx_ir::isa::words::computing;
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;
use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, CType, CudaFile, EventKind, FunctionId, MacroId, RegionId};

use super::text::Texts;

/// The statements of a file, for questions of one about the others.
pub(crate) struct Siblings<'a> {
    file: &'a CudaFile,
    variants: OnceCell<HashMap<Reading, Vec<&'a AsmStatement>>>,
    words: OnceCell<HashMap<(Option<FunctionId>, &'a str), Users>>,
    braces: OnceCell<Option<Braces>>,
    converted: OnceCell<Vec<StateSpace>>,
    under_control: OnceCell<Vec<bool>>,
    with_labels: OnceCell<HashSet<FunctionId>>,
    /// The texts that they are verified as.
    pub(crate) texts: Texts,
}

/// A statement at a place, in all its variants: its keyword, the use of the macro that it is read for, and which of the
/// statements it is that a macro of another file puts there.
type Reading = (Span, Option<Span>, u32);

fn reading(statement: &AsmStatement) -> Reading {
    (statement.keyword, statement.used_at, statement.ordinal)
}

/// Where the text of a statement stands.
const fn place(statement: &AsmStatement) -> (Span, u32) {
    (statement.keyword, statement.ordinal)
}

/// The statements that use a word.
struct Users {
    /// Where the first one is.
    first: (Span, u32),
    /// Whether there is another one.
    others: bool,
}

/// The braces that templates open without closing them, or the reverse.
#[derive(Default)]
struct Braces {
    by_owner: HashMap<(Option<FunctionId>, Option<MacroId>), i64>,
    any_open: bool,
    any_closed: bool,
}

/// The spelling of what makes an address in a space of a generic one.
pub(crate) fn conversion(space: StateSpace) -> Option<Box<str>> {
    let found = computing(Computation::FromGeneric, &[space.as_str(), Type::U64.as_str()]);
    found.map(|instance| instance.canonical)
}

impl<'a> Siblings<'a> {
    /// Those of a file.
    pub(crate) fn new(file: &'a CudaFile) -> Self {
        Self {
            file,
            variants: OnceCell::new(),
            words: OnceCell::new(),
            braces: OnceCell::new(),
            converted: OnceCell::new(),
            under_control: OnceCell::new(),
            with_labels: OnceCell::new(),
            texts: Texts::default(),
        }
    }

    /// The other choices of `#if` branches inside a statement.
    pub(crate) fn variants(&self, statement: &AsmStatement) -> impl Iterator<Item = &'a AsmStatement> {
        let variants = self.variants.get_or_init(|| {
            let statements = &self.file.statements;
            let several: HashSet<Reading> =
                statements.iter().filter(|statement| statement.variant > 0).map(reading).collect();
            let mut variants: HashMap<Reading, Vec<&AsmStatement>> = HashMap::new();
            for statement in statements.iter().filter(|statement| several.contains(&reading(statement))) {
                variants.entry(reading(statement)).or_default().push(statement);
            }
            variants
        });
        let own = statement.variant;
        let all = variants.get(&reading(statement)).into_iter().flatten().copied();
        all.filter(move |other| other.variant != own)
    }

    /// Whether another statement of the same function has a name in its template and does not declare it.
    pub(crate) fn use_elsewhere(&self, statement: &AsmStatement, name: &str) -> bool {
        let words = self.words.get_or_init(|| {
            let mut words: HashMap<(Option<FunctionId>, &str), Users> = HashMap::new();
            for statement in &self.file.statements {
                let own = place(statement);
                let text = statement.template.text.as_str();
                let declared = declared(text);
                for word in self::words(text).map(|(_, word)| word).filter(|word| !declared.contains(word)) {
                    words
                        .entry((statement.function, word))
                        .and_modify(|users| users.others |= users.first != own)
                        .or_insert(Users { first: own, others: false });
                }
            }
            words
        });
        let users = words.get(&(statement.function, name.trim_start_matches('%')));
        users.is_some_and(|users| users.others || users.first != place(statement))
    }

    /// Whether a statement converts an address to one in the space, into a C++ pointer.
    pub(crate) fn keep_converted_pointers(&self, space: StateSpace) -> bool {
        let converted = self.converted.get_or_init(|| {
            let spaces = [StateSpace::Shared, StateSpace::Local];
            let conversions = spaces.map(|space| (space, conversion(space)));
            let mut converted = Vec::new();
            for statement in &self.file.statements {
                if !statement.outputs.iter().any(|output| matches!(output.ctype, CType::Pointer(_))) {
                    continue;
                }
                for (space, conversion) in &conversions {
                    // Addresses of 32 bits are converted, too.
                    let spelling = conversion.as_deref().and_then(|whole| whole.rsplit_once('.'));
                    let is_here =
                        spelling.is_some_and(|(of_any, _)| statement.template.text.contains(of_any));
                    if is_here && !converted.contains(space) {
                        converted.push(*space);
                    }
                }
            }
            converted
        });
        converted.contains(&space)
    }

    /// Whether a region of a function lies in a loop or under a condition, or is one.
    pub(crate) fn is_under_control_flow(&self, region: RegionId) -> bool {
        let under_control = self.under_control.get_or_init(|| {
            let mut known: Vec<bool> = Vec::with_capacity(self.file.regions.len());
            for region in &self.file.regions {
                // A region comes behind the one around it.
                let around = region.parent.and_then(|parent| known.get(parent.index())).copied();
                known.push(region.kind.is_control_flow() || around.unwrap_or(false));
            }
            known
        });
        under_control.get(region.index()).copied().unwrap_or(true)
    }

    /// Whether a function has labels.
    pub(crate) fn has_labels(&self, function: FunctionId) -> bool {
        let with_labels = self.with_labels.get_or_init(|| {
            let functions = self.file.function_ids().zip(&self.file.functions);
            let with_labels = functions.filter(|(_, function)| {
                function.events.iter().any(|event| matches!(event.kind, EventKind::Label))
            });
            with_labels.map(|(id, _)| id).collect()
        });
        with_labels.contains(&function)
    }

    /// Whether the other statements of the function make up for a brace without a partner, or another function is as
    /// unbalanced the other way: one may open a scope that the other closes.
    pub(crate) fn have_partner(&self, statement: &AsmStatement) -> bool {
        let braces = self.braces.get_or_init(|| {
            let mut braces = Braces::default();
            for statement in self.file.statements.iter().filter(|found| found.variant == 0) {
                if statement.template.has_wildcards() || !statement.complete {
                    return None;
                }
                let count = |brace: char| statement.template.text.matches(brace).count() as i64;
                let owner = (statement.function, statement.macro_definition);
                *braces.by_owner.entry(owner).or_default() += count('{') - count('}');
            }
            braces.any_open = braces.by_owner.values().any(|balance| *balance > 0);
            braces.any_closed = braces.by_owner.values().any(|balance| *balance < 0);
            Some(braces)
        });
        // What is not known may hold the partner.
        let Some(braces) = braces else { return true };
        match braces.by_owner.get(&(statement.function, statement.macro_definition)) {
            None | Some(0) => true,
            Some(1..) => braces.any_closed,
            Some(_) => braces.any_open,
        }
    }
}

/// The words of a template that could be names, and where each ends. The `%` before a register's name is not a part.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(is_part)?;
            let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
            at = end;
            if !text[end..].starts_with('%') {
                return Some((end, &text[start..end]));
            }
        }
    })
}

/// The words that a template declares as labels or in `.reg` directives.
fn declared(text: &str) -> HashSet<&str> {
    let labels = words(text).filter(|(end, _)| text[*end..].starts_with(':')).map(|(_, word)| word);
    let directives = text.split(';').filter(|part| part.contains(DirectiveKind::Reg.word()));
    labels.chain(directives.flat_map(|part| words(part).map(|(_, word)| word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_could_be_names() {
        let found: Vec<&str> = words("mov.u32 %r1,x%y; $L_1: \u{e9}a").map(|(_, word)| word).collect();
        assert_eq!(found, ["mov", "u32", "r1", "y", "$L_1", "a"]);
        assert_eq!(words("").count(), 0);
    }

    #[test]
    fn what_a_template_declares_is_no_use() {
        let found = declared(".reg .u32 a, b<4>; mov.u32 a, c; L: bra M;");
        assert!(["a", "b", "L"].iter().all(|name| found.contains(name)));
        assert!(["c", "M", "bra"].iter().all(|name| !found.contains(name)));
    }

    #[test]
    fn a_use_in_another_statement_of_the_function_counts() {
        let source = "void f() { asm(\".reg .u32 a, b;\"); asm(\"mov.u32 %%a, 1;\" ::\"r\"(1)); asm(\".reg .u32 b;\"); }
                      void g() { asm(\".reg .u32 c;\"); asm(\"mov.u32 c, b;\"); }";
        let file = ptx_syntax::cuda::extract(source);
        let siblings = Siblings::new(&file);
        let used = |index: usize, name: &str| siblings.use_elsewhere(&file.statements[index], name);
        assert!(used(0, "a") && !used(0, "b") && used(3, "%c") && !used(4, "b") && !used(1, "a"));
    }
}
