//! What kernels are started with.

use std::fmt;

use crate::emulate::{Buffer, Launch};
use crate::planted::Random;
use crate::random_kernel::{INPUT_WORDS, NUMBERS, OUTPUT_WORDS, PARAMETERS};

/// Where the buffers `in` and `out` are.
const INPUT: u64 = 0x1_0000_0000;
const OUTPUT: u64 = 0x1_0001_0000;

/// What a kernel is started with.
#[derive(Clone, Debug)]
pub struct Input {
    threads: u32,
    block: u32,
    blocks: u32,
    parameters: Vec<u64>,
    memory: Vec<Buffer>,
    seed: u64,
}

impl Input {
    /// The start of a kernel.
    #[must_use]
    pub fn launch<'i>(&'i self, kernel: &'i str, steps: usize) -> Launch<'i> {
        Launch {
            kernel,
            threads: self.threads,
            block: self.block,
            blocks: self.blocks,
            parameters: &self.parameters,
            memory: &self.memory,
            memory_is_set: true,
            seed: self.seed,
            steps,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads, a b c = {:?}", self.threads, &self.parameters[2..])
    }
}

/// The block's size that the text requires.
fn required(text: &str) -> Option<u32> {
    let (_, after) = text.split_once(".reqntid")?;
    after.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Inputs without end, the same in every run. Those that were of use are changed a little for the next ones.
#[derive(Debug)]
pub struct Inputs {
    random: Random,
    required: Option<u32>,
    named: Vec<u32>,
    useful: Vec<Input>,
    count: u64,
}

/// The most numbers that are taken out of a text.
const MAX_NUMBERS: usize = 64;

/// The numbers that a text names as operands.
fn numbers(text: &str) -> Vec<u32> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '%' | '$' | '_' | '.')));
    let mut found: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_NUMBERS);
    found
}

/// A number that a condition may look for.
fn number(random: &mut Random, named: &[u32]) -> u32 {
    match random.below(12) {
        0 => random.below(1 << 16) as u32 * 40_503,
        1 => u32::MAX - random.below(3) as u32,
        2 => random.below(130) as u32,
        // Next to what the kernel asks for.
        3..=5 if !named.is_empty() => {
            (*random.one_of(named)).wrapping_add(random.below(3) as u32).wrapping_sub(1)
        }
        _ => *random.one_of(&NUMBERS),
    }
}

impl Inputs {
    /// For the kernel of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let random = Random(0x2545_f491_4f6c_dd1d);
        Self { random, required: required(text), named: numbers(text), useful: Vec::new(), count: 0 }
    }

    /// Remembers an input that came somewhere new.
    pub fn keep(&mut self, input: Input) {
        self.useful.push(input);
    }

    fn fresh(&mut self) -> Input {
        let (random, named) = (&mut self.random, &self.named);
        let mut parameters = vec![INPUT, OUTPUT];
        parameters.extend((0..PARAMETERS).map(|_| u64::from(number(random, named))));
        let same = (random.below(5) == 0).then(|| number(random, named));
        let words = (0..INPUT_WORDS).map(|_| same.unwrap_or_else(|| number(random, named)));
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let blocks = 1 + random.below(3) as u32;
        let threads = *random.one_of(&[64, 32, 32, 32, 64, 64, 96, 128, 48, 40]);
        // Few blocks are large, since all their threads have to be executed.
        let threads = if random.below(16) == 0 { 640 + 384 * random.below(2) as u32 } else { threads };
        let threads = self.required.unwrap_or(threads);
        let block = random.below(blocks as usize) as u32;
        // Each thread has a word to write.
        let words = OUTPUT_WORDS.max(threads as usize);
        let memory = vec![Buffer::defined(INPUT, bytes), Buffer::defined(OUTPUT, vec![0; words * 4])];
        Input { threads, block, blocks, parameters, memory, seed: 0 }
    }

    fn changed(&mut self) -> Input {
        let mut input = self.random.one_of(&self.useful).clone();
        let (random, named) = (&mut self.random, &self.named);
        for _ in 0..1 + random.below(2) {
            let next = number(random, named);
            match random.below(4) {
                0 => {
                    let word = random.below(INPUT_WORDS) * 4;
                    input.memory[0].bytes[word..word + 4].copy_from_slice(&next.to_le_bytes());
                }
                1 => input.block = random.below(input.blocks as usize) as u32,
                _ => input.parameters[2 + random.below(PARAMETERS)] = u64::from(next),
            }
        }
        input
    }
}

impl Iterator for Inputs {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        let changes = !self.useful.is_empty() && self.random.below(2) == 0;
        let input = if changes { self.changed() } else { self.fresh() };
        self.count += 1;
        Some(Input { seed: self.count * 7919 + 1, ..input })
    }
}
