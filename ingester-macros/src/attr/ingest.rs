//! `#[ingest(...)]`: a kind and its table.

use super::evict::EvictionRule;
use super::index::AbsentOption;
use super::named;
use super::setting::{Setting, SettingValue};
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
    pub(crate) columns: Vec<Ident>,
}

impl Ingest {
    const OPTIONS: &'static [&'static str] = &[
        "table",
        "was",
        "immutable",
        "evictable",
        "finalizer",
        "companions",
        "crd",
        "absent",
        "retention",
        "history",
        "versions",
        "prune",
        "evict",
        "protobuf",
        "descriptors",
        "key",
        "filter",
        "revision",
        "group",
        "version",
        "kind",
        "plural",
        "namespaced",
        "handles",
        "crate",
    ];

    pub(super) fn read(context: &Context, attributes: &[Attribute]) -> Self {
        let mut ingest = Ingest::default();
        for attribute in named(attributes, "ingest") {
            let Some(settings) = Setting::read_all(context, attribute) else {
                ingest.broken = true;
                continue;
            };
            for setting in settings {
                ingest.broken |= !ingest.set(context, &setting);
            }
        }
        ingest
    }

    /// Sets what one option says; false if it cannot be read.
    fn set(&mut self, context: &Context, setting: &Setting) -> bool {
        let name = setting.name.to_string();
        if !Self::OPTIONS.contains(&name.as_str()) {
            setting.unknown(context, "ingest", Self::OPTIONS);
            return false;
        }
        self.given.push(setting.name.clone());
        match name.as_str() {
            "table" => setting.store(context, &mut self.table, setting.string(context)),
            "was" => setting.store(context, &mut self.was, setting.string(context)),
            "immutable" => setting.store(context, &mut self.immutable, setting.switch(context)),
            "finalizer" => setting.store(context, &mut self.finalizer, FinalizerOption::read(context, setting)),
            "protobuf" => setting.store(context, &mut self.protobuf, setting.string(context)),
            "descriptors" => setting.store(context, &mut self.descriptors, setting.path(context, "static")),
            "filter" => setting.store(context, &mut self.filter, setting.function(context)),
            "evictable" => {
                let value =
                    setting.bool_or(context, "ignores annotations that would delete an object from the cluster");
                setting.store(context, &mut self.evictable, value)
            }
            "handles" => {
                let value = setting.bool_or(context, "makes no handles of the columns");
                setting.store(context, &mut self.handles, value)
            }
            "companions" => {
                let value = setting.bool_or(context, "makes no tables of labels and annotations");
                setting.store(context, &mut self.companions, value)
            }
            "crd" => setting.store(context, &mut self.crd, CrdOption::read(context, setting)),
            "absent" => setting.store(context, &mut self.absent, AbsentOption::read(context, setting)),
            "retention" => setting.store(context, &mut self.retention, setting.string(context)),
            "history" => setting.store(context, &mut self.history, setting.string(context)),
            "versions" => setting.store(context, &mut self.versions, setting.revision(context)),
            "prune" => setting.store(context, &mut self.prune, setting.strings(context)),
            "evict" => {
                let rule = EvictionRule::read(context, setting);
                let read = rule.is_some();
                self.evict.extend(rule);
                read
            }
            "revision" => setting.store(context, &mut self.revision, setting.revision(context)),
            "group" => setting.store(context, &mut self.group, setting.string(context)),
            "version" => setting.store(context, &mut self.version, setting.string(context)),
            "kind" => setting.store(context, &mut self.kind, setting.string(context)),
            "plural" => setting.store(context, &mut self.plural, setting.string(context)),
            "namespaced" => setting.store(context, &mut self.namespaced, setting.switch(context)),
            "crate" => {
                let path = setting.path(context, "module").map(|path| path.path);
                setting.store(context, &mut self.krate, path)
            }
            _ => match CompositeKey::read(setting) {
                Some(key) => {
                    self.keys.push(key);
                    true
                }
                None => {
                    context.error(
                        &setting.name,
                        "`key` takes two or more columns: `key(namespace, state)`; a column has a key of its own anyhow",
                    );
                    false
                }
            },
        }
    }
}

impl CompositeKey {
    fn read(setting: &Setting) -> Option<Self> {
        let SettingValue::List(tokens) = &setting.value else { return None };
        let parse = |input: ParseStream<'_>| {
            let columns = Punctuated::<Ident, Token![,]>::parse_separated_nonempty_with(input, Ident::parse_any)?;
            input.parse::<Option<Token![,]>>().map(|_| columns)
        };
        let columns: Vec<Ident> = parse.parse2(tokens.clone()).ok()?.into_iter().collect();
        (columns.len() > 1).then(|| CompositeKey { span: setting.name.span(), columns })
    }
}
