//! Parameters that stand for several arguments, and what is done with all of them.

use std::rc::Rc;

use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, TemplateArgument, TemplateParameter, TypeName,
};

use super::types::Ty;
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, Unclear};

/// Arguments that one call gets of packs.
const NAMES: [&str; 32] = [
    "$0", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15",
    "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29", "$30",
    "$31",
];
/// Arguments that a pack of numbers stands for.
const MAX_SEQUENCE: u64 = 256;

/// An argument of a template: as it is written, or what it stands for.
enum Argument<'e, 's> {
    Written(&'e TemplateArgument<'s>),
    Known(Binding),
}

impl<'s> Lowering<'_, 's> {
    /// What the parameters of a template stand for.
    pub(super) fn template_bindings(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        given: &[TemplateArgument<'s>],
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        self.bound(parameters, given, true)
    }

    /// The same, of those that are given or of all.
    pub(super) fn bound(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        given: &[TemplateArgument<'s>],
        are_all: bool,
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        let mut flat = Vec::new();
        for each in given {
            match self.spread_argument(each)? {
                Some(all) => flat.extend(all.into_iter().map(Argument::Known)),
                None => flat.push(Argument::Written(each)),
            }
        }
        let mut flat = flat.into_iter();
        let mut bindings: Vec<(&'s str, Binding)> = Vec::new();
        let names = self.names.len();
        for parameter in parameters {
            if parameter.is_pack {
                // What a call says by its arguments is not known here.
                if !are_all && flat.len() == 0 {
                    break;
                }
                let mut all = Vec::new();
                for each in flat.by_ref() {
                    all.push(self.argument(each, parameter.is_type)?);
                }
                bindings.push((parameter.name, Binding::Pack(all)));
                continue;
            }
            let binding = match flat.next() {
                Some(each) => self.argument(each, parameter.is_type)?,
                None if !are_all => break,
                None => {
                    // It sees the parameters before it.
                    self.names.extend(bindings.iter().cloned());
                    let default = parameter.default.as_ref().ok_or(Unclear)?;
                    let binding = self.template_argument(default, parameter.is_type)?;
                    self.names.truncate(names);
                    binding
                }
            };
            bindings.push((parameter.name, binding));
        }
        if flat.next().is_some() && are_all { Err(Unclear) } else { Ok(bindings) }
    }

    fn argument(&mut self, each: Argument<'_, 's>, is_type: bool) -> Result<Binding, Unclear> {
        match each {
            Argument::Written(written) => self.template_argument(written, is_type),
            Argument::Known(binding) => Ok(binding),
        }
    }

    /// What an argument with dots stands for; none where it has none.
    fn spread_argument(&mut self, each: &TemplateArgument<'s>) -> Result<Option<Vec<Binding>>, Unclear> {
        let mut all = Vec::new();
        match each {
            TemplateArgument::Type(TypeName::Expand(of)) => {
                let mut mentioned = Vec::new();
                names_of_type(of, &mut mentioned);
                for turn in self.turns_of(&mentioned)? {
                    let names = self.names.len();
                    self.names.extend(turn);
                    let ty = self.ty(of);
                    self.names.truncate(names);
                    all.push(Binding::Type(ty?));
                }
            }
            TemplateArgument::Value(Expression { kind: ExpressionKind::Expand(of), .. }) => {
                if let ExpressionKind::Name(name, _) = of.kind
                    && let Some(Binding::Pack(all)) = self.binding(name)
                {
                    return Ok(Some(all.clone()));
                }
                let mut mentioned = Vec::new();
                names_of(of, &mut mentioned);
                for turn in self.turns_of(&mentioned)? {
                    let names = self.names.len();
                    self.names.extend(turn);
                    let value = self.value(of);
                    self.names.truncate(names);
                    let value = value?;
                    value.number().ok_or(Unclear)?;
                    all.push(Binding::Place(Place::Fixed(value)));
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(all))
    }

    /// For each argument that the packs among some names stand for, what these names stand for then.
    fn turns_of(&self, mentioned: &[&'s str]) -> Result<Vec<Vec<(&'s str, Binding)>>, Unclear> {
        let mut packs: Vec<(&'s str, &Vec<Binding>)> = Vec::new();
        for name in mentioned {
            if let Some(Binding::Pack(all)) = self.binding(name)
                && packs.iter().all(|(known, _)| known != name)
            {
                packs.push((name, all));
            }
        }
        let Some((_, first)) = packs.first() else { return Err(Unclear) };
        let count = first.len();
        if packs.iter().any(|(_, all)| all.len() != count) {
            return Err(Unclear);
        }
        let turn = |index: usize| packs.iter().map(|(name, all)| (*name, all[index].clone())).collect();
        Ok((0..count).map(turn).collect())
    }

    fn names_pack(&self, of: &Expression<'s>) -> bool {
        let mut mentioned = Vec::new();
        names_of(of, &mut mentioned);
        mentioned.iter().any(|name| matches!(self.binding(name), Some(Binding::Pack(_))))
    }

    /// The arguments of a call without dots: what those with dots stand for gets names, which are known until then.
    pub(super) fn without_dots(&mut self, given: &[Expression<'s>]) -> Result<Vec<Expression<'s>>, Unclear> {
        let (mut all, mut made) = (Vec::new(), Vec::new());
        for each in given {
            let ExpressionKind::Expand(of) = &each.kind else {
                all.push(each.clone());
                continue;
            };
            let mut mentioned = Vec::new();
            names_of(of, &mut mentioned);
            for turn in self.turns_of(&mentioned)? {
                let names = self.names.len();
                self.names.extend(turn);
                let found = match self.lambda(of) {
                    Some(lambda) => Ok(Binding::Lambda(lambda)),
                    None => self.place_or_made(of).map(Binding::Place),
                };
                self.names.truncate(names);
                let name = *NAMES.get(made.len()).ok_or(Unclear)?;
                made.push((name, found?));
                all.push(Expression::named(name, each.span));
            }
        }
        self.names.extend(made);
        Ok(all)
    }

    /// `(a + ... + b)`
    pub(super) fn fold(
        &mut self,
        operator: &'s str,
        of: &Expression<'s>,
        other: Option<&Expression<'s>>,
        is_left: bool,
    ) -> Result<Value, Unclear> {
        // Which of the two stands for several, the packs tell.
        let (of, other, is_left) = match other {
            Some(pack) if !self.names_pack(of) => (pack, Some(of), true),
            other => (of, other, is_left),
        };
        let mut mentioned = Vec::new();
        names_of(of, &mut mentioned);
        // A lambda that is called there names them in its body.
        if !self.names_pack(of) {
            let body = self.aim.source.get(of.span.start as usize..of.span.end as usize).unwrap_or_default();
            let words = body.split(|each: char| !each.is_alphanumeric() && each != '_');
            let words: std::collections::HashSet<&str> = words.collect();
            let packs = self.names.iter().filter(|(_, binding)| matches!(binding, Binding::Pack(_)));
            mentioned.extend(packs.map(|(name, _)| *name).filter(|name| words.contains(name)));
        }
        let mut turns = self.turns_of(&mentioned)?;
        if operator == "," {
            if let Some(first) = other.filter(|_| is_left) {
                self.value(first)?;
            }
            let mut last = Value::unknown(Ty::Void);
            for turn in turns {
                last = self.in_turn(turn, of)?;
            }
            if let Some(after) = other.filter(|_| !is_left) {
                last = self.value(after)?;
            }
            return Ok(last);
        }
        if matches!(operator, "&&" | "||") {
            return self.fold_truths(
                operator == "&&",
                (of, turns),
                other.filter(|_| is_left),
                other.filter(|_| !is_left),
            );
        }
        if matches!(operator, "-" | "/" | "%" | "<<" | ">>") && !is_left {
            return Err(Unclear);
        }
        let mut whole = match other {
            Some(first) if is_left => Some(self.value(first)?),
            _ => None,
        };
        for turn in turns.drain(..) {
            let value = self.in_turn(turn, of)?;
            whole = Some(match whole {
                Some(before) => self.computed(operator, before, value)?,
                None => self.copied(value)?,
            });
        }
        if let Some(last) = other.filter(|_| !is_left) {
            let value = self.value(last)?;
            whole = Some(match whole {
                Some(before) => self.computed(operator, before, value)?,
                None => value,
            });
        }
        whole.ok_or(Unclear)
    }

    fn in_turn(&mut self, turn: Vec<(&'s str, Binding)>, of: &Expression<'s>) -> Result<Value, Unclear> {
        let names = self.names.len();
        self.names.extend(turn);
        let value = self.value(of);
        self.names.truncate(names);
        value
    }

    /// One after the other, up to the one that decides.
    fn fold_truths(
        &mut self,
        is_and: bool,
        (of, turns): (&Expression<'s>, Vec<Vec<(&'s str, Binding)>>),
        first: Option<&Expression<'s>>,
        last: Option<&Expression<'s>>,
    ) -> Result<Value, Unclear> {
        let (kept, end) = (self.fresh(32)?, self.label());
        self.emit(&format!("mov.b32 {}, {};", kept.name(), u32::from(is_and)));
        let whole = Value { ty: Ty::BOOL, held: Held::Register(kept) };
        let alone = |each| (each, Vec::new());
        let all = first
            .map(alone)
            .into_iter()
            .chain(turns.into_iter().map(|turn| (of, turn)))
            .chain(last.map(alone));
        for (each, turn) in all {
            let value = self.in_turn(turn, each)?;
            let value = self.truth(value)?;
            let operand = self.operand(&value, 32)?;
            self.emit(&format!("mov.b32 {}, {operand};", kept.name()));
            self.branch(&whole, !is_and, &end)?;
        }
        self.place_label(&end);
        Ok(whole)
    }

    /// `std::make_index_sequence<N>` and its kin; none where a name is no such.
    pub(super) fn sequence(
        &mut self,
        name: &str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Option<Ty>, Unclear> {
        let is_typed = name.ends_with("integer_sequence");
        match name {
            "make_index_sequence" | "make_integer_sequence" => {
                let count = match given {
                    [count] | [_, count] => self.constant_argument(count)?,
                    _ => return Err(Unclear),
                };
                if count > MAX_SEQUENCE {
                    return Err(Unclear);
                }
                Ok(Some(Ty::Sequence(Rc::new((0..count).collect()))))
            }
            "index_sequence" | "integer_sequence" => {
                let given = given.get(usize::from(is_typed)..).unwrap_or_default();
                let mut all = Vec::new();
                for each in given {
                    let found = match self.spread_argument(each)? {
                        Some(found) => found,
                        None => vec![self.template_argument(each, false)?],
                    };
                    for each in found {
                        let Binding::Place(Place::Fixed(value)) = each else { return Err(Unclear) };
                        all.push(value.number().ok_or(Unclear)?);
                    }
                }
                Ok(Some(Ty::Sequence(Rc::new(all))))
            }
            _ => Ok(None),
        }
    }

    /// What a sequence that is given says about the pack of a function's template.
    pub(super) fn deduce_sequence(
        &mut self,
        function: &Function<'s>,
        parameter: &[TemplateArgument<'s>],
        all: &[u64],
    ) {
        let Some(TemplateArgument::Value(last)) = parameter.last().filter(|_| parameter.len() <= 2) else {
            return;
        };
        let ExpressionKind::Expand(of) = &last.kind else { return };
        let ExpressionKind::Name(name, _) = of.kind else { return };
        let own = function.template.iter().find(|each| each.is_pack && each.name == name);
        if let Some(own) = own.filter(|own| self.binding(own.name).is_none()) {
            let number = |number: &u64| Binding::Place(Place::Fixed(Value::constant(*number, Ty::SIZE)));
            self.names.push((own.name, Binding::Pack(all.iter().map(number).collect())));
        }
    }

    /// What a pack of a function's template stands for, which the arguments of a call tell.
    pub(super) fn deduced_pack(
        function: &Function<'s>,
        pack: &str,
        given: &[Binding],
    ) -> Result<Vec<Binding>, Unclear> {
        let last = function.parameters.last().filter(|last| last.is_pack);
        let of = last.map(|last| match &last.ty {
            TypeName::Reference(of) => &**of,
            other => other,
        });
        // `T*...`
        let (of, is_pointer) = match of {
            Some(TypeName::Pointer(of)) => (Some(&**of), true),
            of => (of, false),
        };
        if !matches!(of, Some(TypeName::Named(name, _)) if *name == pack) {
            // Of one that no parameter names there are no arguments.
            let is_named = function.parameters.iter().any(|each| mentions(&each.ty, pack));
            return if is_named { Err(Unclear) } else { Ok(Vec::new()) };
        }
        let type_of = |each: &Binding| match each {
            Binding::Place(place) => match place.ty() {
                Ty::Pointer(of, _) if is_pointer => (**of).clone(),
                _ if is_pointer => Ty::Any,
                ty => ty.clone(),
            },
            _ => Ty::Any,
        };
        Ok(given.iter().map(|each| Binding::Type(type_of(each))).collect())
    }
}

/// Whether a type has a name in it.
fn mentions(ty: &TypeName<'_>, name: &str) -> bool {
    let is_in = |given: &[TemplateArgument<'_>]| {
        given.iter().any(|each| match each {
            TemplateArgument::Type(ty) => mentions(ty, name),
            TemplateArgument::Value(value) => {
                let of = match &value.kind {
                    ExpressionKind::Expand(of) => of,
                    _ => value,
                };
                let mut all = Vec::new();
                names_of(of, &mut all);
                all.contains(&name)
            }
        })
    };
    match ty {
        TypeName::Named(known, given) => *known == name || is_in(given),
        TypeName::Scoped(owner, _, given) => mentions(owner, name) || is_in(given),
        TypeName::Pointer(of)
        | TypeName::Reference(of)
        | TypeName::Volatile(of)
        | TypeName::Expand(of)
        | TypeName::Array(of, _) => mentions(of, name),
        _ => false,
    }
}

/// The names in an expression.
fn names_of<'s>(of: &Expression<'s>, all: &mut Vec<&'s str>) {
    match &of.kind {
        ExpressionKind::Name(name, given) => {
            all.push(name);
            names_of_arguments(given, all);
        }
        ExpressionKind::Scoped { owner, template, .. } => {
            names_of_type(owner, all);
            names_of_arguments(template, all);
        }
        ExpressionKind::Member { object, template, .. } => {
            names_of(object, all);
            names_of_arguments(template, all);
        }
        ExpressionKind::Index(one, other)
        | ExpressionKind::Binary(_, one, other)
        | ExpressionKind::Assign(_, one, other) => {
            names_of(one, all);
            names_of(other, all);
        }
        ExpressionKind::Call(callee, given) => {
            names_of(callee, all);
            // Those with dots of their own are spread there.
            given.iter().filter(|each| !is_pack(each)).for_each(|each| names_of(each, all));
        }
        ExpressionKind::Unary(_, one) | ExpressionKind::Postfix(_, one) | ExpressionKind::SizeOf(one) => {
            names_of(one, all);
        }
        ExpressionKind::Choice(one, other, third) => {
            for each in [one, other, third] {
                names_of(each, all);
            }
        }
        ExpressionKind::Cast(ty, one) => {
            names_of_type(ty, all);
            names_of(one, all);
        }
        ExpressionKind::SizeOfType(ty) | ExpressionKind::AlignOfType(ty) => names_of_type(ty, all),
        ExpressionKind::List(ty, given) => {
            if let Some(ty) = ty {
                names_of_type(ty, all);
            }
            given.iter().filter(|each| !is_pack(each)).for_each(|each| names_of(each, all));
        }
        _ => {}
    }
}

fn names_of_arguments<'s>(given: &[TemplateArgument<'s>], all: &mut Vec<&'s str>) {
    for each in given {
        match each {
            TemplateArgument::Type(TypeName::Expand(_)) => {}
            TemplateArgument::Type(ty) => names_of_type(ty, all),
            TemplateArgument::Value(value) if !is_pack(value) => names_of(value, all),
            TemplateArgument::Value(_) => {}
        }
    }
}

fn names_of_type<'s>(of: &TypeName<'s>, all: &mut Vec<&'s str>) {
    match of {
        TypeName::Named(name, given) => {
            all.push(name);
            names_of_arguments(given, all);
        }
        TypeName::Scoped(owner, _, given) => {
            names_of_type(owner, all);
            names_of_arguments(given, all);
        }
        TypeName::Pointer(of) | TypeName::Reference(of) | TypeName::Volatile(of) | TypeName::Array(of, _) => {
            names_of_type(of, all);
        }
        _ => {}
    }
}

/// Whether an expression stands for several.
pub(super) fn is_pack(each: &Expression<'_>) -> bool {
    matches!(each.kind, ExpressionKind::Expand(_))
}

/// Whether an argument of a template stands for several.
pub(super) const fn spreads(argument: &TemplateArgument<'_>) -> bool {
    match argument {
        TemplateArgument::Type(TypeName::Expand(_)) => true,
        TemplateArgument::Value(value) => matches!(value.kind, ExpressionKind::Expand(_)),
        TemplateArgument::Type(_) => false,
    }
}
