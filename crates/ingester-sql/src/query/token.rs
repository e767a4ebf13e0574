//! The token with which the next page is asked for: behind which row it begins.
//!
//! It is JSON in base64url, such as `{"version":1,"query":"9320cb9aded04cde","values":[{"text":"ml"}],"uid":"..."}`. It has no
//! secrets and no signature: its values go into a statement as parameters, so an invented one only begins at another row.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ingester_core::value::{Micros, Value};
use serde::{Deserialize, Serialize};

/// The version that is written.
const VERSION: u64 = 1;

/// The row after which the next page of a query begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Continue {
    /// The [fingerprint](super::Query::fingerprint) of the query.
    pub query: u64,
    /// The row's values of the query's order. The reader of a token checks that there are as many as the order has steps.
    pub values: Vec<Value>,
    /// The row's uid.
    pub uid: String,
}

/// Why a continue token cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is not what [`Continue::encode`] returns.
    #[error("the continue token is damaged: pass it unchanged")]
    Broken,
    /// Another release wrote it.
    #[error("the continue token has version {0}, and this ingester reads version {VERSION}: start again without it")]
    Newer(u64),
    /// The same query must be asked for each page.
    #[error("the continue token belongs to another query: repeat that query, or start this one without a token")]
    OtherQuery,
    /// The values of the order are too long, or it is not a token at all.
    #[error("the continue token has more than {} bytes", Continue::MAX_BYTES)]
    TooLong,
}

#[derive(Deserialize)]
struct TokenHeader {
    version: u64,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TokenContent {
    version: u64,
    query: String,
    values: Vec<TokenValue>,
    uid: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum TokenValue {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    /// As text: serde_json does not read every number back exactly.
    Double(String),
    Text(String),
    Bytes(String),
    /// Microseconds since 1970.
    Time(i64),
}

impl Continue {
    /// Bytes of a token. It has to fit into a URL.
    pub(crate) const MAX_BYTES: usize = 16 << 10;

    /// The token.
    ///
    /// # Errors
    /// [`TokenError::TooLong`] if the values are too long for a token.
    pub fn encode(&self) -> Result<String, TokenError> {
        let written = TokenContent {
            version: VERSION,
            query: format!("{:016x}", self.query),
            values: self.values.iter().map(write).collect(),
            uid: self.uid.clone(),
        };
        let token = URL_SAFE_NO_PAD.encode(serde_json::json!(written).to_string());
        if token.len() > Self::MAX_BYTES { Err(TokenError::TooLong) } else { Ok(token) }
    }

    /// Reads a token for the query with this fingerprint.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn decode(token: &str, query: u64) -> Result<Self, TokenError> {
        if token.len() > Self::MAX_BYTES {
            return Err(TokenError::TooLong);
        }
        let json = URL_SAFE_NO_PAD.decode(token).map_err(|_| TokenError::Broken)?;
        let TokenHeader { version } = serde_json::from_slice(&json).map_err(|_| TokenError::Broken)?;
        if version > VERSION {
            return Err(TokenError::Newer(version));
        }
        let written: TokenContent = serde_json::from_slice(&json).map_err(|_| TokenError::Broken)?;
        let values: Option<Vec<Value>> = written.values.into_iter().map(read).collect();
        let values = values.filter(|_| version == VERSION && !written.uid.is_empty()).ok_or(TokenError::Broken)?;
        if written.query != format!("{query:016x}") {
            return Err(TokenError::OtherQuery);
        }
        Ok(Continue { query, values, uid: written.uid })
    }
}

fn write(value: &Value) -> TokenValue {
    match value {
        Value::Null => TokenValue::Null,
        Value::Bool(value) => TokenValue::Bool(*value),
        Value::Int(value) => TokenValue::Int(*value),
        Value::UInt(value) => TokenValue::UInt(*value),
        // Rust writes as many digits as are needed to read the same number.
        Value::Double(value) => TokenValue::Double(value.to_string()),
        Value::Text(value) => TokenValue::Text(value.as_ref().to_owned()),
        Value::Bytes(value) => TokenValue::Bytes(URL_SAFE_NO_PAD.encode(value)),
        Value::Time(value) => TokenValue::Time(value.0),
    }
}

fn read(written: TokenValue) -> Option<Value> {
    Some(match written {
        TokenValue::Null => Value::Null,
        TokenValue::Bool(value) => Value::Bool(value),
        TokenValue::Int(value) => Value::Int(value),
        TokenValue::UInt(value) => Value::UInt(value),
        // No database stores NaN.
        TokenValue::Double(text) => Value::Double(text.parse().ok().filter(|number: &f64| !number.is_nan())?),
        TokenValue::Text(value) => Value::text(value),
        TokenValue::Bytes(text) => Value::Bytes(URL_SAFE_NO_PAD.decode(text).ok()?.into()),
        TokenValue::Time(value) => Value::Time(Micros(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Continue, TokenError};
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ingester_core::value::{Micros, Value};
    use proptest::prelude::*;

    fn token(json: &str) -> String {
        URL_SAFE_NO_PAD.encode(json)
    }

    #[test]
    fn a_token_has_its_row_and_its_query() {
        let next = Continue {
            query: 0xab,
            values: vec![Value::Null, Value::Int(-1), Value::text("ml"), Value::Time(Micros(5))],
            uid: "u-1".into(),
        };
        let encoded = next.encode().unwrap();
        let json = r#"{"query":"00000000000000ab","uid":"u-1","values":["null",{"int":-1},{"text":"ml"},{"time":5}],"version":1}"#;
        assert_eq!(encoded, token(json), "{}", String::from_utf8_lossy(&URL_SAFE_NO_PAD.decode(&encoded).unwrap()));
        assert_eq!(Continue::decode(&encoded, 0xab), Ok(next));
        assert_eq!(Continue::decode(&encoded, 0xac), Err(TokenError::OtherQuery));
    }

    #[test]
    fn a_foreign_token_is_refused_with_the_reason() {
        let ours = r#"{"version":1,"query":"0000000000000007","values":[],"uid":"u"}"#;
        assert!(Continue::decode(&token(ours), 7).is_ok());
        let other = |from: &str, to: &str| token(&ours.replace(from, to));
        for (token, error) in [
            (String::new(), TokenError::Broken),
            ("a".into(), TokenError::Broken),
            ("eyJ2\0\"'%".into(), TokenError::Broken),
            (format!("{} ", token(ours)), TokenError::Broken),
            (format!("{}=", token(ours)), TokenError::Broken),
            (token(ours)[..20].into(), TokenError::Broken),
            (token("5"), TokenError::Broken),
            (token("{}"), TokenError::Broken),
            (other("1,", "0,"), TokenError::Broken),
            (other("1,", "-1,"), TokenError::Broken),
            (other("\"u\"", "\"\""), TokenError::Broken),
            (other("\"u\"", "\"u\",\"more\":1"), TokenError::Broken),
            (other("[]", "[5]"), TokenError::Broken),
            (other("[]", r#"[{"int":1.5}]"#), TokenError::Broken),
            (other("[]", r#"[{"int":9223372036854775808}]"#), TokenError::Broken),
            (other("[]", r#"[{"double":"NaN"}]"#), TokenError::Broken),
            (other("[]", r#"[{"double":"1,5"}]"#), TokenError::Broken),
            (other("[]", r#"[{"int":1,"text":"a"}]"#), TokenError::Broken),
            (other("[]", &"[".repeat(5_000)), TokenError::Broken),
            (other("1,", "2,"), TokenError::Newer(2)),
            // A newer one may look different in any way.
            (token(r#"{"version":3,"rows":{}}"#), TokenError::Newer(3)),
            (other("7", "8"), TokenError::OtherQuery),
            ("A".repeat(Continue::MAX_BYTES), TokenError::Broken),
            ("A".repeat(Continue::MAX_BYTES + 1), TokenError::TooLong),
        ] {
            assert_eq!(Continue::decode(&token, 7), Err(error), "{token}");
        }
    }

    #[test]
    fn values_that_fit_into_no_token_are_refused() {
        let next = |n: usize| Continue { query: 0, values: vec![Value::text("x".repeat(n))], uid: "u".into() };
        let fits = next(12_000).encode().unwrap();
        assert_eq!(Continue::decode(&fits, 0), Ok(next(12_000)));
        assert_eq!(next(13_000).encode(), Err(TokenError::TooLong));
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            any::<u64>().prop_map(Value::UInt),
            any::<u64>().prop_map(f64::from_bits).prop_filter("no number", |n| !n.is_nan()).prop_map(Value::Double),
            prop::sample::select(vec![f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 0.1, f64::INFINITY])
                .prop_map(Value::Double),
            any::<String>().prop_map(Value::text),
            prop::collection::vec(any::<u8>(), 0..8).prop_map(|bytes| Value::Bytes(bytes.into())),
            any::<i64>().prop_map(|micros| Value::Time(Micros(micros))),
        ]
    }

    proptest! {
        #[test]
        fn a_token_gives_exactly_what_went_in(
            query in any::<u64>(),
            values in prop::collection::vec(value(), 0..5),
            uid in ".{1,40}",
        ) {
            let next = Continue { query, values, uid };
            let token = next.encode().unwrap();
            let decoded = Continue::decode(&token, query).unwrap();
            for (decoded, value) in decoded.values.iter().zip(&next.values) {
                if let (Value::Double(decoded), Value::Double(value)) = (decoded, value) {
                    prop_assert_eq!(decoded.to_bits(), value.to_bits());
                }
            }
            prop_assert_eq!(decoded, next);
            prop_assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
        }

        #[test]
        fn any_text_is_a_token_or_an_error(text in any::<String>(), json in "[{}\\[\\]:,\"a-z0-9]{0,32}") {
            prop_assert!(Continue::decode(&text, 0).is_err());
            prop_assert!(Continue::decode(&token(&json), 0).is_err());
        }
    }
}
