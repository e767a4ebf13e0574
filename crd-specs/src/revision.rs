//! Kind `Revision`: one version of another object, kept so that it can be found and run again.

use crate::common::{CommitInfo, ResourceIdentifier, TypeMeta, UserInfo};
use ingester_core::wire::Opaque;
use ingester_core::{Indexed, Ingestable, wire_enum};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a `Revision`: which object it is a version of, and what that object was.
#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "michelangelo.api",
    version = "v2",
    kind = "Revision",
    plural = "revisions",
    namespaced,
    status = "RevisionStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One version of another object, such as a pipeline, kept so that it can be found and run again."
)]
#[ingest(protobuf = "michelangelo.api.v2.Revision", absent = "type")]
#[serde(rename_all = "camelCase", default)]
pub struct RevisionSpec {
    /// Kind and version of the object that this is a revision of.
    #[index(path = "kind")]
    pub base_type: Option<TypeMeta>,
    /// Namespace and name of the object that this is a revision of.
    #[index]
    pub base_resource: Option<ResourceIdentifier>,
    /// The whole object as it was, as `@type` and base64 `value`.
    pub content: Option<Opaque>,
    /// User who made the revision: its author, or whoever started the run that made it.
    #[index(path = "name")]
    pub owner: Option<UserInfo>,
    /// `Revision` that this one was forked from, of the same kind of object.
    pub parent: Option<ResourceIdentifier>,
    /// Anything git resolves to a commit; `commit.gitRef` says the same.
    // No column: `git_ref` is filled from `commit`.
    pub git_ref: String,
    /// Branch that `gitRef` was taken from; `commit.branch` says the same.
    pub git_branch: String,
    /// Address of the code review.
    pub review_tool_url: String,
    /// Identifier of the revision among those of its object: a git SHA-1 for a pipeline, a running
    /// number for a model.
    pub revision_id: String,
    /// Commit of the revision; absent for objects that do not come from git.
    #[index(path = "branch", column = "commit_branch")]
    #[index(path = "git_ref", column = "git_ref")]
    pub commit: Option<CommitInfo>,
}

/// Observed state of a `Revision`: whether it is built.
#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RevisionStatus {
    /// Progress of the build.
    pub state: RevisionState,
}

wire_enum! {
    /// Progress of a revision's build.
    pub enum RevisionState {
        /// Not set.
        Invalid = 0 => "REVISION_STATE_INVALID",
        /// Recorded, but not built and so not yet runnable.
        Created = 1 => "REVISION_STATE_CREATED",
        /// Being built.
        Building = 2 => "REVISION_STATE_BUILDING",
        /// Built; the final state.
        Ready = 3 => "REVISION_STATE_READY",
        /// The build failed; also a final state.
        Error = 4 => "REVISION_STATE_ERROR",
    }
}
