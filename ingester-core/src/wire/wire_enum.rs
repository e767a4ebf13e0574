//! Enums of a protobuf API as its JSON writes them.

/// Declares an enum of a protobuf API: variants with their numbers and the names that its JSON uses.
///
/// The enum is read from a name or a number, and never fails on one that it does not know: such a value becomes
/// `Unknown` with its text, and goes into the column as that text. It is written as its name. Its default is the
/// variant with number 0, which must come first. The CRD's schema lists the names.
///
/// ```
/// ingester_core::wire_enum! {
///     /// What a model predicts.
///     pub enum ModelKind {
///         /// Not set.
///         Invalid = 0 => "MODEL_KIND_INVALID",
///         /// A number, such as a price.
///         Regression = 2 => "MODEL_KIND_REGRESSION",
///     }
/// }
/// let kind: ModelKind = ingester_core::json::from_str("2").unwrap();
/// assert_eq!(kind, ModelKind::Regression);
/// let kind: ModelKind = ingester_core::json::from_str(r#""MODEL_KIND_NEW""#).unwrap();
/// assert_eq!(kind.name(), "MODEL_KIND_NEW");
/// ```
#[macro_export]
macro_rules! wire_enum {
    (
        $(#[$doc:meta])*
        $vis:vis enum $name:ident {
            $(#[$first_doc:meta])* $first:ident = 0 => $first_name:literal,
            $( $(#[$variant_doc:meta])* $variant:ident = $number:literal => $text:literal, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        $vis enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $( $(#[$variant_doc])* $variant, )*
            /// A name or number that this version of the API does not know.
            Unknown(::std::boxed::Box<str>),
        }

        impl $name {
            /// The names and numbers, in the order of the variants.
            $vis const NAMES: &'static [(&'static str, i32)] = &[($first_name, 0), $( ($text, $number), )*];

            /// The name that JSON and the column hold.
            $vis fn name(&self) -> &str {
                match self {
                    $name::$first => $first_name,
                    $( $name::$variant => $text, )*
                    $name::Unknown(name) => name,
                }
            }
        }

        impl<'de> $crate::__private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                const VARIANTS: &[$name] = &[$name::$first, $( $name::$variant, )*];
                ::std::result::Result::Ok(match $crate::wire::read_enum(deserializer, Self::NAMES)? {
                    $crate::wire::EnumName::Known(place) => VARIANTS[place].clone(),
                    $crate::wire::EnumName::Unknown(name) => $name::Unknown(name),
                })
            }
        }

        impl $crate::__private::serde::Serialize for $name {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl $crate::__private::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(::std::stringify!($name))
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(
                _: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                $crate::__private::schemars::json_schema!({ "type": "string", "enum": [$first_name, $( $text, )*] })
            }
        }

        impl $crate::value::ColumnValue for $name {
            const SHAPE: $crate::schema::Shape = $crate::schema::Shape {
                parts: &[$crate::schema::Part::of_names(<$name as $crate::value::Names>::ALL)],
            };

            fn write(&self, out: &mut $crate::value::Values) {
                $crate::__private::named(self.name(), out);
            }
        }

        impl $crate::value::Scalar for $name {
            type Class = $crate::value::class::NamesOf<$name>;
        }

        impl $crate::value::Names for $name {
            const ALL: &'static [&'static str] = &[$first_name, $( $text, )*];
        }

        impl $crate::value::Literal<$crate::value::class::NamesOf<$name>> for $name {}
        impl $crate::value::Literal<$crate::value::class::Anything> for $name {}
    };
}

#[cfg(test)]
mod tests {
    crate::wire_enum! {
        /// For the tests.
        enum Phase {
            /// None.
            Invalid = 0 => "PHASE_INVALID",
            /// On.
            On = 7 => "PHASE_ON",
        }
    }

    #[test]
    fn a_name_a_number_and_an_unknown_one_are_all_read() {
        for (text, expected) in [
            (r#""PHASE_ON""#, Phase::On),
            ("7", Phase::On),
            ("0", Phase::Invalid),
            (r#""PHASE_NEXT""#, Phase::Unknown("PHASE_NEXT".into())),
            ("-3", Phase::Unknown("-3".into())),
        ] {
            assert_eq!(ingester_json::json::from_str::<Phase>(text).unwrap(), expected);
            assert_eq!(serde_json::from_str::<Phase>(text).unwrap(), expected);
        }
        assert!(ingester_json::json::from_str::<Phase>("[]").is_err());
        assert!(ingester_json::json::from_str::<Phase>("1.5").is_err());
    }

    #[test]
    fn an_unknown_name_is_written_back_as_it_came() {
        assert_eq!(serde_json::to_string(&Phase::Unknown("PHASE_NEXT".into())).unwrap(), r#""PHASE_NEXT""#);
    }
}
