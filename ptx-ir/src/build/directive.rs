//! Directives of a function: how it may be launched, and hints for the compiler.
//!
//! PTX ISA manual, "Performance-Tuning Directives" and "Cluster Dimension Directives".

use super::error::BuildError;
use super::function::FunctionBuilder;
use super::module::ModuleBuilder;
use crate::directive::DirectiveKind;
use crate::ir::{Directive, DirectiveArgument, Statement};
use crate::target::Target;
use ptx_syntax::Span;

impl ModuleBuilder {
    /// Refuses a directive that the version or target of the module does not have.
    pub(super) fn require(&self, kind: DirectiveKind) -> Result<(), BuildError> {
        let header = &self.module.header;
        let (version, targets) = (kind.min_version(), kind.targets());
        if header.version >= version && targets.contains(header.target) {
            return Ok(());
        }
        let message = match targets.lowest() {
            Some(target) if target > Target::OLDEST => format!("needs PTX {version} and `{target}`"),
            _ => format!("needs PTX {version}"),
        };
        Err(BuildError::Directive { word: kind.word(), message })
    }
}

impl FunctionBuilder<'_> {
    /// `.maxntid x, y, z`: the most threads that a block of this kernel has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or [`required_threads`](Self::required_threads) was called before.
    pub fn max_threads(&mut self, threads: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::MaxThreads, &threads)
    }

    /// `.reqntid x, y, z`: the number of threads that a block of this kernel has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or [`max_threads`](Self::max_threads) was called before.
    pub fn required_threads(&mut self, threads: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::RequiredThreads, &threads)
    }

    /// `.minnctapersm n`: how many blocks a multiprocessor should have room for.
    ///
    /// # Errors
    /// This is no kernel, or the number is 0.
    pub fn min_blocks(&mut self, blocks: u32) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::MinBlocks, &[blocks])
    }

    /// `.maxnreg n`: how many registers a thread may have.
    ///
    /// # Errors
    /// This is no kernel, or the number is 0.
    pub fn max_registers(&mut self, registers: u32) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::MaxRegisters, &[registers])
    }

    /// `.reqnctapercluster x, y, z`: the number of blocks that a cluster has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or the version is below 7.8 or the target below `sm_90`.
    pub fn required_cluster(&mut self, blocks: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::RequiredCluster, &blocks)
    }

    /// `.maxclusterrank n`: the most blocks that a cluster has.
    ///
    /// # Errors
    /// As for [`required_cluster`](Self::required_cluster), with which it does not go.
    pub fn max_cluster(&mut self, blocks: u32) -> Result<(), BuildError> {
        self.launch_directive(DirectiveKind::MaxCluster, &[blocks])
    }

    fn launch_directive(&mut self, kind: DirectiveKind, numbers: &[u32]) -> Result<(), BuildError> {
        self.builder.require(kind)?;
        let word = kind.word();
        let error = |message: String| Err(BuildError::Directive { word, message });
        if !self.is_entry() {
            return error("only a kernel is launched".to_owned());
        }
        if numbers.contains(&0) {
            return error("the numbers are above 0".to_owned());
        }
        let module = &self.builder.module;
        let present = &module.functions[self.handle].directives;
        let clash = |other: &DirectiveKind| *other == kind || kind.excludes().contains(other);
        if let Some(other) = present.iter().filter_map(|directive| directive.kind).find(clash) {
            return error(format!("does not go with an earlier `{}`", other.word()));
        }
        let word = self.builder.intern(word);
        let arguments =
            numbers.iter().map(|&number| (DirectiveArgument::Integer(number.into()), Span::default()));
        let arguments = arguments.collect();
        let directive = Directive { kind: Some(kind), word, arguments, span: Span::default() };
        self.function().directives.push(directive);
        Ok(())
    }

    /// Adds a `.pragma` here.
    ///
    /// # Errors
    /// The text does not fit between quotes on one line.
    pub fn pragma(&mut self, text: &str) -> Result<(), BuildError> {
        let kind = DirectiveKind::Pragma;
        if text.contains(['"', '\\', '\n', '\r']) {
            let message = "the text does not fit between quotes".to_owned();
            return Err(BuildError::Directive { word: kind.word(), message });
        }
        let word = self.builder.intern(kind.word());
        let text = self.builder.intern(&format!("\"{text}\""));
        let arguments = vec![(DirectiveArgument::String(text), Span::default())];
        let directive = Directive { kind: Some(kind), word, arguments, span: Span::default() };
        let handle = self.body.directives.push(directive);
        self.body.statements.push(Statement::Directive(handle));
        Ok(())
    }
}
