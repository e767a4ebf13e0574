//! The part of `#[kube(...)]` that names the kind. kube reports the mistakes in it.

use super::named;
use super::setting::{Setting, SettingValue};
use crate::span::at;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr};

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

impl Kube {
    /// The type that kube derives; `None` where a required option is missing, so that kube derives none.
    pub(crate) fn root(&self) -> Option<Ident> {
        let (Some(_), Some(_), Some(kind)) = (&self.group, &self.version, &self.kind) else { return None };
        let name = self.root.as_ref().unwrap_or(kind);
        let mut root: Ident = name.parse().ok()?;
        root.set_span(at(name.span()));
        Some(root)
    }

    /// Reads what kube reads; `None` without `#[kube]`.
    pub(crate) fn read(attributes: &[Attribute]) -> Option<Self> {
        let mut kube = None;
        for attribute in named(attributes, "kube") {
            let kube = kube.get_or_insert_with(Kube::default);
            for setting in Setting::parse_all(attribute).unwrap_or_default() {
                kube.set(setting);
            }
        }
        kube
    }

    fn set(&mut self, setting: Setting) {
        let name = setting.name.to_string();
        let text = match &setting.value {
            SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Some(text.clone()),
            _ => None,
        };
        match (name.as_str(), text, setting.value) {
            ("group", text, _) => self.group = text,
            ("version", text, _) => self.version = text,
            ("kind", text, _) => self.kind = text,
            ("root", text, _) => self.root = text,
            ("status", Some(text), _) => self.status = text.parse().ok(),
            ("status", None, SettingValue::Is(Expr::Path(path))) => self.status = Some(path.path),
            ("namespaced", _, value) => self.namespaced = is_true(&value),
            ("no_spec", _, value) if is_true(&value) => self.no_spec = Some(setting.name),
            _ => {}
        }
    }
}

/// A switch as kube reads it: alone, `= true` or `= "true"`.
fn is_true(value: &SettingValue) -> bool {
    match value {
        SettingValue::Flag => true,
        SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => value.value,
        SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => text.value() == "true",
        _ => false,
    }
}
