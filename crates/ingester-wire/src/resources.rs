//! The resources that pods request: quantities that are added and compared as Kubernetes does, and the rule that adds up a pod's
//! containers.
//! May use: ingester-json, quantity.
//!
//! For each resource, a pod needs the sum of its containers, or the largest need of an init container if that is more, because init
//! containers run before the others, one after another.

use crate::quantity::{self, PARTS};
use ingester_json::json;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// A quantity with the way in which it was written: sums are written in the same way. Displays in Kubernetes' canonical form.
///
/// <https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Fractions below a billionth were rounded away from zero.
    billionths: i128,
    format: Format,
}

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `500m`, `2k`, `3`.
    Decimal,
    /// `2Ki`.
    Binary,
    /// `2e3`.
    Exponent,
}

impl Amount {
    /// Parses a quantity; `None` if it is not one, or beyond 10^29.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let billionths = quantity::parse(text)?;
        let suffix = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-'));
        let format = match suffix.as_bytes() {
            [_, b'i'] => Format::Binary,
            [b'e' | b'E', _, ..] => Format::Exponent,
            _ => Format::Decimal,
        };
        if format != Format::Binary {
            return Some(Amount { billionths, format });
        }
        // No binary quantity is larger than 2^63-1, and none is a fraction of one.
        let most = i128::from(i64::MAX) * PARTS;
        let format = if billionths.abs() < PARTS { Format::Decimal } else { format };
        Some(Amount { billionths: billionths.clamp(-most, most), format })
    }

    /// The sum, written as the first one is, unless that is zero.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = if self.billionths == 0 { other.format } else { self.format };
        Amount { billionths: self.billionths.saturating_add(other.billionths), format }
    }

    /// The larger one; of two that are equal the other one, which may be written in another way.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        if self.billionths <= other.billionths { other } else { self }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
        if self.billionths == 0 {
            return f.write_str("0");
        }
        // A binary suffix counts from 1024 on, and only for whole numbers.
        if self.format == Format::Binary && self.billionths.abs() >= 1024 * PARTS && self.billionths % PARTS == 0 {
            let mut number = self.billionths / PARTS;
            let mut power = 0;
            while power + 1 < BINARY.len() && number % 1024 == 0 {
                number /= 1024;
                power += 1;
            }
            return write!(f, "{number}{}", BINARY[power]);
        }
        // The largest power of a thousand that leaves no fraction.
        let mut number = self.billionths;
        let mut thousands = 0_usize;
        while (self.format == Format::Exponent || thousands + 1 < DECIMAL.len()) && number % 1000 == 0 {
            number /= 1000;
            thousands += 1;
        }
        match (self.format, thousands) {
            (Format::Exponent, 3) => write!(f, "{number}"),
            (Format::Exponent, _) => write!(f, "{number}e{}", 3 * thousands as i64 - 9),
            _ => write!(f, "{number}{}", DECIMAL[thousands]),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Amount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as 500m or 2Gi")
            }
            // Our own reader answers the token with the text as it stands, so that a number keeps all its digits.
            fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Amount, E> {
                if !text.starts_with('"') {
                    return Amount::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Other(text), &self));
                }
                let text: String = json::from_str(text).map_err(E::custom)?;
                Amount::parse(&text).ok_or_else(|| E::invalid_value(Unexpected::Str(&text), &self))
            }
            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Amount, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Amount::parse(&text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &self))
            }
        }
        deserializer.deserialize_newtype_struct(json::RAW_TOKEN, Visitor)
    }
}

/// The resources of a container or a pod: Kubernetes' `ResourceRequirements`. Displays as JSON with sorted keys, and without empty parts. A
/// column of it is such a text: give it `type = "TEXT"` and `key = false`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Requirements {
    /// The most that it may use.
    pub limits: BTreeMap<String, Amount>,
    /// The amount that it needs.
    pub requests: BTreeMap<String, Amount>,
}

impl Requirements {
    /// Adds up the resources of a pod with these containers.
    pub fn of_pod<'a>(
        containers: impl IntoIterator<Item = &'a Requirements>,
        init_containers: impl IntoIterator<Item = &'a Requirements>,
    ) -> Self {
        let together = joined(containers, Amount::plus);
        // In this order: of two that are equal, the one that is named last decides how it is written.
        joined(&[joined(init_containers, Amount::larger), together], Amount::larger)
    }
}

/// For each resource, what `join` makes of those that have it.
fn joined<'a>(all: impl IntoIterator<Item = &'a Requirements>, join: fn(Amount, Amount) -> Amount) -> Requirements {
    let mut whole = Requirements::default();
    for one in all {
        for (into, from) in [(&mut whole.limits, &one.limits), (&mut whole.requests, &one.requests)] {
            for (resource, amount) in from {
                match into.get_mut(resource) {
                    Some(before) => *before = join(*before, *amount),
                    None => {
                        into.insert(resource.clone(), *amount);
                    }
                }
            }
        }
    }
    whole
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut comma = "";
        for (name, amounts) in [("limits", &self.limits), ("requests", &self.requests)] {
            if amounts.is_empty() {
                continue;
            }
            write!(f, "{comma}\"{name}\":{{")?;
            for (place, (resource, amount)) in amounts.iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                write!(f, "{comma}{}:\"{amount}\"", quoted(resource))?;
            }
            f.write_str("}")?;
            comma = ",";
        }
        f.write_str("}")
    }
}

/// The part of a pod's spec that says which resources it needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The containers.
    pub containers: Vec<Container>,
    /// Containers that run before them.
    pub init_containers: Vec<Container>,
}

/// The part of a container that says which resources it needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Container {
    /// Its resources.
    pub resources: Requirements,
}

impl PodSpec {
    /// Returns the resources that the pod needs.
    pub fn resources(&self) -> Requirements {
        Requirements::of_pod(
            self.containers.iter().map(|one| &one.resources),
            self.init_containers.iter().map(|one| &one.resources),
        )
    }
}

/// Some pods of one role of a job: the part that says how many there are, and which resources each needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ReplicaSpec {
    /// How many.
    pub replicas: Option<i32>,
    /// The template of these pods.
    pub template: PodTemplate,
}

/// The part of a pod's template that says which resources a pod needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodTemplate {
    /// The pods' spec.
    pub spec: PodSpec,
}

/// Returns the number of pods of each role, and the resources of each pod, as JSON:
/// `{"Worker":{"resources":{"limits":{"cpu":"2"}},"replicas":3}}`. A missing number is 0.
pub fn replicas(roles: &BTreeMap<String, ReplicaSpec>) -> String {
    let roles: Vec<String> = roles
        .iter()
        .map(|(role, spec)| {
            let resources = spec.template.spec.resources();
            let replicas = spec.replicas.unwrap_or(0);
            format!("{}:{{\"resources\":{resources},\"replicas\":{replicas}}}", quoted(role))
        })
        .collect();
    format!("{{{}}}", roles.join(","))
}

/// A text as JSON.
fn quoted(text: &str) -> serde_json::Value {
    serde_json::Value::from(text)
}

#[cfg(test)]
mod tests {
    use super::{Amount, PodSpec, ReplicaSpec, replicas};
    use ingester_json::json::from_str;
    use std::collections::BTreeMap;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn an_amount_is_written_in_canonical_form() {
        for (text, canonical) in [
            ("0", "0"),
            ("0Mi", "0"),
            ("-0", "0"),
            ("1.5", "1500m"),
            ("+1.5", "1500m"),
            ("1.500", "1500m"),
            ("1000m", "1"),
            ("0.1", "100m"),
            ("100000", "100k"),
            ("1000", "1k"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("1e4", "10e3"),
            ("1.5e3", "1500"),
            ("12e-1", "1200e-3"),
            ("1E", "1E"),
            ("1000E", "1000E"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("-0.1n", "-1n"),
            ("-2500m", "-2500m"),
            ("2Gi", "2Gi"),
            ("1024Mi", "1Gi"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("-1.5Gi", "-1536Mi"),
            ("0.5Ki", "512"),
            ("1023Ki", "1023Ki"),
            ("1500Ki", "1500Ki"),
            // Decimal if no binary suffix can express it.
            ("0.0001Ki", "102400u"),
            ("1.0001Ki", "1024102400u"),
            ("1.1Mi", "1153433600m"),
            // The largest one.
            ("8Ei", "9223372036854775807"),
            ("-16Ei", "-9223372036854775807"),
            ("7Ei", "7Ei"),
            ("2048Pi", "2Ei"),
            (" 5 ", "5"),
        ] {
            assert_eq!(amount(text).to_string(), canonical, "{text}");
        }
        for text in ["", "x", "1 Gi", "1e", "true", "{}", "1e70"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sum_is_written_as_its_first_part_that_is_not_zero() {
        for (parts, sum) in [
            (&["64Gi", "1G"][..], "69719476736"),
            (&["1G", "64Gi"], "69719476736"),
            (&["1Gi", "512Mi"], "1536Mi"),
            (&["64Mi", "0.5Gi"], "576Mi"),
            (&["0", "1Gi"], "1Gi"),
            (&["0Mi", "1000"], "1k"),
            (&["1k", "1Ki"], "2024"),
            (&["1Ki", "1k"], "2024"),
            (&["1Ki", "1m"], "1024001m"),
            (&["1e3", "1k"], "2e3"),
            (&["1k", "1e3"], "2k"),
            (&["16", "0"], "16"),
            (&["1", "-1"], "0"),
            (&["2Ki", "-1.5Ki"], "512"),
            (&["100m", "0.9"], "1"),
        ] {
            let sum_of = parts.iter().map(|text| amount(text)).reduce(Amount::plus).unwrap();
            assert_eq!(sum_of.to_string(), sum, "{parts:?}");
        }
    }

    #[test]
    fn a_pod_asks_for_the_sum_or_for_its_largest_init_container() {
        let of = |spec: &str| from_str::<PodSpec>(spec).map(|spec| spec.resources().to_string());
        let spec = r#"{
            "initContainers": [
                {"resources": {"requests": {"cpu": "3", "memory": "1024Mi", "z": 1}}},
                {"name": "empty"},
                {"resources": {"limits": {}, "requests": {"cpu": "2999m", "memory": null}}}],
            "containers": [
                {"resources": {"limits": {"cpu": 1.50, "b\"": "1"}, "requests": {"memory": "1Gi"}}},
                {"resources": null},
                {"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}, "claims": [{"name": "gpu"}]}}]}"#;
        let wanted = r#"{"limits":{"b\"":"1","cpu":"2500m"},"requests":{"cpu":"3","memory":"1Gi","z":"1"}}"#;
        assert_eq!(of(spec), Ok(wanted.into()));
        assert_eq!(of("{}"), Ok("{}".into()));
        // If two are equal, the containers' is written.
        let equal = r#"{"initContainers": [{"resources": {"limits": {"memory": "1Gi"}}}],
            "containers": [{"resources": {"limits": {"memory": "1073741824"}}}]}"#;
        assert_eq!(of(equal), Ok(r#"{"limits":{"memory":"1073741824"}}"#.into()));
        let error = of(r#"{"containers": [{"resources": {"limits": {"cpu": "much"}}}]}"#).unwrap_err().to_string();
        assert_eq!(
            error,
            "containers[0].resources.limits.cpu: expected a quantity such as 500m or 2Gi, found string \"much\""
        );
        assert!(of(r#"{"containers": [{"resources": {"limits": {"cpu": true}}}]}"#).is_err());
        let other: PodSpec =
            serde_json::from_str(r#"{"containers": [{"resources": {"limits": {"cpu": 2}}}]}"#).unwrap();
        assert_eq!(other.resources().to_string(), r#"{"limits":{"cpu":"2"}}"#);
    }

    #[test]
    fn replicas_are_listed_by_role() {
        let of = |text: &str| from_str::<BTreeMap<String, ReplicaSpec>>(text).map(|roles| replicas(&roles));
        let roles = r#"{"Worker": {"replicas": 2, "template": {"spec": {"containers": [{"resources": {"limits": {"gpu": 1}}}]}}},
            "Master": {"replicas": null}, "None": null}"#;
        let wanted =
            r#"{"Master":{"resources":{},"replicas":0},"Worker":{"resources":{"limits":{"gpu":"1"}},"replicas":2}}"#;
        assert_eq!(of(roles), Ok(wanted.into()));
        assert_eq!(of("{}"), Ok("{}".into()));
        assert!(of(r#"{"Worker": []}"#).is_err());
    }
}
