//! Tests of the named database and of the decision to mirror.

use super::{environment, parse, parse_with};
use crate::config::{Config, Gate, Mysql, Secret};
use ingester_sql::dialect::Dialect;
use ingester_store::PasswordCommand;

const ENABLED: &str = "metadataStorage: {enableMetadataStorage: true}\n";

/// Returns the address of an open gate, as it is printed.
#[track_caller]
fn address(text: &str, variables: &[(&str, &str)]) -> String {
    match parse_with(text, variables).unwrap().gate().unwrap() {
        Gate::Open(address) => address.to_string(),
        closed => panic!("{closed:?}"),
    }
}

#[track_caller]
fn mistake(text: &str, variables: &[(&str, &str)]) -> String {
    parse_with(text, variables).expect_err(text).to_string()
}

#[test]
fn the_gate_stays_closed_without_enabled_storage_and_a_database() {
    assert!(matches!(Config::default().gate(), Ok(Gate::Disabled)));
    let disabled = parse_with("mysql: {host: h, database: d}", &[("DATABASE_URL", "mysql://u@h/d")]).unwrap();
    assert!(matches!(disabled.gate(), Ok(Gate::Disabled)));
    // As in files of the reference system, half an address is no mistake while it is not used.
    assert!(matches!(parse("mysql: {host: h}").unwrap().gate(), Ok(Gate::Disabled)));
    for text in [ENABLED.to_owned(), format!("{ENABLED}mysql: {{user: u, password: p, port: 1}}")] {
        assert!(matches!(parse(&text).unwrap().gate(), Ok(Gate::NoDatabase)), "{text}");
    }
    assert_eq!(address(&format!("{ENABLED}mysql: {{host: h, database: d}}"), &[]), "mysql://root@h:3306/d");
}

#[test]
fn the_environment_overrides_the_file_and_a_url_its_parts() {
    let both = "
metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://file.db'}
mysql: {host: file, port: 3307, user: file, password: file, database: file}
";
    let parts = both.replace(", databaseURL: 'sqlite://file.db'", "");
    let (host, database, url) =
        (("MYSQL_HOST", "env"), ("MYSQL_DB_NAME", "env"), ("DATABASE_URL", "mysql://env@url/d"));
    assert_eq!(address(both, &[host, database, url]), "mysql://env@url/d");
    assert_eq!(address(both, &[host]), "mysql://file:***@env:3307/file");
    assert_eq!(address(both, &[database]), "mysql://file:***@file:3307/env");
    assert_eq!(address(both, &[("MYSQL_USER", "env"), ("MYSQL_PORT", "3308")]), "sqlite://file.db");
    assert_eq!(address(both, &[]), "sqlite://file.db");
    assert_eq!(address(&parts, &[("MYSQL_USER", "env"), ("MYSQL_PORT", "3308")]), "mysql://env:***@file:3308/file");
    assert_eq!(address(&parts, &[]), "mysql://file:***@file:3307/file");
    assert_eq!(address(ENABLED, &[host, database, ("MYSQL_PASSWORD", "p")]), "mysql://root:***@env:3306/env");
    // An empty value counts as not set.
    assert_eq!(address(both, &[("DATABASE_URL", ""), ("MYSQL_HOST", ""), ("MYSQL_DB_NAME", "")]), "sqlite://file.db");
    assert_eq!(address(&parts, &[("MYSQL_USER", ""), ("MYSQL_PORT", "")]), "mysql://file:***@file:3307/file");
    let config = parse_with(both, &[("MYSQL_PASSWORD", "env")]).unwrap();
    assert_eq!(config.mysql.password.unwrap().reveal(), "env");
}

#[test]
fn a_half_named_database_is_reported_with_the_missing_key() {
    let host = format!("{ENABLED}mysql: {{host: h}}");
    let database = format!("{ENABLED}mysql: {{database: d}}");
    assert!(mistake(&host, &[]).contains("set `mysql.database` or MYSQL_DB_NAME"));
    assert!(mistake(&database, &[]).contains("set `mysql.host` or MYSQL_HOST"));
    assert!(mistake(ENABLED, &[("MYSQL_HOST", "h")]).contains("`mysql.host` is `h`"));
    assert_eq!(address(&host, &[("MYSQL_DB_NAME", "d")]), "mysql://root@h:3306/d");
    // Several servers, one of which takes the writes.
    let several = format!("{ENABLED}mysql: {{host: 'a, b:3307,[::1]:3308', database: d, port: 3309}}");
    assert_eq!(address(&several, &[]), "mysql://root@a:3309,b:3307,[::1]:3308/d");
    assert_eq!(address(&several, &[("MYSQL_HOST", "x,y")]), "mysql://root@x:3309,y:3309/d");
    for (mistaken, part) in
        [("a,,b", "one is empty"), ("a,b:port", "`b:port` is not a host with a port"), ("a,b/c", "a URL belongs into")]
    {
        let text = format!("{ENABLED}mysql: {{host: '{mistaken}', database: d}}");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_mysql_port_that_kubernetes_set_for_a_service_is_ignored() {
    let mysql = format!("{ENABLED}mysql: {{host: mysql, database: d}}");
    assert_eq!(address(&mysql, &[("MYSQL_PORT", "tcp://10.0.0.1:3306")]), "mysql://root@mysql:3306/d");
    for port in ["0", "65536", "x", "-1"] {
        let expected = format!("MYSQL_PORT is `{port}`; use a number from 1 to 65535");
        assert_eq!(mistake(&mysql, &[("MYSQL_PORT", port)]), expected);
    }
}

#[test]
fn commands_without_a_configuration_use_only_the_environment() {
    let ask = |variables: &[(&str, &str)]| environment(variables).address();
    assert!(ask(&[]).unwrap().is_none());
    let host = ("MYSQL_HOST", "h");
    let database = ("MYSQL_DB_NAME", "d");
    assert_eq!(ask(&[host, database]).unwrap().unwrap().to_string(), "mysql://root@h:3306/d");
    assert_eq!(ask(&[host, ("DATABASE_URL", "sqlite://a.db")]).unwrap().unwrap().dialect(), Dialect::Sqlite);
    assert!(ask(&[host]).unwrap_err().to_string().contains("MYSQL_HOST is set and MYSQL_DB_NAME is not"));
    assert!(ask(&[database]).unwrap_err().to_string().contains("MYSQL_DB_NAME is set and MYSQL_HOST is not"));
    assert!(ask(&[("DATABASE_URL", "sqlite://")]).unwrap_err().to_string().contains("names no file"));
    // Variables of a database's own clients override neither ours nor a file.
    let clients = [("PGHOST", "h"), ("PGDATABASE", "d")];
    assert_eq!(environment(&clients).named_for_clients(), Some(("PGHOST", "postgresql:///")));
    let both = environment(&[host, database, clients[0], clients[1]]);
    assert_eq!((both.named_for_clients(), both.named_by()), (None, Some("MYSQL_HOST and MYSQL_DB_NAME")));
    assert_eq!(both.address().unwrap().unwrap().to_string(), "mysql://root@h:3306/d");
    let file = "metadataStorage: {enableMetadataStorage: true, databaseURL: 'sqlite://file.db'}";
    let Gate::Open(of_file) = parse_with(file, &clients).unwrap().gate().unwrap() else { panic!("a closed gate") };
    assert_eq!(of_file.to_string(), "sqlite://file.db");
}

#[test]
fn the_environment_alone_names_a_database_or_says_what_is_missing() {
    let ask = |variables: &[(&str, &str)]| Config::of_environment(&environment(variables));
    let address = |variables: &[(&str, &str)]| match ask(variables).unwrap().gate().unwrap() {
        Gate::Open(address) => address.to_string(),
        closed => panic!("{closed:?}"),
    };
    let mysql = [
        ("MYSQL_HOST", "h"),
        ("MYSQL_DB_NAME", "d"),
        ("MYSQL_USER", "u"),
        ("MYSQL_PASSWORD", "p"),
        ("MYSQL_PORT", "3307"),
    ];
    assert_eq!(address(&mysql), "mysql://u:***@h:3307/d");
    assert_eq!(address(&mysql[..2]), "mysql://root@h:3306/d");
    assert_eq!(address(&[mysql[0], mysql[1], ("DATABASE_URL", "mysql://a@b/c")]), "mysql://a@b/c");
    for (variables, part) in [
        (&[][..], "no database is named: use --config, --database-url, or MYSQL_HOST and MYSQL_DB_NAME"),
        (&mysql[..1], "MYSQL_HOST is set and MYSQL_DB_NAME is not"),
        (&mysql[1..], "MYSQL_DB_NAME is set and MYSQL_HOST is not"),
        (&mysql[2..4], "MYSQL_USER and MYSQL_PASSWORD are set, but neither MYSQL_HOST nor MYSQL_DB_NAME is"),
        (&[mysql[0], mysql[1], ("MYSQL_PORT", "many")], "MYSQL_PORT is `many`"),
    ] {
        let error = ask(variables).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_user_without_a_host_is_a_mistake_that_names_the_variables() {
    let ask = |variables: &[(&str, &str)]| environment(variables).address().unwrap_err().to_string();
    assert_eq!(
        ask(&[("MYSQL_USER", "u"), ("MYSQL_PASSWORD", "hunter2")]),
        "MYSQL_USER and MYSQL_PASSWORD are set, but neither MYSQL_HOST nor MYSQL_DB_NAME is: set both, or name the database \
         with --database-url or --config"
    );
    for alone in ["MYSQL_PORT", "MYSQL_USER", "MYSQL_PASSWORD", "MYSQL_PASSWORD_FILE"] {
        assert!(ask(&[(alone, "1")]).starts_with(&format!("{alone} is set, but neither MYSQL_HOST")), "{alone}");
    }
    // The variable of a Service called `mysql` does not count.
    assert!(environment(&[("MYSQL_PORT", "tcp://10.0.0.1:3306")]).address().unwrap().is_none());
    // A file may name the rest.
    assert_eq!(
        address(&format!("{ENABLED}mysql: {{host: h, database: d}}"), &[("MYSQL_USER", "u")]),
        "mysql://u@h:3306/d"
    );
}

#[test]
fn a_passwords_file_is_read_without_the_newline_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let read = |content: &[u8]| Secret::read(file("password", content).as_ref());
    for (content, password) in
        [("hunter2", "hunter2"), ("hunter2\n", "hunter2"), ("hunter2\r\n", "hunter2"), (" a b \n\n", " a b \n")]
    {
        assert_eq!(read(content.as_bytes()).unwrap().reveal(), password);
    }
    for (content, part) in [
        (b"".as_slice(), "is empty"),
        (b"\n", "is empty"),
        (b"hunter2\xff", "is not UTF-8"),
        (&[b'x'; 5000], "has more than 4096 bytes"),
    ] {
        let error = read(content).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("/password") && !error.contains("hunter2"), "{error}");
    }
    for password in ["none/hunter2", "hunter2", "hunter2\0", &"hunter2".repeat(100)] {
        let absent = Secret::read(password.as_ref()).unwrap_err().to_string();
        assert!(absent.starts_with("the password file that --password-file, MYSQL"), "{absent}");
        assert!(!absent.contains("hunter2"), "{absent}");
    }

    let named = file("of-the-file", b"hunter2\n");
    let text = format!("{ENABLED}mysql: {{host: h, database: d, passwordFile: {named}}}");
    assert_eq!(address(&text, &[]), "mysql://root:***@h:3306/d");
    let host = ("MYSQL_HOST", "h");
    let database = ("MYSQL_DB_NAME", "d");
    let by_variable = environment(&[host, database, ("MYSQL_PASSWORD_FILE", &named)]).address().unwrap().unwrap();
    assert_eq!(by_variable.to_string(), "mysql://root:***@h:3306/d");
    // Whichever variable is set replaces both keys.
    assert_eq!(address(&text.replace(&named, "none"), &[("MYSQL_PASSWORD", "p")]), "mysql://root:***@h:3306/d");
    let text = text.replace("passwordFile", "password");
    assert_eq!(address(&text, &[("MYSQL_PASSWORD_FILE", &named)]), "mysql://root:***@h:3306/d");
    // Two sources of the password are one too many.
    let both = format!("{ENABLED}mysql: {{host: h, database: d, password: p, passwordFile: {named}}}");
    assert!(mistake(&both, &[]).contains("`mysql.password` and `mysql.passwordFile` are both set"));
    let error = mistake(ENABLED, &[("MYSQL_PASSWORD", "p"), ("MYSQL_PASSWORD_FILE", &named)]);
    assert!(error.contains("MYSQL_PASSWORD and MYSQL_PASSWORD_FILE are both set"), "{error}");
}

#[test]
fn the_password_of_a_url_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "hunter2\n").unwrap();
    let file = file.display().to_string();
    let url = "postgres://u@h:1/d";
    let text = format!(
        "{}\n",
        ENABLED.trim_end().replace("true", &format!("true, databaseURL: '{url}', passwordFile: {file}"))
    );
    let shown = "postgres://u:***@h:1/d";
    assert_eq!(address(&text, &[]), shown);
    let [by_url, by_file] = [("DATABASE_URL", url), ("DATABASE_PASSWORD_FILE", file.as_str())];
    assert_eq!(address(ENABLED, &[by_url, by_file]), shown);
    assert_eq!(environment(&[by_url, by_file]).address().unwrap().unwrap().to_string(), shown);
    // Another database has a different password.
    assert_eq!(address(&text, &[("DATABASE_URL", "postgres://u@other:1/d")]), "postgres://u@other:1/d");
    let mysql = [("MYSQL_HOST", "h"), ("MYSQL_DB_NAME", "d")];
    assert_eq!(address(&text, &mysql), "mysql://root@h:3306/d");
    // Two mistakes: a password in the URL as well, and a file without a URL.
    assert!(mistake(ENABLED, &[("DATABASE_URL", "mysql://u:p@h/d"), by_file]).contains("has one already"));
    assert!(mistake(ENABLED, &[by_file]).contains("DATABASE_PASSWORD_FILE is set, but no URL"));
    assert!(mistake(ENABLED, &[mysql[0], mysql[1], by_file]).contains("DATABASE_PASSWORD_FILE is set, but no URL"));
    let error = environment(&[by_file]).address().unwrap_err().to_string();
    assert!(error.contains("DATABASE_PASSWORD_FILE is set, but not DATABASE_URL"), "{error}");
}

#[test]
fn a_command_may_print_the_password() {
    let host = "host: h, database: d";
    let url = "postgres://u@h:1/d";
    let mysql = |more: &str| format!("{ENABLED}mysql: {{{host}, {more}}}");
    let storage = |more: &str| {
        let line = ENABLED.trim_end();
        format!("{}\n", line.replace("true", &format!("true, databaseURL: '{url}', {more}")))
    };
    let read = parse("mysql: {passwordCommand: {command: aws, args: [rds, '1', rds], env: {REGION: eu-1}}}").unwrap();
    let expected = PasswordCommand {
        command: "aws".into(),
        args: ["rds", "1", "rds"].map(str::to_owned).into(),
        env: [("REGION".to_owned(), "eu-1".to_owned())].into(),
    };
    assert_eq!(read.mysql.password_command, expected);
    let read = parse("metadataStorage: {passwordCommand: {command: token, args: [a]}}").unwrap();
    assert_eq!(
        (read.metadata_storage.password_command.args.len(), &*read.metadata_storage.password_command.command),
        (1, "token")
    );
    // The command is not run before something connects.
    let command = "passwordCommand: {command: no/such/command, args: [hunter2, hunter2], env: {A: hunter2}}";
    assert_eq!(address(&mysql(command), &[]), "mysql://root:***@h:3306/d");
    assert_eq!(address(&storage(command), &[]), "postgres://u:***@h:1/d");
    // Another password, or another database, takes the place of the command.
    assert_eq!(address(&mysql(command), &[("MYSQL_PASSWORD", "p")]), "mysql://root:***@h:3306/d");
    assert_eq!(address(&storage(command), &[("DATABASE_URL", "postgres://u@other:1/d")]), "postgres://u@other:1/d");
    for (text, part) in [
        (mysql(&format!("password: p, {command}")), "`mysql.password` and `mysql.passwordCommand` are both set"),
        (mysql("passwordCommand: {args: [a]}"), "`mysql.passwordCommand` has `args` or `env`, but no `command`"),
        (storage(command).replace("//u@", "//u:p@"), "has one already"),
        (
            storage(command).replace(&format!("databaseURL: '{url}', "), ""),
            "`metadataStorage.passwordCommand` is set, but no URL",
        ),
        (mysql("passwordCommand: {command: a, env: {A=B: hunter2}}"), "use the name of an environment variable"),
        (mysql("passwordCommand: a"), "mysql.passwordCommand"),
    ] {
        let error = mistake(&text, &[]);
        assert!(error.contains(part) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn contradictory_tls_settings_are_a_mistake() {
    for (tls, part) in [
        ("cert: /a", "`mysql.tls.cert` is set without `mysql.tls.key`"),
        ("key: /a", "`mysql.tls.key` is set without `mysql.tls.cert`"),
        ("mode: disabled, cert: /a, key: /b", "`mysql.tls.mode` is disabled"),
        ("ca: /a", "`mysql.tls.mode` does not verify the server"),
        ("mode: required, ca: /a", "use verify-ca or verify-identity"),
    ] {
        // The mistake is found even if the value is not used, and even without a file.
        for text in [format!("mysql: {{tls: {{{tls}}}}}"), format!("{ENABLED}mysql: {{tls: {{{tls}}}}}")] {
            assert!(mistake(&text, &[]).contains(part), "{text}");
        }
    }
    let half = Mysql { host: Some("h".into()), database: Some("d".into()), ..Mysql::default() };
    let tls = ingester_store::Tls { key: Some("/a".into()), ..ingester_store::Tls::default() };
    let error = Mysql { tls, ..half }.address().unwrap_err().to_string();
    assert!(error.contains("without `mysql.tls.cert`"), "{error}");
    // The system's certificates can verify the server, too.
    for tls in ["mode: verify-ca", "mode: verify-identity, ca: /a", "cert: /a, key: /b", "mode: Required"] {
        parse(&format!("{ENABLED}mysql: {{host: h, database: d, tls: {{{tls}}}}}")).expect(tls);
    }
}
