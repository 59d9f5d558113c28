//! What a shared object with this crate in it exports.
#![cfg(all(unix, feature = "cuda"))]

use std::process::Command;

#[test]
fn a_shared_object_exports_no_function_of_the_driver() {
    // Cargo builds examples before tests, and puts them beside the folder of the tests.
    let test = std::env::current_exe().unwrap();
    let examples = test.ancestors().nth(2).unwrap().join("examples");
    let plugin = ["libplugin.so", "libplugin.dylib"].map(|name| examples.join(name));
    let plugin = plugin
        .iter()
        .find(|path| path.is_file())
        .expect("`cargo test` builds it, and so does `cargo build --example plugin`");
    // What the linker of this platform comes with.
    let nm =
        Command::new("nm").args(["--defined-only", "--extern-only"]).arg("-D").arg(plugin).output().unwrap();
    assert!(nm.status.success(), "{}", String::from_utf8_lossy(&nm.stderr));
    let text = String::from_utf8(nm.stdout).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert!(names.iter().any(|name| name.trim_start_matches('_') == "plugin_count_functions"), "{text}");
    let of_the_driver = names.iter().filter(|name| {
        let rest = name.trim_start_matches('_').strip_prefix("cu");
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    });
    assert_eq!(of_the_driver.count(), 0, "{text}");
}
