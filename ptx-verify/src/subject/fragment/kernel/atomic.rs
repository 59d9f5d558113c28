//! `cuda::atomic` and `cuda::atomic_ref`. libcu++, section "Synchronization Primitives".

use std::rc::Rc;

use ptx_ir::space::StateSpace;
use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument};

use super::types::{Space, Ty};
use super::value::{Held, Place, Value};
use super::{ANYTHING, Lowering, Unclear};

/// The orders that C++ names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Relaxed,
    Acquire,
    Release,
    Both,
    All,
}

/// The order that an argument names; all of them have one name in every namespace.
fn order_of(given: &Expression<'_>) -> Option<Order> {
    let (ExpressionKind::Name(name, _) | ExpressionKind::Scoped { name, .. }) = &given.kind else {
        return None;
    };
    Some(match name.strip_prefix("memory_order_").unwrap_or(name) {
        "relaxed" => Order::Relaxed,
        "acquire" | "consume" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::Both,
        "seq_cst" => Order::All,
        _ => return None,
    })
}

impl<'s> Lowering<'_, 's> {
    /// The type that `cuda::atomic<T, scope>` is.
    pub(super) fn atomic_type(&mut self, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        let of = match given.first() {
            Some(of) => match self.template_argument(of, true)? {
                super::Binding::Type(ty) => ty,
                _ => return Err(Unclear),
            },
            None => Ty::Any,
        };
        let scope = match given.get(1) {
            None => "sys",
            Some(TemplateArgument::Value(scope)) => match &scope.kind {
                ExpressionKind::Name(name, _) | ExpressionKind::Scoped { name, .. } => match *name {
                    "thread_scope_system" => "sys",
                    "thread_scope_device" => "gpu",
                    "thread_scope_block" => "cta",
                    _ => return Err(Unclear),
                },
                _ => return Err(Unclear),
            },
            Some(TemplateArgument::Type(_)) => return Err(Unclear),
        };
        Ok(Ty::Atomic(Rc::new(of), scope))
    }

    /// What a reference of such a type refers to.
    pub(super) fn as_atomic(&mut self, of: &Expression<'s>, ty: &Ty) -> Result<Place, Unclear> {
        let Ty::Atomic(known, scope) = ty else { return Err(Unclear) };
        let Place::Memory { address, ty: own } = self.place(of)? else { return Err(Unclear) };
        let of = if **known == Ty::Any { Rc::new(own) } else { Rc::clone(known) };
        Ok(Place::Memory { address, ty: Ty::Atomic(of, scope) })
    }

    /// A method of an atomic object.
    pub(super) fn of_atomic(
        &mut self,
        place: &Place,
        (of, scope): (&Rc<Ty>, &str),
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let Place::Memory { address, .. } = place else { return Err(Unclear) };
        let nothing = Value::unknown(Ty::Void);
        if matches!(name, "notify_one" | "notify_all") && given.is_empty() {
            return Ok(nothing);
        }
        let (bits, is_signed) = match **of {
            Ty::Integer { bits: bits @ (32 | 64), signed, .. } => (bits, signed),
            Ty::Float(bits @ (32 | 64)) => (bits, true),
            _ => return Err(Unclear),
        };
        let space = match address.ty {
            Ty::Pointer(_, Space::Shared) => StateSpace::Shared.as_str(),
            Ty::Pointer(_, Space::Generic) => "",
            _ => return Err(Unclear),
        };
        // Of a variable in global memory nobody has the address.
        let at = match address.held {
            Held::Unknown => ANYTHING.to_owned(),
            _ => self.operand(address, 64)?,
        };
        let orders = given.iter().rev().map_while(order_of).count();
        let (given, orders) = given.split_at(given.len() - orders);
        let order = orders.first().and_then(order_of).unwrap_or(Order::All);
        let mut values = Vec::new();
        let is_exchange = matches!(name, "compare_exchange_weak" | "compare_exchange_strong");
        for each in given.get(usize::from(is_exchange)..).unwrap_or_default() {
            let value = self.value(each)?;
            let value = self.converted(value, of)?;
            values.push(self.operand(&value, bits)?);
        }
        if order == Order::All {
            self.emit(&format!("fence.sc.{scope};"));
        }
        let to = self.fresh(bits)?;
        let to_name = to.name();
        let result = Value { ty: (**of).clone(), held: Held::Register(to) };
        let both = match order {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::Both | Order::All => "acq_rel",
        };
        let sign = if is_signed { 's' } else { 'u' };
        let operation = match (name, values.as_slice()) {
            ("load", []) => {
                let word = if order == Order::Relaxed { "relaxed" } else { "acquire" };
                self.emit(&format!("ld.{word}.{scope}{space}.b{bits} {to_name}, [{at}];"));
                return Ok(result);
            }
            ("store", [value]) => {
                let word = if order == Order::Relaxed { "relaxed" } else { "release" };
                self.emit(&format!("st.{word}.{scope}{space}.b{bits} [{at}], {value};"));
                return Ok(nothing);
            }
            ("wait", [old]) => {
                let (again, same) = (self.label(), self.predicate()?);
                let word = if order == Order::Relaxed { "relaxed" } else { "acquire" };
                self.place_label(&again);
                self.emit(&format!("ld.{word}.{scope}{space}.b{bits} {to_name}, [{at}];"));
                self.emit(&format!("setp.eq.b{bits} %c_p{same}, {to_name}, {old};"));
                self.emit(&format!("@%c_p{same} bra {again};"));
                return Ok(nothing);
            }
            (_, [new]) if is_exchange => {
                let expected = self.place(&given[0])?;
                let old = self.read(&expected)?;
                let old = self.converted(old, of)?;
                let wanted = self.operand(&old, bits)?;
                self.emit(&format!(
                    "atom.{both}.{scope}{space}.cas.b{bits} {to_name}, [{at}], {wanted}, {new};"
                ));
                let (same, kept) = (self.predicate()?, self.fresh(32)?);
                self.emit(&format!("setp.eq.b{bits} %c_p{same}, {to_name}, {wanted};"));
                self.emit(&format!("selp.b32 {}, 1, 0, %c_p{same};", kept.name()));
                self.write(&expected, result)?;
                return Ok(Value { ty: Ty::BOOL, held: Held::Register(kept) });
            }
            // What becomes of other numbers is not followed.
            (_, [_]) if !matches!(**of, Ty::Integer { .. }) && name.starts_with("fetch_") => {
                format!("exch.b{bits}")
            }
            ("exchange", [_]) => format!("exch.b{bits}"),
            ("fetch_add" | "fetch_sub", [_]) => format!("add.u{bits}"),
            ("fetch_and" | "fetch_or" | "fetch_xor", [_]) => format!("{}.b{bits}", &name["fetch_".len()..]),
            ("fetch_min" | "fetch_max", [_]) => format!("{}.{sign}{bits}", &name["fetch_".len()..]),
            _ => return Err(Unclear),
        };
        let mut value = values.pop().ok_or(Unclear)?;
        if name == "fetch_sub" {
            let by = self.fresh(bits)?;
            self.emit(&format!("sub.u{bits} {}, 0, {value};", by.name()));
            value = by.name();
        }
        self.emit(&format!("atom.{both}.{scope}{space}.{operation} {to_name}, [{at}], {value};"));
        Ok(result)
    }
}
