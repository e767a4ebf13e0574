//! `#[derive(Ingestable)]`: the columns of the struct, the table that they make, and the kind.

use super::columns::{Column, Columns, FormerNames, Names};
use super::{check, evict, handles, indexed, refuse};
use crate::model::{Form, KindDeclaration, Message, Record};
use crate::span::{at, placed};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

/// The code of a struct, and of its kind if the kind is known.
pub(super) fn expand(record: &Record, kind: Option<&KindDeclaration>) -> TokenStream {
    let mut names = Names::default();
    let columns = Columns::new(&record.columns, &mut names);
    let indexed = indexed(record, &columns);
    let Some(kind) = kind else {
        let checks = columns.checks(&columns.of_part(), |column| column.check_key());
        return quote!(#indexed #checks);
    };
    let metadata = Columns::new(&kind.metadata, &mut names);
    let row_source = row_source(record, kind, &metadata);
    let table = table(record, kind, &metadata);
    let ingestable = ingestable(record, kind);
    let checks = checks(record, kind, &columns, &metadata);
    let handles = handles::of_kind(record, kind);
    quote!(#indexed #row_source #table #ingestable #handles #checks)
}

/// The filter, and the columns from the metadata.
fn row_source(record: &Record, kind: &KindDeclaration, metadata: &Columns<'_>) -> TokenStream {
    let ident = &record.ident;
    let constants = metadata.constants(&quote!(__ingester::Meta));
    let filter = kind.filter.as_ref().map(|filter| {
        let span = at(filter.span());
        let ty = placed(span, quote!(::core::primitive::bool));
        let call = quote_spanned!(span=> __ingester::filter::<Self>(#filter)(self));
        quote!(fn has_row(&self) -> #ty { #call })
    });
    let write = (!metadata.is_empty()).then(|| {
        let writes = metadata.writes(&quote!(__meta));
        quote! {
            fn write_metadata(__meta: &__ingester::Meta, __out: &mut __ingester::Values) {
                #writes
            }
        }
    });
    quote! {
        #constants
        #[automatically_derived]
        impl __ingester::RowSource for #ident {
            #filter
            #write
        }
    }
}

/// The table as constants.
fn table(record: &Record, kind: &KindDeclaration, metadata: &Columns<'_>) -> TokenStream {
    let ident = &record.ident;
    let name = &kind.kind;
    let table = &kind.table.text;
    let metadata = metadata.names();
    let status = kind.status().map(|status| {
        quote! {
            const __STATUS: &[__ingester::Field] = __ingester::FieldsOf::<#status>::FIELDS;
            const __STATUS_DEFAULTED: ::core::primitive::bool = __ingester::FieldsOf::<#status>::DEFAULTED;
        }
    });
    let of_status = if status.is_some() { quote!(__STATUS) } else { quote!(&[]) };
    let keys = kind.keys.iter().map(|key| {
        let columns = names(&key.columns);
        quote!(&[#(#columns),*])
    });
    let printed = names(&kind.columns);
    let absent = Ident::new(kind.absent.map_or("Unsaid", |absent| absent.variant), Span::call_site());
    let companions = (!kind.companions).then(|| quote!(.without_companions()));
    let was = kind.table_was.as_ref().map(|was| was.value()).map(|was| quote!(.was_unchecked(#was)));
    let of_table = with_history(
        kind,
        &quote!(__ingester::Table::derived(#name, #table, &__COLUMNS, &__KEYS).with_many(&__MANY) #was #companions),
    );
    quote! {
        #status
        const __PARTS: __ingester::TableParts = __ingester::TableParts {
            fields: [<#ident as __ingester::Indexed>::FIELDS, #of_status, &[#(#metadata),*]],
            keys: &[#(#keys),*],
            absent: __ingester::Absent::#absent,
            printed: &[#(#printed),*],
        };
        const __COLUMNS: [__ingester::Column; __PARTS.column_count()] = __PARTS.columns();
        const __KEYS: [__ingester::Key; __PARTS.key_count()] = __PARTS.keys(&__COLUMNS);
        const __MANY: [__ingester::Many; __PARTS.many_count()] = __PARTS.many();
        #of_table
    }
}

/// The names of columns, without the user's spans: the checks report what is wrong with one.
fn names(columns: &[LitStr]) -> Vec<String> {
    columns.iter().map(LitStr::value).collect()
}

/// The table, and the table of its history if it has one.
fn with_history(kind: &KindDeclaration, table: &TokenStream) -> TokenStream {
    let Some((keep, versions)) = &kind.history else {
        return quote!(const __TABLE: __ingester::Table = #table;);
    };
    let versions = match versions {
        Some(versions) => quote!(::core::option::Option::Some(#versions)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        const __MAIN: __ingester::Table = #table;
        const __FORMER_COLUMNS: [__ingester::Column; __MAIN.former_column_count()] = __MAIN.former_columns();
        const __FORMER_KEYS: [__ingester::Key; __MAIN.former_key_count()] = __MAIN.former_keys();
        const __FORMER: __ingester::Table = __MAIN.former(&__FORMER_COLUMNS, &__FORMER_KEYS);
        const __KEEP: ::core::option::Option<::core::time::Duration> = __ingester::history(#keep);
        const __TABLE: __ingester::Table =
            __MAIN.with_history(__ingester::History { keep: __KEEP, versions: #versions, table: &__FORMER });
    }
}

/// The kind.
fn ingestable(record: &Record, declared: &KindDeclaration) -> TokenStream {
    let ident = &record.ident;
    let KindDeclaration { root, group, version, kind, namespaced, immutable, .. } = declared;
    let protobuf = match &declared.protobuf {
        Some(message) => {
            let name = &message.name;
            let descriptors = match &message.descriptors {
                Some(descriptors) => quote!(&#descriptors),
                None => quote!(__DESCRIPTORS),
            };
            quote!(::core::option::Option::Some(__ingester::Protobuf { message: #name, descriptors: #descriptors }))
        }
        None => quote!(::core::option::Option::None),
    };
    let retention = match &declared.retention {
        Some(text) => quote!(::core::option::Option::Some(__ingester::retention(#text))),
        None => quote!(::core::option::Option::None),
    };
    let evictable = match declared.evictable {
        Some(said) => quote!(::core::option::Option::Some(#said)),
        None => quote!(::core::option::Option::None),
    };
    let finalizer = Ident::new(declared.finalizer.variant(), Span::call_site());
    let filter =
        declared.filter.as_ref().map(|filter| quote!(#filter).to_string().replace(' ', "")).unwrap_or_default();
    let revision = Literal::u64_unsuffixed(declared.revision.into());
    let definition = quote! {
        __ingester::Definition {
            group: #group,
            version: #version,
            kind: #kind,
            namespaced: #namespaced,
            table: &__TABLE,
            immutable: #immutable,
            evictable: #evictable,
            protobuf: #protobuf,
            finalizer: __ingester::Finalizer::#finalizer,
            retention: #retention,
            fingerprint: __PARTS.fingerprint().text(#filter).number(#revision),
        }
    };
    let made = match &declared.form {
        Form::Resource { status, strict } => {
            let status = match status {
                Some(status) => quote!(#status),
                None => quote!(__ingester::NoStatus),
            };
            let of = if *strict { quote!(strict_custom_resource) } else { quote!(custom_resource) };
            quote!(__ingester::Kind::#of::<#root, #ident, #status>(#definition))
        }
        Form::Projection { plural } => quote!(__ingester::Kind::projection::<#ident>(#definition, #plural)),
    };
    let filtering = declared.filter.as_ref().map(|_| quote!(.filtering()));
    let paths = &declared.prune;
    let pruning = (!paths.is_empty()).then(|| quote!(.pruning(__PRUNE)));
    let (rules, evicting) = evict::rules(&declared.evict);
    let prune = (!paths.is_empty()).then(|| quote!(const __PRUNE: &[&::core::primitive::str] = &[#(#paths),*];));
    let of_crate = declared.protobuf.as_ref().filter(|message| message.descriptors.is_none()).map(descriptors_of_crate);
    quote! {
        #of_crate
        #prune
        #rules
        #[automatically_derived]
        impl __ingester::Ingestable for #root {
            const KIND: __ingester::Kind = #made #filtering #pruning #evicting;
        }
    }
}

/// The static `DESCRIPTORS` of the crate's root. If there is none, the name refers to the static of the block around, which reports that.
fn descriptors_of_crate(message: &Message) -> TokenStream {
    let get = placed(message.name.span(), quote!(DESCRIPTORS.__descriptors()));
    quote! {
        const __DESCRIPTORS: &__ingester::DescriptorSet = {
            static DESCRIPTORS: __ingester::NoDescriptors = __ingester::NoDescriptors;
            let _ = &DESCRIPTORS;
            {
                use crate::*;
                #get
            }
        };
    }
}

/// The checks of the columns, and of the table that they make.
fn checks(record: &Record, kind: &KindDeclaration, columns: &Columns<'_>, metadata: &Columns<'_>) -> TokenStream {
    let ident = &record.ident;
    let of_status = kind.status().map(|status| (status, quote!(__STATUS)));
    let more = |column: &Column<'_>| {
        let mut checks = column.check_key();
        checks.extend(column.check_base());
        checks.extend(column.check_stays());
        checks.extend(of_status.as_ref().map(|(_, fields)| column.check_apart(fields, "the status")));
        checks
    };
    let former = FormerNames { columns: columns.iter().chain(metadata.iter()).collect(), of_table: true };
    let mut checks = columns.checks(&former, |column| {
        let mut checks = more(column);
        checks.extend(column.check_absent(kind.absent));
        checks
    });
    checks.extend(metadata.checks(&former, |column| {
        let fields = quote!(<#ident as __ingester::Indexed>::FIELDS);
        let mut checks = column.check_apart(&fields, "a field");
        checks.extend(more(column));
        // Every object has metadata.
        checks.extend(column.check_absent(None));
        checks
    }));
    if !columns.is_empty() {
        let fields = quote!(<#ident as __ingester::Indexed>::FIELDS);
        checks.extend(check(ident.span(), quote!(check_parts_stay(#fields))));
    }
    if let Some((status, fields)) = &of_status {
        checks.extend(check(status.span(), quote!(check_base_of_status(#fields))));
        checks.extend(check(status.span(), quote!(check_stays_of_status(#fields, __STATUS_DEFAULTED))));
    }
    if let (Some((_, fields)), Some(absent)) = (&of_status, &kind.absent) {
        let variant = Ident::new(absent.variant, Span::call_site());
        checks.extend(check(absent.span, quote!(check_absent_of_status(#fields, __ingester::Absent::#variant))));
    }
    checks.extend(table_checks(kind));
    checks
}

/// The checks of the table as a whole, and of `key(...)`: each of its columns, and each key.
fn table_checks(kind: &KindDeclaration) -> TokenStream {
    let name = &kind.table.text;
    let span = kind.table.span;
    let mut checks = check(span, quote!(check_table_name(#name, __ingester::Named::Table)));
    for of_table in ["check_column_count", "check_key_count", "check_row_size", "check_many_tables"] {
        let of_table = Ident::new(of_table, span);
        checks.extend(check(span, quote!(#of_table(&__TABLE))));
    }
    if let Some((keep, _)) = &kind.history {
        checks.extend(refuse(keep, "refuse_history"));
        checks.extend(check(keep.span(), quote!(check_history(&__TABLE))));
    }
    if let Some(text) = &kind.retention {
        checks.extend(refuse(text, "refuse_retention"));
    }
    for (place, path) in kind.prune.iter().enumerate() {
        let place = Literal::usize_unsuffixed(place);
        checks.extend(check(path.span(), quote!(check_prune(&__TABLE, __PRUNE, #place))));
    }
    checks.extend(evict::checks(kind));
    if let Some(was) = &kind.table_was {
        let former = was.value();
        checks.extend(check(was.span(), quote!(check_table_was(#name, #former))));
    }
    for (place, column) in kind.columns.iter().enumerate() {
        let place = Literal::usize_unsuffixed(place);
        checks.extend(check(column.span(), quote!(check_printed_column(&__PARTS, #place))));
    }
    for (place, key) in kind.keys.iter().enumerate() {
        let key_place = Literal::usize_unsuffixed(place);
        for (place, column) in key.columns.iter().enumerate() {
            let place = Literal::usize_unsuffixed(place);
            checks.extend(check(column.span(), quote!(check_key_column(&__PARTS, #key_place, #place))));
        }
        checks.extend(check(key.span, quote!(check_composite_key(&__PARTS, #key_place))));
    }
    checks
}
