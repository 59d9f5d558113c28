//! Reads a text as a program: statements become operations on numbered registers, so that a step compares no text.

use std::collections::HashMap;

use super::arithmetic::{CarryUse, Combination, Comparison, Compute, Part, Permutation, Type};
use super::program::{
    Address, Atomic, Barrier, BarrierKind, Collective, CollectiveKind, Function, Object, Operation, Passed,
    Program, Reduction, RegisterIndex, Shuffle, Source, SourceKind, Space, Special, Statement, Vote,
};
use super::text::{self, Operand, Raw, RawFunction, Variable};

/// Bytes between two objects, so that an access past the end of one hits nothing.
const GAP: u64 = 48;
/// Where the variables of a module begin in global memory.
const MODULE_VARIABLES: u64 = 0x5000_0000_0000;

struct Layout {
    objects: Vec<Object>,
    next: HashMap<Space, u64>,
}

fn space_of(name: &str) -> Option<Space> {
    Some(match name.split("::").next()? {
        "global" | "const" => Space::Global,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Parameter,
        _ => return None,
    })
}

impl Layout {
    /// An address that is aligned as declared and no better.
    fn place(&mut self, variable: &Variable, of_thread: bool) -> u64 {
        let space = space_of(&variable.space[1..]).unwrap_or(Space::Global);
        let start = if space == Space::Global { MODULE_VARIABLES } else { 0x100 };
        let next = self.next.entry(space).or_insert(start);
        let address = next.next_multiple_of(variable.align * 2) + variable.align;
        *next = address + variable.size + GAP;
        let initial = if space == Space::Global && variable.initial.len() < variable.size as usize {
            let mut bytes = variable.initial.clone();
            bytes.resize(variable.size as usize, 0);
            bytes
        } else {
            variable.initial.clone()
        };
        self.objects.push(Object { space, address, size: variable.size, initial, of_thread });
        address
    }
}

impl Program {
    /// Reads a text. What cannot be executed shows when it is executed.
    #[must_use]
    pub fn read(ptx: &str) -> Self {
        let file = text::read(ptx);
        let mut layout = Layout { objects: Vec::new(), next: HashMap::new() };
        let module: HashMap<&str, u64> = file
            .variables
            .iter()
            .map(|variable| (variable.name.as_str(), layout.place(variable, false)))
            .collect();
        let bodies: Vec<&RawFunction> = file.functions.iter().filter(|function| function.body).collect();
        let names = bodies.iter().enumerate().map(|(index, function)| (function.name.as_str(), index));
        let names: HashMap<&str, usize> = names.collect();
        let places: Vec<Vec<u64>> = bodies
            .iter()
            .map(|function| {
                let place = |variable: &Variable| {
                    let formal = function.entry && function.parameters.contains(&variable.name);
                    let own = matches!(variable.space.as_str(), ".local" | ".param");
                    layout.place(variable, own && !formal)
                };
                function.variables.iter().map(place).collect()
            })
            .collect();
        let functions = bodies.iter().zip(&places).map(|(function, variables)| {
            Decoder { function, variables, module: &module, functions: &names }.function()
        });
        let functions = functions.collect();
        Self { text: ptx.to_owned(), functions, objects: layout.objects }
    }
}

struct Decoder<'f> {
    function: &'f RawFunction,
    variables: &'f [u64],
    module: &'f HashMap<&'f str, u64>,
    functions: &'f HashMap<&'f str, usize>,
}

fn special(name: &str) -> Option<Special> {
    Some(match name {
        "%tid.x" | "%tid" => Special::Thread,
        "%ntid.x" | "%ntid" => Special::Threads,
        "%ctaid.x" | "%ctaid" => Special::Block,
        "%nctaid.x" | "%nctaid" => Special::Blocks,
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%lanemask_eq" => Special::LanesEqual,
        "%lanemask_lt" => Special::LanesBelow,
        "%lanemask_le" => Special::LanesUpTo,
        "%lanemask_gt" => Special::LanesAbove,
        "%lanemask_ge" => Special::LanesFrom,
        "%clock" | "%clock64" | "%clock_hi" | "%globaltimer" => Special::Clock,
        "%tid.y" | "%tid.z" | "%ctaid.y" | "%ctaid.z" | "%cluster_ctaid.x" | "%cluster_ctarank" => {
            Special::Zero
        }
        "%ntid.y" | "%ntid.z" | "%nctaid.y" | "%nctaid.z" | "%cluster_nctaid.x" => Special::One,
        _ => return None,
    })
}

/// The width and the sign of a type such as `s32`; none for floating point.
fn integer(name: &str) -> Option<Type> {
    let first = name.as_bytes().first()?;
    let known = matches!(first, b'u' | b's' | b'b') || name == "pred";
    known.then_some(Type { width: text::width(name)?, signed: *first == b's' })
}

/// A type whose bits are only moved.
fn moved(name: &str) -> Option<Type> {
    Some(Type { width: text::width(name)?, signed: name.starts_with('s') })
}

fn comparison(name: &str, ty: Type) -> Option<(Comparison, Type)> {
    Some(match name {
        "eq" => (Comparison::Equal, ty),
        "ne" => (Comparison::NotEqual, ty),
        "lt" => (Comparison::Less, ty),
        "le" => (Comparison::LessEqual, ty),
        "gt" => (Comparison::Greater, ty),
        "ge" => (Comparison::GreaterEqual, ty),
        "lo" => (Comparison::Less, Type { signed: false, ..ty }),
        "ls" => (Comparison::LessEqual, Type { signed: false, ..ty }),
        "hi" => (Comparison::Greater, Type { signed: false, ..ty }),
        "hs" => (Comparison::GreaterEqual, Type { signed: false, ..ty }),
        _ => return None,
    })
}

fn combination(name: &str) -> Option<Combination> {
    Some(match name {
        "and" => Combination::And,
        "or" => Combination::Or,
        "xor" => Combination::Xor,
        _ => return None,
    })
}

impl Decoder<'_> {
    fn function(&self) -> Function {
        let code = self.function.code.iter().map(|raw| Statement {
            offset: raw.offset,
            opcode: raw.opcode.join("."),
            guard: raw
                .guard
                .as_ref()
                .and_then(|(name, wanted)| Some((self.function.register(raw.scope, name)?, *wanted))),
            operation: self.operation(raw).unwrap_or(Operation::Unknown),
        });
        Function {
            name: self.function.name.clone(),
            entry: self.function.entry,
            registers: self.function.registers.clone(),
            code: code.collect(),
            parameters: self.function.parameters.iter().map(|name| self.passed(0, name)).collect(),
            returns: self.function.returns.iter().map(|name| self.passed(0, name)).collect(),
            duplicates: self.function.duplicates.clone(),
        }
    }

    fn passed(&self, scope: usize, name: &str) -> Passed {
        if let Some(register) = self.function.register(scope, name) {
            return Passed::Register(register);
        }
        match self.function.variable(scope, name) {
            Some(index) => {
                Passed::Memory { address: self.variables[index], size: self.function.variables[index].size }
            }
            None => Passed::Nothing,
        }
    }

    fn argument(&self, scope: usize, operand: &Operand) -> Option<Passed> {
        Some(match operand {
            Operand::Word(name) if name == "_" => Passed::Nothing,
            Operand::Word(name) if self.function.register(scope, name).is_none() => self.passed(scope, name),
            _ => Passed::Value(self.source(scope, operand)?),
        })
    }

    fn address_of(&self, scope: usize, name: &str) -> Option<u64> {
        let own = self.function.variable(scope, name).map(|index| self.variables[index]);
        own.or_else(|| self.module.get(name).copied())
    }

    fn source(&self, scope: usize, operand: &Operand) -> Option<Source> {
        let kind = match operand {
            Operand::Number(value) => SourceKind::Number(*value),
            Operand::Word(name) if name == "WARP_SZ" => SourceKind::Number(32),
            Operand::Word(name) => match self.function.register(scope, name) {
                Some(register) => SourceKind::Register(register),
                None => match special(name) {
                    Some(special) => SourceKind::Special(special),
                    None => SourceKind::Number(self.address_of(scope, name)?),
                },
            },
            Operand::Negated(inner) => {
                let inner = self.source(scope, inner)?;
                return Some(Source { negated: !inner.negated, ..inner });
            }
            Operand::Sum(base, offset) => match self.source(scope, base)?.kind {
                SourceKind::Number(base) => SourceKind::Number(base.wrapping_add_signed(*offset)),
                _ => return None,
            },
            _ => return None,
        };
        Some(Source { kind, negated: false })
    }

    fn sources(&self, scope: usize, operands: &[Operand]) -> Option<Vec<Source>> {
        operands.iter().map(|operand| self.source(scope, operand)).collect()
    }

    /// The elements of a list, or the only one.
    fn elements(&self, scope: usize, operand: &Operand) -> Option<Vec<Source>> {
        match operand {
            Operand::List(elements) => self.sources(scope, elements),
            _ => Some(vec![self.source(scope, operand)?]),
        }
    }

    /// A destination; `_` is none.
    fn result(&self, scope: usize, operand: &Operand) -> Option<Option<RegisterIndex>> {
        match operand {
            Operand::Word(name) if name == "_" => Some(None),
            Operand::Word(name) => self.function.register(scope, name).map(Some),
            _ => None,
        }
    }

    fn results(&self, scope: usize, operand: &Operand) -> Option<Vec<Option<RegisterIndex>>> {
        match operand {
            Operand::List(elements) => elements.iter().map(|element| self.result(scope, element)).collect(),
            _ => Some(vec![self.result(scope, operand)?]),
        }
    }

    /// `d`, or `d|p`.
    fn pair(&self, scope: usize, operand: &Operand) -> Option<[Option<RegisterIndex>; 2]> {
        match operand {
            Operand::Pair(first, second) => Some([self.result(scope, first)?, self.result(scope, second)?]),
            _ => Some([self.result(scope, operand)?, None]),
        }
    }

    fn address(&self, raw: &Raw, operand: &Operand) -> Option<Address> {
        let Operand::Address(inside) = operand else { return None };
        let space = raw.opcode.iter().find_map(|part| space_of(part)).unwrap_or(Space::Generic);
        let (base, offset) = match &**inside {
            Operand::Sum(base, offset) => (&**base, *offset),
            base => (base, 0),
        };
        Some(Address { space, base: self.source(raw.scope, base)?, offset })
    }

    fn operation(&self, raw: &Raw) -> Option<Operation> {
        let has = |modifier: &str| raw.opcode.iter().any(|part| part == modifier);
        let last = raw.opcode.last()?;
        let operands = raw.operands.as_slice();
        let scope = raw.scope;
        Some(match (raw.opcode[0].as_str(), operands) {
            ("bra", [Operand::Word(label)]) => Operation::Branch(self.function.label(scope, label)?),
            ("brx", [index, Operand::Word(list)]) => {
                let targets = self.function.targets(scope, list)?;
                let targets = targets.iter().map(|label| self.function.label(scope, label));
                Operation::BranchIndexed {
                    index: self.source(scope, index)?,
                    targets: targets.collect::<Option<_>>()?,
                }
            }
            ("ret", []) => Operation::Return,
            ("exit", []) => Operation::Exit,
            ("trap", []) => Operation::Trap,
            ("call", _) => self.call(scope, operands)?,
            ("membar" | "fence" | "nanosleep" | "prefetch" | "pmevent", _) => Operation::Nothing,
            ("setmaxnreg", _) => Operation::Together,
            ("ld" | "ldu", [target, address]) => Operation::Load {
                ty: moved(last)?,
                results: self.results(scope, target)?,
                address: self.address(raw, address)?,
            },
            ("st", [address, source]) => Operation::Store {
                width: moved(last)?.width,
                sources: self.elements(scope, source)?,
                address: self.address(raw, address)?,
            },
            ("atom", [target, address, sources @ ..]) => self.atomic(raw, Some(target), address, sources)?,
            ("red", [address, sources @ ..]) => self.atomic(raw, None, address, sources)?,
            ("mov", [target, source]) => Operation::Move {
                width: moved(last)?.width,
                results: self.results(scope, target)?,
                sources: self.elements(scope, source)?,
            },
            ("cvta", [target, source]) => Operation::ToGeneric {
                space: raw.opcode.iter().find_map(|part| space_of(part))?,
                back: has("to"),
                result: self.result(scope, target)?,
                source: self.source(scope, source)?,
            },
            ("isspacep", [target, source]) => Operation::IsSpace {
                space: space_of(last)?,
                result: self.result(scope, target)?,
                source: self.source(scope, source)?,
            },
            ("activemask", [target]) => Operation::ActiveMask(self.result(scope, target)?),
            ("bar" | "barrier", _) if has("warp") => self.collective(raw)?,
            ("bar" | "barrier", _) if !has("cluster") => Operation::Barrier(self.barrier(raw)?),
            ("shfl" | "vote" | "match" | "elect" | "redux", _) if has("sync") => self.collective(raw)?,
            (_, [target, sources @ ..]) => {
                let (what, ty) = self.compute(raw)?;
                let sources = match sources {
                    [a, b, c, Operand::Number(_), rest @ ..] if raw.opcode[0] == "lop3" => {
                        let mut found = self.sources(scope, &[a.clone(), b.clone(), c.clone()])?;
                        found.extend(self.sources(scope, rest)?);
                        found
                    }
                    _ => self.sources(scope, sources)?,
                };
                let same = match sources.as_slice() {
                    [a, b, ..] => a == b && matches!(a.kind, SourceKind::Register(_)),
                    _ => false,
                };
                Operation::Compute { what, ty, results: self.pair(scope, target)?, sources, same }
            }
            _ => return None,
        })
    }

    fn call(&self, scope: usize, operands: &[Operand]) -> Option<Operation> {
        let list = |operand: &Operand| match operand {
            Operand::Arguments(elements) => elements.iter().map(|each| self.argument(scope, each)).collect(),
            _ => None,
        };
        let results = |operand: &Operand| match operand {
            Operand::Arguments(elements) => elements
                .iter()
                .map(|each| match each {
                    Operand::Word(name) => Some(self.passed(scope, name)),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        let empty: Option<Vec<Passed>> = Some(Vec::new());
        let (returns, name, arguments) = match operands {
            [Operand::Word(name)] => (empty.clone(), name, empty),
            [Operand::Word(name), arguments] => (empty, name, list(arguments)),
            [returns, Operand::Word(name)] => (results(returns), name, empty),
            [returns, Operand::Word(name), arguments] => (results(returns), name, list(arguments)),
            _ => return None,
        };
        let function = *self.functions.get(name.as_str())?;
        Some(Operation::Call { function, returns: returns?, arguments: arguments? })
    }

    fn atomic(
        &self,
        raw: &Raw,
        target: Option<&Operand>,
        address: &Operand,
        sources: &[Operand],
    ) -> Option<Operation> {
        let what = raw.opcode.iter().find_map(|part| {
            Some(match part.as_str() {
                "add" => Atomic::Add,
                "and" => Atomic::And,
                "or" => Atomic::Or,
                "xor" => Atomic::Xor,
                "min" => Atomic::Minimum,
                "max" => Atomic::Maximum,
                "exch" => Atomic::Exchange,
                "cas" => Atomic::CompareAndSwap,
                "inc" => Atomic::Increment,
                "dec" => Atomic::Decrement,
                _ => return None,
            })
        })?;
        if sources.len() != if what == Atomic::CompareAndSwap { 2 } else { 1 } {
            return None;
        }
        Some(Operation::Atomic {
            what,
            ty: integer(raw.opcode.last()?)?,
            result: target.map_or(Some(None), |target| self.result(raw.scope, target))?,
            address: self.address(raw, address)?,
            sources: self.sources(raw.scope, sources)?,
        })
    }

    fn collective(&self, raw: &Raw) -> Option<Operation> {
        let has = |modifier: &str| raw.opcode.iter().any(|part| part == modifier);
        let spelling = raw.opcode.join(".");
        let last = raw.opcode.last()?;
        let scope = raw.scope;
        let build = |kind, ty: Type, target: Option<&Operand>, sources: &[Operand], mask: &Operand| {
            Some(Operation::Collective(Collective {
                kind,
                spelling: spelling.clone(),
                ty,
                results: target.map_or(Some([None; 2]), |target| self.pair(scope, target))?,
                sources: self.sources(scope, sources)?,
                mask: self.source(scope, mask)?,
            }))
        };
        let word = Type { width: 32, signed: false };
        match (raw.opcode[0].as_str(), raw.operands.as_slice()) {
            ("bar" | "barrier", [mask]) => build(CollectiveKind::WarpSync, word, None, &[], mask),
            ("elect", [target, mask]) => build(CollectiveKind::Elect, word, Some(target), &[], mask),
            ("shfl", [target, sources @ .., mask]) if sources.len() == 3 => {
                let mode = match raw.opcode.get(2)?.as_str() {
                    "up" => Shuffle::Up,
                    "down" => Shuffle::Down,
                    "bfly" => Shuffle::Butterfly,
                    "idx" => Shuffle::Index,
                    _ => return None,
                };
                build(CollectiveKind::Shuffle(mode), word, Some(target), sources, mask)
            }
            ("vote", [target, source, mask]) => {
                let mode = match raw.opcode.get(2)?.as_str() {
                    "all" => Vote::All,
                    "any" => Vote::Any,
                    "uni" => Vote::Uniform,
                    "ballot" => Vote::Ballot,
                    _ => return None,
                };
                build(CollectiveKind::Vote(mode), word, Some(target), std::slice::from_ref(source), mask)
            }
            ("match", [target, source, mask]) => {
                let kind = CollectiveKind::Match { all: has("all") };
                build(kind, integer(last)?, Some(target), std::slice::from_ref(source), mask)
            }
            ("redux", [target, source, mask]) => {
                let operation = match raw.opcode.get(2)?.as_str() {
                    "add" => Reduction::Add,
                    "min" => Reduction::Minimum,
                    "max" => Reduction::Maximum,
                    "and" => Reduction::And,
                    "or" => Reduction::Or,
                    "xor" => Reduction::Xor,
                    _ => return None,
                };
                let kind = CollectiveKind::Reduce(operation);
                build(kind, integer(last)?, Some(target), std::slice::from_ref(source), mask)
            }
            _ => None,
        }
    }

    fn barrier(&self, raw: &Raw) -> Option<Barrier> {
        let has = |modifier: &str| raw.opcode.iter().any(|part| part == modifier);
        let aligned = raw.opcode[0] == "bar" || has("aligned");
        let source = |operand: &Operand| self.source(raw.scope, operand);
        let kind = match (has("arrive"), has("red")) {
            (true, _) => BarrierKind::Arrive,
            (_, true) if has("popc") => BarrierKind::Count,
            (_, true) if has("and") => BarrierKind::All,
            (_, true) => BarrierKind::Any,
            _ => BarrierKind::Sync,
        };
        let (result, rest) = match (has("red"), raw.operands.as_slice()) {
            (true, [target, rest @ .., predicate]) => ((Some(target), Some(predicate)), rest),
            (false, rest) => ((None, None), rest),
            _ => return None,
        };
        let (id, count) = match rest {
            [id] => (id, None),
            [id, count] => (id, Some(source(count)?)),
            _ => return None,
        };
        Some(Barrier {
            kind,
            aligned,
            id: source(id)?,
            count,
            predicate: result.1.map_or(Some(None), |predicate| source(predicate).map(Some))?,
            result: result.0.map_or(Some(None), |target| self.result(raw.scope, target))?,
        })
    }

    fn compute(&self, raw: &Raw) -> Option<(Compute, Type)> {
        let has = |modifier: &str| raw.opcode[1..].iter().any(|part| part == modifier);
        let last = raw.opcode.last()?;
        let name = raw.opcode[0].as_str();
        // The mode of `prmt` comes after its type.
        let ty = if name == "prmt" { Type { width: 32, signed: false } } else { integer(last)? };
        let carry = CarryUse { reads: matches!(name, "addc" | "subc" | "madc"), writes: has("cc") };
        let saturate = has("sat");
        let part = if has("wide") {
            Part::Wide
        } else if has("hi") {
            Part::High
        } else {
            Part::Low
        };
        let packed = has("u16x2") || has("s16x2");
        let what = match name {
            _ if packed => return None,
            "add" | "addc" => Compute::Add { carry, saturate },
            "sub" | "subc" => Compute::Subtract { carry, saturate },
            "mul" => Compute::Multiply(part),
            "mad" | "madc" => Compute::MultiplyAdd { part, carry, saturate },
            "sad" => Compute::AbsoluteDifference,
            "div" => Compute::Divide,
            "rem" => Compute::Remainder,
            "abs" => Compute::Absolute,
            "neg" => Compute::Negate,
            "min" if !has("relu") => Compute::Minimum,
            "max" if !has("relu") => Compute::Maximum,
            "popc" => Compute::PopulationCount,
            "clz" => Compute::LeadingZeros,
            "bfind" => Compute::FindTop { amount: has("shiftamt") },
            "brev" => Compute::Reverse,
            "bfe" => Compute::Extract,
            "bfi" => Compute::Insert,
            "and" => Compute::And,
            "or" => Compute::Or,
            "xor" => Compute::Xor,
            "not" => Compute::Not,
            "cnot" => Compute::LogicalNot,
            "lop3" => {
                let Some(Operand::Number(table)) = raw.operands.get(4) else { return None };
                let combination = raw.opcode[1..].iter().find_map(|part| combination(part));
                Compute::Lookup { table: *table as u8, combination }
            }
            "shf" => Compute::Funnel { left: has("l"), wrap: has("wrap") },
            "shl" => Compute::ShiftLeft,
            "shr" => Compute::ShiftRight,
            "prmt" => Compute::Permute(match last.as_str() {
                "f4e" => Permutation::Forward4,
                "b4e" => Permutation::Backward4,
                "rc8" => Permutation::Replicate8,
                "ecl" => Permutation::ClampLeft,
                "ecr" => Permutation::ClampRight,
                "rc16" => Permutation::Replicate16,
                _ => Permutation::Generic,
            }),
            "setp" => {
                let (comparison, ty) = comparison(raw.opcode.get(1)?, ty)?;
                let combination = raw.opcode.get(2).and_then(|part| combination(part));
                return Some((Compute::SetPredicate { comparison, combination }, ty));
            }
            "set" => {
                let (comparison, ty) = comparison(raw.opcode.get(1)?, ty)?;
                let combination = raw.opcode.get(2).and_then(|part| combination(part));
                let width = integer(raw.opcode.get(raw.opcode.len() - 2)?)?.width;
                return Some((Compute::Set { comparison, combination, width }, ty));
            }
            "selp" => Compute::Select,
            "cvt" => {
                let to = integer(raw.opcode.get(raw.opcode.len() - 2)?)?;
                return Some((Compute::Convert { from: ty, saturate }, to));
            }
            _ => return None,
        };
        Some((what, ty))
    }
}
