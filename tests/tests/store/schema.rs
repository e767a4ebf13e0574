//! The tables themselves.

use crate::on_every_database;
use crate::world::{On, World};
use anyhow::Result;
use ingester_core::dialect::{Dialect, Sql};

on_every_database! {
    the_printed_schema_makes_39_tables_and_may_be_run_twice
    what_is_dropped_is_made_again
}

fn dialect(world: &World) -> Dialect {
    if world.on == On::Sqlite { Dialect::Sqlite } else { Dialect::MySql }
}

async fn tables(world: &World) -> Result<u64> {
    world
        .count(match world.on {
            On::Sqlite => "sqlite_master WHERE type = 'table'",
            _ => "information_schema.tables WHERE table_schema = DATABASE()",
        })
        .await
}

async fn the_printed_schema_makes_39_tables_and_may_be_run_twice(world: World) -> Result<()> {
    let statements: Vec<Sql> = crd_specs::KINDS.iter().flat_map(|kind| dialect(&world).create(kind.table())).collect();
    let script = dialect(&world).script(&statements);
    for _ in 0..2 {
        world.sql(&script).await?;
        assert_eq!(tables(&world).await?, 39);
    }
    // And that is the schema which the store itself makes: it finds nothing missing.
    let store = world.connect(Default::default()).await?;
    assert_eq!(store.create_missing(crd_specs::KINDS).await?, Vec::<String>::new());
    Ok(())
}

async fn what_is_dropped_is_made_again(world: World) -> Result<()> {
    let store = world.store().await?;
    world.sql("DROP TABLE model_labels").await?;
    assert_eq!(store.create_missing(crd_specs::KINDS).await?, ["model_labels"]);
    for _ in 0..2 {
        for kind in crd_specs::KINDS {
            for sql in dialect(&world).drop(kind.table()) {
                world.sql(sql.as_str()).await?;
            }
        }
    }
    // The store's own table of rejects stays.
    assert_eq!(tables(&world).await?, 1);
    Ok(())
}
