//! Options of writes, in the URL and in the body of DELETE.

use crate::access::AccessLog;
use crate::body::is_json;
use crate::former::Reach;
use crate::status::{Cause, Resource, Status};
use crate::volume::WriteVolume;
use ingester_store::Effect;
use serde::Deserialize;
use std::sync::Arc;

/// The parameters of a write that have a meaning here. Other parameters of Kubernetes (`fieldManager`, `fieldValidation`,
/// `propagationPolicy`, `gracePeriodSeconds`) are accepted without effect: an evicted object has no dependents and nothing waits for it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Every value of `dryRun`.
    pub dry_run: Vec<String>,
    /// The uid, if several rows have the name.
    pub uid: Option<String>,
    /// The former objects that the caller may see.
    pub former: Reach,
    /// The access log, which records the writes.
    pub log: Option<AccessLog>,
    /// The volume that the caller may write; `None` for no limit.
    pub volume: Option<Arc<WriteVolume>>,
}

impl Options {
    /// Decides if the request writes or only tries to. `of` is the name of the options in Kubernetes, for errors.
    pub(crate) fn effect(&self, of: &str) -> Result<Effect, Status> {
        Ok(self.noted(effect(&self.dry_run, of)?))
    }

    /// Takes the bytes of an object that is about to be written from the caller's volume.
    ///
    /// # Errors
    /// 429 if the caller has written too much within the last minute.
    pub(crate) fn take(&self, effect: Effect, bytes: usize) -> Result<(), Status> {
        match &self.volume {
            Some(volume) if effect == Effect::Written => volume.take(bytes),
            _ => Ok(()),
        }
    }

    fn noted(&self, effect: Effect) -> Effect {
        if effect == Effect::Tried {
            self.note(AccessLog::dry_run);
        }
        effect
    }

    /// Records the write in the access log.
    pub(crate) fn note(&self, note: impl FnOnce(&AccessLog)) {
        if let Some(log) = &self.log {
            note(log);
        }
    }
}

fn effect(dry_run: &[String], of: &str) -> Result<Effect, Status> {
    let given: Vec<&String> = dry_run.iter().filter(|value| !value.is_empty()).collect();
    match given.as_slice() {
        [] => Ok(Effect::Written),
        all if all.iter().all(|value| *value == "All") => Ok(Effect::Tried),
        _ => {
            let what = format!("Unsupported value: {given:?}: supported values: \"All\"");
            Err(unsupported(of, "dryRun", "FieldValueNotSupported", what))
        }
    }
}

fn unsupported(of: &str, field: &str, reason: &str, what: String) -> Status {
    let message = format!("{of}.meta.k8s.io \"\" is invalid: {field}: {what}");
    let cause = Cause { reason: reason.to_owned(), message: what, field: field.to_owned() };
    let group = Resource { group: "meta.k8s.io", plural: of };
    Status::invalid(message, vec![cause]).about(group, "")
}

/// `metav1.DeleteOptions`, with the fields that have a meaning here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) preconditions: Preconditions,
    pub(crate) effect: Effect,
}

/// The conditions that the deleted object must fulfil.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    kind: Option<String>,
    preconditions: Option<Preconditions>,
    dry_run: Option<Vec<String>>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
    grace_period_seconds: Option<i64>,
}

impl DeleteOptions {
    /// Reads the options of the body, otherwise those in the URL.
    pub(crate) fn read(options: &Options, content_type: Option<&str>, body: &[u8]) -> Result<Self, Status> {
        const OF: &str = "DeleteOptions";
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(DeleteOptions { preconditions: Preconditions::default(), effect: options.effect(OF)? });
        }
        is_json(content_type)?;
        let body: Body = serde_json::from_slice(body)
            .map_err(|error| Status::bad_request(format!("the body is not a DeleteOptions object: {error}")))?;
        if let Some(kind) = body.kind.filter(|kind| !kind.is_empty() && kind != OF) {
            return Err(Status::bad_request(format!("the body is a {kind}; DELETE takes {OF}")));
        }
        if let Some(policy) = body.propagation_policy.filter(|policy| !POLICIES.contains(&policy.as_str())) {
            let what = format!(
                "Unsupported value: \"{policy}\": supported values: \"Background\", \"Foreground\", \"Orphan\""
            );
            return Err(unsupported(OF, "propagationPolicy", "FieldValueNotSupported", what));
        }
        // Both are accepted, and neither has an effect.
        let _ = (body.orphan_dependents, body.grace_period_seconds);
        let mut dry_run = body.dry_run.unwrap_or_default();
        dry_run.extend(options.dry_run.iter().cloned());
        let effect = options.noted(effect(&dry_run, OF)?);
        Ok(DeleteOptions { preconditions: body.preconditions.unwrap_or_default(), effect })
    }
}

const POLICIES: [&str; 4] = ["", "Background", "Foreground", "Orphan"];

impl Preconditions {
    /// Checks that they hold for this row.
    pub(crate) fn hold(&self, of: Resource<'_>, name: &str, uid: &str, res_version: u64) -> Result<(), Status> {
        if let Some(wanted) = self.uid.as_deref().filter(|wanted| *wanted != uid) {
            let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}");
            return Err(Status::conflict(of, name, &why));
        }
        let Some(wanted) = &self.resource_version else { return Ok(()) };
        // Compare as text: a version that is not a number belongs to no object.
        if *wanted != res_version.to_string() {
            let why = format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({res_version}). The object might have been modified"
            );
            return Err(Status::conflict(of, name, &why));
        }
        Ok(())
    }
}
