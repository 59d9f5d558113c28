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
fn the_picture_on_the_first_screen_is_real() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let line = readme.lines().position(|line| line.contains("](docs/terminal.svg)")).unwrap();
    assert!(line < 20, "the picture is not on the first screen");
    let picture = std::fs::read_to_string(root().join("docs/terminal.svg")).unwrap();
    let shown = picture.split("<desc>").nth(1).unwrap().split("</desc>").next().unwrap();
    let shown = shown
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#x27;", "'")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    let (command, expected) = shown.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.strip_prefix("$ ptx-cli ").unwrap().split(' ').collect();
    let output = Scratch::new().command(&arguments).current_dir(root()).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let again = "docs/terminal.py target/debug/ptx-cli draws it anew";
    assert_eq!(String::from_utf8_lossy(&printed).trim_end(), expected, "{again}");
}

#[test]
fn the_version_of_rust_is_named() {
    let needed = format!("Rust {} or newer", env!("CARGO_PKG_RUST_VERSION"));
    assert!(std::fs::read_to_string(root().join("README.md")).unwrap().contains(&needed), "{needed}");
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    // Between releases README names the last one, whose heading follows that of what is to come; before the first, that one.
    let changelog = read("CHANGELOG.md");
    let first = changelog.lines().find_map(|line| line.strip_prefix("## [")?.split(']').next()).unwrap();
    let released = match version.strip_suffix("-dev") {
        None => version,
        Some(next) => {
            assert_eq!(first, "Unreleased");
            let mut headings =
                changelog.lines().filter_map(|line| line.strip_prefix("## [")?.split(']').next());
            headings.nth(1).unwrap_or(next)
        }
    };
    assert!(
        first == version || version.ends_with("-dev"),
        "CHANGELOG.md begins with {first}, and this is {version}"
    );
    // What cannot be installed yet is not offered without a word.
    let is_released = version == released || changelog.contains(&format!("## [{released}]"));
    for (file, mentions) in
        [("README.md", 4), ("docs/pages/ci.md", 2), ("docs/pages/install.md", 1), ("docs/pages/index.md", 1)]
    {
        let text = read(file);
        let found = text.matches("not released yet").count();
        assert_eq!(found, if is_released { 0 } else { mentions }, "{file} says wrongly what is released");
        if !matches!(file, "README.md" | "docs/pages/ci.md") {
            continue;
        }
        for line in ["rev: v", "ptx-toolkit@v"] {
            let named = text.split(line).nth(1).and_then(|rest| rest.split_whitespace().next());
            assert_eq!(named, Some(released), "{file}: {line}");
        }
    }
    for crate_folder in [
        "ptx-cli",
        "ptx-cli/python",
        "ptx-emit",
        "ptx-ir",
        "ptx-syntax",
        "ptx-verify",
        "ptx-verify/facts",
        "tests",
    ] {
        let manifest = read(&format!("{crate_folder}/Cargo.toml"));
        assert!(manifest.contains("version.workspace = true"), "{crate_folder} has a version of its own");
    }
    assert!(
        read("pyproject.toml").contains("dynamic = [\"version\"]"),
        "pyproject.toml has a version of its own"
    );
}

#[test]
fn rules_lead_to_the_pages_of_the_book() {
    let book = std::fs::read_to_string(root().join("docs/mkdocs.yml")).unwrap();
    let site = book.lines().find_map(|line| line.strip_prefix("site_url: ")).unwrap();
    let scratch = Scratch::new();
    scratch.file("good.ptx", common::GOOD);
    let log = scratch.run(&["verify", "--message-format", "sarif", "good.ptx"]);
    let log: serde_json::Value = serde_json::from_str(&log.stdout).unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.len() > 50);
    for rule in rules {
        let (name, page) = (rule["name"].as_str().unwrap(), rule["helpUri"].as_str().unwrap());
        assert_eq!(page, format!("{site}rules/{name}/"));
    }
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
