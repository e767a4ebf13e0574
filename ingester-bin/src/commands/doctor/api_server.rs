//! Checks that the API server answers, and identifies it.

use super::request::{ANSWER, ask};
use super::{CheckLines, CheckSubjects, kinds};
use crate::arguments::Cluster;
use crate::ending::Failure;
use http::{Method, StatusCode};
use ingester_core::Kind;
use ingester_mirror::examine::has_streamed_lists;
use ingester_mirror::identity::{self, ClusterUid};
use kube::Client;
use serde_json::Value;

/// The first release of Kubernetes that is supported, and tested: 1.20.
const FIRST: (u32, u32) = (1, 20);

const KUBECONFIG: &str = "kubeconfig";
const ANSWERS: &str = "api-server";
const VERSION: &str = "api-server-version";
const STREAMED: &str = "streamed-lists";
const CLUSTER: &str = "cluster-identity";

/// The result, for the checks that also need the database.
pub(super) struct ApiServerFindings {
    pub(super) lines: CheckLines,
    /// It is `None` if the API server does not answer.
    pub(super) client: Option<Client>,
    /// The identity of the cluster.
    pub(super) uid: Option<ClusterUid>,
    /// The mirrored kinds that it serves.
    pub(super) served: Vec<Kind>,
}

pub(super) async fn examine(cluster: &Cluster, wanted: &CheckSubjects<'_>) -> ApiServerFindings {
    let mut found = ApiServerFindings { lines: CheckLines::default(), client: None, uid: None, served: Vec::new() };
    let client = match cluster.client().await {
        Ok(client) => client,
        Err(Failure::Usage(error) | Failure::Work(error)) => {
            found.lines.error(
                KUBECONFIG,
                "",
                error.to_string(),
                "name a kubeconfig that can be used: --kubeconfig FILE or KUBECONFIG",
            );
            let rest = [ANSWERS, VERSION, CLUSTER, kinds::CRD, kinds::RIGHTS, STREAMED, kinds::ADMISSION];
            found.lines.skip(&rest, "there is no kubeconfig");
            return found;
        }
    };
    found.lines.ok(KUBECONFIG, "", format!("namespace {}", client.default_namespace()));
    if !answers(&client, &mut found.lines).await {
        let rest = [VERSION, CLUSTER, kinds::CRD, kinds::RIGHTS, STREAMED, kinds::ADMISSION];
        found.lines.skip(&rest, "the API server does not answer");
        return found;
    }
    found.uid = which(&client, &mut found.lines).await;
    found.served = kinds::served(&client, wanted, &mut found.lines).await;
    kinds::rights(&client, wanted, &mut found.lines).await;
    streamed(&client, wanted, &found.served, &mut found.lines).await;
    kinds::admission(&client, wanted, &found.served, &mut found.lines).await;
    found.client = Some(client);
    found
}

/// Checks that the API server answers, and reads its version.
async fn answers(client: &Client, lines: &mut CheckLines) -> bool {
    match ask(client, Method::GET, "/version", None).await {
        Err(why) => {
            let remedy = match why.contains("certificate") {
                true => {
                    "have the kubeconfig name the authority that signed the API server's certificate (`certificate-authority`), and an address that the certificate is for"
                }
                false => {
                    "check the address in the kubeconfig, and that the API server runs and can be reached from here"
                }
            };
            lines.error(ANSWERS, "", why, remedy);
            false
        }
        Ok((StatusCode::UNAUTHORIZED, _)) => {
            lines.error(
                ANSWERS,
                "",
                "401 Unauthorized: the API server does not accept this token or certificate",
                "it may have expired: renew that of the kubeconfig, or of the service account",
            );
            false
        }
        Ok((status, answer)) => {
            lines.ok(ANSWERS, "", "it answers");
            version(status, &answer, lines);
            true
        }
    }
}

fn version(status: StatusCode, answer: &Value, lines: &mut CheckLines) {
    // `20+` on some platforms.
    let number = |name: &str| answer[name].as_str()?.trim_end_matches('+').parse::<u32>().ok();
    let shown = answer["gitVersion"].as_str().unwrap_or_default();
    match (number("major"), number("minor")) {
        (Some(major), Some(minor)) if (major, minor) < FIRST => lines.error(
            VERSION,
            "",
            format!("Kubernetes {major}.{minor} ({shown})"),
            format!("the ingester needs Kubernetes {}.{} or later", FIRST.0, FIRST.1),
        ),
        (Some(major), Some(minor)) => lines.ok(VERSION, "", format!("Kubernetes {major}.{minor} ({shown})")),
        _ => lines.skipped(VERSION, "", format!("/version answers {status}, without a version")),
    }
}

/// Finds out which cluster it is.
async fn which(client: &Client, lines: &mut CheckLines) -> Option<ClusterUid> {
    match identity::cluster(client).await {
        Ok(ClusterUid::Known(uid)) => {
            lines.ok(CLUSTER, "", format!("the uid of namespace kube-system is {uid}"));
            Some(ClusterUid::Known(uid))
        }
        Ok(uid @ (ClusterUid::Unknown(_) | ClusterUid::Absent(_))) => {
            let (reason, remedy) = match &uid {
                ClusterUid::Absent(reason) => (
                    reason,
                    "no right helps, because this API server does not have it: take care yourself that each cluster has its own database",
                ),
                ClusterUid::Known(reason) | ClusterUid::Unknown(reason) => {
                    (reason, "grant the ingester `get` on the namespace kube-system, see `ingester rbac`")
                }
            };
            lines.warning(CLUSTER, "", format!("{reason}: nothing keeps two clusters from one database"), remedy);
            Some(uid)
        }
        Err(error) => {
            lines.error(
                CLUSTER,
                "",
                error.to_string(),
                "see what the API server says: `ingester run` waits for its answer",
            );
            None
        }
    }
}

/// Checks that lists are streamed.
async fn streamed(client: &Client, wanted: &CheckSubjects<'_>, served: &[Kind], lines: &mut CheckLines) {
    let Some(kind) = served.first() else {
        lines.skipped(STREAMED, "", "no kind is served");
        return;
    };
    let namespace = wanted.namespaces(kind).first().copied().flatten();
    match tokio::time::timeout(ANSWER, has_streamed_lists(client, kind, namespace)).await {
        Ok(Ok(true)) => lines.ok(STREAMED, "", "the API server streams lists"),
        Ok(Ok(false)) => {
            lines.ok(STREAMED, "", "the API server has none (Kubernetes 1.32): objects are listed page by page")
        }
        Ok(Err(error)) => lines.skipped(STREAMED, "", error.to_string()),
        Err(_) => lines.skipped(STREAMED, "", format!("no answer within {} s", ANSWER.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckLines, StatusCode, version};
    use crate::commands::doctor::Outcome;
    use serde_json::json;

    #[test]
    fn an_api_server_that_is_too_old_is_named() {
        for (status, answer, result, says) in [
            (200, json!({"major": "1", "minor": "19+", "gitVersion": "v1.19.4"}), Outcome::Error, "1.19 (v1.19.4)"),
            (200, json!({"major": "1", "minor": "20+", "gitVersion": "v1.20.2"}), Outcome::Ok, "1.20"),
            (200, json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"}), Outcome::Ok, "1.36"),
            (403, json!({"kind": "Status"}), Outcome::Skipped, "403"),
        ] {
            let mut lines = CheckLines::default();
            version(StatusCode::from_u16(status).unwrap(), &answer, &mut lines);
            assert_eq!(lines.0[0].result, result);
            assert!(lines.0[0].message.contains(says), "{lines:?}");
        }
    }
}
