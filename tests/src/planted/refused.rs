//! Statements that NVIDIA's tools refuse, or take: operands against constraints, constants, and operands against
//! instructions. Each is a function on a line of its own.

use super::Random;

/// What the statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The type of an expression against a constraint letter: the front end decides.
    ConstraintType,
    /// What is given to `n`: the front end decides.
    Constant,
    /// The register of a constraint against the type of an instruction: the assembler decides, for each target.
    InstructionType,
}

/// No enumerations: their size is not known to us.
const TYPES: [&str; 19] = [
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long long",
    "unsigned long long",
    "size_t",
    "float",
    "double",
    "int *",
    "const void *",
    "bool",
    "int4",
    "float2",
    "__int128",
    "unsigned __int128",
];

const LETTERS: [&str; 7] = ["h", "r", "l", "q", "f", "d", "b"];

/// Declarations that the lines need.
pub const PRELUDE: &str = "constexpr int seven = 7;";

/// A line with one function of this name.
pub fn line(refusal: Refusal, name: &str, random: &mut Random) -> String {
    match refusal {
        Refusal::ConstraintType => {
            let (ty, letter) = (*random.one_of(&TYPES), *random.one_of(&LETTERS));
            match random.below(3) {
                0 => format!(
                    "__device__ void {name}({ty} &a) {{ asm volatile(\"// %0\" : \"={letter}\"(a)); }}"
                ),
                1 => format!(
                    "__device__ void {name}({ty} a) {{ asm volatile(\"// %0\" : \"+{letter}\"(a)); }}"
                ),
                _ => format!(
                    "__device__ void {name}({ty} a) {{ asm volatile(\"// %0\" :: \"{letter}\"(a)); }}"
                ),
            }
        }
        Refusal::Constant => {
            let (before, expression) = *random.one_of(&[
                ("", "7"),
                ("", "0x1f"),
                ("", "-1"),
                ("", "3 * 4 + 1"),
                ("", "sizeof(int)"),
                ("", "seven"),
                ("", "seven << 2"),
                ("", "true"),
                ("", "'a'"),
                ("", "a"),
                ("", "a + 1"),
                ("", "1.0f"),
                ("", "2.5"),
                ("const int k = 3; ", "k"),
                ("constexpr unsigned k = 3; ", "k + seven"),
                ("int k = 3; ", "k"),
                ("unsigned long long k = 3; ", "k"),
                ("short k = 3; k++; ", "k"),
            ]);
            format!(
                "__device__ void {name}(int a) {{ {before}asm volatile(\"// %0\" :: \"n\"({expression})); }}"
            )
        }
        Refusal::InstructionType => {
            let instruction = *random.one_of(&[
                "add.u32",
                "add.s32",
                "sub.s64",
                "mul.lo.u16",
                "add.f32",
                "mul.f64",
                "and.b32",
                "or.b64",
                "xor.b16",
                "min.s32",
                "max.u64",
                "add.rn.f32",
                "mul.wide.u16",
                "mul.wide.s32",
                "add.u64",
                "add.s16",
            ]);
            let pairs = [("h", "short"), ("r", "int"), ("l", "long long"), ("f", "float"), ("d", "double")];
            let own = match instruction.rsplit('.').next() {
                Some("u16" | "s16" | "b16") => pairs[0],
                Some("f32") => pairs[3],
                Some("f64") => pairs[4],
                Some(other) if other.ends_with("64") => pairs[2],
                _ => pairs[1],
            };
            let result = match instruction {
                "mul.wide.u16" => pairs[1],
                "mul.wide.s32" => pairs[2],
                _ => own,
            };
            let mut operands = [result, own, own];
            if random.below(3) > 0 {
                operands[random.below(3)] = *random.one_of(&pairs);
            }
            let [(x, a), (y, b), (z, c)] = operands;
            format!(
                "extern \"C\" __global__ void {name}({a} *p, {b} u, {c} v) {{ {a} r; \
                 asm volatile(\"{instruction} %0, %1, %2;\" : \"={x}\"(r) : \"{y}\"(u), \"{z}\"(v)); *p = r; }}"
            )
        }
    }
}
