//! Reviews that callers request about themselves: their identity and their rights. `kubectl auth` and dashboards send them.
//!
//! | file | what it has |
//! |---|---|
//! | `protobuf.rs` | a review in Kubernetes' protobuf, which kubectl sends from 1.32 on |
//!
//! The API server is always asked about the caller's own rights: the review has no field for a user.
//!
//! May use: body, caller, identity, request, status.

mod protobuf;

use crate::body;
use crate::caller::Caller;
use crate::identity::Identity;
use crate::request::path::SelfReview;
use crate::status::Status;
use axum::body::Body;
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReviewSpec;
use serde::Deserialize as _;
use serde_json::{Value as Json, json};

/// The most bytes of a review.
const MOST: usize = 64 << 10;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Returns the review with its answer, as JSON.
///
/// # Errors
/// 400 for a body that is not such a review, 408, 413, 415; 500 and 503 if the API server cannot be asked.
pub(crate) async fn answer(
    review: SelfReview,
    identity: &Identity,
    caller: &Caller,
    content_type: Option<&str>,
    body: Body,
) -> Result<Json, Status> {
    let asked = read(review, content_type, &body::read_at_most(body, MOST).await?)?;
    let status = match review {
        SelfReview::Access => {
            let question =
                SelfSubjectAccessReviewSpec::deserialize(&asked["spec"]).map_err(|error| wrong(review, &error))?;
            if question.resource_attributes.is_some() == question.non_resource_attributes.is_some() {
                return Err(wrong(review, &"spec has either resourceAttributes or nonResourceAttributes"));
            }
            let access = identity.own_access(caller, &question).await?;
            json!({"allowed": access.allowed, "reason": access.reason})
        }
        SelfReview::Rules => json!({
            "resourceRules": [], "nonResourceRules": [], "incomplete": true,
            "evaluationError": "this server does not know rules: ask it for single rights (SelfSubjectAccessReview)",
        }),
        SelfReview::User => json!({"userInfo": user(caller)}),
    };
    let mut answer = json!({
        "kind": review.kind(), "apiVersion": format!("{}/v1", review.group()), "metadata": {}, "status": status,
    });
    if review != SelfReview::User {
        answer["spec"] = asked["spec"].clone();
    }
    Ok(answer)
}

fn wrong(review: SelfReview, why: &dyn std::fmt::Display) -> Status {
    Status::bad_request(format!("the body is not a {}: {why}", review.kind()))
}

fn read(review: SelfReview, content_type: Option<&str>, body: &[u8]) -> Result<Json, Status> {
    let asked: Json = match content_type.map(body::media_type).as_deref() {
        None | Some("" | JSON) => serde_json::from_slice(body).map_err(|error| wrong(review, &error))?,
        Some(PROTOBUF) => protobuf::read(review, body).map_err(|why| wrong(review, &why))?,
        Some(_) => return Err(body::unknown_format(&[JSON, PROTOBUF])),
    };
    match &asked["kind"] {
        _ if !asked.is_object() => Err(wrong(review, &"it is not an object")),
        Json::String(kind) if kind != review.kind() => Err(wrong(review, &format!("it is a {kind}"))),
        _ => Ok(asked),
    }
}

/// `authentication.k8s.io/v1 UserInfo`
fn user(caller: &Caller) -> Json {
    let Caller { user, uid, groups, extra } = caller;
    let mut info = json!({"username": user});
    for (field, value, is_empty) in [
        ("uid", json!(uid), uid.is_empty()),
        ("groups", json!(groups), groups.is_empty()),
        ("extra", json!(extra), extra.is_empty()),
    ] {
        if !is_empty {
            info[field] = value;
        }
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_not_the_review_is_refused() {
        for (content, body, code, part) in [
            (None, "{", 400, "the body is not a SelfSubjectAccessReview"),
            (Some("application/json; charset=utf-8"), "[]", 400, "it is not an object"),
            (Some(JSON), r#"{"kind":"SubjectAccessReview"}"#, 400, "it is a SubjectAccessReview"),
            (Some(PROTOBUF), "{}", 400, "it is not Kubernetes' protobuf"),
            (Some("application/yaml"), "", 415, "application/vnd.kubernetes.protobuf"),
        ] {
            let status = read(SelfReview::Access, content, body.as_bytes()).unwrap_err();
            assert!(status.code == code && status.message.contains(part), "{body}: {status}");
        }
    }

    #[test]
    fn a_user_is_shown_without_what_is_not_known() {
        let mut ada = Caller { user: "ada".into(), ..Caller::default() };
        assert_eq!(user(&ada), json!({"username": "ada"}));
        ada.groups.push("ml".into());
        ada.extra.insert("scopes".into(), vec!["a".into()]);
        assert_eq!(user(&ada), json!({"username": "ada", "groups": ["ml"], "extra": {"scopes": ["a"]}}));
    }
}
