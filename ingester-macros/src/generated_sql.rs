//! `generated_sql!`: the files of a folder by `include_str!`, so that the compiler knows them.
//!
//! May use: context, library.

use crate::context::Context;
use crate::library;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Path as SynPath, Token};

const LOCK: &str = "schema.lock.json";

/// The lock of a folder in which nothing is released yet.
const EMPTY_LOCK: &str = r#"{"tables": [], "migrations": []}"#;

/// The macro's arguments: `"folder"` or `"folder", crate = "path"`.
pub(crate) struct Input {
    folder: LitStr,
    /// Where our crate is.
    library: Option<SynPath>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let folder = input.parse()?;
        let mut library = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            library = Some(input.parse::<LitStr>()?.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(Input { folder, library })
    }
}

/// The value, by a path from `root`; one without migrations after an error, and while the lock is missing. `source` is the file with the
/// macro.
pub(crate) fn expand(context: &Context, root: &Path, source: Option<&Path>, input: &Input) -> TokenStream {
    let library = library::path(input.library.as_ref());
    let (lock, files, source) = match read(context, root, &input.folder) {
        Some((lock, files)) => (lock, files, None),
        None => (quote!(#EMPTY_LOCK), Vec::new(), source.and_then(Path::to_str)),
    };
    let source = source
        .map_or_else(|| quote!(::core::option::Option::None), |source| quote!(::core::option::Option::Some(#source)));
    quote!(#library::__private::GeneratedSql { lock: #lock, files: &[#(#files),*], source: #source })
}

/// The lock's text and the migrations. `None` without a lock, and after an error.
fn read(context: &Context, root: &Path, folder: &LitStr) -> Option<(TokenStream, Vec<TokenStream>)> {
    let path = root.join(folder.value());
    let lock = path.join(LOCK);
    if !lock.is_file() {
        return None;
    }
    let mut files = Vec::new();
    // The folder has a folder for each dialect.
    for dialect in names(&path) {
        let migrations = path.join(&dialect).join("migrations");
        for name in names(&migrations).into_iter().filter(|name| name.ends_with(".sql")) {
            let path = format!("{dialect}/migrations/{name}");
            let file = migrations.join(&name);
            let file = render_path(context, folder, &file)?;
            files.push(quote!((#path, ::core::include_str!(#file))));
        }
    }
    let lock = render_path(context, folder, &lock)?;
    Some((quote!(::core::include_str!(#lock)), files))
}

/// The names in a folder, sorted; none if the folder does not exist.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A path as `include_str!` takes it.
fn render_path(context: &Context, folder: &LitStr, path: &Path) -> Option<String> {
    let text = path.to_str().map(str::to_owned);
    if text.is_none() {
        context.error(folder, format!("the path {} is not UTF-8", path.display()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Context, LOCK, Path, expand};
    use std::fs;

    /// The expansion of this input below `root`, as it reads there.
    fn expansion(root: &Path, input: &str) -> String {
        let context = Context::new();
        let code = expand(&context, root, Some(&root.join("src/lib.rs")), &syn::parse_str(input).expect("an input"));
        let code = context.finish(code).to_string();
        code.replace(root.to_str().expect("UTF-8"), "").split_whitespace().collect()
    }

    fn expanded(root: &Path) -> String {
        expansion(root, r#""generated-sql""#)
    }

    #[test]
    fn the_value_is_of_the_crate_that_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        for input in [r#""sql", crate = "our::core""#, r#""sql", crate = "our::core","#] {
            let code = expansion(root.path(), input);
            assert!(code.starts_with("our::core::__private::GeneratedSql{"), "{code}");
        }
        for wrong in [r#""sql" crate = "our::core""#, r#""sql", crate = """#, r#""sql", root = "our""#, ""] {
            assert!(syn::parse_str::<super::Input>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_included_only_where_a_lock_names_them() {
        let root = tempfile::tempdir().expect("a folder");
        let nothing = r#"::ingester_core::__private::GeneratedSql{lock:"{\"tables\":[],\"migrations\":[]}",files:&[],source:::core::option::Option::Some("/src/lib.rs")}"#;
        assert_eq!(expanded(root.path()), nothing);

        // Migrations without a lock are not released.
        let folder = root.path().join("generated-sql");
        for dialect in ["sqlite", "mysql"] {
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
            r#"::ingester_core::__private::GeneratedSql{{lock:::core::include_str!("/generated-sql/schema.lock.json"),files:&[{}],source:::core::option::Option::None}}"#,
            files.join(",")
        );
        assert_eq!(expanded(root.path()), expected);
    }
}
