//! Random asm statements, with early clobbers missing and not, judged three times: by us, by executing them with an
//! output and an input in one register, and by what nvcc makes of them.
//!
//! * What we report gives a wrong result for some pair of registers that the compiler may join; what we do not
//!   report gives the right result for every pair.
//! * Where nvcc joins registers so that the result is wrong, we have reported the statement; and it does so for
//!   some of them. Of the twins with our fixes none is wrong, and none is reported.
//!
//! The part with nvcc needs no GPU: the emitted PTX is executed here.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use ptx_syntax::LineIndex;
use ptx_tests::planted::Random;
use ptx_tests::tools::needed_nvcc;
use ptx_verify::{CudaConfig, check_cuda};

/// Where an instruction of a template reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Output(usize),
    Input(usize),
    Temporary(usize),
}

/// `mov.b32 target, a`, or with a factor `mad.lo.u32 target, a, factor, b`. Factors are odd and positive, so that no
/// difference of a source cancels out on the way to an output.
#[derive(Clone, Debug)]
struct Operation {
    factor: Option<u32>,
    target: Place,
    sources: Vec<Place>,
}

/// A statement: its operands are variables `x0`, `x1`, …
#[derive(Clone, Debug)]
struct Generated {
    outputs: Vec<usize>,
    inputs: Vec<usize>,
    operations: Vec<Operation>,
    temporaries: usize,
}

impl Generated {
    /// Every result is used: temporaries form a chain that ends in the last output, and each place is written once.
    fn new(random: &mut Random) -> Self {
        let mut variables: Vec<usize> = (0..5).collect();
        for last in (1..variables.len()).rev() {
            variables.swap(last, random.below(last + 1));
        }
        let inputs: Vec<usize> = variables[..2 + random.below(3)].to_vec();
        variables.rotate_left(random.below(5));
        let outputs: Vec<usize> = variables[..1 + random.below(3)].to_vec();
        let mut this = Self { outputs, inputs, operations: Vec::new(), temporaries: 0 };
        for output in 0..this.outputs.len() {
            for _ in 0..random.below(3) {
                let target = Place::Temporary(this.temporaries);
                this.operation(random, target);
                this.temporaries += 1;
            }
            let last = output + 1 == this.outputs.len();
            if !last && random.below(4) == 0 {
                let source = Place::Input(random.below(this.inputs.len()));
                let copy = Operation { factor: None, target: Place::Output(output), sources: vec![source] };
                this.operations.push(copy);
            } else {
                this.operation(random, Place::Output(output));
            }
        }
        this
    }

    fn operation(&mut self, random: &mut Random, target: Place) {
        let second = random.below(self.inputs.len());
        let chained = !matches!(target, Place::Output(index) if index + 1 < self.outputs.len());
        let first = match self.temporaries.checked_sub(1) {
            Some(previous) if chained => Place::Temporary(previous),
            _ => Place::Input((second + 1) % self.inputs.len()),
        };
        let factor = Some(*random.one_of(&[3, 5, 7, 9]));
        self.operations.push(Operation { factor, target, sources: vec![first, Place::Input(second)] });
    }

    fn name(&self, place: Place) -> String {
        match place {
            Place::Output(index) => format!("%{index}"),
            Place::Input(index) => format!("%{}", self.outputs.len() + index),
            Place::Temporary(index) => format!("t{index}"),
        }
    }

    /// The statement on one line.
    fn text(&self) -> String {
        let mut template = String::from("{ ");
        for index in 0..self.temporaries {
            write!(template, ".reg .u32 t{index}; ").unwrap();
        }
        for operation in &self.operations {
            let name = |place: Place| self.name(place);
            let (target, first) = (name(operation.target), name(operation.sources[0]));
            match operation.factor {
                None => write!(template, "mov.b32 {target}, {first}; ").unwrap(),
                Some(factor) => {
                    let second = name(operation.sources[1]);
                    write!(template, "mad.lo.u32 {target}, {first}, {factor}, {second}; ").unwrap();
                }
            }
        }
        let list = |mode: &str, variables: &[usize]| -> String {
            let operands: Vec<String> =
                variables.iter().map(|index| format!("\"{mode}r\"(x{index})")).collect();
            operands.join(", ")
        };
        format!("asm(\"{template}}}\" : {} : {});", list("=", &self.outputs), list("", &self.inputs))
    }

    /// The outputs after execution with the registers that `register` gives to the places.
    fn outputs(&self, register: impl Fn(Place) -> String, values: &[u32]) -> Vec<u32> {
        let mut state: HashMap<String, u32> = HashMap::new();
        for (index, variable) in self.inputs.iter().enumerate() {
            state.insert(register(Place::Input(index)), values[*variable]);
        }
        for Operation { factor, target, sources } in &self.operations {
            let read: Vec<u32> = sources
                .iter()
                .map(|place| state.get(&register(*place)).copied().unwrap_or(0xdead_beef))
                .collect();
            let value = match factor {
                Some(factor) => read[0].wrapping_mul(*factor).wrapping_add(read[1]),
                None => read[0],
            };
            state.insert(register(*target), value);
        }
        (0..self.outputs.len()).map(|index| state[&register(Place::Output(index))]).collect()
    }

    fn right(&self, values: &[u32]) -> Vec<u32> {
        self.outputs(|place| self.name(place), values)
    }

    /// Whether some output and some input in one register give a wrong result.
    fn can_go_wrong(&self, values: &[u32]) -> bool {
        let pairs = (0..self.outputs.len()).flat_map(|o| (0..self.inputs.len()).map(move |i| (o, i)));
        pairs.into_iter().any(|(output, input)| {
            let joined = |place: Place| match place {
                Place::Output(index) if index == output => self.name(Place::Input(input)),
                other => self.name(other),
            };
            self.outputs(joined, values) != self.right(values)
        })
    }
}

const VALUES: [u32; 5] = [0x1234_5678, 0x9e37_79b9, 0x0bad_cafe, 0x7f4a_7c15, 0xf39c_c060];

/// A source with one kernel a statement, in which variables are updated under a condition in a loop.
fn source(statements: &[Generated]) -> String {
    let mut source = String::new();
    for (index, statement) in statements.iter().enumerate() {
        writeln!(
            source,
            "extern \"C\" __global__ void k{index}(unsigned *p, int n) {{\n\
             unsigned x0 = p[0], x1 = p[1], x2 = p[2], x3 = p[3], x4 = p[4];\n\
             for (int i = 0; i < n; i++) if (p[i + 8] > i) {}\n\
             p[0] = x0; p[1] = x1; p[2] = x2; p[3] = x3; p[4] = x4;\n}}",
            statement.text()
        )
        .unwrap();
    }
    source
}

/// The statements, by number, that are reported.
fn reported(source: &str) -> HashSet<usize> {
    let index = LineIndex::new(source);
    let found = check_cuda(source, &CudaConfig::default());
    let early = found.iter().filter(|found| found.rule == "asm-missing-early-clobber");
    early.map(|found| (index.position(found.span.start).line as usize - 1) / 5).collect()
}

/// The source with the fixes of early clobbers.
fn fixed(source: &str) -> String {
    let found = check_cuda(source, &CudaConfig::default());
    let mut edits: Vec<_> =
        found.into_iter().filter_map(|found| found.fix).flat_map(|fix| fix.edits).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = source.to_owned();
    for edit in edits {
        text.replace_range(edit.span.range(), &edit.replacement);
    }
    text
}

fn statements() -> Vec<Generated> {
    let mut random = Random(20_261_121);
    (0..150).map(|_| Generated::new(&mut random)).collect()
}

#[test]
fn what_is_reported_can_go_wrong_and_nothing_else() {
    let statements = statements();
    let text = source(&statements);
    let reported = reported(&text);
    assert!((20..130).contains(&reported.len()), "{} of {} are reported", reported.len(), statements.len());
    for (index, statement) in statements.iter().enumerate() {
        let wrong = statement.can_go_wrong(&VALUES);
        assert_eq!(reported.contains(&index), wrong, "{}", statement.text());
    }
    assert!(self::reported(&fixed(&text)).is_empty());
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn nvcc_goes_wrong_only_where_something_is_reported() {
    let nvcc = needed_nvcc();
    let statements = statements();
    let text = source(&statements);
    let reported = reported(&text);
    let wrong = wrong_in(&nvcc, &text, &statements);
    let missed: Vec<String> = wrong.difference(&reported).map(|index| statements[*index].text()).collect();
    assert!(missed.is_empty(), "nvcc goes wrong, and nothing is reported:\n{}", missed.join("\n"));
    println!(
        "{} statements, reported {}, wrong in the PTX {}",
        statements.len(),
        reported.len(),
        wrong.len()
    );
    assert!(wrong.len() * 4 > reported.len(), "nvcc goes wrong in {} of {}", wrong.len(), reported.len());
    let still: Vec<usize> = wrong_in(&nvcc, &fixed(&text), &statements).into_iter().collect();
    assert!(still.is_empty(), "nvcc goes wrong in fixed statements: {still:?}");
}

/// The statements for which the emitted PTX computes something else.
fn wrong_in(nvcc: &Path, text: &str, statements: &[Generated]) -> HashSet<usize> {
    let folder = tempfile::tempdir().unwrap();
    let (file, ptx) = (folder.path().join("generated.cu"), folder.path().join("generated.ptx"));
    std::fs::write(&file, text).unwrap();
    let output = Command::new(nvcc).args(["-ptx", "-arch=sm_90", "-o"]).args([&ptx, &file]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ptx = std::fs::read_to_string(&ptx).unwrap();
    let mut wrong = HashSet::new();
    let mut seen = 0;
    for kernel in ptx.split(".visible .entry k").skip(1) {
        let digits = kernel.bytes().take_while(u8::is_ascii_digit).count();
        let index: usize = kernel[..digits].parse().unwrap();
        for copy in kernel.split("// begin inline asm").skip(1) {
            let emitted = copy.split("// end inline asm").next().unwrap();
            let registers = registers(&statements[index], emitted);
            let result = statements[index].outputs(|place| registers[&place].clone(), &VALUES);
            seen += 1;
            if result != statements[index].right(&VALUES) {
                wrong.insert(index);
            }
        }
    }
    assert!(seen >= statements.len(), "{seen} statements in the emitted PTX");
    wrong
}

/// Which register stands for each place in the emitted text.
fn registers(statement: &Generated, emitted: &str) -> HashMap<Place, String> {
    let parts = emitted.trim().trim_matches(['{', '}']).split(';').map(str::trim);
    let instructions = parts.filter(|part| !part.is_empty() && !part.starts_with(".reg"));
    let mut registers: HashMap<Place, String> = HashMap::new();
    for (operation, instruction) in statement.operations.iter().zip(instructions) {
        let operands: Vec<&str> = instruction.split_once(' ').unwrap().1.split(',').map(str::trim).collect();
        assert_eq!(operands.len(), if operation.factor.is_some() { 4 } else { 2 }, "{instruction}");
        registers.insert(operation.target, operands[0].to_owned());
        registers.insert(operation.sources[0], operands[1].to_owned());
        if operation.factor.is_some() {
            registers.insert(operation.sources[1], operands[3].to_owned());
        }
    }
    for index in 0..statement.inputs.len() {
        registers.entry(Place::Input(index)).or_insert_with(|| format!("unused{index}"));
    }
    registers
}
