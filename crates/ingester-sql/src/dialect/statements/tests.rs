//! The text of each statement in each dialect, compared with its snapshot for review. Statements whose test needs more than values have it in their
//! files.

use super::*;
use crate::dialect::tests::*;
use crate::dialect::{Dialect, GroupFilter, Param, Statement as _};
use crate::query::{Filter, Query, Route, Test};
use ingester_core::row::Row;
use ingester_core::schema::{Companion, Ident};
use ingester_core::value::{Micros, Value};

/// Each row names a test, and compares one statement.
macro_rules! read_well {
    ($($statement:ident { $($compare:tt)* })+) => {
        $(#[test]
        fn $statement() {
            $($compare)*
        })+
    };
}

read_well! {
    any_row { snapshot(&AnyRow { table: TABLE.name }); }
    begin_after_former { snapshot(&BeginAfterFormer { table: &WITH_HISTORY, former: &FORMER, uids: UIDS }); }
    begin_backfill {
        snapshot(&BeginBackfill { table: "widget", column: "owner", migration: 2, begin_time: NOW });
    }
    begin_later {
        snapshot(&BeginLater { table: &WITH_HISTORY, uids: UIDS, from: NOW, to: Micros(NOW.0 + 1) });
    }
    begin_positions { snapshot(&BeginPositions { table: &TABLE }); }
    catalog_columns { snapshot(&CatalogColumns); }
    catalog_keys { snapshot(&CatalogKeys); }
    catalog_views { snapshot(&CatalogViews); }
    change_before { snapshot(&ChangeBefore { table: &TABLE, before: 7 }); }
    change_of_version { snapshot(&ChangeOfVersion { table: &TABLE, res_version: 7 }); }
    changes_after { snapshot(&ChangesAfter { table: &TABLE, after: 7, limit: 100 }); }
    clear_rejects { snapshot(&ClearRejects { kind: "Widget", uids: UIDS }); }
    confirm_evictions { snapshot(&ConfirmEvictions { table: &TABLE, uids: UIDS }); }
    count_at {
        let group = &GroupFilter::new("");
        let until = |field, test: fn(Value) -> Test| Query {
            filters: vec![Filter::field(field, test(Value::Time(NOW)))],
            ..Query::default()
        };
        let present = &until("update_time", Test::LessOrEqual).check(&TABLE).unwrap();
        let former = &until("valid_to", Test::Greater).check(&FORMER).unwrap();
        let count = |query| CountRows { query, route: Route::Free, group, by: None, limit: 1, milliseconds: 30_000 };
        snapshot(&CountAt { present: count(present), former: count(former) });
    }
    count_rejects { snapshot(&CountRejects { limit: 100, milliseconds: 30_000 }); }
    count_routes {
        let query = Query {
            namespaces: vec!["ml".into()],
            filters: vec![
                Filter::label("team", Test::Equal(Value::text("ann"))),
                Filter::field("owner", Test::Equal(Value::text("ann"))),
            ],
            ..Query::default()
        };
        let query = &query.check(&TABLE).unwrap();
        let routes = query.routes();
        snapshot(&CountRoutes::new(query, routes.to_count(), 30_000));
    }
    count_rows {
        let query = &Query::default().check(&TABLE).unwrap();
        let group = &GroupFilter::new("");
        let all = CountRows { query, route: Route::Free, group, by: None, limit: 1, milliseconds: 30_000 };
        let owner = TABLE.columns.iter().find(|column| column.name.as_str() == "owner");
        let by = CountRows { by: owner, limit: 20, ..all };
        snapshot_of("CountRows", &[&all, &by]);
    }
    count_table { snapshot(&CountTable { table: TABLE.name }); }
    created_over_time {
        let moments = &[NOW, NOW];
        let all = CreatedOverTime { table: &TABLE, group: None, moments, milliseconds: 30_000 };
        let group = &GroupFilter::new("example.com");
        snapshot_of("CreatedOverTime", &[&all, &CreatedOverTime { group: Some(group), ..all }]);
    }
    delete_companion {
        let annotations = DeleteCompanion { table: &TABLE, companion: Companion::Annotations, rows: &[("a", "k"); 2] };
        snapshot_of(
            "DeleteCompanion",
            &[&annotations, &DeleteCompanion { companion: Companion::Values(&LIST), ..annotations }],
        );
    }
    delete_versions {
        snapshot(&DeleteVersions { former: &FORMER, rows: &[("a".to_owned(), NOW), ("b".to_owned(), NOW)] });
    }
    end_backfill { snapshot(&EndBackfill { table: "widget", column: "owner", complete_time: NOW }); }
    end_later { snapshot(&EndLater { former: &FORMER, uids: UIDS, from: NOW, to: Micros(NOW.0 + 1) }); }
    ends_over_time {
        let group = &GroupFilter::new("example.com");
        let core = &GroupFilter::new("");
        let moments = &[NOW, NOW];
        let over_time = EndsOverTime { table: &TABLE, group, moments, narrow: true, milliseconds: 30_000 };
        let now = EndsOverTime { group: core, moments: &[], narrow: false, ..over_time };
        snapshot_of("EndsOverTime", &[&over_time, &now]);
    }
    explain {
        let query = &Query::default().check(&TABLE).unwrap();
        let group = &GroupFilter::new("example.com");
        let statement =
            &CountRows { query, route: Route::Free, group, by: None, limit: 1, milliseconds: 30_000 };
        snapshot(&Explain { statement, dialect: Dialect::Sqlite });
    }
    forget_backfills { snapshot(&ForgetBackfills { after: 2, tables: &["job", "model"] }); }
    forget_lost_evictions { snapshot(&ForgetLostEvictions { table: &TABLE, uids: UIDS }); }
    forget_marks {
        let all = ForgetMarks { table: "widget", rule: None, uids: UIDS };
        snapshot_of("ForgetMarks", &[&all, &ForgetMarks { rule: Some("old"), ..all }]);
    }
    forget_migration { snapshot(&ForgetMigration { ledger: LEDGER, version: 2 }); }
    forget_rejects {
        let all = ForgetRejects { of: RejectsOf::default() };
        let kinds = &[KindRejects::in_any_group("Widget")];
        let some = ForgetRejects { of: RejectsOf { kinds, namespaces: &["ml", "dev"], uids: UIDS } };
        let kinds = &[
            KindRejects { kind: "Widget", group: Some(GroupFilter::new("example.com")) },
            KindRejects { kind: "Event", group: Some(GroupFilter::new("")) },
            KindRejects::in_any_group("Gadget"),
        ];
        let grouped = ForgetRejects { of: RejectsOf { kinds, ..RejectsOf::default() } };
        snapshot_of("ForgetRejects", &[&all, &some, &grouped]);
    }
    forget_restores { snapshot(&ForgetRestores { table: TABLE.name, uids: UIDS }); }
    forget_setting { snapshot(&ForgetSetting { name: "view:all" }); }
    insert {
        let one = row();
        let rows: &[&Row] = &[&one, &one];
        let insert = Insert { table: &TABLE, rows, update_time: NOW, skip: false };
        snapshot_of("Insert", &[&insert, &Insert { skip: true, ..insert }]);
    }
    keep_versions {
        let table = &WITH_HISTORY;
        let former = &FORMER;
        let change = ChangeKind::Updated;
        let keep = KeepVersions { table, former, uids: UIDS, valid_to: NOW, change, expected: None };
        snapshot_of("KeepVersions", &[&keep, &KeepVersions { uids: &UIDS[..1], expected: Some((7, 3)), ..keep }]);
    }
    latest_definition { snapshot(&LatestDefinition { table: &TABLE }); }
    list_rejects {
        let all = ListRejects { of: RejectsOf::default(), limit: 2, milliseconds: 30_000 };
        let kinds = &[KindRejects::in_any_group("Widget")];
        let some = ListRejects { of: RejectsOf { kinds, namespaces: &["ml", "dev"], uids: UIDS }, ..all };
        snapshot_of("ListRejects", &[&all, &some]);
    }
    live {
        let group = &GroupFilter::new("example.com");
        let core = &GroupFilter::new("");
        let all = Live { table: &TABLE, group, namespace: None, confirmed: true, after: "", limit: 2, narrow: true };
        let of_namespace = Live { namespace: Some("ml"), ..all };
        let of_core = Live { group: core, namespace: Some("ml"), ..all };
        let unconfirmed = Live { confirmed: false, ..of_namespace };
        let by_uid = Live { narrow: false, ..all };
        snapshot_of("Live", &[&all, &of_namespace, &of_core, &unconfirmed, &by_uid]);
    }
    live_by_namespace {
        let group = &GroupFilter::new("example.com");
        let core = &GroupFilter::new("");
        let counted = LiveByNamespace { table: &TABLE, group, narrow: true };
        let of_core = LiveByNamespace { group: core, narrow: false, ..counted };
        snapshot_of("LiveByNamespace", &[&counted, &of_core]);
    }
    live_texts {
        let group = &GroupFilter::new("example.com");
        let core = &GroupFilter::new("");
        let page = LiveTexts { table: &TABLE, group, after: "a", limit: 2 };
        snapshot_of("LiveTexts", &[&page, &LiveTexts { group: core, ..page }]);
    }
    lock_purgeable { snapshot(&LockPurgeable { table: &TABLE, uids: UIDS }); }
    many_versions { snapshot(&ManyVersions { former: &FORMER, most: 500, limit: 2 }); }
    mark_rows { snapshot(&MarkRows { table: &TABLE, ingest_version: 3, uids: UIDS }); }
    move_position { snapshot(&MovePosition { table: &TABLE, to: LogState::default() }); }
    names { snapshot(&Names { table: &TABLE, uids: UIDS }); }
    namesakes { snapshot(&Namesakes { table: &TABLE, uids: UIDS }); }
    newer_rows {
        let narrow = NewerRows { table: &TABLE, ingest_version: 1, after: "a", limit: 100, narrow: true };
        snapshot_of("NewerRows", &[&narrow, &NewerRows { narrow: false, ..narrow }]);
    }
    newest {
        snapshot_of("Newest", &[&Newest { table: &TABLE, narrow: true }, &Newest { table: &TABLE, narrow: false }]);
    }
    number_changes { snapshot(&NumberChanges { ids: &[7, 9], offset: 1000 }); }
    old_versions {
        let group = &GroupFilter::new("example.com");
        let before = OldVersions { former: &FORMER, group, of: Old::Before(NOW), limit: 2 };
        let first = OldVersions { of: Old::Of("a"), ..before };
        snapshot_of("OldVersions", &[&before, &first]);
    }
    older_rows {
        let all = OlderRows { table: &TABLE, ingest_version: 3, unmarked: true, after: "a", limit: 2, narrow: true };
        snapshot_of("OlderRows", &[&all, &OlderRows { unmarked: false, narrow: false, ..all }]);
    }
    overwrite {
        let row = &row();
        let overwrite = Overwrite { table: &TABLE, rows: &[(row, NOW), (row, NOW)] };
        snapshot_of("Overwrite", &[&overwrite, &Overwrite { table: &STAYING, ..overwrite }]);
    }
    overwrite_expected {
        let row = row();
        let expected = ExpectedRow { row: &row, expected: 7, change: ChangeKind::Updated };
        let rows = &[expected, ExpectedRow { expected: 8, ..expected }];
        let overwrite = OverwriteExpected { table: &TABLE, rows, update_time: NOW };
        let judging = Dialect::ALL.into_iter().filter(|dialect| dialect.judges());
        let staying = OverwriteExpected { table: &STAYING, ..overwrite };
        let keeping = OverwriteExpected { table: &WITH_HISTORY, ..overwrite };
        snapshot_on(judging, "OverwriteExpected", &[&overwrite, &staying, &keeping]);
    }
    peek { snapshot(&Peek { table: &TABLE, limit: 2 }); }
    purge {
        let rows = Purge { table: &TABLE, companion: None, uids: UIDS };
        snapshot_of("Purge", &[&rows, &Purge { companion: Some(Companion::Labels), ..rows }]);
    }
    purge_changes { snapshot(&PurgeChanges { ids: &[7, 9] }); }
    purgeable {
        let group = &GroupFilter::new("example.com");
        let first = Purgeable { table: &TABLE, group, before: NOW, behind: None, limit: 2 };
        let next = Purgeable { behind: Some(("a", NOW)), ..first };
        snapshot_of("Purgeable", &[&first, &next]);
    }
    read { snapshot(&Read { table: &TABLE, uids: UIDS }); }
    read_backfills { snapshot(&ReadBackfills); }
    read_clock { snapshot(&ReadClock); }
    read_companion {
        let labels = ReadCompanion { table: &TABLE, companion: Companion::Labels, uids: UIDS };
        let list = ReadCompanion { companion: Companion::Values(&LIST), ..labels };
        snapshot_of(
            "ReadCompanion",
            &[&labels, &list, &ReadCompanion { companion: Companion::Values(&MAP), ..labels }],
        );
    }
    read_for_backfill {
        let page = RowsToBackfill::After { uid: "a", limit: 2 };
        let page = ReadForBackfill { table: &TABLE, places: &[13, 14], rows: page };
        let these = ReadForBackfill { rows: RowsToBackfill::These(UIDS), ..page };
        snapshot_of("ReadForBackfill", &[&page, &these]);
    }
    read_grants { snapshot(&ReadGrants); }
    read_lost_evictions {
        let all = ReadLostEvictions { table: &TABLE, namespace: None };
        let of_namespace = ReadLostEvictions { namespace: Some("ml"), ..all };
        snapshot_of("ReadLostEvictions", &[&all, &of_namespace]);
    }
    read_marks {
        let rows = ReadMarks { table: "widget", of: MarksOf::Rows(UIDS) };
        let page = ReadMarks { of: MarksOf::After { uid: "a", rule: "old", limit: 2 }, ..rows };
        snapshot_of("ReadMarks", &[&rows, &page]);
    }
    read_migration { snapshot(&ReadMigration { ledger: LEDGER, version: 2 }); }
    read_other {
        let rows = RowsToBackfill::After { uid: "a", limit: 2 };
        let page = ReadOther { table: TABLE.name, columns: &TABLE.columns[..8], rows };
        let these = ReadOther { rows: RowsToBackfill::These(UIDS), ..page };
        snapshot_of("ReadOther", &[&page, &these]);
    }
    read_position {
        let locked = ReadPosition { table: &TABLE, lock: true };
        snapshot_of("ReadPosition", &[&locked, &ReadPosition { lock: false, ..locked }]);
    }
    read_rejects {
        let all = ReadRejects { group_ver: "example.com/v1", kind: "Widget", namespace: None };
        let of_namespace = ReadRejects { namespace: Some("ml"), ..all };
        snapshot_of("ReadRejects", &[&all, &of_namespace]);
    }
    read_restores { snapshot(&ReadRestores { table: TABLE.name, uids: UIDS }); }
    read_server { snapshot(&ReadServer); }
    read_setting { snapshot(&ReadSetting { name: "cluster" }); }
    read_settings {
        let below = ReadSettings::below("view:");
        assert_eq!(below.params(), [Param::Text("view:"), Param::Text("view;")]);
        snapshot(&ReadSettings::below("sweep/a/"));
    }
    read_size { snapshot(&ReadSize); }
    read_tables { snapshot(&ReadTables); }
    read_variables { snapshot(&ReadVariables); }
    readable {
        let columns = [Ident::new("uid"), Ident::new("name")];
        snapshot(&Readable { table: TABLE.name, columns: &columns });
    }
    record_interrupted {
        let checksum = Value::Bytes([1, 2].into());
        snapshot(&RecordInterrupted { ledger: LEDGER, version: 2, description: "add owner", checksum: &checksum });
    }
    record_lost_evictions {
        let lost = LostRow { uid: "a", namespace: "ml", name: "w", res_version: 7 };
        snapshot(&RecordLostEvictions { table: &TABLE, lost: &[lost, lost], lost_time: NOW });
    }
    record_marks {
        let mark = |uid: &str, revert_time| Mark {
            uid: uid.into(),
            rule: "old".into(),
            fingerprint: "f".into(),
            text_hash: "h".into(),
            mark_time: NOW,
            revert_time,
        };
        snapshot(&RecordMarks { table: "widget", marks: &[mark("a", None), mark("b", Some(NOW))] });
    }
    record_rejects {
        let reject = RejectRow {
            uid: "a",
            group_ver: "example.com/v1",
            kind: "Widget",
            namespace: "ml",
            name: "w",
            res_version: "7",
            reason: "too long",
        };
        snapshot(&RecordRejects { rejects: &[reject, reject], reject_time: NOW });
    }
    record_resets {
        let all = RecordResets { table: None, at: NOW };
        snapshot_of("RecordResets", &[&all, &RecordResets { table: Some(TABLE.name), ..all }]);
    }
    record_restore {
        snapshot(&RecordRestore { table: TABLE.name, uid: "a", nonce: "0f", restore_time: NOW });
    }
    record_row_changes {
        snapshot(&RecordRowChanges { table: &TABLE, uids: UIDS, what: ChangeKind::Deleted, at: NOW });
    }
    record_setting { snapshot(&RecordSetting { name: "cluster", value: "uid" }); }
    rejected_uids { snapshot(&RejectedUids { limit: 2 }); }
    replace_setting { snapshot(&ReplaceSetting { name: "definition/job", from: "1 a", to: "2 b" }); }
    settle_migration {
        let done = SettleMigration { ledger: LEDGER, version: 2, done: true };
        snapshot_of("SettleMigration", &[&done, &SettleMigration { done: false, ..done }]);
    }
    settle_rejects {
        snapshot(&SettleRejects { kind: "Widget", versions: &[("a", "1".into()), ("b", "2".into())] });
    }
    step_backfill {
        let step = StepBackfill { table: "widget", column: "owner", position: "a", read: 3, filled: 2, failed: 1 };
        snapshot(&step);
    }
    tombstone {
        let gone = GoneObject { uid: "a", res_version: 7, delete_time: NOW };
        snapshot(&Tombstone { table: &TABLE, gone: &[gone, gone], update_time: NOW });
    }
    tombstone_older {
        let gone = GoneObject { uid: "a", res_version: 7, delete_time: NOW };
        let tombstone = TombstoneOlder { table: &TABLE, gone: &[gone, gone], update_time: NOW };
        let judging = Dialect::ALL.into_iter().filter(|dialect| dialect.judges());
        let keeping = TombstoneOlder { table: &WITH_HISTORY, ..tombstone };
        snapshot_on(judging, "TombstoneOlder", &[&tombstone, &keeping]);
    }
    undelete { snapshot(&Undelete { table: &TABLE, uids: UIDS, update_time: NOW }); }
    unnumbered_changes { snapshot(&UnnumberedChanges { table: &TABLE, limit: 100 }); }
    version_times {
        let locked = VersionTimes { table: &WITH_HISTORY, uids: UIDS, lock: true };
        snapshot_of("VersionTimes", &[&locked, &VersionTimes { lock: false, ..locked }]);
    }
    versions {
        let locked = Versions { table: &TABLE, uids: UIDS, lock: true };
        snapshot_of("Versions", &[&locked, &Versions { lock: false, ..locked }]);
    }
    write_companion {
        let labels =
            WriteCompanion { table: &TABLE, companion: Companion::Labels, rows: &[("a", "k", "v"); 2], new: false };
        let list = WriteCompanion { companion: Companion::Values(&LIST), ..labels };
        snapshot_of(
            "WriteCompanion",
            &[
                &labels,
                &list,
                &WriteCompanion { companion: Companion::Values(&MAP), ..labels },
                &WriteCompanion { new: true, ..labels },
            ],
        );
    }
    write_setting { snapshot(&WriteSetting { name: "view:all", value: "1 2 3" }); }
}
