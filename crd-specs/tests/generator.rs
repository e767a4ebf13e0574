//! Generates objects of every kind with every field of the API from a seed, in the form in which decoding prints them.

use crate::places::{API, Shape};
use ingester_core::Kind;
use serde_json::{Map, Value as Json, json};

/// A small random number generator that proptest can shrink: one seed makes one object.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn draw_text(&mut self) -> String {
        let texts = ["a", "née", "日本語", "with \"quotes\" and \\", "\u{1F600}", "line\nbreak\u{0}", "0", "x"];
        texts[self.roll(texts.len() as u64) as usize].repeat(1 + self.roll(20) as usize)
    }

    /// Any JSON, as a `Struct` holds it.
    fn anything(&mut self, depth: u32) -> Json {
        match self.roll(if depth > 3 { 4 } else { 6 }) {
            0 => Json::Null,
            1 => json!(self.roll(2) == 0),
            2 => json!(self.roll(1 << 30) as f64 / 8.0),
            3 => json!(self.draw_text()),
            4 => (0..self.roll(4)).map(|_| self.anything(depth + 1)).collect(),
            _ => self.any_object(depth + 1),
        }
    }

    fn any_object(&mut self, depth: u32) -> Json {
        (0..self.roll(4))
            .map(|n| (format!("{}{n}", self.draw_text()), self.anything(depth)))
            .collect::<Map<_, _>>()
            .into()
    }

    fn time(&mut self) -> String {
        let fraction = ["", ".500", ".120", ".000007", ".999999999"][self.roll(5) as usize];
        let second = jiff::Timestamp::from_second(self.roll(4_000_000_000) as i64 - 1_000_000_000).unwrap();
        second.to_string().replace('Z', &format!("{fraction}Z"))
    }

    /// A non-zero value, in the form in which decoding prints it.
    fn value(&mut self, of: &'static str, depth: u32) -> Json {
        match of {
            "string" => json!(self.draw_text()),
            "bool" => json!(true),
            "int32" => json!(1 + self.roll(i32::MAX as u64) as i64 - if self.roll(2) == 0 { 1 << 31 } else { 0 })
                .take_nonzero(),
            "int64" => json!((1 + self.roll(u64::MAX - 1)).cast_signed().to_string()),
            "float" => json!((1 + self.roll(1 << 20)) as f32 / 4.0),
            "double" => json!((1 + self.roll(1 << 30)) as f64 / 16.0),
            "bytes" => json!("aGVsbG8="),
            "google.protobuf.Timestamp" | "k8s.io.apimachinery.pkg.apis.meta.v1.Time" => json!(self.time()),
            "google.protobuf.Duration" => json!(["3600s", "90.500s", "-1.000001s"][self.roll(3) as usize]),
            "google.protobuf.Struct" => self.any_object(0),
            "google.protobuf.Any" => json!({"@type": "type.googleapis.com/x.Y", "value": "aGVsbG8="}),
            "k8s.io.apimachinery.pkg.api.resource.Quantity" => json!(["500m", "2", "1Gi"][self.roll(3) as usize]),
            "k8s.io.apimachinery.pkg.util.intstr.IntOrString" => match self.roll(2) {
                0 => json!(80),
                _ => json!("http"),
            },
            "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1" => json!({"f:spec": {"f:x": {}}}),
            _ => match API["enums"].get(of) {
                Some(of) => {
                    let names: Vec<&String> = of["values"]
                        .as_object()
                        .unwrap()
                        .iter()
                        .filter(|(_, n)| **n != 0)
                        .map(|(name, _)| name)
                        .collect();
                    json!(names[self.roll(names.len() as u64) as usize])
                }
                None => self.message(of, depth + 1),
            },
        }
    }

    fn message(&mut self, of: &'static str, depth: u32) -> Json {
        let mut object = Map::new();
        let mut taken: Vec<&str> = Vec::new();
        let declared = API["messages"][of]["fields"].as_array().unwrap();
        let is_object =
            API["kinds"].as_object().unwrap().keys().any(|kind| of == format!("michelangelo.api.v2.{kind}"));
        for (field, declared) in fields_of(of).into_iter().zip(declared) {
            // Deeper messages get fewer fields. An object inside an object has all of its parts: they are always
            // written.
            if !is_object && (self.roll(2 + u64::from(depth) * 3) != 0 || depth > 7) {
                continue;
            }
            if let Some(oneof) = declared["oneof"].as_str() {
                if taken.contains(&oneof) {
                    continue;
                }
                taken.push(oneof);
            }
            let (json, shape, ty) = field;
            let value = match shape {
                Shape::One => self.value(ty, depth),
                Shape::List => (0..=self.roll(3)).map(|_| self.value(ty, depth)).collect(),
                Shape::Map => (0..=self.roll(3))
                    .map(|n| (format!("{}{n}", self.draw_text()), self.value(ty, depth)))
                    .collect::<Map<_, _>>()
                    .into(),
            };
            object.insert(json.to_owned(), value);
        }
        object.into()
    }

    pub(crate) fn object(&mut self, kind: &Kind) -> Json {
        let sections = crate::places::kind(kind);
        json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind(),
            "metadata": {"name": self.draw_text(), "namespace": "ns", "uid": "u-1", "resourceVersion": "17", "generation": 3,
                         "creationTimestamp": "2026-03-09T20:36:46Z", "labels": {"b": "2", "a": self.draw_text()},
                         "finalizers": ["x/y"]},
            "spec": self.message(sections["spec"].as_str().unwrap(), 0),
            "status": self.message(sections["status"].as_str().unwrap(), 0),
        })
    }
}

/// Proto3 leaves zero out, so it becomes another number.
trait NonZero {
    fn take_nonzero(self) -> Json;
}

impl NonZero for Json {
    fn take_nonzero(self) -> Json {
        if self == json!(0) { json!(1) } else { self }
    }
}

/// Name, shape and type of a message's fields.
fn fields_of(message: &'static str) -> Vec<(&'static str, Shape, &'static str)> {
    let of = &API["messages"][message]["fields"];
    of.as_array()
        .unwrap()
        .iter()
        .map(|field| {
            let text = |key: &str| field[key].as_str().unwrap();
            match text("type") {
                "map" => (text("json"), Shape::Map, text("value")),
                ty if field["repeated"] == true => (text("json"), Shape::List, ty),
                ty => (text("json"), Shape::One, ty),
            }
        })
        .collect()
}
