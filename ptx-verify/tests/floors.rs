//! The modules of this crate and of `ptx-facts` below it lie on floors, and call down the stairs only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// From the top to the bottom. A module uses those of its own floor and of those below.
const FLOORS: [&[&str]; 5] = [&["engine"], &["rules"], &["rule"], &["subject", "objects"], &["facts"]];

/// The crate below, and its folder.
const FACTS: &str = "facts";

/// Modules that may use each other, since each is a part of what the others are.
const WANTED: [&[&str]; 3] = [
    &["facts::initialization::flow", "facts::initialization::observers"],
    &["facts::values::pointer", "facts::values::propagate", "facts::values::shared"],
    &["subject::module", "subject::summary"],
];

/// The modules of both crates with the text of each, without its tests.
fn modules() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut modules = modules_of(&root.join("src"), "");
    modules.extend(modules_of(&root.join(FACTS).join("src"), FACTS));
    modules
}

fn modules_of(root: &Path, of: &str) -> BTreeMap<String, String> {
    let mut folders = vec![root.to_owned()];
    let mut modules = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                modules.insert(name_of(root, of, &path), code.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    modules
}

/// As in `facts::values::graph`; this crate itself is the empty name.
fn name_of(root: &Path, of: &str, path: &Path) -> String {
    let path: PathBuf = Path::new(of).join(path.strip_prefix(root).unwrap()).with_extension("");
    let mut parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
    if matches!(parts.last(), Some(&"mod" | &"lib")) {
        parts.pop();
    }
    parts.join("::")
}

/// The paths that a text names, with the braces of `use` multiplied out.
fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in
        ["crate::", "super::", "self::", "ptx_facts::"].iter().flat_map(|word| text.match_indices(word))
    {
        let begins = !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || "_:".contains(letter));
        if begins {
            expand(&text[at..], "", &mut found);
        }
    }
    found
}

/// Reads one path, and those in its braces; gives how many bytes that was.
fn expand(text: &str, before: &str, found: &mut Vec<String>) -> usize {
    let is_of_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let end = text.find(|letter| !is_of_path(letter)).unwrap_or(text.len());
    let path = format!("{before}{}", &text[..end]);
    if !path.ends_with("::") || !text[end..].starts_with('{') {
        found.push(path);
        return end;
    }
    let mut at = end + 1;
    while at < text.len() {
        at += text[at..].len() - text[at..].trim_start().len();
        match text[at..].chars().next() {
            Some('}') => return at + 1,
            Some(letter) if is_of_path(letter) => at += expand(&text[at..], &path, found),
            Some(letter) => at += letter.len_utf8(),
            None => break,
        }
    }
    at
}

/// The module that a path leads to, seen from a module.
fn target<'m>(modules: &'m BTreeMap<String, String>, from: &str, path: &str) -> Option<&'m str> {
    let mut base: Vec<&str> = from.split("::").filter(|part| !part.is_empty()).collect();
    let mut rest = path.split("::").filter(|part| !part.is_empty()).peekable();
    match rest.next()? {
        "crate" => base.truncate(usize::from(base.first() == Some(&FACTS))),
        "ptx_facts" => base = vec![FACTS],
        "super" => drop(base.pop()),
        _ => {}
    }
    while rest.next_if_eq(&"super").is_some() {
        base.pop();
    }
    let mut name = base.join("::");
    for part in rest {
        let longer = if name.is_empty() { part.to_owned() } else { format!("{name}::{part}") };
        if !modules.contains_key(&longer) {
            break;
        }
        name = longer;
    }
    modules.get_key_value(&name).map(|(name, _)| name.as_str()).filter(|name| *name != from)
}

fn edges(modules: &BTreeMap<String, String>) -> BTreeSet<(&str, &str)> {
    let mut edges = BTreeSet::new();
    for (from, text) in modules.iter().filter(|(from, _)| !from.is_empty()) {
        for path in paths(text) {
            edges.extend(target(modules, from, &path).map(|to| (from.as_str(), to)));
        }
    }
    edges
}

fn floor(module: &str) -> Option<usize> {
    let outermost = module.split("::").next()?;
    FLOORS.iter().position(|floor| floor.contains(&outermost))
}

#[test]
fn no_module_calls_up_the_stairs() {
    let modules = modules();
    let up: Vec<_> = edges(&modules)
        .into_iter()
        .filter(|(from, to)| floor(from).zip(floor(to)).is_some_and(|(from, to)| from > to))
        .collect();
    assert!(up.is_empty(), "{up:#?}");
    let elsewhere: Vec<_> = modules.keys().filter(|name| !name.is_empty() && floor(name).is_none()).collect();
    assert!(elsewhere.is_empty(), "on no floor: {elsewhere:?}");
}

#[test]
fn modules_that_need_each_other_are_few() {
    let modules = modules();
    let names: Vec<&str> = modules.keys().map(String::as_str).collect();
    let index = |name: &str| names.binary_search(&name).unwrap() as u32;
    let graph: DiGraph<(), ()> =
        DiGraph::from_edges(edges(&modules).into_iter().map(|(from, to)| (index(from), index(to))));
    let components = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    let mut knots: Vec<Vec<&str>> =
        components.map(|knot| knot.into_iter().map(|module| names[module.index()]).collect()).collect();
    knots.iter_mut().for_each(|knot| knot.sort_unstable());
    knots.sort();
    assert_eq!(knots, WANTED.map(<[&str]>::to_vec));
}
