//! Lambdas and functions as values, and templates of structures whose arguments their values tell.

use std::rc::Rc;

use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, StructureId, TemplateArgument, TypeName, Variable,
};

use super::types::{Given, Ty};
use super::value::Value;
use super::{Binding, Callable, Frame, Lambda, Lowering, Unclear};

/// Names for the arguments of a function's template.
const ARGUMENTS: [&str; 8] = ["$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7"];

impl<'a, 's> Lowering<'a, 's> {
    /// A lambda as a value, which is known wherever it is passed to: it has all that it names.
    pub(super) fn value_of_lambda(&self, lambda: &Lambda) -> Value {
        let mut closed = lambda.clone();
        let mentions = self.program.lambdas.get(lambda.number).map_or(&[][..], |known| &known.mentions);
        let seen = |index: &usize| lambda.hidden.iter().all(|hidden| !hidden.contains(index));
        for name in mentions {
            let is_kept = closed.captured.iter().any(|(known, _)| known == name);
            let mut around = lambda.names.clone().rev().filter(seen).filter_map(|at| self.names.get(at));
            if let Some((_, binding)) = around.find(|(known, _)| known == name && !is_kept) {
                closed.captured.push(((*name).to_owned(), binding.clone()));
            }
        }
        (closed.names, closed.hidden) = (0..0, Vec::new());
        Value::unknown(Ty::Callable(Rc::new(Callable::Lambda(closed))))
    }

    /// A function of the file as a value; none where no function has the name.
    pub(super) fn value_of_function(
        &mut self,
        name: &str,
        template: &[TemplateArgument<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let is_such = |function: &Function<'s>| function.owner.is_none() && function.name == name;
        if !self.program.functions.iter().any(is_such) {
            return Ok(None);
        }
        let given = self.types_or_numbers(template)?;
        Ok(Some(Value::unknown(Ty::Callable(Rc::new(Callable::Function(name.to_owned(), given))))))
    }

    /// A call of such a value.
    pub(super) fn called_value(
        &mut self,
        of: &Rc<Callable>,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let (name, own) = match &**of {
            Callable::Lambda(lambda) => return self.called_lambda(lambda.clone(), template, given),
            Callable::Function(name, own) => (name, own),
            // A static method, or one of another object, which the call does not name.
            Callable::Member(members, name) => {
                let (functions, owner) = self.methods(&Rc::clone(members), name);
                return self.inlined(&functions, template, given, Some((None, owner)), None);
            }
        };
        let is_such = |function: &&'a Function<'s>| function.owner.is_none() && function.name == *name;
        let functions: Vec<&'a Function<'s>> = self.program.functions.iter().filter(is_such).collect();
        let names = self.names.len();
        let mut arguments = Vec::new();
        for (index, each) in own.iter().enumerate() {
            let name = *ARGUMENTS.get(index).ok_or(Unclear)?;
            self.names.push((name, Binding::of(each)));
            arguments.push(TemplateArgument::Value(Expression::named(name, self.span)));
        }
        let value = self.inlined(&functions, &arguments, given, None, None);
        self.names.truncate(names);
        value
    }

    /// The type of a variable; of a template without arguments the one that its value tells.
    pub(super) fn ty_of_variable(
        &mut self,
        name: &TypeName<'s>,
        variable: &Variable<'s>,
    ) -> Result<Ty, Unclear> {
        match &variable.value {
            Some(value) => self.ty_of_object(name, value),
            None => self.ty(name),
        }
    }

    /// The type of an object that begins with a value.
    pub(super) fn ty_of_object(
        &mut self,
        name: &TypeName<'s>,
        value: &Expression<'s>,
    ) -> Result<Ty, Unclear> {
        let mark = self.mark();
        let found = self.ty(name);
        let of = match name {
            TypeName::Named(of, given) | TypeName::Scoped(_, of, given) if given.is_empty() => *of,
            _ => return found,
        };
        if found.is_ok() {
            return found;
        }
        self.back_to(mark);
        let program = self.program;
        if program.is_ambiguous(None, of) {
            return Err(Unclear);
        }
        let id = program.structure_in(None, of).or_else(|| program.nested(of)).ok_or(Unclear)?;
        if program.structure(id).template.is_empty() {
            return Err(Unclear);
        }
        self.deduced_structure(id, value)
    }

    /// `View v(a);`: the structure with the arguments that its constructors, or its members, deduce.
    fn deduced_structure(&mut self, id: StructureId, value: &Expression<'s>) -> Result<Ty, Unclear> {
        let listed = match &value.kind {
            ExpressionKind::List(_, listed) => listed.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let types = listed.iter().map(|each| self.type_of(each)).collect::<Result<Vec<_>, _>>()?;
        // A copy of another one.
        if let [only @ Ty::Structure(members)] = types.as_slice()
            && members.structure == id
        {
            return Ok(only.clone());
        }
        let structure = self.program.structure(id);
        let is_maker = |each: &&'a Function<'s>| each.owner == Some(id) && each.name == structure.name;
        let mut makers: Vec<Function<'s>> = Vec::new();
        for maker in self.program.functions.iter().filter(is_maker) {
            let needed =
                maker.parameters.iter().filter(|each| each.default.is_none() && !each.is_pack).count();
            if (needed..=maker.parameters.len()).contains(&types.len()) {
                let template = structure.template.iter().chain(&maker.template).cloned().collect();
                let parameters = maker.parameters.clone();
                makers.push(Function { template, parameters, ..Function::lambda(maker.span, Vec::new()) });
            }
        }
        let has_makers = self.program.functions.iter().any(|each| is_maker(&each));
        if !has_makers && structure.members.len() >= types.len() && structure.bases.is_empty() {
            let parameter = |member: &ptx_syntax::cuda::body::Member<'s>| ptx_syntax::cuda::body::Parameter {
                name: member.name,
                ty: member.ty.clone(),
                default: None,
                is_pack: false,
                is_read_only: false,
                is_constant: false,
            };
            let parameters = structure.members.iter().map(parameter).collect();
            let template = structure.template.clone();
            makers.push(Function { template, parameters, ..Function::lambda(self.span, Vec::new()) });
        }
        let mut found: Option<Vec<Given>> = None;
        for maker in &makers {
            let mark = self.mark();
            let given = self.deduced_arguments(id, maker, &types);
            self.back_to(mark);
            if let Ok(given) = given {
                if found.as_ref().is_some_and(|known| *known != given) {
                    return Err(Unclear);
                }
                found = Some(given);
            }
        }
        self.structure_given(id, found.ok_or(Unclear)?)
    }

    fn deduced_arguments(
        &mut self,
        id: StructureId,
        maker: &Function<'s>,
        types: &[Ty],
    ) -> Result<Vec<Given>, Unclear> {
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, ..Frame::default() });
        for (parameter, ty) in maker.parameters.iter().zip(types) {
            let ty = match (&parameter.ty, ty) {
                (TypeName::Reference(_), ty) => ty.clone(),
                (_, ty) => Self::decayed(Value::unknown(ty.clone())).ty,
            };
            self.deduce(maker, &parameter.ty, &ty)?;
        }
        let mut all = Vec::new();
        for parameter in &self.program.structure(id).template {
            let given = match (self.binding(parameter.name), &parameter.default) {
                (Some(binding), _) => binding.given()?,
                (None, Some(default)) => {
                    let binding = self.template_argument(default, parameter.is_type)?;
                    let given = binding.given()?;
                    self.names.push((parameter.name, binding));
                    given
                }
                (None, None) => return Err(Unclear),
            };
            all.push(given);
        }
        self.frames.pop();
        Ok(all)
    }
}
