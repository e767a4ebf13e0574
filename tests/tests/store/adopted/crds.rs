// `INGESTER_UPDATE=1 cargo test -p ingester-tests --test store adopted` writes it.

use ingester_core::Kind;

pub mod application {
    // The kind Application of argoproj.io/v1alpha1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Application.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "argoproj.io", version = "v1alpha1", kind = "Application", plural = "applications", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(
        sync_status,
        health_status,
        sync_revision,
        project,
        health_last_transition_time,
        operation_state_finished_at,
        operation_state_phase,
        operation_state_started_at,
        reconciled_at,
        initiated_by_automated,
        initiated_by_username,
        sync_prune,
        operation_sync_revision,
        destination_name,
        destination_namespace,
        destination_server,
        ignore_differences,
        info,
        revision_history_limit,
        source_chart,
        source_directory_exclude,
        source_directory_recurse,
        source_helm_parameters,
        source_helm_release_name,
        source_helm_values,
        source_kustomize_replicas,
        source_path,
        source_ref,
        source_repo_url,
        source_target_revision,
        sources,
        sync_policy_automated_allow_empty,
        sync_policy_automated_prune,
        sync_policy_automated_self_heal,
        sync_policy_retry_limit,
        conditions,
        controller_namespace,
        health_message,
        history,
        operation_state_message,
        operation_state_retry_count,
        operation_state_sync_result_revision,
        resources
    ))]
    #[index(column = "ignore_differences", with = ignore_differences, key = false)]
    #[index(column = "info", with = info, key = false)]
    #[index(column = "source_helm_parameters", with = source_helm_parameters, key = false)]
    #[index(column = "source_kustomize_replicas", with = source_kustomize_replicas, key = false)]
    #[index(column = "sources", with = sources, key = false)]
    #[index(column = "conditions", with = conditions, key = false)]
    #[index(column = "history", with = history, key = false)]
    #[index(column = "resources", with = resources, key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Application {
        #[index(column = "sync_status", path = "sync.status", type = "TEXT", key = false, header = "Sync Status")]
        #[index(
            column = "health_status",
            path = "health.status",
            type = "TEXT",
            key = false,
            header = "Health Status"
        )]
        #[index(
            column = "sync_revision",
            path = "sync.revision",
            type = "TEXT",
            key = false,
            header = "Revision",
            wide = true
        )]
        #[index(column = "health_last_transition_time", path = "health.last_transition_time")]
        #[index(column = "operation_state_finished_at", path = "operation_state.finished_at")]
        #[index(column = "operation_state_phase", path = "operation_state.phase", type = "VARCHAR(768)")]
        #[index(column = "operation_state_started_at", path = "operation_state.started_at")]
        #[index(column = "reconciled_at", path = "reconciled_at")]
        #[index(column = "controller_namespace", path = "controller_namespace", type = "TEXT", key = false)]
        #[index(column = "health_message", path = "health.message", type = "TEXT", key = false)]
        #[index(column = "operation_state_message", path = "operation_state.message", type = "TEXT", key = false)]
        #[index(column = "operation_state_retry_count", path = "operation_state.retry_count", key = false)]
        #[index(
            column = "operation_state_sync_result_revision",
            path = "operation_state.sync_result.revision",
            type = "TEXT",
            key = false
        )]
        #[index(column = "source_type", path = "source_type", type = "TEXT", key = false)]
        pub status: ApplicationStatus,
        #[index(column = "project", path = "project", type = "TEXT", key = false, header = "Project", wide = true)]
        #[index(column = "destination_name", path = "destination.name", type = "TEXT", key = false)]
        #[index(column = "destination_namespace", path = "destination.namespace", type = "TEXT", key = false)]
        #[index(column = "destination_server", path = "destination.server", type = "TEXT", key = false)]
        #[index(column = "revision_history_limit", path = "revision_history_limit", key = false)]
        #[index(column = "source_chart", path = "source.chart", type = "TEXT", key = false)]
        #[index(column = "source_directory_exclude", path = "source.directory.exclude", type = "TEXT", key = false)]
        #[index(column = "source_directory_recurse", path = "source.directory.recurse", key = false)]
        #[index(column = "source_helm_release_name", path = "source.helm.release_name", type = "TEXT", key = false)]
        #[index(column = "source_helm_values", path = "source.helm.values", type = "TEXT", key = false)]
        #[index(column = "source_path", path = "source.path", type = "TEXT", key = false)]
        #[index(column = "source_ref", path = "source.ref_", type = "TEXT", key = false)]
        #[index(
            column = "source_repo_url",
            path = "source.repo_url",
            json = "source.repoURL",
            type = "TEXT",
            key = false
        )]
        #[index(column = "source_target_revision", path = "source.target_revision", type = "TEXT", key = false)]
        #[index(column = "sync_policy_automated_allow_empty", path = "sync_policy.automated.allow_empty", key = false)]
        #[index(column = "sync_policy_automated_prune", path = "sync_policy.automated.prune", key = false)]
        #[index(column = "sync_policy_automated_self_heal", path = "sync_policy.automated.self_heal", key = false)]
        #[index(column = "sync_policy_retry_limit", path = "sync_policy.retry.limit", key = false)]
        pub spec: ApplicationSpec,
        #[index(column = "initiated_by_automated", path = "initiated_by.automated", key = false)]
        #[index(column = "initiated_by_username", path = "initiated_by.username", type = "TEXT", key = false)]
        #[index(column = "sync_prune", path = "sync.prune", key = false)]
        #[index(column = "operation_sync_revision", path = "sync.revision", type = "TEXT", key = false)]
        pub operation: ApplicationOperation,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationStatus {
        pub sync: ApplicationStatusSync,
        pub health: ApplicationStatusHealth,
        pub operation_state: ApplicationStatusOperationState,
        pub reconciled_at: Option<Time>,
        pub conditions: Option<Opaque>,
        pub controller_namespace: Option<String>,
        pub history: Option<Opaque>,
        pub resources: Option<Opaque>,
        pub source_type: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationStatusSync {
        pub status: Option<String>,
        pub revision: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationStatusHealth {
        pub status: Option<String>,
        pub last_transition_time: Option<Time>,
        pub message: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationStatusOperationState {
        pub finished_at: Option<Time>,
        pub phase: Option<String>,
        pub started_at: Option<Time>,
        pub message: Option<String>,
        pub retry_count: Option<i64>,
        pub sync_result: ApplicationStatusOperationStateSyncResult,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationStatusOperationStateSyncResult {
        pub revision: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpec {
        pub project: Option<String>,
        pub destination: ApplicationSpecDestination,
        pub ignore_differences: Option<Opaque>,
        pub info: Option<Opaque>,
        pub revision_history_limit: Option<i64>,
        pub source: ApplicationSpecSource,
        pub sources: Option<Opaque>,
        pub sync_policy: ApplicationSpecSyncPolicy,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecDestination {
        pub name: Option<String>,
        pub namespace: Option<String>,
        pub server: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSource {
        pub chart: Option<String>,
        pub directory: ApplicationSpecSourceDirectory,
        pub helm: ApplicationSpecSourceHelm,
        pub kustomize: ApplicationSpecSourceKustomize,
        pub path: Option<String>,
        pub ref_: Option<String>,
        #[serde(rename = "repoURL")]
        pub repo_url: Option<String>,
        pub target_revision: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSourceDirectory {
        pub exclude: Option<String>,
        pub recurse: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSourceHelm {
        pub parameters: Option<Opaque>,
        pub release_name: Option<String>,
        pub values: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSourceKustomize {
        pub replicas: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSyncPolicy {
        pub automated: ApplicationSpecSyncPolicyAutomated,
        pub retry: ApplicationSpecSyncPolicyRetry,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSyncPolicyAutomated {
        pub allow_empty: Option<bool>,
        pub prune: Option<bool>,
        pub self_heal: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationSpecSyncPolicyRetry {
        pub limit: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationOperation {
        pub initiated_by: ApplicationOperationInitiatedBy,
        pub sync: ApplicationOperationSync,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationOperationInitiatedBy {
        pub automated: Option<bool>,
        pub username: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct ApplicationOperationSync {
        pub prune: Option<bool>,
        pub revision: Option<String>,
    }

    /// `.spec.ignoreDifferences[*] | count`
    fn ignore_differences(object: &Application) -> Option<i32> {
        object.spec.ignore_differences.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.info[*] | count`
    fn info(object: &Application) -> Option<i32> {
        object.spec.info.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.source.helm.parameters[*] | count`
    fn source_helm_parameters(object: &Application) -> Option<i32> {
        object.spec.source.helm.parameters.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.source.kustomize.replicas[*] | count`
    fn source_kustomize_replicas(object: &Application) -> Option<i32> {
        object.spec.source.kustomize.replicas.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.sources[*] | count`
    fn sources(object: &Application) -> Option<i32> {
        object.spec.sources.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.conditions[*] | count`
    fn conditions(object: &Application) -> Option<i32> {
        object.status.conditions.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.history[*] | count`
    fn history(object: &Application) -> Option<i32> {
        object.status.history.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.resources[*] | count`
    fn resources(object: &Application) -> Option<i32> {
        object.status.resources.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod certificate {
    // The kind Certificate of cert-manager.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use ingester_core::wire::Time;
    use serde::Deserialize;

    /// An object of the kind Certificate.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "cert-manager.io", version = "v1", kind = "Certificate", plural = "certificates", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(
        issuer_ref_group,
        issuer_ref_kind,
        issuer_ref_name,
        ready,
        secret_name,
        ready_message,
        not_after,
        keystores_jks_password_secret_ref_name,
        last_failure_time,
        not_before,
        renewal_time,
        common_name,
        duration,
        encode_usages_in_request,
        is_ca,
        keystores_jks_alias,
        keystores_jks_create,
        other_names
    ))]
    #[index(column = "ready", with = ready, header = "Ready")]
    #[index(column = "ready_message", with = ready_message, type = "TEXT", key = false, header = "Status", wide = true)]
    #[index(column = "other_names", with = other_names, key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Certificate {
        #[index(column = "issuer_ref_group", path = "issuer_ref.group", type = "VARCHAR(768)")]
        #[index(column = "issuer_ref_kind", path = "issuer_ref.kind", type = "VARCHAR(768)")]
        #[index(
            column = "issuer_ref_name",
            path = "issuer_ref.name",
            type = "VARCHAR(768)",
            header = "Issuer",
            wide = true
        )]
        #[index(column = "secret_name", path = "secret_name", type = "TEXT", key = false, header = "Secret")]
        #[index(
            column = "keystores_jks_password_secret_ref_name",
            path = "keystores.jks.password_secret_ref.name",
            type = "VARCHAR(768)"
        )]
        #[index(column = "common_name", path = "common_name", type = "TEXT", key = false)]
        #[index(column = "duration", path = "duration", type = "TEXT", key = false)]
        #[index(column = "encode_usages_in_request", path = "encode_usages_in_request", key = false)]
        #[index(column = "is_ca", path = "is_ca", json = "isCA", key = false)]
        #[index(column = "keystores_jks_alias", path = "keystores.jks.alias", type = "TEXT", key = false)]
        #[index(column = "keystores_jks_create", path = "keystores.jks.create", key = false)]
        #[index(column = "private_key_algorithm", path = "private_key.algorithm", key = false)]
        #[index(column = "private_key_encoding", path = "private_key.encoding", key = false)]
        #[index(column = "private_key_rotation_policy", path = "private_key.rotation_policy", key = false)]
        #[index(column = "private_key_size", path = "private_key.size", key = false)]
        #[index(column = "renew_before", path = "renew_before", type = "TEXT", key = false)]
        #[index(column = "renew_before_percentage", path = "renew_before_percentage", key = false)]
        #[index(column = "revision_history_limit", path = "revision_history_limit", key = false)]
        pub spec: CertificateSpec,
        #[index(column = "not_after", path = "not_after", header = "Expiration", wide = true)]
        #[index(column = "last_failure_time", path = "last_failure_time")]
        #[index(column = "not_before", path = "not_before")]
        #[index(column = "renewal_time", path = "renewal_time")]
        #[index(column = "failed_issuance_attempts", path = "failed_issuance_attempts", key = false)]
        #[index(
            column = "next_private_key_secret_name",
            path = "next_private_key_secret_name",
            type = "TEXT",
            key = false
        )]
        #[index(column = "revision", path = "revision", key = false)]
        pub status: CertificateStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpec {
        pub issuer_ref: CertificateSpecIssuerRef,
        pub secret_name: Option<String>,
        pub keystores: CertificateSpecKeystores,
        pub common_name: Option<String>,
        pub duration: Option<String>,
        pub encode_usages_in_request: Option<bool>,
        #[serde(rename = "isCA")]
        pub is_ca: Option<bool>,
        pub other_names: Option<Opaque>,
        pub private_key: CertificateSpecPrivateKey,
        pub renew_before: Option<String>,
        pub renew_before_percentage: Option<i32>,
        pub revision_history_limit: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecIssuerRef {
        pub group: Option<String>,
        pub kind: Option<String>,
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecKeystores {
        pub jks: CertificateSpecKeystoresJks,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecKeystoresJks {
        pub password_secret_ref: CertificateSpecKeystoresJksPasswordSecretRef,
        pub alias: Option<String>,
        pub create: Option<bool>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecKeystoresJksPasswordSecretRef {
        pub name: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateSpecPrivateKey {
        pub algorithm: Option<String>,
        pub encoding: Option<String>,
        pub rotation_policy: Option<String>,
        pub size: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateStatus {
        pub conditions: Vec<CertificateStatusConditions>,
        pub not_after: Option<Time>,
        pub last_failure_time: Option<Time>,
        pub not_before: Option<Time>,
        pub renewal_time: Option<Time>,
        pub failed_issuance_attempts: Option<i64>,
        pub next_private_key_secret_name: Option<String>,
        pub revision: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct CertificateStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
        pub message: Option<String>,
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &Certificate) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].message`
    fn ready_message(object: &Certificate) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.message.clone()
    }

    /// `.spec.otherNames[*] | count`
    fn other_names(object: &Certificate) -> Option<i32> {
        object.spec.other_names.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod destinationrule {
    // The kind DestinationRule of networking.istio.io/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind DestinationRule.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(
        group = "networking.istio.io",
        version = "v1",
        kind = "DestinationRule",
        plural = "destinationrules",
        namespaced
    )]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(
        host,
        ready,
        subsets,
        traffic_policy_load_balancer_simple,
        traffic_policy_outlier_detection_base_ejection_tim,
        traffic_policy_outlier_detection_consecutive5xx_er,
        traffic_policy_outlier_detection_max_ejection_perc,
        traffic_policy_outlier_detection_outlier_detection
    ))]
    #[index(column = "ready", with = ready)]
    #[index(column = "subsets", with = subsets, key = false)]
    #[index(column = "traffic_policy_outlier_detection_outlier_detection", with = traffic_policy_outlier_detection_outlier_detection, key = false)]
    #[index(column = "observed_generation", with = observed_generation, type = "TEXT", key = false)]
    #[index(column = "validation_messages", with = validation_messages, key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRule {
        #[index(column = "host", path = "host", type = "TEXT", key = false, header = "Host")]
        #[index(
            column = "traffic_policy_load_balancer_simple",
            path = "traffic_policy.load_balancer.simple",
            key = false
        )]
        #[index(
            column = "traffic_policy_outlier_detection_base_ejection_tim",
            path = "traffic_policy.outlier_detection.base_ejection_time",
            type = "TEXT",
            key = false
        )]
        #[index(
            column = "traffic_policy_outlier_detection_consecutive5xx_er",
            path = "traffic_policy.outlier_detection.consecutive5xx_errors",
            key = false
        )]
        #[index(
            column = "traffic_policy_outlier_detection_max_ejection_perc",
            path = "traffic_policy.outlier_detection.max_ejection_percent",
            key = false
        )]
        #[index(
            column = "traffic_policy_retry_budget_budget_interval",
            path = "traffic_policy.retry_budget.budget_interval",
            type = "TEXT",
            key = false
        )]
        #[index(
            column = "traffic_policy_retry_budget_min_retry_concurrency",
            path = "traffic_policy.retry_budget.min_retry_concurrency",
            key = false
        )]
        #[index(
            column = "traffic_policy_retry_budget_percent",
            path = "traffic_policy.retry_budget.percent",
            key = false
        )]
        #[index(
            column = "traffic_policy_tls_insecure_skip_verify",
            path = "traffic_policy.tls.insecure_skip_verify",
            key = false
        )]
        #[index(column = "traffic_policy_tls_mode", path = "traffic_policy.tls.mode", key = false)]
        pub spec: DestinationRuleSpec,
        pub status: DestinationRuleStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpec {
        pub host: Option<String>,
        pub subsets: Option<Opaque>,
        pub traffic_policy: DestinationRuleSpecTrafficPolicy,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpecTrafficPolicy {
        pub load_balancer: DestinationRuleSpecTrafficPolicyLoadBalancer,
        pub outlier_detection: DestinationRuleSpecTrafficPolicyOutlierDetection,
        pub retry_budget: DestinationRuleSpecTrafficPolicyRetryBudget,
        pub tls: DestinationRuleSpecTrafficPolicyTls,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpecTrafficPolicyLoadBalancer {
        pub simple: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpecTrafficPolicyOutlierDetection {
        pub base_ejection_time: Option<String>,
        pub consecutive5xx_errors: Option<i64>,
        pub max_ejection_percent: Option<i32>,
        pub outlier_detection_http_error_codes: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpecTrafficPolicyRetryBudget {
        pub budget_interval: Option<String>,
        pub min_retry_concurrency: Option<i64>,
        pub percent: Option<f64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleSpecTrafficPolicyTls {
        pub insecure_skip_verify: Option<bool>,
        pub mode: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleStatus {
        pub conditions: Vec<DestinationRuleStatusConditions>,
        pub observed_generation: Option<Opaque>,
        pub validation_messages: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct DestinationRuleStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &DestinationRule) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.spec.subsets[*] | count`
    fn subsets(object: &DestinationRule) -> Option<i32> {
        object.spec.subsets.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.trafficPolicy.outlierDetection.outlierDetectionHttpErrorCodes[*] | count`
    fn traffic_policy_outlier_detection_outlier_detection(object: &DestinationRule) -> Option<i32> {
        object
            .spec
            .traffic_policy
            .outlier_detection
            .outlier_detection_http_error_codes
            .as_ref()
            .map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.observedGeneration | text`
    fn observed_generation(object: &DestinationRule) -> Option<String> {
        object.status.observed_generation.as_ref().map(|value| value.text().into_owned())
    }

    /// `.status.validationMessages[*] | count`
    fn validation_messages(object: &DestinationRule) -> Option<i32> {
        object.status.validation_messages.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub mod prometheus {
    // The kind Prometheus of monitoring.coreos.com/v1, as a file of kinds declares it.

    use ingester_core::Ingestable;
    use ingester_core::wire::Opaque;
    use serde::Deserialize;

    /// An object of the kind Prometheus.
    #[derive(Ingestable, Deserialize, Clone, Debug, Default)]
    #[ingest(group = "monitoring.coreos.com", version = "v1", kind = "Prometheus", plural = "prometheuses", namespaced)]
    #[ingest(absent = "null", finalizer = "never", evictable = false)]
    #[ingest(columns(
        version,
        replicas,
        available_replicas,
        reconciled,
        available,
        paused,
        ready,
        alerting_alertmanagers,
        enforced_sample_limit,
        evaluation_interval,
        exemplars_max_size,
        image,
        log_level,
        spec_paused,
        port_name,
        retention,
        retention_size,
        security_context_fs_group,
        security_context_run_as_non_root,
        security_context_run_as_user,
        service_monitor_selector_match_expressions,
        shards,
        storage_empty_dir_medium,
        termination_grace_period_seconds,
        status_replicas,
        selector,
        shard_statuses
    ))]
    #[index(column = "reconciled", with = reconciled, key = false, header = "Reconciled")]
    #[index(column = "available", with = available, key = false, header = "Available")]
    #[index(column = "ready", with = ready)]
    #[index(column = "alerting_alertmanagers", with = alerting_alertmanagers, key = false)]
    #[index(column = "service_monitor_selector_match_expressions", with = service_monitor_selector_match_expressions, key = false)]
    #[index(column = "shard_statuses", with = shard_statuses, key = false)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Prometheus {
        #[index(column = "version", path = "version", type = "TEXT", key = false, header = "Version")]
        #[index(column = "replicas", path = "replicas", key = false, header = "Desired")]
        #[index(column = "enforced_sample_limit", path = "enforced_sample_limit", key = false)]
        #[index(column = "evaluation_interval", path = "evaluation_interval", type = "TEXT", key = false)]
        #[index(column = "exemplars_max_size", path = "exemplars.max_size", key = false)]
        #[index(column = "image", path = "image", type = "TEXT", key = false)]
        #[index(column = "log_level", path = "log_level", key = false)]
        #[index(column = "spec_paused", path = "paused", key = false)]
        #[index(column = "port_name", path = "port_name", type = "TEXT", key = false)]
        #[index(column = "retention", path = "retention", type = "TEXT", key = false)]
        #[index(column = "retention_size", path = "retention_size", type = "TEXT", key = false)]
        #[index(column = "security_context_fs_group", path = "security_context.fs_group", key = false)]
        #[index(column = "security_context_run_as_non_root", path = "security_context.run_as_non_root", key = false)]
        #[index(column = "security_context_run_as_user", path = "security_context.run_as_user", key = false)]
        #[index(column = "shards", path = "shards", key = false)]
        #[index(column = "storage_empty_dir_medium", path = "storage.empty_dir.medium", type = "TEXT", key = false)]
        #[index(column = "termination_grace_period_seconds", path = "termination_grace_period_seconds", key = false)]
        pub spec: PrometheusSpec,
        #[index(column = "available_replicas", path = "available_replicas", key = false, header = "Ready")]
        #[index(column = "paused", path = "paused", key = false, header = "Paused", wide = true)]
        #[index(column = "status_replicas", path = "replicas", key = false)]
        #[index(column = "selector", path = "selector", type = "TEXT", key = false)]
        #[index(column = "status_shards", path = "shards", key = false)]
        #[index(column = "unavailable_replicas", path = "unavailable_replicas", key = false)]
        #[index(column = "updated_replicas", path = "updated_replicas", key = false)]
        pub status: PrometheusStatus,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpec {
        pub version: Option<String>,
        pub replicas: Option<i32>,
        pub alerting: PrometheusSpecAlerting,
        pub enforced_sample_limit: Option<i64>,
        pub evaluation_interval: Option<String>,
        pub exemplars: PrometheusSpecExemplars,
        pub image: Option<String>,
        pub log_level: Option<String>,
        pub paused: Option<bool>,
        pub port_name: Option<String>,
        pub retention: Option<String>,
        pub retention_size: Option<String>,
        pub security_context: PrometheusSpecSecurityContext,
        pub service_monitor_selector: PrometheusSpecServiceMonitorSelector,
        pub shards: Option<i32>,
        pub storage: PrometheusSpecStorage,
        pub termination_grace_period_seconds: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecAlerting {
        pub alertmanagers: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecExemplars {
        pub max_size: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecSecurityContext {
        pub fs_group: Option<i64>,
        pub run_as_non_root: Option<bool>,
        pub run_as_user: Option<i64>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecServiceMonitorSelector {
        pub match_expressions: Option<Opaque>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecStorage {
        pub empty_dir: PrometheusSpecStorageEmptyDir,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusSpecStorageEmptyDir {
        pub medium: Option<String>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusStatus {
        pub available_replicas: Option<i32>,
        pub conditions: Vec<PrometheusStatusConditions>,
        pub paused: Option<bool>,
        pub replicas: Option<i32>,
        pub selector: Option<String>,
        pub shard_statuses: Option<Opaque>,
        pub shards: Option<i32>,
        pub unavailable_replicas: Option<i32>,
        pub updated_replicas: Option<i32>,
    }

    #[derive(Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub struct PrometheusStatusConditions {
        pub type_: Option<String>,
        pub status: Option<String>,
    }

    /// `.status.conditions[type="Reconciled"].status`
    fn reconciled(object: &Prometheus) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Reconciled"))?.status.clone()
    }

    /// `.status.conditions[type="Available"].status`
    fn available(object: &Prometheus) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Available"))?.status.clone()
    }

    /// `.status.conditions[type="Ready"].status`
    fn ready(object: &Prometheus) -> Option<String> {
        object.status.conditions.iter().find(|element| element.type_.as_deref() == Some("Ready"))?.status.clone()
    }

    /// `.spec.alerting.alertmanagers[*] | count`
    fn alerting_alertmanagers(object: &Prometheus) -> Option<i32> {
        object.spec.alerting.alertmanagers.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.spec.serviceMonitorSelector.matchExpressions[*] | count`
    fn service_monitor_selector_match_expressions(object: &Prometheus) -> Option<i32> {
        object
            .spec
            .service_monitor_selector
            .match_expressions
            .as_ref()
            .map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }

    /// `.status.shardStatuses[*] | count`
    fn shard_statuses(object: &Prometheus) -> Option<i32> {
        object.status.shard_statuses.as_ref().map_or(Some(0), |all| i32::try_from(all.count()?).ok())
    }
}

pub const KINDS: &[Kind] = &[
    Kind::of::<application::Application>(),
    Kind::of::<certificate::Certificate>(),
    Kind::of::<destinationrule::DestinationRule>(),
    Kind::of::<prometheus::Prometheus>(),
];
