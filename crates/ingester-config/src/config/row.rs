//! The syntax of a row, which declares one key of the file.
//!
//! [`settings!`] generates a section's struct from its rows, with its [`Default`], its reader, and the effects of a changed file. A row is
//!
//! ```text
//! /// What it does, as the struct and docs/configuration.md say it.
//! key => field: Type = "default", "what it takes", Effect, read(reader), variable NAME;
//! ```
//!
//! with the default as the file writes it (empty for a key without a default), the allowed values in words, the time at which a change
//! takes effect, the method of [`Section`] that reads the key with its arguments, and optionally the environment variable that overrides
//! it. Nested sections follow the keys of their section.

use super::section::{Findings, Section, section};
use super::tree;
use ingester_core::KindNames;
use ingester_declare::text::Fault;

/// The time at which a changed key takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// At once.
    Now,
    /// When `ingester run` is started again.
    Restart,
    /// When `ingester serve` is started again: `ingester run` does not read it.
    Serve,
    /// Never.
    None,
}

/// The changes of a changed file, by the paths of its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChanges {
    /// Keys that take effect now.
    pub taken_up: Vec<&'static str>,
    /// Keys that take effect after a restart.
    pub need_a_restart: Vec<&'static str>,
}

impl ConfigChanges {
    /// Records that this key has changed. Returns true if the change is taken up.
    pub(super) fn note(&mut self, path: &'static str, effect: Effect) -> bool {
        match effect {
            Effect::Now => self.taken_up.push(path),
            Effect::Restart => self.need_a_restart.push(path),
            Effect::Serve | Effect::None => {}
        }
        effect == Effect::Now
    }
}

/// One key, for code that compares all keys.
#[cfg(test)]
pub(super) struct Row {
    /// The full path with the key's sections: `mysql.tls.mode`.
    pub(super) path: &'static str,
    /// The default as the file writes it.
    pub(super) default: &'static str,
    pub(super) takes: &'static str,
    pub(super) effect: Effect,
    pub(super) variable: Option<&'static str>,
    pub(super) about: String,
}

/// A section of the file. [`settings!`] implements it.
pub(super) trait Settings: Sized {
    /// The section's own keys with their defaults, as a file.
    const DEFAULTS: &'static str;

    /// Reads the keys that are in `section`; `kinds` are the names that a key may have.
    fn read(&mut self, section: &mut Section<'_>, kinds: &KindNames);

    /// Takes the values of a changed file that can change while the program runs, and records their keys.
    fn change(&mut self, changed: &Self, changes: &mut ConfigChanges);

    /// Returns true if a key that is read as a secret has a value.
    fn has_secrets(&self) -> bool;

    /// Returns every key.
    #[cfg(test)]
    fn list_rows() -> Vec<Row>;

    /// Reads a whole text.
    fn read_text(&mut self, text: &str, kinds: &KindNames) -> Result<Findings, Fault> {
        let root = tree::read(text)?;
        let mut findings = Findings::default();
        section(String::new(), root, &mut findings, |root| self.read(root, kinds));
        Ok(findings)
    }

    /// Returns this section, whose values are blank, with its defaults.
    fn with_defaults(mut self) -> Self {
        let read = self.read_text(Self::DEFAULTS, &KindNames::of(&[]));
        debug_assert!(read.is_ok_and(|findings| findings.problems.is_empty()), "{}", Self::DEFAULTS);
        self
    }
}

/// Generates the structs of sections from their rows, or [`Settings`] for a section whose struct is elsewhere.
macro_rules! settings {
    ($(#[doc = $doc:literal])* pub struct $name:ident($path:literal, $kinds:ident) $body:tt) => {
        settings! { @struct [$(#[doc = $doc])*] $name $body }
        settings! { @section $name $path $kinds $body }
    };
    (struct $name:ident($path:literal, $kinds:ident) $body:tt) => {
        settings! { @section $name $path $kinds $body }
    };
    (@struct [$($doc:tt)*] $name:ident {
        $($(#[doc = $about:literal])+ $key:ident => $field:ident: $type:ty = $default:literal, $takes:literal, $effect:ident,
            $method:ident($($reader:expr),*) $(, variable $variable:ident)?;)*
        $(section $(#[doc = $inside:literal])+ $inner_key:ident => $inner:ident: $inner_type:ty;)*
    }) => {
        $($doc)*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(#[doc = concat!("`", stringify!($key), "`:")] $(#[doc = $about])+ pub $field: $type,)*
            $(#[doc = concat!("`", stringify!($inner_key), "`:")] $(#[doc = $inside])+ pub $inner: $inner_type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: Default::default(),)* $($inner: Default::default(),)* }.with_defaults()
            }
        }
    };
    (@section $name:ident $path:literal $kinds:ident {
        $($(#[doc = $about:literal])+ $key:ident => $field:ident: $type:ty = $default:literal, $takes:literal, $effect:ident,
            $method:ident($($reader:expr),*) $(, variable $variable:ident)?;)*
        $(section $(#[doc = $inside:literal])+ $inner_key:ident => $inner:ident: $inner_type:ty;)*
    }) => {
        impl Settings for $name {
            const DEFAULTS: &'static str = concat!($(stringify!($key), ": ", $default, "\n"),*);

            fn read(&mut self, section: &mut Section<'_>, $kinds: &KindNames) {
                let _ = $kinds;
                $(section.$method(stringify!($key), &mut self.$field $(, $reader)*);)*
                $(section.section(stringify!($inner_key), |section| self.$inner.read(section, $kinds));)*
            }

            fn change(&mut self, changed: &Self, changes: &mut ConfigChanges) {
                $(if self.$field != changed.$field && changes.note(concat!($path, ".", stringify!($key)), Effect::$effect) {
                    self.$field.clone_from(&changed.$field);
                })*
                $(self.$inner.change(&changed.$inner, changes);)*
            }

            fn has_secrets(&self) -> bool {
                false
                    $(|| (stringify!($method) == "secret" && self.$field != Self::default().$field))*
                    $(|| self.$inner.has_secrets())*
            }

            #[cfg(test)]
            fn list_rows() -> Vec<Row> {
                let own = [$(Row {
                    path: concat!($path, ".", stringify!($key)),
                    default: $default,
                    takes: $takes,
                    effect: Effect::$effect,
                    variable: [$(stringify!($variable),)? ""].into_iter().find(|name| !name.is_empty()),
                    about: concat!($($about),+).trim().to_owned(),
                }),*];
                own.into_iter()$(.chain(<$inner_type>::list_rows()))*.collect()
            }
        }
    };
}
pub(super) use settings;
