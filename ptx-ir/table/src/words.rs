//! The words of `effect` clauses and after `as`, and the Rust expressions that they stand for.

const GROUPS: [(&str, &str); 9] = [
    ("cp-async", "CpAsync"),
    ("bulk", "Bulk"),
    ("wgmma", "Wgmma"),
    ("tcgen05-load", "Tcgen05Load"),
    ("tcgen05-store", "Tcgen05Store"),
    ("tcgen05", "Tcgen05"),
    ("tcgen05-allocation", "Tcgen05Allocation"),
    ("mbarrier", "Mbarrier"),
    ("fabric", "Fabric"),
];

const ACTIONS: [(&str, &str); 12] = [
    ("start", "Start"),
    ("commit", "Commit"),
    ("wait", "Wait"),
    ("wait-all", "WaitAll"),
    ("fence", "Fence"),
    ("fence-before", "FenceBefore"),
    ("fence-after", "FenceAfter"),
    ("init", "Init"),
    ("release", "Release"),
    ("relinquish", "Relinquish"),
    ("arrive", "Arrive"),
    ("test", "Test"),
];

const COMPUTATIONS: [(&str, &str); 45] = [
    ("move", "Move"),
    ("not", "Not"),
    ("and", "And"),
    ("or", "Or"),
    ("xor", "Xor"),
    ("add", "Add"),
    ("subtract", "Subtract"),
    ("negate", "Negate"),
    ("multiply", "Multiply"),
    ("multiply-wide", "MultiplyWide"),
    ("multiply-add", "MultiplyAdd"),
    ("multiply-add-wide", "MultiplyAddWide"),
    ("divide", "Divide"),
    ("remainder", "Remainder"),
    ("shift-left", "ShiftLeft"),
    ("shift-right", "ShiftRight"),
    ("permute", "Permute"),
    ("compare", "Compare"),
    ("select", "Select"),
    ("convert", "Convert"),
    ("to-generic", "ToGeneric"),
    ("from-generic", "FromGeneric"),
    ("map-rank", "MapRank"),
    ("exchange", "Exchange"),
    ("load", "Load"),
    ("logic3", "Logic3"),
    ("funnel-shift", "FunnelShift"),
    ("multiply-high", "MultiplyHigh"),
    ("dot-product-low", "DotProductLow"),
    ("dot-product-high", "DotProductHigh"),
    ("minimum", "Minimum"),
    ("maximum", "Maximum"),
    ("absolute", "Absolute"),
    ("count-ones", "CountOnes"),
    ("leading-zeros", "LeadingZeros"),
    ("highest-bit", "HighestBit"),
    ("reverse-bits", "ReverseBits"),
    ("extract-field", "ExtractField"),
    ("insert-field", "InsertField"),
    ("combine", "Combine"),
    ("vote", "Vote"),
    ("match", "Match"),
    ("reduce", "Reduce"),
    ("active-mask", "ActiveMask"),
    ("elect", "Elect"),
];

const RELATIONS: [(&str, &str); 14] = [
    ("equal", "Equal"),
    ("not-equal", "NotEqual"),
    ("less", "Less"),
    ("less-or-equal", "LessOrEqual"),
    ("greater", "Greater"),
    ("greater-or-equal", "GreaterOrEqual"),
    ("equal-or-unordered", "EqualOrUnordered"),
    ("not-equal-or-unordered", "NotEqualOrUnordered"),
    ("less-or-unordered", "LessOrUnordered"),
    ("less-or-equal-or-unordered", "LessOrEqualOrUnordered"),
    ("greater-or-unordered", "GreaterOrUnordered"),
    ("greater-or-equal-or-unordered", "GreaterOrEqualOrUnordered"),
    ("ordered", "Ordered"),
    ("unordered", "Unordered"),
];

const UPDATES: [(&str, &str); 10] = [
    ("add", "Add"),
    ("and", "And"),
    ("compare-exchange", "CompareExchange"),
    ("decrement", "Decrement"),
    ("exchange", "Exchange"),
    ("increment", "Increment"),
    ("maximum", "Maximum"),
    ("minimum", "Minimum"),
    ("or", "Or"),
    ("xor", "Xor"),
];

const MODES: [(&str, &str); 34] = [
    ("acquire", "Acquire"),
    ("all", "All"),
    ("and", "And"),
    ("any", "Any"),
    ("block-scope", "BlockScope"),
    ("butterfly", "Butterfly"),
    ("cluster-scope", "ClusterScope"),
    ("coherent", "Coherent"),
    ("device-scope", "DeviceScope"),
    ("distance", "Distance"),
    ("eight-addresses", "EightAddresses"),
    ("everywhere", "Everywhere"),
    ("higher-lane", "HigherLane"),
    ("indexed", "Indexed"),
    ("lower-lane", "LowerLane"),
    ("multicast", "Multicast"),
    ("or", "Or"),
    ("paired", "Paired"),
    ("plain-elements", "PlainElements"),
    ("read-only", "ReadOnly"),
    ("reads", "Reads"),
    ("relaxed", "Relaxed"),
    ("release", "Release"),
    ("right", "Right"),
    ("saturate", "Saturate"),
    ("shared-only", "SharedOnly"),
    ("sixteen-addresses", "SixteenAddresses"),
    ("system-scope", "SystemScope"),
    ("uncounted", "Uncounted"),
    ("uniform", "Uniform"),
    ("untested", "Untested"),
    ("volatile", "Volatile"),
    ("wrap", "Wrap"),
    ("xor", "Xor"),
];

const EVENTS: [(&str, &str); 23] = [
    ("grid-begin", "GridBegin"),
    ("grid-wait", "GridWait"),
    ("give-registers", "GiveRegisters"),
    ("take-registers", "TakeRegisters"),
    ("barrier-sync", "BarrierSync"),
    ("barrier-arrive", "BarrierArrive"),
    ("cluster-arrive", "ClusterArrive"),
    ("cluster-wait", "ClusterWait"),
    ("fence", "Fence"),
    ("proxy-fence", "ProxyFence"),
    ("global-proxy-fence", "GlobalProxyFence"),
    ("object-fence", "ObjectFence"),
    ("map-change", "MapChange"),
    ("map-publish", "MapPublish"),
    ("map-release", "MapRelease"),
    ("map-acquire", "MapAcquire"),
    ("break", "Break"),
    ("arrive", "Arrive"),
    ("arrive-expect", "ArriveExpect"),
    ("drop", "Drop"),
    ("drop-expect", "DropExpect"),
    ("expect", "Expect"),
    ("complete", "Complete"),
];

const EFFECTS: [(&str, &str); 25] = [
    ("carry-in", "Effect::CarryIn"),
    ("carry-out", "Effect::CarryOut"),
    ("chain-add", "Effect::Chain(Chain::Add)"),
    ("chain-sub", "Effect::Chain(Chain::Sub)"),
    ("branch", "Effect::Control(Control::Branch)"),
    ("indexed-branch", "Effect::Control(Control::IndexedBranch)"),
    ("call", "Effect::Control(Control::Call)"),
    ("return", "Effect::Control(Control::Return)"),
    ("exit", "Effect::Control(Control::Exit)"),
    ("trap", "Effect::Control(Control::Trap)"),
    ("atomic", "Effect::Atomic"),
    ("volatile", "Effect::Volatile"),
    ("barrier", "Effect::Barrier"),
    ("participants", "Effect::Convergence(Convergence::Participants)"),
    ("aligned", "Effect::Convergence(Convergence::Aligned)"),
    ("thread-dependent", "Effect::ThreadDependent"),
    ("async-proxy", "Effect::AsyncProxy"),
    ("reads-memory", "Effect::ReadsMemory"),
    ("writes-memory", "Effect::WritesMemory"),
    ("computes", ""),
    ("compares", ""),
    ("updates", ""),
    ("means", ""),
    ("event", ""),
    ("async", ""),
];

/// The lists of words that are asked for by what they are, and the constants that they become.
pub const LISTS: [(&str, &str); 4] =
    [("cta-groups", "CTA_GROUPS"), ("few-bits", "FEW_BITS"), ("nearest", "NEAREST"), ("vectors", "VECTORS")];

const PURPOSES: [(&str, &str); 16] = [
    ("accumulate", "Accumulate"),
    ("arrivals", "Arrivals"),
    ("barrier", "Barrier"),
    ("barrier-number", "BarrierNumber"),
    ("blocks", "Blocks"),
    ("bytes", "Bytes"),
    ("copy-destination", "CopyDestination"),
    ("descriptor", "Descriptor"),
    ("groups", "Groups"),
    ("parity", "Parity"),
    ("phase", "Phase"),
    ("registers", "Registers"),
    ("tensor-map", "TensorMap"),
    ("thread-mask", "ThreadMask"),
    ("threads", "Threads"),
    ("truth-table", "TruthTable"),
];

/// The words that give an operand or a form a meaning: with the type that has it in Rust, and the variant.
#[cfg(test)]
pub fn meanings() -> Vec<(&'static str, &'static str, &'static str)> {
    let tables: [(&'static str, &'static [(&'static str, &'static str)]); 8] = [
        ("Purpose", &PURPOSES),
        ("Computation", &COMPUTATIONS),
        ("Comparison", &RELATIONS),
        ("Update", &UPDATES),
        ("Mode", &MODES),
        ("Event", &EVENTS),
        ("AsyncGroup", &GROUPS),
        ("AsyncAction", &ACTIONS),
    ];
    let words = |(kind, table): (&'static str, &'static [(&'static str, &'static str)])| {
        table.iter().map(move |&(word, variant)| (word, kind, variant))
    };
    tables.into_iter().flat_map(words).collect()
}

/// The `Purpose` that a word after `as` names.
pub fn purpose(word: &str) -> Option<&'static str> {
    PURPOSES.iter().find(|(name, _)| *name == word).map(|(_, variant)| *variant)
}

/// The Rust expressions of effect words, or what is wrong with a word.
pub fn effects(words: &[String]) -> Result<Vec<String>, String> {
    let find = |table: &[(&str, &'static str)], word: &str| {
        table.iter().find(|(name, _)| *name == word).map(|pair| pair.1)
    };
    let mut expressions = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "computes" {
            let name = words.next().ok_or("`computes` needs what is computed")?;
            let name = find(&COMPUTATIONS, name).ok_or(format!("`{name}` is nothing that is computed"))?;
            expressions.push(format!("Effect::Computes(Computation::{name})"));
            continue;
        }
        if word == "compares" {
            let name = words.next().ok_or("`compares` needs a relation")?;
            let name = find(&RELATIONS, name).ok_or(format!("`{name}` is no relation"))?;
            expressions.push(format!("Effect::Compares(Comparison::{name})"));
            continue;
        }
        if word == "updates" {
            let name = words.next().ok_or("`updates` needs what is put there")?;
            let name = find(&UPDATES, name).ok_or(format!("`{name}` is no update"))?;
            expressions.push(format!("Effect::Updates(Update::{name})"));
            continue;
        }
        if word == "means" {
            let name = words.next().ok_or("`means` needs a meaning")?;
            let name = find(&MODES, name).ok_or(format!("`{name}` is no meaning"))?;
            expressions.push(format!("Effect::Means(Mode::{name})"));
            continue;
        }
        if word == "event" {
            let name = words.next().ok_or("`event` needs what happens")?;
            let name = find(&EVENTS, name).ok_or(format!("`{name}` is nothing that happens"))?;
            expressions.push(format!("Effect::Event(Event::{name})"));
            continue;
        }
        if word != "async" {
            expressions.push(find(&EFFECTS, word).ok_or(format!("`{word}` is no effect"))?.to_owned());
            continue;
        }
        let mut part = |table: &[(&str, &'static str)]| {
            let name = words.next().ok_or("`async` needs a group and an action")?;
            find(table, name).ok_or(format!("`{name}` is no part of an asynchronous effect"))
        };
        let (group, action) = (part(&GROUPS)?, part(&ACTIONS)?);
        expressions.push(format!("Effect::Async(AsyncGroup::{group}, AsyncAction::{action})"));
    }
    Ok(expressions)
}
