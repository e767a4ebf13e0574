//! The tables.

use crate::world::{Stores as _, World, dialect};
use anyhow::Result;
use ingester_sql::ddl::Schema;
use ingester_sql::dialect::Sql;
use ingester_tests::on_every_database;

on_every_database! {
    the_printed_schema_makes_39_tables_and_may_be_run_twice
    dropped_tables_are_created_again
}

async fn the_printed_schema_makes_39_tables_and_may_be_run_twice(world: World) -> Result<()> {
    let statements: Vec<Sql> = dialect(world.on).create_all(&Schema::of(crd_specs::KINDS));
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
    let store = world.store().await?;
    world.sql("DROP TABLE model_labels").await?;
    assert_eq!(store.create_missing(crd_specs::KINDS).await?, ["model_labels"]);
    for _ in 0..2 {
        for table in Schema::of(crd_specs::KINDS).tables {
            world.sql(dialect(world.on).drop(table.name).as_str()).await?;
        }
    }
    // The ingester's own tables remain.
    assert_eq!(world.tables().await?.len(), ingester_sql::dialect::own_schema(dialect(world.on)).tables.len());
    Ok(())
}
