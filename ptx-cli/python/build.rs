//! Has the linker of macOS accept that the interpreter brings symbols.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
