//! `#[ingest(...)]`: a kind and its table.

use super::evict::EvictionRule;
use super::index::AbsentOption;
use super::named;
use super::setting::{AttributeOption, Setting, SettingValue};
use crate::context::Context;
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, ExprPath, Ident, LitStr, Token};

/// Every `#[ingest(...)]` of an item together.
#[derive(Default)]
pub(crate) struct Ingest {
    pub(crate) table: Option<LitStr>,
    pub(crate) was: Option<LitStr>,
    pub(crate) immutable: Option<bool>,
    pub(crate) evictable: Option<bool>,
    pub(crate) finalizer: Option<FinalizerOption>,
    pub(crate) companions: Option<bool>,
    pub(crate) crd: Option<CrdOption>,
    pub(crate) absent: Option<AbsentOption>,
    pub(crate) retention: Option<LitStr>,
    pub(crate) history: Option<LitStr>,
    pub(crate) versions: Option<u32>,
    pub(crate) prune: Option<Vec<LitStr>>,
    pub(crate) evict: Vec<EvictionRule>,
    pub(crate) protobuf: Option<LitStr>,
    pub(crate) descriptors: Option<ExprPath>,
    pub(crate) keys: Vec<CompositeKey>,
    /// The columns that tables of objects print first, in this order.
    pub(crate) columns: Option<Vec<LitStr>>,
    pub(crate) filter: Option<ExprPath>,
    pub(crate) revision: Option<u32>,
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) namespaced: Option<bool>,
    pub(crate) handles: Option<bool>,
    pub(crate) krate: Option<syn::Path>,
    /// The names of the options that are given, where they stand.
    pub(crate) given: Vec<Ident>,
    /// A part of it could not be read. Then an option that seems to be missing may only be misspelled.
    pub(crate) broken: bool,
}

/// `finalizer = "..."`: which objects carry our finalizer.
#[derive(Clone, Copy)]
pub(crate) enum FinalizerOption {
    Ensure,
    Existing,
    Never,
}

impl FinalizerOption {
    /// The variant of `ingester_core::kind::Finalizer`.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            FinalizerOption::Ensure => "Ensure",
            FinalizerOption::Existing => "Existing",
            FinalizerOption::Never => "Never",
        }
    }

    fn read(context: &Context, setting: &Setting) -> Option<Self> {
        let text = setting.string(context)?;
        let read = match text.value().as_str() {
            "ensure" => Some(FinalizerOption::Ensure),
            "existing" => Some(FinalizerOption::Existing),
            "never" => Some(FinalizerOption::Never),
            _ => None,
        };
        if read.is_none() {
            context.error(&text, "`finalizer` is one of `ensure`, `existing` and `never`");
        }
        read
    }
}

/// `crd = "..."`: what the CRD of your own kind requires of its objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrdOption {
    /// Nothing that a client left out, so that the server keeps what it was sent.
    Relaxed,
    /// The requirements of the struct: required fields, defaults and nulls as kube derives them.
    Strict,
}

impl CrdOption {
    fn read(context: &Context, setting: &Setting) -> Option<Self> {
        let text = setting.string(context)?;
        match text.value().as_str() {
            "relaxed" => Some(CrdOption::Relaxed),
            "strict" => Some(CrdOption::Strict),
            _ => {
                context.error(&text, "`crd` is one of `relaxed` and `strict`");
                None
            }
        }
    }
}

/// `key(a, b)`.
pub(crate) struct CompositeKey {
    pub(crate) span: Span,
    pub(crate) columns: Vec<LitStr>,
}

/// The options. docs/options.md has this table.
pub(super) const OPTIONS: &[AttributeOption<Ingest>] = &[
    AttributeOption {
        name: "table",
        form: "table = \"name\"",
        text: "the name of the table. The default is the kind in lower case",
        read: |ingest, context, setting| setting.store(context, &mut ingest.table, setting.string(context)),
    },
    AttributeOption {
        name: "was",
        form: "was = \"old_name\"",
        text: "the former name of the table, which the migration renames",
        read: |ingest, context, setting| setting.store(context, &mut ingest.was, setting.string(context)),
    },
    AttributeOption {
        name: "immutable",
        form: "immutable",
        text: "every object leaves etcd once SQL has it",
        read: |ingest, context, setting| setting.store(context, &mut ingest.immutable, setting.switch(context)),
    },
    AttributeOption {
        name: "evictable",
        form: "evictable = false",
        text: "annotations take no object out of the cluster, so that the ingester needs no right to delete one; \
               annotations that request it are reported. Not with `immutable`",
        read: |ingest, context, setting| {
            let value = setting.bool_or(context, "ignores annotations that would delete an object from the cluster");
            setting.store(context, &mut ingest.evictable, value)
        },
    },
    AttributeOption {
        name: "finalizer",
        form: "finalizer = \"ensure\"",
        text: "which objects carry our finalizer: `ensure` (all), `existing` (those that have it) or `never`, \
               unless the configuration says otherwise. The default is `ensure` for custom resources, and `never` \
               for projections, whose objects belong to another project",
        read: |ingest, context, setting| {
            setting.store(context, &mut ingest.finalizer, FinalizerOption::read(context, setting))
        },
    },
    AttributeOption {
        name: "companions",
        form: "companions = false",
        text: "no tables of labels and annotations, which are still in the column `json`; queries by them read \
               every row",
        read: |ingest, context, setting| {
            let value = setting.bool_or(context, "makes no tables of labels and annotations");
            setting.store(context, &mut ingest.companions, value)
        },
    },
    AttributeOption {
        name: "crd",
        form: "crd = \"strict\"",
        text: "the CRD keeps the requirements of the struct (required fields, defaults, nulls, ranges of \
               integers), so that every object that the API server accepts can be read. The default, `relaxed`, \
               takes them out, so that the API server stores exactly the JSON that a client sent",
        read: |ingest, context, setting| setting.store(context, &mut ingest.crd, CrdOption::read(context, setting)),
    },
    AttributeOption {
        name: "absent",
        form: "absent = \"null\"",
        text: "`absent` of every column that has none of its own",
        read: |ingest, context, setting| {
            setting.store(context, &mut ingest.absent, AbsentOption::read(context, setting))
        },
    },
    AttributeOption {
        name: "retention",
        form: "retention = \"90d\"",
        text: "how long after its object's deletion a row is kept: a duration from `1s` to `36500d`, unless the \
               configuration sets it for this kind",
        read: |ingest, context, setting| setting.store(context, &mut ingest.retention, setting.string(context)),
    },
    AttributeOption {
        name: "history",
        form: "history = \"90d\"",
        text: "the former versions of the objects are kept in the table `<table>_history`, each for this time \
               after its end: a duration from `1s` to `36500d`, or `forever`",
        read: |ingest, context, setting| setting.store(context, &mut ingest.history, setting.string(context)),
    },
    AttributeOption {
        name: "versions",
        form: "versions = 500",
        text: "with `history`: no more than this many former versions of each object",
        read: |ingest, context, setting| setting.store(context, &mut ingest.versions, setting.revision(context)),
    },
    AttributeOption {
        name: "prune",
        form: "prune = [\".spec.password\", \".spec.users[*].token\"]",
        text: "the parts of an object that are stored nowhere, by paths from the object inwards, of names and \
               `[*]`. They are cut out of the text before anything else reads it, so the fields there have to be \
               optional. A kind with it says `evictable = false`, too",
        read: |ingest, context, setting| setting.store(context, &mut ingest.prune, setting.strings(context)),
    },
    AttributeOption {
        name: "evict",
        form: "evict(name = \"finished\", ...)",
        text: "a rule by which live objects leave etcd for SQL, any number of times: see `evict` below. Not with \
               `immutable` or `evictable = false`",
        read: |ingest, context, setting| {
            let rule = EvictionRule::read(context, setting);
            let read = rule.is_some();
            ingest.evict.extend(rule);
            read
        },
    },
    AttributeOption {
        name: "protobuf",
        form: "protobuf = \"package.Message\"",
        text: "the message of the column `proto`",
        read: |ingest, context, setting| setting.store(context, &mut ingest.protobuf, setting.string(context)),
    },
    AttributeOption {
        name: "descriptors",
        form: "descriptors = path",
        text: "with `protobuf`: the static `ingester_core::protobuf::DescriptorSet` that describes the message. \
               The default is `DESCRIPTORS` of the crate's root",
        read: |ingest, context, setting| {
            setting.store(context, &mut ingest.descriptors, setting.path(context, "static"))
        },
    },
    AttributeOption {
        name: "key",
        form: "key(column, column)",
        text: "a key over several columns, any number of times",
        read: |ingest, context, setting| ingest.add_key(context, setting),
    },
    AttributeOption {
        name: "columns",
        form: "columns(column, column)",
        text: "the order in which `ingester get` and `ingester serve` print the columns; the columns that are not named \
               follow. Without it: those of the fields, of functions of the struct, of the status, of the metadata",
        read: |ingest, context, setting| {
            let columns = column_names(setting);
            if columns.is_none() {
                context.error(&setting.name, "`columns` takes the names of columns: `columns(owner, state)`");
            }
            setting.store(context, &mut ingest.columns, columns)
        },
    },
    AttributeOption {
        name: "filter",
        form: "filter = function",
        text: "a function from a reference to the struct to `bool`; objects for which it is false have no row",
        read: |ingest, context, setting| setting.store(context, &mut ingest.filter, setting.function(context)),
    },
    AttributeOption {
        name: "revision",
        form: "revision = 2",
        text: "says that the body of the filter has changed, or anything else that the attributes do not show",
        read: |ingest, context, setting| setting.store(context, &mut ingest.revision, setting.revision(context)),
    },
    AttributeOption {
        name: "group",
        form: "group = \"batch\"",
        text: "of a projection: the API group, `\"\"` for the core group",
        read: |ingest, context, setting| setting.store(context, &mut ingest.group, setting.string(context)),
    },
    AttributeOption {
        name: "version",
        form: "version = \"v1\"",
        text: "of a projection: the version of the API",
        read: |ingest, context, setting| setting.store(context, &mut ingest.version, setting.string(context)),
    },
    AttributeOption {
        name: "kind",
        form: "kind = \"Job\"",
        text: "of a projection: the kind",
        read: |ingest, context, setting| setting.store(context, &mut ingest.kind, setting.string(context)),
    },
    AttributeOption {
        name: "plural",
        form: "plural = \"jobs\"",
        text: "of a projection: the plural of the kind in the API",
        read: |ingest, context, setting| setting.store(context, &mut ingest.plural, setting.string(context)),
    },
    AttributeOption {
        name: "namespaced",
        form: "namespaced",
        text: "of a projection: its objects are in namespaces; otherwise `namespaced = false`",
        read: |ingest, context, setting| setting.store(context, &mut ingest.namespaced, setting.switch(context)),
    },
    AttributeOption {
        name: "handles",
        form: "handles = false",
        text: "no handles of the columns, which are functions on the type for queries",
        read: |ingest, context, setting| {
            let value = setting.bool_or(context, "makes no handles of the columns");
            setting.store(context, &mut ingest.handles, value)
        },
    },
    AttributeOption {
        name: "crate",
        form: "crate = \"path\"",
        text: "where `ingester_core` is, if it is not a direct dependency of that name",
        read: |ingest, context, setting| {
            let path = setting.path(context, "module").map(|path| path.path);
            setting.store(context, &mut ingest.krate, path)
        },
    },
];

impl Ingest {
    pub(super) fn read(context: &Context, attributes: &[Attribute]) -> Self {
        let mut ingest = Ingest::default();
        for attribute in named(attributes, "ingest") {
            let Some(settings) = Setting::read_all(context, attribute) else {
                ingest.broken = true;
                continue;
            };
            for setting in settings {
                if OPTIONS.iter().any(|known| setting.name == known.name) {
                    ingest.given.push(setting.name.clone());
                }
                ingest.broken |= !setting.read_by(context, "ingest", OPTIONS, &mut ingest);
            }
        }
        ingest
    }

    /// Adds a composite key; false, after an error, if it cannot be read.
    fn add_key(&mut self, context: &Context, setting: &Setting) -> bool {
        let key = CompositeKey::read(setting);
        let read = key.is_some();
        if !read {
            context.error(
                &setting.name,
                "`key` takes two or more columns: `key(namespace, state)`; a column has a key of its own anyhow",
            );
        }
        self.keys.extend(key);
        read
    }
}

impl CompositeKey {
    fn read(setting: &Setting) -> Option<Self> {
        let columns = column_names(setting)?;
        (columns.len() > 1).then(|| CompositeKey { span: setting.name.span(), columns })
    }
}

/// The name of a column.
fn column_name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    if input.peek(LitStr) {
        return input.parse();
    }
    let word = input.call(Ident::parse_any)?;
    Ok(LitStr::new(&word.unraw().to_string(), word.span()))
}

/// One or more names of columns: words, or strings for names that are no words of Rust, such as `"2fa"`.
fn column_names(setting: &Setting) -> Option<Vec<LitStr>> {
    let SettingValue::List(tokens) = &setting.value else { return None };
    let parse = |input: ParseStream<'_>| Punctuated::<LitStr, Token![,]>::parse_terminated_with(input, column_name);
    let columns: Vec<LitStr> = parse.parse2(tokens.clone()).ok()?.into_iter().collect();
    (!columns.is_empty()).then_some(columns)
}
