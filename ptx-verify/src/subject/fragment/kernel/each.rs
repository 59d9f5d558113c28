//! Loops over the elements of something.

use ptx_syntax::cuda::body::{Expression, ExpressionKind, Statement, StatementKind, Variable};

use super::statement::MAX_TURNS;
use super::types::Ty;
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, Unclear};

/// Names that no source has: of what is walked through, of where it is, and of where it ends.
const RANGE: &str = "for-range";
const AT: &str = "for-begin";
const END: &str = "for-end";

/// The elements of a vector.
const VECTOR: [&str; 4] = ["x", "y", "z", "w"];

impl<'s> Lowering<'_, 's> {
    /// A loop over the elements of an array, turn by turn; over those of an object as it says itself where they begin and end.
    pub(super) fn each(
        &mut self,
        variable: &Variable<'s>,
        of: &Expression<'s>,
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        if super::scope::has_label(body) {
            return Err(Unclear);
        }
        if let ExpressionKind::List(None, listed) = &of.kind {
            return self.each_of(variable, listed, body);
        }
        let mark = self.mark();
        let ty = self.place(of)?.ty().clone();
        self.back_to(mark);
        // `std::array` has one member.
        let mut of = of.clone();
        let ty = match ty {
            Ty::Structure(members) if members.name == "array" && members.all.len() == 1 => {
                let first = self.program.structure(members.structure).members.first().ok_or(Unclear)?;
                of = of.member(first.name);
                members.all[0].1.clone()
            }
            Ty::Structure(members) if !self.methods(&members, "begin").0.is_empty() => {
                return self.each_from(variable, &of, body);
            }
            other => other,
        };
        let Ty::Array(_, count) = ty else { return Err(Unclear) };
        if count > u64::from(MAX_TURNS) {
            return self.each_by_index(variable, &of, count, body);
        }
        let all: Vec<Expression<'s>> = (0..count).map(|index| of.element(index)).collect();
        self.each_of(variable, &all, body)
    }

    /// The same of an array with many elements, with the place that is counted.
    fn each_by_index(
        &mut self,
        variable: &Variable<'s>,
        of: &Expression<'s>,
        count: u64,
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        let names = self.names.len();
        let at = self.kept(Value::constant(0, Ty::UINT), false)?;
        self.names.push((AT, Binding::Place(at)));
        let at = Expression::named(AT, of.span);
        let end = at.with(ExpressionKind::Number { value: count, bits: 32, signed: false });
        let condition = at.with(ExpressionKind::Binary("<", Box::new(at.clone()), Box::new(end)));
        let step = at.with(ExpressionKind::Unary("++", Box::new(at.clone())));
        let value = at.with(ExpressionKind::Index(Box::new(of.clone()), Box::new(at.clone())));
        let own = Variable { value: Some(value), ..variable.clone() };
        let declared = Statement { kind: StatementKind::Declare(vec![own]), span: of.span };
        let all = Statement { kind: StatementKind::Block(vec![declared, body.clone()]), span: body.span };
        self.repeated(Some(&condition), Some(&step), &all)?;
        self.names.truncate(names);
        Ok(())
    }

    fn each_of(
        &mut self,
        variable: &Variable<'s>,
        all: &[Expression<'s>],
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        if all.len() as u64 > u64::from(MAX_TURNS) {
            return Err(Unclear);
        }
        let (names, end) = (self.names.len(), self.label());
        for each in all {
            self.declaration(&Variable { value: Some(each.clone()), ..variable.clone() })?;
            let next = self.label();
            self.in_loop(&next, &end, body)?;
            self.place_label(&next);
            self.names.truncate(names);
        }
        self.place_label(&end);
        Ok(())
    }

    /// `for (auto at = of.begin(), end = of.end(); at != end; ++at) { T each = *at; … }`
    fn each_from(
        &mut self,
        variable: &Variable<'s>,
        of: &Expression<'s>,
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        let names = self.names.len();
        let range = self.place_or_made(of)?;
        let range = match range {
            Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
            other => other,
        };
        self.names.push((RANGE, Binding::Place(range)));
        let named = |name: &'static str| Box::new(Expression::named(name, of.span));
        for (method, name) in [("begin", AT), ("end", END)] {
            let callee = named(RANGE).member(method);
            let call = callee.with(ExpressionKind::Call(Box::new(callee.clone()), Vec::new()));
            let value = self.value(&call)?;
            let place = self.kept(Self::decayed(value), false)?;
            self.names.push((name, Binding::Place(place)));
        }
        let made = |kind: ExpressionKind<'s>| named(AT).with(kind);
        let condition = made(ExpressionKind::Binary("!=", named(AT), named(END)));
        let step = made(ExpressionKind::Unary("++", named(AT)));
        let value = made(ExpressionKind::Unary("*", named(AT)));
        let own = Variable { value: Some(value), ..variable.clone() };
        let declared = Statement { kind: StatementKind::Declare(vec![own]), span: of.span };
        let all = Statement { kind: StatementKind::Block(vec![declared, body.clone()]), span: body.span };
        self.repeated(Some(&condition), Some(&step), &all)?;
        self.names.truncate(names);
        Ok(())
    }

    /// The members of an object, or the elements of a vector or of an array, if their number is `count`.
    pub(super) fn parts_of_place(&mut self, place: &Place, count: usize) -> Result<Vec<Place>, Unclear> {
        match place.ty().clone() {
            Ty::Structure(members) if members.all.len() == count => {
                members.all.iter().map(|(member, ..)| self.member(place.clone(), member)).collect()
            }
            Ty::Vector(_, own) if own as usize == count => {
                VECTOR.iter().take(count).map(|member| self.member(place.clone(), member)).collect()
            }
            Ty::Array(_, own) if own as usize == count => match place {
                Place::Parts(parts, _) => Ok(parts.clone()),
                _ => Err(Unclear),
            },
            _ => Err(Unclear),
        }
    }
}
