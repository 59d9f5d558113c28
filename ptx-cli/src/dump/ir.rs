//! `dump --ir`: the typed representation.

use std::io::{self, Write};

use ptx_ir::ir::{Body, Function, Item, Module, Statement, Variable};

use super::operand::instruction;

/// Writes a module.
pub fn ir(out: &mut dyn Write, module: &Module) -> io::Result<()> {
    let header = &module.header;
    writeln!(out, "version {} target {} address {}", header.version, header.target, header.address_bits())?;
    for item in &module.items {
        match item {
            Item::Variable(handle) => writeln!(out, "{}", variable(module, &module.variables[*handle]))?,
            Item::Function(handle) => function(out, module, &module.functions[*handle])?,
            Item::Directive(directive) => writeln!(out, "directive {}", module.name(directive.word))?,
            Item::Alias { name, target, .. } => {
                writeln!(out, "alias {} = {}", module.name(*name), module.name(*target))?;
            }
            Item::Section(section) => {
                writeln!(
                    out,
                    "section {} of {} lines",
                    module.name(section.name),
                    section.text.lines().count()
                )?;
            }
        }
    }
    spellings(out, module)
}

/// A variable on one line.
fn variable(module: &Module, variable: &Variable) -> String {
    let name = module.name(variable.name);
    let size = variable.size().map_or_else(|| "?".to_owned(), |size| size.to_string());
    let linkage = variable.linkage.map_or("", |linkage| linkage.as_str());
    let (space, ty, align) = (variable.space, variable.ty, variable.alignment());
    let start = if variable.initializer.is_some() { " initialised" } else { "" };
    format!("variable {name} {linkage}{space} {ty} size {size} align {align}{start}")
}

fn function(out: &mut dyn Write, module: &Module, function: &Function) -> io::Result<()> {
    let linkage = function.linkage.map_or("", |linkage| linkage.as_str());
    writeln!(out, "{:?} {} {linkage}", function.kind, module.name(function.name))?;
    for (what, list) in [("returns", &function.returns), ("takes", &function.parameters)] {
        for handle in list {
            writeln!(out, "  {what} {}", variable(module, &module.variables[*handle]))?;
        }
    }
    match &function.body {
        Some(found) => body(out, module, found),
        None => Ok(()),
    }
}

fn body(out: &mut dyn Write, module: &Module, body: &Body) -> io::Result<()> {
    for statement in &body.statements {
        match statement {
            Statement::Instruction(handle) => {
                let mark =
                    if body.instructions[*handle].instance.is_none() { "  ; fits no form" } else { "" };
                writeln!(out, "  {:>5}: {}{mark}", handle.index(), instruction(module, body, *handle))?;
            }
            Statement::Label(label) => writeln!(out, "  {}:", module.name(body.labels[*label].name))?,
            Statement::Open => writeln!(out, "  {{")?,
            Statement::Close => writeln!(out, "  }}")?,
            Statement::Registers(group) => {
                let group = &body.registers[*group];
                let (name, first, count) = (module.name(group.name), group.first.0, group.len());
                writeln!(out, "  registers {name} {} {count} from #{first}", group.ty)?;
            }
            Statement::Variable(handle) => {
                writeln!(out, "  {}", variable(module, &module.variables[*handle]))?;
            }
            Statement::Directive(directive) => {
                writeln!(out, "  directive {}", module.name(body.directives[*directive].word))?;
            }
            Statement::Targets(list) => {
                writeln!(out, "  targets: {}", body.targets[*list].targets.len())?;
            }
            Statement::Prototype(handle) => {
                writeln!(out, "  prototype {}", module.name(module.functions[*handle].name))?;
            }
        }
    }
    Ok(())
}

/// Writes what each distinct spelling means.
fn spellings(out: &mut dyn Write, module: &Module) -> io::Result<()> {
    for (_, spelling) in module.spellings.iter() {
        writeln!(out, "spelling {}", spelling.text)?;
        for instance in spelling.resolved.instances.iter() {
            let count = instance.operands.len();
            write!(out, "  {} with {count} operands, PTX {}", instance.canonical, instance.min_version)?;
            writeln!(out, ", {}", instance.targets)?;
        }
        if let Some(problem) = &spelling.resolved.problem {
            writeln!(out, "  {problem:?}")?;
        }
    }
    Ok(())
}
