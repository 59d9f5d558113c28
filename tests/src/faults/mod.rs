//! Plants faults with known lines into clean PTX, to see whether they are found.
//!
//! Works on the text, line by line, and knows no more of PTX than it needs: a statement on a line of its own,
//! its guard, its opcode, its first operand. A fault that cannot show, because nothing reads what it spoils, is
//! marked as harmless rather than left out.

mod alignment;
mod text;
mod waits;

use text::{Function, Statement, functions, is_plain, is_read, is_single, is_sized, mentions, reads};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The first `.cc` of a function is dropped.
    DropCarry,
    /// The `.cc` of a later start of a chain, or of a member, is dropped.
    DropLaterCarry,
    /// Another `.cc` is put between a producer and its consumer.
    InsertCarry,
    /// An `addc` becomes a `subc`, or the reverse.
    SwapChain,
    /// The first producer of a function gets a guard.
    GuardProducer,
    /// A later producer gets a guard.
    GuardLaterProducer,
    /// A member in the middle of a chain gets a guard.
    GuardMember,
    /// The only `mov` of a constant into a register is removed.
    DropInitialization,
    /// The only write of a register is moved below the read after it.
    UseAboveDefinition,
    /// The only write of a register gets a guard.
    InitializeSometimes,
    /// The offset of an access is moved by one byte.
    Misalign,
    /// The offset of an access at a register is moved by one byte.
    MisalignRegister,
    /// The offset of an access is moved after its variable.
    OutOfBounds,
    /// A `.global` access of a converted address becomes a `.shared` one.
    ChangeSpace,
    /// A barrier gets a guard that depends on the thread.
    DivergentBarrier,
    /// The waits for asynchronous copies are removed.
    DropWait,
    /// The first of several waits is removed.
    DropFirstWait,
    /// One wait for groups of asynchronous copies is removed.
    DropOneWait,
    /// A fence before matrix operations is removed: the first, or one after writes of their registers.
    DropFence,
    /// The waits for loads of tensor memory are removed.
    DropTensorWait,
    /// The store of a return value or an argument is removed.
    DropParameter,
    /// The last `ret` of a function is removed.
    DropReturn,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 22] = [
        Self::DropCarry,
        Self::DropLaterCarry,
        Self::InsertCarry,
        Self::SwapChain,
        Self::GuardProducer,
        Self::GuardLaterProducer,
        Self::GuardMember,
        Self::DropInitialization,
        Self::UseAboveDefinition,
        Self::InitializeSometimes,
        Self::Misalign,
        Self::MisalignRegister,
        Self::OutOfBounds,
        Self::ChangeSpace,
        Self::DivergentBarrier,
        Self::DropWait,
        Self::DropFirstWait,
        Self::DropOneWait,
        Self::DropFence,
        Self::DropTensorWait,
        Self::DropParameter,
        Self::DropReturn,
    ];

    /// The rules that may report it.
    #[must_use]
    pub const fn rules(self) -> &'static [&'static str] {
        const UNSET: &[&str] =
            &["uninitialized-register", "maybe-uninitialized-register", "uninitialized-predicate"];
        match self {
            Self::DropCarry | Self::DropLaterCarry | Self::GuardLaterProducer | Self::GuardMember => {
                &["carry-undefined", "carry-clobbered", "carry-polarity", "carry-across-call"]
            }
            Self::InsertCarry => &["carry-clobbered"],
            Self::SwapChain => &["carry-polarity"],
            Self::GuardProducer => &["carry-undefined"],
            Self::DropInitialization | Self::UseAboveDefinition | Self::InitializeSometimes => UNSET,
            Self::Misalign | Self::MisalignRegister => &["misaligned-constant-offset"],
            Self::OutOfBounds => &["out-of-bounds-constant-offset"],
            Self::ChangeSpace => &["state-space-mismatch"],
            Self::DivergentBarrier => &["divergent-barrier"],
            Self::DropWait | Self::DropFirstWait | Self::DropOneWait => &["cp-async-no-wait"],
            Self::DropFence => &["wgmma-missing-fence"],
            Self::DropTensorWait => &["tcgen05-missing-wait"],
            Self::DropParameter => &["unset-return-value", "unset-call-argument"],
            Self::DropReturn => &["missing-terminator"],
        }
    }
}

/// A planted fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// The whole text with the fault.
    pub text: String,
    /// The lines where it may show, from 1, in the text with the fault.
    pub lines: Vec<u32>,
    /// Whether nothing can notice it.
    pub harmless: bool,
}

/// All faults of a kind that can be planted into a text.
#[must_use]
pub fn plant(kind: Kind, text: &str) -> Vec<Fault> {
    let lines: Vec<&str> = text.lines().collect();
    functions(&lines).iter().flat_map(|function| plant_in(kind, function)).collect()
}

fn plant_in(kind: Kind, function: &Function<'_>) -> Vec<Fault> {
    let all = &function.statements;
    let change_at = |statement: &Statement<'_>, new: String, harmless: bool, at: &[usize]| {
        function.with(kind, at, &[(statement.line, new)], harmless)
    };
    let change = |statement: &Statement<'_>, new: String, harmless: bool| {
        change_at(statement, new, harmless, &[statement.line])
    };
    let line = |statement: &Statement<'_>| function.lines[statement.line];
    let reads_carry = |each: &Statement<'_>| matches!(each.root(), "addc" | "subc" | "madc");
    let starts_chain = |each: &Statement<'_>| each.has("cc") && !reads_carry(each);
    match kind {
        Kind::DropCarry | Kind::GuardProducer => {
            // Later chains would be read with the carry of the one before, which is defined.
            let Some(first) = all.iter().find(|each| starts_chain(each)) else { return Vec::new() };
            let read_next =
                all.iter().find(|each| each.line > first.line && (reads_carry(each) || each.has("cc")));
            let harmless = !read_next.is_some_and(reads_carry);
            let calls = all.iter().any(|each| each.root() == "call");
            if first.guarded
                || calls
                || !function.straight(first.line, read_next.map_or(first.line, |each| each.line))
            {
                return Vec::new();
            }
            let new = if kind == Kind::DropCarry {
                line(first).replacen(".cc", "", 1)
            } else {
                format!("@%planted {}", line(first).trim())
            };
            let reader = read_next.map_or(first.line, |each| each.line);
            vec![change_at(first, new, harmless, &[reader])]
        }
        Kind::DropLaterCarry | Kind::GuardLaterProducer | Kind::GuardMember => {
            let chained: Vec<&Statement<'_>> =
                all.iter().filter(|each| each.has("cc") || reads_carry(each)).collect();
            let pairs = chained.windows(2).skip(1).map(|pair| (pair[0], pair[1]));
            pairs
                .filter(|(writer, reader)| {
                    let fits = match kind {
                        Kind::DropLaterCarry => writer.has("cc"),
                        // What only takes the carry out may come after any number of members.
                        Kind::GuardMember => {
                            writer.has("cc") && reads_carry(writer) && !takes_carry_out(reader)
                        }
                        _ => starts_chain(writer),
                    };
                    fits && !writer.guarded
                        && !reader.guarded
                        && reads_carry(reader)
                        && function.straight(writer.line, reader.line)
                })
                .map(|(writer, reader)| {
                    let new = if kind == Kind::DropLaterCarry {
                        line(writer).replacen(".cc", "", 1)
                    } else {
                        format!("@%planted {}", line(writer).trim())
                    };
                    change_at(writer, new, false, &[reader.line])
                })
                .collect()
        }
        Kind::InsertCarry => all
            .windows(2)
            .filter(|pair| {
                starts_chain(&pair[0]) && !pair[0].guarded && reads_carry(&pair[1]) && !pair[1].guarded
            })
            .filter(|pair| function.straight(pair[0].line, pair[1].line))
            .map(|pair| {
                change(&pair[1], format!("add.cc.u32 %planted_id, 1, 2; {}", line(&pair[1]).trim()), false)
            })
            .collect(),
        Kind::SwapChain => all
            .windows(2)
            .filter(|pair| pair[0].has("cc") && !pair[0].guarded && matches!(pair[1].root(), "addc" | "subc"))
            .filter(|pair| function.straight(pair[0].line, pair[1].line))
            // One that is wrong already becomes right.
            .filter(|pair| pair[0].root().starts_with("sub") == (pair[1].root() == "subc"))
            .map(|pair| {
                let (old, new) = if pair[1].root() == "addc" { ("addc", "subc") } else { ("subc", "addc") };
                change(&pair[1], line(&pair[1]).replacen(old, new, 1), false)
            })
            .collect(),
        Kind::DropInitialization | Kind::InitializeSometimes => all
            .iter()
            .filter(|each| !each.guarded && (each.root() == "mov" || kind == Kind::InitializeSometimes))
            .filter_map(|each| Some((each, each.result()?)))
            .filter(|(each, name)| {
                function.writes(name) == 1 && is_single(function, name) && !each.operands.contains('[')
            })
            .map(|(each, name)| {
                let harmless = !is_read(function, each.line, name);
                let new = if kind == Kind::DropInitialization {
                    String::new()
                } else {
                    format!("@%planted {}", line(each).trim())
                };
                change_at(each, new, harmless, &reads(function, each.line, name))
            })
            .collect(),
        Kind::UseAboveDefinition => all
            .windows(2)
            .filter_map(|pair| Some((&pair[0], &pair[1], pair[0].result()?)))
            .filter(|(first, second, name)| {
                function.writes(name) == 1
                    && is_single(function, name)
                    && second.operands.split_once(',').is_some_and(|(_, rest)| mentions(rest, name))
                    && !first.guarded
                    && !second.guarded
                    && function.straight(first.line, second.line)
            })
            .map(|(first, second, _)| {
                let swapped = [(first.line, line(second).to_owned()), (second.line, line(first).to_owned())];
                function.with(kind, &[first.line], &swapped, false)
            })
            .collect(),
        Kind::Misalign | Kind::OutOfBounds => all
            .iter()
            .filter(|each| matches!(each.root(), "ld" | "st"))
            .filter_map(|each| Some((each, each.operands.split_once('[')?.1.split_once(']')?.0)))
            .filter(|(_, address)| {
                let name = address.split('+').next().unwrap_or("").trim();
                !name.starts_with('%') && !name.contains(',') && !name.is_empty()
            })
            .filter(|(each, _)| !each.has("b8") && !each.has("u8") && !each.has("s8"))
            .filter(|(_, address)| is_sized(function, address))
            .map(|(each, address)| {
                let distance = if kind == Kind::Misalign { 1 } else { 1 << 20 };
                let old = format!("[{address}]");
                change(each, line(each).replacen(&old, &format!("[{address}+{distance}]"), 1), false)
            })
            .collect(),
        Kind::MisalignRegister => alignment::misalign(function),
        Kind::DropOneWait => waits::drop_one(function),
        Kind::ChangeSpace => all
            .iter()
            .filter(|each| matches!(each.root(), "ld" | "st") && each.has("global") && !each.has("nc"))
            .filter(|each| is_plain(each.opcode))
            .filter_map(|each| {
                Some((each, each.operands.split_once('[')?.1.split_once([']', '+'])?.0.trim()))
            })
            .filter(|(_, base)| {
                function.writes(base) == 1
                    && all.iter().any(|other| {
                        other.result() == Some(base) && other.opcode.starts_with("cvta.to.global")
                    })
            })
            .map(|(each, _)| change(each, line(each).replacen(".global", ".shared", 1), false))
            .collect(),
        Kind::DivergentBarrier => all
            .iter()
            .filter(|each| each.opcode == "bar.sync" && !each.guarded && !each.operands.contains(','))
            .map(|each| change(each, format!("@%planted_lane {}", line(each).trim()), false))
            .collect(),
        Kind::DropWait => {
            let waits: Vec<&Statement<'_>> =
                all.iter().filter(|each| each.opcode.starts_with("cp.async.wait")).collect();
            let kernel = (0..function.open)
                .rev()
                .map(|line| function.lines[line])
                .find(|line| line.contains(".func") || line.contains(".entry"));
            let others =
                all.iter().any(|each| each.opcode.contains("cp.async.mbarrier") || each.root() == "call");
            let starts = |each: &Statement<'_>| each.opcode.starts_with("cp.async.c") && each.has("global");
            match waits.last() {
                Some(_) if !others && kernel.is_some_and(|line| line.contains(".entry")) => {
                    let changes: Vec<(usize, String)> =
                        waits.iter().map(|each| (each.line, String::new())).collect();
                    let harmless = !all.iter().any(starts);
                    let starts: Vec<usize> =
                        all.iter().filter(|each| starts(each)).map(|each| each.line).collect();
                    vec![function.with(kind, &starts, &changes, harmless)]
                }
                _ => Vec::new(),
            }
        }
        Kind::DropFirstWait => {
            let waits: Vec<&Statement<'_>> =
                all.iter().filter(|each| each.opcode.starts_with("cp.async.wait")).collect();
            let others =
                all.iter().any(|each| each.opcode.contains("cp.async.mbarrier") || each.root() == "call");
            let read = |each: &&Statement<'_>| {
                each.root() == "ldmatrix" || each.root() == "ld" && each.opcode.starts_with("ld.shared")
            };
            match waits[..] {
                [first, _, ..] if !others && !first.guarded => {
                    let start =
                        all.iter().find(|each| each.opcode.starts_with("cp.async.c") && each.has("global"));
                    let reads: Vec<usize> = all.iter().filter(read).map(|each| each.line).collect();
                    // Something has to be read between the first wait and the second, after a copy was started.
                    let shows = start.is_some_and(|start| start.line < first.line)
                        && reads.iter().any(|read| (first.line..waits[1].line).contains(read));
                    if shows { vec![change_at(first, String::new(), false, &reads)] } else { Vec::new() }
                }
                _ => Vec::new(),
            }
        }
        Kind::DropFence => {
            let starts: Vec<usize> = all
                .iter()
                .filter(|each| each.opcode.starts_with("wgmma.mma_async"))
                .map(|each| each.line)
                .collect();
            let fences = all.iter().filter(|each| each.opcode.starts_with("wgmma.fence"));
            let first = fences.clone().next().map(|each| each.line);
            fences
                .filter(|fence| Some(fence.line) == first && starts.iter().any(|start| *start > fence.line))
                .map(|fence| change_at(fence, String::new(), false, &starts))
                .chain(waits::later_fences(function))
                .collect()
        }
        Kind::DropTensorWait => waits::drop_tensor(function),
        Kind::DropParameter => all
            .iter()
            .filter(|each| each.root() == "st" && each.has("param") && !each.guarded)
            .filter_map(|each| {
                Some((each, each.operands.strip_prefix('[')?.split_once([']', '+'])?.0.trim()))
            })
            .filter(|(each, name)| {
                // The same name comes again in every call sequence: the store nearest to its call.
                let next = all.iter().find(|other| {
                    other.line > each.line && (other.root() == "call" || other.root() == "ret")
                });
                let before = function.lines[..each.line].iter().rev().find(|text| text.contains(".param"));
                let alone = all
                    .iter()
                    .filter(|other| other.root() == "st" && other.operands.starts_with(&format!("[{name}")))
                    .count()
                    == 1;
                next.is_some() && before.is_some() && alone
            })
            .map(|(each, _)| {
                // A call goes on over the lines to its `;`.
                let length = |start: usize| {
                    let rest = function.lines[start..].iter();
                    rest.take_while(|text| !text.trim_end().ends_with(';')).count()
                };
                let is_end = |line: &usize| {
                    let text = function.lines[*line].trim_start();
                    text.starts_with("call") || text.starts_with("ret")
                };
                let lines: Vec<usize> = (each.line + 1..function.close)
                    .filter(is_end)
                    .flat_map(|line| line..=line + length(line))
                    .collect();
                change_at(each, String::new(), false, &lines)
            })
            .collect(),
        Kind::DropReturn => all
            .last()
            .filter(|last| last.opcode == "ret" && !last.guarded)
            .map(|last| {
                // What ends in a jump before it is not reached.
                let before = all.iter().rev().nth(1);
                let harmless = before.is_some_and(|each| {
                    let leaves = matches!(each.root(), "bra" | "exit" | "trap" | "ret") && !each.guarded;
                    leaves && function.straight(each.line + 1, last.line)
                });
                let ends_in_call = before.is_none_or(|each| each.root() == "call");
                let at = before.map_or(last.line, |each| each.line);
                (change_at(last, String::new(), harmless, &[at]), ends_in_call)
            })
            .filter(|(_, ends_in_call)| !ends_in_call)
            .map(|(fault, _)| fault)
            .into_iter()
            .collect(),
    }
}

/// Whether a statement adds the carry to numbers that are known.
fn takes_carry_out(statement: &Statement<'_>) -> bool {
    let operands = statement.operands.split(',').skip(1);
    operands.filter(|operand| operand.trim().parse::<i64>().is_err()).count() == 0
}
