//! Tables of kinds that are declared at run time. What constant evaluation checks of a derived table is checked here, all at once.

use crate::kept::kept;
use ingester_core::nearest::nearest;
use ingester_core::schema::{
    Absent, BASE_COLUMNS, BASE_KEYS, Column, Companion, Form, Ident, Key, Many, Path, SqlType, Stays, Table, Unit,
    check, composite_name, limits,
};
use ingester_sql::dialect::Dialect;

/// A table as somebody declares it.
#[derive(Clone, Debug)]
pub(super) struct Declaration<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) was: Option<&'a str>,
    pub(super) columns: Vec<DeclaredColumn<'a>>,
    /// Whether labels and annotations have tables of their own.
    pub(super) companions: bool,
    /// The composite keys.
    pub(super) keys: Vec<DeclaredKey<'a>>,
}

/// A key over several columns as somebody declares it.
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

/// A column as somebody declares it.
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
    /// Whether it has many values, in a table of its own.
    pub(super) many: Option<Form>,
}

/// How names of tables begin that are not for kinds, and whose tables these are.
fn owners() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_databases =
        Dialect::ALL.into_iter().filter_map(|dialect| Some((dialect.reserved_prefix()?, dialect.title())));
    [("ingester_", "the ingester"), ("_sqlx_", "sqlx")].into_iter().chain(of_databases)
}

/// Which part of a declaration a mistake is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Table,
    TableWas,
    Column(usize),
    ColumnWas(usize),
    Key(usize),
}

/// Mistakes, with what each is about.
pub(super) type Mistakes = Vec<(About, String)>;

impl Declaration<'_> {
    /// The table.
    ///
    /// # Errors
    /// Everything that a database would refuse, with the remedy.
    pub(super) fn table(&self) -> Result<Table, Mistakes> {
        let mut mistakes = Vec::new();
        self.check_name(&mut mistakes);
        self.check_columns(&mut mistakes);
        self.check_keys(&mut mistakes);
        if !mistakes.is_empty() {
            return Err(mistakes);
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
        check_size(&table).map_err(|what| vec![(About::Table, what)])?;
        Ok(table)
    }

    fn check_name(&self, mistakes: &mut Mistakes) {
        let most = limits::IDENTIFIER_BYTES - 1 - Companion::Annotations.suffix().len();
        for (about, name) in [(About::Table, Some(self.name)), (About::TableWas, self.was)] {
            let Some(name) = name else { continue };
            let lower = name.to_ascii_lowercase();
            if let Err(error) = Ident::parse(name) {
                mistakes.push((about, error.to_string()));
            } else if let Some((head, owner)) = owners().find(|(head, _)| lower.starts_with(head)) {
                mistakes
                    .push((about, format!("tables that begin with `{head}` are those of {owner}: give another name")));
            } else if name.len() > most {
                let what = format!(
                    "table `{name}` has {} bytes and may have {most}, as `_{}` is added for a companion and an identifier may have 64: give a shorter name with `table`",
                    name.len(),
                    Companion::Annotations.suffix()
                );
                mistakes.push((about, what));
            }
        }
        if self.was == Some(self.name) {
            mistakes.push((About::TableWas, format!("`{}` is the table's name now: leave `was` out", self.name)));
        }
    }

    fn check_columns(&self, mistakes: &mut Mistakes) {
        for (place, column) in self.columns.iter().enumerate() {
            let name = column.name;
            let mut found = |what: String| mistakes.push((About::Column(place), what));
            if let Err(error) = Ident::parse(name) {
                found(error.to_string());
                continue;
            }
            if BASE_COLUMNS.iter().any(|base| base.name.same_as(name)) {
                found(format!(
                    "column `{name}` is one of the columns that every table has: give this one another name"
                ));
            } else if self.columns[..place].iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
                found(format!("column `{name}` is there already: give one of them another name"));
            } else if column.key && BASE_KEYS.iter().any(|(key, _)| key.eq_ignore_ascii_case(name)) {
                found(format!(
                    "key `{name}` is one of the keys that every table has: give the column another name, or `key: false`"
                ));
            }
            if let Some(what) = column.many.and_then(|form| self.many_mistake(column, form)) {
                found(what);
            }
            if let Some(what) = column.ty.filter(|_| column.key).and_then(|ty| own_key(name, ty)) {
                found(what);
            }
            if let Some(what) = column.was.and_then(|was| self.was_mistake(place, was)) {
                mistakes.push((About::ColumnWas(place), what));
            }
        }
    }

    /// What is wrong with the table of a column of many values.
    fn many_mistake(&self, column: &DeclaredColumn<'_>, form: Form) -> Option<String> {
        let name = column.name;
        let of_metadata = Companion::OF_METADATA.iter().find(|companion| companion.suffix().eq_ignore_ascii_case(name));
        if let Some(companion) = of_metadata {
            return Some(format!(
                "column `{name}` of many values would have the table of the object's {}: give it another name",
                companion.suffix()
            ));
        }
        let whole = format!("{}_{name}", self.name);
        if whole.len() > check::MANY_TABLE_BYTES {
            return Some(format!(
                "column `{name}` of many values has the table `{whole}`, a name of {} bytes, and it may have {}: give a shorter one here or with `table`",
                whole.len(),
                check::MANY_TABLE_BYTES
            ));
        }
        let ty = column.ty?;
        let (beside, most) = match form {
            Form::List => (64, check::MOST_OF_LIST),
            Form::Map => (u32::from(limits::LABEL_KEY_CHARACTERS), check::MOST_OF_MAP),
        };
        match ty.key_bytes() {
            _ if !ty.may_be_many() => Some(format!(
                "column `{name}` of many values: they may be texts, integers or times: use VARCHAR(n), with `| text` behind the path, INT, BIGINT or DATETIME(6)"
            )),
            None => Some(format!(
                "column `{name}` of many values: they are in a key, and their type has no bounded length: use `type: VARCHAR(n)`"
            )),
            Some(bytes) if bytes + beside * limits::CHARACTER_BYTES > limits::KEY_BYTES => Some(format!(
                "column `{name}` of many values: their key takes {} bytes (4 a character), InnoDB allows 3072: use a shorter type (VARCHAR({most}) is the longest)",
                bytes + beside * limits::CHARACTER_BYTES
            )),
            Some(_) => None,
        }
    }

    fn was_mistake(&self, place: usize, was: &str) -> Option<String> {
        let name = self.columns[place].name;
        if let Err(error) = Ident::parse(was) {
            return Some(error.to_string());
        }
        if was.eq_ignore_ascii_case(name) {
            return Some(format!("`{was}` is the column's name now: leave `was` out"));
        }
        let there = self.columns.iter().any(|other| other.name.eq_ignore_ascii_case(was))
            || BASE_COLUMNS.iter().any(|base| base.name.same_as(was));
        if there {
            return Some(format!(
                "column `{was}` is still there: `was` names a column that this one takes the place of"
            ));
        }
        let other =
            self.columns[..place].iter().find(|other| other.was.is_some_and(|its| its.eq_ignore_ascii_case(was)))?;
        Some(format!("`{was}` became column `{}` already: leave one of them out", other.name))
    }

    fn check_keys(&self, mistakes: &mut Mistakes) {
        for (place, key) in self.keys.iter().enumerate() {
            let names = &key.columns;
            if let Some(Err(error)) = key.name.map(Ident::parse) {
                mistakes.push((About::Key(place), error.to_string()));
                continue;
            }
            let before = mistakes.len();
            let mut found = |what: String| mistakes.push((About::Key(place), what));
            let mut bytes = 0;
            for (i, name) in names.iter().enumerate() {
                if names[..i].iter().any(|other| other.eq_ignore_ascii_case(name)) {
                    found(format!("column `{name}` is in this key twice"));
                    continue;
                }
                if self.columns.iter().any(|column| column.many.is_some() && column.name.eq_ignore_ascii_case(name)) {
                    found(format!(
                        "column `{name}` cannot stand in a key: its many values are in a table of their own, which has keys already; leave it out"
                    ));
                    continue;
                }
                match self.type_of(name) {
                    Some(Some(ty)) => match ty.key_bytes() {
                        Some(more) => bytes += more,
                        None => found(format!(
                            "column `{name}` cannot stand in a key, its type has no bounded length: use `type: VARCHAR(n)` or leave it out"
                        )),
                    },
                    Some(None) => {}
                    None => {
                        let known: Vec<&str> = self.known();
                        let meant = match nearest(name, &known) {
                            Some(meant) => format!(", did you mean `{meant}`?"),
                            None => ": name base columns or columns of this kind".to_owned(),
                        };
                        found(format!("`{name}` is not a column of this table{meant}"));
                    }
                }
            }
            if names.is_empty() {
                found("a key has no column: name them, such as `[namespace, status]`".into());
            }
            if names.len() > limits::KEY_COLUMNS {
                found(format!("this key has {} columns, InnoDB allows 16: use fewer", names.len()));
            }
            if bytes > limits::KEY_BYTES {
                found(format!(
                    "this key takes {bytes} bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns"
                ));
            }
            if mistakes.len() > before {
                continue;
            }
            let name = key.name();
            let own = self.columns.iter().any(|column| column.key && name.same_as(column.name));
            let base = BASE_KEYS.iter().any(|(key, _)| name.same_as(key));
            if own || base || self.keys[..place].iter().any(|other| other.name().same(&name)) {
                mistakes.push((About::Key(place), format!("key `{name}` is there already: leave this one out")));
            }
        }
    }

    /// The type of a column, if there is one; the inner one if it is known.
    fn type_of(&self, name: &str) -> Option<Option<SqlType>> {
        let base = BASE_COLUMNS.iter().find(|base| base.name.same_as(name)).map(|base| Some(base.ty));
        base.or_else(|| {
            self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)).map(|column| column.ty)
        })
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
    })
}

/// A column of many values.
fn of_many(declared: &DeclaredColumn<'_>, place: usize) -> Option<Many> {
    let (name, was) = (Ident::new(declared.name), declared.was.map(Ident::new));
    Some(
        Many::derived(name, was, declared.many?, declared.ty?, declared.path, declared.computed, place)
            .in_unit(declared.unit),
    )
}

/// What is wrong with the key of a column alone.
fn own_key(name: &str, ty: SqlType) -> Option<String> {
    match ty.key_bytes() {
        None => Some(format!(
            "column `{name}` cannot have a key, its type has no bounded length: use `type: VARCHAR(n)` or `key: false`"
        )),
        Some(bytes) if bytes > limits::KEY_BYTES => Some(format!(
            "the key on `{name}` takes {bytes} bytes (4 a character), InnoDB allows 3072: use a shorter type (VARCHAR(768) is the longest) or `key: false`"
        )),
        Some(_) => None,
    }
}

fn check_size(table: &Table) -> Result<(), String> {
    let (columns, keys, bytes) = (table.columns.len(), table.keys.len(), table.row_bytes());
    if columns > limits::COLUMNS {
        return Err(format!("table `{}` has {columns} columns, InnoDB allows 1017: declare fewer", table.name));
    }
    if keys > limits::KEYS {
        let remedy = "put `key: false` on columns that are not searched alone";
        return Err(format!("table `{}` has {keys} keys, InnoDB allows 64: {remedy}", table.name));
    }
    if bytes > limits::ROW_BYTES {
        return Err(format!(
            "a row of table `{}` takes up to {bytes} bytes (4 a character), MySQL allows 65535: make VARCHAR columns shorter or TEXT",
            table.name
        ));
    }
    Ok(())
}
