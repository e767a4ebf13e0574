//! The mistakes that a table, its columns and its keys can have, and their messages.

use super::limits::{self, MOST_KEPT};
use super::term::FieldTerm;
use super::text::Text;
use super::{Companion, Form, Ident};

/// A definition that a database would refuse, or that contradicts itself. Structs and files share the message of a fault, so each message
/// uses option names that exist in both, and does not say how either writes their values.
#[derive(Clone, Copy, Debug)]
pub enum Fault<'a> {
    /// A name is empty.
    NameEmpty(Named),
    /// A name has other characters than letters, digits, `_` and `$`.
    NameCharacters(Named, Text),
    /// A name has more than 63 bytes.
    NameLong(Named, Text),
    /// A column has the name of one that a database gives every table.
    ColumnOfDatabase(Text),
    /// The key over the columns of a composite has no name.
    KeyNameless,
    /// A column has the name of one that every table has.
    BaseColumn(Ident),
    /// A column's key has the name of one that every table has.
    BaseKey(Ident),
    /// Another column has this name.
    ColumnTwice {
        /// The name.
        name: Ident,
        /// The origin of the earlier column, for the message.
        by: &'a str,
    },
    /// Another column's key has this name.
    KeyTwice {
        /// The name.
        name: Ident,
        /// The origin of the earlier column, for the message.
        by: &'a str,
    },
    /// A type for a value of several columns.
    TypeOfSeveral(&'a str),
    /// A type that does not hold the values of the Rust type.
    TypeUnfit(&'a str),
    /// The column has a key, and its type no bounded length.
    KeyUnbounded(Ident),
    /// The key of a column is too long.
    KeyLong {
        /// The key.
        key: Ident,
        /// The size of the key.
        bytes: u32,
        /// How many columns it has.
        columns: usize,
    },
    /// The key over the columns of a composite has too many.
    KeyWide {
        /// The key.
        key: Ident,
        /// How many it has.
        columns: usize,
    },
    /// Each of many values has several columns.
    ManyOfSeveral(Ident),
    /// Many values of a type that makes no good key.
    ManyUnfit(Ident),
    /// Many values of a type without a bounded length.
    ManyUnbounded(Ident),
    /// Many values whose key is too long.
    ManyLong {
        /// The column.
        column: Ident,
        /// The size of the key.
        bytes: u32,
        /// The key belongs to a list, or to a map.
        form: Form,
    },
    /// The table of many values has the name of one for labels or annotations.
    ManyOfMetadata(Companion),
    /// The name of the table of many values is too long.
    ManyTableLong {
        /// The column.
        column: Ident,
        /// The table's name.
        table: Text,
    },
    /// The table of many values has the name of one of the ingester's own.
    ManyTableOwn {
        /// The column.
        column: Ident,
        /// The table's name.
        table: Text,
    },
    /// One heading for several columns.
    HeaderOfSeveral(Ident),
    /// The age of something else than a time.
    AgeOfOther(Ident),
    /// The printed columns name one that does not exist, or that every table has.
    PrintedUnknown(&'a str),
    /// The printed columns name a column of many values.
    PrintedMany(&'a str),
    /// The printed columns name a column twice.
    PrintedTwice(&'a str),
    /// `keep` of a column that always has a value.
    KeptInVain(Ident),
    /// `keep` where an empty value takes the place of a missing one.
    KeptOfEmpty(Ident),
    /// NULL is wanted where the Rust type cannot tell a missing value from its default.
    NullLost(Ident),
    /// The former name of a column is the present one.
    WasPresent(&'a str),
    /// The former name of a column is another column's present name.
    WasOfOther(&'a str),
    /// The former name of a column is another column's former name, too.
    WasTwice(&'a str),
    /// The former name is the name of a column that every table has.
    WasBase(&'a str),
    /// Two columns exchange their names.
    WasExchanged,
    /// A key names a column that does not exist.
    KeyColumnUnknown(&'a str),
    /// A key names a column of many values.
    KeyColumnMany(&'a str),
    /// A key names a column of a type without a bounded length.
    KeyColumnUnbounded(&'a str),
    /// A key names a column twice.
    KeyColumnTwice(&'a str),
    /// A key over several columns has too many.
    KeyColumns(usize),
    /// A key over several columns is too long.
    KeyBytes(u32),
    /// A key over several columns has the name of another key.
    KeyThere(Ident),
    /// The name of a table is too long for its companions.
    TableLong(&'a str),
    /// The name of a table begins with a prefix that is reserved for others.
    TableReserved {
        /// How the name begins.
        prefix: &'static str,
        /// The owner of such tables.
        owner: &'static str,
    },
    /// The former name of a table is the present one.
    TableWasPresent(&'a str),
    /// A table has too many columns.
    TableWide(Ident, usize),
    /// A table has too many keys.
    TableKeys(Ident, usize),
    /// A row of a table can be too long.
    TableRow(Ident, u32),
    /// A text that is not a path of what is not stored.
    PruneUnreadable(&'a str),
    /// A path of what the ingester needs.
    PruneNeeded(&'a str),
    /// A path that is another one, or within it.
    PruneWithin(&'a str, &'a str),
    /// The value of a column is in what is not stored.
    PruneColumn {
        /// The path.
        path: &'a str,
        /// The column.
        column: Ident,
    },
    /// A rule of evictions without a name.
    EvictNameless,
    /// A rule of evictions has the name of an earlier one.
    EvictTwice(&'a str),
    /// A rule of evictions that means every object.
    EvictAll,
    /// `since` without `after`.
    EvictSinceAlone,
    /// A rule of evictions of a kind whose objects leave etcd anyhow.
    EvictImmutable,
    /// A rule of evictions of a kind whose objects never leave etcd.
    EvictUnevictable,
    /// A term of a field selector without an operator, or whose list does not end.
    EvictOperator(&'a str),
    /// A rule of evictions names a field that is not a column.
    EvictField(&'a str),
    /// A rule of evictions names a field that is not a column, but of which a column is made.
    EvictMade {
        /// The field.
        field: &'a str,
        /// The column.
        column: Ident,
    },
    /// `since` is not a time.
    EvictNotATime(&'a str),
    /// A rule of evictions keeps none, or too many.
    EvictCount,
    /// A text that is not the name of a namespace.
    EvictNamespace(&'a str),
    /// A rule of evictions says something of namespaces, and the kind's objects are in none.
    EvictNoNamespaces,
    /// A column has the name of one that the table of the kind's history has.
    HistoryColumn(Ident),
    /// A key has the name of one that the table of the kind's history has.
    HistoryKey(Ident),
    /// The table of many values has the same name as the table of the kind's history.
    HistoryMany,
    /// Several sentences about the status, or one that says that it is about that.
    OfStatus(Text),
}

/// The use of a name, and the option that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A column, by `column`.
    Column,
    /// A column before, by `was`.
    FormerColumn,
    /// A table, by `table`.
    Table,
    /// A table before, by `was`.
    FormerTable,
    /// A key over several columns, by `name`.
    Key,
    /// A column, a key or a table.
    Any,
}

impl Named {
    const fn what(self) -> &'static str {
        match self {
            Named::Column | Named::FormerColumn => "column",
            Named::Table | Named::FormerTable => "table",
            Named::Key => "key",
            Named::Any => "column, key or table",
        }
    }

    const fn option(self) -> &'static str {
        match self {
            Named::Column | Named::Any => "`column`",
            Named::Table => "`table`",
            Named::FormerColumn | Named::FormerTable => "`was`",
            Named::Key => "`name`",
        }
    }
}

impl Fault<'_> {
    /// Returns the message: the mistake and its remedy.
    #[expect(clippy::too_many_lines, reason = "a list: one sentence for each fault")]
    pub(crate) const fn sentence(&self) -> Text {
        let text = Text::new("");
        match self {
            Fault::NameEmpty(named) => {
                text.str("the name of the ").str(named.what()).str(" is empty: give one with ").str(named.option())
            }
            Fault::NameCharacters(named, name) => text
                .quoted("", name.as_str())
                .str(" cannot be the name of a ")
                .str(named.what())
                .str(": use letters and digits of ASCII and underscores in ")
                .str(named.option()),
            Fault::NameLong(named, name) => text
                .quoted(named.what(), name.as_str())
                .str(" has ")
                .number(name.as_str().len() as u64)
                .str(" bytes, an identifier may have 63 (on PostgreSQL): give a shorter name with ")
                .str(named.option()),
            Fault::ColumnOfDatabase(name) => text
                .quoted("column", name.as_str())
                .str(" is one that PostgreSQL gives every table by itself: give this one another name with `column`"),
            Fault::KeyNameless => text.str(
                "a key over the columns of a composite is named by `column`, which is empty: give a name, or set `key` to false",
            ),
            Fault::BaseColumn(name) => text
                .quoted("column", name.as_str())
                .str(" is one of the columns that every table has: give this one another name with `column`"),
            Fault::BaseKey(name) => text.quoted("key", name.as_str()).str(
                " is one of the keys that every table has: give this column another name with `column`, or set `key` to false",
            ),
            Fault::ColumnTwice { name, by } => text
                .quoted("column", name.as_str())
                .str(" is made by ")
                .str(by)
                .str(" already: give one of them another name with `column`"),
            Fault::KeyTwice { name, by } => text
                .quoted("key", name.as_str())
                .str(" is made by ")
                .str(by)
                .str(" already: give one of them another name with `column`, or set `key` to false"),
            Fault::TypeOfSeveral(column) => text
                .quoted("`type` on", column)
                .str(", which is several columns: give the type on the fields of the composite"),
            Fault::TypeUnfit(column) => text.quoted("`type` on", column).str(
                " does not fit the field: a text column holds text, an integer column integers, and so on; convert with `with = function`",
            ),
            Fault::KeyUnbounded(column) => text.quoted("column", column.as_str()).str(
                " cannot have a key, its type has no bounded length: set `type` to VARCHAR(n), or `key` to false",
            ),
            Fault::KeyLong { key, bytes, columns } => text
                .quoted("the key on", key.as_str())
                .str(" takes ")
                .number(*bytes as u64)
                .str(" bytes (4 a character), InnoDB allows 3072: ")
                .str(match *columns {
                    1 => "set `type` to a shorter one (VARCHAR(768) is the longest), or `key` to false",
                    _ => "set shorter types on the fields of the composite, or `key` to false",
                }),
            Fault::KeyWide { key, columns } => text
                .quoted("the key on", key.as_str())
                .str(" has ")
                .number(*columns as u64)
                .str(" columns, InnoDB allows 16: set `key` to false here or on fields of the composite"),
            Fault::ManyOfSeveral(column) => {
                text.of_many(column).str(
                    ": each of them is several columns: make a list or map of texts with `many, with = function`",
                )
            }
            Fault::ManyUnfit(column) => text.of_many(column).str(
                ": they may be texts, integers or times: make these of them (in Rust by `with`, in a file by `| text` behind the path)",
            ),
            Fault::ManyUnbounded(column) => text
                .of_many(column)
                .str(": they are in a key, and their type has no bounded length: set `type` to VARCHAR(n)"),
            Fault::ManyLong { column, bytes, form } => text
                .of_many(column)
                .str(": their key takes ")
                .number(*bytes as u64)
                .str(" bytes (4 a character), InnoDB allows 3072: set `type` to a shorter one (VARCHAR(")
                .number(limits::longest_of_many(*form) as u64)
                .str(") is the longest)"),
            Fault::ManyOfMetadata(companion) => text
                .quoted("column", companion.suffix())
                .str(" of many values would have the table of the object's ")
                .str(companion.suffix())
                .str(": give it another name with `column`"),
            Fault::ManyTableLong { column, table } => text
                .of_many(column)
                .quoted(" has the table", table.as_str())
                .str(", a name of ")
                .number(table.as_str().len() as u64)
                .str(" bytes, and it may have ")
                .number(limits::MANY_TABLE_BYTES as u64)
                .str(": give a shorter one with `column` or `table`"),
            Fault::ManyTableOwn { column, table } => text
                .of_many(column)
                .quoted(" has the table", table.as_str())
                .str(", which is one of the ingester's own: give another name with `column` or `table`"),
            Fault::KeptInVain(column) => text
                .quoted("`keep` is for values that can be absent, and", column.as_str())
                .str(
                    " always has one: leave `keep` out, or let the value be absent (in Rust as an `Option`, in a file without `default`, `count` or `exists`)",
                ),
            Fault::KeptOfEmpty(column) => text
                .quoted("`keep` of column", column.as_str())
                .str(" is for values that can be absent, and if `absent` is empty none is: set `absent` to null for it"),
            Fault::NullLost(column) => text.quoted("`absent = \"null\"` cannot be kept for column", column.as_str()).str(
                ": its type has a default, which looks like a value; make the field an `Option`, or say `absent = \"empty\"` for it",
            ),
            Fault::HeaderOfSeveral(column) => text.quoted("`header` is for one column, and column", column.as_str()).str(
                " is one of several that this value has: leave it out, or set it where each of them is declared",
            ),
            Fault::AgeOfOther(column) => {
                text.quoted("only a time has an age, and column", column.as_str()).str(" is none: leave `age` out")
            }
            Fault::PrintedUnknown(name) => text.quoted("", name).str(
                " is not a column of this kind: name columns of the kind; those that every table has are printed at their own place",
            ),
            Fault::PrintedMany(name) => {
                text.quoted("no table prints column", name).str(", which has many values: leave it out")
            }
            Fault::PrintedTwice(name) => text.quoted("column", name).str(" is named twice"),
            Fault::WasPresent(was) => {
                text.quoted("", was).str(" is the column's name now: `was` is for a former one, leave it out")
            }
            Fault::WasOfOther(was) => text.quoted("", was).str(
                " is the name of another column now, whose values would go to this one: give that one another name",
            ),
            Fault::WasTwice(was) => {
                text.quoted("", was).str(" is the former name of another column already: leave one of them out")
            }
            Fault::WasBase(was) => text.quoted("", was).str(" is a column of every table, which keeps its name"),
            Fault::WasExchanged => text.str(
                "columns cannot exchange their names in one step: give one of them a third name first, and release that",
            ),
            Fault::KeyColumnUnknown(name) => text.quoted("", name).str(
                " is not a column of this table: a key names columns of the kind, and those that every table has",
            ),
            Fault::KeyColumnMany(name) => text.quoted("column", name).str(
                " cannot stand in a key: its many values are in a table of their own, which has keys already; leave it out",
            ),
            Fault::KeyColumnUnbounded(name) => text.quoted("column", name).str(
                " cannot stand in a key, its type has no bounded length: set `type` to VARCHAR(n), or leave it out",
            ),
            Fault::KeyColumnTwice(name) => text.quoted("column", name).str(" is in this key twice"),
            Fault::KeyColumns(columns) => {
                text.str("this key has ").number(*columns as u64).str(" columns, InnoDB allows 16: use fewer")
            }
            Fault::KeyBytes(bytes) => text
                .str("this key takes ")
                .number(*bytes as u64)
                .str(" bytes (4 a character), InnoDB allows 3072: use fewer or shorter columns"),
            Fault::KeyThere(name) => text.quoted("key", name.as_str()).str(
                " is there already: leave this one out, or give the column of that name another one with `column`",
            ),
            Fault::TableLong(name) => text
                .quoted("table", name)
                .str(" has ")
                .number(name.len() as u64)
                .str(" bytes and may have ")
                .number(limits::TABLE_BYTES as u64)
                .str(", as `_")
                .str(Companion::Annotations.suffix())
                .str("` is added for a companion and an identifier may have 63 (on PostgreSQL): give a shorter name with `table`"),
            Fault::TableReserved { prefix, owner } => text
                .quoted("tables that begin with", prefix)
                .str(" are those of ")
                .str(owner)
                .str(": give another name with `table`"),
            Fault::TableWasPresent(was) => {
                text.quoted("", was).str(" is the table's name now: `was` is for a former one, leave it out")
            }
            Fault::TableWide(table, columns) => text
                .quoted("table", table.as_str())
                .str(" has ")
                .number(*columns as u64)
                .str(" columns, InnoDB allows 1017: leave some out"),
            Fault::TableKeys(table, keys) => text
                .quoted("table", table.as_str())
                .str(" has ")
                .number(*keys as u64)
                .str(" keys, InnoDB allows 64: set `key` to false on columns that are not searched alone"),
            Fault::TableRow(table, bytes) => text
                .quoted("a row of table", table.as_str())
                .str(" takes up to ")
                .number(*bytes as u64)
                .str(" bytes (4 a character), MySQL allows 65535: make VARCHAR columns shorter or TEXT"),
            Fault::PruneUnreadable(path) => text.quoted("", path).str(
                " cannot be pruned: write a path of names from the object inwards, with [*] for all elements, such as `.spec.password`, \
                 `.spec.users[*].token` or `.metadata.annotations[\"example.com/key\"]`",
            ),
            Fault::PruneNeeded(path) => text.quoted("", path).str(
                " cannot be pruned: the ingester needs apiVersion, kind and metadata; of the metadata, single annotations and labels can be",
            ),
            Fault::PruneWithin(path, other) => text
                .quoted("", path)
                .quoted(" is pruned already with", other)
                .str(": leave it out"),
            Fault::PruneColumn { path, column } => text
                .quoted("", path)
                .quoted(" is pruned, so the value of column", column.as_str())
                .str(" is stored nowhere: leave the column out, or the path out of `prune`"),
            Fault::EvictNameless => text.str("`name` is missing: messages name the rule by it"),
            Fault::EvictTwice(name) => text
                .quoted("another rule of this kind is named", name)
                .str(": give this one another name"),
            Fault::EvictAll => {
                text.str("every object would leave: say which with `when` or `after`, or how many of the last ones stay")
            }
            Fault::EvictSinceAlone => {
                text.str("`since` says what `after` counts from: add `after`, or leave out `since`")
            }
            Fault::EvictImmutable => text.str("every object of this kind leaves etcd already: take the rule away"),
            Fault::EvictUnevictable => {
                text.str("objects of this kind are not evictable (`evictable` is false): take the rule away")
            }
            Fault::EvictOperator(term) => text
                .str("expected ")
                .str(FieldTerm::OPERATORS)
                .quoted(" behind", term),
            Fault::EvictField(field) => text
                .quoted("there is no column for the field", field)
                .str(": name a column, or the path of one (`ingester kinds -o wide` lists them)"),
            Fault::EvictMade { field, column } => text
                .quoted("there is no column for the field", field)
                .quoted("; the column", column.as_str())
                .str(" is made of it: name this column"),
            Fault::EvictNotATime(column) => text
                .quoted("`since`: the column", column)
                .str(" is not a time: name one of type DATETIME (`ingester kinds -o wide` lists them)"),
            Fault::EvictCount => {
                text.str("`count` is how many objects of each group stay: use a number from 1 to ").number(MOST_KEPT as u64)
            }
            Fault::EvictNamespace(name) => text
                .quoted("", name)
                .str(" is not the name of a namespace: use at most 63 lower-case letters, digits and `-`"),
            Fault::EvictNoNamespaces => {
                text.str("objects of this kind are in no namespace: leave out what the rule says of namespaces")
            }
            Fault::HistoryColumn(name) => text
                .quoted("column", name.as_str())
                .str(" is one of the columns that a table of history has: give this one another name with `column`, or leave `history` out"),
            Fault::HistoryKey(name) => text
                .quoted("key", name.as_str())
                .str(" is one of the keys that a table of history has: give this one another name with `name`, or leave `history` out"),
            Fault::HistoryMany => text
                .quoted("column", super::HISTORY)
                .str(" of many values would have the table of the kind's history: give it another name with `column`, or leave `history` out"),
            Fault::OfStatus(sentences) => *sentences,
        }
    }
}

impl Text {
    /// Adds the word for what it names, and the name in its quotes.
    const fn quoted(self, what: &str, name: &str) -> Self {
        let text = if what.is_empty() { self } else { self.str(what).str(" ") };
        text.str("`").str(name).str("`")
    }

    const fn of_many(self, column: &Ident) -> Self {
        self.quoted("column", column.as_str()).str(" of many values")
    }
}

impl std::fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.sentence().as_str())
    }
}

/// Stops constant evaluation with the fault's sentence, which makes it a compile error.
///
/// # Panics
/// If there is a fault.
#[track_caller]
pub const fn refuse(fault: Option<Fault<'_>>) {
    if let Some(fault) = fault {
        fault.sentence().fail()
    }
}
