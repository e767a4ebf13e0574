//! `#[ingest(evict(...))]`: a rule by which objects of the kind may leave etcd.

use super::setting::{Setting, SettingValue};
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
    pub(crate) namespaces: Vec<LitStr>,
    pub(crate) namespace_selector: Option<LitStr>,
}

impl EvictionRule {
    const OPTIONS: [&'static str; 7] =
        ["name", "when", "after", "since", "keep_last", "namespaces", "namespace_selector"];

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
            namespaces: Vec::new(),
            namespace_selector: None,
        };
        let (mut namespaces, mut read) = (None, true);
        for setting in &settings {
            read &= match setting.name.to_string().as_str() {
                "name" => setting.store(context, &mut rule.name, setting.string(context)),
                "when" => rule.when(context, setting),
                "after" => setting.store(context, &mut rule.after, setting.string(context)),
                "since" => setting.store(context, &mut rule.since, setting.string(context)),
                "keep_last" => setting.store(context, &mut rule.keep_last, keep_last(context, setting)),
                "namespaces" => setting.store(context, &mut namespaces, setting.strings(context)),
                "namespace_selector" => setting.store(context, &mut rule.namespace_selector, setting.string(context)),
                _ => {
                    setting.unknown(context, "ingest(evict)", &Self::OPTIONS);
                    false
                }
            };
        }
        rule.namespaces = namespaces.unwrap_or_default();
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
            read &= match setting.name.to_string().as_str() {
                "field_selector" => setting.store(context, &mut self.field_selector, setting.string(context)),
                "label_selector" => setting.store(context, &mut self.label_selector, setting.string(context)),
                _ => {
                    setting.unknown(context, "ingest(evict(when))", &["field_selector", "label_selector"]);
                    false
                }
            };
        }
        read
    }
}

/// `keep_last(count = 3, by = ["..."])`
fn keep_last(context: &Context, setting: &Setting) -> Option<(u32, Vec<LitStr>)> {
    let settings = inner(context, setting, "keep_last(count = 3, by = [\"spec.pipeline.name\"])")?;
    let (mut count, mut by, mut read) = (None, None, true);
    for setting in &settings {
        read &= match setting.name.to_string().as_str() {
            "count" => setting.store(context, &mut count, setting.revision(context)),
            "by" => setting.store(context, &mut by, setting.strings(context)),
            _ => {
                setting.unknown(context, "ingest(evict(keep_last))", &["count", "by"]);
                false
            }
        };
    }
    if read && count.is_none() {
        context.error(&setting.name, "`count` is missing: how many objects of each group stay");
    }
    Some((count.filter(|_| read)?, by.unwrap_or_default()))
}

/// The options in the parentheses of one; `example` is for the message.
fn inner(context: &Context, setting: &Setting, example: &str) -> Option<Vec<Setting>> {
    let SettingValue::List(tokens) = &setting.value else {
        context.error(&setting.name, format!("`{}` takes options in parentheses: `{example}`", setting.name));
        return None;
    };
    context.ok(Setting::parse_list(tokens.clone()))
}
