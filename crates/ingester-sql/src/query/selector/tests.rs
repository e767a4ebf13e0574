//! Selectors that Kubernetes takes and refuses, what they mean, and properties of the grammars. The cases of Kubernetes' own tests
//! (`pkg/labels/selector_test.go`, `pkg/fields/selector_test.go` and `pkg/api/validate/content/kube_test.go` of apimachinery) are
//! among them.

use super::{
    SelectorError, parse_field_selector, parse_kubernetes_field_selector, parse_label_selector,
    parse_label_selector_with_parameters,
};
use crate::query::{Filter, Test};
use ingester_core::value::Value;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn has(key: &str) -> Filter {
    Filter::label(key, Test::Exists)
}

fn lacks(key: &str) -> Filter {
    has(key).negated()
}

fn is(key: &str, value: &str) -> Filter {
    Filter::label(key, Test::Equal(Value::text(value)))
}

fn is_not(key: &str, value: &str) -> Filter {
    is(key, value).negated()
}

fn is_in(key: &str, values: &[&str]) -> Filter {
    Filter::label(key, Test::In(values.iter().map(|value| Value::text(*value)).collect()))
}

fn not_in(key: &str, values: &[&str]) -> Filter {
    is_in(key, values).negated()
}

fn above(key: &str, number: i64) -> Filter {
    Filter::label(key, Test::Greater(Value::Int(number)))
}

fn below(key: &str, number: i64) -> Filter {
    Filter::label(key, Test::Less(Value::Int(number)))
}

fn good_label_selectors() -> Vec<(&'static str, Vec<Filter>)> {
    vec![
        ("", vec![]),
        (" \t\r\n", vec![]),
        ("x=a,y=b,z=c", vec![is("x", "a"), is("y", "b"), is("z", "c")]),
        ("x!=a,y=b", vec![is_not("x", "a"), is("y", "b")]),
        ("x=", vec![is("x", "")]),
        ("x= ", vec![is("x", "")]),
        ("x==", vec![is("x", "")]),
        ("x!=", vec![is_not("x", "")]),
        ("x=,z= ", vec![is("x", ""), is("z", "")]),
        ("x= ,z= ", vec![is("x", ""), is("z", "")]),
        ("x==a", vec![is("x", "a")]),
        ("x\t=\na", vec![is("x", "a")]),
        ("!x", vec![lacks("x")]),
        ("! x", vec![lacks("x")]),
        ("x", vec![has("x")]),
        ("\rx", vec![has("x")]),
        ("a ", vec![has("a")]),
        ("x>1", vec![above("x", 1)]),
        ("x>1,z<5", vec![above("x", 1), below("z", 5)]),
        ("x<7", vec![below("x", 7)]),
        ("x > 007", vec![above("x", 7)]),
        ("x>9223372036854775807", vec![above("x", i64::MAX)]),
        ("this-is-a-dns.domain.com/key-with-dash", vec![has("this-is-a-dns.domain.com/key-with-dash")]),
        (
            "this-is-another-dns.domain.com/key-with-dash in (so,what)",
            vec![is_in("this-is-another-dns.domain.com/key-with-dash", &["so", "what"])],
        ),
        (
            "0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)",
            vec![not_in("0.1.2.domain/99", &["10.10.100.1", "tick.tack.clock"])],
        ),
        ("foo  in\t (abc)", vec![is_in("foo", &["abc"])]),
        ("x notin\n (abc)", vec![not_in("x", &["abc"])]),
        ("x  notin\t\t(abc,def)", vec![not_in("x", &["abc", "def"])]),
        ("x in (abc,def)", vec![is_in("x", &["abc", "def"])]),
        ("x in(abc)", vec![is_in("x", &["abc"])]),
        ("x in (abc,)", vec![is_in("x", &["", "abc"])]),
        ("x in (abc,abc)", vec![is_in("x", &["abc"])]),
        ("x in ()", vec![is_in("x", &[""])]),
        ("x in (,)", vec![is_in("x", &[""])]),
        // Kubernetes refused two commas before the end until 2022 at least.
        ("x in (a,,)", vec![is_in("x", &["", "a"])]),
        ("x in (a,,,,,,)", vec![is_in("x", &["", "a"])]),
        ("x in (a,,a,,a,,a,,)", vec![is_in("x", &["", "a"])]),
        (
            "x notin (abc,,def),bar,z in (),w",
            vec![not_in("x", &["", "abc", "def"]), has("bar"), is_in("z", &[""]), has("w")],
        ),
        ("x in (),y", vec![is_in("x", &[""]), has("y")]),
        ("x,y in (a)", vec![has("x"), is_in("y", &["a"])]),
        ("x=a,y!=b,z in (h,i,j)", vec![is("x", "a"), is_not("y", "b"), is_in("z", &["h", "i", "j"])]),
        ("x notin ( )", vec![not_in("x", &[""])]),
        ("x notin (, a)", vec![not_in("x", &["", "a"])]),
        ("x in (abc,def),y notin (jkl),z", vec![is_in("x", &["abc", "def"]), not_in("y", &["jkl"]), has("z")]),
        ("x=abc,y==jkl,z!=a,z", vec![is("x", "abc"), is("y", "jkl"), is_not("z", "a"), has("z")]),
        // Words that are operators elsewhere.
        ("a in (x,y,notin, z,in)", vec![is_in("a", &["in", "notin", "x", "y", "z"])]),
        ("notin=in", vec![is("notin", "in")]),
        ("in in (in)", vec![is_in("in", &["in"])]),
        ("notin notin (notin),in,!notin", vec![not_in("notin", &["notin"]), has("in"), lacks("notin")]),
    ]
}

/// Selectors that are refused, each with the place and the reason.
const BAD_LABEL_SELECTORS: &[(&str, &str)] = &[
    (",", "`,`, character 1: expected a key or `!`, found `,`"),
    (",x,y", "`,x,y`, character 1: expected a key or `!`, found `,`"),
    ("x,,y", "`x,,y`, character 3: expected a key or `!`, found `,`"),
    ("a in (xyz),", "`a in (xyz),`, at its end: expected a key or `!`"),
    ("!", "`!`, at its end: expected a key"),
    ("!!x", "`!!x`, character 2: expected a key, found `!`"),
    ("!x=a", "`!x=a`, character 3: expected `,` or the end, found `=`"),
    ("!x in (a)", "`!x in (a)`, character 4: expected `,` or the end, found `in`"),
    (
        "x nott in (y)",
        "`x nott in (y)`, character 3: expected `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end, found `nott`",
    ),
    (
        "x IN (y)",
        "`x IN (y)`, character 3: expected `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end, found `IN`; `IN` is written in lower case, `in`",
    ),
    (
        "x not in (y)",
        "`x not in (y)`, character 3: expected `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end, found `not`; `not in` is written `notin`",
    ),
    ("a (", "`a (`, character 3: expected `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end, found `(`"),
    ("(", "`(`, character 1: expected a key or `!`, found `(`"),
    ("x=a||y=b", "`x=a||y=b`, character 4: a label's value has letters, digits, `-`, `_` and `.`"),
    ("x==a==b", "`x==a==b`, character 5: expected `,` or the end, found `==`"),
    ("x===a", "`x===a`, character 4: expected a value, found `=`"),
    ("x=a b", "`x=a b`, character 5: expected `,` or the end, found `b`"),
    ("x=)", "`x=)`, character 3: expected a value, found `)`"),
    ("x in", "`x in`, at its end: expected `(`"),
    ("x in a)", "`x in a)`, character 6: expected `(`, found `a`"),
    ("a notin(", "`a notin(`, at its end: expected a value, `,` or `)`"),
    ("a in (x", "`a in (x`, at its end: expected `,` or `)`"),
    ("a in (x,", "`a in (x,`, at its end: expected a value, `,` or `)`"),
    ("a in (xyz abc)", "`a in (xyz abc)`, character 11: expected `,` or `)`, found `abc`"),
    ("a in (x=y)", "`a in (x=y)`, character 8: expected `,` or `)`, found `=`"),
    ("a in ((x))", "`a in ((x))`, character 7: expected a value, `,` or `)`, found `(`"),
    ("a in (xyz)b notin ()", "`a in (xyz)b notin ()`, character 11: expected `,` or the end, found `b`"),
    ("x<a", "`x<a`, character 3: expected a whole number without a sign, found `a`"),
    ("x>", "`x>`, at its end: expected a whole number without a sign"),
    ("x>,y", "`x>,y`, character 3: expected a whole number without a sign, found `,`"),
    ("x>-1", "`x>-1`, character 3: expected a whole number without a sign, found `-1`"),
    ("x>+1", "`x>+1`, character 3: expected a whole number without a sign, found `+1`"),
    ("x>1.5", "`x>1.5`, character 3: expected a whole number without a sign, found `1.5`"),
    ("x>=1", "`x>=1`, character 3: expected a whole number without a sign, found `=`"),
    ("x>9223372036854775808", "`x>9223372036854775808`, character 3: numbers are 9223372036854775807 at most"),
    ("/simple", "`/simple`, character 1: a key has a prefix before its `/`"),
    ("x=a, example.com/", "`x=a, example.com/`, at its end: a key has a name behind its `/`"),
    ("only/one/slash", "`only/one/slash`, character 9: a key has one `/` at most"),
    (
        "Example.com/abc",
        "`Example.com/abc`, character 1: the prefix of a key has lower-case letters, digits, `-` and `.`",
    ),
    (
        "example_com/abc",
        "`example_com/abc`, character 8: the prefix of a key has lower-case letters, digits, `-` and `.`",
    ),
    ("a..b/c", "`a..b/c`, character 3: each part of a key's prefix has a character at least"),
    ("a.-b/c", "`a.-b/c`, character 3: each part of a key's prefix begins and ends with a letter or a digit"),
    ("cantendwithadash-", "`cantendwithadash-`, character 17: a key begins and ends with a letter or a digit"),
    ("a.b/-c", "`a.b/-c`, character 5: the name in a key begins and ends with a letter or a digit"),
    ("nospecialchars%^@", "`nospecialchars%^@`, character 15: a key has letters, digits, `-`, `_` and `.`"),
    ("x=.a", "`x=.a`, character 3: a label's value begins and ends with a letter or a digit"),
    ("x in (a,b-)", "`x in (a,b-)`, character 10: a label's value begins and ends with a letter or a digit"),
    ("x=Māori", "`x=Māori`, character 4: a label's value has letters, digits, `-`, `_` and `.`"),
    ("x=a\\b", "`x=a\\b`, character 4: a label's value has letters, digits, `-`, `_` and `.`"),
    ("x=a\0,y", "`x=a\\0,y`, character 4: a label's value has letters, digits, `-`, `_` and `.`"),
    ("\0", "`\\0`, character 1: a key has letters, digits, `-`, `_` and `.`"),
    ("x='a'", "`x='a'`, character 3: a label's value has letters, digits, `-`, `_` and `.`"),
];

#[test]
fn label_selectors_mean_what_they_mean_in_kubernetes() {
    for (text, filters) in good_label_selectors() {
        assert_eq!(parse_label_selector(text).as_deref(), Ok(&filters[..]), "{text}");
    }
}

#[test]
fn a_malformed_label_selector_is_refused_with_its_place() {
    for (text, said) in BAD_LABEL_SELECTORS {
        let error = parse_label_selector(text).unwrap_err();
        assert_eq!(error.to_string(), format!("label selector {said}"));
    }
}

#[test]
fn keys_and_values_are_as_long_as_in_kubernetes() {
    let a = |n| "a".repeat(n);
    for (text, taken) in [
        (a(63), true),
        (a(64), false),
        (format!("{}/{}", a(253), a(63)), true),
        (format!("{}/{}", a(254), a(3)), false),
        (format!("a.b/{}", a(64)), false),
        (format!("x={}", a(63)), true),
        (format!("x={}", a(64)), false),
        (format!("x in ({})", a(64)), false),
        (format!("x>{}7", "0".repeat(62)), true),
        (format!("x>{}7", "0".repeat(63)), false),
    ] {
        assert_eq!(parse_label_selector(&text).is_ok(), taken, "{text}");
    }
}

/// Returns true if an object with these labels is selected, as [`Filter`] says.
fn selects(filter: &Filter, labels: &BTreeMap<&str, &str>) -> bool {
    let Filter::Label { key, test } = filter else {
        let Filter::Not(filter) = filter else { panic!("{filter:?} is not of a label selector") };
        return !selects(filter, labels);
    };
    let Some(&value) = labels.get(key.as_str()) else { return false };
    let number = value.parse::<i64>();
    match test {
        Test::Exists => true,
        Test::Equal(wanted) => *wanted == Value::text(value),
        Test::In(wanted) => wanted.contains(&Value::text(value)),
        Test::Greater(Value::Int(bound)) => number.is_ok_and(|number| number > *bound),
        Test::Less(Value::Int(bound)) => number.is_ok_and(|number| number < *bound),
        test => panic!("{test:?} is not of a label selector"),
    }
}

#[test]
fn label_selectors_select_what_they_select_in_kubernetes() {
    for (text, labels, selected) in [
        ("", "x=y", true),
        ("x=y", "x=y", true),
        ("x=y,z=w", "x=y z=w", true),
        ("x!=y,z!=w", "x=z z=a", true),
        ("notin=in", "notin=in", true),
        ("x", "x=z", true),
        ("!x", "y=z", true),
        ("x>1", "x=2", true),
        ("x<1", "x=0", true),
        ("x=z", "", false),
        ("x=y", "x=z", false),
        ("x=y,z=w", "x=w z=w", false),
        ("x!=y,z!=w", "x=z z=w", false),
        ("x", "y=z", false),
        ("!x", "x=z", false),
        ("x>1", "x=0", false),
        ("x<1", "x=2", false),
        ("foo=bar", "foo=bar baz=blah", true),
        ("baz=blah", "foo=bar baz=blah", true),
        ("foo=bar,baz=blah", "foo=bar baz=blah", true),
        ("foo=blah", "foo=bar baz=blah", false),
        ("baz=bar", "foo=bar baz=blah", false),
        ("foo=bar,foobar=bar,baz=blah", "foo=bar baz=blah", false),
        ("x in (foo),y notin (alpha)", "x=foo y=baz", true),
        ("x in (foo),y in (alpha)", "x=foo y=baz", false),
        ("x notin (),y", "y=", true),
        ("!x,y", "y=", true),
        ("x notin (),!y", "y=", false),
        ("x in ()", "y=baz", false),
        ("z>1", "z=2", true),
        ("z>1", "z=v2", false),
        ("z>1", "z=10", true),
        ("z<10", "z=9", true),
        ("z<10", "z=010", false),
        ("z>1", "z=", false),
        ("z>1", "z=9223372036854775808", false),
        ("a,!a", "a=b", false),
    ] {
        let labels = labels.split_whitespace().filter_map(|label| label.split_once('=')).collect();
        let filters = parse_label_selector(text).unwrap();
        assert_eq!(filters.iter().all(|filter| selects(filter, &labels)), selected, "{text} of {labels:?}");
    }
}

fn field(name: &str, value: &str) -> Filter {
    Filter::field(name.to_owned(), if value.is_empty() { Test::Empty } else { Test::Equal(Value::text(value)) })
}

#[test]
fn field_selectors_mean_what_they_mean_in_kubernetes() {
    for (text, filters) in [
        ("", vec![]),
        (",", vec![]),
        ("x=a,y=b,z=c", vec![field("x", "a"), field("y", "b"), field("z", "c")]),
        ("x!=a,y=b", vec![field("x", "a").negated(), field("y", "b")]),
        (
            "a=avalue,b==bvalue,c!=cvalue",
            vec![field("a", "avalue"), field("b", "bvalue"), field("c", "cvalue").negated()],
        ),
        ("a=a,", vec![field("a", "a")]),
        (",a=a", vec![field("a", "a")]),
        (r"x=a||y\=b", vec![field("x", "a||y=b")]),
        (r"x=a\=\=b", vec![field("x", "a==b")]),
        (r"k=\,,k2=v2", vec![field("k", ","), field("k2", "v2")]),
        (r"k=\\,k2=v2", vec![field("k", r"\"), field("k2", "v2")]),
        (r"k=\\\,,k2=v2", vec![field("k", r"\,"), field("k2", "v2")]),
        (r"foo=bar,complex=\=value\\\,\\", vec![field("foo", "bar"), field("complex", r"=value\,\")]),
        ("함=수,목=록", vec![field("함", "수"), field("목", "록")]),
        ("notin=in", vec![field("notin", "in")]),
        ("spec.owner.name=", vec![field("spec.owner.name", "")]),
        ("spec.owner.name==", vec![field("spec.owner.name", "")]),
        ("spec.owner.name!=", vec![field("spec.owner.name", "").negated()]),
        // Kubernetes takes these as they are: spaces, and characters without a meaning here.
        ("a= b !(c)\0'\"%", vec![field("a", " b !(c)\0'\"%")]),
        ("a=!b", vec![field("a", "!b")]),
        // The first operator counts.
        ("a=<b>", vec![field("a", "<b>")]),
        ("a!=>b", vec![field("a", ">b").negated()]),
        (r#"limits["a<b"]=c"#, vec![field(r#"limits["a<b"]"#, "c")]),
    ] {
        assert_eq!(parse_field_selector(text), Ok(filters), "{text}");
    }
}

/// Kubernetes has no ranges.
#[test]
fn field_selectors_have_ranges() {
    let range =
        |name: &'static str, test: fn(Value) -> Test, value: &str| Filter::field(name, test(Value::text(value)));
    for (text, filters) in [
        ("a<1", vec![range("a", Test::Less, "1")]),
        ("a<=1", vec![range("a", Test::LessOrEqual, "1")]),
        ("a>1", vec![range("a", Test::Greater, "1")]),
        ("a>=1", vec![range("a", Test::GreaterOrEqual, "1")]),
        ("a>=1,a<2,b=c", vec![range("a", Test::GreaterOrEqual, "1"), range("a", Test::Less, "2"), field("b", "c")]),
        ("spec.notAfter<in 30d", vec![range("spec.notAfter", Test::Less, "in 30d")]),
        (r"a<b\,c\=d\\", vec![range("a", Test::Less, r"b,c=d\")]),
        ("a<b<c>d!e", vec![range("a", Test::Less, "b<c>d!e")]),
        ("a<!b", vec![range("a", Test::Less, "!b")]),
        (r#"limits["a>=b"]<=5"#, vec![range(r#"limits["a>=b"]"#, Test::LessOrEqual, "5")]),
    ] {
        assert_eq!(parse_field_selector(text), Ok(filters), "{text}");
    }
}

/// Kubernetes has no lists of values.
#[test]
fn field_selectors_have_lists() {
    let one_of = |name: &'static str, values: &[&str]| {
        Filter::field(name, Test::In(values.iter().map(|value| Value::text(*value)).collect()))
    };
    for (text, filters) in [
        ("a in (b)", vec![one_of("a", &["b"])]),
        ("a in(c, b ,c)", vec![one_of("a", &["b", "c"])]),
        ("a notin (b,c),d=e", vec![one_of("a", &["b", "c"]).negated(), field("d", "e")]),
        ("a=b,c  in\t( d )\t,e!=f", vec![field("a", "b"), one_of("c", &["d"]), field("e", "f").negated()]),
        (r"a in (b\,c, d\)e, (f, g\=h, i\\)", vec![one_of("a", &["(f", "b,c", "d)e", "g=h", r"i\"])]),
        ("a in (in 30d, 7d ago)", vec![one_of("a", &["7d ago", "in 30d"])]),
        ("in in (in)", vec![one_of("in", &["in"])]),
        (r#"limits["a<b"] in (1)"#, vec![one_of(r#"limits["a<b"]"#, &["1"])]),
        // The first operator counts.
        ("a=b in (c", vec![field("a", "b in (c")]),
        // Quotes that belong to the value.
        (r#"a=it's,b=\"c\",d in (\'e\')"#, vec![field("a", "it's"), field("b", "\"c\""), one_of("d", &["'e'"])]),
        (r#"a=\“b\”,c=6\\\""#, vec![field("a", "“b”"), field("c", r#"6\""#)]),
    ] {
        assert_eq!(parse_field_selector(text), Ok(filters), "{text}");
    }
}

/// Requires that each of these field selectors is refused with its message.
fn are_refused(mistakes: &[(&str, &str)]) {
    for (text, said) in mistakes {
        let error = parse_field_selector(text).unwrap_err();
        assert_eq!(error.to_string(), format!("field selector {said}"));
    }
}

#[test]
fn a_quote_around_a_value_of_a_field_selector_is_refused() {
    are_refused(&[
        ("x='a'", "`x='a'`, character 3: `'a'` is in quotes, which belong to the value: write it without them, `a`"),
        ("x!=“a”", "`x!=“a”`, character 4: `“a”` is in quotes, which belong to the value: write it without them, `a`"),
        (r#"x="""#, r#"`x=""`, character 3: `""` is in quotes, which belong to the value: write it without them"#),
        (
            r#"x in (a, "b")"#,
            r#"`x in (a, "b")`, character 10: `"b"` is in quotes, which belong to the value: write it without them, `b`"#,
        ),
        (
            "phase notin ('Running, Pending')",
            r"`phase notin ('Running, Pending')`, character 14: `'Running` begins with a quote, but values are not quoted: leave it out, or write `\'` if it belongs to the value",
        ),
        (
            "x in (a, b”)",
            r"`x in (a, b”)`, character 10: `b”` ends with a quote, but values are not quoted: leave it out, or write `\”` if it belongs to the value",
        ),
        (
            "x='a,y=b",
            r"`x='a,y=b`, character 3: `'a` begins with a quote, but values are not quoted: leave it out, or write `\'` if it belongs to the value",
        ),
        (
            "x= 'a' ",
            "`x= 'a' `, character 3: `'a'` is in quotes, which belong to the value: write it without them, `a`",
        ),
        (
            r#"x="a\\""#,
            r#"`x="a\\"`, character 3: `"a\\"` is in quotes, which belong to the value: write it without them, `a\\`"#,
        ),
        (
            r#"x="a\""#,
            r#"`x="a\"`, character 3: `"a\"` begins with a quote, but values are not quoted: leave it out, or write `\"` if it belongs to the value"#,
        ),
    ]);
}

#[test]
fn a_malformed_field_selector_is_refused_with_its_place() {
    are_refused(&[
        (
            "x",
            "`x`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `x`",
        ),
        (
            "x=a,b",
            "`x=a,b`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `b`",
        ),
        (
            "x in a",
            "`x in a`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `x in a`",
        ),
        (
            "x NotIn(a, b)",
            "`x NotIn(a, b)`, character 10: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `x NotIn(a`; `NotIn` is written in lower case, `notin`",
        ),
        (
            "x NOT IN (a)",
            "`x NOT IN (a)`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `x NOT IN (a)`; `NOT IN` is written `notin`",
        ),
        ("x not in (a)", "`x not in (a)`, character 2: the name of a field has no spaces; `not in` is written `notin`"),
        (
            "x isin (a)",
            "`x isin (a)`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `x isin (a)`",
        ),
        ("x in (a", "`x in (a`, at its end: expected `)`"),
        (r"x in (a\)", r"`x in (a\)`, at its end: expected `)`"),
        ("x in (a) b", "`x in (a) b`, character 10: expected `,` or the end behind the list"),
        ("x in (a)(b),y=c", "`x in (a)(b),y=c`, character 9: expected `,` or the end behind the list"),
        (
            "x in ()",
            "`x in ()`, character 7: a list has no empty values: `field=` finds objects whose field is empty or has no value",
        ),
        (
            "x in (a, )",
            "`x in (a, )`, character 10: a list has no empty values: `field=` finds objects whose field is empty or has no value",
        ),
        ("x in (a=b)", r"`x in (a=b)`, character 8: a `=` in a value is written `\=`"),
        (r"x in (\a)", r"`x in (\a)`, character 7: expected `\,`, `\)`, `\=` or `\\`"),
        (r"x=\)", r"`x=\)`, character 3: expected `\,`, `\=` or `\\`"),
        (" in (a)", "` in (a)`, character 1: expected the name of a field"),
        ("a b in (c)", "`a b in (c)`, character 2: the name of a field has no spaces"),
        (
            "a=b, ",
            "`a=b, `, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind ` `",
        ),
        (
            "!x",
            "`!x`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `!x`",
        ),
        ("x=a||y=b", r"`x=a||y=b`, character 7: a `=` in a value is written `\=`"),
        ("x==a==b", r"`x==a==b`, character 5: a `=` in a value is written `\=`"),
        ("x===a", r"`x===a`, character 4: a `=` in a value is written `\=`"),
        ("x!==a", r"`x!==a`, character 4: a `=` in a value is written `\=`"),
        (r"k=\a\b\", r"`k=\a\b\`, character 3: expected `\,`, `\=` or `\\`"),
        (r"k=\", r"`k=\`, character 3: expected `\,`, `\=` or `\\`"),
        (r"k=\\\", r"`k=\\\`, character 5: expected `\,`, `\=` or `\\`"),
        ("=a", "`=a`, character 1: expected the name of a field"),
        ("a=b,!=c", "`a=b,!=c`, character 5: expected the name of a field"),
        ("a=b, c=d", "`a=b, c=d`, character 5: the name of a field has no spaces"),
        ("a =b", "`a =b`, character 2: the name of a field has no spaces"),
        ("a\0=b", "`a\\0=b`, character 2: the name of a field has no spaces"),
        ("<a", "`<a`, character 1: expected the name of a field"),
        ("a <b", "`a <b`, character 2: the name of a field has no spaces"),
        ("a<", "`a<`, at its end: expected a value after `<`"),
        ("a>=,b=c", "`a>=,b=c`, character 4: expected a value after `>=`"),
        ("a<==b", r"`a<==b`, character 4: a `=` in a value is written `\=`"),
        ("a=<=b", r"`a=<=b`, character 4: a `=` in a value is written `\=`"),
        (
            r#"limits["a<b""#,
            r#"`limits["a<b"`, at its end: expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `limits["a<b"`"#,
        ),
    ]);
}

#[test]
fn a_field_selector_for_the_api_server_has_the_grammar_of_kubernetes() {
    for (text, filters) in [
        (r#"a="b",c!='d'"#, vec![field("a", "\"b\""), field("c", "'d'").negated()]),
        (r"a=\,\=\\,b=“", vec![field("a", r",=\"), field("b", "“")]),
    ] {
        assert_eq!(parse_kubernetes_field_selector(text), Ok(filters), "{text}");
    }
    for (text, said) in [
        (r#"a=\"b"#, r"expected `\,`, `\=` or `\\`"),
        (r"a=\'b", r"expected `\,`, `\=` or `\\`"),
        ("a in ('b", "has no `in` and `notin` for fields: test `a` with `=`"),
        (r"a notin (\))", "has no `in` and `notin` for fields"),
        ("a<", "has no ranges: test `a` with"),
        ("a", "expected `=`, `==` or `!=` behind `a`"),
    ] {
        let error = parse_kubernetes_field_selector(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn ten_thousand_terms_are_read_in_one_pass() {
    // Quadratic work would take minutes: these texts are a megabyte each.
    let labels = "some.domain.example/some-key in (some-value,another),!another-key=".repeat(20_000);
    let said = parse_label_selector(&labels).unwrap_err().to_string();
    assert!(said.ends_with("expected `,` or the end, found `=`") && said.len() < 200, "{said}");
    let terms: Vec<String> = (0..50_000).map(|n| format!("key-{n} notin (a,b,{n})")).collect();
    assert_eq!(parse_label_selector(&terms.join(",")).unwrap().len(), 50_000);
    let values: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
    assert_eq!(parse_label_selector(&format!("x in ({})", values.join(","))).unwrap().len(), 1);
    assert_eq!(parse_field_selector(&r"spec.name=a\,b,".repeat(70_000)).unwrap().len(), 70_000);
    for hostile in ["(", "!", ",", "=", "\\", "in ", "a", "\0", "é", "[", "<", ">=", "a ", "a in (b", "a in ( ,"] {
        let text = hostile.repeat(1_000_000);
        assert!(parse_label_selector(&text).is_err(), "{hostile}");
        assert_eq!(parse_field_selector(&text).is_ok(), hostile == ",", "{hostile}");
    }
}

fn spaces() -> impl Strategy<Value = String> {
    "[ \t\r\n]{0,2}"
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "([a-z0-9]([-a-z0-9]{0,5}[a-z0-9])?(\\.[a-z0-9]{1,3}){0,2}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?",
        Just("in".to_owned()),
        Just("notin".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof!["([A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?)?", Just("in".to_owned()), Just("notin".to_owned())]
}

/// A requirement in any spelling, and its meaning.
fn requirement() -> impl Strategy<Value = (String, Filter)> {
    let one = (key(), spaces(), prop::sample::select(vec!["=", "==", "!="]), spaces(), value()).prop_map(
        |(key, before, operator, behind, value)| {
            let filter = is(&key, &value);
            let filter = if operator == "!=" { filter.negated() } else { filter };
            (format!("{key}{before}{operator}{behind}{value}"), filter)
        },
    );
    let some = (key(), any::<bool>(), spaces(), prop::collection::vec((spaces(), value(), spaces()), 1..4)).prop_map(
        |(key, within, before, values)| {
            let written: Vec<String> = values.iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
            let mut values: Vec<&str> = values.iter().map(|(_, value, _)| value.as_str()).collect();
            values.sort_unstable();
            values.dedup();
            let (operator, filter) =
                if within { ("in", is_in(&key, &values)) } else { ("notin", not_in(&key, &values)) };
            (format!("{key} {operator}{before}({})", written.join(",")), filter)
        },
    );
    let number = (key(), any::<bool>(), spaces(), 0..=i64::MAX).prop_map(|(key, greater, before, number)| {
        let (operator, filter) = if greater { ('>', above(&key, number)) } else { ('<', below(&key, number)) };
        (format!("{key}{before}{operator}{number}"), filter)
    });
    prop_oneof![
        one,
        some,
        number,
        key().prop_map(|key| (key.clone(), has(&key))),
        (spaces(), key()).prop_map(|(before, key)| (format!("!{before}{key}"), lacks(&key))),
    ]
}

proptest! {
    #[test]
    fn a_label_selector_that_was_written_is_read(
        requirements in prop::collection::vec((spaces(), requirement(), spaces()), 0..6),
    ) {
        let text: Vec<String> = requirements.iter().map(|(a, (text, _), b)| format!("{a}{text}{b}")).collect();
        let filters: Vec<Filter> = requirements.into_iter().map(|(_, (_, filter), _)| filter).collect();
        prop_assert_eq!(parse_label_selector(&text.join(",")), Ok(filters));
    }

    #[test]
    fn a_field_selector_that_was_written_is_read(
        comparisons in prop::collection::vec(("[a-zA-Z_.\u{c5}]{1,8}", 0..6_usize, ".{1,8}"), 0..6),
    ) {
        let text: Vec<String> = comparisons
            .iter()
            .map(|(name, operator, value)| {
                let value = value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
                let value = ['"', '\'', '“', '”', '‘', '’']
                    .iter()
                    .fold(value, |value, quote| value.replace(*quote, &format!("\\{quote}")));
                format!("{name}{}{value}", ["=", "!=", "<", "<=", ">", ">="][*operator])
            })
            .collect();
        let ranges: [fn(Value) -> Test; 4] =
            [Test::Less, Test::LessOrEqual, Test::Greater, Test::GreaterOrEqual];
        let filters: Vec<Filter> = comparisons
            .iter()
            .map(|(name, operator, value)| match operator {
                0 => field(name, value),
                1 => field(name, value).negated(),
                _ => Filter::field(name.clone(), ranges[operator - 2](Value::text(value.as_str()))),
            })
            .collect();
        prop_assert_eq!(parse_field_selector(&text.join(",")), Ok(filters));
    }

    #[test]
    fn any_text_is_a_selector_or_an_error_with_a_place(text in "[-a-c0-9!=<>(), \\\\\t\0é/.\\[\\]]{0,24}|(a|!|=|in|notin|\\(|\\)|,| |>|1){0,16}") {
        let place = |error: SelectorError| error.to_string().contains("character") || error.to_string().contains("at its end");
        prop_assert!(parse_label_selector(&text).map_or_else(place, |_| true));
        prop_assert!(parse_field_selector(&text).map_or_else(place, |_| true));
    }
}

#[test]
fn parameters_are_taken_out_of_a_selector() {
    let parse = |text| parse_label_selector_with_parameters(text, "example.com/");
    let (filters, parameters) =
        parse("a=b,example.com/after=2026-01-01T00:00:00Z,!c,example.com/state in (live,deleted),example.com/count")
            .unwrap();
    assert_eq!(filters, parse_label_selector("a=b,!c").unwrap());
    let named =
        |name: &str, values: &[&str]| (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect());
    assert_eq!(
        parameters,
        [named("after", &["2026-01-01T00:00:00Z"]), named("state", &["deleted", "live"]), named("count", &[])]
    );
    assert_eq!(
        parse("example.com/before=in 30d , example.com/after= 7d  ago,example.com/n in (a b, in)").unwrap().1,
        [named("before", &["in 30d"]), named("after", &["7d  ago"]), named("n", &["a b", "in"])]
    );
    assert!(parse("a=in 30d").is_err(), "a label's value is one word");
    assert_eq!(parse("example.com/order-by=-create_time").unwrap().1, [named("order-by", &["-create_time"])]);
    for negated in
        ["!example.com/count", "example.com/state!=live", "example.com/state notin (live)", "example.com/n>5"]
    {
        let error = parse(negated).unwrap_err().to_string();
        assert!(error.contains("is a parameter: write `example.com/"), "{error}");
    }
    assert!(parse("a=2026-01-01T00:00:00Z").is_err(), "other labels are labels");
}
