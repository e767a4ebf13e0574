//! What the attributes say: `#[index(...)]`, `#[ingest(...)]` and the part of `#[kube(...)]` that is ours to know.

use crate::context::Context;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprPath, Ident, Lit, LitStr, Meta, Token};

/// One `#[index(...)]`.
pub(crate) struct Index {
    /// Where to point when the whole is meant.
    pub(crate) span: Span,
    pub(crate) column: Option<LitStr>,
    pub(crate) ty: Option<LitStr>,
    pub(crate) path: Option<Path>,
    pub(crate) with: Option<ExprPath>,
    pub(crate) was: Option<LitStr>,
    pub(crate) key: Option<bool>,
    /// Whether a part of it could not be read. Then it is not judged further: what it means is not known.
    pub(crate) broken: bool,
}

/// `path = "a.b"`: field names, each at the place of the literal.
pub(crate) struct Path {
    pub(crate) literal: LitStr,
    pub(crate) steps: Vec<Ident>,
}

/// `#[ingest(...)]`.
#[derive(Default)]
pub(crate) struct Ingest {
    pub(crate) table: Option<LitStr>,
    pub(crate) was: Option<LitStr>,
    pub(crate) immutable: Option<bool>,
    pub(crate) protobuf: Option<LitStr>,
    pub(crate) descriptors: Option<ExprPath>,
    pub(crate) keys: Vec<CompositeKey>,
    pub(crate) filter: Option<ExprPath>,
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) namespaced: Option<bool>,
    pub(crate) krate: Option<syn::Path>,
    /// The names of the options that only a projection has.
    pub(crate) projection: Vec<Ident>,
    /// Whether a part of it could not be read, so that something may seem to be missing that is only misspelled.
    pub(crate) broken: bool,
}

/// `key(a, b)`.
pub(crate) struct CompositeKey {
    pub(crate) span: Span,
    pub(crate) columns: Vec<Ident>,
}

/// The part of `#[kube(...)]` that says what kind this is.
#[derive(Default)]
pub(crate) struct Kube {
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) kind: Option<LitStr>,
    pub(crate) root: Option<LitStr>,
    pub(crate) status: Option<syn::Path>,
    pub(crate) namespaced: bool,
    /// `no_spec`, where it stands.
    pub(crate) no_spec: Option<Ident>,
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

/// The options of one attribute; `#[name]` alone has none. `None` where they could not be read.
fn items(context: &Context, attribute: &Attribute) -> Option<Vec<Item>> {
    match &attribute.meta {
        Meta::Path(_) => Some(Vec::new()),
        Meta::List(list) => {
            let items = context.ok(list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated))?;
            Some(items.into_iter().collect())
        }
        Meta::NameValue(value) => {
            let name = &value.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            context.error(value, format!("write `#[{name}]` or `#[{name}(option = value, ...)]`"));
            None
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

    /// A path, written as such or in a string; `what` it leads to is for the message.
    fn path(&self, context: &Context, what: &str) -> Option<ExprPath> {
        let path = match &self.value {
            ItemValue::Is(Expr::Path(path)) => Some(path.clone()),
            ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })) => text.parse().ok(),
            _ => None,
        };
        if path.is_none() {
            let hint = format!("`{0}` takes the name of a {what}: `{0} = {what}`", self.name);
            match &self.value {
                ItemValue::Is(other) => context.error(other, hint),
                _ => context.error(&self.name, hint),
            }
        }
        path
    }

    fn function(&self, context: &Context) -> Option<ExprPath> {
        self.path(context, "function")
    }

    fn flag(&self, context: &Context) -> Option<bool> {
        if matches!(self.value, ItemValue::Flag) {
            return Some(true);
        }
        let value = self.bool();
        if value.is_none() {
            context.error(&self.name, format!("`{}` is a switch: write it alone", self.name));
        }
        value
    }

    /// The value where it is `true` or `false`.
    fn bool(&self) -> Option<bool> {
        match &self.value {
            ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Bool(value), .. })) => Some(value.value),
            _ => None,
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

/// Sets an option once; twice is an error. False where there is no value, an error having been added.
fn once<T>(context: &Context, item: &Item, slot: &mut Option<T>, value: Option<T>) -> bool {
    let read = value.is_some();
    if slot.is_some() {
        context.error(&item.name, format!("`{}` is given twice", item.name));
    } else {
        *slot = value;
    }
    read
}

impl Index {
    const OPTIONS: &'static [&'static str] = &["column", "type", "path", "with", "was", "key"];

    pub(crate) fn read_all(context: &Context, attributes: &[Attribute]) -> Vec<Self> {
        attributes.iter().filter(|a| a.path().is_ident("index")).map(|a| Self::read(context, a)).collect()
    }

    /// `#[index]` without options.
    pub(crate) fn plain(span: Span) -> Self {
        Index { span, column: None, ty: None, path: None, with: None, was: None, key: None, broken: false }
    }

    fn read(context: &Context, attribute: &Attribute) -> Self {
        let mut index = Index::plain(attribute.path().span());
        let Some(items) = items(context, attribute) else {
            index.broken = true;
            return index;
        };
        for item in items {
            index.broken |= !index.set(context, &item);
        }
        index
    }

    /// Sets what one option says; false where it cannot be read.
    fn set(&mut self, context: &Context, item: &Item) -> bool {
        match item.name.to_string().as_str() {
            "column" => once(context, item, &mut self.column, item.string(context)),
            "type" => once(context, item, &mut self.ty, item.string(context)),
            "was" => once(context, item, &mut self.was, item.string(context)),
            "with" => once(context, item, &mut self.with, item.function(context)),
            "path" => {
                let path = item.string(context).and_then(|literal| Path::read(context, literal));
                once(context, item, &mut self.path, path)
            }
            "key" => {
                let value = item.bool();
                if value.is_none() {
                    context.error(&item.name, "`key` takes true or false: `key = false` makes a column without a key");
                }
                once(context, item, &mut self.key, value)
            }
            _ => {
                item.unknown(context, "index", Self::OPTIONS);
                false
            }
        }
    }
}

impl Path {
    fn read(context: &Context, literal: LitStr) -> Option<Self> {
        let text = literal.value();
        let mut steps = Vec::new();
        for step in text.split('.') {
            match syn::parse_str::<Ident>(step).or_else(|_| syn::parse_str::<Ident>(&format!("r#{step}"))) {
                Ok(mut ident) => {
                    ident.set_span(at(literal.span()));
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
        "table",
        "was",
        "immutable",
        "protobuf",
        "descriptors",
        "key",
        "filter",
        "group",
        "version",
        "kind",
        "plural",
        "namespaced",
        "crate",
    ];

    /// Those that a struct without a table of its own has.
    const NESTED_OPTIONS: &'static [&'static str] = &["crate"];

    /// Those that only a projection has.
    const PROJECTION_OPTIONS: &'static [&'static str] = &["group", "version", "kind", "plural", "namespaced"];

    pub(crate) fn read(context: &Context, attributes: &[Attribute], derive: &str) -> Self {
        let mut ingest = Ingest::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("ingest")) {
            let Some(items) = items(context, attribute) else {
                ingest.broken = true;
                continue;
            };
            for item in items {
                let name = item.name.to_string();
                if derive != "Ingestable"
                    && Self::OPTIONS.contains(&name.as_str())
                    && !Self::NESTED_OPTIONS.contains(&name.as_str())
                {
                    context.error(
                        &item.name,
                        format!("`{name}` is for the table that Ingestable makes; {derive} makes none"),
                    );
                    continue;
                }
                ingest.broken |= !ingest.set(context, &item);
            }
        }
        ingest
    }

    /// Sets what one option says; false where it cannot be read.
    fn set(&mut self, context: &Context, item: &Item) -> bool {
        let name = item.name.to_string();
        if Self::PROJECTION_OPTIONS.contains(&name.as_str()) {
            self.projection.push(item.name.clone());
        }
        match name.as_str() {
            "table" => once(context, item, &mut self.table, item.string(context)),
            "was" => once(context, item, &mut self.was, item.string(context)),
            "immutable" => once(context, item, &mut self.immutable, item.flag(context)),
            "protobuf" => once(context, item, &mut self.protobuf, item.string(context)),
            "descriptors" => once(context, item, &mut self.descriptors, item.path(context, "static")),
            "filter" => once(context, item, &mut self.filter, item.function(context)),
            "group" => once(context, item, &mut self.group, item.string(context)),
            "version" => once(context, item, &mut self.version, item.string(context)),
            "kind" => once(context, item, &mut self.kind, item.string(context)),
            "plural" => once(context, item, &mut self.plural, item.string(context)),
            "namespaced" => once(context, item, &mut self.namespaced, item.flag(context)),
            "crate" => once(context, item, &mut self.krate, item.path(context, "module").map(|path| path.path)),
            "key" => match CompositeKey::read(item) {
                Some(key) => {
                    self.keys.push(key);
                    true
                }
                None => {
                    context.error(
                        &item.name,
                        "`key` takes two or more columns: `key(namespace, state)`; a column has a key of its own anyhow",
                    );
                    false
                }
            },
            _ => {
                item.unknown(context, "ingest", Self::OPTIONS);
                false
            }
        }
    }
}

impl CompositeKey {
    fn read(item: &Item) -> Option<Self> {
        let ItemValue::List(tokens) = &item.value else { return None };
        let parse = Punctuated::<Ident, Token![,]>::parse_separated_nonempty_with;
        let columns = syn::parse::Parser::parse2(
            |input: ParseStream<'_>| {
                let columns = parse(input, Ident::parse_any)?;
                input.parse::<Option<Token![,]>>().map(|_| columns)
            },
            tokens.clone(),
        );
        let columns: Vec<Ident> = columns.ok()?.into_iter().collect();
        (columns.len() > 1).then(|| CompositeKey { span: item.name.span(), columns })
    }
}

impl Kube {
    /// The type that kube derives; `None` where something lacks that kube asks for, and so derives none.
    pub(crate) fn root(&self) -> Option<Ident> {
        self.group.as_ref()?;
        self.version.as_ref()?;
        let name = self.root.as_ref().or(self.kind.as_ref())?;
        let mut root: Ident = name.parse().ok()?;
        root.set_span(at(name.span()));
        self.kind.as_ref().map(|_| root)
    }

    /// Reads what kube reads. Mistakes in it are kube's to report.
    pub(crate) fn read(attributes: &[Attribute]) -> Option<Self> {
        let mut kube = None;
        for attribute in attributes.iter().filter(|a| a.path().is_ident("kube")) {
            let kube = kube.get_or_insert_with(Kube::default);
            let Meta::List(list) = &attribute.meta else { continue };
            let Ok(items) = list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated) else { continue };
            for item in items {
                kube.set(item);
            }
        }
        kube
    }

    fn set(&mut self, item: Item) {
        let name = item.name.to_string();
        let text = match &item.value {
            ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })) => Some(text.clone()),
            _ => None,
        };
        match (name.as_str(), text, item.value) {
            ("group", text, _) => self.group = text,
            ("version", text, _) => self.version = text,
            ("kind", text, _) => self.kind = text,
            ("root", text, _) => self.root = text,
            ("status", Some(text), _) => self.status = text.parse().ok(),
            ("status", None, ItemValue::Is(Expr::Path(path))) => self.status = Some(path.path),
            ("namespaced", _, value) => self.namespaced = is_true(&value),
            ("no_spec", _, value) if is_true(&value) => self.no_spec = Some(item.name),
            _ => {}
        }
    }
}

/// A switch as kube reads it: alone, `= true` or `= "true"`.
fn is_true(value: &ItemValue) -> bool {
    match value {
        ItemValue::Flag => true,
        ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Bool(value), .. })) => value.value,
        ItemValue::Is(Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. })) => text.value() == "true",
        _ => false,
    }
}

/// The place of `span`, but as code of the derive: what the user has switched on for own code does not judge it.
pub(crate) fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// `tokens`, all of them at `span`. rustc points at the whole of an expression, from its first token to its last, so that
/// one token that is placed elsewhere would pull the message away from the user's own.
pub(crate) fn placed(span: Span, tokens: TokenStream) -> TokenStream {
    use proc_macro2::{Group, TokenTree};
    let span = at(span);
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = TokenTree::Group(Group::new(group.delimiter(), placed(span, group.stream())));
            }
            token.set_span(span);
            token
        })
        .collect()
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
