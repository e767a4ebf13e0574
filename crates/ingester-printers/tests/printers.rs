//! The output of kubectl. `kubectl/object.json` and `object.yaml` are the output of kubectl 1.33 for one object with every odd text, key and
//! number that came to mind (`kubectl label --local -f object.json a=b -o yaml`), and `kubectl/table.txt` its output for the answer
//! `kubectl/table.json`.

#![allow(clippy::expect_used, reason = "in a test a panic is how it fails")]

use ingester_printers::custom_columns::CustomColumns;
use ingester_printers::jsonpath::Template;
use ingester_printers::table::{Options, PrintedColumn, Row, TabWriter, TablePrinter};
use ingester_printers::{Tree, json, name, yaml};
use serde::Deserialize as _;

const JSON: &str = include_str!("kubectl/object.json");
const YAML: &str = include_str!("kubectl/object.yaml");

fn tree(text: &str) -> Tree {
    serde_json::from_str(text).expect("JSON")
}

/// Checks two texts line by line, so that a difference is found.
#[track_caller]
fn same(text: &str, expected: &str) {
    for (i, (line, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "line {}", i + 1);
    }
    assert_eq!(text, expected);
}

#[test]
fn json_is_that_of_kubectl() {
    same(&json::pretty(&tree(JSON)), &JSON.replace('\u{7f}', "\\u007f"));
}

#[test]
fn yaml_is_that_of_kubectl() {
    same(&yaml::document(&tree(JSON)), &YAML.replace("'\u{2028}'", "\"\\L\""));
}

#[test]
fn no_character_that_a_terminal_obeys_is_printed() {
    let obeyed: String = (0..0x3000).filter_map(char::from_u32).filter(|c| !matches!(c, ' '..='~')).collect();
    for text in [obeyed.clone(), format!("{obeyed}\n"), "a\u{202e}b".to_owned(), "a\n\u{202e}b".to_owned()] {
        let object = Tree::Map([(text.clone(), Tree::Text(text))].into());
        let yaml = yaml::document(&object);
        let json = json::pretty(&object);
        for printed in [&yaml, &json] {
            let raw = printed.chars().find(|c| {
                c.is_control() && *c != '\n' || matches!(c, '\u{200e}' | '\u{2028}'..='\u{202e}' | '\u{2066}')
            });
            assert_eq!(raw, None, "{printed}");
        }
        assert_eq!(tree(&json), object);
    }
    assert_eq!(yaml::document(&tree(r#"{"a": "b\u202ec"}"#)), "a: \"b\\u202Ec\"\n");
    assert_eq!(TabWriter::default().lines(&[vec!["a\u{202e}b\u{9b}c".to_owned()]]), "a b c\n");
}

#[test]
fn numbers_are_written_as_go_writes_them_and_integers_keep_their_digits() {
    let spec =
        r#"{"a":1.0,"b":1e3,"c":12345678901234567890,"d":1e21,"e":1.5e-7,"f":-0.0,"g":9007199254740993,"h":1234567.5}"#;
    let expected =
        r#"{"a":1,"b":1000,"c":12345678901234567890,"d":1e+21,"e":1.5e-7,"f":-0,"g":9007199254740993,"h":1234567.5}"#;
    assert_eq!(json::compact(&tree(spec)), expected);
    let expected =
        "a: 1\nb: 1000\nc: 12345678901234567890\nd: 1e+21\ne: 1.5e-07\nf: 0\ng: 9007199254740993\nh: 1.2345675e+06\n";
    assert_eq!(yaml::document(&tree(spec)), expected);
}

#[test]
fn a_last_text_with_several_ends_of_lines_needs_no_marker() {
    assert_eq!(yaml::document(&tree(r#"{"a":"b\n\n"}"#)), "a: |+\n  b\n\n");
}

#[test]
fn a_list_in_portions_is_the_list() {
    for count in 0..3 {
        let items: Vec<Tree> = (0..count).map(|_| tree(r#"{"kind":"M","spec":{"l":[1,{}],"t":"a: b"}}"#)).collect();
        let mut text = String::from(json::LIST_BEGIN);
        items.iter().enumerate().for_each(|(i, item)| text.push_str(&json::item(item, i == 0)));
        text.push_str(if items.is_empty() { json::EMPTY_LIST_END } else { json::LIST_END });
        assert_eq!(text, json::pretty(&Tree::list_of(items.clone())), "{count}");

        let mut text = String::from(if items.is_empty() { yaml::EMPTY_LIST_BEGIN } else { yaml::LIST_BEGIN });
        items.iter().for_each(|item| text.push_str(&yaml::item(item)));
        text.push_str(yaml::LIST_END);
        assert_eq!(text, yaml::document(&Tree::list_of(items)), "{count}");
    }
}

/// The printer's output for `kubectl/table.json`, its rows one by one or together.
fn table(options: Options, at_once: usize) -> String {
    let table: serde_json::Value = serde_json::from_str(include_str!("kubectl/table.json")).expect("JSON");
    let list = |key: &str| table[key].as_array().expect("a list");
    let column = |column: &serde_json::Value| PrintedColumn {
        name: column["name"].as_str().expect("a name").to_owned(),
        wide: column["priority"] != 0,
        is_name: column["format"] == "name",
    };
    fn row(row: &serde_json::Value) -> Row<'_> {
        let metadata = &row["object"]["metadata"];
        let labels = metadata["labels"].as_object().into_iter().flatten();
        Row {
            cells: Vec::deserialize(&row["cells"]).expect("cells"),
            namespace: metadata["namespace"].as_str().expect("a namespace"),
            labels: labels.map(|(key, value)| (key.as_str(), value.as_str().expect("a value"))).collect(),
        }
    }
    let mut printer = TablePrinter::new(list("columnDefinitions").iter().map(column).collect(), options);
    list("rows").chunks(at_once).map(|rows| printer.render_rows(rows.iter().map(row))).collect()
}

#[test]
fn tables_are_those_of_kubectl() {
    let shown = Options { headers: true, ..Options::default() };
    let printed = [
        ("-n ml", shown.clone()),
        ("-n ml -o wide", Options { wide: true, ..shown.clone() }),
        (
            "-A --show-labels -L a,a.b/c",
            Options {
                namespaces: true,
                show_labels: true,
                label_columns: ["a", "a.b/c"].map(str::to_owned).into(),
                ..shown.clone()
            },
        ),
        (
            "-n ml --show-kind --no-headers",
            Options { headers: false, kind: Some(name::prefix("Widget", "example.com")), ..shown },
        ),
    ];
    let printed = printed.map(|(flags, options)| format!("$ kubectl get widgets {flags}\n{}", table(options, 4)));
    same(&printed.concat(), include_str!("kubectl/table.txt"));
}

#[test]
fn a_table_in_portions_has_its_headers_once() {
    let options = Options { headers: true, ..Options::default() };
    let whole = table(options.clone(), 4);
    let portions = table(options.clone(), 2);
    assert_eq!((whole.lines().count(), portions.lines().count()), (5, 5));
    assert_eq!(portions.lines().filter(|line| line.starts_with("NAME")).count(), 1, "{portions}");
    assert_eq!(TablePrinter::new(Vec::new(), options).render_rows([]), "", "without rows there are no headers");
}

/// The output of a template, or the error.
fn printed(template: &str, value: &str) -> Result<String, String> {
    let print = || Template::parse(template)?.print(&tree(value));
    print().map_err(|error| error.to_string())
}

/// Kubernetes' documentation of JSONPath, and its tests.
#[test]
fn templates_print_what_kubectl_prints() {
    const NODES: &str = r#"{
        "kind": "List",
        "items": [
            {"kind": "None", "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "127.0.0.1"}},
             "status": {"capacity": {"cpu": "4"}, "ready": true, "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.1"}]}},
            {"kind": "None", "metadata": {"name": "127.0.0.2", "labels": {"kubernetes.io/hostname": "127.0.0.2"}},
             "status": {"capacity": {"cpu": "8"}, "ready": false, "addresses": [
                {"type": "LegacyHostIP", "address": "127.0.0.2"}, {"type": "another", "address": "127.0.0.3"}]}}
        ],
        "users": [{"name": "myself", "user": {}}, {"name": "e2e", "user": {"username": "admin", "password": "secret"}}]
    }"#;
    for (template, expected) in [
        ("kind is {.kind}", "kind is List"),
        ("{.kind}", "List"),
        ("{['kind']}", "List"),
        (r"{.items[0].metadata.labels.kubernetes\.io/hostname}", "127.0.0.1"),
        (r"{.items[0].metadata.labels['kubernetes\.io/hostname']}", "127.0.0.1"),
        ("{..name}", "127.0.0.1 127.0.0.2 myself e2e"),
        ("{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"),
        ("{.users[0].name}", "myself"),
        ("{.items[*]['metadata.name', 'status.capacity']}", r#"127.0.0.1 127.0.0.2 {"cpu":"4"} {"cpu":"8"}"#),
        (r#"{.users[?(@.name=="e2e")].user.password}"#, "secret"),
        (
            r#"{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}"#,
            r#"[127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] "#,
        ),
        (r#"{range .items[*]}{.metadata.name}{"\t"}{end}"#, "127.0.0.1\t127.0.0.2\t"),
        ("{range .items[*]}{.metadata.name}, {end}{.kind}", "127.0.0.1, 127.0.0.2, List"),
        ("{.items[*].status.addresses[*].address}", "127.0.0.1 127.0.0.2 127.0.0.3"),
        ("{range .items[*]}{range .status.addresses[*]}{.address}, {end}{end}", "127.0.0.1, 127.0.0.2, 127.0.0.3, "),
        (r#"{.items[?(@.metadata.labels.kubernetes\.io/hostname=="127.0.0.1")].kind}"#, "None"),
        ("{.items[?(@..ready==true)].metadata.name}", "127.0.0.1"),
        ("{.items[?(.status.ready!=true)].metadata.name}", "127.0.0.2"),
        ("{.nothing}-{.items[*].nothing.at.all}-", "--"),
        ("{.items[-1].metadata.name} {.items[:1].metadata.name} {.items[9:9].kind}", "127.0.0.2 127.0.0.1 "),
        ("{range .items[?(.nothing)]}{.kind}{end}{range .none[*]}{.x}{range @.y[*]}{.z}{end}{end}.", "."),
        (r#"{"{"}{'}'}{"a\u0041\x42\"'"}"#, "{}aAB\"'"),
    ] {
        assert_eq!(printed(template, NODES).as_deref(), Ok(expected), "{template}");
    }

    const POINTS: &str =
        r#"[{"id":"i1","x":4},{"id":"i2","x":-2,"z":1},{"id":"i5","x":0,"z":1},{"id":"i7","x":null,"f":1.5}]"#;
    for (template, expected) in [
        ("{[?(@.z)].id}", "i2 i5"),
        ("{[0]['id']}", "i1"),
        ("{[-1]['x']}", "null"),
        ("{[0,2].id}", "i1 i5"),
        ("{[0:-1].id}", "i1 i2 i5"),
        ("{[::2].id}", "i1 i5"),
        ("{[1::2].id}", "i2 i7"),
        ("{[-2:].id}", "i5 i7"),
        ("{[?(@.id>='i5')].id}", "i5 i7"),
        ("{[1].*}", "i2 -2 1"),
        ("{[?(@.f>1.25)]}", r#"{"f":1.5,"id":"i7","x":null}"#),
    ] {
        assert_eq!(printed(template, POINTS).as_deref(), Ok(expected), "{template}");
    }
    assert_eq!(printed("{..}", "[1,2,3]").as_deref(), Ok("[1,2,3]"));
    assert_eq!(printed("{[?(@<5)]}", "[2,6,3,7]").as_deref(), Ok("2 3"));
    assert_eq!(
        printed("{.}{@.*}{}", r#"{"a":{"<":1e6}}"#).as_deref(),
        Ok(r#"{"\u003c":1000000}{"a":{"\u003c":1000000}}"#)
    );
    let nested = r#"{"items":[{"n":"pod1","c":[{"n":"foo","v":["a","b"]},{"n":"bar","v":["c"]}]},{"n":"pod2","c":[{"n":"baz","v":[]}]}]}"#;
    let template =
        r##"{range .items[*]}{.n}{"~"}{range @.c[*]}{.n}{":"}{range @.v[*]}{@}{","}{end}{"+"}{end}{"#"}{end}"##;
    assert_eq!(printed(template, nested).as_deref(), Ok("pod1~foo:a,b,+bar:c,+#pod2~baz:+#"));
}

/// The output of `kubectl label --local -o jsonpath=...` of kubectl 1.36.
#[test]
fn nulls_and_empty_expressions_print_what_kubectl_prints() {
    const VALUE: &str =
        r#"{"n":null,"l":[null,1,"a"],"m":{"a":null,"b":"c"},"e":[],"o":[{"v":null,"k":"1"},{"v":"x","k":"2"}]}"#;
    for (template, expected) in [
        ("{.n}", "null"),
        ("{.l}", r#"[null,1,"a"]"#),
        ("{.l[*]}", "null 1 a"),
        ("{.m.*}", "null c"),
        ("{.o[*].v}", "null x"),
        ("{range .o[*]}{.k}={.v};{end}", "1=null;2=x;"),
        ("{.o[?(@.v)].k}", "1 2"),
        ("{..v}", "null x"),
        ("{.l..}", r#"[null,1,"a"] a"#),
        ("{.n.x}{.n[0]}{.n[*]}{.n.*}{.n..}{.none}{.none[?(@.x)]}", ""),
        ("{range .n}x{end}{range .n[*]}y{end}{range .e[*]}z{end}", "x"),
        // A null that a range goes through is no value of Go.
        ("{range .l[*]}[{@}]{end}", "[<no value>][1][a]"),
        ("{range .l[*]}[{$}{}]{end}", "[<no value><no value>][11][aa]"),
        ("{range .n}[{@}{.x}{.}]{end}", "[<no value>]"),
        ("{.e}{.e[*]}{['n','e']}", "[]null []"),
        ("", ""),
        (" ", " "),
        (".n", ".n"),
        ("{\"\"}{''}", ""),
    ] {
        assert_eq!(printed(template, VALUE).as_deref(), Ok(expected), "{template}");
    }
    let whole = printed("{@}", VALUE).unwrap();
    assert!(whole.starts_with(r#"{"e":[],"l":[null,1,"a"]"#), "{whole}");
    for same in ["{}", "{ }", "{$}"] {
        assert_eq!(printed(same, VALUE).as_ref(), Ok(&whole), "{same}");
    }
}

#[test]
fn wrong_templates_are_refused_as_kubectl_does() {
    const VALUE: &str = r#"{"labels":{"a":1},"books":[{"price":9},{"price":"x"}]}"#;
    for (template, expected) in [
        ("{.hello", "unclosed action"),
        ("{*}", "unrecognized character in action: U+002A '*'"),
        ("{+12.3.0}", "cannot parse number +12.3.0"),
        ("{[1}", "unterminated array"),
        ("{[a]}", "invalid array index a"),
        ("{[?(.price]}", "unterminated filter"),
        ("{[?(.price)}", "unclosed array expect ]"),
        ("{........}", "invalid multiple recursive descent"),
        ("{\"a}", "unterminated quoted string"),
        ("{hello}", "unrecognized identifier hello"),
        ("{.labels[0]}", "map[string]interface {} is not array or slice"),
        ("{.books[2].price}", "array index out of bounds: index 2, length 2"),
        ("{.books[-3].price}", "array index out of bounds: index -1, length 2"),
        ("{.books[1:0].price}", "starting index 1 is greater than ending index 0"),
        ("{.books[0:2:0]}", "step must be > 0"),
        ("{.books[?(@.price<>10)]}", "unrecognized filter operator <>"),
        ("{.books[?(@.price<10)]}", "incompatible types for comparison"),
        ("{.labels[?(@.a==1)]}", "map[a:1] is not array or slice and cannot be filtered"),
        ("{range .labels.*}{@}{end}{end}", "not in range, nothing to end"),
    ] {
        assert_eq!(printed(template, VALUE), Err(expected.to_owned()), "{template}");
    }
}

#[test]
fn a_template_by_item_prints_what_it_prints_for_the_list() {
    const ITEMS: [&str; 3] =
        [r#"{"n":"a","o":{"p":1},"l":[1,2]}"#, r#"{"n":"b","l":[]}"#, r#"{"n":"c","o":{"p":""},"l":[3]}"#];
    let items: Vec<Tree> = ITEMS.map(tree).into();
    let list = Tree::list_of(items.clone());
    for (text, by_item) in [
        ("{.items[*].n}", true),
        ("{.items[*].o.p}", true),
        ("{.items[*].none}", true),
        ("{.items[*]}", true),
        (r#"{range .items[*]}{.n}{"\t"}{.o.p}{"\n"}{end}"#, true),
        ("{range .items[*]}{.l[*]},{end}", true),
        ("{range .items[*]}{range .l[*]}{@}{end};{end}", false),
        ("{.items[0].n}", false),
        ("{.items[*].l[*]}", false),
        ("{.items[*].n} {.items[*].n}", false),
        ("{range .items[*]}{.n}{end}{.kind}", false),
    ] {
        let template = Template::parse(text).expect(text);
        let Some(single) = template.by_item() else {
            assert!(!by_item, "{text}");
            continue;
        };
        assert!(by_item, "{text}");
        let texts: Vec<String> = items.iter().filter_map(|item| single.print(item).expect(text)).collect();
        assert_eq!(texts.join(single.separator), template.print(&list).expect(text), "{text}");
    }
}

#[test]
fn a_text_of_several_lines_is_printed_whole_in_custom_columns() {
    const OBJECT: &str = r#"{"n":"a","nl":"two\nlines","tab":"a\tb","ff":"a\fb","vt":"a\u000bb","cr":"a\rb","esc":"\u001b[31mred","f":1,"kind":"M"}"#;
    // The output of kubectl 1.32 for such an object.
    for (columns, expected) in [
        ("N:.n,X:.nl,Z:.f,L:.kind", "N       X     Z     L\na       two\nlines   1     M\n"),
        ("N:.n,X:.tab,Z:.f,LAST:.kind", "N     X     Z     LAST\na     a     b     1     M\n"),
        ("N:.n,X:.ff,Z:.vt,L:.kind", "N     X     Z     L\na     a\nb     a     b     M\n"),
        ("N:.n,X:.cr,Z:.esc,L:.kind", "N     X      Z           L\na     a\\rb   ^[[31mred   M\n"),
    ] {
        let columns = CustomColumns::parse(columns).expect("columns");
        let mut lines = vec![columns.headers()];
        lines.extend(columns.lines(&tree(OBJECT)).expect("lines"));
        assert_eq!(TabWriter::default().lines(&lines), expected);
    }
}

#[test]
fn each_expression_is_an_array_of_its_own_as_json() {
    const VALUE: &str = r#"{"kind":"M","l":[{"a":1},{"a":2}]}"#;
    let one = |value: &str| format!("[\n    {value}\n]\n");
    for (template, expected) in [
        ("{.l[*].a}", "[\n    1,\n    2\n]\n".to_owned()),
        ("{range .l[*]}{.a}{end}", one("1") + &one("2")),
        (r#"{range .l[*]}{.a}{"x"}{end}"#, [one("1"), one("\"x\""), one("2"), one("\"x\"")].concat()),
        ("x{.kind}", one("\"x\"") + &one("\"M\"")),
        ("{range .l[*]}{.b}{end}{.kind}", "[]\n[]\n".to_owned() + &one("\"M\"")),
        ("{.none}", "[]\n".to_owned()),
        ("{range .none[*]}{.a}{end}", String::new()),
    ] {
        let template = Template::parse(template).expect(template);
        assert_eq!(template.print_as_json(&tree(VALUE)).expect("JSON"), expected);
    }
}

#[test]
fn custom_columns_are_read_and_filled_as_kubectl_does() {
    let columns =
        CustomColumns::parse("NAME:.metadata.name,L:{metadata.l},X:spec.x,N:.n,ALL:.spec.list[*]").expect("columns");
    assert_eq!(columns.headers(), ["NAME", "L", "X", "N", "ALL"]);
    let object = r#"{"metadata":{"name":"a","l":{"b":[1,"c"]}},"spec":{"list":[1.5,null,"z"]},"n":null}"#;
    let lines = columns.lines(&tree(object)).expect("lines");
    assert_eq!(lines, [["a", "map[b:[1 c]]", "<none>", "<nil>", "1.5,<nil>,z"]]);

    for wrong in
        ["", "invalid", "invalid=foobar", "invalid,foobar:blah", "A:{foo.bar", "A:foo.bar}", "A:{foo.bar}}", "A:{{foo}"]
    {
        assert!(CustomColumns::parse(wrong).is_err(), "{wrong}");
    }
}
