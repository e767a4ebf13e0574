//! Realistic objects: 3 to 6 KB of JSON, 4 labels, 4 annotations. The same ones in every run. Kinds that are neither pipeline runs
//! nor models have what their sample has, about 1 KB.

use anyhow::{Context as _, Result, anyhow};
use ingester_declare::documents::documents;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::sync::LazyLock;

/// Objects of one kind.
pub(crate) struct Set {
    pub(crate) kind: &'static str,
    pub(crate) texts: Vec<String>,
}

/// Two kinds of objects: one with many nested messages and times, one with many numbers.
pub(crate) fn sets(objects: usize) -> Vec<Set> {
    let texts = |kind| values(&mut Dice::new(7), kind, objects).iter().map(Value::to_string).collect();
    ["PipelineRun", "Model"].map(|kind| Set { kind, texts: texts(kind) }).into()
}

/// New objects of one of these two kinds.
pub(crate) fn values(dice: &mut Dice, kind: &str, objects: usize) -> Vec<Value> {
    let make = if kind == "Model" { model } else { pipeline_run };
    (0..objects)
        .map(|place| {
            let made = make(dice);
            object(dice, kind, place, made)
        })
        .collect()
}

/// A new object of another kind, with the spec of its sample.
pub(crate) fn like_sample(dice: &mut Dice, kind: &str, place: usize) -> Result<Value> {
    static SAMPLES: LazyLock<Result<BTreeMap<String, Value>>> = LazyLock::new(samples);
    let samples = SAMPLES.as_ref().map_err(|error| anyhow!("{error:#}"))?;
    let sample = samples.get(kind).with_context(|| format!("no sample of {kind}"))?;
    Ok(object(dice, kind, place, json!({"spec": sample["spec"], "status": {}})))
}

/// The committed samples, by kind.
fn samples() -> Result<BTreeMap<String, Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crd-specs/samples");
    let mut samples = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        for document in documents(BufReader::new(std::fs::File::open(entry?.path())?)) {
            let sample: Value = serde_json::from_str(&document?.content?)?;
            samples.insert(sample["kind"].as_str().context("a sample's kind")?.to_owned(), sample);
        }
    }
    Ok(samples)
}

/// Makes a pipeline run about this large: with as many steps as needed, or without steps and other optional parts.
pub(crate) fn resize(dice: &mut Dice, run: &mut Value, bytes: usize) {
    run["status"]["steps"] = json!([]);
    let mut length = run.to_string().len();
    for [part, member] in [
        ["status", "conditions"],
        ["spec", "input"],
        ["metadata", "annotations"],
        ["status", "logUrl"],
        ["status", "workflowRunId"],
        ["metadata", "labels"],
    ] {
        if length > bytes
            && let Some(part) = run[part].as_object_mut()
        {
            part.remove(member);
            length = run.to_string().len();
        }
    }
    let mut steps = Vec::new();
    // Half a step more or less.
    while length + 200 < bytes {
        let step = step(dice, steps.len() as u64, true);
        length += step.to_string().len() + 1;
        steps.push(step);
    }
    run["status"]["steps"] = steps.into();
}

/// A later version of a pipeline run, another one in each burst of updates.
pub(crate) fn changed(object: &Value, burst: usize) -> Value {
    let mut object = object.clone();
    next_version(&mut object);
    object["status"]["state"] = json!("PIPELINE_RUN_STATE_FAILED");
    object["status"]["errorMessage"] = json!(format!("burst {burst}"));
    object
}

/// A later version of a pipeline run; labels and annotations stay.
pub(crate) fn updated(dice: &mut Dice, object: &Value) -> Value {
    let mut object = object.clone();
    next_version(&mut object);
    object["status"]["state"] = json!("PIPELINE_RUN_STATE_FAILED");
    object["status"]["errorMessage"] = json!(format!("step {} failed", dice.roll(9)));
    object
}

/// A later version: one label is removed, one is added, one has another value.
pub(crate) fn relabelled(dice: &mut Dice, object: &Value) -> Value {
    let mut object = object.clone();
    next_version(&mut object);
    let labels = &mut object["metadata"]["labels"];
    labels["michelangelo/environment"] = json!("retired");
    labels["michelangelo/retired-by"] = json!(format!("user{}", dice.roll(1000)));
    if let Some(labels) = labels.as_object_mut() {
        labels.remove("michelangelo/pipeline");
    }
    object
}

fn next_version(object: &mut Value) {
    let version = &mut object["metadata"]["resourceVersion"];
    *version = json!(version.as_str().and_then(|version| version.parse::<u64>().ok()).map_or(1, |n| n + 1).to_string());
}

/// Numbers from a seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll(bound)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.roll(16) as usize])).collect()
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len() as u64) as usize]
    }

    fn time(&mut self) -> String {
        format!("2026-03-{:02}T{:02}:{:02}:{:02}Z", 1 + self.roll(28), self.roll(24), self.roll(60), self.roll(60))
    }

    fn float(&mut self) -> f64 {
        self.roll(1 << 40) as f64 / (1_u64 << 40) as f64
    }
}

/// Adds the metadata.
fn object(dice: &mut Dice, kind: &str, place: usize, mut object: Value) -> Value {
    let team = dice.one_of(&["pricing", "fraud", "maps", "search", "eats"]);
    object["apiVersion"] = json!("michelangelo.api/v2");
    object["kind"] = json!(kind);
    object["metadata"] = json!({
        "name": format!("{}-{place:06}", kind.to_lowercase()),
        "namespace": format!("ml-{team}"),
        "uid": format!("{}-{}-4{}-8{}-{}", dice.hex(8), dice.hex(4), dice.hex(3), dice.hex(3), dice.hex(12)),
        "resourceVersion": (1000 + place).to_string(),
        "generation": 1 + dice.roll(9),
        "creationTimestamp": dice.time(),
        "finalizers": ["michelangelo/Ingester"],
        "labels": {
            "app.kubernetes.io/managed-by": "uniflow",
            "michelangelo/team": team,
            "michelangelo/environment": dice.one_of(&["production", "staging", "development"]),
            "michelangelo/pipeline": format!("train-{}", dice.hex(6)),
        },
        "annotations": {
            "michelangelo/git-commit": dice.hex(40),
            "michelangelo/owner": format!("{team}-oncall@example.com"),
            "michelangelo/SpecUpdateTimestamp": dice.roll(2_000_000_000_000_000).to_string(),
            "michelangelo/source": format!("https://git.example.com/ml/{team}/blob/{}/pipeline.py", dice.hex(12)),
        },
    });
    object
}

/// Most of it is executed steps, each with times, inputs and outputs.
fn pipeline_run(dice: &mut Dice) -> Value {
    let steps: Vec<Value> = (0..6 + dice.roll(4)).map(|number| step(dice, number, true)).collect();
    json!({
        "spec": {
            "pipeline": {"namespace": "ml-pricing", "name": format!("train-{}", dice.hex(6))},
            "revision": {"namespace": "ml-pricing", "name": format!("train-{}", dice.hex(12))},
            "actor": {"name": format!("user{}", dice.roll(1000))},
            "input": {
                "environ": {"MA_NAMESPACE": "ml-pricing", "CLUSTER": dice.one_of(&["phx", "dca"])},
                "kw_args": {"learning_rate": dice.float(), "max_depth": dice.roll(12), "early_stopping": true, "features": null},
                "args": [dice.roll(100), dice.hex(8)],
            },
        },
        "status": {
            "state": dice.one_of(&["PIPELINE_RUN_STATE_SUCCEEDED", "PIPELINE_RUN_STATE_FAILED", "PIPELINE_RUN_STATE_RUNNING"]),
            "workflowId": dice.hex(32),
            "workflowRunId": dice.hex(32),
            "endTime": dice.time(),
            "logUrl": format!("https://logs.example.com/workflows/{}", dice.hex(32)),
            "conditions": [{
                "type": "Execute Workflow", "status": "CONDITION_STATUS_TRUE", "reason": "Succeeded",
                "lastUpdatedTimestamp": dice.roll(2_000_000_000).to_string(),
            }],
            "steps": steps,
        },
    })
}

fn step(dice: &mut Dice, number: u64, outer: bool) -> Value {
    let mut step = json!({
        "name": format!("{}_{number}", dice.one_of(&["feature_prep", "train", "evaluate", "push_model"])),
        "displayName": format!("Step {number}"),
        "state": "PIPELINE_RUN_STEP_STATE_SUCCEEDED",
        "startTime": dice.time(),
        "endTime": dice.time(),
        "activityId": dice.roll(1000).to_string(),
        "logUrl": format!("https://logs.example.com/jobs/{}", dice.hex(16)),
    });
    if outer {
        step["output"] =
            json!({"rows": dice.roll(10_000_000), "auc": dice.float(), "path": format!("s3://ml/{}", dice.hex(24))});
        let inner = (0..dice.roll(2)).map(|number| self::step(dice, number, false)).collect::<Vec<_>>();
        step["subSteps"] = inner.into();
    }
    step
}

/// Most of it is a schema and the weight of each feature.
fn model(dice: &mut Dice) -> Value {
    let names: Vec<String> = (0..12 + dice.roll(10))
        .map(|n| format!("@palette:pricing:{}:{n}", dice.one_of(&["eta", "fare", "surge"])))
        .collect();
    let schema: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "dataType": dice.one_of(&["DATA_TYPE_FLOAT", "DATA_TYPE_INT", "DATA_TYPE_STRING"]), "shape": [1]}))
        .collect();
    let importance: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| {
            let baseline = json!({"floatValue": dice.float() as f32});
            (
                name.clone(),
                json!({"mean": dice.float(), "absMean": dice.float(), "stdDev": dice.float(), "baseline": baseline}),
            )
        })
        .collect();
    json!({
        "spec": {
            "owner": {"name": format!("user{}", dice.roll(1000))},
            "description": "Predicts the fare of a trip from what is known when it is asked for.",
            "kind": "MODEL_KIND_REGRESSION",
            "algorithm": dice.one_of(&["xgboost", "dnn", "linear"]),
            "trainingFramework": dice.one_of(&["pytorch", "spark_ml", "tensorflow"]),
            "inputSchema": {"schemaItems": schema},
            "decisionThreshold": dice.float(),
            "revisionId": dice.roll(100),
            "sealed": true,
            "sourcePipelineRun": {"namespace": "ml-pricing", "name": format!("run-{}", dice.hex(12))},
            "modelArtifactUri": [format!("s3://ml/models/{}", dice.hex(32))],
            "qualityScores": [{"name": "rmse", "source": "evaluator", "value": dice.float(), "primary": true}],
            "featureImportanceList": [{"featureImportance": importance, "outputName": "fare"}],
        },
        "status": {},
    })
}
