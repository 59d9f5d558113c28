//! The rules, in families, one a file. A new rule is its file and its name in the list below.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::rule::{Rule, RuleInfo};
use crate::subject::describe::edit_distance;

/// Declares the families and their rules: the modules, and the register of all rules.
macro_rules! rules {
    ($($family:ident { $($name:ident)* })*) => {
        $(pub(crate) mod $family {
            $(pub(crate) mod $name;)*
        })*

        /// Every rule, in the order of this list.
        static LISTED: &[&Rule] = &[$($(&$family::$name::RULE,)*)*];
    };
}

rules! {
    text {
        not_text syntax module_header target_mismatch target_list missing_terminator
    }
    instruction {
        constant_expression operand_form unknown_opcode unknown_modifier operand_type missing_modifier
        modifier_conflict modifier_order operand_count operand_kind vector_length immediate_value
        version_too_low version_too_high target_too_low texture_mode misread_operands
        guard_not_a_predicate predicate_in_vector packed_half_as_integer testp_without_test
        immediate_out_of_range special_register_address noncanonical_order repeated_modifier
        ineffective_modifier beyond_manual
    }
    declaration {
        undeclared_name duplicate_name undeclared_label declaration predicate_in_memory variable_space
        vector_width alignment incomplete_array initializer attribute linkage redeclaration
        function_directive pragma debug_information alias shadowed_declaration initializer_out_of_range
        unused_variable unused_function
    }
    call {
        prototype_mismatch call_signature parameter parameter_size parameter_access unset_return_value
        unset_call_argument indirect_call_mismatch
    }
    register {
        uninitialized_register maybe_uninitialized_register uninitialized_predicate unused_register
    }
    carry {
        carry_undefined carry_clobbered carry_polarity carry_across_call carry_unused
    }
    memory {
        misaligned_constant_offset out_of_bounds_constant_offset state_space_mismatch
        declared_alignment_too_low inconsistent_alignment read_only_load_of_written dead_store
    }
    control {
        divergent_barrier empty_lane_mask unreachable_code unused_label
    }
    asynchronous {
        cp_async_no_wait bulk_copy_no_wait wgmma_missing_fence wgmma_missing_wait mbarrier_uninitialized
        mbarrier_misaligned mbarrier_initialized_twice tcgen05_missing_dealloc tcgen05_dealloc_mismatch
        tcgen05_used_after_dealloc tcgen05_alloc_after_relinquish tcgen05_missing_wait
        tcgen05_missing_commit tcgen05_beyond_allocation tcgen05_missing_fence mixed_cta_groups
        missing_proxy_fence async_race mbarrier_phase mbarrier_unpublished mbarrier_bytes mbarrier_count barrier_deadlock cluster_lifetime
        protocol_not_analysed unordered_flag register_deadlock early_grid_read stale_tensor_map
    }
    asm {
        asm_missing_early_clobber asm_output_read_before_write asm_output_conditionally_written
        asm_output_never_written asm_input_written asm_side_effect_not_volatile
        asm_missing_memory_clobber asm_carry_across_statements asm_constraint_type_mismatch
        asm_constraint asm_clobber asm_operand_reference asm_percent_escape asm_missing_comma
        asm_statement asm_register_outside_scope asm_label_outside_scope asm_missing_separator
        asm_uses_compiler_register asm_control_flow_escape asm_duplicate_output_lvalue
        asm_unused_operand asm_generic_pointer_in_space asm_immediate_not_allowed asm_target_feature
        asm_unexpanded_macro asm_code_in_comment asm_operand_count asm_dialect asm_vanishing_escape asm_redeclared_register
    }
    suppression {
        unknown_suppression unused_suppression
    }
}

/// Every rule, in the order of the codes.
pub(crate) fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&Rule>> = LazyLock::new(|| {
        let mut all = LISTED.to_vec();
        all.sort_by_key(|rule| rule.info.code);
        all
    });
    &ALL
}

/// Every rule, in the order of the codes.
pub fn rules() -> impl Iterator<Item = &'static RuleInfo> {
    all().iter().map(|rule| &rule.info)
}

/// The rules by their names and codes, which comments may name in any number.
fn named() -> &'static FxHashMap<&'static str, &'static Rule> {
    static NAMED: LazyLock<FxHashMap<&str, &Rule>> = LazyLock::new(|| {
        let names = |rule: &'static Rule| std::iter::once(rule.info.name).chain(codes(&rule.info));
        all().iter().flat_map(|&rule| names(rule).map(move |name| (name, rule))).collect()
    });
    &NAMED
}

/// The rule with this name or code.
#[must_use]
pub fn find_rule(name: &str) -> Option<&'static RuleInfo> {
    let of_code = || {
        let code = (name.len() <= MAX_CODE).then(|| name.to_ascii_uppercase())?;
        named().get(code.as_str())
    };
    named().get(name).or_else(of_code).map(|rule| &rule.info)
}

/// No code has more letters.
const MAX_CODE: usize = 5;

/// The rule with this name.
pub(crate) fn of_name(name: &str) -> Option<&'static Rule> {
    named().get(name).copied()
}

/// The code of a rule and those that it had before.
fn codes(rule: &RuleInfo) -> impl Iterator<Item = &'static str> {
    std::iter::once(rule.code).chain(rule.former.iter().copied())
}

/// Longer names than this are compared with none.
const MAX_NAME: usize = 100;

/// The name of the rule that is spelled most like `name`, if one is near.
#[must_use]
pub fn nearest_rule(name: &str) -> Option<&'static str> {
    // A text of any length may stand where a name belongs; none of that length is near one.
    if name.len() > MAX_NAME {
        return None;
    }
    // Each letter that one of them has more is one to be written or left out.
    let most = name.len().max(3) / 3;
    let (distance, nearest) = rules()
        .filter(|rule| rule.name.len().abs_diff(name.len()) <= most)
        .map(|rule| (edit_distance(rule.name, name), rule.name))
        .min_by_key(|&(distance, _)| distance)?;
    (distance <= most).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::{codes, edit_distance, find_rule, nearest_rule, rules};
    use std::collections::BTreeSet;

    #[test]
    fn names_and_codes_are_unique() {
        let mut seen = BTreeSet::new();
        for rule in rules() {
            assert!(seen.insert(rule.name), "{} is twice", rule.name);
            for code in codes(rule) {
                assert!(seen.insert(code), "{code} is twice");
                assert_eq!(find_rule(code), find_rule(rule.name));
            }
            let (letter, digits) = rule.code.split_at(1);
            assert!(letter == "P" && digits.len() == 4 && digits.parse::<u32>().is_ok(), "{}", rule.code);
        }
    }

    #[test]
    fn every_page_has_its_headings() {
        for rule in rules() {
            let mut rest = rule.doc;
            for heading in [
                "## What it does",
                "## Why is this bad",
                "## Example",
                "## Use instead",
                "## What it may miss",
            ] {
                let at = rest.find(heading).unwrap_or_else(|| panic!("{} lacks `{heading}`", rule.name));
                rest = &rest[at..];
            }
            assert!(!rule.summary.ends_with('.') && !rule.summary.is_empty(), "{}", rule.name);
        }
    }

    /// The PTX blocks below a heading of a page, each as a module.
    fn blocks(doc: &str, heading: &str) -> Vec<String> {
        let Some((_, section)) = doc.split_once(heading) else { return Vec::new() };
        let section = section.split("\n ## ").next().unwrap_or(section);
        let fenced = section.split("```").collect::<Vec<_>>();
        fenced.iter().skip(1).step_by(2).filter_map(|block| block.strip_prefix("ptx\n")).map(module).collect()
    }

    /// Wraps an example into what it leaves out: a header, a kernel, declared registers.
    fn module(block: &str) -> String {
        let block: String =
            block.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
        if block.contains(".version") {
            return block;
        }
        let header = ".version 9.0\n.target sm_90a\n.address_size 64\n";
        let whole = block.contains(".entry") || block.contains(".func") || block.contains(".section");
        let declaration = |line: &&str| {
            line.starts_with('.') && ![".reg", ".pragma", ".loc "].iter().any(|word| line.starts_with(word))
        };
        if whole || block.lines().all(|line| declaration(&line)) {
            return format!("{header}{block}");
        }
        let (outside, inside): (Vec<&str>, Vec<&str>) = block.lines().partition(declaration);
        let registers =
            [("%p", "pred"), ("%r", "b32"), ("%rd", "b64"), ("%f", "f32"), ("%fd", "f64"), ("%h", "b16")];
        let used = |name: &str| {
            let numbered = |digit: char| block.contains(&format!("{name}{digit}"));
            ('0'..='9').any(numbered) && !block.contains(&format!("{name}<"))
        };
        let registers = registers.iter().filter(|(name, _)| used(name));
        let registers: String = registers.map(|(name, ty)| format!(".reg .{ty} {name}<16>;\n")).collect();
        let mut outside = outside.join("\n");
        for (name, declaration) in [
            ("global_array", "\n.global .align 16 .b8 global_array[64];"),
            ("helper", "\n.func helper()\n{\nret;\n}"),
        ] {
            if block.contains(name) {
                outside.push_str(declaration);
            }
        }
        let end = if block.trim_end().ends_with("ret;") { "" } else { "ret;\n" };
        format!(
            "{header}{outside}\n.entry example(.param .u64 p)\n{{\n{registers}{}\n{end}}}\n",
            inside.join("\n")
        )
    }

    #[test]
    fn examples_show_the_fault_and_its_cure() {
        let mut wrong = Vec::new();
        let mut config = crate::engine::levels::Config::default();
        for rule in rules() {
            if rule.default_level == crate::rule::Level::Allow {
                config.levels.set(rule.name, crate::rule::Level::Warn).unwrap();
            }
        }
        for rule in rules().filter(|rule| !rule.name.starts_with("asm-")) {
            for (heading, faulty) in [("## Example", true), ("## Use instead", false)] {
                for text in blocks(rule.doc, heading) {
                    let found = crate::check(&text, &config);
                    if found.iter().any(|each| each.rule == rule.name) != faulty {
                        let found: Vec<_> = found.iter().map(|each| (each.rule, &each.message)).collect();
                        wrong.push(format!("{} {heading}: {found:?}", rule.name));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_file_of_rules_is_registered() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let entries = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let families = entries(&folder).into_iter().filter(|path| path.is_dir());
        let files: BTreeSet<String> = families
            .flat_map(|family| entries(&family))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let names: BTreeSet<String> = rules().map(|rule| rule.name.replace('-', "_")).collect();
        assert_eq!(files, names);
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(nearest_rule("operand-tipe"), Some("operand-type"));
        assert_eq!(nearest_rule("something-else-entirely"), None);
    }
}
