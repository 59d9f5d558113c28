//! `Serialize` and `Deserialize` of modules.
//!
//! A module is its fields: handles and symbols are numbers, arenas are lists. Types, spaces, targets and versions are the
//! words that PTX has for them. What the instruction table makes of spellings and operands is not written, for the table of
//! the reader may be another: it is looked up again, and [`check`] refuses a module whose handles are not good.

mod check;
mod words;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::arena::{Arena, Handle, Symbol, Symbols};
use crate::ir::{Definition, Function, Header, Item, Module, Spelling, Variable};
use crate::isa::{Class, resolve};
use crate::layered::{Layered, Shared};

/// The class of a register before its type was looked up.
pub(crate) const fn unknown() -> Class {
    Class::Unknown
}

/// Decimal numbers as text, for not every reader of numbers keeps all digits.
pub(crate) mod decimal {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:?}"))
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<f64, D::Error> {
        let text = <std::borrow::Cow<'d, str>>::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format_args!("`{text}` is no number")))
    }
}

type Names = Shared<IndexMap<Symbol, Definition, FxBuildHasher>>;

/// Names as pairs, for not every format has maps whose keys are numbers.
pub(crate) fn names<S: Serializer>(names: &Names, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter())
}

/// The fields of a module as they are read.
#[derive(serde::Deserialize)]
struct Fields {
    header: Header,
    symbols: Symbols,
    spellings: Arena<Spelling>,
    variables: Layered<Variable>,
    functions: Layered<Function>,
    names: Vec<(Symbol, Definition)>,
    items: Vec<Item>,
}

impl<'d> Deserialize<'d> for Module {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let Fields { header, symbols, spellings, variables, functions, names, items } =
            Fields::deserialize(deserializer)?;
        let mut module = Self::new(header);
        (module.symbols, module.spellings) = (symbols, spellings);
        (module.variables, module.functions) = (variables, functions);
        (*module.names, *module.items) = (names.into_iter().collect(), items);
        check::check(&mut module).map_err(D::Error::custom)?;
        Ok(module)
    }
}

impl<T> Serialize for Handle<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.index() as u32).serialize(serializer)
    }
}

impl<'d, T> Deserialize<'d> for Handle<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(Self::new)
    }
}

impl<T: Serialize> Serialize for Arena<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(_, element)| element))
    }
}

impl<'d, T: Deserialize<'d>> Deserialize<'d> for Arena<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let mut arena = Self::default();
        for element in Vec::deserialize(deserializer)? {
            arena.push(element);
        }
        Ok(arena)
    }
}

impl<T: Serialize> Serialize for Layered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(_, element)| element))
    }
}

impl<'d, T: Deserialize<'d>> Deserialize<'d> for Layered<T> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let mut arena = Self::default();
        for element in Vec::deserialize(deserializer)? {
            arena.push(element);
        }
        Ok(arena)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl Serialize for Spelling {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'d> Deserialize<'d> for Spelling {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<str>::deserialize(deserializer)?;
        let resolved = resolve(&text);
        Ok(Self { text, resolved })
    }
}

impl Serialize for Symbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.index() as u32).serialize(serializer)
    }
}

impl<'d> Deserialize<'d> for Symbol {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(Self::new)
    }
}

impl Serialize for Symbols {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'d> Deserialize<'d> for Symbols {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let mut symbols = Self::default();
        for (index, name) in Vec::<Box<str>>::deserialize(deserializer)?.iter().enumerate() {
            // Of two equal names the second would be no symbol, and all after it others.
            if symbols.intern(name).index() != index {
                return Err(D::Error::custom(format_args!("`{name}` is twice among the symbols")));
            }
        }
        Ok(symbols)
    }
}

#[cfg(test)]
mod tests {
    use super::{Module, check};
    use crate::lower::lower;

    fn module_of(text: &str) -> Module {
        lower(&ptx_syntax::parse(text).tree, text).module
    }

    const TEXT: &str = ".version 8.6\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.cu\"\n\
        .global .align 8 .b64 table[2] = {generic(other), f};\n.global .f32 other = 0f3F800000;\n\
        .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\n\
        st.param.b32 [r], %r1;\nret;\n}\n\
        .visible .entry k(.param .u64 .ptr .global .align 4 p) .maxntid 128\n{\n.reg .pred %p;\n\
        .reg .b32 %r<9>;\n.reg .v2 .f32 %v;\n.reg .b64 %rd<3>;\n.loc 1 3 5\nld.param.u64 %rd1, [p+0];\nTOP:\n\
        mov.u32 %r1, %tid.x;\nsetp.lt.f64 %p, 1.5e3, 0d4000000000000000;\n\
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), f, (x); ld.param.b32 %r2, [y]; }\n\
        ld.global.v4.u32 {%r3, %r4, _, %r6}, [%rd1+16];\nvadd.u32.u32.u32 %r1, %r2.b0, %r3;\n\
        L: .branchtargets TOP, END;\nbrx.idx %r1, L;\nadd.f32 %v.x, %v.y, 0f3F800000;\nunknown.u8 %nothing;\n\
        @!%p bra TOP;\nEND:\nret;\n}\n.section .debug_str { .b8 1, 2 }\n";

    #[test]
    fn a_module_is_read_as_it_was_written() {
        let module = module_of(TEXT);
        let text = serde_json::to_string(&module).unwrap();
        assert_eq!(serde_json::from_str::<Module>(&text).unwrap(), module);
        for part in [
            r#""target":"sm_90a""#,
            r#""ty":".b64""#,
            r#""setp.lt.f64""#,
            r#""Special":"%tid.x""#,
            r#"".b0""#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn handles_of_nothing_are_refused() {
        let written = serde_json::to_value(module_of(TEXT)).unwrap();
        // Every number of the module in turn becomes one that is too large, or the one before.
        let mut places = Vec::new();
        let mut open = vec![(String::new(), &written)];
        while let Some((place, value)) = open.pop() {
            match value {
                serde_json::Value::Number(_) => places.push(place),
                serde_json::Value::Array(all) => {
                    open.extend(
                        all.iter().enumerate().map(|(index, each)| (format!("{place}/{index}"), each)),
                    );
                }
                serde_json::Value::Object(all) => {
                    open.extend(all.iter().map(|(key, each)| (format!("{place}/{key}"), each)));
                }
                _ => {}
            }
        }
        let mut refused = 0;
        for place in &places {
            for other in [|_| 1_000_000, |number: u64| number.wrapping_sub(1) % 1000, |number| number + 1] {
                let mut changed = written.clone();
                let number = changed.pointer_mut(place).unwrap();
                *number = other(number.as_i64().unwrap_or_default() as u64).into();
                match serde_json::from_value::<Module>(changed) {
                    Ok(module) => walk(module),
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > places.len() / 2, "{refused} of {}", 3 * places.len());
    }

    /// Follows all handles of a module that was taken for good.
    fn walk(mut module: Module) {
        struct Everything;
        impl crate::visit::Visitor for Everything {}
        crate::visit::walk_module(&module, &mut Everything);
        let mut other = module_of(TEXT);
        // What does not go together is an error.
        let _linked = crate::link::link(&mut other, module.clone());
        check::check(&mut module).unwrap();
    }
}
