//! The targets that a statement is for, and the condition that says so.

use ptx_ir::ir::Handle;
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
        let chosen = match instruction.instance {
            Some(index) => instances.get(usize::from(index)..=usize::from(index)).unwrap_or(&[]),
            None => instances,
        };
        let Some(first) = chosen.first() else { continue };
        let of_one = chosen[1..].iter().fold(first.targets, |all, instance| all.union(instance.targets));
        all = all.intersect(of_one);
    }
    all
}

/// The condition that is true where all these targets are, and for no other: none where that takes more than a line.
pub(crate) fn condition(targets: TargetSet) -> Option<String> {
    [(Suffix::Plain, "__CUDA_ARCH__"), (Suffix::Family, "__CUDA_ARCH_FAMILY_SPECIFIC__")]
        .into_iter()
        .find_map(|(suffix, name)| range(targets, suffix, name))
        .or_else(|| {
            let of_one = |target: Target| format!("defined(__CUDA_ARCH_FEAT_SM{}_ALL)", target.number());
            let all: Vec<String> =
                targets.iter().filter(|target| target.suffix() == Suffix::Architecture).map(of_one).collect();
            (1..=3).contains(&all.len()).then(|| all.join(" || "))
        })
}

/// The condition for the targets with this suffix, where they follow each other.
fn range(targets: TargetSet, suffix: Suffix, name: &str) -> Option<String> {
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
    Some(match is_open {
        true => least,
        false if first == last => format!("{name} == {first}0"),
        false => format!("{least} && {name} <= {last}0"),
    })
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
        assert_eq!(condition(set(&["sm_120f", "sm_120a"])).unwrap(), "__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200");
    }
}
