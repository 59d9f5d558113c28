use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use crate::subject::protocol::OTHER_MAP_FENCE;
use ptx_facts::asynchronous::{Missing, stale_map};
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports a tensor copy by a map in global memory that the kernel has changed before, with `tensormap.replace` or
    /// `tensormap.cp_fenceproxy`, where no way between the two has the fence that makes the change known.
    ///
    /// ## Why is this bad
    /// What changes a map and what copies by it go through different proxies: the copy may go by the map as it was. Who changes it
    /// releases it with `fence.proxy.tensormap::generic.release`, which is part of `tensormap.cp_fenceproxy`, and who copies
    /// acquires it with `fence.proxy.tensormap::generic.acquire`. PTX ISA manual, sections "membar/fence" and "tensormap.replace".
    ///
    /// ## Example
    /// ```ptx
    /// .visible .entry k(.param .b64 map, .param .b64 data)
    /// {
    ///     .shared .align 128 .b8 tile[1024];
    ///     .reg .b64 %rd<3>;
    ///     .reg .b32 %r;
    ///     ld.param.b64 %rd1, [map];
    ///     ld.param.b64 %rd2, [data];
    ///     mov.b32 %r, 0;
    ///     tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;
    ///     fence.proxy.tensormap::generic.release.gpu;
    ///     cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r, %r}], [tile];
    ///     cp.async.bulk.commit_group;
    ///     cp.async.bulk.wait_group.read 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .entry k(.param .b64 map, .param .b64 data)
    /// {
    ///     .shared .align 128 .b8 tile[1024];
    ///     .reg .b64 %rd<3>;
    ///     .reg .b32 %r;
    ///     ld.param.b64 %rd1, [map];
    ///     ld.param.b64 %rd2, [data];
    ///     mov.b32 %r, 0;
    ///     tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;
    ///     fence.proxy.tensormap::generic.release.gpu;
    ///     fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
    ///     cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r, %r}], [tile];
    ///     cp.async.bulk.commit_group;
    ///     cp.async.bulk.wait_group.read 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Maps whose addresses do not come of one register, and those that another kernel changes. A fence that only some ways between
    /// the two have is taken for one that they need.
    name: "stale-tensor-map",
    code: "P0927",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a tensor copy by a map that was changed and not made known",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::TENSOR_MAPS) {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let Some(found) = stale_map(facts) else { return };
    if found.missing == Missing::Copy {
        let message =
            "this changes a tensor map in shared memory, and nothing copies it to where copies go by it";
        diagnostics.push(
            RULE.at(context.instruction_span(found.change), message)
                .with_secondary(
                    context.instruction_span(found.copy),
                    "this copy goes by a map in global memory",
                )
                .with_help("write `tensormap.cp_fenceproxy` after the change, in all threads of a warp"),
        );
        return;
    }
    let (message, help) = match found.missing {
        Missing::Copy => return,
        Missing::Release => (
            "this copy may go by the tensor map as it was: nothing releases the change",
            "write `fence.proxy.tensormap::generic.release.gpu` after the change",
        ),
        Missing::Acquire => (
            "this copy may go by the tensor map as it was: nothing acquires the change",
            "write `fence.proxy.tensormap::generic.acquire.gpu [map], 128` before the copy",
        ),
    };
    let told = RULE
        .at(context.instruction_span(found.copy), message)
        .with_secondary(context.instruction_span(found.change), "the map is changed here");
    let told = match found.other {
        Some(other) => told.with_secondary(context.instruction_span(other), OTHER_MAP_FENCE),
        None => told,
    };
    diagnostics.push(told.with_help(help));
}
