//! `#[ingest(evict(...))]`: a rule by which objects of the kind may leave etcd.

use super::setting::{AttributeOption, Setting, SettingValue};
use crate::context::Context;
use proc_macro2::Span;
use syn::LitStr;

/// One `evict(...)`.
pub(crate) struct EvictionRule {
    /// Where a mistake of the whole rule is reported.
    pub(crate) span: Span,
    pub(crate) name: Option<LitStr>,
    pub(crate) field_selector: Option<LitStr>,
    pub(crate) label_selector: Option<LitStr>,
    pub(crate) after: Option<LitStr>,
    pub(crate) since: Option<LitStr>,
    /// How many objects of each group stay, and the fields that make a group.
    pub(crate) keep_last: Option<(u32, Vec<LitStr>)>,
    pub(crate) namespaces: Option<Vec<LitStr>>,
    pub(crate) namespace_selector: Option<LitStr>,
}

/// The options of a rule. docs/options.md has this table.
pub(super) const OPTIONS: &[AttributeOption<EvictionRule>] = &[
    AttributeOption {
        name: "name",
        form: "name = \"finished\"",
        text: "the name of the rule, by which the configuration enforces it",
        read: |rule, context, setting| setting.store(context, &mut rule.name, setting.string(context)),
    },
    AttributeOption {
        name: "when",
        form: "when(field_selector = \"state=Succeeded\", label_selector = \"tier!=gold\")",
        text: "selects objects by fields, labels, or both",
        read: |rule, context, setting| rule.when(context, setting),
    },
    AttributeOption {
        name: "after",
        form: "after = \"7d\"",
        text: "only objects whose `since` is this long ago",
        read: |rule, context, setting| setting.store(context, &mut rule.after, setting.string(context)),
    },
    AttributeOption {
        name: "since",
        form: "since = \"end_time\"",
        text: "the column or field of the time from which `after` counts",
        read: |rule, context, setting| setting.store(context, &mut rule.since, setting.string(context)),
    },
    AttributeOption {
        name: "keep_last",
        form: "keep_last(count = 3, by = [\"owner\"])",
        text: "not the latest objects of each group: `count` says how many stay, `by` which columns or fields \
               make a group",
        read: |rule, context, setting| setting.store(context, &mut rule.keep_last, keep_last(context, setting)),
    },
    AttributeOption {
        name: "namespaces",
        form: "namespaces = [\"ml\"]",
        text: "only objects in these namespaces",
        read: |rule, context, setting| setting.store(context, &mut rule.namespaces, setting.strings(context)),
    },
    AttributeOption {
        name: "namespace_selector",
        form: "namespace_selector = \"tier=batch\"",
        text: "only objects in namespaces with these labels",
        read: |rule, context, setting| setting.store(context, &mut rule.namespace_selector, setting.string(context)),
    },
];

/// The options of `when`.
const WHEN: &[AttributeOption<EvictionRule>] = &[
    AttributeOption {
        name: "field_selector",
        form: "field_selector = \"state=Succeeded\"",
        text: "selects by fields",
        read: |rule, context, setting| setting.store(context, &mut rule.field_selector, setting.string(context)),
    },
    AttributeOption {
        name: "label_selector",
        form: "label_selector = \"tier!=gold\"",
        text: "selects by labels",
        read: |rule, context, setting| setting.store(context, &mut rule.label_selector, setting.string(context)),
    },
];

/// The values of the options of `keep_last`.
#[derive(Default)]
struct KeepLast {
    count: Option<u32>,
    by: Option<Vec<LitStr>>,
}

/// The options of `keep_last`.
const KEEP_LAST: &[AttributeOption<KeepLast>] = &[
    AttributeOption {
        name: "count",
        form: "count = 3",
        text: "how many objects of each group stay",
        read: |keep, context, setting| setting.store(context, &mut keep.count, setting.revision(context)),
    },
    AttributeOption {
        name: "by",
        form: "by = [\"owner\"]",
        text: "the fields that make a group",
        read: |keep, context, setting| setting.store(context, &mut keep.by, setting.strings(context)),
    },
];

impl EvictionRule {
    /// The rule; `None`, with errors, where a part of it cannot be read: without that part it could mean more objects.
    pub(super) fn read(context: &Context, setting: &Setting) -> Option<Self> {
        let settings =
            inner(context, setting, "evict(name = \"finished\", when(field_selector = \"...\"), after = \"7d\")")?;
        let mut rule = EvictionRule {
            span: setting.name.span(),
            name: None,
            field_selector: None,
            label_selector: None,
            after: None,
            since: None,
            keep_last: None,
            namespaces: None,
            namespace_selector: None,
        };
        let mut read = true;
        for setting in &settings {
            read &= setting.read_by(context, "ingest(evict)", OPTIONS, &mut rule);
        }
        read.then_some(rule)
    }

    /// `when(field_selector = "...", label_selector = "...")`
    fn when(&mut self, context: &Context, setting: &Setting) -> bool {
        let Some(settings) = inner(context, setting, "when(field_selector = \"...\", label_selector = \"...\")") else {
            return false;
        };
        if settings.is_empty() {
            context.error(&setting.name, "nothing is selected: add `field_selector` or `label_selector`");
        }
        let mut read = !settings.is_empty();
        for setting in &settings {
            read &= setting.read_by(context, "ingest(evict(when))", WHEN, self);
        }
        read
    }
}

/// `keep_last(count = 3, by = ["..."])`
fn keep_last(context: &Context, setting: &Setting) -> Option<(u32, Vec<LitStr>)> {
    let settings = inner(context, setting, "keep_last(count = 3, by = [\"spec.pipeline.name\"])")?;
    let mut keep = KeepLast::default();
    let mut read = true;
    for setting in &settings {
        read &= setting.read_by(context, "ingest(evict(keep_last))", KEEP_LAST, &mut keep);
    }
    if read && keep.count.is_none() {
        context.error(&setting.name, "`count` is missing: how many objects of each group stay");
    }
    Some((keep.count.filter(|_| read)?, keep.by.unwrap_or_default()))
}

/// The options in the parentheses of one; `example` is for the message.
fn inner(context: &Context, setting: &Setting, example: &str) -> Option<Vec<Setting>> {
    let SettingValue::List(tokens) = &setting.value else {
        context.error(&setting.name, format!("`{}` takes options in parentheses: `{example}`", setting.name));
        return None;
    };
    context.ok(Setting::parse_list(tokens.clone()))
}
