//! `generated_sql!`: the files of a folder by `include_str!`, so that the compiler knows them.
//!
//! May use: context, library.

use crate::context::Context;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use syn::LitStr;

const LOCK: &str = "schema.lock.json";

/// The lock of a folder in which nothing is released yet.
const EMPTY_LOCK: &str = r#"{"tables": [], "migrations": []}"#;

/// The value, by a path from `root`; one without migrations after an error, and where there is no lock yet.
pub(crate) fn expand(context: &Context, library: &TokenStream, root: &Path, folder: &LitStr) -> TokenStream {
    let (lock, files) = read(context, root, folder).unwrap_or_else(|| (quote!(#EMPTY_LOCK), Vec::new()));
    quote!(#library::__private::GeneratedSql { lock: #lock, files: &[#(#files),*] })
}

/// The lock's text and the migrations. `None` where there is no lock, and after an error.
fn read(context: &Context, root: &Path, folder: &LitStr) -> Option<(TokenStream, Vec<TokenStream>)> {
    let path = root.join(folder.value());
    let lock = path.join(LOCK);
    if !lock.is_file() {
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
fn text(context: &Context, folder: &LitStr, path: &Path) -> Option<String> {
    let text = path.to_str().map(str::to_owned);
    if text.is_none() {
        context.error(folder, format!("the path {} is not UTF-8", path.display()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Context, LOCK, LitStr, Path, expand};
    use proc_macro2::Span;
    use quote::quote;
    use std::fs;

    /// The expansion for `generated-sql` below `root`, as it reads there.
    fn expanded(root: &Path) -> String {
        let context = Context::new();
        let folder = LitStr::new("generated-sql", Span::call_site());
        let code = expand(&context, &quote!(::ingester_core), root, &folder);
        let code = context.finish(code).to_string();
        code.replace(root.to_str().expect("UTF-8"), "").split_whitespace().collect()
    }

    #[test]
    fn files_are_included_only_where_a_lock_names_them() {
        let root = tempfile::tempdir().expect("a folder");
        let nothing = r#"::ingester_core::__private::GeneratedSql{lock:"{\"tables\":[],\"migrations\":[]}",files:&[]}"#;
        assert_eq!(expanded(root.path()), nothing);

        // Migrations without a lock are not released.
        let folder = root.path().join("generated-sql");
        for dialect in ["mysql", "sqlite"] {
            let migrations = folder.join(dialect).join("migrations");
            fs::create_dir_all(&migrations).expect("a folder");
            for name in ["0002_b.up.sql", "0001_a.up.sql", "README.md"] {
                fs::write(migrations.join(name), "").expect("a file");
            }
        }
        assert_eq!(expanded(root.path()), nothing);

        fs::write(folder.join(LOCK), "{}").expect("a file");
        let file = |path: &str| format!(r#"("{path}",::core::include_str!("/generated-sql/{path}"))"#);
        let files = [
            file("mysql/migrations/0001_a.up.sql"),
            file("mysql/migrations/0002_b.up.sql"),
            file("sqlite/migrations/0001_a.up.sql"),
            file("sqlite/migrations/0002_b.up.sql"),
        ];
        let expected = format!(
            r#"::ingester_core::__private::GeneratedSql{{lock:::core::include_str!("/generated-sql/schema.lock.json"),files:&[{}]}}"#,
            files.join(",")
        );
        assert_eq!(expanded(root.path()), expected);
    }
}
