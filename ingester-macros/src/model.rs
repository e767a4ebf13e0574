//! The input of [`crate::expand`], made by [`crate::check`]: everything that the code is made from. `expand` reports no errors.
//!
//! May use: attr.

pub(crate) use crate::attr::{AbsentOption, EvictionRule};
use crate::attr::{CompositeKey, FinalizerOption};
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{ExprPath, Generics, Ident, LitStr, Member, Path, Type, Visibility};

/// The columns that every kind has, which the library declares.
pub(crate) const BASE: [&str; 13] = [
    "uid",
    "group_ver",
    "namespace",
    "name",
    "res_version",
    "create_time",
    "update_time",
    "delete_time",
    "evict_time",
    "evict_confirmed",
    "ingest_version",
    "proto",
    "json",
];

/// The form that an item takes in the code.
pub(crate) enum Model {
    /// `Ingestable`. Without a kind if the attributes do not name one, or kube derives no type for it; that has been
    /// reported.
    Kind(Record, Option<Box<KindDeclaration>>),
    /// `Indexed`.
    Nested(Record),
    /// `ColumnValue` on a struct.
    Composite(Record),
    /// `ColumnValue` on an enum.
    UnitEnum(UnitEnum),
    /// An item that the derive is not for.
    Refused(RefusedItem),
}

/// A struct some of whose fields are columns.
pub(crate) struct Record {
    pub(crate) ident: Ident,
    pub(crate) columns: Vec<ColumnDeclaration>,
    /// It gets handles of its columns.
    pub(crate) handles: bool,
    /// Serde can read it from an object that has none of its fields.
    pub(crate) defaulted: bool,
}

/// One `#[index]`: a column, or the columns of a composite or nested struct.
pub(crate) struct ColumnDeclaration {
    /// The column's name, or the beginning of its columns' names.
    pub(crate) name: String,
    /// The tokens at which a mistake with the name is reported.
    pub(crate) name_span: Span,
    /// The visibility of its handle, which is the field's.
    pub(crate) visibility: Visibility,
    /// The source of its values, in words.
    pub(crate) origin: String,
    pub(crate) ty: Option<LitStr>,
    pub(crate) key: bool,
    /// It has many values, in a separate table.
    pub(crate) many: bool,
    /// Which stored values stay: a variant of `ingester_core::schema::Stays`, and where that is written.
    pub(crate) stays: Option<(&'static str, Span)>,
    /// The stored value if there is no value, unless the kind decides it.
    pub(crate) absent: Option<AbsentOption>,
    pub(crate) printed: PrintedOptions,
    pub(crate) was: Option<LitStr>,
    pub(crate) source: Source,
    /// Where its value is in JSON, from the object, or in a status or nested struct from there; `None` if that is unknown.
    pub(crate) path: Option<String>,
    /// The sources of its value, in words: whenever these words change, so may the value.
    pub(crate) made_of: String,
}

/// How tables of objects print a column.
pub(crate) struct PrintedOptions {
    pub(crate) header: Option<LitStr>,
    pub(crate) wide: Option<bool>,
    pub(crate) age: bool,
    /// Where the first of these options stands; `None` without any.
    pub(crate) span: Option<Span>,
}

/// Where a column's value comes from.
pub(crate) enum Source {
    /// A field as it is.
    Field { ident: Ident, ty: Type },
    /// A path of fields, the first one of the struct itself, or the struct if there is none; and the function that is applied to what is there.
    Computed { fields: Vec<Member>, with: Option<ValueFunction>, span: Span },
    /// An attribute that could not be read.
    Unknown,
}

/// The function that makes a value.
#[derive(Clone)]
pub(crate) enum ValueFunction {
    /// A function of the user.
    Function(ExprPath),
    /// `unit = "..."`: the library's function, which counts a quantity in thousandths or in whole units.
    Unit { milli: bool, span: Span },
}

impl ValueFunction {
    pub(crate) fn span(&self) -> Span {
        match self {
            ValueFunction::Function(function) => function.span(),
            ValueFunction::Unit { span, .. } => *span,
        }
    }
}

/// The kind and its table.
pub(crate) struct KindDeclaration {
    /// The type of the whole object, for which the trait is implemented.
    pub(crate) root: Ident,
    pub(crate) group: LitStr,
    pub(crate) version: LitStr,
    pub(crate) kind: LitStr,
    pub(crate) namespaced: bool,
    pub(crate) form: Form,
    pub(crate) table: TableName,
    pub(crate) table_was: Option<LitStr>,
    pub(crate) immutable: bool,
    /// Annotations can take objects out of the cluster, if that is set.
    pub(crate) evictable: Option<bool>,
    pub(crate) finalizer: FinalizerOption,
    /// It has tables of labels and annotations.
    pub(crate) companions: bool,
    /// A duration, which constant evaluation reads.
    pub(crate) retention: Option<LitStr>,
    /// How long former versions are kept, and how many of them.
    pub(crate) history: Option<(LitStr, Option<u32>)>,
    /// Paths that are not stored, which constant evaluation checks.
    pub(crate) prune: Vec<LitStr>,
    /// Rules by which objects may leave etcd, which constant evaluation checks.
    pub(crate) evict: Vec<EvictionRule>,
    /// The stored value when an object has no value.
    pub(crate) absent: Option<AbsentOption>,
    pub(crate) protobuf: Option<Message>,
    pub(crate) keys: Vec<CompositeKey>,
    /// The columns that tables of objects print first, in this order.
    pub(crate) columns: Vec<LitStr>,
    pub(crate) filter: Option<ExprPath>,
    /// The revision of the filter, and of everything else that the attributes do not show.
    pub(crate) revision: u32,
    /// The columns from the metadata.
    pub(crate) metadata: Vec<ColumnDeclaration>,
}

impl KindDeclaration {
    /// The type of the status, where there is one.
    pub(crate) fn status(&self) -> Option<&Path> {
        match &self.form {
            Form::Resource { status, .. } => status.as_ref(),
            Form::Projection { .. } => None,
        }
    }
}

/// The subject of the struct.
pub(crate) enum Form {
    /// The spec of a custom resource that kube derives.
    Resource {
        status: Option<Path>,
        /// The CRD is as kube derives it.
        strict: bool,
    },
    /// The whole of an object that another project defines.
    Projection { plural: String },
}

/// The name of a table, and where it comes from.
pub(crate) struct TableName {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The message of the `proto` column. Without descriptors, it is in the descriptors of the crate's root.
pub(crate) struct Message {
    pub(crate) name: LitStr,
    pub(crate) descriptors: Option<ExprPath>,
}

/// An enum that is stored by the names of its variants.
pub(crate) struct UnitEnum {
    pub(crate) ident: Ident,
    pub(crate) variants: Vec<NamedVariant>,
}

pub(crate) struct NamedVariant {
    pub(crate) ident: Ident,
    /// Its name in JSON.
    pub(crate) name: String,
    /// The variant carries data, which has been reported.
    pub(crate) data: bool,
}

/// The traits that the item would have got. They are implemented anyway: without them every use of the type would be
/// another error.
pub(crate) struct RefusedItem {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) indexed: bool,
    pub(crate) column_value: bool,
    /// The type that would have been a kind, where there is one.
    pub(crate) kind: Option<Ident>,
}
