//! The options in an attribute's parentheses: `name`, `name = value` or `name(...)`.

use crate::context::Context;
use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Meta, Token};

/// An option of an attribute, or of an option with parentheses: a row of its table. `T` has the values of all options of the table.
pub(super) struct AttributeOption<T> {
    pub(super) name: &'static str,
    /// How it is written.
    #[cfg_attr(not(test), expect(dead_code, reason = "for docs/options.md, which a test writes"))]
    pub(super) form: &'static str,
    /// Says what it does.
    #[cfg_attr(not(test), expect(dead_code, reason = "for docs/options.md, which a test writes"))]
    pub(super) text: &'static str,
    /// Stores the value; false, after an error, if it cannot be read.
    pub(super) read: fn(&mut T, &Context, &Setting) -> bool,
}

/// One option, as it is written.
pub(super) struct Setting {
    pub(super) name: Ident,
    pub(super) value: SettingValue,
}

pub(super) enum SettingValue {
    Flag,
    Is(Expr),
    List(TokenStream),
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            SettingValue::Is(bare(input.parse()?))
        } else if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            SettingValue::List(content.parse()?)
        } else {
            SettingValue::Flag
        };
        Ok(Setting { name, value })
    }
}

/// The expression without the invisible brackets that `macro_rules!` puts around what it was given.
fn bare(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => bare(*group.expr),
        expr => expr,
    }
}

impl Setting {
    /// The options of one attribute; `#[name]` alone has none. `None`, with an error, where they could not be read.
    pub(super) fn read_all(context: &Context, attribute: &Attribute) -> Option<Vec<Self>> {
        match &attribute.meta {
            Meta::Path(_) => Some(Vec::new()),
            Meta::List(_) => context.ok(Self::parse_all(attribute)),
            Meta::NameValue(value) => {
                let name = &value.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                context.error(value, format!("write `#[{name}]` or `#[{name}(option = value, ...)]`"));
                None
            }
        }
    }

    /// The options in the parentheses of an option.
    pub(super) fn parse_list(tokens: TokenStream) -> syn::Result<Vec<Self>> {
        let settings = Punctuated::<Setting, Token![,]>::parse_terminated.parse2(tokens)?;
        Ok(settings.into_iter().collect())
    }

    /// The options in the parentheses of an attribute.
    pub(super) fn parse_all(attribute: &Attribute) -> syn::Result<Vec<Self>> {
        let list = attribute.meta.require_list()?;
        let settings = list.parse_args_with(Punctuated::<Setting, Token![,]>::parse_terminated)?;
        Ok(settings.into_iter().collect())
    }

    pub(super) fn string(&self, context: &Context) -> Option<LitStr> {
        match &self.value {
            SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => return Some(text.clone()),
            SettingValue::Is(other) => {
                context.error(other, format!("`{0}` takes a string: `{0} = \"...\"`", self.name));
            }
            _ => context.error(&self.name, format!("`{0}` needs a value: `{0} = \"...\"`", self.name)),
        }
        None
    }

    /// A list of one or more strings.
    pub(super) fn strings(&self, context: &Context) -> Option<Vec<LitStr>> {
        let SettingValue::Is(Expr::Array(list)) = &self.value else {
            context.error(&self.name, format!("`{0}` takes a list of strings: `{0} = [\"...\"]`", self.name));
            return None;
        };
        let text = |element: &Expr| match bare(element.clone()) {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
            other => {
                context.error(other, format!("`{0}` takes a list of strings: `{0} = [\"...\"]`", self.name));
                None
            }
        };
        let texts: Option<Vec<LitStr>> = list.elems.iter().map(text).collect();
        if list.elems.is_empty() {
            context.error(&self.name, format!("`{}` has nothing in its list: leave it out", self.name));
        }
        texts.filter(|texts| !texts.is_empty())
    }

    /// A path, written as such or in a string; `what` it leads to is for the message.
    pub(super) fn path(&self, context: &Context, what: &str) -> Option<ExprPath> {
        let path = match &self.value {
            SettingValue::Is(Expr::Path(path)) => Some(path.clone()),
            SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => text.parse().ok(),
            _ => None,
        };
        if path.is_none() {
            let hint = format!("`{0}` takes the name of a {what}: `{0} = {what}`", self.name);
            match &self.value {
                SettingValue::Is(other) => context.error(other, hint),
                _ => context.error(&self.name, hint),
            }
        }
        path
    }

    pub(super) fn function(&self, context: &Context) -> Option<ExprPath> {
        self.path(context, "function")
    }

    pub(super) fn switch(&self, context: &Context) -> Option<bool> {
        if matches!(self.value, SettingValue::Flag) {
            return Some(true);
        }
        let value = self.bool();
        if value.is_none() {
            context.error(&self.name, format!("`{}` is a switch: write it alone", self.name));
        }
        value
    }

    /// A number from 1.
    pub(super) fn revision(&self, context: &Context) -> Option<u32> {
        let value = match &self.value {
            SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => number.base10_parse().ok(),
            _ => None,
        };
        let value = value.filter(|value| *value > 0);
        if value.is_none() {
            context.error(&self.name, format!("`{0}` takes a number from 1: `{0} = 2`", self.name));
        }
        value
    }

    /// The value where it is `true` or `false`.
    pub(super) fn bool(&self) -> Option<bool> {
        match &self.value {
            SettingValue::Is(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => Some(value.value),
            _ => None,
        }
    }

    /// The value where it is `true` or `false`; an error says what `false` does.
    pub(super) fn bool_or(&self, context: &Context, does: &str) -> Option<bool> {
        let value = self.bool();
        if value.is_none() {
            context.error(&self.name, format!("`{0}` takes true or false: `{0} = false` {does}", self.name));
        }
        value
    }

    /// Stores the option's value; an option that is given twice is an error. False without a value, an error having
    /// been reported.
    pub(super) fn store<T>(&self, context: &Context, slot: &mut Option<T>, value: Option<T>) -> bool {
        let read = value.is_some();
        if slot.is_some() {
            context.error(&self.name, format!("`{}` is given twice", self.name));
        } else {
            *slot = value;
        }
        read
    }

    /// Reads the option by its row in the table of this attribute; false, after an error, if it has none or cannot be read.
    pub(super) fn read_by<T>(
        &self,
        context: &Context,
        attribute: &str,
        table: &[AttributeOption<T>],
        into: &mut T,
    ) -> bool {
        match table.iter().find(|known| self.name == known.name) {
            Some(known) => (known.read)(into, context, self),
            None => {
                let names: Vec<&str> = table.iter().map(|known| known.name).collect();
                self.unknown(context, attribute, &names);
                false
            }
        }
    }

    /// Reports an unknown option, and names the nearest known one.
    fn unknown(&self, context: &Context, attribute: &str, known: &[&str]) {
        let name = self.name.to_string();
        let distances = known.iter().map(|known| (strsim::damerau_levenshtein(&name, known), known));
        let hint = match distances.filter(|(distance, _)| *distance <= 2).min() {
            Some((_, nearest)) => format!("did you mean `{nearest}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        context.error(&self.name, format!("`#[{attribute}]` has no option `{name}`: {hint}"));
    }
}
