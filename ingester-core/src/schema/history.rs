//! The table of the former versions of a kind's objects, made of the main one, and its check.

use super::fault::Fault;
use super::ident::joined;
use super::limits;
use super::table::{BASE_COLUMNS, BASE_KEYS, Column, HISTORY, History, Key, Table, base};
use super::{Ident, SqlType, Stays};

/// The column that has the place of `update_time`.
pub const VALID_FROM: Ident = Ident::new("valid_from");

/// The columns that follow the main table's columns.
const ENDS: [Column; 2] = [
    Column::plain(Ident::new("valid_to"), SqlType::DateTime, false),
    Column::plain(Ident::new("change"), SqlType::VarChar(16), false),
];

/// The places of the columns of the primary key.
pub const PRIMARY_OF_HISTORY: [usize; 2] = [base::UID, base::UPDATE_TIME];

impl History {
    /// The place of `valid_to` in the table.
    pub const fn valid_to(&self) -> usize {
        self.table.columns.len() - ENDS.len()
    }

    /// The place of `change` in the table.
    pub const fn change(&self) -> usize {
        self.valid_to() + 1
    }
}

/// The table of former versions, made of the main one.
impl Table {
    /// True for a table of former versions, which has several rows of a uid.
    pub const fn is_former(&self) -> bool {
        self.columns.len() > base::UPDATE_TIME && self.columns[base::UPDATE_TIME].name.same(&VALID_FROM)
    }

    /// How many columns it has.
    pub const fn former_column_count(&self) -> usize {
        self.columns.len() + ENDS.len()
    }

    /// Its column at a place.
    ///
    /// # Panics
    /// If there are fewer.
    pub const fn former_column(&self, place: usize) -> Column {
        if place >= self.columns.len() {
            return ENDS[place - self.columns.len()];
        }
        // Values are copied as the row had them.
        let column = Column { stays: Stays::None, ..self.columns[place] };
        if place == base::UPDATE_TIME { Column { name: VALID_FROM, ..column } } else { column }
    }

    /// Its columns.
    ///
    /// # Panics
    /// If `N` is not [`Table::former_column_count`]; the derive passes it.
    pub const fn former_columns<const N: usize>(&self) -> [Column; N] {
        assert!(N == self.former_column_count());
        let mut columns = [ENDS[0]; N];
        let mut n = 0;
        while n < N {
            columns[n] = self.former_column(n);
            n += 1;
        }
        columns
    }

    /// How many secondary keys it has: `namespace_name`, `valid_to`, and the kind's own.
    pub const fn former_key_count(&self) -> usize {
        2 + self.keys.len().saturating_sub(BASE_KEYS.len())
    }

    /// Returns the key at a place. The kind's own keys end with `valid_to` where this fits: of the versions with a value, a query about
    /// a moment then does not read those that had ended before it.
    ///
    /// # Panics
    /// If there are fewer.
    pub const fn former_key(&self, place: usize) -> Key {
        let valid_to = self.columns.len() as u16;
        match place {
            0 => Key::new(Ident::new(BASE_KEYS[0].0), BASE_KEYS[0].1),
            1 => Key::new(ENDS[0].name, &[valid_to]),
            _ => {
                let key = self.keys[place - 2 + BASE_KEYS.len()];
                let mut places = [0; limits::KEY_COLUMNS];
                let mut bytes = 0;
                let mut n = 0;
                while n < key.columns().len() {
                    places[n] = key.columns()[n];
                    if let Some(more) = self.columns[places[n] as usize].ty.key_bytes() {
                        bytes += more;
                    }
                    n += 1;
                }
                if n < limits::KEY_COLUMNS && bytes + ENDS[0].ty.row_bytes() <= limits::KEY_BYTES {
                    places[n] = valid_to;
                    n += 1;
                }
                Key::new(key.name, places.split_at(n).0)
            }
        }
    }

    /// Its keys.
    ///
    /// # Panics
    /// If `N` is not [`Table::former_key_count`]; the derive passes it.
    pub const fn former_keys<const N: usize>(&self) -> [Key; N] {
        assert!(N == self.former_key_count());
        let mut keys = [Key::new(ENDS[0].name, &[]); N];
        let mut n = 0;
        while n < N {
            keys[n] = self.former_key(n);
            n += 1;
        }
        keys
    }

    /// The table itself, with these columns and keys. Labels are in the text alone, and so are many values.
    #[must_use]
    pub const fn former(&self, columns: &'static [Column], keys: &'static [Key]) -> Table {
        let was = match self.was {
            Some(was) => Some(Ident::tolerant(was.as_str(), HISTORY)),
            None => None,
        };
        let name = Ident::tolerant(self.name.as_str(), HISTORY);
        Table { kind: self.kind, name, was, columns, many: &[], keys, companions: false, history: None }
    }

    /// Adds a history to the tables.
    #[must_use]
    pub const fn with_history(mut self, history: History) -> Self {
        self.history = Some(history);
        self
    }
}

/// Checks that a table can have a table of former versions.
pub const fn check_history<'a>(table: &Table) -> Option<Fault<'a>> {
    let mut c = BASE_COLUMNS.len();
    while c < table.columns.len() {
        let name = table.columns[c].name;
        if name.same(&VALID_FROM) || name.same(&ENDS[0].name) || name.same(&ENDS[1].name) {
            return Some(Fault::HistoryColumn(name));
        }
        c += 1;
    }
    let mut k = 0;
    while k < table.keys.len() {
        if table.keys[k].name.same(&ENDS[0].name) {
            return Some(Fault::HistoryKey(table.keys[k].name));
        }
        k += 1;
    }
    let mut m = 0;
    while m < table.many.len() {
        if table.many[m].name.same_as(HISTORY) {
            return Some(Fault::HistoryMany);
        }
        m += 1;
    }
    let name = Ident::tolerant(joined(table.name.as_str(), HISTORY).as_str(), "");
    if table.former_column_count() > limits::COLUMNS {
        return Some(Fault::TableWide(name, table.former_column_count()));
    }
    let bytes = table.row_bytes() + ENDS[0].ty.row_bytes() + ENDS[1].ty.row_bytes() + 1;
    if bytes > limits::ROW_BYTES { Some(Fault::TableRow(name, bytes)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::{Field, Shape, TableParts};
    use super::*;

    const FIELDS: &[Field] = &[
        Field::new("state", Shape::scalar(SqlType::VarChar(255))),
        Field::new("longest", Shape::scalar(SqlType::VarChar(255))).ty("VARCHAR(768)"),
        Field::new("tier", Shape::scalar(SqlType::Int)).without_key(),
    ];
    const PARTS: TableParts = TableParts { keys: &[&["namespace", "state"]], ..TableParts::of(FIELDS) };
    const COLUMNS: [Column; PARTS.column_count()] = PARTS.columns();
    const KEYS: [Key; PARTS.key_count()] = PARTS.keys(&COLUMNS);
    const MAIN: Table = Table::derived("Run", "run", &COLUMNS, &KEYS);
    const FORMER_COLUMNS: [Column; MAIN.former_column_count()] = MAIN.former_columns();
    const FORMER_KEYS: [Key; MAIN.former_key_count()] = MAIN.former_keys();
    static FORMER: Table = MAIN.former(&FORMER_COLUMNS, &FORMER_KEYS);

    #[test]
    fn former_versions_have_the_columns_of_the_row_at_their_places() {
        for (place, column) in MAIN.columns.iter().enumerate().filter(|(place, _)| *place != base::UPDATE_TIME) {
            assert_eq!(FORMER.columns[place], *column);
        }
        let history = History { keep: None, versions: None, table: &FORMER };
        let name = |place: usize| FORMER.columns[place].name;
        let ends = [base::UPDATE_TIME, history.valid_to(), history.change()].map(|place| name(place).to_string());
        assert_eq!(ends, ["valid_from", "valid_to", "change"]);
        assert_eq!((FORMER.name.as_str(), FORMER.companions().count()), ("run_history", 0));
    }

    #[test]
    fn the_keys_of_the_kind_end_with_the_end_of_the_version_where_it_fits() {
        let named = |key: &Key| {
            let columns: Vec<_> = key.columns().iter().map(|place| FORMER.columns[usize::from(*place)].name).collect();
            format!("{} {columns:?}", key.name)
        };
        assert_eq!(
            FORMER.keys.iter().map(named).collect::<Vec<_>>(),
            [
                "namespace_name [`namespace`, `name`]",
                "valid_to [`valid_to`]",
                "state [`state`, `valid_to`]",
                "longest [`longest`]",
                "namespace_state [`namespace`, `state`, `valid_to`]",
            ]
        );
    }

    #[test]
    fn a_column_of_the_history_is_not_one_of_the_kind() {
        assert!(check_history(&MAIN).is_none());
        for name in ["valid_from", "VALID_TO", "change"] {
            let mut columns = MAIN.columns.to_vec();
            columns.push(Column::plain(Ident::new(name), SqlType::Int, true));
            let table = Table { columns: columns.leak(), ..MAIN };
            let fault = check_history(&table).map(|fault| fault.to_string());
            assert!(fault.as_deref().is_some_and(|fault| fault.contains(name)), "{fault:?}");
        }
    }
}
