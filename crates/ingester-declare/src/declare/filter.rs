//! Conditions of a kind's filter. A filter that no object meets marks every row of its kind as deleted, so typical mistakes, and conditions
//! that the schema of the CRD proves to be impossible, are faults.

use super::crd;
use super::path::{Condition, Function, Step};
use ingester_core::nearest::nearest;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};

/// The schema that a CRD has for the objects of a version.
#[derive(Clone, Copy)]
pub(super) struct ObjectSchema<'s> {
    pub(super) schema: &'s JSONSchemaProps,
    /// The API server stores fields that the schema does not have, so an unknown path proves nothing.
    keeps_unknown: bool,
}

impl<'s> ObjectSchema<'s> {
    /// The schema of a version; `None` without one.
    pub(super) fn from_crd(
        crd: &CustomResourceDefinition,
        version: &'s CustomResourceDefinitionVersion,
    ) -> Option<ObjectSchema<'s>> {
        let keeps_unknown = crd.spec.preserve_unknown_fields == Some(true);
        crd::schema(version).map(|schema| ObjectSchema { schema, keeps_unknown })
    }
}

/// Reads a condition of a filter.
///
/// # Errors
/// The mistake, with the remedy.
pub(super) fn condition(text: &str, by: Option<ObjectSchema<'_>>) -> Result<Condition, String> {
    if let Some(what) = habit(text) {
        return Err(what);
    }
    let condition = Condition::parse(text)?;
    let of_brackets = condition.path.steps.iter().filter_map(|step| match step {
        Step::Match(_, literal, _) => Some(literal),
        Step::Name(_) | Step::Index(_) | Step::Each => None,
    });
    let mut bare = condition.literals.iter().chain(of_brackets).filter(|literal| !is_in_double_quotes(text, literal));
    if let Some(what) = bare.find_map(|literal| foreign_quotes(literal)) {
        return Err(what);
    }
    match by.and_then(|by| by.refutes(&condition)) {
        Some(what) => Err(format!("{what}; no object would meet this condition")),
        None => Ok(condition),
    }
}

/// Returns the mistake and the remedy if the text follows a habit from SQL or from programming languages.
fn habit(text: &str) -> Option<String> {
    let rest = outside(text);
    let lower = rest.to_lowercase();
    let has = |words: [&'static str; 2]| words.into_iter().find(|word| lower.contains(word));
    if let Some(word) = has([" and ", "&&"]) {
        let word = word.trim();
        return Some(format!(
            "`{word}` does not join conditions: write each as an element of a list, where all must hold; a text with `{word}` in it \
             needs double quotes"
        ));
    }
    if let Some(word) = has([" or ", "||"]) {
        let word = word.trim();
        return Some(format!(
            "`{word}` does not join conditions: for several values of one path write `path in (a, b)`; a text with `{word}` in it needs \
             double quotes"
        ));
    }
    let value = rest.split_once('=').map(|(_, value)| value.trim_start_matches('=').trim())?;
    foreign_quotes(value)
}

/// Why a value is not written in these quotes.
fn foreign_quotes(value: &str) -> Option<String> {
    let first = value.chars().next().filter(|first| matches!(first, '\'' | '`' | '‘' | '’' | '“' | '”'))?;
    let bare = value.trim_matches(|c| matches!(c, '\'' | '`' | '‘' | '’' | '“' | '”'));
    Some(format!("the quotes {first} would be part of the text: write \"{bare}\", or the text without quotes"))
}

/// Returns true if a text of a condition is written in double quotes.
fn is_in_double_quotes(text: &str, literal: &str) -> bool {
    text.contains(&serde_json::Value::from(literal).to_string())
}

/// A condition without its texts in double quotes, and without all that is in brackets.
fn outside(text: &str) -> String {
    let mut rest = String::new();
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for c in text.chars() {
        if quoted {
            quoted = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => quoted = true,
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => rest.push(c),
            _ => {}
        }
    }
    rest
}

impl ObjectSchema<'_> {
    /// Why no object can meet a condition; `None` where one may.
    fn refutes(self, condition: &Condition) -> Option<String> {
        let path = &condition.path;
        if matches!(path.member(), Some("metadata" | "apiVersion" | "kind")) {
            return None;
        }
        if let Some(what) = self.refutes_matches(&path.steps) {
            return Some(what);
        }
        let found = match crd::at(self.schema, &path.steps) {
            Ok(found) => found?,
            Err(what) => return (!self.keeps_unknown).then_some(what),
        };
        let lower = match &path.functions[..] {
            [] | [Function::Text] => false,
            [Function::Lower] => true,
            // No schema describes what is in a text of JSON.
            _ => return None,
        };
        // One possible value is enough.
        let mut reasons = condition.literals.iter().map(|literal| impossible(found, literal, lower));
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(first)
    }

    /// As above, for steps such as `[type=Ready]`: no element has such a value.
    fn refutes_matches(self, steps: &[Step]) -> Option<String> {
        let of_step = |(place, step): (usize, &Step)| {
            let Step::Match(names, literal, None) = step else { return None };
            // The check of the whole path finds mistakes before the step.
            let element = crd::at(self.schema, &steps[..=place]).ok()??;
            let names: Vec<Step> = names.iter().cloned().map(Step::Name).collect();
            match crd::at(element, &names) {
                Ok(found) => impossible(found?, literal, false),
                Err(what) => (!self.keeps_unknown).then_some(what),
            }
            .map(|what| format!("`{step}`: {what}"))
        };
        steps.iter().enumerate().find_map(of_step)
    }
}

/// Why a value of this schema is never written so; `None` where it may be.
fn impossible(schema: &JSONSchemaProps, literal: &str, lower: bool) -> Option<String> {
    if let Some(values) = &schema.enum_ {
        let written = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Some(value.to_string()),
            serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        };
        let values: Vec<String> = values.iter().filter_map(|value| written(&value.0)).collect();
        let values: Vec<String> =
            if lower { values.iter().map(|value| value.to_lowercase()).collect() } else { values };
        if values.iter().any(|value| value == literal) {
            return None;
        }
        let known: Vec<&str> = values.iter().map(String::as_str).collect();
        // Quotes are a part of the literal.
        let meant = nearest(literal.trim_matches(['\'', '"']), &known)
            .map(|meant| format!(", did you mean `{meant}`?"))
            .unwrap_or_default();
        return Some(format!("by the CRD, it is one of {}, never `{literal}`{meant}", known.join(", ")));
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        return None;
    }
    let said = schema.type_.as_deref()?;
    let is_number = || literal.parse::<f64>().is_ok_and(f64::is_finite);
    let is_whole = || literal.parse::<f64>().is_ok_and(|number| number.is_finite() && number.fract() == 0.0);
    let fits = match said {
        "boolean" => matches!(literal, "true" | "false"),
        "integer" => is_whole(),
        "number" => is_number(),
        "string" => {
            let length = i64::try_from(literal.chars().count()).unwrap_or(i64::MAX);
            match schema.max_length.filter(|most| length > *most) {
                Some(most) => {
                    return Some(format!("by the CRD, it has at most {most} characters, and this has {length}"));
                }
                None => true,
            }
        }
        "object" | "array" => {
            let what = if said == "object" { "an object" } else { "a list" };
            return Some(format!("by the CRD, it is {what}, and a condition compares texts, numbers and booleans"));
        }
        _ => true,
    };
    (!fits).then(|| format!("by the CRD, it is of type {said}, never `{literal}`"))
}

#[cfg(test)]
mod tests {
    use super::{ObjectSchema, condition};
    use crate::declare::crd;
    use crate::declare::tests::crd_of;

    const PROPERTIES: &str = r"
          spec:
            type: object
            properties:
              mode: {type: string, enum: [Batch, Long and slow, Stream]}
              level: {type: integer, enum: [1, 2]}
              replicas: {type: integer}
              ratio: {type: number}
              paused: {type: boolean}
              team: {type: string, maxLength: 5}
              port: {x-kubernetes-int-or-string: true}
              tags: {type: array, items: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {mode: {type: string, enum: [a]}}}
              limits: {type: object, additionalProperties: {type: boolean}}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
          status:
            type: object
            properties:
              conditions:
                type: array
                items:
                  type: object
                  properties: {type: {type: string, enum: [Ready, Failed]}, status: {type: string}}
";

    /// The messages about a condition, with the schema and without; empty for none.
    fn said(text: &str, keeps_unknown: bool) -> [String; 2] {
        let mut crd = crd::parse(crd_of("Job", PROPERTIES).as_bytes()).unwrap().remove(0);
        crd.spec.preserve_unknown_fields = Some(keeps_unknown);
        let by = ObjectSchema::from_crd(&crd, &crd.spec.versions[0]);
        [by, None].map(|by| condition(text, by).err().unwrap_or_default())
    }

    #[test]
    fn a_condition_that_no_object_meets_by_the_schema_is_a_mistake() {
        for (text, what) in [
            (".spec.moed = Batch", "by the CRD, `.spec` has no `.moed`, did you mean `.mode`?"),
            (".spec.moed", "by the CRD, `.spec` has no `.moed`"),
            (".spec.mode = Batsch", "it is one of Batch, Long and slow, Stream, never `Batsch`, did you mean `Batch`?"),
            (".spec.mode = \"'Batch'\"", "never `'Batch'`, did you mean `Batch`?"),
            (".spec.mode in (Batsch, Steam)", "never `Batsch`"),
            (".spec.mode | lower = Batch", "it is one of batch, long and slow, stream, never `Batch`"),
            (".spec.level = 3", "it is one of 1, 2, never `3`"),
            (".spec.replicas = many", "it is of type integer, never `many`"),
            (".spec.replicas = 1.5", "it is of type integer"),
            (".spec.ratio = half", "it is of type number"),
            (".spec.paused = yes", "it is of type boolean, never `yes`"),
            (".spec.limits.cpu = 1", "it is of type boolean"),
            (".spec.team = research", "at most 5 characters"),
            (".spec.tags = a", "it is a list"),
            (".spec = a", "it is an object"),
            (".spec.open.mode = b", "it is one of a, never `b`"),
            (
                ".status.conditions[type=Raedy].status = True",
                "`[type=\"Raedy\"]`: by the CRD, it is one of Ready, Failed",
            ),
            (".status.conditions[tpye=Ready].status = True", "has no `.tpye`, did you mean `.type`?"),
        ] {
            let [with, without] = said(text, false);
            assert!(with.contains(what) && with.ends_with("; no object would meet this condition"), "{text}: {with}");
            assert_eq!(without, "", "{text}");
        }
    }

    #[test]
    fn a_condition_that_an_object_may_meet_is_none() {
        for text in [
            ".spec.mode = Batch",
            ".spec.mode = \"Long and slow\"",
            ".spec.mode in (Batch, Batsch)",
            ".spec.mode in (Long and slow, Batch)",
            ".spec.mode | lower = batch",
            ".spec.level = 2",
            ".spec.replicas = 3",
            ".spec.ratio = 0.5",
            ".spec.paused = true",
            ".spec.port = http",
            ".spec.tags[0] = a",
            ".spec.free.anything = 'a",
            ".spec.open.other = b",
            ".spec.limits.cpu = true",
            ".spec.pod.metadata.name = a",
            ".spec",
            ".status.conditions[type=Ready].status = True",
            ".status.conditions[type=Other, 0].status = True",
            ".metadata.labels.app = x",
            ".metadata.labels[\"a and b\"] = x",
        ] {
            let expected = if text.ends_with("'a") { "the quotes ' would be part of the text" } else { "" };
            let [with, without] = said(text, false);
            assert!(with.starts_with(expected) && with.is_empty() == expected.is_empty(), "{text}: {with}");
            assert_eq!(with, without, "{text}");
        }
        // Here the API server stores what the schema does not have.
        assert_eq!(said(".spec.moed = Batch", true)[0], "");
        assert!(said(".spec.mode = Batsch", true)[0].contains("did you mean `Batch`?"));
    }

    #[test]
    fn habits_from_sql_are_mistakes_whether_or_not_there_is_a_schema() {
        for (text, what) in [
            (
                ".spec.mode = 'Batch'",
                "the quotes ' would be part of the text: write \"Batch\", or the text without quotes",
            ),
            (".spec.mode == 'Batch'", "write \"Batch\""),
            (".spec.mode='a, b'", "write \"a, b\""),
            (".spec.mode = `Batch`", "the quotes ` would"),
            (".spec.mode = “Batch”", "write \"Batch\""),
            (".spec.mode in ('Batch', 'Stream')", "write \"Batch\""),
            (".status.conditions[type='Ready'].status = True", "write \"Ready\""),
            (".spec.mode = Batch and .spec.paused = true", "`and` does not join conditions: write each as an element"),
            (".spec.mode = Batch AND .spec.paused = true", "`and` does not join"),
            (".spec.mode = Batch && .spec.paused = true", "`&&` does not join"),
            (".spec.mode and .spec.paused", "`and` does not join"),
            (
                ".spec.mode = Batch or .spec.mode = Stream",
                "`or` does not join conditions: for several values of one path",
            ),
            (".spec.mode = Batch || .spec.mode = Stream", "`||` does not join"),
        ] {
            for said in said(text, false) {
                assert!(said.contains(what), "{text}: {said}");
            }
        }
        assert_eq!(said(".spec.team = \"and\"", false), ["", ""]);
        assert_eq!(said(".spec.free.text = \"'quoted' and more\"", false), ["", ""]);
    }
}
