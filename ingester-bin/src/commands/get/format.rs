//! The formats of `-o`, as the arguments name them.

use crate::arguments::GetFormat;
use ingester_printers::custom_columns::CustomColumns;
use ingester_printers::jsonpath::{ItemTemplate, Template, TemplateError};

/// The output format.
pub(in crate::commands) enum Format {
    Table,
    Wide,
    Json,
    Yaml,
    Name,
    Csv,
    /// A template, and the template for a single item of a list if that is all that it needs.
    JsonPath(Template, Option<ItemTemplate>),
    /// The results of a template as JSON.
    JsonPathAsJson(Template),
    Custom(CustomColumns),
}

impl Format {
    /// The format as given.
    pub(in crate::commands) fn parse(format: Option<&GetFormat>) -> Result<Self, TemplateError> {
        Ok(match format {
            None => Format::Table,
            Some(GetFormat::Wide) => Format::Wide,
            Some(GetFormat::Json) => Format::Json,
            Some(GetFormat::Yaml) => Format::Yaml,
            Some(GetFormat::Name) => Format::Name,
            Some(GetFormat::Csv) => Format::Csv,
            Some(GetFormat::JsonPath(template)) => {
                let template = Template::parse(template)?;
                let by_item = template.by_item();
                Format::JsonPath(template, by_item)
            }
            Some(GetFormat::JsonPathAsJson(template)) => Format::JsonPathAsJson(Template::parse(template)?),
            Some(GetFormat::CustomColumns(columns)) => Format::Custom(CustomColumns::parse(columns)?),
        })
    }

    /// Returns true if it is for people.
    pub(in crate::commands) fn is_table(&self) -> bool {
        matches!(self, Format::Table | Format::Wide)
    }

    /// Returns true if its columns are as wide as their content.
    pub(in crate::commands) fn has_columns(&self) -> bool {
        self.is_table() || matches!(self, Format::Custom(_))
    }

    /// Returns true if it needs the stored objects.
    pub(in crate::commands) fn needs_object(&self) -> bool {
        !matches!(self, Format::Table | Format::Wide | Format::Csv | Format::Name)
    }
}
