//! Variables in global and in constant memory.

use std::rc::Rc;

use ptx_ir::space::StateSpace;
use ptx_syntax::cuda::body::{ExpressionKind, Variable};

use super::types::{Space, Ty};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

/// A variable in global memory.
pub(super) struct Global {
    /// Where it is declared.
    variable: usize,
    name: String,
    size: u64,
    align: u64,
    /// What it begins with, where that is one number.
    value: u64,
    is_constant: bool,
}

impl Global {
    /// The directive that declares it.
    pub(super) fn declaration(&self) -> String {
        let Self { name, size, align, value, .. } = self;
        let space = if self.is_constant { StateSpace::Const } else { StateSpace::Global }.as_str();
        match (value, size) {
            (1.., 1 | 2 | 4 | 8) => {
                let bits = 8 * size;
                format!("{space} .align {align} .b{bits} {name} = {value};")
            }
            _ => format!("{space} .align {align} .b8 {name}[{size}];"),
        }
    }
}

impl<'s> Lowering<'_, 's> {
    /// The place of a variable in global memory; none where its size is not known.
    pub(super) fn device_variable(&mut self, variable: &Variable<'s>) -> Result<Option<Place>, Unclear> {
        let key = std::ptr::from_ref(variable).addr();
        // It sees nothing of the function.
        let first_name = self.names.len();
        self.frames.push(super::Frame { first_name, ..super::Frame::default() });
        let found = self.type_of_global(variable);
        self.frames.pop();
        self.names.truncate(first_name);
        let Ok((ty, size @ 1.., align)) = found else { return Ok(None) };
        let index = match self.device.iter().position(|known| known.variable == key) {
            Some(index) => index,
            None => {
                let value = self.first_value(variable, &ty);
                let name = format!("c_{}_of_device_{}", variable.name, self.device.len());
                let is_constant = variable.is_in_constant_memory;
                self.device.push(Global { variable: key, name, size, align, value, is_constant });
                self.device.len() - 1
            }
        };
        let own = self.fresh(64)?;
        let name = &self.device[index].name;
        if variable.is_in_constant_memory {
            let line = format!("mov.b64 {}, {name};", own.name());
            self.emit(&line);
            let pointer = Ty::Pointer(Rc::new(ty.clone()), Space::Const);
            return Ok(Some(Place::Memory { address: Value { ty: pointer, held: Held::Register(own) }, ty }));
        }
        let address = self.fresh(64)?;
        let name = &self.device[index].name;
        let lines = [
            format!("mov.b64 {}, {name};", own.name()),
            format!("cvta.global.u64 {}, {};", address.name(), own.name()),
        ];
        for line in lines {
            self.emit(&line);
        }
        let pointer = Ty::Pointer(Rc::new(ty.clone()), Space::Global);
        Ok(Some(Place::Memory { address: Value { ty: pointer, held: Held::Register(address) }, ty }))
    }

    fn type_of_global(&mut self, variable: &Variable<'s>) -> Result<(Ty, u64, u64), Unclear> {
        let mark = self.mark();
        let mut ty = self.ty_in_memory(&variable.ty)?;
        // The list says how long it is.
        if let (Ty::Array(of, 0), Some(ExpressionKind::List(_, parts))) =
            (&ty, variable.value.as_ref().map(|value| &value.kind))
        {
            ty = Ty::Array(Rc::clone(of), parts.len() as u64);
        }
        let (size, own) = ty.layout()?;
        let asked = match &variable.align {
            Some(asked) => self.alignment(asked)?,
            None => 1,
        };
        self.take_back(mark.length);
        Ok((ty, size, own.max(asked)))
    }

    /// The number that a variable begins with: 0 where it is none, or not known.
    fn first_value(&mut self, variable: &Variable<'s>, ty: &Ty) -> u64 {
        let of = match ty.plain() {
            Ty::Atomic(of, _) => of,
            other => other,
        };
        let (Ty::Integer { bits, .. }, Some(value)) = (of, &variable.value) else { return 0 };
        let value = match &value.kind {
            ExpressionKind::List(None, given) if given.len() == 1 => &given[0],
            _ => value,
        };
        let mark = self.mark();
        let number = self.value(value).and_then(|value| self.converted(value, of));
        let number = number.ok().and_then(|value| value.number());
        self.back_to(mark);
        number.map_or(0, |number| super::value::fitted(number, *bits, false))
    }
}
