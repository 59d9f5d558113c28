//! The targets that a statement is for, and the condition that says so.

use ptx_ir::ir::Handle;
use ptx_ir::isa::Instance;
use ptx_ir::target::{Suffix, Target, TargetSet};

use super::unit::Unit;

/// The targets that have all instructions of a statement.
pub(crate) fn supported(unit: &Unit<'_>) -> TargetSet {
    let mut all = TargetSet::ALL;
    let Some((_, body)) = unit.function() else { return all };
    let module = &unit.lowered().module;
    for instruction in unit.instructions() {
        let instruction = &body.instructions[Handle::new(instruction)];
        let instances = &module.spellings[instruction.spelling].resolved.instances;
        // One that fits the operands may have come to some targets later than to others.
        if !instances.is_empty() {
            let of_one = |all: TargetSet, instance: &Instance| all.union(instance.targets);
            all = all.intersect(instances.iter().fold(TargetSet::NONE, of_one));
        }
    }
    all
}

/// How many targets a condition names one by one.
const MAX_NAMED: usize = 3;

/// The condition that is true where all these targets are, and for no other: none where that takes more than a line.
pub(crate) fn condition(targets: TargetSet) -> Option<String> {
    let mut left = targets;
    let mut parts = Vec::new();
    for (suffix, name) in
        [(Suffix::Plain, "__CUDA_ARCH__"), (Suffix::Family, "__CUDA_ARCH_FAMILY_SPECIFIC__")]
    {
        if let Some((part, of_part)) = range(left, suffix, name) {
            parts.push(part);
            left = left.iter().filter(|target| !of_part.contains(*target)).collect();
        }
    }
    // What is left is by itself.
    if left.len() > MAX_NAMED || left.iter().any(|target| target.suffix() != Suffix::Architecture) {
        return None;
    }
    parts.extend(left.iter().map(|target| format!("defined(__CUDA_ARCH_FEAT_SM{}_ALL)", target.number())));
    match parts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        // `&&` binds as is meant, and compilers want parentheses there.
        all => {
            let all =
                all.iter().map(|part| if part.contains("&&") { format!("({part})") } else { part.clone() });
            Some(all.collect::<Vec<_>>().join(" || "))
        }
    }
}

/// The condition for the targets with this suffix, where they follow each other, and all targets for which it is true.
fn range(targets: TargetSet, suffix: Suffix, name: &str) -> Option<(String, TargetSet)> {
    let mut of_kind = Target::all().filter(|target| target.suffix() == suffix).peekable();
    while of_kind.next_if(|target| !targets.contains(*target)).is_some() {}
    let first = of_kind.peek()?.number();
    let mut last = first;
    while let Some(target) = of_kind.next_if(|target| targets.contains(*target)) {
        last = target.number();
    }
    let is_open = of_kind.peek().is_none();
    if of_kind.any(|target| targets.contains(target)) {
        return None;
    }
    let least = format!("{name} >= {first}0");
    let part = match is_open {
        true => least,
        false if first == last => format!("{name} == {first}0"),
        false => format!("{least} && {name} <= {last}0"),
    };
    let holds = |target: &Target| {
        let is_named = suffix == Suffix::Plain || target.suffix() != Suffix::Plain;
        is_named && target.number() >= first && (is_open || target.number() <= last)
    };
    let all: TargetSet = Target::all().filter(holds).collect();
    // It must be true for none besides.
    let is_exact = all.iter().all(|target| targets.contains(target));
    is_exact.then_some((part, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> TargetSet {
        names.iter().map(|name| Target::parse(name).unwrap()).collect()
    }

    #[test]
    fn conditions_say_what_targets_have() {
        assert_eq!(condition(TargetSet::at_least(90)).unwrap(), "__CUDA_ARCH__ >= 900");
        assert_eq!(condition(set(&["sm_90a"])).unwrap(), "defined(__CUDA_ARCH_FEAT_SM90_ALL)");
        let two = condition(set(&["sm_100a", "sm_103a"])).unwrap();
        assert_eq!(two, "defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)");
        let family = set(&["sm_100f", "sm_100a", "sm_103f", "sm_103a"]);
        let least = "__CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000 && __CUDA_ARCH_FAMILY_SPECIFIC__ <= 1030";
        assert_eq!(condition(family).unwrap(), least);
        let with_other = set(&["sm_90a", "sm_100f", "sm_100a", "sm_103f", "sm_103a"]);
        assert_eq!(
            condition(with_other).unwrap(),
            format!("({least}) || defined(__CUDA_ARCH_FEAT_SM90_ALL)")
        );
        assert_eq!(condition(set(&["sm_120f", "sm_120a"])).unwrap(), "__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200");
    }
}
