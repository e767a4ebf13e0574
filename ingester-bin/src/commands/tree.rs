//! The text of an object in the form that the printers need. serde has no integers of any length, so this file parses the text itself.

use ingester_core::json::{Error, Reader, TokenKind, from_str};
use ingester_printers::Tree;

/// Reads a JSON text.
///
/// # Errors
/// If it is not JSON.
pub(super) fn tree(text: &str) -> Result<Tree, Error> {
    let mut reader = Reader::new(text);
    let tree = next(&mut reader)?;
    reader.finish()?;
    Ok(tree)
}

fn next(reader: &mut Reader<'_>) -> Result<Tree, Error> {
    Ok(match reader.peek()? {
        TokenKind::Object => {
            let mut entries = std::collections::BTreeMap::new();
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                entries.insert(key.into_owned(), next(reader)?);
            }
            Tree::Map(entries)
        }
        TokenKind::Array => {
            let mut values = Vec::new();
            reader.begin_array()?;
            while reader.next_element()? {
                values.push(next(reader)?);
            }
            Tree::List(values)
        }
        TokenKind::String => Tree::Text(reader.string()?.into_owned()),
        TokenKind::Bool => Tree::Bool(reader.bool()?),
        TokenKind::Null => {
            reader.null()?;
            Tree::Null
        }
        TokenKind::Number => number(reader.number()?)?,
    })
}

/// A number of JSON.
fn number(text: &str) -> Result<Tree, Error> {
    let is_whole = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    match from_str(text) {
        Ok(Tree::Float(_)) | Err(_) if is_whole => Ok(Tree::Whole(text.to_owned())),
        tree => tree,
    }
}

#[cfg(test)]
mod tests {
    use super::tree;
    use ingester_printers::json::compact;

    #[test]
    fn a_text_is_printed_as_it_was_read() {
        let long = "9".repeat(300);
        for text in [
            r#"{"a":[1,-2,0.5,true,false,null,"x\n",{},[]],"b":{"c":18446744073709551616}}"#,
            "-9223372036854775809",
            "123456789012345678901234567890",
            "18446744073709551615",
            &long,
        ] {
            assert_eq!(compact(&tree(text).unwrap()), text);
        }
        assert_eq!(compact(&tree("-0").unwrap()), "0", "as kubectl does");
        assert_eq!(compact(&tree("1e3").unwrap()), "1000");
        for broken in ["", "{", "[1,]", "1 2", "{\"a\":1", "1e999"] {
            assert!(tree(broken).is_err(), "{broken}");
        }
    }
}
