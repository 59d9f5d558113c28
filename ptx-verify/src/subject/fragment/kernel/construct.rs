//! How objects begin: what their members say, and what their constructors do.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, Function, StatementKind};

use super::call::is_not_understood;
use super::types::{Members, Ty};
use super::value::Place;
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// Makes an object: its members begin with what they say, and then its constructor does its work. `given` is what
    /// that gets; none where nothing is said.
    pub(super) fn constructed(
        &mut self,
        place: &Place,
        members: &Rc<Members>,
        given: Option<&Expression<'s>>,
    ) -> Result<(), Unclear> {
        if let Some(given) = given
            && let Some(plain) = self.without_designators(members, given)?
        {
            return self.constructed(place, members, Some(&plain));
        }
        let structure = self.program.structure(members.structure);
        // What the constructor begins is begun once. Where none takes what is given, it is the one that the compiler makes.
        let is_empty = match given.map(|given| &given.kind) {
            None => true,
            Some(ExpressionKind::List(_, listed)) => listed.is_empty(),
            Some(_) => false,
        };
        let mut own = self.makers(members);
        let takes_nothing = |function: &&Function<'s>| {
            function.parameters.iter().all(|each| each.default.is_some() || each.is_pack)
        };
        if is_empty && !own.iter().any(|function| takes_nothing(function) || is_not_understood(function)) {
            own.clear();
        }
        let begun = begun_by(&own);
        let begun_bases: Vec<_> = begun.iter().filter_map(|name| self.base_called(members, name)).collect();
        for base in members.bases.iter().filter(|base| !begun_bases.contains(base)) {
            let part = self.as_base(place.clone(), members, base)?;
            self.deeper()?;
            self.constructed(&part, base, None)?;
            self.shallower();
        }
        let mut late = Vec::new();
        for member in &structure.members {
            if begun.contains(&member.name) {
                continue;
            }
            let to = self.member_itself(place.clone(), member.name);
            if let Some(value) = &member.value {
                let (to, mark) = (to?, self.mark());
                let done = self.inside(members, Some(place), |lowering| lowering.initialize(&to, value));
                match done {
                    // It names what the constructor begins.
                    Err(Unclear) if only_begins(&own) => {
                        self.back_to(mark);
                        late.push((to, value));
                    }
                    done => done?,
                }
            } else if let Ok(to) = to
                && let Ty::Structure(inner) = to.ty().clone()
                && ((!own.is_empty() && !self.makers(&inner).is_empty()) || self.has_values(&inner))
            {
                self.deeper()?;
                self.constructed(&to, &inner, None)?;
                self.shallower();
            }
        }
        let listed: &[Expression<'s>] = match given.map(|given| &given.kind) {
            None => &[],
            Some(ExpressionKind::List(_, listed)) => listed,
            Some(_) => given.map_or(&[], std::slice::from_ref),
        };
        match (own.is_empty(), given) {
            (false, _) => {
                let object = Some((Some(place.clone()), Rc::clone(members)));
                self.inlined(&own, &[], listed, object, None)?;
                for (to, value) in late {
                    self.inside(members, Some(place), |lowering| lowering.initialize(&to, value))?;
                }
            }
            // It has the constructors of a base, and its own members begin with what they say.
            (true, Some(given)) if let Some(base) = self.base_that_makes(members) => {
                let part = self.as_base(place.clone(), members, &base)?;
                self.constructed(&part, &base, Some(given))?;
            }
            // The constructors of the one base are those of the structure, where it says so and has nothing else to begin.
            (true, Some(given))
                if let [base] = members.bases.as_slice()
                    && structure.members.iter().all(|member| member.value.is_some())
                    && !self.makers(base).is_empty() =>
            {
                let part = self.as_base(place.clone(), members, base)?;
                self.constructed(&part, base, Some(given))?;
            }
            // `Derived{{…}, a, b}`: the first lists are those of the bases.
            (true, Some(given))
                if !members.bases.is_empty()
                    && !members.is_union
                    && listed.len() >= members.bases.len()
                    && listed[..members.bases.len()]
                        .iter()
                        .all(|each| matches!(each.kind, ExpressionKind::List(None, _))) =>
            {
                let (of_bases, own) = listed.split_at(members.bases.len());
                for (base, list) in members.bases.iter().zip(of_bases) {
                    let part = self.as_base(place.clone(), members, base)?;
                    self.deeper()?;
                    self.constructed(&part, base, Some(list))?;
                    self.shallower();
                }
                if own.len() > structure.members.len() {
                    return Err(Unclear);
                }
                for (index, member) in structure.members.iter().enumerate() {
                    let to = self.member_itself(place.clone(), member.name)?;
                    match (own.get(index), &member.value) {
                        (Some(value), _) if members.references.iter().any(|name| name == member.name) => {
                            let to_what = self.place(value)?;
                            self.write(&to, Self::address_of(to_what))?;
                        }
                        (Some(value), _) => self.initialize(&to, value)?,
                        (None, Some(_)) => {}
                        (None, None) => {
                            let nothing = given.with(ExpressionKind::List(None, Vec::new()));
                            self.initialize(&to, &nothing)?;
                        }
                    }
                }
            }
            (true, Some(_)) if !members.references.is_empty() => self.filled(place, members, listed)?,
            (true, Some(given)) => {
                self.initialize(place, given)?;
                let is_list = matches!(given.kind, ExpressionKind::List(..)) && members.bases.is_empty();
                // Those that the list leaves out begin with what they say.
                for member in
                    structure.members.iter().skip(listed.len()).filter(|_| is_list && !members.is_union)
                {
                    if let Some(value) = &member.value {
                        let to = self.member_itself(place.clone(), member.name)?;
                        self.inside(members, Some(place), |lowering| lowering.initialize(&to, value))?;
                    }
                }
            }
            (true, None) => {}
        }
        Ok(())
    }
}

impl Lowering<'_, '_> {
    /// The base whose constructors a structure has as its own.
    pub(super) fn base_that_makes(&self, members: &Members) -> Option<Rc<Members>> {
        let inherited = &self.program.structure(members.structure).inherited;
        let found = inherited.iter().filter_map(|name| self.base_called(members, name));
        let mut found = found.filter(|base| !self.makers(base).is_empty());
        let only = found.next()?;
        found.next().is_none().then_some(only)
    }
}

/// The members and bases that the constructors of a structure begin, if all do.
fn begun_by<'s>(makers: &[&Function<'s>]) -> Vec<&'s str> {
    let [first, ..] = makers else { return Vec::new() };
    let of = |function: &Function<'s>| {
        let mut all = Vec::new();
        for statement in &function.body {
            let StatementKind::Expression(expression) = &statement.kind else { break };
            let ExpressionKind::Assign("()", to, _) = &expression.kind else { break };
            if let ExpressionKind::Name(name, _) = to.kind {
                all.push(name);
            }
        }
        all
    };
    let mut all = of(first);
    for other in &makers[1..] {
        let own = of(other);
        all.retain(|name| own.contains(name));
    }
    all
}

/// Whether the one constructor does nothing but begin members and bases.
fn only_begins(makers: &[&Function<'_>]) -> bool {
    let begins = |kind: &StatementKind<'_>| {
        matches!(kind, StatementKind::Expression(Expression { kind: ExpressionKind::Assign("()", ..), .. }))
    };
    matches!(makers, [only] if only.body.iter().all(|statement| begins(&statement.kind)))
}
