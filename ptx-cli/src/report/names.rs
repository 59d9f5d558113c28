//! Names as the source writes them: those of C++ and Rust are mangled in PTX.

use ptx_emit::assemble::Report;

/// Columns of a name in a table; names of templates are longer than any terminal.
const MAX_COLUMNS: usize = 72;

/// Puts the names as the source writes them into a report.
pub fn add_names(report: &mut Report) {
    for function in &mut report.functions {
        function.demangled = demangled(&function.name);
    }
}

/// The name as C++ or Rust writes it; `None` where it is not mangled.
fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    let is_mangled = name.starts_with("_Z");
    is_mangled.then(|| cpp_demangle::Symbol::new(name).ok()?.demangle().ok())?
}

/// The name as a message has it.
pub fn shown(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.to_owned())
}

/// The name of a function of C++ without namespaces and arguments.
pub fn plain(name: &str) -> Option<String> {
    let whole = demangled(name)?;
    let mut depth = 0u32;
    let mut plain = String::new();
    for character in whole.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            // That of an unnamed namespace is a part of the path.
            '(' if depth == 0 && !plain.is_empty() => break,
            ':' | ' ' if depth == 0 => plain.clear(),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    Some(plain)
}

/// The names for a table: without their ends where that still tells them apart.
pub fn shortened(names: &[String]) -> Vec<String> {
    let cut = |name: &String| match name.char_indices().nth(MAX_COLUMNS) {
        Some(_) => name.chars().take(MAX_COLUMNS - 1).chain(['…']).collect(),
        None => name.clone(),
    };
    let short: Vec<String> = names.iter().map(cut).collect();
    let is_told = |short_name: &String, name: &String| {
        short.iter().zip(names).all(|(other, whole)| other != short_name || whole == name)
    };
    let choose = |(short_name, name): (&String, &String)| {
        if is_told(short_name, name) { short_name.clone() } else { name.clone() }
    };
    short.iter().zip(names).map(choose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_the_source() {
        let of = |name: &str| demangled(name).unwrap_or_default();
        assert_eq!(of("_Z1kPfi"), "k(float*, int)");
        assert_eq!(of("_Z4gemmILi128ELb1E6__halfEvPKT1_"), "void gemm<128, true, __half>(__half const*)");
        assert_eq!(of("_ZN7kernels3add17h0123456789abcdefE"), "kernels::add");
        assert_eq!(of("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!((of("addition_256"), of("_Z"), of("_ZNNN")), <(String, String, String)>::default());
        let plain = |name: &str| plain(name).unwrap_or_default();
        assert_eq!(
            (plain("_Z1kPfi"), plain("_Z4gemmILi128ELb1E6__halfEvPKT1_")),
            ("k".into(), "gemm".into())
        );
        assert_eq!(plain("_ZN12_GLOBAL__N_13addEi"), "add");
        // What nests deeper than any name of a compiler is left as it is.
        let deep = |count: usize| format!("_Z1f{}i", "P".repeat(count));
        for hostile in
            [deep(100_000), format!("_Z{}", "N".repeat(100_000)), format!("_Z1f{}", "1AI".repeat(50_000))]
        {
            assert_eq!(of(&hostile), "");
        }
        assert_eq!(of(&deep(80)), format!("f(int{})", "*".repeat(80)));
    }

    #[test]
    fn long_names_are_cut_where_that_tells_them_apart() {
        let long = |end: &str| format!("{}{end}", "x".repeat(MAX_COLUMNS));
        let names = ["short".to_owned(), long("1")];
        assert_eq!(shortened(&names), ["short".to_owned(), format!("{}…", "x".repeat(MAX_COLUMNS - 1))]);
        let names = [long("1"), long("2"), long("2")];
        assert_eq!(shortened(&names), names);
    }
}
