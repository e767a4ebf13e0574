//! The statements that differ between the dialects in their templates only. askama takes a template's path as a literal,
//! so each dialect lists its own.

/// Makes `drop`, `statement` and `bookkeeping` of a dialect from the paths of its templates. What is in scope there as
/// `filters` is what the templates see.
macro_rules! implement_statements {
    (
        versions: $versions:literal,
        tombstone: $tombstone:literal,
        rewind: $rewind:literal,
        read_pairs: $read_pairs:literal,
        write_pairs: $write_pairs:literal,
        delete_pairs: $delete_pairs:literal,
        insert: $insert:literal,
        overwrite: $overwrite:literal,
        update: $update:literal,
        peek: $peek:literal,
        read: $read:literal,
        live: $live:literal,
        names: $names:literal,
        newest: $newest:literal,
        create_rejects: $create_rejects:literal,
        record_rejects: $record_rejects:literal,
        clear_rejects: $clear_rejects:literal,
        read_rejects: $read_rejects:literal,
        drop_table: $drop_table:literal,
        catalog_columns: $catalog_columns:literal,
        catalog_keys: $catalog_keys:literal,
        create_backfills: $create_backfills:literal,
        read_backfills: $read_backfills:literal,
        begin_backfill: $begin_backfill:literal,
        step_backfill: $step_backfill:literal,
        end_backfill: $end_backfill:literal,
        forget_backfills: $forget_backfills:literal,
        fill_read: $fill_read:literal,
        fill_write: $fill_write:literal,
    ) => {
        #[derive(Template)]
        #[template(path = $versions)]
        struct Versions {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $tombstone)]
        struct Tombstone {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $rewind)]
        struct Rewind {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $read_pairs)]
        struct ReadPairs {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $write_pairs)]
        struct WritePairs {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $delete_pairs)]
        struct DeletePairs {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $insert)]
        struct Insert<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $overwrite)]
        struct Overwrite<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $update)]
        struct Update<'a> {
            name: Ident,
            columns: &'a [Column],
        }

        #[derive(Template)]
        #[template(path = $peek)]
        struct Peek<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $read)]
        struct Read<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $live)]
        struct Live {
            name: Ident,
            of_namespace: bool,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $names)]
        struct Names {
            name: Ident,
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $newest)]
        struct Newest {
            name: Ident,
        }

        #[derive(Template)]
        #[template(path = $create_rejects)]
        struct CreateRejects;

        #[derive(Template)]
        #[template(path = $record_rejects)]
        struct RecordRejects {
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $clear_rejects)]
        struct ClearRejects {
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $read_rejects)]
        struct ReadRejects;

        #[derive(Template)]
        #[template(path = $catalog_columns)]
        struct CatalogColumns;

        #[derive(Template)]
        #[template(path = $catalog_keys)]
        struct CatalogKeys;

        #[derive(Template)]
        #[template(path = $create_backfills)]
        struct CreateBackfills;

        #[derive(Template)]
        #[template(path = $read_backfills)]
        struct ReadBackfills;

        #[derive(Template)]
        #[template(path = $begin_backfill)]
        struct BeginBackfill;

        #[derive(Template)]
        #[template(path = $step_backfill)]
        struct StepBackfill;

        #[derive(Template)]
        #[template(path = $end_backfill)]
        struct EndBackfill;

        #[derive(Template)]
        #[template(path = $forget_backfills)]
        struct ForgetBackfills;

        #[derive(Template)]
        #[template(path = $fill_read)]
        struct FillRead<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $fill_write)]
        struct FillWrite<'a> {
            name: Ident,
            columns: &'a [Column],
            rows: usize,
        }

        #[derive(Template)]
        #[template(path = $drop_table)]
        struct DropTable {
            name: Ident,
        }

        pub(super) fn catalog_columns() -> Sql {
            render(&CatalogColumns)
        }

        pub(super) fn catalog_keys() -> Sql {
            render(&CatalogKeys)
        }

        pub(super) fn fill_read(table: &Table, columns: &[Column], rows: usize) -> Sql {
            render(&FillRead { name: table.name, columns, rows })
        }

        pub(super) fn fill_write(table: &Table, columns: &[Column], rows: usize) -> Sql {
            render(&FillWrite { name: table.name, columns, rows })
        }

        pub(super) fn drop(name: Ident) -> Sql {
            render(&DropTable { name })
        }

        pub(super) fn statement(statement: Statement, table: &Table, rows: usize) -> Sql {
            let name = table.name;
            match statement {
                Statement::Versions => render(&Versions { name, rows }),
                Statement::Insert => render(&Insert { name, columns: table.columns, rows }),
                Statement::Overwrite => render(&Overwrite { name, columns: table.columns, rows }),
                Statement::Update => render(&Update { name, columns: table.columns }),
                Statement::Tombstone => render(&Tombstone { name, rows }),
                Statement::Rewind => render(&Rewind { name, rows }),
                Statement::ReadPairs(companion) => render(&ReadPairs { name: table.companion(companion), rows }),
                Statement::WritePairs(companion) => render(&WritePairs { name: table.companion(companion), rows }),
                Statement::DeletePairs(companion) => render(&DeletePairs { name: table.companion(companion), rows }),
                Statement::Peek => render(&Peek { name, columns: table.indexed(), rows }),
                Statement::Read => render(&Read { name, columns: table.columns, rows }),
                Statement::Live { of_namespace } => render(&Live { name, of_namespace, rows }),
                Statement::Names => render(&Names { name, rows }),
                Statement::Newest => render(&Newest { name }),
            }
        }

        pub(super) fn bookkeeping(statement: Bookkeeping, rows: usize) -> Sql {
            match statement {
                Bookkeeping::CreateRejects => render(&CreateRejects),
                Bookkeeping::AnyRejects => {
                    Sql::new("SELECT COUNT(*) FROM (SELECT 1 FROM ingester_rejects LIMIT 1) AS one")
                }
                Bookkeeping::RecordRejects => render(&RecordRejects { rows }),
                Bookkeeping::ClearRejects => render(&ClearRejects { rows }),
                Bookkeeping::ReadRejects => render(&ReadRejects),
                Bookkeeping::CreateBackfills => render(&CreateBackfills),
                Bookkeeping::ReadBackfills => render(&ReadBackfills),
                Bookkeeping::BeginBackfill => render(&BeginBackfill),
                Bookkeeping::StepBackfill => render(&StepBackfill),
                Bookkeeping::EndBackfill => render(&EndBackfill),
                Bookkeeping::ForgetBackfills => render(&ForgetBackfills),
                Bookkeeping::SettleMigration => {
                    Sql::new("UPDATE _sqlx_migrations SET success = TRUE WHERE version = ?")
                }
                Bookkeeping::ForgetMigration => {
                    Sql::new("DELETE FROM _sqlx_migrations WHERE version = ? AND success = FALSE")
                }
            }
        }
    };
}

pub(super) use implement_statements;
