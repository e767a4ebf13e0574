//! `#[index(...)]`: a column.

use super::named;
use super::setting::{Setting, SettingValue};
use crate::context::Context;
use crate::span::at;
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprPath, Ident, LitStr, Member};

/// One `#[index(...)]`.
pub(crate) struct Index {
    /// Where an error about all of it points.
    pub(crate) span: Span,
    pub(crate) column: Option<LitStr>,
    pub(crate) ty: Option<LitStr>,
    pub(crate) path: Option<Path>,
    pub(crate) with: Option<ExprPath>,
    pub(crate) was: Option<LitStr>,
    pub(crate) key: Option<bool>,
    /// The names of the steps of `path` in JSON, with dots between them.
    pub(crate) json: Option<LitStr>,
    pub(crate) revision: Option<u32>,
    pub(crate) keep: Option<bool>,
    pub(crate) first: Option<bool>,
    /// Where `keep` or `first` stands.
    pub(crate) stays_span: Span,
    pub(crate) many: Option<bool>,
    pub(crate) absent: Option<AbsentOption>,
    /// The unit of a quantity: whether it is thousandths, and where it is written.
    pub(crate) unit: Option<UnitOption>,
    /// A part of it could not be read. Then nothing else of it is checked.
    pub(crate) broken: bool,
}

/// `absent = "..."`: what is stored if there is no value.
#[derive(Clone, Copy)]
pub(crate) struct AbsentOption {
    /// The variant of `ingester_core::schema::Absent`.
    pub(crate) variant: &'static str,
    pub(crate) span: Span,
}

impl AbsentOption {
    pub(super) fn read(context: &Context, setting: &Setting) -> Option<Self> {
        let text = setting.string(context)?;
        let variant = match text.value().as_str() {
            "type" => "Type",
            "null" => "Null",
            "empty" => "Empty",
            _ => {
                context.error(
                    &text,
                    "`absent` is one of `null`, `empty` and `type` (NULL for an `Option`, else the type's default)",
                );
                return None;
            }
        };
        Some(AbsentOption { variant, span: text.span() })
    }
}

/// `unit = "..."`: how a quantity is counted.
#[derive(Clone, Copy)]
pub(crate) struct UnitOption {
    /// In thousandths.
    pub(crate) milli: bool,
    pub(crate) span: Span,
}

impl UnitOption {
    fn read(context: &Context, setting: &Setting) -> Option<Self> {
        let text = setting.string(context)?;
        match text.value().as_str() {
            "whole" | "milli" => Some(UnitOption { milli: text.value() == "milli", span: text.span() }),
            _ => {
                context.error(&text, "`unit` is one of `whole` and `milli`");
                None
            }
        }
    }
}

/// `path = "a.b"`: field names, or the numbers of a tuple's, each at the place of the literal.
pub(crate) struct Path {
    pub(crate) literal: LitStr,
    pub(crate) steps: Vec<Member>,
}

impl Index {
    const OPTIONS: &'static [&'static str] = &[
        "column", "type", "path", "with", "was", "key", "json", "revision", "keep", "first", "many", "absent", "unit",
    ];

    pub(super) fn read_all(context: &Context, attributes: &[Attribute]) -> Vec<Self> {
        named(attributes, "index").map(|attribute| Self::read(context, attribute)).collect()
    }

    /// `#[index]` without options.
    pub(crate) fn plain(span: Span) -> Self {
        Index {
            span,
            column: None,
            ty: None,
            path: None,
            with: None,
            was: None,
            key: None,
            json: None,
            revision: None,
            keep: None,
            first: None,
            stays_span: span,
            many: None,
            absent: None,
            unit: None,
            broken: false,
        }
    }

    fn read(context: &Context, attribute: &Attribute) -> Self {
        let mut index = Index::plain(attribute.path().span());
        let Some(settings) = Setting::read_all(context, attribute) else {
            index.broken = true;
            return index;
        };
        for setting in settings {
            index.broken |= !index.set(context, &setting);
        }
        if let (Some(true), Some(true)) = (index.keep, index.first) {
            context.error_at(
                index.span,
                "`keep` and `first` exclude each other: either the last value that is not NULL stays, or the first one",
            );
        }
        if index.many == Some(true) {
            index.check_many(context);
        }
        index.broken |= !index.check_unit(context);
        index
    }

    /// Options that have no meaning for many values.
    fn check_many(&self, context: &Context) {
        if self.keep == Some(true) || self.first == Some(true) {
            context.error_at(
                self.span,
                "`many` excludes `keep` and `first`: which of many values would stay is not defined; index a single value for that, \
                 with `with = function`",
            );
        }
        if self.key.is_some() {
            context.error_at(
                self.span,
                "`many` and `key` exclude each other: the table of the values is there for its keys, over the object and over the value",
            );
        }
    }

    /// Checks that no other option decides how a quantity is stored.
    fn check_unit(&self, context: &Context) -> bool {
        let Some(unit) = &self.unit else { return true };
        if let Some(with) = &self.with {
            context.error(with, "`unit` says what a quantity becomes, and so does `with`: leave one of them out");
            return false;
        }
        if self.many == Some(true) {
            let what = "`unit` is for a single quantity: make a list or map of numbers with `many, with = function`";
            context.error_at(unit.span, what);
            return false;
        }
        true
    }

    /// Sets what one option says; false if it cannot be read.
    fn set(&mut self, context: &Context, setting: &Setting) -> bool {
        let name = setting.name.to_string();
        if matches!(name.as_str(), "keep" | "first") {
            self.stays_span = setting.name.span();
        }
        match name.as_str() {
            "column" => setting.store(context, &mut self.column, setting.string(context)),
            "type" => setting.store(context, &mut self.ty, setting.string(context)),
            "was" => setting.store(context, &mut self.was, setting.string(context)),
            "with" => setting.store(context, &mut self.with, setting.function(context)),
            "revision" => setting.store(context, &mut self.revision, setting.revision(context)),
            "keep" => setting.store(context, &mut self.keep, setting.switch(context)),
            "first" => setting.store(context, &mut self.first, setting.switch(context)),
            "many" => setting.store(context, &mut self.many, setting.switch(context)),
            "absent" => setting.store(context, &mut self.absent, AbsentOption::read(context, setting)),
            "unit" => setting.store(context, &mut self.unit, UnitOption::read(context, setting)),
            "path" => {
                let path = match &setting.value {
                    SettingValue::Is(expr) if let Some(path) = Path::of_fields(expr) => Some(path),
                    _ => setting.string(context).and_then(|literal| Path::read(context, literal)),
                };
                setting.store(context, &mut self.path, path)
            }
            "json" => {
                let names = setting.string(context).filter(|names| is_json_path(context, names));
                setting.store(context, &mut self.json, names)
            }
            "key" => {
                let value = setting.bool_or(context, "makes a column without a key");
                setting.store(context, &mut self.key, value)
            }
            _ => {
                setting.unknown(context, "index", Self::OPTIONS);
                false
            }
        }
    }
}

/// Checks that these are names with dots between them; reports an error if not.
fn is_json_path(context: &Context, literal: &LitStr) -> bool {
    let text = literal.value();
    let path = text.split('.').all(|name| !name.is_empty() && !name.contains(char::is_whitespace));
    if !path {
        context.error(
            literal,
            format!(
                "`{text}` is not a path in JSON: write its names with dots between them, such as \"owner.displayName\""
            ),
        );
    }
    path
}

impl Path {
    /// A path without quotes, as rustc's hint about a misspelt field writes it: `team`, `owner.team`.
    fn of_fields(expr: &Expr) -> Option<Self> {
        fn steps(expr: &Expr) -> Option<Vec<Member>> {
            match expr {
                Expr::Path(path) => Some(vec![Member::Named(path.path.get_ident()?.clone())]),
                Expr::Field(field) => {
                    let mut steps = steps(&field.base)?;
                    steps.push(field.member.clone());
                    Some(steps)
                }
                _ => None,
            }
        }
        let steps = steps(expr)?;
        let name = |step: &Member| match step {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let text: Vec<String> = steps.iter().map(name).collect();
        Some(Path { literal: LitStr::new(&text.join("."), expr.span()), steps })
    }

    fn read(context: &Context, literal: LitStr) -> Option<Self> {
        let text = literal.value();
        let mut steps = Vec::new();
        for step in text.split('.') {
            // Where the user wrote it: rustc lists the existing fields, and proposes one of them in place of the whole text. That would
            // be wrong for one of several steps, which is therefore code of the derive at the same place.
            let span = if text.contains('.') { at(literal.span()) } else { literal.span() };
            if let Ok(index) = step.parse::<u32>() {
                steps.push(Member::Unnamed(syn::Index { index, span }));
                continue;
            }
            match syn::parse_str::<Ident>(step).or_else(|_| syn::parse_str::<Ident>(&format!("r#{step}"))) {
                Ok(mut ident) => {
                    ident.set_span(span);
                    steps.push(Member::Named(ident));
                }
                Err(_) => {
                    context.error(
                        &literal,
                        format!("`{text}` is not a path: write Rust field names with dots between them, such as \"owner.name\""),
                    );
                    return None;
                }
            }
        }
        Some(Path { literal, steps })
    }
}
