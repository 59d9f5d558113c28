//! The rules, one a file. A new rule is its file, its `mod` and its line in [`ALL`].

mod carry_across_call;
mod carry_clobbered;
mod carry_polarity;
mod carry_undefined;
mod carry_unused;
mod constant_expression;
mod declaration;
mod duplicate_name;
pub(crate) mod guard_not_a_predicate;
mod immediate_value;
mod ineffective_modifier;
pub(crate) mod maybe_uninitialized_register;
mod misaligned_constant_offset;
mod missing_modifier;
mod modifier_conflict;
mod modifier_order;
mod noncanonical_order;
mod not_text;
mod operand_count;
mod operand_form;
mod operand_kind;
mod operand_type;
mod out_of_bounds_constant_offset;
mod repeated_modifier;
mod state_space_mismatch;
mod syntax;
pub(crate) mod target_too_low;
mod undeclared_label;
mod undeclared_name;
mod uninitialized_predicate;
pub(crate) mod uninitialized_register;
mod unknown_modifier;
mod unknown_opcode;
pub(crate) mod unknown_suppression;
pub(crate) mod unused_suppression;
mod vector_length;
pub(crate) mod version_too_low;

use crate::registry::Rule;

/// Every rule, in the order of the codes.
pub(crate) static ALL: &[&Rule] = &[
    &not_text::RULE,
    &syntax::RULE,
    &undeclared_name::RULE,
    &duplicate_name::RULE,
    &undeclared_label::RULE,
    &constant_expression::RULE,
    &operand_form::RULE,
    &declaration::RULE,
    &unknown_opcode::RULE,
    &unknown_modifier::RULE,
    &operand_type::RULE,
    &missing_modifier::RULE,
    &modifier_conflict::RULE,
    &modifier_order::RULE,
    &operand_count::RULE,
    &operand_kind::RULE,
    &vector_length::RULE,
    &immediate_value::RULE,
    &version_too_low::RULE,
    &target_too_low::RULE,
    &guard_not_a_predicate::RULE,
    &uninitialized_register::RULE,
    &maybe_uninitialized_register::RULE,
    &uninitialized_predicate::RULE,
    &carry_undefined::RULE,
    &carry_clobbered::RULE,
    &carry_polarity::RULE,
    &carry_across_call::RULE,
    &misaligned_constant_offset::RULE,
    &out_of_bounds_constant_offset::RULE,
    &state_space_mismatch::RULE,
    &ineffective_modifier::RULE,
    &noncanonical_order::RULE,
    &repeated_modifier::RULE,
    &carry_unused::RULE,
    &unknown_suppression::RULE,
    &unused_suppression::RULE,
];
