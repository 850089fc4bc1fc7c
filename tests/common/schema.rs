//! A validator for the part of JSON Schema that `docs/` uses. A keyword that it does not know is a
//! failure, and so is a field of the document that the schema does not describe: readers may meet
//! unknown fields one day, but ours are all described.

use serde_json::Value;

/// Keywords that only tell people something.
const ANNOTATIONS: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "format"];

/// What is wrong with the document, one line each; nothing if it is as the schema says.
pub(crate) fn validate(schema: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let checker = Checker { root: schema };
    checker.check(schema, document, "$", &mut faults);
    faults
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Some(keywords) = schema.as_object() else {
            faults.push(format!("{at}: the schema is no object"));
            return;
        };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                word if ANNOTATIONS.contains(&word) => {}
                "$ref" => self.check(self.resolve(wanted), value, at, faults),
                "anyOf" => self.any_of(wanted, value, at, faults),
                "type" if !has_type(wanted, value) => {
                    faults.push(format!("{at}: {value} is not of type {wanted}"));
                }
                "const" if wanted != value => faults.push(format!("{at}: {value} is not {wanted}")),
                "enum" if !wanted.as_array().is_some_and(|all| all.contains(value)) => {
                    faults.push(format!("{at}: {value} is none of {wanted}"));
                }
                "minimum" if value.is_number() && value.as_f64() < wanted.as_f64() => {
                    faults.push(format!("{at}: {value} is less than {wanted}"));
                }
                "required" => required(wanted, value, at, faults),
                "properties" => self.properties(wanted, value, at, faults),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}[{index}]"), faults);
                    }
                }
                "type" | "const" | "enum" | "minimum" => {}
                other => faults.push(format!("{at}: the schema has the unknown keyword {other}")),
            }
        }
    }

    fn resolve(&self, reference: &Value) -> &Value {
        let path = reference.as_str().and_then(|text| text.strip_prefix('#'));
        path.and_then(|path| self.root.pointer(path))
            .unwrap_or(&Value::Null)
    }

    fn any_of(&self, wanted: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let mut best: Option<Vec<String>> = None;
        for schema in wanted.as_array().into_iter().flatten() {
            let mut own = Vec::new();
            self.check(schema, value, at, &mut own);
            if best.as_ref().is_none_or(|best| own.len() < best.len()) {
                best = Some(own);
            }
        }
        faults.extend(best.unwrap_or_default());
    }

    fn properties(&self, wanted: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        for (name, field) in value.as_object().into_iter().flatten() {
            match wanted.get(name) {
                Some(schema) => self.check(schema, field, &format!("{at}.{name}"), faults),
                None => faults.push(format!("{at}.{name}: the schema does not describe it")),
            }
        }
    }
}

fn required(wanted: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    for name in wanted
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if value.get(name).is_none() {
            faults.push(format!("{at}: {name} is missing"));
        }
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => false,
    };
    match wanted.as_array() {
        Some(names) => names.iter().any(one),
        None => one(wanted),
    }
}

mod tests {
    use serde_json::json;

    use super::validate;

    #[test]
    fn faults_are_found() {
        let schema = json!({
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": { "type": ["integer", "null"], "minimum": 0 },
                "b": { "anyOf": [{ "$ref": "#/$defs/word" }, { "type": "null" }] },
                "c": { "type": "array", "items": { "const": 1 } }
            },
            "$defs": { "word": { "enum": ["x", "y"] } }
        });
        for good in [json!({"a": 1}), json!({"a": null, "b": "x", "c": [1, 1]})] {
            assert_eq!(validate(&schema, &good), [""; 0], "{good}");
        }
        for bad in [
            json!(1),
            json!({}),
            json!({"a": "1"}),
            json!({"a": -1}),
            json!({"a": 1.5}),
            json!({"a": 1, "b": "z"}),
            json!({"a": 1, "c": [1, 2]}),
            json!({"a": 1, "d": 0}),
        ] {
            assert!(!validate(&schema, &bad).is_empty(), "{bad}");
        }
        assert!(!validate(&json!({"patern": "x"}), &json!(1)).is_empty());
    }
}
