//! Messages whose JSON is not an object of their fields: protobuf's well-known types, and the types of Kubernetes' API machinery.

/// How a message's JSON is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An object with the fields' names.
    Plain,
    /// `google.protobuf.Timestamp`: RFC 3339 text.
    Timestamp,
    /// `google.protobuf.Duration`: seconds with a suffix, `90.500s`.
    Duration,
    /// `google.protobuf.Struct`: any object.
    Struct,
    /// `google.protobuf.Value`: anything.
    Value,
    /// `google.protobuf.ListValue`: any array.
    ListValue,
    /// `google.protobuf.Any`: `@type` and the packed bytes as base64 in `value`.
    Any,
    /// `google.protobuf.StringValue` and the like: the value alone.
    Wrapper,
    /// `metav1.Time` and `MicroTime`: RFC 3339 text, or their shape.
    Time,
    /// `resource.Quantity`: text or a number.
    Quantity,
    /// `intstr.IntOrString`: either, or its shape.
    IntOrString,
    /// `metav1.FieldsV1`: any JSON, kept as its text.
    Fields,
}

impl Form {
    /// Returns the form of the message with this full name.
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "google.protobuf.Timestamp" => Form::Timestamp,
            "google.protobuf.Duration" => Form::Duration,
            "google.protobuf.Struct" => Form::Struct,
            "google.protobuf.Value" => Form::Value,
            "google.protobuf.ListValue" => Form::ListValue,
            "google.protobuf.Any" => Form::Any,
            "google.protobuf.DoubleValue"
            | "google.protobuf.FloatValue"
            | "google.protobuf.Int64Value"
            | "google.protobuf.UInt64Value"
            | "google.protobuf.Int32Value"
            | "google.protobuf.UInt32Value"
            | "google.protobuf.BoolValue"
            | "google.protobuf.StringValue"
            | "google.protobuf.BytesValue" => Form::Wrapper,
            "k8s.io.apimachinery.pkg.apis.meta.v1.Time" | "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime" => {
                Form::Time
            }
            "k8s.io.apimachinery.pkg.api.resource.Quantity" => Form::Quantity,
            "k8s.io.apimachinery.pkg.util.intstr.IntOrString" => Form::IntOrString,
            "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1" => Form::Fields,
            _ => Form::Plain,
        }
    }
}

pub(super) const TYPE_META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1.TypeMeta";
pub(super) const OBJECT_META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The fields of Kubernetes' own messages that its generated code always writes, because they are not pointers in Go
/// (k8s.io/apimachinery, `generated.pb.go` of `meta/v1` and `util/intstr`).
pub(super) fn always(name: &str) -> &'static [u32] {
    match name {
        TYPE_META => &[1, 2],
        OBJECT_META => &[1, 2, 3, 4, 5, 6, 7, 8],
        "k8s.io.apimachinery.pkg.apis.meta.v1.Time" | "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime" => &[1, 2],
        "k8s.io.apimachinery.pkg.apis.meta.v1.OwnerReference" => &[1, 3, 4, 5],
        "k8s.io.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry" => &[1, 2, 3, 6, 8],
        "k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement" => &[1, 2],
        "k8s.io.apimachinery.pkg.apis.meta.v1.Condition" => &[1, 2, 3, 4, 5, 6],
        "k8s.io.apimachinery.pkg.util.intstr.IntOrString" => &[1, 2, 3],
        _ => &[],
    }
}
