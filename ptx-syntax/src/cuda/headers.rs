//! Types of CUDA's headers whose names other libraries have too: what they mean, the `#include` lines tell.

use super::ctype::CType;

/// A header, the macro that keeps its short names away, and these.
struct Header {
    path: &'static str,
    refused_by: &'static str,
    names: &'static [(&'static str, &'static str)],
}

const HEADERS: [Header; 2] = [
    Header {
        path: "cuda_fp16.h",
        refused_by: "CUDA_NO_HALF",
        names: &[
            ("half", "__half"),
            ("half2", "__half2"),
            ("nv_half", "__half"),
            ("nv_half2", "__half2"),
            ("__nv_half", "__half"),
            ("__nv_half2", "__half2"),
        ],
    },
    Header {
        path: "cuda_bf16.h",
        refused_by: "CUDA_NO_BFLOAT16",
        names: &[("nv_bfloat16", "__nv_bfloat16"), ("nv_bfloat162", "__nv_bfloat162")],
    },
];

/// Where the names of a header are known: from its `#include` to the end of the branch of an `#if` that this is in.
#[derive(Clone, Debug, Default)]
struct Extent {
    /// Disjoint ranges of bytes, in order.
    closed: Vec<(u32, u32)>,
    /// The start of the last range, and how many groups of an `#if` are around its line.
    open: Option<(u32, usize)>,
}

/// Where in a file the names of which header are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers {
    extents: [Extent; HEADERS.len()],
    /// Whether a file may be included that knows what this one declares.
    pub of_project: bool,
}

impl Headers {
    /// Notes an `#include` at byte `at`: what is behind the word, and how many groups of an `#if` are around it.
    pub fn include(&mut self, what: &str, at: u32, groups: usize) {
        let what = what.trim_start();
        let path = match what.as_bytes().first() {
            Some(b'<') => what[1..].split('>').next(),
            Some(b'"') => what[1..].split('"').next(),
            _ => None,
        };
        let of_system =
            |path: &str| !path.contains('/') || path.starts_with("cuda/") || path.starts_with("nv/");
        let is_known = HEADERS.iter().any(|header| path == Some(header.path));
        let is_system = is_known || (what.starts_with('<') && path.is_some_and(of_system));
        self.of_project |= !is_system;
        for (header, extent) in HEADERS.iter().zip(&mut self.extents) {
            if path == Some(header.path) && extent.open.is_none() {
                extent.open = Some((at, groups));
            }
        }
    }

    /// The headers that are included somewhere.
    pub fn included(&self) -> impl Iterator<Item = &'static str> {
        let is_included = |extent: &Extent| extent.open.is_some() || !extent.closed.is_empty();
        HEADERS
            .iter()
            .zip(&self.extents)
            .filter(move |(_, extent)| is_included(extent))
            .map(|(header, _)| header.path)
    }

    /// Notes that a branch ends at byte `at`, which so many groups are around, its own included.
    pub fn end_branch(&mut self, at: u32, groups: usize) {
        for extent in &mut self.extents {
            if let Some((start, _)) = extent.open.take_if(|(_, around)| *around == groups) {
                extent.closed.push((start, at));
            }
        }
    }

    /// Notes the end of the file. `defines` tells whether the file has a macro of a name, which is then what it says.
    pub fn finish(&mut self, defines: impl Fn(&str) -> bool) {
        for (header, extent) in HEADERS.iter().zip(&mut self.extents) {
            extent.closed.extend(extent.open.take().map(|(start, _)| (start, u32::MAX)));
            if defines(header.refused_by) || header.names.iter().any(|(name, _)| defines(name)) {
                extent.closed.clear();
            }
        }
    }

    /// The type that a name of a header means at byte `at`.
    pub fn type_of(&self, name: &str, at: u32) -> Option<CType> {
        HEADERS.iter().zip(&self.extents).find_map(|(header, extent)| {
            let (_, meant) = header.names.iter().find(|(short, _)| *short == name)?;
            let before = extent.closed.partition_point(|(start, _)| *start <= at);
            let (_, end) = extent.closed.get(before.checked_sub(1)?)?;
            (at < *end).then(|| CType::Record((*meant).into()))
        })
    }
}
