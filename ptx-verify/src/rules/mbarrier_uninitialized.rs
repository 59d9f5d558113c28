use ptx_ir::ir::FunctionKind;
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::values::Object;
use crate::memory::Access;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an operation on an `mbarrier` object in a shared variable in a kernel that nowhere initialises
    /// an object of that variable.
    ///
    /// ## Why is this bad
    /// What lies in shared memory is no barrier until `mbarrier.init` makes it one; the behaviour is undefined.
    /// PTX ISA manual, section "mbarrier.init".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.arrive.shared.b64 %rd1, [bar];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.arrive.shared.b64 %rd1, [bar];
    /// ```
    ///
    /// ## What it may miss
    /// Kernels that call functions with such instructions, objects of dynamically indexed variables, and the order of the two.
    name: "mbarrier-uninitialized",
    code: "H0363",
    class: Hazard,
    level: Warn,
    summary: "an `mbarrier` object that is used though nothing initialises it",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let module = context.module.module;
    // A function may get its objects from elsewhere, and may initialise those of others.
    if !context.module.features().mbarrier
        || facts.function.kind != FunctionKind::Entry
        || !context.with_calls(&[]).is_empty()
    {
        return;
    }
    let inits = context.acting(AsyncGroup::Mbarrier, &[AsyncAction::Init]);
    let uses = context.acting(AsyncGroup::Mbarrier, &[AsyncAction::Arrive, AsyncAction::Test]);
    let (mut initialized, mut used): (Vec<_>, Vec<(_, &Access)>) = (Vec::new(), Vec::new());
    for access in context.accesses() {
        let Object::Variable(variable) = access.address.object else { continue };
        if inits.binary_search(&access.instruction).is_ok() {
            initialized.push(variable);
        } else if uses.binary_search(&access.instruction).is_ok() {
            used.push((variable, access));
        }
    }
    // An object that is not known may be any of them.
    if initialized.len() != inits.len() {
        return;
    }
    used.retain(|(variable, _)| !initialized.contains(variable));
    if let Some((variable, access)) = used.first() {
        let variable = &module.variables[*variable];
        let name = module.name(variable.name);
        let finding = RULE.at(access.span, format!("nothing initialises an `mbarrier` object in `{name}`"));
        diagnostics.push(
            finding
                .with_secondary(variable.span, "declared here")
                .with_help("initialise it with `mbarrier.init`"),
        );
    }
}
