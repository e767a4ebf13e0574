//! Comma-separated values by RFC 4180.
//!
//! May use: nothing.

/// One record. A field with a comma, a quote or a line's end is quoted, and its quotes are doubled.
pub fn record<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (i, field) in fields.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push_str("\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::record;

    #[test]
    fn fields_are_quoted_where_the_format_needs_it() {
        for (fields, expected) in [
            (vec!["a", "b c", ""], "a,b c,\r\n"),
            (vec!["a,b", "say \"x\"", "two\nlines", "cr\r"], "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"cr\r\"\r\n"),
            (vec!["ü", " spaces ", "'"], "ü, spaces ,'\r\n"),
        ] {
            assert_eq!(record(fields.clone()), expected, "{fields:?}");
        }
    }
}
