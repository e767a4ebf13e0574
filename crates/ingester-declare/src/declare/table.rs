//! Tables of kinds that are declared at run time. They get the same checks as derived tables, all at once.

use crate::kept::kept;
use ingester_core::nearest::nearest;
use ingester_core::schema::check::{self, About};
use ingester_core::schema::{
    Absent, BASE_COLUMNS, BASE_KEYS, Column, Fault, Field, Form, Ident, Key, Many, Path, Printed, SqlType, Stays,
    Table, TableParts, Unit, composite_name,
};

/// A table as it is declared.
#[derive(Clone, Debug)]
pub(super) struct Declaration<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) was: Option<&'a str>,
    pub(super) columns: Vec<DeclaredColumn<'a>>,
    /// Labels and annotations have separate tables.
    pub(super) companions: bool,
    /// The composite keys.
    pub(super) keys: Vec<DeclaredKey<'a>>,
}

/// A key over several columns as it is declared.
#[derive(Clone, Debug)]
pub(super) struct DeclaredKey<'a> {
    /// `None` for the names of the columns, joined.
    pub(super) name: Option<&'a str>,
    pub(super) columns: Vec<&'a str>,
}

impl DeclaredKey<'_> {
    fn name(&self) -> Ident {
        self.name.map_or_else(|| composite_name(&self.columns), |name| Ident::tolerant(name, ""))
    }
}

/// A column as it is declared.
#[derive(Clone, Debug)]
pub(super) struct DeclaredColumn<'a> {
    pub(super) name: &'a str,
    /// `None` if another mistake hides it: no other one follows from that.
    pub(super) ty: Option<SqlType>,
    pub(super) key: bool,
    pub(super) was: Option<&'a str>,
    pub(super) path: Option<Path>,
    pub(super) computed: bool,
    pub(super) stays: Stays,
    pub(super) absent: Absent,
    pub(super) unit: Option<Unit>,
    /// The form of many values, which are in a separate table; `None` for one value.
    pub(super) many: Option<Form>,
    /// The column can be without a value.
    pub(super) optional: bool,
    /// The source of its values, as it is written.
    pub(super) from: String,
    /// The names of the values of an enum; empty for anything else.
    pub(super) names: &'static [&'static str],
    /// How a table of objects prints it.
    pub(super) printed: Printed,
}

impl Declaration<'_> {
    /// The table, or everything that is wrong with it, each with the part that it is about.
    ///
    /// # Errors
    /// Everything that a database would refuse, with the remedy.
    pub(super) fn table(&self) -> Result<Table, Vec<(About, String)>> {
        let faults = self.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let (many, single): (Vec<_>, Vec<_>) = self.columns.iter().partition(|column| column.many.is_some());
        let columns: Vec<Column> = BASE_COLUMNS.iter().copied().chain(single.into_iter().filter_map(column)).collect();
        let many: Vec<Many> =
            many.into_iter().enumerate().filter_map(|(place, declared)| of_many(declared, place)).collect();
        let place = |name: &str| {
            columns.iter().position(|column| column.name.same_as(name)).and_then(|place| u16::try_from(place).ok())
        };
        let mut keys: Vec<Key> = BASE_KEYS.iter().map(|(name, places)| Key::new(Ident::new(name), places)).collect();
        for column in self.columns.iter().filter(|column| column.key) {
            keys.push(Key::new(Ident::new(column.name), place(column.name).as_slice()));
        }
        for key in &self.keys {
            let places: Vec<u16> = key.columns.iter().filter_map(|name| place(name)).collect();
            keys.push(Key::new(key.name(), &places));
        }
        let table = Table::derived(kept(self.kind), self.name, kept(columns), kept(keys)).with_many(kept(many));
        let table = match self.was {
            Some(was) => table.was_unchecked(was),
            None => table,
        };
        let table = if self.companions { table } else { table.without_companions() };
        let faults: Vec<_> = check::check_size(&table).map(|fault| (About::Table, fault.to_string())).collect();
        if faults.is_empty() { Ok(table) } else { Err(faults) }
    }

    fn faults(&self) -> Vec<(About, String)> {
        let name = |name: &str| -> &'static str { kept(name) };
        let field = |column: &DeclaredColumn<'_>| {
            let field = Field::declared(name(column.name), column.ty, column.many, column.optional);
            let field = field.stays(column.stays).absent(column.absent);
            let field = column.was.map_or(field, |was| field.was_unchecked(name(was)));
            if column.key { field } else { field.without_key() }
        };
        let fields: Vec<Field> = self.columns.iter().map(field).collect();
        let columns = |key: &DeclaredKey<'_>| -> &'static [&'static str] {
            kept(key.columns.iter().copied().map(name).collect::<Vec<_>>())
        };
        let keys: Vec<&'static [&'static str]> = self.keys.iter().map(columns).collect();
        let parts = TableParts { keys: kept(keys), ..TableParts::of(kept(fields)) };
        let by: Vec<String> = self.columns.iter().map(|column| format!("`{}`", column.from)).collect();
        let key_names: Vec<Option<&str>> = self.keys.iter().map(|key| key.name).collect();
        let defined = check::Defined { table: self.name, was: self.was, parts: &parts, by: &by, key_names: &key_names };
        let mut faults: Vec<(About, String)> =
            check::faults(&defined).into_iter().map(|(about, fault)| (about, self.sentence(&fault))).collect();
        for (place, key) in self.keys.iter().enumerate() {
            if key.columns.is_empty() {
                faults
                    .push((About::Key(place), "a key has no column: name them, such as `[namespace, status]`".into()));
            }
        }
        faults
    }

    /// The message of a fault; for an unknown name, with a suggestion.
    fn sentence(&self, fault: &Fault<'_>) -> String {
        if let Fault::KeyColumnUnknown(name) = fault
            && let Some(meant) = nearest(name, &self.known())
        {
            return format!("{fault}; did you mean `{meant}`?");
        }
        fault.to_string()
    }

    fn known(&self) -> Vec<&str> {
        BASE_COLUMNS
            .iter()
            .map(|base| base.name.as_str())
            .chain(self.columns.iter().map(|column| column.name))
            .collect()
    }
}

fn column(declared: &DeclaredColumn<'_>) -> Option<Column> {
    Some(Column {
        name: Ident::new(declared.name),
        ty: declared.ty?,
        nullable: true,
        was: declared.was.map(Ident::new),
        path: declared.path,
        computed: declared.computed,
        stays: declared.stays,
        absent: declared.absent,
        unit: declared.unit,
        names: declared.names,
        printed: declared.printed,
    })
}

/// A column of many values.
fn of_many(declared: &DeclaredColumn<'_>, place: usize) -> Option<Many> {
    let name = Ident::new(declared.name);
    let was = declared.was.map(Ident::new);
    Some(
        Many::derived(name, was, declared.many?, declared.ty?, declared.path, declared.computed, place)
            .in_unit(declared.unit),
    )
}

#[cfg(test)]
mod tests {
    use ingester_core::schema::limits::RESERVED;
    use ingester_sql::dialect::Dialect;

    #[test]
    fn no_kind_has_a_table_that_a_database_keeps_for_itself() {
        for dialect in Dialect::ALL {
            let Some(prefix) = dialect.reserved_prefix() else { continue };
            assert!(RESERVED.contains(&(prefix, "the database")), "{prefix} of {}", dialect.title());
        }
    }
}
