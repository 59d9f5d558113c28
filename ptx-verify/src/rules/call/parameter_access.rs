use ptx_facts::mentions::owner;
use ptx_facts::registers::aligned;
use ptx_ir::ir::{Body, Function, FunctionKind, Handle, Module, Operand, Variable};
use ptx_ir::isa::{Access, Class, Control, Instance, OperandSpec};
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports uses of `.param` variables that the calling convention leaves no room for. Arguments and results of
    /// a call may live in registers, so those of a body have no address, and they are set and read on every path or
    /// on none.
    ///
    /// | variable | not allowed |
    /// |---|---|
    /// | `.param` variable of a body | a guard on `st.param` and `ld.param`; its address, as in `mov.b64 %rd1, x`; `ld.param` where no call further up in the text returns it |
    /// | parameter of a function or kernel | `st.param` |
    /// | return value of a function | `ld.param` |
    /// | a register in a kernel | `.param::func` |
    ///
    /// A variable of a body that is named like a parameter counts as both. PTX ISA manual, section "Parameter State
    /// Space".
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .func f(.param .b32 a)
    /// {
    ///     ret;
    /// }
    /// .entry k(.param .b32 n)
    /// {
    ///     .reg .pred %p;
    ///     .reg .b32 %r1;
    ///     .param .b32 x;
    ///     ld.param.b32 %r1, [n];
    ///     setp.ne.b32 %p, %r1, 0;
    ///     @%p st.param.b32 [x], %r1;
    ///     call f, (x);
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func f(.param .b32 a)
    /// {
    ///     ret;
    /// }
    /// .entry k(.param .b32 n)
    /// {
    ///     .reg .pred %p;
    ///     .reg .b32 %r<3>;
    ///     .param .b32 x;
    ///     ld.param.b32 %r1, [n];
    ///     setp.ne.b32 %p, %r1, 0;
    ///     selp.b32 %r2, %r1, 1, %p;
    ///     st.param.b32 [x], %r2;
    ///     call f, (x);
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known. With an offset, even of 0, the assembler lets the address of such a variable pass.
    name: "parameter-access",
    code: "P0405",
    former: ["E0321"],
    class: Invalid,
    level: Error,
    summary: "a `.param` variable used as its place in a call does not allow",
    check: Function(check),
}

fn check(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let mut results = None;
    for (index, operand) in context.mentions.operands(context.body) {
        let (Operand::VariableAddress { variable, .. }
        | Operand::Variable { variable, .. }
        | Operand::Element { variable, .. }) = operand
        else {
            continue;
        };
        let handle = variable;
        let variable = &module.variables[handle];
        if variable.space.base() == StateSpace::Param && variable.function.is_some() {
            let mut returned_at = || {
                let results = results.get_or_insert_with(|| results_of_calls(context.body));
                results.get(&handle).copied()
            };
            out.extend(use_of(context, variable, index, &mut returned_at));
        }
    }
    // Hardly a module spells it, so the others pay nothing.
    if module.functions[context.handle].kind == FunctionKind::Entry
        && context.module.features().has(Features::FUNCTION_PARAMETERS)
    {
        registers_in_kernels(context, out);
    }
}

/// Addresses in registers with `.param::func`: only the parameters of a function may have them.
fn registers_in_kernels(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let (module, body) = (context.module.module, context.body);
    for (handle, instruction) in body.instructions.iter() {
        let space = |instance: &Instance| {
            instance.operands.iter().find_map(|spec| spec.access.filter(|access| access.space.is_some()))
        };
        let access = module.instance(instruction).and_then(space);
        if access.is_none_or(|access| access.space != Some(StateSpace::ParamFunc)) {
            continue;
        }
        let operands = body.operands(handle);
        let Some(at) = operands.iter().position(|each| matches!(each, Operand::RegisterAddress { .. }))
        else {
            continue;
        };
        let message = "a kernel has no `.param::func` memory that a register could point to";
        out.push(
            RULE.at(body.operand_span(handle, at), message)
                .with_help("parameters of a kernel are in `.param::entry`, those of a call have names"),
        );
    }
}

/// The variables that calls return, each with the first of these calls.
fn results_of_calls(body: &Body) -> FxHashMap<Handle<Variable>, u32> {
    let mut results = FxHashMap::default();
    for handle in body.instructions.handles() {
        // Other lists have no variables.
        let Some(Operand::List(list)) = body.operands(handle).first() else { continue };
        for child in body.children(*list) {
            if let Operand::Variable { variable, .. } = child {
                results.entry(*variable).or_insert(handle.index() as u32);
            }
        }
    }
    results
}

/// What is wrong with the operand at `index` of the body, which names `variable`. `returned_at` tells the first call that
/// returns it.
fn use_of(
    context: &FunctionContext<'_>,
    variable: &Variable,
    index: usize,
    returned_at: &mut dyn FnMut() -> Option<u32>,
) -> Option<Diagnostic> {
    let (module, body) = (context.module.module, context.body);
    let (handle, instruction) = owner(body, index)?;
    // Where the operands do not fit, that is reported.
    let instance = module.instance(instruction)?;
    if instance.effects.control == Control::Call {
        return None;
    }
    let operands = body.operands(handle);
    let position = index - instruction.operands.first as usize;
    let spec = if instance.operands.len() == operands.len() {
        instance.operands.get(position)
    } else {
        // Optional operands are left out.
        aligned(module, body, instance, operands).get(position).copied().flatten()
    };
    let usage = Usage {
        context,
        variable,
        name: module.name(variable.name),
        span: body.operand_span(handle, position),
        guarded: instruction.guard.is_some(),
    };
    match spec.and_then(|spec| spec.access) {
        Some(access) if access.reads || access.writes => usage.access(access).or_else(|| {
            if access.reads { usage.unreturned(handle.index() as u32, returned_at()) } else { None }
        }),
        // The address of any variable will do there, as the table says.
        Some(access) if access.space.is_none() && spec.is_some_and(takes_parameters) => None,
        _ => usage.address(operands[position]),
    }
}

fn takes_parameters(spec: &OperandSpec) -> bool {
    spec.accepts.contains(Class::Param)
}

/// One operand that names a `.param` variable.
struct Usage<'a> {
    context: &'a FunctionContext<'a>,
    variable: &'a Variable,
    name: &'a str,
    span: Span,
    guarded: bool,
}

impl Usage<'_> {
    fn function(&self) -> &Function {
        &self.context.module.module.functions[self.context.handle]
    }

    /// The assembler looks for a parameter by its name alone.
    fn is_among(&self, parameters: &[Handle<Variable>]) -> bool {
        let module: &Module = self.context.module.module;
        parameters.iter().any(|handle| module.variables[*handle].name == self.variable.name)
    }

    fn access(&self, access: Access) -> Option<Diagnostic> {
        let (name, function) = (self.name, self.function());
        if access.writes && self.is_among(&function.parameters) {
            let of = if function.kind == FunctionKind::Entry { "this kernel" } else { "this function" };
            return Some(self.at(format!("`{name}` is a parameter of {of}, which can only be read")).with_help(
                "load the parameter into a register and change that; a result goes into a return parameter",
            ));
        }
        if access.reads && self.is_among(&function.returns) {
            return Some(
                self.at(format!("`{name}` is a return value of this function, which can only be written"))
                    .with_help("keep the value in a register until it is stored"),
            );
        }
        if !self.guarded || self.variable.is_parameter {
            return None;
        }
        let help = if access.writes {
            "choose the value with `selp` and store it without a guard, or branch around the store"
        } else {
            "load without a guard and use the value under it, or branch around the load"
        };
        let verb = if access.writes { "stored to" } else { "loaded" };
        Some(
            self.at(format!("`{name}` belongs to a call and cannot be {verb} under a guard")).with_help(help),
        )
    }

    /// A result that is read though no call further up returns it, `call` being the first one that does. Of the text around
    /// an asm statement nothing is known.
    fn unreturned(&self, instruction: u32, call: Option<u32>) -> Option<Diagnostic> {
        let is_of_call = !self.variable.is_parameter && !self.is_among(&self.function().parameters);
        let is_returned = call.is_some_and(|call| call < instruction);
        if !is_of_call || is_returned || self.context.module.wanted.fragment.is_some() {
            return None;
        }
        let (name, body) = (self.name, self.context.body);
        let finding = self.at(format!("`{name}` is loaded, but no call further up in the text returns it"));
        Some(match call {
            Some(call) => {
                finding.with_secondary(body.span(Handle::new(call)), "this call returns it, further down")
            }
            None => finding.with_help("a variable of the function that no call needs is a `.local` variable"),
        })
    }

    fn address(&self, operand: Operand) -> Option<Diagnostic> {
        // `x+0` is the same number and passes.
        let plain = matches!(operand, Operand::Variable { offset: 0, zero: false, .. });
        let taken = plain || matches!(operand, Operand::VariableAddress { .. });
        if !taken || self.variable.is_parameter {
            return None;
        }
        let name = self.name;
        Some(
            self.at(format!("`{name}` belongs to a call and has no address"))
                .with_help("access it by its name; memory that has an address is a `.local` variable"),
        )
    }

    fn at(&self, message: String) -> Diagnostic {
        RULE.at(self.span, message).with_secondary(self.variable.span, "declared here")
    }
}
