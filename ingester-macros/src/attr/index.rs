//! `#[index(...)]`: a column.

use super::named;
use super::setting::{AttributeOption, Setting, SettingValue};
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
    pub(crate) header: Option<LitStr>,
    pub(crate) wide: Option<bool>,
    pub(crate) age: Option<bool>,
    /// Where the first of `header`, `wide` and `age` stands.
    pub(crate) printed_span: Option<Span>,
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

/// The options. docs/options.md has this table.
pub(super) const OPTIONS: &[AttributeOption<Index>] = &[
    AttributeOption {
        name: "column",
        form: "column = \"name\"",
        text: "the name of the column, or the beginning of the names of a composite's columns. The default is the \
               field's name, in a projection the last step of `path`",
        read: |index, context, setting| setting.store(context, &mut index.column, setting.string(context)),
    },
    AttributeOption {
        name: "type",
        form: "type = \"VARCHAR(768)\"",
        text: "the SQL type. The default belongs to the Rust type",
        read: |index, context, setting| setting.store(context, &mut index.ty, setting.string(context)),
    },
    AttributeOption {
        name: "path",
        form: "path = \"owner.name\"",
        text: "a value inside the field, by Rust field names, or `0` for the value inside a newtype; `Option`s on \
               the way give NULL. Without quotes (`path = owner.name`) rustc may point at the one step that is \
               wrong. On the struct, a field of the metadata: `metadata.deletion_timestamp`, \
               `metadata.generation`, `metadata.owner_uid` (of the object's controller)",
        read: |index, context, setting| {
            let path = match &setting.value {
                SettingValue::Is(expr) if let Some(path) = Path::of_fields(expr) => Some(path),
                _ => setting.string(context).and_then(|literal| Path::read(context, literal)),
            };
            setting.store(context, &mut index.path, path)
        },
    },
    AttributeOption {
        name: "with",
        form: "with = function",
        text: "a function from a reference to the field, or to what `path` reaches, to a `ColumnValue`; on the \
               struct, from a reference to the struct",
        read: |index, context, setting| setting.store(context, &mut index.with, setting.function(context)),
    },
    AttributeOption {
        name: "was",
        form: "was = \"old_name\"",
        text: "the former name of the column, which the migration renames; with `many`, of the table",
        read: |index, context, setting| setting.store(context, &mut index.was, setting.string(context)),
    },
    AttributeOption {
        name: "key",
        form: "key = false",
        text: "a column without a key",
        read: |index, context, setting| {
            let value = setting.bool_or(context, "makes a column without a key");
            setting.store(context, &mut index.key, value)
        },
    },
    AttributeOption {
        name: "json",
        form: "json = \"owner.displayName\"",
        text: "the names in the JSON for the steps of `path`, for queries by field. The default follows the \
               `rename_all` of the struct that has the attribute, or else Kubernetes' camelCase; `rename` on the \
               fields inside is not seen. Under `with` alone: the part of the field that the function reads",
        read: |index, context, setting| {
            let names = setting.string(context).filter(|names| is_json_path(context, names));
            setting.store(context, &mut index.json, names)
        },
    },
    AttributeOption {
        name: "revision",
        form: "revision = 2",
        text: "says that the body of the function has changed, so that the column is computed again in every row",
        read: |index, context, setting| setting.store(context, &mut index.revision, setting.revision(context)),
    },
    AttributeOption {
        name: "keep",
        form: "keep",
        text: "the stored value stays where the object has none (NULL), such as the time of a condition that is \
               gone. For values that can be absent: an `Option`, or a value in one. A backfill cannot change \
               values that stay",
        read: |index, context, setting| {
            index.stays_span = setting.name.span();
            setting.store(context, &mut index.keep, setting.switch(context))
        },
    },
    AttributeOption {
        name: "first",
        form: "first",
        text: "the first stored value stays: the value at the object's creation, if it is always there. Each \
               column of a composite stays independently. For rows that are older than the option, a backfill \
               takes the value from the stored object, which knows only its last state",
        read: |index, context, setting| {
            index.stays_span = setting.name.span();
            setting.store(context, &mut index.first, setting.switch(context))
        },
    },
    AttributeOption {
        name: "many",
        form: "many",
        text: "all values of a list or a map of texts, integers or times, each in a row of the table \
               `<table>_<column>` (`obj_uid`, `value`; of a map `obj_uid`, `key`, `value`). `type` is the type of \
               one value, VARCHAR(255) for texts; `with` returns a list or a map. Queries ask for one of the \
               values: `spec.dnsNames=a.example.com`, `spec.limits.cpu=4`. A list's values are stored once each, \
               and blanks at the end of a text do not count",
        read: |index, context, setting| setting.store(context, &mut index.many, setting.switch(context)),
    },
    AttributeOption {
        name: "absent",
        form: "absent = \"null\"",
        text: "the stored value if the object has none: `null`; `empty`, which is an empty text, 0 or false; or \
               `type`, the default: NULL for an `Option`, else the type's default",
        read: |index, context, setting| setting.store(context, &mut index.absent, AbsentOption::read(context, setting)),
    },
    AttributeOption {
        name: "unit",
        form: "unit = \"milli\"",
        text: "a quantity as a number: `whole`, or `milli` for thousandths",
        read: |index, context, setting| setting.store(context, &mut index.unit, UnitOption::read(context, setting)),
    },
    AttributeOption {
        name: "header",
        form: "header = \"Sync Status\"",
        text: "the heading of the column in tables of `ingester get` and `ingester serve`, which always show it; `-o csv`, \
               `-o json` and `--columns` have its name",
        read: |index, context, setting| {
            index.printed_span.get_or_insert(setting.name.span());
            setting.store(context, &mut index.header, setting.string(context))
        },
    },
    AttributeOption {
        name: "wide",
        form: "wide = true",
        text: "only `-o wide` shows the column; `false`: every table does. Without it, tables show the first four columns, and \
               those with a `header`",
        read: |index, context, setting| {
            index.printed_span.get_or_insert(setting.name.span());
            let value = setting.bool_or(context, "shows the column in every table");
            setting.store(context, &mut index.wide, value)
        },
    },
    AttributeOption {
        name: "age",
        form: "age",
        text: "tables show the age of a time: `5d`",
        read: |index, context, setting| {
            index.printed_span.get_or_insert(setting.name.span());
            setting.store(context, &mut index.age, setting.switch(context))
        },
    },
];

impl Index {
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
            header: None,
            wide: None,
            age: None,
            printed_span: None,
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
            index.broken |= !setting.read_by(context, "index", OPTIONS, &mut index);
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
        if let Some(span) = self.printed_span {
            context.error_at(
                span,
                "`many` excludes `header`, `wide` and `age`: no table prints a column of many values; leave them out",
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
