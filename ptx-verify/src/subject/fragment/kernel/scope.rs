//! The ends of scopes: destructors, and labels that `goto` names.

use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{Expression, ExpressionKind, Function, Statement, StatementKind, TypeName};

use super::types::{Members, Ty};
use super::value::{Place, Value};
use super::{Binding, Frame, Lambda, Lowering, Unclear};

/// The name of a destructor.
pub(super) const DESTRUCTOR: &str = "~";
/// The name of the operator that calls an object.
pub(super) const CALL: &str = "()";

impl<'a, 's> Lowering<'a, 's> {
    /// How many objects of the function have destructors that are to be called.
    pub(super) fn objects(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.objects.len())
    }

    /// Calls the destructors of the objects that a scope has declared.
    pub(super) fn end_scope(&mut self, before: usize) -> Result<(), Unclear> {
        self.destroy_down_to(before)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.objects.truncate(before);
        }
        Ok(())
    }

    /// Calls the destructors of objects, the last first; who goes another way has them still.
    pub(super) fn destroy_down_to(&mut self, before: usize) -> Result<(), Unclear> {
        for index in (before..self.objects()).rev() {
            let object = self.frames.last().and_then(|frame| frame.objects.get(index).cloned());
            let (place, members) = object.ok_or(Unclear)?;
            self.destroyed(place, &members)?;
        }
        Ok(())
    }

    /// Notes that the destructor of a variable is called at the end of its scope.
    pub(super) fn declare_object(&mut self, place: &Place) -> Result<(), Unclear> {
        let Ty::Structure(members) = place.ty().clone() else { return Err(Unclear) };
        let frame = self.frames.last_mut().ok_or(Unclear)?;
        // Where control may come to a label, the objects there are not known.
        if !frame.labels.is_empty() {
            return Err(Unclear);
        }
        frame.objects.push((place.clone(), members));
        Ok(())
    }

    /// Whether something is done where an object of a type ends.
    pub(super) fn is_destructible(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Structure(members) => {
                self.program.structure(members.structure).has_destructor
                    || members.bases.iter().any(|base| self.is_destructible(&Ty::Structure(Rc::clone(base))))
                    || members.all.iter().any(|(_, ty, _)| self.is_destructible(ty))
            }
            Ty::Array(of, _) => self.is_destructible(of),
            _ => false,
        }
    }

    /// One without a name is destroyed at once: that is not followed.
    pub(super) fn may_be_made(&mut self, ty: &Ty) -> Result<(), Unclear> {
        let is_elided = std::mem::take(&mut self.is_elided);
        if is_elided || !self.is_destructible(ty) { Ok(()) } else { Err(Unclear) }
    }

    fn destroyed(&mut self, place: Place, members: &Rc<Members>) -> Result<(), Unclear> {
        self.deeper()?;
        let program = self.program;
        let structure = program.structure(members.structure);
        if structure.has_destructor {
            let is_own = |function: &&'a Function<'s>| {
                function.owner == Some(members.structure) && function.name == DESTRUCTOR
            };
            let own: Vec<&'a Function<'s>> = program.functions.iter().filter(is_own).collect();
            let [_] = own.as_slice() else { return Err(Unclear) };
            let object = Some((Some(place.clone()), Rc::clone(members)));
            self.inlined(&own, &[], &[], object, None)?;
        }
        for member in structure.members.iter().rev().filter(|each| !super::types::is_unnamed(each.name)) {
            let part = self.member_itself(place.clone(), member.name)?;
            if let Ty::Structure(inner) = part.ty().clone()
                && self.is_destructible(part.ty())
            {
                self.destroyed(part, &inner)?;
            } else if self.is_destructible(part.ty()) {
                return Err(Unclear);
            }
        }
        for base in members.bases.iter().rev() {
            if self.is_destructible(&Ty::Structure(Rc::clone(base))) {
                let part = self.as_base(place.clone(), members, base)?;
                self.destroyed(part, base)?;
            }
        }
        self.shallower();
        Ok(())
    }

    /// `a.~T()`
    pub(super) fn destroyed_by_name(&mut self, place: &Place) -> Result<Value, Unclear> {
        if let Ty::Structure(members) = place.ty().clone() {
            self.destroyed(place.clone(), &members)?;
        }
        Ok(Value::unknown(Ty::Void))
    }

    /// `new (a) T(…)`: the pointer to what is made there. Who makes it ends it, if anybody does.
    pub(super) fn placed(
        &mut self,
        at: &Expression<'s>,
        ty: &TypeName<'s>,
        given: &Expression<'s>,
    ) -> Result<Value, Unclear> {
        let ty = self.ty(ty)?;
        let pointer = self.pointer(at)?;
        let Ty::Pointer(_, space) = pointer.ty else { return Err(Unclear) };
        let pointer = Value { ty: Ty::Pointer(Rc::new(ty.clone()), space), held: pointer.held };
        let ExpressionKind::List(_, listed) = &given.kind else { return Err(Unclear) };
        match (&ty, listed.as_slice()) {
            (Ty::Barrier, [count]) => {
                let address = self.shared_address(&pointer)?;
                let count = self.value(count)?;
                let count = self.operand(&count, 32)?;
                self.emit(&format!("mbarrier.init.shared.b64 [{address}], {count};"));
            }
            (Ty::Structure(members), _) => {
                let members = Rc::clone(members);
                let place = self.pointed(pointer.clone())?;
                // Nothing is said of what has no constructor.
                if !listed.is_empty() || !self.makers(&members).is_empty() || self.has_values(&members) {
                    self.constructed(&place, &members, Some(given))?;
                }
            }
            (_, []) => {}
            _ => {
                let place = self.pointed(pointer.clone())?;
                self.initialize(&place, given)?;
            }
        }
        Ok(pointer)
    }

    /// A label of the source.
    pub(super) fn label_of_source(&mut self, name: &str) -> Result<(), Unclear> {
        let label = self.label_named(name)?;
        let frame = self.frames.last_mut().ok_or(Unclear)?;
        let known = frame.labels.iter_mut().find(|(_, known, _)| *known == label).ok_or(Unclear)?;
        known.2 = true;
        self.has_returned = false;
        self.place_label(&label);
        Ok(())
    }

    pub(super) fn goto(&mut self, name: &str) -> Result<(), Unclear> {
        let label = self.label_named(name)?;
        self.emit(&format!("bra {label};"));
        Ok(())
    }

    fn label_named(&mut self, name: &str) -> Result<String, Unclear> {
        let frame = self.frames.last().ok_or(Unclear)?;
        if !frame.objects.is_empty() {
            return Err(Unclear);
        }
        if let Some((_, known, _)) = frame.labels.iter().find(|(known, ..)| known == name) {
            return Ok(known.clone());
        }
        let label = self.label();
        let frame = self.frames.last_mut().ok_or(Unclear)?;
        frame.labels.push((name.to_owned(), label.clone(), false));
        Ok(label)
    }

    /// What was left out may have had the label that a `goto` names.
    pub(super) fn all_labels_are_placed(&self) -> Result<(), Unclear> {
        let frame: &Frame = self.frames.last().ok_or(Unclear)?;
        if frame.labels.iter().all(|(.., is_placed)| *is_placed) { Ok(()) } else { Err(Unclear) }
    }

    /// Makes a name known that stands for a type from here on; of a type that is not understood the file may say more.
    pub(super) fn named_here(&mut self, name: &'s str, ty: &TypeName<'s>) {
        let mark = self.mark();
        let found = self.ty_in_memory(ty);
        self.back_to(mark);
        if let Ok(ty) = found {
            self.names.push((name, Binding::Type(ty)));
        }
    }

    /// Whether two colons stand in the source after what is there.
    pub(super) fn is_qualified(&self, span: Span) -> bool {
        self.aim.source.get(span.end as usize..).is_some_and(|after| after.trim_start().starts_with("::"))
    }

    /// Whether a type is a reference, by its own name or by another: `using reference = T&;`
    pub(super) fn is_reference(&self, ty: &TypeName<'s>) -> bool {
        let mut ty = ty;
        for _ in 0..MAX_ALIASES {
            let name = match ty {
                TypeName::Reference(_) => return true,
                TypeName::Named(name, given) if given.is_empty() => name,
                _ => return false,
            };
            let within = self.frames.last().and_then(Frame::within);
            let own = within.and_then(|id| {
                self.program.structure(id).aliases.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
            });
            let Some(aliased) = own.or_else(|| self.program.aliases.get(name)) else { return false };
            ty = aliased;
        }
        false
    }

    /// The lambda that a variable begins with.
    pub(super) fn lambda_of(&mut self, value: Option<&Expression<'s>>) -> Option<Lambda> {
        self.lambda(value?)
    }

    /// The lambda that an argument is, with what it sees.
    pub(super) fn lambda(&mut self, argument: &Expression<'s>) -> Option<Lambda> {
        match &argument.kind {
            ExpressionKind::Lambda(number) => {
                let frame = self.frames.last();
                let first = frame.map_or(0, |frame| frame.first_name);
                let hidden = frame.map_or_else(Vec::new, |frame| frame.hidden.clone());
                if hidden.len() > MAX_HIDDEN {
                    return None;
                }
                let object = frame.and_then(|frame| frame.object.clone());
                let names = first..self.names.len();
                let program = self.program;
                let mut captured = Vec::new();
                let is_constant = !program.lambdas.get(*number)?.is_mutable;
                for each in &program.lambdas.get(*number)?.captures {
                    let kept = self.captured(&each.value, each.is_reference, is_constant).ok()?;
                    captured.push((each.name.to_owned(), kept));
                }
                for name in &program.lambdas.get(*number)?.copies {
                    let is_own = captured.iter().any(|(known, _)| known == name);
                    let Some(Binding::Place(place @ Place::Register(..))) = self.binding(name) else {
                        continue;
                    };
                    if !is_own && matches!(place.ty(), Ty::Integer { .. } | Ty::Pointer(..)) {
                        let place = place.clone();
                        let value = self.read(&place).ok()?;
                        let kept = self.kept(value, is_constant).ok()?;
                        captured.push(((*name).to_owned(), Binding::Place(kept)));
                    }
                }
                Some(Lambda { number: *number, names, hidden, captured, object })
            }
            ExpressionKind::Name(name, given) if given.is_empty() => match self.binding(name)? {
                Binding::Lambda(lambda) => Some(lambda.clone()),
                _ => None,
            },
            // Which it stays.
            ExpressionKind::Call(callee, given) => match (&callee.kind, given.as_slice()) {
                (ExpressionKind::Name("move" | "forward", _), [only]) => self.lambda(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// A lambda, or what chooses a form of an instruction: they are passed on, and are in no memory.
    pub(super) fn without_place(&mut self, argument: &Expression<'s>) -> Option<Binding> {
        match self.lambda(argument) {
            Some(lambda) => Some(Binding::Lambda(lambda)),
            None => self.form(argument).map(Binding::Choice),
        }
    }

    /// What a lambda keeps: numbers and pointers are copies of what they are now.
    fn captured(
        &mut self,
        value: &Expression<'s>,
        is_reference: bool,
        is_constant: bool,
    ) -> Result<Binding, Unclear> {
        if let Some(lambda) =
            matches!(value.kind, ExpressionKind::Name(..)).then(|| self.lambda(value)).flatten()
        {
            return Ok(Binding::Lambda(lambda));
        }
        let place = self.place(value)?;
        if is_reference || !matches!(place.ty(), Ty::Integer { .. } | Ty::Pointer(..)) {
            return Ok(Binding::Place(place));
        }
        let value = self.read(&place)?;
        Ok(Binding::Place(self.kept(value, is_constant)?))
    }
}

/// Names of a type that stand for each other.
const MAX_ALIASES: usize = 8;
/// Lambdas in each other.
const MAX_HIDDEN: usize = 8;

/// Whether a label stands in a statement, which may stand in a function once.
pub(super) fn has_label(statement: &Statement<'_>) -> bool {
    match &statement.kind {
        StatementKind::Label(_) => true,
        StatementKind::Block(all) => all.iter().any(has_label),
        StatementKind::If { then, otherwise, .. } => {
            has_label(then) || otherwise.as_ref().is_some_and(|otherwise| has_label(otherwise))
        }
        StatementKind::Loop { body, .. }
        | StatementKind::DoWhile(body, _)
        | StatementKind::Each(_, _, body) => has_label(body),
        StatementKind::Switch(_, parts) => parts.iter().flat_map(|(_, all)| all).any(has_label),
        _ => false,
    }
}
