//! The tables.

use crate::world::{Stores as _, World, change, dialect, kind, model};
use anyhow::{Result, ensure};
use ingester_sql::ddl::Schema;
use ingester_sql::dialect::Sql;
use ingester_store::{ConnectOptions, ErrorClass, Store};
use ingester_tests::{on_databases, on_every_database};

// Only PostgreSQL's databases have encodings.
on_databases! { (a_database_of_another_encoding_is_refused_with_the_remedy) [postgres Postgres] }
on_databases! { (long_texts_are_compressed_with_lz4_unless_another_method_was_chosen) [postgres Postgres] }

on_every_database! {
    the_printed_schema_makes_39_tables_and_may_be_run_twice
    dropped_tables_are_created_again
}

async fn the_printed_schema_makes_39_tables_and_may_be_run_twice(world: World) -> Result<()> {
    let statements: Vec<Sql> = dialect(world.on).create_all(&Schema::from_registry(crd_specs::KINDS));
    let script = dialect(world.on).script(&statements);
    for _ in 0..2 {
        world.sql(&script).await?;
        assert_eq!(world.tables().await?.len(), 39);
    }
    // The store needs the same schema: it finds nothing missing.
    let store = world.connect(Default::default()).await?;
    assert_eq!(store.create_missing(crd_specs::KINDS).await?, Vec::<String>::new());
    Ok(())
}

async fn dropped_tables_are_created_again(world: World) -> Result<()> {
    let store = world.store_of(crd_specs::KINDS).await?;
    world.sql("DROP TABLE model_labels").await?;
    assert_eq!(store.create_missing(crd_specs::KINDS).await?, ["model_labels"]);
    for _ in 0..2 {
        for table in Schema::from_registry(crd_specs::KINDS).tables {
            world.sql(dialect(world.on).drop(table.name).as_str()).await?;
        }
    }
    // The ingester's own tables remain.
    assert_eq!(world.tables().await?.len(), ingester_sql::dialect::own_schema(dialect(world.on)).tables.len());
    Ok(())
}

async fn a_database_of_another_encoding_is_refused_with_the_remedy(world: World) -> Result<()> {
    let name = format!("{}_latin", world.name());
    world
        .sql(&format!("CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"))
        .await?;
    let url = world.url.replace(&format!("/{}", world.name()), &format!("/{name}"));
    let error = Store::connect(&url.parse()?, ConnectOptions::default())
        .await
        .err()
        .map(|error| (error.class(), error.to_string(), error.remedy().unwrap_or_default().to_owned()));
    let (class, said, remedy) = error.unwrap_or((ErrorClass::Unknown, "it is used".to_owned(), String::new()));
    assert!(class == ErrorClass::Operator && said.contains("the encoding LATIN1"), "{said}");
    assert!(remedy.contains("WITH ENCODING 'UTF8'"), "{remedy}");
    world.sql(&format!("DROP DATABASE {name} WITH (FORCE)")).await?;
    Ok(())
}

async fn long_texts_are_compressed_with_lz4_unless_another_method_was_chosen(world: World) -> Result<()> {
    let has_lz4 =
        "SELECT CAST('lz4' = ANY (enumvals) AS TEXT) FROM pg_settings WHERE name = 'default_toast_compression'";
    let best = if world.cell(has_lz4).await?.is_some_and(|has| has.starts_with('t')) { "lz4" } else { "pglz" };
    for (uid, chosen, used) in [("a", None, best), ("b", Some("pglz"), "pglz")] {
        if let Some(chosen) = chosen {
            world.sql(&format!("ALTER DATABASE {} SET default_toast_compression = '{chosen}'", world.name())).await?;
        }
        let store = world.store_of(crd_specs::KINDS).await?;
        let mut object = model(uid, 1);
        object["spec"]["unindexed"] = "a long text ".repeat(1000).into();
        store.write(kind("Model").table(), vec![change(&object)]).await?;
        store.close().await;
        let method = world.cell(&format!("SELECT pg_column_compression(json) FROM model WHERE uid = '{uid}'")).await?;
        ensure!(method.as_deref() == Some(used), "{chosen:?}: {method:?}");
    }
    Ok(())
}
