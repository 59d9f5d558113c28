//! What the operands of an instruction are, while it is written.

use lsp_types::{ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};
use ptx_ir::isa::{Instance, OpcodeId, resolve};
use ptx_syntax::Span;
use ptx_syntax::names::Instruction;

use super::access::operand_at;
use super::document::Document;
use super::part::Part;
use crate::manual::operand;

/// No more forms of a spelling are shown.
const MAX_FORMS: usize = 24;

/// The instruction whose operands are written at a byte of a text: its opcode is before it, its end is not.
pub fn instruction_before(part: &Part<'_>, at: u32) -> Option<Instruction> {
    let all = part.names.instructions();
    let after = all.partition_point(|each| each.opcode.start <= at);
    let found = *all.get(after.checked_sub(1)?)?;
    let ended = |end: u32| Span::new(end.saturating_sub(1), end).text(part.text) == ";";
    if at <= found.opcode.end || found.end <= at && ended(found.end) {
        return None;
    }
    let between = Span::new(found.end.min(at), at).text(part.text);
    between.trim().is_empty().then_some(found)
}

/// The forms of the instruction at a byte, with the operand that is written there.
pub fn help(document: &Document, offset: u32) -> Option<SignatureHelp> {
    let (part, at) = document.part_at(offset)?;
    let instruction = instruction_before(&part, at)?;
    let index = operand_at(part.text, instruction, at).index;
    let spelling = instruction.opcode.text(part.text);
    let instances = resolve(spelling).instances;
    let mut signatures: Vec<SignatureInformation> = Vec::new();
    for instance in instances.iter().filter(|instance| !instance.form.is_narrowed()) {
        let signature = of_instance(instance);
        if signatures.len() < MAX_FORMS && signatures.iter().all(|each| each.label != signature.label) {
            signatures.push(signature);
        }
    }
    if signatures.is_empty() {
        let opcode = OpcodeId::parse(spelling.split('.').next()?)?;
        let forms = opcode.forms().filter(|form| !form.is_narrowed());
        signatures.extend(forms.take(MAX_FORMS).map(|form| SignatureInformation {
            label: form.syntax().to_owned(),
            documentation: None,
            parameters: None,
            active_parameter: None,
        }));
    }
    let takes = |signature: &SignatureInformation| {
        signature.parameters.as_ref().is_some_and(|parameters| index < parameters.len())
    };
    let active = signatures.iter().position(takes).unwrap_or(0) as u32;
    Some(SignatureHelp { signatures, active_signature: Some(active), active_parameter: Some(index as u32) })
}

fn of_instance(instance: &Instance) -> SignatureInformation {
    let operands: Vec<String> = instance.operands.iter().map(operand).collect();
    let label = format!("{} {}", instance.canonical, operands.join(", "));
    let mut at = instance.canonical.len() as u32 + 1;
    let mut parameters = Vec::with_capacity(operands.len());
    for text in &operands {
        let end = at + text.encode_utf16().count() as u32;
        parameters.push(ParameterInformation {
            label: ParameterLabel::LabelOffsets([at, end]),
            documentation: None,
        });
        at = end + 2;
    }
    let needs = format!("since PTX {}, {}", instance.min_version, instance.targets);
    SignatureInformation {
        label: label.trim_end().to_owned(),
        documentation: Some(lsp_types::Documentation::String(needs)),
        parameters: Some(parameters),
        active_parameter: None,
    }
}
