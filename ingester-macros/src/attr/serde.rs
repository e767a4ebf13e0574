//! The parts of `#[serde(...)]` that describe the JSON. serde reports the mistakes in it.

use super::named;
use crate::case::rename_field;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr};

/// The names of a struct's fields in the JSON.
#[derive(Default)]
pub(crate) struct FieldNames {
    /// The rule for all of them.
    rename_all: Option<String>,
    /// The struct is written as its only field.
    transparent: bool,
    /// The struct is read from another type, whose fields are not known.
    foreign: bool,
    /// The struct has a default, which it is read from if the JSON has none of its fields.
    defaulted: bool,
}

impl FieldNames {
    pub(super) fn read(attributes: &[Attribute]) -> Self {
        FieldNames {
            rename_all: read_by(attributes, "rename_all"),
            transparent: has(attributes, "transparent"),
            foreign: has(attributes, "from") || has(attributes, "try_from"),
            defaulted: has(attributes, "default"),
        }
    }

    /// True if serde can read the struct from an object that has none of its fields.
    pub(crate) fn is_defaulted(&self) -> bool {
        self.defaulted && !self.transparent && !self.foreign
    }

    /// The path in JSON from the struct to one of its fields, if it is known: empty for a field that is written without a name.
    pub(crate) fn find_path(&self, field: &str, name: &FieldName) -> Option<String> {
        if self.foreign || name.skipped {
            return None;
        }
        if self.transparent || name.flattened {
            return Some(String::new());
        }
        let name = match (&name.rename, &self.rename_all) {
            (Some(name), _) => name.clone(),
            (None, Some(rule)) => rename_field(rule, field)?,
            (None, None) => field.to_owned(),
        };
        // As `ingester_core::schema::Path::text_of` writes a name.
        match (name.contains('.'), name.contains('"')) {
            _ if name.is_empty() => None,
            (false, _) => Some(name),
            (true, false) => Some(format!("[\"{name}\"]")),
            (true, true) => None,
        }
    }

    /// The probable JSON name of a field of another struct: by the rule of this struct, or else by Kubernetes' rule.
    pub(crate) fn of_another(&self, field: &str) -> Option<String> {
        rename_field(self.rename_all.as_deref().unwrap_or("camelCase"), field)
    }
}

/// The options of a field about its name in JSON.
pub(crate) struct FieldName {
    rename: Option<String>,
    flattened: bool,
    skipped: bool,
}

impl FieldName {
    /// True if serde does not read the field.
    pub(crate) fn is_skipped(&self) -> bool {
        self.skipped
    }

    pub(super) fn read(attributes: &[Attribute]) -> Self {
        FieldName {
            rename: read_by(attributes, "rename"),
            flattened: has(attributes, "flatten"),
            skipped: has(attributes, "skip") || has(attributes, "skip_deserializing"),
        }
    }
}

/// The text of `#[serde(name = "...")]`, or of `#[serde(name(serialize = "..."))]`.
pub(super) fn read_text(attributes: &[Attribute], name: &str) -> Option<LitStr> {
    find(attributes, name, "serialize").1
}

/// The text of `#[serde(name = "...")]`, or of `#[serde(name(deserialize = "..."))]`.
fn read_by(attributes: &[Attribute], name: &str) -> Option<String> {
    find(attributes, name, "deserialize").1.map(|text| text.value())
}

/// True if there is `#[serde(name)]`, in any form.
fn has(attributes: &[Attribute], name: &str) -> bool {
    find(attributes, name, "").0
}

/// Finds the option of this name: true if there is one, and its text, which applies to both directions or to one `direction`.
fn find(attributes: &[Attribute], name: &str, direction: &str) -> (bool, Option<LitStr>) {
    let mut there = false;
    let mut found = None;
    for attribute in named(attributes, "serde") {
        let _ = attribute.parse_nested_meta(|meta| {
            let ours = meta.path.is_ident(name);
            there |= ours;
            if meta.input.peek(syn::Token![=]) {
                let value: Expr = meta.value()?.parse()?;
                if let (true, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = (ours, value) {
                    found = Some(text);
                }
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| {
                    let text: LitStr = inner.value()?.parse()?;
                    if ours && inner.path.is_ident(direction) {
                        found = Some(text);
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
    }
    (there, found)
}

#[cfg(test)]
mod tests {
    use super::{FieldName, FieldNames};
    use syn::ext::IdentExt as _;
    use syn::parse_quote;

    /// The path of each field, `-` where it is not known.
    fn paths(item: &syn::ItemStruct) -> Vec<String> {
        let names = FieldNames::read(&item.attrs);
        let path = |field: &syn::Field| {
            let ident = field.ident.as_ref().expect("a name").unraw().to_string();
            names.find_path(&ident, &FieldName::read(&field.attrs)).unwrap_or_else(|| String::from("-"))
        };
        item.fields.iter().map(path).collect()
    }

    #[test]
    fn a_field_is_where_serde_reads_it_from() {
        let item = parse_quote! {
            #[serde(default, rename_all = "camelCase")]
            struct Spec {
                owner_name: String,
                r#type: String,
                #[serde(default, rename = "hostIP")]
                host_ip: String,
                #[serde(rename(serialize = "out", deserialize = "in"))]
                both: String,
                #[serde(flatten)]
                rest: Rest,
                #[serde(skip)]
                cache: String,
                #[serde(alias = "colour", deserialize_with = "read")]
                color: String,
                #[serde(rename = "app.kubernetes.io/name")]
                dotted: String,
            }
        };
        assert_eq!(
            paths(&item),
            ["ownerName", "type", "hostIP", "in", "", "-", "color", "[\"app.kubernetes.io/name\"]"]
        );
    }

    #[test]
    fn a_struct_that_is_read_in_another_way_says_so() {
        assert_eq!(
            paths(&parse_quote!(
                #[serde(transparent)]
                struct Name {
                    text: String,
                }
            )),
            [""]
        );
        assert_eq!(
            paths(&parse_quote!(
                #[serde(try_from = "Raw")]
                struct Name {
                    text: String,
                }
            )),
            ["-"]
        );
        assert_eq!(
            paths(&parse_quote!(
                #[serde(rename_all(serialize = "camelCase"))]
                struct A {
                    a_b: String,
                }
            )),
            ["a_b"]
        );
    }

    #[test]
    fn a_field_of_another_struct_is_called_as_those_of_this_one_or_as_in_kubernetes() {
        let of_another = |item: syn::ItemStruct| FieldNames::read(&item.attrs).of_another("node_name");
        assert_eq!(
            of_another(parse_quote!(
                #[serde(rename_all = "snake_case")]
                struct A {}
            ))
            .as_deref(),
            Some("node_name")
        );
        assert_eq!(
            of_another(parse_quote!(
                struct A {}
            ))
            .as_deref(),
            Some("nodeName")
        );
    }
}
