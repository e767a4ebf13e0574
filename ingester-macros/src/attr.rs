//! What the attributes say: `#[index(...)]`, `#[ingest(...)]` and the part of `#[kube(...)]` that is ours to know.

use crate::context::Context;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, LitStr, Meta, Token};

/// One `#[index(...)]`.
pub(crate) struct Index {
    /// Where to point when the whole is meant.
    pub(crate) span: Span,
    pub(crate) column: Option<LitStr>,
    pub(crate) ty: Option<LitStr>,
    pub(crate) path: Option<Path>,
    pub(crate) with: Option<syn::Path>,
    pub(crate) was: Option<LitStr>,
    pub(crate) key: bool,
}

/// `path = "a.b"`: field names, each with the literal's span.
pub(crate) struct Path {
    pub(crate) literal: LitStr,
    pub(crate) steps: Vec<Ident>,
}

/// `#[ingest(...)]`.
#[derive(Default)]
pub(crate) struct Ingest {
    pub(crate) table: Option<LitStr>,
    pub(crate) immutable: bool,
    pub(crate) protobuf: Option<LitStr>,
    pub(crate) keys: Vec<CompositeKey>,
    pub(crate) filter: Option<syn::Path>,
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) namespaced: bool,
    pub(crate) krate: Option<syn::Path>,
    /// The name of the first option that only a projection has.
    pub(crate) projection: Option<Ident>,
}

/// `key(a, b)`.
pub(crate) struct CompositeKey {
    pub(crate) span: Span,
    pub(crate) columns: Vec<String>,
}

/// The part of `#[kube(...)]` that says what kind this is.
#[derive(Default)]
pub(crate) struct Kube {
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    pub(crate) root: Option<LitStr>,
    pub(crate) status: Option<LitStr>,
    pub(crate) namespaced: bool,
}

/// One option: `name`, `name = value` or `name(...)`.
struct Item {
    name: Ident,
    value: ItemValue,
}

enum ItemValue {
    Flag,
    Is(Expr),
    List(TokenStream),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            ItemValue::Is(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            ItemValue::List(content.parse()?)
        } else {
            ItemValue::Flag
        };
        Ok(Item { name, value })
    }
}

/// The options of one attribute; `#[name]` alone has none.
fn items(context: &Context, attribute: &Attribute) -> Vec<Item> {
    match &attribute.meta {
        Meta::Path(_) => Vec::new(),
        Meta::List(list) => context
            .ok(list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated))
            .map(|items| items.into_iter().collect())
            .unwrap_or_default(),
        Meta::NameValue(value) => {
            let name = &value.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            context.error(value, format!("write `#[{name}]` or `#[{name}(option = value, ...)]`"));
            Vec::new()
        }
    }
}

impl Item {
    fn string(&self, context: &Context) -> Option<LitStr> {
        match &self.value {
            ItemValue::Is(Expr::Lit(lit)) => match &lit.lit {
                Lit::Str(text) => return Some(text.clone()),
                other => context.error(other, format!("`{0}` takes a string: `{0} = \"...\"`", self.name)),
            },
            ItemValue::Is(other) => context.error(other, format!("`{0}` takes a string: `{0} = \"...\"`", self.name)),
            _ => context.error(&self.name, format!("`{0}` needs a value: `{0} = \"...\"`", self.name)),
        }
        None
    }

    fn function(&self, context: &Context) -> Option<syn::Path> {
        let hint = format!("`{0}` takes the name of a function: `{0} = function`", self.name);
        match &self.value {
            ItemValue::Is(Expr::Path(path)) => Some(path.path.clone()),
            ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })) => context.ok(text.parse()),
            ItemValue::Is(other) => {
                context.error(other, hint);
                None
            }
            _ => {
                context.error(&self.name, hint);
                None
            }
        }
    }

    fn flag(&self, context: &Context) -> bool {
        match &self.value {
            ItemValue::Flag => true,
            ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Bool(value), .. })) => value.value,
            _ => {
                context.error(&self.name, format!("`{}` is a switch: write it alone", self.name));
                false
            }
        }
    }

    /// Says that there is no such option and names the nearest there is.
    fn unknown(&self, context: &Context, attribute: &str, known: &[&str]) {
        let name = self.name.to_string();
        let nearest = known.iter().map(|k| (distance(&name, k), k)).filter(|(d, _)| *d <= 2).min();
        let hint = match nearest {
            Some((_, nearest)) => format!("did you mean `{nearest}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        context.error(&self.name, format!("`#[{attribute}]` has no option `{name}`: {hint}"));
    }
}

/// Sets an option once; twice is an error.
fn once<T>(context: &Context, item: &Item, slot: &mut Option<T>, value: Option<T>) {
    if slot.is_some() {
        context.error(&item.name, format!("`{}` is given twice", item.name));
    }
    if value.is_some() {
        *slot = value;
    }
}

impl Index {
    const OPTIONS: &'static [&'static str] = &["column", "type", "path", "with", "was", "key"];

    pub(crate) fn read_all(context: &Context, attributes: &[Attribute]) -> Vec<Self> {
        attributes.iter().filter(|a| a.path().is_ident("index")).map(|a| Self::read(context, a)).collect()
    }

    fn read(context: &Context, attribute: &Attribute) -> Self {
        let mut index = Index {
            span: attribute.path().span(),
            column: None,
            ty: None,
            path: None,
            with: None,
            was: None,
            key: true,
        };
        for item in items(context, attribute) {
            match item.name.to_string().as_str() {
                "column" => once(context, &item, &mut index.column, item.string(context)),
                "type" => once(context, &item, &mut index.ty, item.string(context)),
                "was" => once(context, &item, &mut index.was, item.string(context)),
                "with" => once(context, &item, &mut index.with, item.function(context)),
                "path" => {
                    let path = item.string(context).and_then(|literal| Path::read(context, literal));
                    once(context, &item, &mut index.path, path);
                }
                "key" => match &item.value {
                    ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Bool(value), .. })) => index.key = value.value,
                    _ => context.error(&item.name, "`key` takes true or false: `key = false` makes a column without a key"),
                },
                _ => item.unknown(context, "index", Self::OPTIONS),
            }
        }
        index
    }
}

impl Path {
    fn read(context: &Context, literal: LitStr) -> Option<Self> {
        let text = literal.value();
        let mut steps = Vec::new();
        for step in text.split('.') {
            match syn::parse_str::<Ident>(step).or_else(|_| syn::parse_str::<Ident>(&format!("r#{step}"))) {
                Ok(mut ident) => {
                    ident.set_span(literal.span());
                    steps.push(ident);
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

impl Ingest {
    const OPTIONS: &'static [&'static str] = &[
        "table", "immutable", "protobuf", "key", "filter", "group", "version", "kind", "plural", "namespaced", "crate",
    ];

    pub(crate) fn read(context: &Context, attributes: &[Attribute]) -> Self {
        let mut ingest = Ingest::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("ingest")) {
            for item in items(context, attribute) {
                ingest.set(context, &item);
            }
        }
        ingest
    }

    fn set(&mut self, context: &Context, item: &Item) {
        let name = item.name.to_string();
        if ["group", "version", "kind", "plural", "namespaced"].contains(&name.as_str()) && self.projection.is_none() {
            self.projection = Some(item.name.clone());
        }
        match name.as_str() {
            "table" => once(context, item, &mut self.table, item.string(context)),
            "immutable" => self.immutable = item.flag(context),
            "protobuf" => once(context, item, &mut self.protobuf, item.string(context)),
            "filter" => once(context, item, &mut self.filter, item.function(context)),
            "group" => once(context, item, &mut self.group, item.string(context)),
            "version" => once(context, item, &mut self.version, item.string(context)),
            "kind" => once(context, item, &mut self.kind, item.string(context)),
            "plural" => once(context, item, &mut self.plural, item.string(context)),
            "namespaced" => self.namespaced = item.flag(context),
            "crate" => once(context, item, &mut self.krate, item.function(context)),
            "key" => match &item.value {
                ItemValue::List(tokens) => {
                    let columns = syn::parse::Parser::parse2(Punctuated::<Ident, Token![,]>::parse_terminated, tokens.clone());
                    match columns {
                        Ok(columns) if columns.len() > 1 => self.keys.push(CompositeKey {
                            span: item.name.span(),
                            columns: columns.iter().map(|c| c.unraw().to_string()).collect(),
                        }),
                        _ => context.error(&item.name, "`key` takes two or more columns: `key(namespace, state)`"),
                    }
                }
                _ => context.error(&item.name, "`key` takes two or more columns: `key(namespace, state)`"),
            },
            _ => item.unknown(context, "ingest", Self::OPTIONS),
        }
    }
}

impl Kube {
    pub(crate) fn read(context: &Context, attributes: &[Attribute]) -> Option<Self> {
        let mut kube = None;
        for attribute in attributes.iter().filter(|a| a.path().is_ident("kube")) {
            let kube = kube.get_or_insert_with(Kube::default);
            // Errors inside are kube's to report; what we cannot read is none of ours.
            let Meta::List(list) = &attribute.meta else { continue };
            let Ok(items) = list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated) else { continue };
            for item in items {
                let slot = match item.name.to_string().as_str() {
                    "group" => &mut kube.group,
                    "version" => &mut kube.version,
                    "kind" => &mut kube.kind,
                    "struct" | "root" => &mut kube.root,
                    "status" => &mut kube.status,
                    "namespaced" => {
                        kube.namespaced = item.flag(context);
                        continue;
                    }
                    _ => continue,
                };
                *slot = item.string(context);
            }
        }
        kube
    }
}

/// How many letters must be put in, taken out or changed to make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
