//! The `#[index]`es of a struct: a constant, a check of it and a statement that writes its value for each.

use crate::ast::{Field, Struct};
use crate::attr::{Index, at, placed};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{ExprPath, Ident, LitStr};

/// The columns that the `#[index]`es of one place make: of the fields, or of the struct.
pub(super) struct Columns(Vec<Column>);

/// One `#[index]`.
struct Column {
    /// The constant that holds it.
    constant: Ident,
    /// The column's name, or what the names of its columns begin with.
    name: String,
    /// Where it comes from, in words.
    origin: String,
    /// Where a mistake with the name is reported.
    name_span: Span,
    ty: Option<LitStr>,
    key: bool,
    was: Option<LitStr>,
    /// `None` where the attribute could not be read.
    access: Option<Access>,
}

/// How a column's layout and value are come by.
struct Access {
    /// An expression of type `Option<Shape>`.
    shape: TokenStream,
    /// A statement that writes from `__this` into `__out`.
    write: TokenStream,
}

impl Columns {
    /// Those on the fields of `input`.
    pub(super) fn of_fields(private: &TokenStream, input: &Struct) -> Self {
        let mut columns = Vec::new();
        for field in &input.fields {
            for index in &field.indexes {
                let name = match &index.column {
                    Some(column) => column.value(),
                    None => field.ident.unraw().to_string(),
                };
                let origin = format!("field `{}`", field.ident.unraw());
                let access = of_field(private, &input.ident, field, index);
                columns.push(Column::new("FIELD", columns.len(), index, name, origin, field.ident.span(), access));
            }
        }
        Columns(columns)
    }

    /// Those on the struct itself, which take from `Meta`.
    pub(super) fn of_metadata(private: &TokenStream, input: &Struct) -> Self {
        let mut columns = Vec::new();
        for index in &input.metadata {
            let (Some(path), Some(column)) = (&index.path, &index.column) else { continue };
            let [metadata, leaf] = path.steps.as_slice() else { continue };
            if metadata != "metadata" {
                continue;
            }
            let span = at(path.literal.span());
            let place = index.with.as_ref().map_or(span, |with| at(with.span()));
            let value = apply(index.with.as_ref(), placed(place, quote!(&__this.#leaf)));
            let access = of_value(private, span, quote!(#private::Meta), &value);
            let origin = format!("`{}`", path.literal.value());
            columns.push(Column::new("METADATA", columns.len(), index, column.value(), origin, column.span(), access));
        }
        Columns(columns)
    }

    /// The constants' names, each of type `Field`.
    pub(super) fn names(&self) -> Vec<&Ident> {
        self.0.iter().map(|column| &column.constant).collect()
    }

    /// The statements that write the values from `__this` into `__out`.
    pub(super) fn writes(&self) -> Vec<&TokenStream> {
        self.0.iter().filter_map(|column| column.access.as_ref()).map(|access| &access.write).collect()
    }

    /// One constant for each, so that a type that fails in one does not hide what is wrong with the others.
    pub(super) fn constants(&self, private: &TokenStream) -> Vec<TokenStream> {
        self.0.iter().map(|column| column.constant(private)).collect()
    }

    /// The checks of each by itself and of each pair. A composite makes no keys of its own, so that there `keys` is false
    /// and what they come to is checked where it is used.
    pub(super) fn checks(&self, private: &TokenStream, keys: bool) -> Vec<TokenStream> {
        let mut checks = Vec::new();
        for (i, column) in self.judged().enumerate() {
            checks.extend(column.checks(private));
            if keys {
                checks.push(column.check_key(private));
            }
            let clash = |earlier: &&Column| may_clash(&earlier.name, &column.name);
            for earlier in self.judged().take(i).filter(clash) {
                let others = &earlier.constant;
                checks.push(column.check_apart(private, &quote!(&[#others]), &earlier.origin));
            }
        }
        checks
    }

    /// The checks of each against `others`, a constant slice of fields; `whose` says in words whose those are.
    pub(super) fn checks_apart(&self, private: &TokenStream, others: &TokenStream, whose: &str) -> Vec<TokenStream> {
        self.judged().map(|column| column.check_apart(private, others, whose)).collect()
    }

    /// The checks of each against what every table has.
    pub(super) fn checks_base(&self, private: &TokenStream) -> Vec<TokenStream> {
        self.judged().map(|column| column.check_base(private)).collect()
    }

    fn judged(&self) -> impl Iterator<Item = &Column> {
        self.0.iter().filter(|column| column.access.is_some())
    }
}

impl Column {
    fn new(list: &str, place: usize, index: &Index, name: String, origin: String, span: Span, access: Access) -> Self {
        Column {
            constant: format_ident!("__{list}_{place}"),
            name,
            origin,
            name_span: at(index.column.as_ref().map_or(span, |column| column.span())),
            ty: index.ty.clone(),
            key: index.key.unwrap_or(true),
            was: index.was.clone(),
            access: (!index.broken).then_some(access),
        }
    }

    fn constant(&self, private: &TokenStream) -> TokenStream {
        let (constant, name, key) = (&self.constant, &self.name, self.key);
        let shape = match &self.access {
            Some(access) => access.shape.clone(),
            None => quote!(::core::option::Option::None),
        };
        let (ty, was) = (option(self.ty.as_ref()), option(self.was.as_ref()));
        quote!(const #constant: #private::Field = #private::Field::derived(#name, #shape, #ty, #key, #was);)
    }

    /// The checks of this column alone, each on the option that it is about.
    fn checks(&self, private: &TokenStream) -> Vec<TokenStream> {
        let constant = &self.constant;
        let mut checks = vec![placed(self.name_span, quote!(const _: () = #private::check_name(&#constant);))];
        if let Some(ty) = &self.ty {
            let span = at(ty.span());
            checks.push(placed(span, quote!(const _: () = #private::check_type(&#constant, #ty);)));
        }
        if let Some(was) = &self.was {
            let span = at(was.span());
            checks.push(placed(span, quote!(const _: () = #private::check_was(&#constant);)));
        }
        checks
    }

    fn check_base(&self, private: &TokenStream) -> TokenStream {
        let constant = &self.constant;
        placed(self.name_span, quote!(const _: () = #private::check_base(&#constant);))
    }

    /// On the type that was given, as that is what makes the key too long, else on the name.
    fn check_key(&self, private: &TokenStream) -> TokenStream {
        let constant = &self.constant;
        let span = self.ty.as_ref().map_or(self.name_span, |ty| at(ty.span()));
        placed(span, quote!(const _: () = #private::check_key(&#constant);))
    }

    fn check_apart(&self, private: &TokenStream, others: &TokenStream, whose: &str) -> TokenStream {
        let constant = &self.constant;
        placed(self.name_span, quote!(const _: () = #private::check_apart(#others, &#constant, #whose);))
    }
}

/// The literal as an expression of type `Option<&str>`, without the user's span: what is wrong is the checks' to say.
fn option(literal: Option<&LitStr>) -> TokenStream {
    match literal.map(LitStr::value) {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    }
}

/// Whether columns that begin with these names can have one name: only where one name begins with the other, as all
/// that is added is `_` and the name of a part.
fn may_clash(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    match long.strip_prefix(short.as_str()) {
        Some(rest) => short.is_empty() || rest.is_empty() || rest.starts_with('_'),
        None => false,
    }
}

/// The layout and value of an `#[index]` on a field.
fn of_field(private: &TokenStream, owner: &Ident, field: &Field, index: &Index) -> Access {
    let (ident, ty) = (&field.ident, &field.ty);
    let mut ident = ident.clone();
    ident.set_span(at(ident.span()));
    if index.path.is_none() && index.with.is_none() {
        // On the type's own tokens: a type that cannot be stored is reported there.
        let span = at(ty.span());
        return Access {
            shape: quote_spanned!(span=> #private::Layout::<#ty>::SHAPE),
            write: quote_spanned!(span=> <#ty as #private::ColumnValue>::write(&__this.#ident, __out);),
        };
    }
    let Some(path) = &index.path else {
        let span = at(index.with.as_ref().map_or_else(|| ty.span(), |with| with.span()));
        let field = placed(span, quote!(&__this.#ident));
        return of_value(private, span, quote!(#owner), &apply(index.with.as_ref(), field));
    };
    let span = at(path.literal.span());
    let mut value = placed(span, open(private, quote!(&__this.#ident)));
    for step in &path.steps {
        let next = placed(span, open(private, quote!(&__inner.#step)));
        value = quote_spanned! {span=>
            match #value {
                ::core::option::Option::Some(__inner) => #next,
                ::core::option::Option::None => ::core::option::Option::None,
            }
        };
    }
    if index.with.is_some() {
        let inner = placed(index.with.as_ref().map_or(span, |with| with.span()), quote!(__inner));
        let applied = apply(index.with.as_ref(), inner);
        value = quote_spanned! {span=>
            match #value {
                ::core::option::Option::Some(__inner) => ::core::option::Option::Some(#applied),
                ::core::option::Option::None => ::core::option::Option::None,
            }
        };
    }
    let span = at(index.with.as_ref().map_or_else(|| path.literal.span(), |with| with.span()));
    of_value(private, span, quote!(#owner), &value)
}

/// The layout and value of `value`, an expression of any type on `__this`, a reference to `owner`.
fn of_value(private: &TokenStream, span: Span, owner: TokenStream, value: &TokenStream) -> Access {
    Access {
        shape: quote_spanned!(span=> ::core::option::Option::Some(#private::shape_of(|__this: &#owner| #value))),
        write: quote_spanned!(span=> #private::Writer::new(#value).__write(__out);),
    }
}

/// `with(value)`, or the value where there is no `with`.
fn apply(with: Option<&ExprPath>, value: TokenStream) -> TokenStream {
    match with {
        Some(with) => {
            let span = at(with.span());
            quote_spanned!(span=> #with(#value))
        }
        None => value,
    }
}

/// What is inside of `value`, a reference, as an `Option` of a reference. Opened twice, for an `Option` in an `Option`.
fn open(private: &TokenStream, value: TokenStream) -> TokenStream {
    quote! {
        match #private::Probe::new(#value).__open() {
            ::core::option::Option::Some(__inner) => #private::Probe::new(__inner).__open(),
            ::core::option::Option::None => ::core::option::Option::None,
        }
    }
}
