//! The JSON schema of `ptx.toml`, with which editors complete and check it. It is made of the table of keys and of the
//! rules, targets and versions that there are.

use ptx_ir::target::Target;
use ptx_ir::version::Version;
use serde_json::{Map, Value, json};

use ptx_project::BOOK;
use ptx_project::config::{Key, Kind, keys_of};

/// The schema.
pub fn schema() -> Value {
    let mut schema = table("");
    let fields = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": format!("{BOOK}ptx.schema.json"),
        "title": "ptx.toml",
        "description": "What a project wants verified of its PTX, and how.",
    });
    let mut all: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
    if let Some(fields) = schema.as_object_mut() {
        all.append(fields);
    }
    let levels = json!({
        "description": "How loudly a rule is reported.",
        "enum": ["allow", "info", "warn", "error"],
    });
    all.insert("definitions".to_owned(), json!({ "level": levels, "levels": levels_of_rules() }));
    Value::Object(all)
}

fn table(name: &str) -> Value {
    let properties: Map<String, Value> =
        keys_of(name).map(|key| (key.name.to_owned(), property(name, key))).collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if name == "overrides" {
        schema["required"] = json!(["files"]);
    }
    schema
}

fn property(table_name: &str, key: &Key) -> Value {
    let targets = || Target::all().map(Target::as_str).collect::<Vec<_>>();
    let mut schema = match key.kind {
        Kind::Path => json!({ "type": "string" }),
        Kind::Patterns => json!({ "type": "array", "items": { "type": "string" } }),
        // Beside a reference nothing else counts, so the description needs a list around it.
        Kind::Levels => json!({ "allOf": [{ "$ref": "#/definitions/levels" }] }),
        Kind::Target => json!({ "enum": targets() }),
        Kind::Targets => json!({ "type": "array", "items": { "enum": targets() } }),
        Kind::Version => json!({ "enum": Version::ALL.iter().map(ToString::to_string).collect::<Vec<_>>() }),
        Kind::Compiler => json!({ "enum": ["nvcc", "clang", "both"], "default": "nvcc" }),
        Kind::Layout => json!({ "enum": ["compiler", "aligned"], "default": "compiler" }),
        Kind::Columns(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Table if table_name == "overrides" => table(&format!("overrides.{}", key.name)),
        Kind::Table => table(key.name),
        Kind::Tables => json!({ "type": "array", "items": table(key.name) }),
    };
    schema["description"] = key.description.into();
    schema
}

/// The names that a level can be given to.
fn levels_of_rules() -> Value {
    let mut properties = Map::new();
    let mut add = |name: &str, description: &str| {
        let level = json!({ "description": description, "allOf": [{ "$ref": "#/definitions/level" }] });
        properties.insert(name.to_owned(), level);
    };
    add("all", "All rules.");
    add("invalid", "What NVIDIA's assembler refuses.");
    add("hazard", "What assembles and goes wrong.");
    add("style", "Canonical form and unused things.");
    for rule in ptx_verify::rules() {
        let description = format!("{} ({}): {}", rule.code, rule.class.as_str(), rule.summary);
        add(rule.name, &description);
    }
    let codes = json!({ "^[A-Z][0-9]{4}$": { "$ref": "#/definitions/level" } });
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "patternProperties": codes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_in_the_repository_is_current() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/ptx.schema.json");
        let current = format!("{:#}\n", schema());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(file, &current).unwrap();
        }
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert!(kept == current, "BLESS=1 cargo test -p ptx-cli --lib schema writes {file}");
    }
}
