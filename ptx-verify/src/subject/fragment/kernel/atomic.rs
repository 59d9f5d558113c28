//! `cuda::atomic` and `cuda::atomic_ref`. libcu++, section "Synchronization Primitives".

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, Function, TemplateArgument, TypeName};

use super::memory::space_of;
use super::types::{Space, Ty};
use super::value::{Held, Place, Register, Value};
use super::{ANYTHING, Binding, Lowering, Unclear};

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
    let plain = name.strip_prefix("memory_order_").or_else(|| name.strip_prefix("__NV_ATOMIC_"));
    Some(match plain.unwrap_or(name) {
        "relaxed" | "RELAXED" => Order::Relaxed,
        "acquire" | "consume" | "ACQUIRE" | "CONSUME" => Order::Acquire,
        "release" | "RELEASE" => Order::Release,
        "acq_rel" | "ACQ_REL" => Order::Both,
        "seq_cst" | "SEQ_CST" => Order::All,
        _ => return None,
    })
}

impl<'s> Lowering<'_, 's> {
    /// The type that `cuda::atomic<T, scope>` is.
    pub(super) fn atomic_type(&mut self, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        let of = match given.first() {
            Some(of) => match self.template_argument(of, true)? {
                Binding::Type(ty) => ty,
                _ => return Err(Unclear),
            },
            None => Ty::Any,
        };
        let scope = match given.get(1) {
            None => "sys",
            Some(TemplateArgument::Value(scope)) if let Some(scope) = scope_of(scope) => scope,
            Some(scope) => {
                let number = self.constant_argument(scope)?;
                SCOPES
                    .iter()
                    .find(|(_, known, _)| *known == number)
                    .map(|(.., scope)| *scope)
                    .ok_or(Unclear)?
            }
        };
        Ok(Ty::Atomic(Rc::new(of), scope))
    }

    /// Who sees what is done, as an argument names it or a constant of that type.
    fn scope(&mut self, given: &Expression<'s>) -> Result<&'static str, Unclear> {
        if let Some(scope) = scope_of(given) {
            return Ok(scope);
        }
        let number = self.constant(given)?;
        SCOPES.iter().find(|(_, known, _)| *known == number).map(|(.., scope)| *scope).ok_or(Unclear)
    }

    /// The order that an argument is: one that it names, or a constant of that type.
    fn order(&mut self, given: &Expression<'s>) -> Result<Order, Unclear> {
        if let Some(order) = order_of(given) {
            return Ok(order);
        }
        let number = self.constant(given)?;
        ORDERS.iter().find(|(_, known, _)| *known == number).map(|(.., order)| *order).ok_or(Unclear)
    }

    /// Whether a type is `cuda::atomic_ref`, whose objects refer to others.
    pub(super) fn refers_to_atomic(&self, ty: &TypeName<'s>) -> bool {
        let mut ty = ty;
        for _ in 0..MAX_ALIASES {
            let (TypeName::Named(name, _) | TypeName::Scoped(_, name, _)) = ty else { return false };
            if *name == "atomic_ref" {
                return true;
            }
            let within = self.frames.last().and_then(super::Frame::within);
            let own = within.and_then(|id| {
                self.program.structure(id).aliases.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
            });
            let Some(aliased) = own.or_else(|| self.program.aliases.get(name)) else { return false };
            ty = aliased;
        }
        false
    }

    /// The atomic object that an expression names, if it is known to be one before it is translated.
    pub(super) fn atomic_place(&mut self, of: &Expression<'s>) -> Result<Option<Place>, Unclear> {
        let is_atomic = |ty: Result<Ty, Unclear>| matches!(ty, Ok(Ty::Atomic(..)));
        let is_such = match &of.kind {
            ExpressionKind::Name(name, _) => {
                matches!(self.binding(name), Some(Binding::Place(Place::Memory { ty: Ty::Atomic(..), .. })))
            }
            ExpressionKind::Cast(to, _) => is_atomic(self.ty(to)),
            ExpressionKind::List(Some(to), given) => given.len() == 1 && is_atomic(self.ty(to)),
            ExpressionKind::Call(callee, _) => match &callee.kind {
                ExpressionKind::Name("atomic_ref", _) => true,
                ExpressionKind::Name(name, _) => {
                    let program = self.program;
                    let is_own =
                        |function: &&Function<'s>| function.owner.is_none() && function.name == *name;
                    match program.functions.iter().find(is_own) {
                        Some(function) => is_atomic(self.ty(&function.returns)),
                        None => {
                            program.aliases.contains_key(name)
                                && is_atomic(self.ty(&TypeName::Named(name, Vec::new())))
                        }
                    }
                }
                _ => false,
            },
            _ => false,
        };
        if !is_such {
            return Ok(None);
        }
        match self.place(of)? {
            place @ Place::Memory { ty: Ty::Atomic(..), .. } => Ok(Some(place)),
            _ => Err(Unclear),
        }
    }

    /// What a reference of such a type refers to.
    pub(super) fn as_atomic(&mut self, of: &Expression<'s>, ty: &Ty) -> Result<Place, Unclear> {
        let Ty::Atomic(known, scope) = ty else { return Err(Unclear) };
        let Place::Memory { address, ty: own } = self.place(of)? else { return Err(Unclear) };
        // A copy of a reference refers to the same.
        let own = match &own {
            Ty::Atomic(of, _) => (**of).clone(),
            own => own.plain().clone(),
        };
        let of = if **known == Ty::Any { Rc::new(own) } else { Rc::clone(known) };
        Ok(Place::Memory { address, ty: Ty::Atomic(of, scope) })
    }

    /// A method of an atomic object.
    pub(super) fn of_atomic(
        &mut self,
        place: &Place,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        if matches!(name, "notify_one" | "notify_all") && given.is_empty() {
            return Ok(Value::unknown(Ty::Void));
        }
        if name == "is_lock_free" && given.is_empty() {
            return Ok(Value::constant(1, Ty::BOOL));
        }
        let operands = match name {
            "load" => 0,
            _ if name.starts_with("compare_exchange") => 2,
            _ => 1,
        };
        let (given, orders) = given.split_at_checked(operands).ok_or(Unclear)?;
        let order = match orders.first() {
            Some(order) => self.order(order)?,
            None => Order::All,
        };
        let is_exchange = matches!(name, "compare_exchange_weak" | "compare_exchange_strong");
        let mut values = Vec::new();
        for each in given.get(usize::from(is_exchange)..).unwrap_or_default() {
            values.push(self.value(each)?);
        }
        match (is_exchange, given, values.as_slice()) {
            (true, [expected, _], [new]) => {
                let expected = self.place(expected)?;
                self.compared_and_exchanged(place, order, &expected, new.clone())
            }
            (true, ..) => Err(Unclear),
            (false, _, [value]) => self.atomically(place, name, order, Some(value.clone())),
            (false, _, []) => self.atomically(place, name, order, None),
            _ => Err(Unclear),
        }
    }

    /// An operator of an atomic object: its new value. Where the operator stands after it, its old one.
    pub(super) fn operator_of_atomic(
        &mut self,
        place: &Place,
        operator: &str,
        value: Value,
        is_old: bool,
    ) -> Result<Value, Unclear> {
        let Ty::Atomic(of, _) = place.ty().clone() else { return Err(Unclear) };
        let value = self.converted(value, &of)?;
        let name = match operator {
            "" => {
                self.atomically(place, "store", Order::All, Some(value.clone()))?;
                return Ok(value);
            }
            "+" => "fetch_add",
            "-" => "fetch_sub",
            "&" => "fetch_and",
            "|" => "fetch_or",
            "^" => "fetch_xor",
            _ => return Err(Unclear),
        };
        let old = self.atomically(place, name, Order::All, Some(value.clone()))?;
        if is_old {
            return Ok(old);
        }
        let new = self.computed(operator, old, value)?;
        self.converted(new, &of)
    }

    /// An atomic object gets a number that nobody knows.
    pub(super) fn changed_somehow(&mut self, place: &Place, value: Value) -> Result<(), Unclear> {
        self.atomically(place, "exchange", Order::Relaxed, Some(value)).map(|_| ())
    }

    /// What an atomic object holds.
    pub(super) fn loaded_atomic(&mut self, place: &Place) -> Result<Value, Unclear> {
        self.atomically(place, "load", Order::All, None)
    }

    /// Where an atomic object is: its address, its type, how many bits it has, and the words for who sees it and where it lies.
    fn operands_of_atomic(&mut self, place: &Place) -> Result<(String, Ty, u32, String), Unclear> {
        let Place::Memory { address, ty: Ty::Atomic(of, scope) } = place else { return Err(Unclear) };
        let bits = match **of {
            Ty::Integer { bits, .. } => bits,
            Ty::Float(bits @ (32 | 64), _) => bits,
            Ty::Pointer(..) => 64,
            _ => return Err(Unclear),
        };
        let space = match address.ty {
            Ty::Pointer(_, Space::Shared | Space::Generic | Space::Global) => space_of(address),
            _ => return Err(Unclear),
        };
        // Nobody has the address of some variables in global memory.
        let at = match address.held {
            Held::Unknown => ANYTHING.to_owned(),
            _ => self.operand(address, 64)?,
        };
        Ok((at, (**of).clone(), bits, format!("{scope}{space}")))
    }

    fn compared_and_exchanged(
        &mut self,
        place: &Place,
        order: Order,
        expected: &Place,
        new: Value,
    ) -> Result<Value, Unclear> {
        let (at, of, bits, whose) = self.operands_of_atomic(place)?;
        let width = bits_of_exchange(bits)?;
        let new = self.converted(new, &of)?;
        let new = self.operand(&new, width)?;
        let old = self.read(expected)?;
        let old = self.converted(old, &of)?;
        let wanted = self.operand(&old, width)?;
        let order = self.begun_in(order, &whose);
        let to = self.fresh(width)?;
        let to_name = to.name();
        self.emit(&format!("atom.{order}.{whose}.cas.b{bits} {to_name}, [{at}], {wanted}, {new};"));
        let (same, kept) = (self.predicate()?, self.fresh(32)?);
        self.emit(&format!("setp.eq.b{bits} %c_p{same}, {to_name}, {wanted};"));
        self.emit(&format!("selp.b32 {}, 1, 0, %c_p{same};", kept.name()));
        self.write(expected, Value { ty: of, held: Held::Register(to) })?;
        Ok(Value { ty: Ty::BOOL, held: Held::Register(kept) })
    }

    /// The word for the order of an operation that reads and writes; the strongest has a fence before it.
    fn begun_in(&mut self, order: Order, whose: &str) -> &'static str {
        if order == Order::All {
            let scope = whose.split('.').next().unwrap_or_default();
            self.emit(&format!("fence.sc.{scope};"));
        }
        match order {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::Both | Order::All => "acq_rel",
        }
    }

    fn atomically(
        &mut self,
        place: &Place,
        name: &str,
        order: Order,
        value: Option<Value>,
    ) -> Result<Value, Unclear> {
        let (at, of, bits, whose) = self.operands_of_atomic(place)?;
        let nothing = Value::unknown(Ty::Void);
        let width = bits.max(32);
        let is_number = matches!(of, Ty::Integer { .. });
        let mut value = match value {
            // What becomes of other numbers is not followed.
            Some(_) if !is_number && name.starts_with("fetch_") => Some(Value::unknown(of.clone())),
            Some(value) => Some(self.converted(value, &of)?),
            None => None,
        };
        if name == "fetch_sub"
            && let Some(by) = value
        {
            let negated = self.computed("-", Value::constant(0, of.clone()), by)?;
            value = Some(self.converted(negated, &of)?);
        }
        let value = match value {
            Some(value) if matches!(value.ty, Ty::Pointer(..)) => Some(self.generic(value)?),
            other => other,
        };
        let operand = match &value {
            Some(value) => Some(self.operand(value, width)?),
            None => None,
        };
        let both = self.begun_in(order, &whose);
        let is_relaxed = order == Order::Relaxed;
        let kind = match (bits, &of) {
            (8 | 16, _) => format!("u{bits}"),
            _ => format!("b{bits}"),
        };
        let operation = match (name, operand.as_deref()) {
            ("load", None) => {
                let word = if is_relaxed { "relaxed" } else { "acquire" };
                let to = self.fresh(width)?;
                self.emit(&format!("ld.{word}.{whose}.{kind} {}, [{at}];", to.name()));
                return self.result_of_atomic(to, of);
            }
            ("store", Some(value)) => {
                let word = if is_relaxed { "relaxed" } else { "release" };
                self.emit(&format!("st.{word}.{whose}.{kind} [{at}], {value};"));
                return Ok(nothing);
            }
            ("wait", Some(old)) => {
                let (again, same, to) = (self.label(), self.predicate()?, self.fresh(width)?);
                let word = if is_relaxed { "relaxed" } else { "acquire" };
                self.place_label(&again);
                self.emit(&format!("ld.{word}.{whose}.{kind} {}, [{at}];", to.name()));
                self.emit(&format!("setp.eq.b{width} %c_p{same}, {}, {old};", to.name()));
                self.emit(&format!("@%c_p{same} bra {again};"));
                return Ok(nothing);
            }
            _ if bits < 32 => return Err(Unclear),
            ("exchange", Some(_)) => format!("exch.b{bits}"),
            (_, Some(_)) if !is_number && name.starts_with("fetch_") => format!("exch.b{bits}"),
            ("fetch_add" | "fetch_sub", Some(_)) => format!("add.u{bits}"),
            ("fetch_and" | "fetch_or" | "fetch_xor", Some(_)) => {
                format!("{}.b{bits}", &name["fetch_".len()..])
            }
            ("fetch_min" | "fetch_max", Some(_)) => {
                let sign = if matches!(of, Ty::Integer { signed: true, .. }) { 's' } else { 'u' };
                format!("{}.{sign}{bits}", &name["fetch_".len()..])
            }
            _ => return Err(Unclear),
        };
        let to = self.fresh(width)?;
        let value = operand.ok_or(Unclear)?;
        self.emit(&format!("atom.{both}.{whose}.{operation} {}, [{at}], {value};", to.name()));
        Ok(Value { ty: of, held: Held::Register(to) })
    }

    /// A number that was loaded, extended as its type says.
    fn result_of_atomic(&mut self, register: Register, of: Ty) -> Result<Value, Unclear> {
        match of {
            Ty::Integer { bits: 8 | 16, signed: true, .. } => {
                let loaded = Value { ty: Ty::UINT, held: Held::Register(register) };
                self.converted(loaded, &of)
            }
            _ => Ok(Value { ty: of, held: Held::Register(register) }),
        }
    }

    /// `cuda::atomic_thread_fence` and its kin, and the operations that are functions of their own; none where the name is no such.
    pub(super) fn of_free_atomics(
        &mut self,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let builtin = name.strip_prefix("__nv_atomic_");
        match (name, builtin, given) {
            ("atomic_thread_fence", ..) | (_, Some("thread_fence"), _) => {
                let order = self.order(given.first().ok_or(Unclear)?)?;
                let scope = match given.get(1) {
                    Some(scope) => self.scope(scope)?,
                    None => "sys",
                };
                match order {
                    Order::Relaxed => {}
                    Order::All => self.emit(&format!("fence.sc.{scope};")),
                    _ => self.emit(&format!("fence.acq_rel.{scope};")),
                }
            }
            ("atomic_signal_fence", ..) => {}
            (_, Some(operation), [pointer, rest @ ..]) => {
                let scopes = rest.iter().rev().map_while(scope_of).count();
                let (rest, scopes) = rest.split_at(rest.len() - scopes);
                let scope = scopes.first().and_then(scope_of).unwrap_or("sys");
                let orders = rest.iter().rev().map_while(order_of).count();
                let (rest, orders) = rest.split_at(rest.len() - orders);
                let order = orders.first().and_then(order_of).ok_or(Unclear)?;
                let pointer = self.value(pointer)?;
                let pointer = Self::decayed(pointer);
                let Ty::Pointer(of, _) = pointer.ty.clone() else { return Err(Unclear) };
                let ty = Ty::Atomic(Rc::new(of.plain().clone()), scope);
                let place = Place::Memory { address: pointer, ty };
                // Where no number is handed over, it lies where a pointer says.
                let is_by_pointer = matches!(operation, "load" | "store" | "exchange" | "compare_exchange");
                let operation = operation.strip_suffix("_n").unwrap_or(operation);
                // What gives nothing back changes the same.
                let without_old = format!("fetch_{operation}");
                let operation = match operation {
                    "add" | "sub" | "and" | "or" | "xor" | "min" | "max" => without_old.as_str(),
                    _ => operation,
                };
                if is_by_pointer && operation != "compare_exchange" {
                    let given = rest.first().ok_or(Unclear)?;
                    let given = self.value(given)?;
                    let given = self.pointed(given)?;
                    if operation == "load" {
                        let found = self.atomically(&place, operation, order, None)?;
                        self.write(&given, found)?;
                        return Ok(Some(Value::unknown(Ty::Void)));
                    }
                    let value = self.read(&given)?;
                    let old = self.atomically(&place, operation, order, Some(value))?;
                    if let Some(kept) = rest.get(1) {
                        let kept = self.value(kept)?;
                        let kept = self.pointed(kept)?;
                        self.write(&kept, old)?;
                    }
                    return Ok(Some(Value::unknown(Ty::Void)));
                }
                if operation == "compare_exchange" {
                    let [expected, new, ..] = rest else { return Err(Unclear) };
                    let expected = self.value(expected)?;
                    let expected = self.pointed(expected)?;
                    let new = self.value(new)?;
                    let new = match is_by_pointer {
                        true => {
                            let new = self.pointed(new)?;
                            self.read(&new)?
                        }
                        false => new,
                    };
                    return self.compared_and_exchanged(&place, order, &expected, new).map(Some);
                }
                let value = match rest {
                    [] => None,
                    [value] => Some(self.value(value)?),
                    _ => return Err(Unclear),
                };
                return self.atomically(&place, operation, order, value).map(Some);
            }
            (_, None, [pointer, rest @ ..]) if let Some(operation) = name.strip_prefix("atomic_") => {
                let operation = operation.strip_suffix("_explicit").unwrap_or(operation);
                let pointer = self.value(pointer)?;
                let place = self.pointed(pointer)?;
                if !matches!(place.ty(), Ty::Atomic(..)) {
                    return Err(Unclear);
                }
                if operation.starts_with("compare_exchange") {
                    let [expected, new, orders @ ..] = rest else { return Err(Unclear) };
                    let order = orders.first().and_then(order_of).unwrap_or(Order::All);
                    let expected = self.value(expected)?;
                    let expected = self.pointed(expected)?;
                    let new = self.value(new)?;
                    return self.compared_and_exchanged(&place, order, &expected, new).map(Some);
                }
                return self.of_atomic(&place, operation, rest).map(Some);
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::unknown(Ty::Void)))
    }
}

/// The constants of the types of scopes and of orders, with their numbers.
const SCOPES: [(&str, u64, &str); 3] =
    [("thread_scope_system", 0, "sys"), ("thread_scope_device", 1, "gpu"), ("thread_scope_block", 2, "cta")];
const ORDERS: [(&str, u64, Order); 6] = [
    ("memory_order_relaxed", 0, Order::Relaxed),
    ("memory_order_consume", 1, Order::Acquire),
    ("memory_order_acquire", 2, Order::Acquire),
    ("memory_order_release", 3, Order::Release),
    ("memory_order_acq_rel", 4, Order::Both),
    ("memory_order_seq_cst", 5, Order::All),
];

/// Those of the conversions to numbers of 8 bits.
const CONVERSIONS: [(&str, u64); 10] = [
    ("__NV_NOSAT", 0),
    ("__NV_SATFINITE", 1),
    ("__NV_E4M3", 0),
    ("__NV_E5M2", 1),
    ("__NV_E2M1", 0),
    ("__NV_E8M0", 2),
    ("cudaRoundNearest", 0),
    ("cudaRoundZero", 1),
    ("cudaRoundPosInf", 2),
    ("cudaRoundMinInf", 3),
];

/// The number of a constant of these types.
pub(super) fn number_of_constant(name: &str) -> Option<u64> {
    if let Some((_, number)) = CONVERSIONS.iter().find(|(known, _)| *known == name) {
        return Some(*number);
    }
    let scope = SCOPES.iter().find(|(known, ..)| *known == name).map(|(_, number, _)| *number);
    scope.or_else(|| ORDERS.iter().find(|(known, ..)| *known == name).map(|(_, number, _)| *number))
}

/// Names of types that stand for each other.
const MAX_ALIASES: usize = 8;

/// Bits of what is compared and exchanged.
const fn bits_of_exchange(bits: u32) -> Result<u32, Unclear> {
    if matches!(bits, 32 | 64) { Ok(bits) } else { Err(Unclear) }
}

/// The scope that an argument names.
fn scope_of(given: &Expression<'_>) -> Option<&'static str> {
    let (ExpressionKind::Name(name, _) | ExpressionKind::Scoped { name, .. }) = &given.kind else {
        return None;
    };
    Some(match *name {
        "thread_scope_system" | "__NV_THREAD_SCOPE_SYSTEM" => "sys",
        "thread_scope_device" | "__NV_THREAD_SCOPE_DEVICE" => "gpu",
        "__NV_THREAD_SCOPE_CLUSTER" => "cluster",
        "thread_scope_block" | "__NV_THREAD_SCOPE_BLOCK" => "cta",
        _ => return None,
    })
}
