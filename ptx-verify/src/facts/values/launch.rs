//! What a kernel says of the blocks that it is launched with.

use ptx_ir::ir::{Directive, DirectiveArgument};
use ptx_ir::special::SpecialRegister;

use super::number::Number;
use crate::facts::FunctionFacts;

/// The threads of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// There are no more, in all dimensions together.
    most: u64,
    /// How many there are in each dimension, where `.reqntid` tells it.
    exactly: Option<[u64; 3]>,
}

/// No target has larger blocks.
const MAX_THREADS: u64 = 1024;

impl Launch {
    /// Reads `.maxntid` and `.reqntid`. Functions may be called from any kernel.
    pub(crate) fn of(facts: &FunctionFacts<'_>) -> Self {
        let mut launch = Self { most: MAX_THREADS, exactly: None };
        for directive in &facts.function.directives {
            let exact = match facts.module.name(directive.word) {
                ".maxntid" => false,
                ".reqntid" => true,
                _ => continue,
            };
            let Some(threads) = threads(directive) else { continue };
            // The product is what is promised, and no extent by itself.
            launch.most = launch.most.min(threads.iter().copied().fold(1, u64::saturating_mul));
            if exact {
                launch.exactly = Some(threads);
            }
        }
        launch
    }

    /// What is known of a special register that tells of threads; none of others.
    pub(crate) fn number(self, register: SpecialRegister) -> Option<Number> {
        let (name, dimension) = register.name().split_once('.')?;
        let index = ["x", "y", "z"].iter().position(|each| *each == dimension)?;
        let limit = if index == 2 { 64 } else { MAX_THREADS };
        let most = match self.exactly {
            Some(threads) => threads[index],
            None => self.most,
        };
        // A kernel that cannot be launched promises nothing.
        let most = most.clamp(1, limit);
        match name {
            "%tid" => Some(Number::between(u32::BITS, 0, most - 1)),
            "%ntid" if self.exactly.is_some() => Some(Number::constant(u32::BITS, most)),
            "%ntid" => Some(Number::between(u32::BITS, 1, most)),
            _ => None,
        }
    }
}

/// The numbers of a directive; dimensions that it does not name are 1.
fn threads(directive: &Directive) -> Option<[u64; 3]> {
    let mut threads = [1; 3];
    for (index, (argument, _)) in directive.arguments.iter().enumerate() {
        let DirectiveArgument::Integer(value) = argument else { return None };
        *threads.get_mut(index)? = u64::try_from(*value).ok().filter(|value| *value > 0)?;
    }
    (!directive.arguments.is_empty()).then_some(threads)
}
