//! Directives of a function: how it may be launched, and hints for the compiler.
//!
//! PTX ISA manual, "Performance-Tuning Directives" and "Cluster Dimension Directives".

use super::error::BuildError;
use super::function::FunctionBuilder;
use crate::ir::{Directive, DirectiveArgument, Statement};
use crate::version::Version;
use ptx_syntax::Span;

impl FunctionBuilder<'_> {
    /// `.maxntid x, y, z`: the most threads that a block of this kernel has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or [`required_threads`](Self::required_threads) was called before.
    pub fn max_threads(&mut self, threads: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(".maxntid", &[".reqntid"], Version::new(1, 3), 0, &threads)
    }

    /// `.reqntid x, y, z`: the number of threads that a block of this kernel has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or [`max_threads`](Self::max_threads) was called before.
    pub fn required_threads(&mut self, threads: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(".reqntid", &[".maxntid"], Version::new(2, 1), 0, &threads)
    }

    /// `.minnctapersm n`: how many blocks a multiprocessor should have room for.
    ///
    /// # Errors
    /// This is no kernel, or the number is 0.
    pub fn min_blocks(&mut self, blocks: u32) -> Result<(), BuildError> {
        self.launch_directive(".minnctapersm", &[], Version::new(2, 0), 0, &[blocks])
    }

    /// `.maxnreg n`: how many registers a thread may have.
    ///
    /// # Errors
    /// This is no kernel, or the number is 0.
    pub fn max_registers(&mut self, registers: u32) -> Result<(), BuildError> {
        self.launch_directive(".maxnreg", &[], Version::new(1, 3), 0, &[registers])
    }

    /// `.reqnctapercluster x, y, z`: the number of blocks that a cluster has in each dimension.
    ///
    /// # Errors
    /// This is no kernel, a number is 0, or the version is below 7.8 or the target below `sm_90`.
    pub fn required_cluster(&mut self, blocks: [u32; 3]) -> Result<(), BuildError> {
        self.launch_directive(".reqnctapercluster", &[".maxclusterrank"], Version::new(7, 8), 90, &blocks)
    }

    /// `.maxclusterrank n`: the most blocks that a cluster has.
    ///
    /// # Errors
    /// As for [`required_cluster`](Self::required_cluster), with which it does not go.
    pub fn max_cluster(&mut self, blocks: u32) -> Result<(), BuildError> {
        self.launch_directive(".maxclusterrank", &[".reqnctapercluster"], Version::new(7, 8), 90, &[blocks])
    }

    fn launch_directive(
        &mut self,
        word: &'static str,
        excludes: &[&str],
        version: Version,
        target: u16,
        numbers: &[u32],
    ) -> Result<(), BuildError> {
        let header = &self.builder.module.header;
        let error = |message: String| Err(BuildError::Directive { word, message });
        if header.version < version || header.target.number() < target {
            return error(match target {
                0 => format!("needs PTX {version}"),
                _ => format!("needs PTX {version} and `sm_{target}`"),
            });
        }
        if !self.is_entry() {
            return error("only a kernel is launched".to_owned());
        }
        if numbers.contains(&0) {
            return error("the numbers are above 0".to_owned());
        }
        let module = &self.builder.module;
        for directive in &module.functions[self.handle].directives {
            let other = module.name(directive.word);
            if other == word || excludes.contains(&other) {
                return error(format!("does not go with an earlier `{other}`"));
            }
        }
        let word = self.builder.intern(word);
        let arguments =
            numbers.iter().map(|&number| (DirectiveArgument::Integer(number.into()), Span::default()));
        let directive = Directive { word, arguments: arguments.collect(), span: Span::default() };
        self.function().directives.push(directive);
        Ok(())
    }

    /// Adds a `.pragma` here.
    ///
    /// # Errors
    /// The text does not fit between quotes on one line.
    pub fn pragma(&mut self, text: &str) -> Result<(), BuildError> {
        if text.contains(['"', '\\', '\n', '\r']) {
            let message = "the text does not fit between quotes".to_owned();
            return Err(BuildError::Directive { word: ".pragma", message });
        }
        let word = self.builder.intern(".pragma");
        let text = self.builder.intern(&format!("\"{text}\""));
        let arguments = vec![(DirectiveArgument::String(text), Span::default())];
        let handle = self.body.directives.push(Directive { word, arguments, span: Span::default() });
        self.body.statements.push(Statement::Directive(handle));
        Ok(())
    }
}
