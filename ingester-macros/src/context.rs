//! Collects errors, so that a user sees all mistakes at once.
//!
//! May use: nothing.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::cell::RefCell;
use std::fmt::Display;

/// The errors found so far. Dropping one without [`Context::finish`] is a defect of the derive and panics.
pub(crate) struct Context {
    errors: RefCell<Option<Vec<syn::Error>>>,
}

impl Context {
    pub(crate) fn new() -> Self {
        Context { errors: RefCell::new(Some(Vec::new())) }
    }

    /// Adds an error that points at `tokens`.
    pub(crate) fn error(&self, tokens: impl ToTokens, message: impl Display) {
        self.syn_error(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error that points at `span`.
    pub(crate) fn error_at(&self, span: Span, message: impl Display) {
        self.syn_error(syn::Error::new(span, message));
    }

    /// Adds an error that syn made.
    fn syn_error(&self, error: syn::Error) {
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// The value, or `None` after its error has been added.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.syn_error(error)).ok()
    }

    /// Returns the code with the errors in front. The code is kept: its own checks run too, and a missing implementation would only add
    /// errors that the user did not make.
    ///
    /// Each error stands in a separate block. rustc suppresses every "cannot find ... in this scope" of a module in
    /// which a `compile_error!` stands directly, as it could be the macro that failed to define the name; then the user
    /// would see a misspelled type only after fixing everything else.
    pub(crate) fn finish(self, code: TokenStream) -> TokenStream {
        let errors = self.errors.borrow_mut().take().unwrap_or_default();
        let errors = errors.iter().map(syn::Error::to_compile_error);
        quote::quote!(#(const _: () = { #errors };)* #code)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.errors.borrow().is_some() {
            panic!("the errors of a derive were not looked at");
        }
    }
}
