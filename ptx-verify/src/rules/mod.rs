//! The rules, one a file. A new rule is its file, its `mod` and its line in [`ALL`].

mod alias;
mod alignment;
mod asm_carry_across_statements;
mod asm_clobber;
mod asm_code_in_comment;
mod asm_constraint;
pub(crate) mod asm_constraint_type_mismatch;
pub(crate) mod asm_control_flow_escape;
mod asm_duplicate_output_lvalue;
mod asm_generic_pointer_in_space;
pub(crate) mod asm_immediate_not_allowed;
mod asm_input_written;
mod asm_label_outside_scope;
mod asm_missing_comma;
mod asm_missing_early_clobber;
mod asm_missing_memory_clobber;
pub(crate) mod asm_missing_separator;
mod asm_operand_reference;
mod asm_output_conditionally_written;
mod asm_output_never_written;
mod asm_output_read_before_write;
mod asm_percent_escape;
pub(crate) mod asm_redeclared_register;
mod asm_register_outside_scope;
mod asm_side_effect_not_volatile;
mod asm_statement;
pub(crate) mod asm_target_feature;
pub(crate) mod asm_unexpanded_macro;
pub(crate) mod asm_unused_operand;
pub(crate) mod asm_uses_compiler_register;
mod asm_vanishing_escape;
mod attribute;
mod bulk_copy_no_wait;
mod call_signature;
mod carry_across_call;
mod carry_clobbered;
mod carry_polarity;
mod carry_undefined;
mod carry_unused;
mod constant_expression;
mod cp_async_no_wait;
mod dead_store;
mod debug_information;
mod declaration;
mod divergent_barrier;
mod duplicate_name;
mod function_directive;
pub(crate) mod guard_not_a_predicate;
mod immediate_out_of_range;
mod immediate_value;
mod incomplete_array;
mod ineffective_modifier;
mod initializer;
mod initializer_out_of_range;
mod linkage;
pub(crate) mod maybe_uninitialized_register;
mod mbarrier_initialized_twice;
mod mbarrier_misaligned;
mod mbarrier_uninitialized;
mod misaligned_constant_offset;
mod misread_operands;
mod missing_modifier;
mod missing_terminator;
mod mixed_cta_groups;
mod modifier_conflict;
mod modifier_order;
pub(crate) mod module_header;
mod noncanonical_order;
mod not_text;
mod operand_count;
mod operand_form;
mod operand_kind;
mod operand_type;
mod out_of_bounds_constant_offset;
mod packed_half_as_integer;
mod parameter;
mod parameter_access;
mod parameter_size;
pub(crate) mod pragma;
mod predicate_in_memory;
mod predicate_in_vector;
mod prototype_mismatch;
mod redeclaration;
mod repeated_modifier;
mod shadowed_declaration;
mod special_register_address;
mod state_space_mismatch;
mod syntax;
mod target_list;
mod target_mismatch;
pub(crate) mod target_too_low;
mod tcgen05_alloc_after_relinquish;
mod tcgen05_dealloc_mismatch;
mod tcgen05_missing_commit;
mod tcgen05_missing_dealloc;
mod tcgen05_missing_wait;
mod tcgen05_used_after_dealloc;
mod testp_without_test;
mod texture_mode;
mod undeclared_label;
mod undeclared_name;
mod uninitialized_predicate;
pub(crate) mod uninitialized_register;
mod unknown_modifier;
pub(crate) mod unknown_opcode;
pub(crate) mod unknown_suppression;
mod unreachable_code;
mod unset_call_argument;
mod unset_return_value;
mod unused_function;
mod unused_label;
mod unused_register;
pub(crate) mod unused_suppression;
mod unused_variable;
mod variable_space;
mod vector_length;
mod vector_width;
mod version_too_high;
pub(crate) mod version_too_low;
mod wgmma_missing_fence;
mod wgmma_missing_wait;

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
    &version_too_high::RULE,
    &target_too_low::RULE,
    &texture_mode::RULE,
    &misread_operands::RULE,
    &guard_not_a_predicate::RULE,
    &module_header::RULE,
    &target_mismatch::RULE,
    &predicate_in_memory::RULE,
    &variable_space::RULE,
    &vector_width::RULE,
    &alignment::RULE,
    &incomplete_array::RULE,
    &initializer::RULE,
    &attribute::RULE,
    &linkage::RULE,
    &redeclaration::RULE,
    &prototype_mismatch::RULE,
    &call_signature::RULE,
    &parameter::RULE,
    &parameter_size::RULE,
    &function_directive::RULE,
    &pragma::RULE,
    &debug_information::RULE,
    &alias::RULE,
    &target_list::RULE,
    &parameter_access::RULE,
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
    &divergent_barrier::RULE,
    &predicate_in_vector::RULE,
    &packed_half_as_integer::RULE,
    &testp_without_test::RULE,
    &unset_return_value::RULE,
    &unset_call_argument::RULE,
    &missing_terminator::RULE,
    &shadowed_declaration::RULE,
    &immediate_out_of_range::RULE,
    &initializer_out_of_range::RULE,
    &cp_async_no_wait::RULE,
    &bulk_copy_no_wait::RULE,
    &wgmma_missing_fence::RULE,
    &wgmma_missing_wait::RULE,
    &mbarrier_uninitialized::RULE,
    &mbarrier_misaligned::RULE,
    &mbarrier_initialized_twice::RULE,
    &tcgen05_missing_dealloc::RULE,
    &tcgen05_dealloc_mismatch::RULE,
    &tcgen05_used_after_dealloc::RULE,
    &tcgen05_alloc_after_relinquish::RULE,
    &tcgen05_missing_wait::RULE,
    &tcgen05_missing_commit::RULE,
    &mixed_cta_groups::RULE,
    &special_register_address::RULE,
    &noncanonical_order::RULE,
    &repeated_modifier::RULE,
    &ineffective_modifier::RULE,
    &carry_unused::RULE,
    &asm_missing_early_clobber::RULE,
    &asm_output_read_before_write::RULE,
    &asm_output_conditionally_written::RULE,
    &asm_output_never_written::RULE,
    &asm_input_written::RULE,
    &asm_side_effect_not_volatile::RULE,
    &asm_missing_memory_clobber::RULE,
    &asm_carry_across_statements::RULE,
    &asm_constraint_type_mismatch::RULE,
    &asm_constraint::RULE,
    &asm_clobber::RULE,
    &asm_operand_reference::RULE,
    &asm_percent_escape::RULE,
    &asm_missing_comma::RULE,
    &asm_statement::RULE,
    &asm_register_outside_scope::RULE,
    &asm_label_outside_scope::RULE,
    &asm_missing_separator::RULE,
    &asm_uses_compiler_register::RULE,
    &asm_control_flow_escape::RULE,
    &asm_duplicate_output_lvalue::RULE,
    &asm_unused_operand::RULE,
    &asm_generic_pointer_in_space::RULE,
    &asm_immediate_not_allowed::RULE,
    &asm_target_feature::RULE,
    &asm_unexpanded_macro::RULE,
    &asm_code_in_comment::RULE,
    &asm_vanishing_escape::RULE,
    &asm_redeclared_register::RULE,
    &unknown_suppression::RULE,
    &unused_suppression::RULE,
    &unreachable_code::RULE,
    &unused_register::RULE,
    &unused_label::RULE,
    &unused_variable::RULE,
    &unused_function::RULE,
    &dead_store::RULE,
];
