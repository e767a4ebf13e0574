//! No message contains a password, wherever it is in the file and whatever is wrong around it.

use super::{environment, parse, parse_with};
use crate::config::{Config, Gate};

const PASSWORD: &str = "hunter2";

#[track_caller]
fn hidden(text: &str) {
    match parse(text) {
        Err(error) => {
            assert!(!error.to_string().contains(PASSWORD), "{error}");
            assert!(!format!("{error:?}").contains(PASSWORD), "{error:?}");
        }
        Ok(config) => assert!(!format!("{config:?}{:?}", config.gate()).contains(PASSWORD), "{config:?}"),
    }
}

#[test]
fn the_debug_output_of_a_configuration_hides_passwords() {
    let text = "
metadataStorage: {enableMetadataStorage: true, databaseURL: 'mysql://u:hunter2@h/d'}
mysql: {host: h, database: d, password: hunter2}
";
    let config = parse(text).unwrap();
    let debug = format!("{config:?}");
    assert!(debug.contains("password: Some(***)") && debug.contains("database_url: Some(***)"), "{debug}");
    hidden(text);
    let environment = environment(&[("MYSQL_PASSWORD", PASSWORD), ("DATABASE_URL", "mysql://u:hunter2@h/d")]);
    assert!(!format!("{environment:?}").contains(PASSWORD));
    let Gate::Open(address) = config.gate().unwrap() else { panic!("a closed gate") };
    assert_eq!(address.to_string(), "mysql://u:***@h/d");
}

#[test]
fn no_mistake_repeats_a_password() {
    for text in [
        // A mistake next to it.
        "mysql: {password: hunter2, port: x}",
        "mysql:\n  password: hunter2\n  prot: 1\n",
        "mysql:\n  password: hunter2\n  password: hunter2\n",
        "mysql: {password: hunter2",
        "mysql:\n  password: hunter2\n   host: a\n",
        // Another type.
        "mysql: {password: {hunter2: 1}}",
        "mysql: {password: [hunter2]}",
        "mysql: {password: {a: hunter2}}",
        "metadataStorage: {databaseURL: [hunter2]}",
        "metadataStorage: {passwordCommand: {args: hunter2}}",
        "metadataStorage: {passwordCommand: {env: hunter2}}",
        "metadataStorage: {passwordCommand: {env: {a: [hunter2]}}}",
        "ingester: {kinds: 'mysql://u:hunter2@h/d'}",
        "policies: {evict: {Model: [{name: a, after: 'mysql://u:hunter2@h/d'}]}}",
        "mysql: hunter2",
        // Special characters of YAML.
        "mysql: {password: *hunter2}",
        "mysql: {password: &hunter2}",
        "mysql: {password: !hunter2 }",
        "mysql: {password: !!hunter2 x}",
        "mysql: {password: @hunter2}",
        "mysql: {password: %hunter2}",
        "mysql: {password: `hunter2`}",
        "mysql: {password: \"hunter2\\q\"}",
        "mysql: {password: hunter2: x}",
        // Without the space.
        "mysql:\n  password:hunter2",
        "mysql:\n  password:hunter2\n  host: a",
        "mysql: {password:hunter2}",
        "mysql: {password=hunter2}",
        "password:hunter2",
        // A misspelt key.
        "mysql: {passwrod: hunter2}",
        // A URL in the wrong key.
        "mysql: {host: 'mysql://u:hunter2@h:3306/d'}",
        "mysql: {host: 'u:hunter2@h:3306'}",
        "mysql: {port: 'u:hunter2@h'}",
        "metadataStorage: 'mysql://u:hunter2@h/d'",
        // A password alone where a URL should be.
        "metadataStorage: {enableMetadataStorage: true, databaseURL: hunter2}",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'hunter2:x'}",
        "metadataStorage: {enableMetadataStorage: true}\nquery: {databaseURL: hunter2}",
        // Wrong URLs.
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'mysql://u:hunter2@h:port/d'}",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'oracle://u:hunter2@h/d'}",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'postgres://u:hunter2@h:port/d'}",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'u:hunter2@h/d'}",
        "metadataStorage: {enableMetadataStorage: true, databaseURL: 'mysql://u:hunter2@h'}",
    ] {
        assert!(parse(text).is_err(), "{text}");
        hidden(text);
    }
    let error = parse_with(
        "metadataStorage: {enableMetadataStorage: true}",
        &[("DATABASE_URL", "mysql://u:hunter2@h"), ("MYSQL_PASSWORD", PASSWORD), ("MYSQL_PORT", "x")],
    );
    assert!(!error.unwrap_err().to_string().contains(PASSWORD));
    assert_eq!(format!("{:?}", Config::default().mysql.password), "None");
}

#[test]
fn every_key_with_a_password_makes_the_configuration_a_secret() {
    for (text, is) in [
        ("metadataStorage: {databaseURL: 'postgres://u@h/d'}", true),
        ("mysql: {host: h, database: d, password: hunter2}", true),
        ("query: {databaseURL: 'mysql://u@h/d'}", true),
        ("mysql: {host: h, database: d, user: u}", false),
        ("", false),
    ] {
        assert_eq!(parse(text).unwrap().has_secrets(), is, "{text}");
    }
}
