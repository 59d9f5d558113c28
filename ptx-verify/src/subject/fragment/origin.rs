//! Whether a statement is PTX, or the assembler of the host or of another device.
//!
//! Sources of CUDA are full of other assemblers: x86 and Arm in `.cpp` files, AMD's in sources that HIP compiles too.
//! Nothing of them is PTX, so nothing can be said about them. Not PTX is:
//! * what stands in a function that is `__host__` only;
//! * where nothing says that a function is for the device, a statement without any instruction that only PTX can
//!   have ([`is_unmistakable`]), and one that has what only the host's compilers take: a register among the clobbers,
//!   or a constraint such as `"m"`;
//! * in another language than C++, a statement without any instruction that only PTX can have, unless the host is for PTX
//!   alone, or Rust gives it registers that only PTX has; in a file with such a statement of Rust, one without operands is
//!   PTX if its first word is an opcode;
//! * a statement, wherever it stands, whose instructions are all spelled as those of AMD's GPUs are, or one without
//!   instructions whose constraints or clobbers are registers of these.

use std::collections::HashSet;

use ptx_ir::directive::DirectiveKind;
use ptx_ir::isa::resolve;
use ptx_syntax::cuda::{AsmStatement, CudaFile, FunctionId, Host, Operand};

use super::unit::Unit;

/// Constraints of GCC for x86 and Arm that CUDA has not. `b`, `d`, `f`, `h`, `l`, `n`, `q`, `r` mean something in both.
const HOST_LETTERS: [char; 17] =
    ['m', 'a', 'c', 'S', 'D', 'A', 'g', 'i', 'x', 'y', 'v', 'w', 'X', 'Q', 'U', 'R', 'I'];

/// The beginnings of the names of AMD's instructions.
const AMD_PREFIXES: [&str; 7] = ["v_", "s_", "ds_", "buffer_", "global_", "flat_", "scratch_"];

/// Whether a statement is PTX.
pub(crate) fn is_ptx(unit: &Unit<'_>, with_ptx: impl FnOnce(FunctionId) -> bool) -> bool {
    // Nothing around it says more, and constraints are LLVM's.
    match unit.statement.host {
        Host::Cuda => {}
        Host::InlinePtx => return true,
        Host::Rust => return is_ptx_text(&unit.expanded.text) || is_of_rust(unit),
        _ => return is_ptx_text(&unit.expanded.text),
    }
    let qualifiers = unit.statement.function.map(|id| unit.file.function(id).qualifiers);
    match qualifiers {
        Some(known) if known.device || known.global => !is_amd(unit),
        Some(known) if known.host => false,
        Some(_) | None => !is_host(unit) && has_ptx_instruction(unit, with_ptx),
    }
}

/// Whether operands are in classes of registers that only PTX has, which are the only ones that statements of Rust are found
/// with. One without operands is judged by its first word and by the others of the file.
fn is_of_rust(unit: &Unit<'_>) -> bool {
    let in_register = |operand: &Operand| operand.constraint.letter().is_some_and(|letter| letter != 'n');
    let has_operands = |statement: &AsmStatement| statement.operands().any(in_register);
    let is_opcode = |word: &str| resolve(word.trim_end_matches(';')).opcode.is_some();
    has_operands(unit.statement)
        || (spellings(&unit.expanded.text).next().is_some_and(is_opcode)
            && unit.file.statements.iter().any(has_operands))
}

/// Whether constraints and clobbers are such as only the host's compilers take.
fn is_host(unit: &Unit<'_>) -> bool {
    let statement = unit.statement;
    let clobbers =
        statement.clobbers.iter().any(|clobber| !clobber.text.is_empty() && clobber.text != "memory");
    let flags = |text: &str| text.starts_with("=@");
    clobbers
        || statement.operands().any(|operand| {
            let constraint = &operand.constraint;
            let letters = constraint.letters();
            constraint.known && (flags(&constraint.text) || letters.contains(HOST_LETTERS))
        })
}

/// The first words of a text's instructions, whether it is PTX or not.
fn spellings(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n', '{', '}']).filter_map(|part| {
        let mut words = part.split_whitespace();
        words.find(|word| !word.starts_with('@') && !word.ends_with(':'))
    })
}

fn is_ptx_text(text: &str) -> bool {
    let (registers, pragma) = (DirectiveKind::Reg.word(), DirectiveKind::Pragma.word());
    let declares = |word: &str| {
        word.strip_prefix(registers).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    spellings(text).any(|word| declares(word) || word == pragma || is_unmistakable(word))
}

/// Whether the statement, or another one of its function, has what only PTX has.
fn has_ptx_instruction(unit: &Unit<'_>, with_ptx: impl FnOnce(FunctionId) -> bool) -> bool {
    is_ptx_text(&unit.expanded.text) || unit.statement.function.is_some_and(with_ptx)
}

/// The functions that have what only PTX has.
pub(crate) fn functions_with_ptx(file: &CudaFile) -> HashSet<FunctionId> {
    let of_ptx = file.statements.iter().filter(|statement| is_ptx_text(&statement.template.text));
    of_ptx.filter_map(|statement| statement.function).collect()
}

/// Whether only PTX has an instruction of this spelling: the table knows it as it is and it has a modifier, or its
/// opcode is known and one modifier is as long as PTX has them. Arm's vector instructions look alike; PTX's have
/// several types.
fn is_unmistakable(spelling: &str) -> bool {
    let resolved = resolve(spelling);
    let mut modifiers = spelling.match_indices('.').map(|(at, _)| {
        let rest = &spelling[at..];
        &rest[..rest[1..].find('.').map_or(rest.len(), |end| end + 1)]
    });
    let known = resolved.opcode.is_some() && !resolved.instances.is_empty();
    let arm = spelling.starts_with('v') && modifiers.clone().count() < 2;
    // Other assemblers have suffixes too, of one letter: `add.w`, `mul.d`.
    let long = modifiers.any(|modifier| modifier.len() > 2);
    spelling.contains('.') && (known || (resolved.opcode.is_some() && long && !arm))
}

fn is_amd(unit: &Unit<'_>) -> bool {
    let mut seen = false;
    spellings(&unit.expanded.text).all(|spelling| {
        seen = true;
        AMD_PREFIXES.iter().any(|prefix| spelling.starts_with(prefix))
    }) && (seen || names_amd_registers(unit))
}

/// Whether a constraint or a clobber is a register of AMD's GPUs: `v` and `v7`, `s`, `a`.
fn names_amd_registers(unit: &Unit<'_>) -> bool {
    let is_class = |letters: &str| matches!(letters, "v" | "s" | "a");
    let is_register = |name: &str| {
        let class = name.trim_end_matches(|character: char| character.is_ascii_digit());
        class.len() < name.len() && is_class(class)
    };
    let statement = unit.statement;
    statement.clobbers.iter().any(|clobber| is_register(&clobber.text))
        || statement
            .operands()
            .any(|operand| operand.constraint.known && is_class(&operand.constraint.letters()))
}
