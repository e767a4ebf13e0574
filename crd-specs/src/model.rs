//! Kind `Model`: a trained model, with its origin, its artifacts and its quality.

use crate::common::{ResourceIdentifier, UserInfo};
use crate::schema::DataSchema;
use ingester_core::wire::Opaque;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Desired state of a `Model`: what it predicts, how it was trained, where its files are.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Model",
    plural = "models",
    namespaced,
    status = "ModelStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A trained model, with its origin, its artifacts and its quality."
)]
#[ingest(protobuf = "michelangelo.api.v2.Model", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSpec {
    /// User who answers for the model.
    #[index(path = "name")]
    pub owner: Option<UserInfo>,
    /// What the model is for and what it cannot do, for people.
    #[index(type = "VARCHAR(768)")]
    pub description: String,
    /// The sort of problem that the model solves.
    #[index(column = "model_kind")]
    pub kind: ModelKind,
    /// Learning algorithm, such as `xgboost`.
    #[index]
    pub algorithm: String,
    /// Library that the model was trained with, such as `pytorch`.
    #[index]
    pub training_framework: String,
    /// System that made the model, such as `TRAINING`.
    #[index]
    pub source: String,
    /// Features that the model takes. Can be big: the Michelangelo API may keep it in blob storage
    /// instead of in the object, as it may the other schemas here.
    pub input_schema: Option<DataSchema>,
    /// Target variables that the model predicts.
    pub predict_fields: Option<DataSchema>,
    /// Fields that are sent on with a prediction, to streams and tables.
    pub published_fields: Option<DataSchema>,
    /// Features that are computed from the inputs before the model sees them.
    pub derived_fields: Option<DataSchema>,
    /// The label that counts as positive in a binary classification, such as `fraud`.
    pub positive_label: String,
    /// Probability, 0 to 1, from which a binary classification says positive.
    pub decision_threshold: f64,
    /// `PipelineRun` that trained the model.
    #[index(column = "src_pipeline_run")]
    pub source_pipeline_run: Option<ResourceIdentifier>,
    /// Report on how well the model predicts.
    #[index(column = "performance_eval_report")]
    pub performance_evaluation_report: Option<ResourceIdentifier>,
    /// Report on what the features contribute.
    #[index(column = "feature_eval_report")]
    pub feature_evaluation_report: Option<ResourceIdentifier>,
    /// Number of this version of the model: 0 for the first, one more with each retraining.
    #[index]
    pub revision_id: i32,
    /// Whether the model is closed to further incremental training.
    pub sealed: bool,
    /// Report on the quality of the data that the model was trained with.
    #[index]
    pub feature_quality_report: Option<ResourceIdentifier>,
    /// Measured scores, such as accuracy or data completeness.
    pub quality_scores: Vec<ModelQualityScore>,
    /// Features of the feature store that are looked up for each prediction.
    pub feature_store_features: Vec<ResourceIdentifier>,
    /// `ModelFamily` that the model belongs to.
    #[index]
    pub model_family: Option<ResourceIdentifier>,
    /// Tables that hold the model's predictions on its own training data.
    pub prediction_result: Option<ModelPredictionResult>,
    /// Where the training took up an earlier one; absent for a model trained from scratch.
    pub incremental_training: Option<IncrementalTrainingSpec>,
    /// How the files under `deployableArtifactUri` are packed.
    #[index]
    pub package_type: DeployableModelPackageType,
    /// Addresses of the files that a server loads.
    pub deployable_artifact_uri: Vec<String>,
    /// Addresses of the files that the training library wrote, before packing.
    pub model_artifact_uri: Vec<String>,
    /// Which language model it is; absent for other models.
    pub llm_spec: Option<LlmSpec>,
    /// Report that explains why the model predicts what it does.
    #[index]
    pub explainability_report: Option<ResourceIdentifier>,
    /// What each feature contributes, one entry for each output of the model.
    pub feature_importance_list: Vec<FeatureImportanceMap>,
    /// Fields that the model returns.
    pub output_schema: Option<DataSchema>,
}

/// Observed state of a `Model`: the Michelangelo API reports nothing here.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelStatus {}

wire_enum! {
    /// The sort of problem that a model solves.
    pub enum ModelKind {
        /// Not set.
        Invalid = 0 => "MODEL_KIND_INVALID",
        /// None of the others.
        Custom = 1 => "MODEL_KIND_CUSTOM",
        /// Predicts a number, such as a price.
        Regression = 2 => "MODEL_KIND_REGRESSION",
        /// Decides between two classes.
        BinaryClassification = 3 => "MODEL_KIND_BINARY_CLASSIFICATION",
        /// Picks one of three classes or more.
        MulticlassClassification = 4 => "MODEL_KIND_MULTICLASS_CLASSIFICATION",
        /// Finds groups of like items without labels.
        Clustering = 5 => "MODEL_KIND_CLUSTERING",
        /// A language model that continues a text.
        LlmCompletion = 6 => "MODEL_KIND_LLM_COMPLETION",
        /// A language model that answers in a conversation.
        LlmChatCompletion = 7 => "MODEL_KIND_LLM_CHAT_COMPLETION",
        /// A language model that turns text into vectors.
        LlmEmbedding = 8 => "MODEL_KIND_LLM_EMBEDDING",
    }
}

wire_enum! {
    /// How the deployable files of a model are packed, which decides what can serve them.
    pub enum DeployableModelPackageType {
        /// Not set.
        Invalid = 0 => "DEPLOYABLE_MODEL_PACKAGE_TYPE_INVALID",
        /// A Spark ML pipeline.
        SparkPipeline = 1 => "DEPLOYABLE_MODEL_PACKAGE_TYPE_SPARK_PIPELINE",
        /// A model repository of the Triton inference server.
        Triton = 2 => "DEPLOYABLE_MODEL_PACKAGE_TYPE_TRITON",
        /// The files as they are.
        Raw = 3 => "DEPLOYABLE_MODEL_PACKAGE_TYPE_RAW",
        /// For running on a phone.
        Mobile = 4 => "DEPLOYABLE_MODEL_PACKAGE_TYPE_MOBILE",
    }
}

/// One measured score of a model or of its data.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelQualityScore {
    /// What was measured, such as `auc_roc`.
    pub name: String,
    /// System that measured it.
    pub source: String,
    /// Area that the score is about, such as data quality or model quality.
    pub scoping: String,
    /// The score; its range depends on what was measured.
    pub value: f64,
    /// Further facts about the measurement, as free JSON.
    pub metadata: Option<Opaque>,
    /// Whether overviews show this score first.
    pub primary: bool,
}

/// Hive tables that hold a model's predictions on its own training data.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelPredictionResult {
    /// Table with predictions on the data that the model learned from.
    pub train_table_name: String,
    /// Table with predictions on the data held back for testing.
    pub test_table_name: String,
}

/// Where an incremental training takes up an earlier one.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct IncrementalTrainingSpec {
    /// `revisionId` of the model that was trained further.
    pub parent_revision_id: i32,
    /// `CachedOutput` with the saved state of the feature transformation.
    pub transform_checkpoint: Option<ResourceIdentifier>,
    /// `CachedOutput` with the saved weights and optimizer state.
    pub training_checkpoint: Option<ResourceIdentifier>,
}

/// Which language model a model is.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct LlmSpec {
    /// Company or project that provides the base model.
    pub vendor: String,
    /// Base model, by the vendor's name for it.
    pub model_name: String,
    /// Vendor's identifier of the fine-tuned variant; empty for the base model itself.
    pub fine_tuned_model_id: String,
}

/// What the features contribute to one output of a model.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct FeatureImportanceMap {
    /// The contributions, by feature name.
    pub feature_importance: BTreeMap<String, FeatureImportance>,
    /// Output of the model that is explained.
    pub output_name: String,
    /// Method or class that computed the contributions, such as a SHAP explainer.
    pub explainer_module: String,
}

/// Contribution of one feature, summed up over many samples in the units of the model's output.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct FeatureImportance {
    /// Average contribution; its sign says in which direction the feature pushes.
    pub mean: f64,
    /// Average size of the contribution, whatever its direction.
    pub abs_mean: f64,
    /// Standard deviation of the contribution.
    pub std_dev: f64,
    /// Value of the feature that contributions are measured against.
    pub baseline: Option<BaselineValue>,
}

/// A neutral value of a feature. At most one of the four fields is set, after the feature's type.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BaselineValue {
    /// For a continuous feature; excludes the other three.
    pub float_value: Option<f32>,
    /// For text or a category; excludes the other three.
    pub string_value: Option<String>,
    /// For a flag; excludes the other three.
    pub bool_value: Option<bool>,
    /// For a whole number; excludes the other three.
    pub int_value: Option<i32>,
}
