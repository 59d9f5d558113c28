//! What PTX has a word for is that word.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::directive::DirectiveKind;
use crate::isa::Selector;
use crate::space::StateSpace;
use crate::special::SpecialRegister;
use crate::target::{Target, TargetSet};
use crate::types::Type;
use crate::version::Version;

macro_rules! words {
    ($($name:ident, $what:literal, $word:expr;)*) => {
        $(
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let word: fn(Self) -> _ = $word;
                    serializer.collect_str(&word(*self))
                }
            }

            impl<'d> Deserialize<'d> for $name {
                fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
                    let word = <Cow<'d, str>>::deserialize(deserializer)?;
                    Self::parse(&word)
                        .ok_or_else(|| D::Error::custom(format_args!(concat!("`{}` is no ", $what), word)))
                }
            }
        )*
    };
}

words! {
    DirectiveKind, "directive", DirectiveKind::word;
    Selector, "selector", selector;
    SpecialRegister, "special register", SpecialRegister::name;
    StateSpace, "state space", StateSpace::as_str;
    Target, "target", Target::as_str;
    Type, "type", Type::as_str;
    Version, "version", |version| version;
}

/// A set is a list of its members.
impl Serialize for TargetSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'d> Deserialize<'d> for TargetSet {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Target>::deserialize(deserializer).map(|all| all.into_iter().collect())
    }
}

/// As in `.h10`.
fn selector(selector: Selector) -> String {
    let digits = selector.digits.iter().take(selector.count.into());
    let letter = if selector.halves { "h" } else { "b" };
    digits.fold(format!(".{letter}"), |text, digit| format!("{text}{digit}"))
}
