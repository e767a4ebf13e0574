//! A MutatingAdmissionPolicy that sets our finalizer when an object is created.

use crate::arguments::AdmissionVersion;
use ingester_config::Ingester;
use ingester_core::Kind;
use ingester_core::kind::Finalizer;
use ingester_core::marks::Mark;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the kinds whose objects get our finalizer while they live. For a kind with a filter, only the ingester knows which objects get
/// it.
pub(super) fn ensured<'k>(kinds: &'k [Kind], config: &Ingester) -> Vec<&'k Kind> {
    kinds.iter().filter(|kind| config.finalizer_of(kind) == Finalizer::Ensure && !kind.filtered()).collect()
}

/// Returns the policy and its binding, for these kinds of one program.
///
/// # Errors
/// If they cannot be written as YAML.
pub(super) fn policy(
    name: &str,
    kinds: &[&Kind],
    config: &Ingester,
    version: AdmissionVersion,
) -> Result<String, anyhow::Error> {
    let mut text = String::from(
        "# Sets the finalizer of the ingester when an object is created: one that is created and deleted while no ingester runs waits for it.\n\
         # It never refuses an object: where the policy cannot be evaluated, the ingester adds the finalizer, as it does without the policy.\n\
         # Delete it before `ingester finalizers remove`.\n",
    );
    for object in objects(name, kinds, config, version) {
        text.push_str("---\n");
        text.push_str(&ingester_declare::yaml::to_string(&object)?);
    }
    Ok(text)
}

fn objects(name: &str, kinds: &[&Kind], config: &Ingester, version: AdmissionVersion) -> [Value; 2] {
    let api_version = format!("admissionregistration.k8s.io/{}", version.name());
    let name = format!("{name}-finalizer");
    let metadata = json!({"name": name, "labels": {"app.kubernetes.io/name": "ingester"}});
    let mut resources: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for kind in kinds {
        resources.entry(kind.group()).or_default().insert(kind.plural().into_owned());
    }
    // The rule matches an object in every version in which it is created.
    let rule = |(group, resources): (&str, BTreeSet<String>)| json!({"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": resources});
    let rules: Vec<Value> = resources.into_iter().map(rule).collect();
    let mut constraints = json!({"resourceRules": rules});
    if !config.namespaces.is_empty() {
        let own = json!({"key": "kubernetes.io/metadata.name", "operator": "In", "values": config.namespaces});
        constraints["namespaceSelector"] = json!({"matchExpressions": [own]});
    }
    // All kinds of a program have one prefix.
    let finalizer = kinds.first().map(|kind| kind.marks().name(Mark::Finalizer).to_string()).unwrap_or_default();
    let lacks =
        format!("!(has(object.metadata.finalizers) && object.metadata.finalizers.exists(name, name == '{finalizer}'))");
    let add = format!(
        "has(object.metadata.finalizers) ? [JSONPatch{{op: \"add\", path: \"/metadata/finalizers/-\", value: \"{finalizer}\"}}] : \
         [JSONPatch{{op: \"add\", path: \"/metadata/finalizers\", value: [\"{finalizer}\"]}}]"
    );
    let policy = json!({
        "apiVersion": api_version, "kind": "MutatingAdmissionPolicy", "metadata": metadata,
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": constraints,
            "matchConditions": [{"name": "lacks-the-finalizer", "expression": lacks}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": add}}],
        },
    });
    let binding = json!({
        "apiVersion": api_version, "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata,
        "spec": {"policyName": name},
    });
    [policy, binding]
}

#[cfg(test)]
#[cfg(feature = "michelangelo")]
mod tests {
    use super::*;
    use crd_specs::KINDS;
    use k8s_openapi::api::admissionregistration::{v1, v1beta1};
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    /// Kubernetes' own type has every field, and no other.
    fn fits<T: DeserializeOwned + Serialize>(object: &Value) {
        let typed: T = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), *object);
    }

    #[test]
    fn the_policy_has_the_fields_of_kubernetes_types() {
        let kinds: Vec<&Kind> = KINDS.iter().collect();
        let config = Ingester { namespaces: vec!["team-a".into()], ..Ingester::default() };
        let [policy, binding] = objects("ingester", &kinds, &config, AdmissionVersion::V1);
        fits::<v1::MutatingAdmissionPolicy>(&policy);
        fits::<v1::MutatingAdmissionPolicyBinding>(&binding);
        let [policy, binding] = objects("ingester", &kinds, &config, AdmissionVersion::V1beta1);
        fits::<v1beta1::MutatingAdmissionPolicy>(&policy);
        fits::<v1beta1::MutatingAdmissionPolicyBinding>(&binding);
        let constraints = &policy["spec"]["matchConstraints"];
        assert_eq!(constraints["namespaceSelector"]["matchExpressions"][0]["values"], json!(["team-a"]));
        assert_eq!(constraints["resourceRules"][0]["apiGroups"], json!(["michelangelo.api"]));
        let expression = policy["spec"]["mutations"][0]["jsonPatch"]["expression"].as_str().unwrap();
        assert!(expression.contains("value: [\"michelangelo/Ingester\"]"), "{expression}");
    }

    #[test]
    fn a_kind_that_does_not_ensure_the_finalizer_is_left_out() {
        let config = Ingester { finalizer: Some(Finalizer::Existing), ..Ingester::default() };
        assert!(ensured(KINDS, &config).is_empty());
        assert_eq!(ensured(KINDS, &Ingester::default()).len(), KINDS.len());
    }
}
