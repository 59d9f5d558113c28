//! Which target a PTX text is compiled for when the user names none.

use std::fmt;

use super::outline::Outline;

/// The oldest target that every supported `ptxas` generates code for. PTX for older ones is forward
/// compatible and compiles for this one instead.
const OLDEST: u32 = 75;

/// A GPU target: `sm_` and a number, for targets with architecture-specific (`a`) or
/// family-specific (`f`) features followed by a letter (PTX ISA, section 11.1.2, `.target`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// Compute capability: 90 is 9.0.
    pub number: u32,
    pub feature: Feature,
}

/// What a target promises about other GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Runs on every later GPU.
    Portable,
    /// `a`: runs on this GPU alone.
    Architecture,
    /// `f`: runs on GPUs of this family.
    Family,
}

impl Gpu {
    /// Reads `sm_90a`; PTX takes the spelling `compute_90a` as well.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"))?;
        let (digits, feature) = match rest.as_bytes().last()? {
            b'a' => (&rest[..rest.len() - 1], Feature::Architecture),
            b'f' => (&rest[..rest.len() - 1], Feature::Family),
            _ => (rest, Feature::Portable),
        };
        // Rust's parser would take a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { number: digits.parse().ok()?, feature })
    }

    /// The target that a text with this `.target` is compiled for.
    fn or_oldest(self) -> Self {
        if self.number < OLDEST { Self { number: OLDEST, feature: Feature::Portable } } else { self }
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.feature {
            Feature::Portable => "",
            Feature::Architecture => "a",
            Feature::Family => "f",
        };
        write!(f, "sm_{}{suffix}", self.number)
    }
}

/// The target of the text's first `.target` directive, at least the oldest one that compilers
/// still know; that one too where the text names none, so that the compiler says what is missing.
/// Platform options such as `debug` or `texmode_independent` in the list are no targets.
pub(crate) fn default_target(outline: &Outline) -> String {
    let first = outline.target.iter().find_map(|word| Gpu::parse(word));
    let oldest = Gpu { number: OLDEST, feature: Feature::Portable };
    first.map_or(oldest, Gpu::or_oldest).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        default_target(&Outline::of(text.as_bytes()))
    }

    #[test]
    fn the_first_target_of_the_list_counts() {
        let cases = [
            (".target sm_90a", "sm_90a"),
            (".target sm_100f, debug", "sm_100f"),
            (".target debug, sm_80", "sm_80"),
            (".target texmode_independent, compute_90", "sm_90"),
            (".target sm_10", "sm_75"),
            (".target sm_13, map_f64_to_f32", "sm_75"),
            (".target sm_72", "sm_75"),
            (".target sm_75", "sm_75"),
            (".target sm_101a", "sm_101a"),
            (".target", "sm_75"),
            ("", "sm_75"),
            (".target sm_+90", "sm_75"),
            (".target sm_", "sm_75"),
            (".target sm_99999999999", "sm_75"),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
