//! `generated_sql!`: the files of a folder by `include_str!`, so that the compiler knows them.

use crate::context::Context;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;

const LOCK: &str = "schema.lock.json";

/// The value; one without files after an error.
pub(crate) fn expand(context: &Context, folder: &syn::LitStr) -> TokenStream {
    let private = crate::expand::private(context, None);
    let (lock, files) = read(context, folder).unwrap_or_default();
    quote!(#private::GeneratedSql { lock: #lock, files: &[#(#files),*] })
}

/// The lock's text and the migrations, or `None` after an error.
fn read(context: &Context, folder: &syn::LitStr) -> Option<(TokenStream, Vec<TokenStream>)> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&root).join(folder.value());
    let lock = path.join(LOCK);
    if !lock.is_file() {
        let shown = path.display();
        context.error(
            folder,
            format!(
                "there is no {LOCK} in {shown}: begin with one that says `{{\"tables\": [], \"migrations\": []}}` and run `ingester schema generate`"
            ),
        );
        return None;
    }
    let mut files = Vec::new();
    for dialect in ["mysql", "sqlite"] {
        let migrations = path.join(dialect).join("migrations");
        let entries = std::fs::read_dir(&migrations).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.ends_with(".sql"));
        names.sort();
        for name in names {
            let (path, file) = (format!("{dialect}/migrations/{name}"), migrations.join(&name));
            let file = text(context, folder, &file)?;
            files.push(quote!((#path, ::core::include_str!(#file))));
        }
    }
    let lock = text(context, folder, &lock)?;
    Some((quote!(::core::include_str!(#lock)), files))
}

/// A path as `include_str!` takes it.
fn text(context: &Context, folder: &syn::LitStr, path: &Path) -> Option<String> {
    let text = path.to_str().map(str::to_owned);
    if text.is_none() {
        context.error(folder, format!("the path {} is not UTF-8", path.display()));
    }
    text
}
