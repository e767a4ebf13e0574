//! Reviews by the API server: of tokens, and of rights.

use crate::caller::{Attributes, Caller};
use futures::future::BoxFuture;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReviewSpec, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use std::time::Duration;

/// The time limit for an answer of the API server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reviews tokens and rights.
pub trait Reviewer: Send + Sync {
    /// Returns the user of the token: `None` if it is invalid, or not for any of `audiences`. Without audiences, it must be for the API
    /// server.
    fn token<'a>(
        &'a self,
        token: &'a str,
        audiences: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>>;

    /// Asks if the caller has this right.
    fn access<'a>(
        &'a self,
        caller: &'a Caller,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Access, ReviewError>>;

    /// Answers the caller's own review. By default, a reviewer allows nothing.
    fn own_access<'a>(
        &'a self,
        _caller: &'a Caller,
        _question: &'a SelfSubjectAccessReviewSpec,
    ) -> BoxFuture<'a, Result<Access, ReviewError>> {
        Box::pin(async { Ok(Access { allowed: false, reason: "callers cannot ask this here".to_owned() }) })
    }
}

/// The answer to a question about a right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The caller has the right.
    pub allowed: bool,
    /// The reason; may be empty.
    pub reason: String,
}

/// The reason why the API server gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReviewError {
    /// It does not answer, or not now.
    #[error("the API server does not answer: {0}")]
    Unavailable(String),
    /// It does not allow us to ask.
    #[error(
        "the API server refuses the review: {0} (bind the ClusterRole system:auth-delegator to the server's service account)"
    )]
    NotAllowed(String),
    /// It was not asked.
    #[error("too many reviews are waiting for it")]
    TooMany,
}

impl From<kube::Error> for ReviewError {
    fn from(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404) => {
                ReviewError::NotAllowed(status.message.clone())
            }
            _ => ReviewError::Unavailable(error.to_string()),
        }
    }
}

/// The API server of a cluster: TokenReview and SubjectAccessReview.
#[derive(Clone)]
pub struct ApiServer(Client);

impl ApiServer {
    /// Asks the API server of this client. Its user needs the ClusterRole `system:auth-delegator`.
    pub fn new(client: Client) -> Self {
        ApiServer(client)
    }
}

impl ApiServer {
    async fn ask(&self, question: SubjectAccessReview) -> Result<Access, ReviewError> {
        let reviews = Api::all(self.0.clone());
        let answer = in_time(reviews.create(&PostParams::default(), &question)).await?;
        let status = answer.status.unwrap_or_default();
        // An explicit denial overrides everything else.
        let allowed = status.allowed && status.denied != Some(true);
        Ok(Access { allowed, reason: status.reason.unwrap_or_default() })
    }
}

impl std::fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiServer")
    }
}

/// Returns the answer if it comes within [`TIMEOUT`].
async fn in_time<T>(asking: impl Future<Output = Result<T, kube::Error>>) -> Result<T, ReviewError> {
    match tokio::time::timeout(TIMEOUT, asking).await {
        Ok(answer) => answer.map_err(ReviewError::from),
        Err(_) => Err(ReviewError::Unavailable(format!("no answer within {} seconds", TIMEOUT.as_secs()))),
    }
}

impl Reviewer for ApiServer {
    fn token<'a>(
        &'a self,
        token: &'a str,
        audiences: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Caller>, ReviewError>> {
        Box::pin(async move {
            let asked = (!audiences.is_empty()).then(|| audiences.to_vec());
            #[allow(clippy::useless_conversion, reason = "an optional text in earlier versions of Kubernetes")]
            let token = token.to_owned().into();
            let spec = TokenReviewSpec { token, audiences: asked };
            let review = TokenReview { spec, ..TokenReview::default() };
            let answer = in_time(Api::all(self.0.clone()).create(&PostParams::default(), &review)).await?;
            Ok(holder(answer, audiences))
        })
    }

    fn access<'a>(
        &'a self,
        caller: &'a Caller,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Access, ReviewError>> {
        Box::pin(async move { self.ask(question(caller, attributes)).await })
    }

    fn own_access<'a>(
        &'a self,
        caller: &'a Caller,
        question: &'a SelfSubjectAccessReviewSpec,
    ) -> BoxFuture<'a, Result<Access, ReviewError>> {
        Box::pin(async move { self.ask(own_question(caller, question)).await })
    }
}

/// Returns the user of the token, if it is for one of the audiences. An API server that names no audience knows only its own.
fn holder(review: TokenReview, audiences: &[String]) -> Option<Caller> {
    let status = review.status.filter(|status| status.authenticated == Some(true))?;
    let meant = status.audiences.unwrap_or_default();
    if !audiences.is_empty() && !meant.iter().any(|audience| audiences.contains(audience)) {
        return None;
    }
    let user = status.user?;
    Some(Caller {
        user: user.username.filter(|name| !name.is_empty())?,
        uid: user.uid.unwrap_or_default(),
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default(),
    })
}

/// Returns the SubjectAccessReview for an access.
fn question(caller: &Caller, attributes: &Attributes) -> SubjectAccessReview {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let resource = ResourceAttributes {
        verb: some(attributes.verb.as_str()),
        group: Some(attributes.group.clone()),
        version: some(&attributes.version),
        resource: some(&attributes.resource),
        subresource: some(&attributes.subresource),
        namespace: some(&attributes.namespace),
        name: some(&attributes.name),
        ..ResourceAttributes::default()
    };
    let question = SelfSubjectAccessReviewSpec { resource_attributes: Some(resource), non_resource_attributes: None };
    own_question(caller, &question)
}

/// Returns the review for a caller's question about themselves. It is always about this caller.
fn own_question(caller: &Caller, question: &SelfSubjectAccessReviewSpec) -> SubjectAccessReview {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let spec = SubjectAccessReviewSpec {
        user: some(&caller.user),
        uid: some(&caller.uid),
        groups: (!caller.groups.is_empty()).then(|| caller.groups.clone()),
        extra: (!caller.extra.is_empty()).then(|| caller.extra.clone()),
        resource_attributes: question.resource_attributes.clone(),
        non_resource_attributes: question.non_resource_attributes.clone(),
    };
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}

#[cfg(test)]
mod tests {
    use super::{holder, question};
    use crate::caller::{Attributes, Caller, Verb};
    use k8s_openapi::api::authentication::v1::TokenReview;
    use serde_json::json;

    fn review(status: serde_json::Value) -> TokenReview {
        serde_json::from_value(json!({"spec": {}, "status": status})).unwrap()
    }

    #[test]
    fn a_token_is_believed_only_for_its_audience() {
        let ada = json!({"username": "ada", "uid": "7", "groups": ["ml"], "extra": {"scopes": ["a"]}});
        let ours = ["ingester".to_owned()];
        let said =
            |audiences: serde_json::Value| review(json!({"authenticated": true, "user": ada, "audiences": audiences}));
        let caller = holder(said(json!(["ingester", "other"])), &ours).unwrap();
        assert_eq!((caller.user.as_str(), caller.uid.as_str(), caller.groups[0].as_str()), ("ada", "7", "ml"));
        assert_eq!(caller.extra["scopes"], ["a"]);
        assert_eq!(holder(said(json!(["other"])), &ours), None);
        assert_eq!(holder(said(json!(null)), &ours), None, "it does not know audiences");
        assert!(holder(said(json!(null)), &[]).is_some(), "the API server's own");
        assert!(holder(said(json!(["https://kubernetes"])), &[]).is_some());
    }

    #[test]
    fn a_token_counts_only_after_a_clear_yes() {
        for status in [
            json!(null),
            json!({}),
            json!({"authenticated": false, "user": {"username": "ada"}}),
            json!({"user": {"username": "ada"}}),
            json!({"authenticated": true}),
            json!({"authenticated": true, "user": {"username": ""}}),
        ] {
            assert_eq!(holder(review(status.clone()), &[]), None, "{status}");
        }
    }

    #[test]
    fn the_question_names_caller_and_object() {
        let caller = Caller { user: "ada".into(), groups: vec!["ml".into()], ..Caller::default() };
        let attributes = Attributes {
            verb: Verb::DeleteCollection,
            group: "g".into(),
            version: "v2".into(),
            resource: "models".into(),
            subresource: "status".into(),
            namespace: "ns".into(),
            name: String::new(),
        };
        let spec = serde_json::to_value(question(&caller, &attributes)).unwrap()["spec"].take();
        let expected = json!({
            "user": "ada",
            "groups": ["ml"],
            "resourceAttributes": {
                "verb": "deletecollection", "group": "g", "version": "v2", "resource": "models", "subresource": "status",
                "namespace": "ns"
            }
        });
        assert_eq!(spec, expected);
    }
}
