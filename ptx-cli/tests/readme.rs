//! What the README shows is what the program prints.

mod common;

use common::Scratch;

/// The text between the line that begins with `fence` and the closing fence.
fn blocks<'t>(text: &'t str, fence: &str) -> Vec<&'t str> {
    let open = format!("```{fence}\n");
    let parts = text.split(&open).skip(1);
    parts.map(|part| part.split("\n```").next().unwrap()).collect()
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_diagnostic_on_the_first_screen_is_real() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = blocks(&readme, "console")[0];
    let (command, expected) = shown.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.strip_prefix("$ ptx-cli ").unwrap().split(' ').collect();
    let output = Scratch::new().command(&arguments).current_dir(root()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected);
    let line = readme.lines().position(|line| line.starts_with("$ ptx-cli")).unwrap();
    assert!(line < 40, "the diagnostic is not on the first screen");
}

#[test]
fn the_kernel_of_the_first_screen_verifies_clean() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let command = blocks(&readme, "sh")[0];
    let arguments: Vec<&str> = command.split_once(" -- ").unwrap().1.split(' ').collect();
    let output = Scratch::new().command(&arguments).current_dir(root()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn the_configuration_that_is_shown_is_read() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let scratch = Scratch::new();
    scratch.file("ptx.toml", blocks(&readme, "toml")[0]);
    scratch.file("good.ptx", common::GOOD);
    let answer = scratch.run(&["verify", "good.ptx"]);
    assert_eq!(answer.status, 0, "{answer:?}");
}
