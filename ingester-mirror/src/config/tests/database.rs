//! Which database is named, and whether to mirror.

use super::{environment, parse, parse_with};
use crate::config::{Config, Gate, Mysql};
use ingester_core::dialect::Dialect;

const ENABLED: &str = "metadataStorage: {enableMetadataStorage: true}\n";

/// The address of an open gate, as it is printed.
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
    // As in files of the reference system: half an address is not a mistake while it is not used.
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
    // A port and a user name no database.
    assert!(ask(&[("MYSQL_PORT", "x"), ("MYSQL_USER", "u")]).unwrap().is_none());
    let (host, database) = (("MYSQL_HOST", "h"), ("MYSQL_DB_NAME", "d"));
    assert_eq!(ask(&[host, database]).unwrap().unwrap().to_string(), "mysql://root@h:3306/d");
    assert_eq!(ask(&[host, ("DATABASE_URL", "sqlite://a.db")]).unwrap().unwrap().dialect(), Dialect::Sqlite);
    assert!(ask(&[host]).unwrap_err().to_string().contains("MYSQL_HOST is set and MYSQL_DB_NAME is not"));
    assert!(ask(&[database]).unwrap_err().to_string().contains("MYSQL_DB_NAME is set and MYSQL_HOST is not"));
    assert!(ask(&[("DATABASE_URL", "sqlite://")]).unwrap_err().to_string().contains("names no file"));
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
        // Found whether or not it is used, and in a configuration that is not from a file.
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
