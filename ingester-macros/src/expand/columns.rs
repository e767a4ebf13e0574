//! The `#[index]`es of a struct: a constant, a check of it and a statement that writes its value for each.

use super::check;
use crate::model::{AbsentOption, ColumnDeclaration, Source, ValueFunction};
use crate::span::{at, placed};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned as _;
use syn::{Ident, Member};

/// The columns that the `#[index]`es of one place make: of the fields, or of the struct.
pub(super) struct Columns<'m>(Vec<Column<'m>>);

/// One `#[index]`.
pub(super) struct Column<'m> {
    declared: &'m ColumnDeclaration,
    /// The constant that holds it, of type `Field`.
    constant: Ident,
    /// The function that computes its value, if it is not a field's.
    function: Ident,
}

/// The columns among which the former name of one must be free.
pub(super) struct FormerNames<'c> {
    pub(super) columns: Vec<&'c Column<'c>>,
    /// The columns belong to a table, and not to a struct whose columns are part of others.
    pub(super) of_table: bool,
}

/// The names that have been given in one block.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Makes a name from a column's name, with a number if it was given before.
    fn make_unique(&mut self, column: &str) -> String {
        let letters = column.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        let name: String = letters.collect();
        let mut unique = name.clone();
        let mut number = 1;
        while !self.0.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }
}

impl<'m> Columns<'m> {
    pub(super) fn new(declared: &'m [ColumnDeclaration], names: &mut Names) -> Self {
        let column = |declared: &'m ColumnDeclaration| {
            let name = names.make_unique(&declared.name);
            Column {
                declared,
                constant: format_ident!("__FIELD_{}", name.to_ascii_uppercase()),
                function: format_ident!("__value_{name}"),
            }
        };
        Columns(declared.iter().map(column).collect())
    }

    /// The constants' names.
    pub(super) fn names(&self) -> Vec<&Ident> {
        self.0.iter().map(|column| &column.constant).collect()
    }

    /// Former names of a struct whose columns are part of others.
    pub(super) fn of_part(&self) -> FormerNames<'_> {
        FormerNames { columns: self.0.iter().collect(), of_table: false }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Column<'m>> {
        self.0.iter()
    }

    /// True if there are no columns.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One constant for each, so that a type that fails in one does not hide what is wrong with the others; and the
    /// functions that compute values from a reference to `owner`.
    pub(super) fn constants(&self, owner: &TokenStream) -> TokenStream {
        let both = |column: &Column<'_>| {
            let constant = column.constant();
            let function = column.function(owner);
            quote!(#constant #function)
        };
        self.0.iter().map(both).collect()
    }

    /// The statements that write the values from `this` into `__out`.
    pub(super) fn writes(&self, this: &TokenStream) -> TokenStream {
        self.0.iter().filter_map(|column| column.write(this)).collect()
    }

    /// The checks of each by itself, against those before it, and what `more` adds. `all` are the columns among which former
    /// names must be free.
    pub(super) fn checks(&self, all: &FormerNames<'_>, more: impl Fn(&Column<'_>) -> TokenStream) -> TokenStream {
        let mut checks: TokenStream = self.0.iter().filter_map(|column| column.check_former(all)).collect();
        for (i, column) in self.known().enumerate() {
            checks.extend(column.checks());
            for earlier in self.known().take(i) {
                if may_clash(&earlier.declared.name, &column.declared.name) {
                    let others = &earlier.constant;
                    checks.extend(column.check_apart(&quote!(&[#others]), &earlier.declared.origin));
                }
            }
            checks.extend(more(column));
        }
        checks
    }

    /// Returns the columns whose attribute could be read.
    fn known(&self) -> impl Iterator<Item = &Column<'m>> {
        self.0.iter().filter(|column| !matches!(column.declared.source, Source::Unknown))
    }
}

impl Column<'_> {
    fn constant(&self) -> TokenStream {
        let constant = &self.constant;
        let function = &self.function;
        let name = &self.declared.name;
        let of_type = match &self.declared.source {
            // On the type's own tokens: a type that cannot be stored is reported there.
            Source::Field { ty, .. } => {
                let layout = self.either("Layout", "LayoutOfMany");
                quote_spanned!(at(ty.span())=> __ingester::#layout::<#ty>::TYPE)
            }
            Source::Computed { .. } => {
                let type_of = self.either("type_of", "type_of_many");
                placed(self.value_span(), quote!(__ingester::#type_of(#function)))
            }
            Source::Unknown => {
                return quote!(const #constant: __ingester::Field = __ingester::Field::unknown(#name););
            }
        };
        // Without the user's spans: the checks report what is wrong with an option.
        let ty = self.declared.ty.as_ref().map(|ty| ty.value()).map(|ty| quote!(.ty_unchecked(#ty)));
        let was = self.declared.was.as_ref().map(|was| was.value()).map(|was| quote!(.was_unchecked(#was)));
        let key = (!self.declared.key).then(|| quote!(.without_key()));
        let stays = self.declared.stays.map(|(stays, _)| format_ident!("{stays}"));
        let stays = stays.map(|stays| quote!(.stays(__ingester::Stays::#stays)));
        let absent = self.declared.absent.map(|absent| format_ident!("{}", absent.variant));
        let absent = absent.map(|absent| quote!(.absent(__ingester::Absent::#absent)));
        let printed = &self.declared.printed;
        let header = printed.header.as_ref().map(|header| header.value()).map(|header| quote!(.header(#header)));
        let wide = printed.wide.map(|wide| quote!(.wide(#wide)));
        let age = printed.age.then(|| quote!(.age()));
        let made_of = &self.declared.made_of;
        let computed = matches!(&self.declared.source, Source::Computed { with: Some(ValueFunction::Function(_)), .. });
        let at = match (&self.declared.path, computed) {
            (Some(path), true) => quote!(.computed_at(#path)),
            (Some(path), false) => quote!(.at(#path)),
            (None, true) => quote!(.computed()),
            (None, false) => TokenStream::new(),
        };
        quote! {
            const #constant: __ingester::Field =
                __ingester::Field::derived(#name, #of_type).from(#made_of) #at #ty #was #key #stays #absent #header #wide #age;
        }
    }

    /// The function that computes the value.
    fn function(&self, owner: &TokenStream) -> Option<TokenStream> {
        let Source::Computed { fields, with, span } = &self.declared.source else { return None };
        let function = &self.function;
        let span = at(*span);
        let with_span = with.as_ref().map_or(span, |with| at(with.span()));
        let body = match fields.as_slice() {
            [] => apply(with.as_ref(), placed(with_span, quote!(__this))),
            // A quantity may be in an `Option`, as at the end of a path.
            [field] if !matches!(with, Some(ValueFunction::Unit { .. })) => {
                apply(with.as_ref(), placed(with_span, quote!(&__this.#field)))
            }
            _ => along(fields, with.as_ref(), span),
        };
        let value = self.either("ColumnValue", "ManyValues");
        let ty = placed(with_span, quote!(impl __ingester::#value));
        Some(quote_spanned!(with_span=> fn #function(__this: &#owner) -> #ty { #body }))
    }

    /// The statement that writes the value.
    fn write(&self, this: &TokenStream) -> Option<TokenStream> {
        let function = &self.function;
        let value = self.either("ColumnValue", "ManyValues");
        match &self.declared.source {
            Source::Field { ident, ty } => {
                Some(placed(ty.span(), quote!(__ingester::#value::write(&#this.#ident, __out);)))
            }
            Source::Computed { .. } => {
                let span = self.value_span();
                Some(placed(span, quote!(__ingester::#value::write(&#function(#this), __out);)))
            }
            Source::Unknown => None,
        }
    }

    /// Returns the library's name for one value, or for many.
    fn either(&self, one: &str, many: &str) -> Ident {
        Ident::new(if self.declared.many { many } else { one }, Span::call_site())
    }

    /// Where a value that cannot be stored is reported: on the function that returns it, else on the path or type.
    fn value_span(&self) -> Span {
        match &self.declared.source {
            Source::Field { ty, .. } => ty.span(),
            Source::Computed { with: Some(with), .. } => with.span(),
            Source::Computed { span, .. } => *span,
            Source::Unknown => self.declared.name_span,
        }
    }

    /// The checks of this column alone, each on the option that it checks.
    fn checks(&self) -> TokenStream {
        let constant = &self.constant;
        let mut checks = check(self.declared.name_span, quote!(check_name(&#constant)));
        if let Some(ty) = &self.declared.ty {
            checks.extend(check(ty.span(), quote!(check_type(&#constant, #ty))));
        }
        if let Some(was) = &self.declared.was {
            checks.extend(check(was.span(), quote!(check_was(&#constant))));
        }
        if let Some(span) = self.declared.printed.span {
            checks.extend(check(span, quote!(check_printed(&#constant))));
        }
        if self.declared.many {
            // On the type that was given, as that is what makes a key too long.
            let span = self.declared.ty.as_ref().map_or(self.declared.name_span, |ty| ty.span());
            checks.extend(check(span, quote!(check_many(&#constant))));
        }
        checks
    }

    /// Checks that its former name is free.
    fn check_former(&self, all: &FormerNames<'_>) -> Option<TokenStream> {
        let was = self.declared.was.as_ref()?;
        let place = all.columns.iter().position(|column| column.constant == self.constant)?;
        let names = all.columns.iter().map(|column| {
            let name = &column.declared.name;
            match column.declared.was.as_ref().map(|was| was.value()) {
                Some(was) => quote!((#name, ::core::option::Option::Some(#was))),
                None => quote!((#name, ::core::option::Option::None)),
            }
        });
        let of_table = all.of_table;
        Some(check(was.span(), quote!(check_former(&[#(#names),*], #place, #of_table))))
    }

    /// Checks that a value that is kept can be absent.
    pub(super) fn check_stays(&self) -> Option<TokenStream> {
        let (constant, (_, span)) = (&self.constant, self.declared.stays?);
        Some(check(span, quote!(check_stays(&#constant))))
    }

    /// Checks that its type supports the option for absent values, given here or for the whole kind.
    pub(super) fn check_absent(&self, of_kind: Option<AbsentOption>) -> Option<TokenStream> {
        let said = self.declared.absent.or(of_kind)?;
        let constant = &self.constant;
        let variant = Ident::new(said.variant, Span::call_site());
        let span = if self.declared.absent.is_some() { said.span } else { self.declared.name_span };
        Some(check(span, quote!(check_absent(&#constant, __ingester::Absent::#variant))))
    }

    /// Compares it with the columns that every table has.
    pub(super) fn check_base(&self) -> TokenStream {
        let constant = &self.constant;
        check(self.declared.name_span, quote!(check_base(&#constant)))
    }

    /// Checks the key that it makes. On the type that was given, as that is what makes a key too long, else on the name.
    pub(super) fn check_key(&self) -> TokenStream {
        let constant = &self.constant;
        let span = self.declared.ty.as_ref().map_or(self.declared.name_span, |ty| ty.span());
        check(span, quote!(check_key(&#constant)))
    }

    /// Compares it with `others`, a constant slice of fields; `whose` says in words whose those are.
    pub(super) fn check_apart(&self, others: &TokenStream, whose: &str) -> TokenStream {
        let constant = &self.constant;
        check(self.declared.name_span, quote!(check_apart(#others, &#constant, #whose)))
    }
}

/// Returns true if columns that begin with these names can get the same name. This requires that one begins with the other, because only
/// `_` and the name of a part are added.
fn may_clash(a: &str, b: &str) -> bool {
    let a = a.to_ascii_lowercase();
    let b = b.to_ascii_lowercase();
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    match long.strip_prefix(short.as_str()) {
        Some(rest) => short.is_empty() || rest.is_empty() || rest.starts_with('_'),
        None => false,
    }
}

/// Returns the value at the end of a path of several fields, from `__this`: an `Option` if one of the fields is.
fn along(fields: &[Member], with: Option<&ValueFunction>, span: Span) -> TokenStream {
    let here = at(span);
    let mut value = TokenStream::new();
    for (place, field) in fields.iter().enumerate() {
        let step = |from: TokenStream, field: TokenStream| quote_spanned!(here=> __ingester::Probe::new(&#from.#field).__open());
        value = match place {
            0 => step(placed(span, quote!(__this)), placed(span, quote!(#field))),
            // As the user's own: so rustc lists the existing fields if one is misspelt.
            _ => {
                let step = step(placed(span, quote!(__inner)), quote!(#field));
                quote_spanned!(here=> #value.__then(|__inner| #step))
            }
        };
    }
    match with {
        Some(with) => {
            let applied = apply(Some(with), placed(with.span(), quote!(__inner)));
            quote_spanned!(at(with.span())=> #value.__map(|__inner| #applied).__value())
        }
        None => quote_spanned!(here=> #value.__value()),
    }
}

/// `with(value)`, or the value itself without a `with`.
fn apply(with: Option<&ValueFunction>, value: TokenStream) -> TokenStream {
    match with {
        Some(ValueFunction::Function(function)) => {
            quote_spanned!(at(function.span())=> __ingester::with(#function)(#value))
        }
        Some(ValueFunction::Unit { milli, span }) => placed(*span, quote!(__ingester::in_unit::<#milli, _>(#value))),
        None => value,
    }
}
