//! What a module is written for, as far as it decides which instructions it may use.

use crate::target::Target;
use crate::version::Version;

/// How textures and samplers are bound, an option of `.target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TextureMode {
    /// `texmode_unified`: a texture brings its sampler.
    #[default]
    Unified,
    /// `texmode_independent`: a sampler is an operand of its own.
    Independent,
}

impl TextureMode {
    /// The option of `.target`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unified => "texmode_unified",
            Self::Independent => "texmode_independent",
        }
    }
}

/// Version, target and texturing mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Platform {
    /// The PTX version.
    pub version: Version,
    /// The target.
    pub target: Target,
    /// How textures are bound.
    pub texture_mode: TextureMode,
}
