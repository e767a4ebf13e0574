//! The tables of KubeDL's persistence, as views: `job_info`, `replica_info` and `event_info` are the tables of its code, `job` and `pod`
//! the tables of its manual.

use crate::event::Event;
use crate::job::{ElasticBatchJob, ElasticDLJob, MPIJob, MarsJob, PyTorchJob, TFJob, XDLJob, XGBoostJob};
use crate::pod::Pod;
use Condition::{All, Deleted, Live, Not, Null, OneOf};
use Expression::{Case, Cast, Coalesce, Column, Concat, Setting};
use ingester_core::Kind;
use ingester_core::view::{Condition, Expression, Literal, View, ViewColumn, ViewSource, ViewType};

/// The process's region.
const HERE: Expression = Setting("deploy_region");
const VERSION: Expression = Cast(&Column("res_version"), ViewType::Text);
const IS_IN_ETCD: Expression = Case(&[(Live, Expression::integer(1))], &Expression::integer(0));

/// A job that was deleted while it ran has stopped then.
const JOB_STOPPED: Condition = All(&[
    Deleted,
    OneOf(Column("status"), &[Literal::Text("Running"), Literal::Text("Created"), Literal::Text("Restarting")]),
]);
const JOB_STATUS: Expression = Case(&[(JOB_STOPPED, Expression::text("Stopped"))], &Column("status"));
const JOB_FINISHED: Expression = Case(&[(JOB_STOPPED, Column("delete_time"))], &Column("finished"));
const JOB_REGION: Expression = Coalesce(&[
    HERE,
    Case(&[(Not(&OneOf(Column("region"), &[Literal::Text("")])), Column("region"))], &Expression::Null),
]);
const JOB_REMARK: Expression = Case(
    &[(OneOf(Column("tensorboard"), &[Literal::Integer(1)]), Expression::text("EnableTensorBoard"))],
    &Expression::Null,
);
const JOB_DELETED: Expression = Case(&[(Deleted, Expression::integer(1))], &Expression::integer(0));

/// The columns that a view selects from the eight kinds of jobs; `kind` is the kind's name in the list of values.
macro_rules! of_all_jobs {
    ($kind:ident => $values:expr) => {
        &[
            of_all_jobs!(TFJob, $kind, $values),
            of_all_jobs!(PyTorchJob, $kind, $values),
            of_all_jobs!(XGBoostJob, $kind, $values),
            of_all_jobs!(XDLJob, $kind, $values),
            of_all_jobs!(MarsJob, $kind, $values),
            of_all_jobs!(ElasticBatchJob, $kind, $values),
            of_all_jobs!(ElasticDLJob, $kind, $values),
            of_all_jobs!(MPIJob, $kind, $values),
        ]
    };
    ($job:ident, $kind:ident, $values:expr) => {
        ViewSource::of(Kind::of::<$job>(), {
            const $kind: Expression = Expression::text(stringify!($job));
            const VALUES: &[(&str, Expression)] = $values;
            VALUES
        })
    };
}

/// `job_info`.
pub const JOB_INFO: View = View {
    name: "job_info",
    columns: &[
        ViewColumn::new("id"),
        ViewColumn::new("name"),
        ViewColumn::new("namespace"),
        ViewColumn::new("job_id"),
        ViewColumn::new("version"),
        ViewColumn::new("status"),
        ViewColumn::new("kind"),
        ViewColumn::new("resources"),
        ViewColumn::new("deploy_region"),
        ViewColumn::new("tenant"),
        ViewColumn::new("owner"),
        ViewColumn::new("deleted"),
        ViewColumn::new("is_in_etcd"),
        ViewColumn::new("remark"),
        ViewColumn::new("gmt_created"),
        ViewColumn::new("gmt_modified"),
        ViewColumn::new("gmt_job_running"),
        ViewColumn::new("gmt_job_finished"),
    ],
    sources: of_all_jobs!(KIND => &[
        ("id", Column("uid")),
        ("name", Column("name")),
        ("namespace", Column("namespace")),
        ("job_id", Column("uid")),
        ("version", VERSION),
        ("status", JOB_STATUS),
        ("kind", KIND),
        ("resources", Column("resources")),
        ("deploy_region", JOB_REGION),
        ("tenant", Column("tenant")),
        ("owner", Column("owner")),
        ("deleted", JOB_DELETED),
        ("is_in_etcd", IS_IN_ETCD),
        ("remark", JOB_REMARK),
        ("gmt_created", Column("create_time")),
        ("gmt_modified", Column("update_time")),
        ("gmt_job_running", Column("running")),
        ("gmt_job_finished", JOB_FINISHED),
    ]),
};

/// `job`, in which a row is modified when its status changes.
pub const JOB: View = View {
    name: "job",
    columns: &[
        ViewColumn::new("id"),
        ViewColumn::new("name"),
        ViewColumn::new("namespace"),
        ViewColumn::new("job_id"),
        ViewColumn::new("version"),
        ViewColumn::new("status"),
        ViewColumn::new("kind"),
        ViewColumn::new("resources"),
        ViewColumn::new("deploy_region"),
        ViewColumn::new("tenant"),
        ViewColumn::new("owner"),
        ViewColumn::new("is_in_etcd"),
        ViewColumn::new("gmt_created"),
        ViewColumn::new("gmt_modified"),
        ViewColumn::new("gmt_finished"),
    ],
    sources: of_all_jobs!(KIND => &[
        ("id", Column("uid")),
        ("name", Column("name")),
        ("namespace", Column("namespace")),
        ("job_id", Column("uid")),
        ("version", VERSION),
        ("status", JOB_STATUS),
        ("kind", KIND),
        ("resources", Column("resources")),
        ("deploy_region", JOB_REGION),
        ("tenant", Column("tenant")),
        ("owner", Column("owner")),
        ("is_in_etcd", IS_IN_ETCD),
        ("gmt_created", Column("create_time")),
        (
            "gmt_modified",
            Case(&[(JOB_STOPPED, Column("delete_time"))], &Coalesce(&[Column("changed"), Column("create_time")])),
        ),
        ("gmt_finished", JOB_FINISHED),
    ]),
};

const POD_HAS_ENDED: Condition = OneOf(Column("phase"), &[Literal::Text("Succeeded"), Literal::Text("Failed")]);
/// A pod that was deleted before its end has stopped then.
const POD_STOPPED: Condition = All(&[Deleted, Not(&POD_HAS_ENDED)]);
const POD_FAILED: Condition = OneOf(Column("phase"), &[Literal::Text("Failed")]);
const POD_STATUS: Expression = Case(
    &[
        (POD_STOPPED, Expression::text("Stopped")),
        // Until the kubelet has reported on the containers, unless the end is already known.
        (
            All(&[OneOf(Column("container_count"), &[Literal::Integer(0)]), Not(&POD_HAS_ENDED)]),
            Expression::text("Unknown"),
        ),
    ],
    &Coalesce(&[Column("phase"), Expression::text("Unknown")]),
);
const HOST_IP: Expression =
    Case(&[(Not(&OneOf(Column("host_ip"), &[Literal::Text("")])), Column("host_ip"))], &Expression::Null);
const POD_IP: Expression =
    Case(&[(Not(&OneOf(Column("pod_ip"), &[Literal::Text("")])), Column("pod_ip"))], &Expression::Null);
const REASON: Expression = Coalesce(&[Column("reason"), Expression::text("")]);
const MESSAGE: Expression = Coalesce(&[Column("message"), Expression::text("")]);
const POD_REMARK: Expression = Case(
    &[
        (
            All(&[POD_FAILED, Not(&Null(Column("exit_code")))]),
            Concat(&[
                Expression::text("Reason: "),
                REASON,
                Expression::text("\nExitCode: "),
                Cast(&Column("exit_code"), ViewType::Text),
                Expression::text("\nMessage: "),
                MESSAGE,
            ]),
        ),
        (
            All(&[POD_FAILED, Not(&All(&[Null(Column("reason")), Null(Column("message"))]))]),
            Concat(&[Expression::text("Reason: "), REASON, Expression::text("\nMessage: "), MESSAGE]),
        ),
    ],
    &Expression::Null,
);
const POD_STARTED: Expression =
    Case(&[(POD_STOPPED, Coalesce(&[Column("started"), Column("create_time")]))], &Column("started"));
/// Without a known time, the last write of the row counts.
const POD_ENDED: Expression = Coalesce(&[Column("finished"), Column("update_time")]);
const POD_FINISHED: Expression = Case(
    &[(POD_STOPPED, Coalesce(&[Column("finished"), Column("delete_time")])), (POD_HAS_ENDED, POD_ENDED)],
    &Column("finished"),
);

const POD_COLUMNS: &[ViewColumn] = &[
    ViewColumn::new("id"),
    ViewColumn::new("name"),
    ViewColumn::new("namespace"),
    ViewColumn::new("pod_id"),
    ViewColumn::new("version"),
    ViewColumn::new("status"),
    ViewColumn::new("image"),
    ViewColumn::new("job_id"),
    ViewColumn::new("replica_type"),
    ViewColumn::new("resources"),
    ViewColumn::new("host_ip"),
    ViewColumn::new("pod_ip"),
    ViewColumn::new("deploy_region"),
    ViewColumn::new("deleted"),
    ViewColumn::new("is_in_etcd"),
    ViewColumn::new("remark"),
    ViewColumn::new("gmt_created"),
    ViewColumn::new("gmt_modified"),
    ViewColumn::new("gmt_started"),
    ViewColumn::new("gmt_finished"),
];

/// A view over pods, with the time when a row was modified.
macro_rules! of_pods {
    ($name:literal, $modified:expr) => {
        View {
            name: $name,
            columns: POD_COLUMNS,
            sources: &[ViewSource::of(
                Kind::of::<Pod>(),
                &[
                    ("id", Column("uid")),
                    ("name", Column("name")),
                    ("namespace", Column("namespace")),
                    ("pod_id", Column("uid")),
                    ("version", VERSION),
                    ("status", POD_STATUS),
                    ("image", Column("image")),
                    ("job_id", Column("job_id")),
                    ("replica_type", Column("replica_type")),
                    ("resources", Column("resources")),
                    ("host_ip", HOST_IP),
                    ("pod_ip", POD_IP),
                    ("deploy_region", HERE),
                    // KubeDL never marks pods as deleted.
                    ("deleted", Expression::integer(0)),
                    ("is_in_etcd", IS_IN_ETCD),
                    ("remark", POD_REMARK),
                    ("gmt_created", Column("create_time")),
                    ("gmt_modified", $modified),
                    ("gmt_started", POD_STARTED),
                    ("gmt_finished", POD_FINISHED),
                ],
            )],
        }
    };
}

/// `replica_info`.
pub const REPLICA_INFO: View = of_pods!("replica_info", Column("update_time"));

/// `pod`, in which a row is modified when its status changes.
pub const POD: View = of_pods!(
    "pod",
    Case(
        &[(POD_STOPPED, Column("delete_time")), (POD_HAS_ENDED, POD_ENDED)],
        &Coalesce(&[Column("started"), Column("create_time")]),
    )
);

/// `event_info`: events on jobs and pods that have rows.
pub const EVENT_INFO: View = View {
    name: "event_info",
    columns: &[
        ViewColumn::new("name"),
        ViewColumn::new("kind"),
        ViewColumn::new("type"),
        ViewColumn::new("obj_namespace"),
        ViewColumn::new("obj_name"),
        ViewColumn::new("obj_uid"),
        ViewColumn::new("reason"),
        ViewColumn::new("message"),
        ViewColumn::new("count"),
        ViewColumn::new("region"),
        ViewColumn::new("first_timestamp"),
        ViewColumn::new("last_timestamp"),
    ],
    sources: &[ViewSource::of(
        Kind::of::<Event>(),
        &[
            ("name", Column("name")),
            ("kind", Column("obj_kind")),
            ("type", Column("type")),
            ("obj_namespace", Column("obj_namespace")),
            ("obj_name", Column("obj_name")),
            ("obj_uid", Column("obj_uid")),
            ("reason", Column("reason")),
            ("message", Column("message")),
            ("count", Column("count")),
            ("region", HERE),
            ("first_timestamp", Column("first_timestamp")),
            ("last_timestamp", Column("last_timestamp")),
        ],
    )
    .filter(Condition::Stored(
        Column("obj_uid"),
        &[
            Kind::of::<TFJob>(),
            Kind::of::<PyTorchJob>(),
            Kind::of::<XGBoostJob>(),
            Kind::of::<XDLJob>(),
            Kind::of::<MarsJob>(),
            Kind::of::<ElasticBatchJob>(),
            Kind::of::<ElasticDLJob>(),
            Kind::of::<MPIJob>(),
            Kind::of::<Pod>(),
        ],
    ))],
};
