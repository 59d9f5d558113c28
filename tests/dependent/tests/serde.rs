//! What `serde` writes is read again, and what it did not write does no harm.

use std::path::{Path, PathBuf};

use ptx_toolkit::syntax::{Class, Diagnostic, Severity};
use ptx_toolkit::verify::{Compiler, Requirements, requirements};
use ptx_toolkit::{Config, Level, Module, Target, Type, Version, check};
use serde_json::Value;

/// The data files of the repository, and the texts that the parser is tested with.
fn texts() -> Vec<(PathBuf, String)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open =
        vec![tests.join("cases"), tests.join("kernels"), tests.join("facts"), tests.join("modules")];
    let mut all = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ptx")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                all.push((path, text));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn modules_and_findings_are_read_as_they_were_written() {
    let texts = texts();
    for (path, text) in &texts {
        let parsed = Module::parse(text);
        let written = serde_json::to_string(&parsed.module).unwrap();
        let module: Module =
            serde_json::from_str(&written).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(module == parsed.module, "{}", path.display());
        let found = check(text, &Config::default());
        let again: Vec<Diagnostic> = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
        assert_eq!(again, found, "{}", path.display());
        let needed = requirements(&module);
        let again: Requirements = serde_json::from_str(&serde_json::to_string(&needed).unwrap()).unwrap();
        assert_eq!(again, needed, "{}", path.display());
    }
    assert!(texts.len() > 400, "{}", texts.len());
}

/// Numbers are exchanged, lists shortened and names emptied; what is taken for a module then can be printed and verified.
#[test]
fn what_was_changed_is_refused_or_does_no_harm() {
    let texts = texts();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % limit.max(1) as u64) as usize
    };
    let (mut refused, mut taken) = (0, 0);
    for (_, text) in texts.iter().filter(|(_, text)| text.len() < 4000).step_by(3) {
        let written = serde_json::to_value(Module::parse(text).module).unwrap();
        let places = places(&written);
        for _ in 0..12 {
            let mut changed = written.clone();
            for _ in 0..=below(2) {
                let place = &places[below(places.len())];
                match changed.pointer_mut(place) {
                    Some(Value::Number(number)) => *number = [0, 1, 2, 5, 40, 70_000][below(6)].into(),
                    Some(Value::Array(list)) => list.truncate(below(list.len())),
                    Some(value @ Value::String(_)) => *value = "".into(),
                    _ => {}
                }
            }
            match serde_json::from_value::<Module>(changed) {
                Err(_) => refused += 1,
                Ok(module) => {
                    taken += 1;
                    let (_, _) = module.check(&Config::default());
                }
            }
        }
    }
    assert!(refused > 200 && taken > 200, "{refused} refused, {taken} taken");
}

/// The places of all numbers, lists and strings.
fn places(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Array(list) => {
                open.extend(list.iter().enumerate().map(|(index, each)| (format!("{place}/{index}"), each)));
            }
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(key, each)| (format!("{place}/{key}"), each)));
                continue;
            }
            Value::Number(_) | Value::String(_) => {}
            _ => continue,
        }
        all.push(place);
    }
    all
}

/// What a user's own settings hold.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Settings {
    target: Target,
    version: Option<Version>,
    accumulator: Type,
    config: Config,
    compiler: Compiler,
    least: Severity,
    class: Class,
}

#[test]
fn settings_have_the_words_of_the_language() {
    let text = r#"{"target":"sm_90a","version":"8.6","accumulator":".f32","config":{"levels":{"style":"allow","P0205":"warn"}},
        "compiler":"both","least":"Warning","class":"Invalid"}"#;
    let settings: Settings = serde_json::from_str(text).unwrap();
    assert_eq!(settings.config.levels.of("operand-type", Class::Invalid), Some(Level::Warn));
    let again: Settings = serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
    assert_eq!(again, settings);
    for (good, bad) in
        [("sm_90a", "sm_9"), ("8.6", "8"), (".f32", "f32"), ("P0205", "P9999"), ("both", "gcc")]
    {
        assert!(serde_json::from_str::<Settings>(&text.replace(good, bad)).is_err(), "{bad}");
    }
}
