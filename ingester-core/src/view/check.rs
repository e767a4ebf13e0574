//! The checks of views: in constant evaluation the first mistake is a compile error, at run time all mistakes are reported.

use super::{Condition, Expression, Literal, View, ViewColumn, ViewSource, ViewType};
use crate::kind::Kind;
use crate::schema::check::is_own_table;
use crate::schema::limits::{COLUMNS, IDENTIFIER_BYTES, SETTING_NAME_BYTES, VIEW_NAME_BYTES, VIEW_TABLES};
use crate::schema::{SqlType, Table, Text, is_identifier_byte, same};

/// Checks views of a registry in a constant, and returns them.
///
/// # Panics
/// With the first mistake; in a constant that is a compile error.
#[track_caller]
pub const fn checked(kinds: &[Kind], views: &'static [View]) -> &'static [View] {
    let mut first = [None];
    find(kinds, views, &mut first);
    match first {
        [Some(text)] => text.fail(),
        [None] => views,
    }
}

/// A mistake in a view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ViewError(String);

/// Checks views as [`checked`] does: for views that are put together at run time.
///
/// # Errors
/// All mistakes, each with its view, kind and column.
pub fn check_views(kinds: &[Kind], views: &[View]) -> Result<(), Vec<ViewError>> {
    // Constant evaluation has no lists that grow, so they are counted first.
    let mut found = vec![None; find(kinds, views, &mut [])];
    find(kinds, views, &mut found);
    let found: Vec<ViewError> = found.into_iter().flatten().map(|text| ViewError(text.as_str().to_owned())).collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Counts mistakes, and keeps the first ones, as many as there is room for.
struct Faults<'k> {
    count: usize,
    kept: &'k mut [Option<Text>],
}

impl Faults<'_> {
    const fn add(&mut self, text: Text) {
        if self.count < self.kept.len() {
            self.kept[self.count] = Some(text);
        }
        self.count += 1;
    }
}

/// Finds all mistakes and counts them; the first ones are kept.
const fn find(kinds: &[Kind], views: &[View], kept: &mut [Option<Text>]) -> usize {
    let mut faults = Faults { count: 0, kept };
    let mut v = 0;
    while v < views.len() {
        check_view(kinds, &views[v], &mut faults);
        let mut other = 0;
        while other < v {
            if views[other].name.eq_ignore_ascii_case(views[v].name) {
                faults.add(of_view(&views[v]).str("there are two views of this name"));
            }
            other += 1;
        }
        v += 1;
    }
    faults.count
}

const fn of_view(view: &View) -> Text {
    Text::new("view `").str(view.name).str("`: ")
}

const fn of_column(view: &View, column: &str) -> Text {
    Text::new("view `").str(view.name).str("`, column `").str(column).str("`: ")
}

const fn check_view(kinds: &[Kind], view: &View, faults: &mut Faults<'_>) {
    if let Some(reason) = unfit(view.name, VIEW_NAME_BYTES) {
        faults.add(of_view(view).str("its name ").str(reason.as_str()));
    }
    if let Some(owner) = table_of_name(kinds, view.name) {
        faults.add(
            of_view(view).str("this is the name of a table ").str(owner.as_str()).str("; give the view another one"),
        );
    }
    if view.columns.is_empty() {
        faults.add(of_view(view).str("it has no columns"));
    }
    if view.sources.is_empty() {
        faults.add(of_view(view).str("it has no kinds"));
    }
    if view.sources.len() > VIEW_TABLES {
        let text = of_view(view).str("it has ").number(view.sources.len() as u64);
        faults.add(text.str(" kinds, MySQL allows 61 tables in a view"));
    }
    // MySQL may keep the rows of a view in a temporary table.
    if view.columns.len() > COLUMNS {
        let text = of_view(view).str("it has ").number(view.columns.len() as u64);
        faults.add(text.str(" columns, InnoDB allows 1017: make several views of it"));
        return;
    }
    let mut c = 0;
    while c < view.columns.len() {
        check_column(view, c, faults);
        c += 1;
    }
    let mut s = 0;
    while s < view.sources.len() {
        check_source(kinds, view, s, faults);
        s += 1;
    }
    let mut c = 0;
    while c < view.columns.len() {
        check_type(view, &view.columns[c], faults);
        c += 1;
    }
}

/// Why a text cannot be a name of at most `most` bytes.
const fn unfit(name: &str, most: usize) -> Option<Text> {
    if name.is_empty() {
        return Some(Text::new("is empty"));
    }
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !is_identifier_byte(bytes[i]) {
            return Some(Text::new("may only have letters and digits of ASCII and underscores"));
        }
        i += 1;
    }
    if bytes.len() > most {
        let text = Text::new("has ").number(bytes.len() as u64).str(" bytes and may have ");
        return Some(text.number(most as u64));
    }
    None
}

/// Describes the owner of the table with this name.
const fn table_of_name(kinds: &[Kind], name: &str) -> Option<Text> {
    if is_own_table(name) {
        return Some(Text::new("of the ingester's own"));
    }
    let mut k = 0;
    while k < kinds.len() {
        if kinds[k].table().has_table(name) {
            return Some(kinds[k].named(Text::new("of kind ")));
        }
        k += 1;
    }
    None
}

const fn check_column(view: &View, place: usize, faults: &mut Faults<'_>) {
    let name = view.columns[place].name;
    if let Some(reason) = unfit(name, IDENTIFIER_BYTES) {
        faults.add(of_column(view, name).str("its name ").str(reason.as_str()));
    }
    let mut other = 0;
    while other < place {
        if view.columns[other].name.eq_ignore_ascii_case(name) {
            faults.add(of_column(view, name).str("there are two columns of this name"));
        }
        other += 1;
    }
}

const fn check_source(kinds: &[Kind], view: &View, place: usize, faults: &mut Faults<'_>) {
    let source = &view.sources[place];
    if !is_known(kinds, &source.kind) {
        let text = source.kind.named(of_view(view).str("kind "));
        faults.add(text.str(" is not in the registry: add it there, or take it out of the view"));
    }
    let mut c = 0;
    while c < view.columns.len() {
        let name = view.columns[c].name;
        match count(source, name) {
            0 => faults.add(of_part(view, source, name).str("nothing fills it: give an expression, or NULL")),
            1 => {}
            _ => faults.add(of_part(view, source, name).str("it is filled twice")),
        }
        c += 1;
    }
    let mut v = 0;
    while v < source.values.len() {
        let (name, expression) = &source.values[v];
        if !is_column_of(view, name) {
            faults.add(of_part(view, source, name).str("the view has no such column"));
        }
        check_expression(&Part { kinds, view, source, place: name }, expression, faults);
        v += 1;
    }
    if let Some(filter) = &source.filter {
        check_condition(&Part { kinds, view, source, place: "" }, filter, faults);
    }
}

/// Returns true if a kind is in the registry.
const fn is_known(kinds: &[Kind], kind: &Kind) -> bool {
    let mut k = 0;
    while k < kinds.len() {
        if same(kinds[k].group(), kind.group())
            && same(kinds[k].kind(), kind.kind())
            && kinds[k].table().name.same(&kind.table().name)
        {
            return true;
        }
        k += 1;
    }
    false
}

/// The use of an expression: a column of a view in the part of one kind, or the filter if that is empty.
struct Part<'a> {
    kinds: &'a [Kind],
    view: &'a View,
    source: &'a ViewSource,
    place: &'a str,
}

impl Part<'_> {
    const fn begin(&self) -> Text {
        if self.place.is_empty() {
            let text = Text::new("view `").str(self.view.name).str("`, kind ");
            return self.source.kind.named(text).str(", filter: ");
        }
        of_part(self.view, self.source, self.place)
    }

    const fn table(&self) -> &'static Table {
        self.source.kind.table()
    }
}

const fn of_part(view: &View, source: &ViewSource, column: &str) -> Text {
    let text = Text::new("view `").str(view.name).str("`, kind ");
    source.kind.named(text).str(", column `").str(column).str("`: ")
}

const fn is_column_of(view: &View, name: &str) -> bool {
    let mut c = 0;
    while c < view.columns.len() {
        if view.columns[c].name.eq_ignore_ascii_case(name) {
            return true;
        }
        c += 1;
    }
    false
}

const fn count(source: &ViewSource, column: &str) -> usize {
    let mut count = 0;
    let mut v = 0;
    while v < source.values.len() {
        if source.values[v].0.eq_ignore_ascii_case(column) {
            count += 1;
        }
        v += 1;
    }
    count
}

/// The type of a table's column; `None` if there is none of this name.
const fn column_type(table: &Table, name: &str) -> Option<SqlType> {
    let mut c = 0;
    while c < table.columns.len() {
        if table.columns[c].name.same_as(name) {
            return Some(table.columns[c].ty);
        }
        c += 1;
    }
    None
}

const fn check_expression(part: &Part<'_>, expression: &Expression, faults: &mut Faults<'_>) {
    match expression {
        Expression::Null => {}
        Expression::Literal(literal) => check_literal(part, literal, faults),
        Expression::Column(name) => {
            if column_type(part.table(), name).is_none() {
                let text = part.begin().str("there is no column `").str(name).str("` in table `");
                faults.add(text.str(part.table().name.as_str()).str("`"));
            }
        }
        Expression::Setting(name) => {
            if name.is_empty() || name.len() > SETTING_NAME_BYTES || !is_plain(name, false) {
                let text = part.begin().str("`").str(name).str("` cannot be the name of a setting: it has 1 to ");
                faults.add(
                    text.number(SETTING_NAME_BYTES as u64).str(" bytes, no backslashes and no control characters"),
                );
            }
        }
        Expression::Coalesce(all) => {
            if all.is_empty() {
                faults.add(part.begin().str("there is nothing to choose the first value from"));
            }
            let mut i = 0;
            while i < all.len() {
                check_expression(part, &all[i], faults);
                check_alike(part, common(part.table(), all, i), type_of(part.table(), &all[i]), faults);
                i += 1;
            }
        }
        Expression::Cast(inner, to) => {
            check_expression(part, inner, faults);
            if !matches!(to, ViewType::Text | ViewType::Integer | ViewType::Time) {
                faults.add(part.begin().str("a value is cast to text, an integer or a time, not to ").str(to.word()));
            } else if let Some(from) = type_of(part.table(), inner)
                && !may_become(from, *to)
            {
                faults.add(part.begin().str(from.word()).str(" cannot become ").str(to.word()));
            }
        }
        Expression::Case(branches, otherwise) => {
            if branches.is_empty() {
                faults.add(part.begin().str("a case needs at least one condition"));
            }
            let mut ty = None;
            let mut i = 0;
            while i < branches.len() {
                let (condition, value) = &branches[i];
                check_condition(part, condition, faults);
                check_expression(part, value, faults);
                let its = type_of(part.table(), value);
                check_alike(part, ty, its, faults);
                if ty.is_none() {
                    ty = its;
                }
                i += 1;
            }
            check_expression(part, otherwise, faults);
            check_alike(part, ty, type_of(part.table(), otherwise), faults);
        }
        Expression::Concat(all) => {
            if all.is_empty() {
                faults.add(part.begin().str("`concat` has no values"));
            }
            let mut i = 0;
            while i < all.len() {
                check_expression(part, &all[i], faults);
                check_text(part, "`concat` joins texts, and one of its values is ", &all[i], faults);
                i += 1;
            }
        }
    }
}

/// Fails if a value is not text.
const fn check_text(part: &Part<'_>, what: &str, value: &Expression, faults: &mut Faults<'_>) {
    if let Some(ty) = type_of(part.table(), value)
        && !matches!(ty, ViewType::Text)
    {
        faults.add(part.begin().str(what).str(ty.word()).str(": cast it"));
    }
}

/// The type of the first of `all` before place `end` that has one.
const fn common(table: &Table, all: &[Expression], end: usize) -> Option<ViewType> {
    let mut i = 0;
    while i < end {
        if let Some(ty) = type_of(table, &all[i]) {
            return Some(ty);
        }
        i += 1;
    }
    None
}

/// Fails if two values of one expression are of different types.
const fn check_alike(part: &Part<'_>, first: Option<ViewType>, second: Option<ViewType>, faults: &mut Faults<'_>) {
    if let (Some(first), Some(second)) = (first, second)
        && first as u8 != second as u8
    {
        let text = part.begin().str("one value is ").str(first.word()).str(" and another ").str(second.word());
        faults.add(text.str(": cast one of them"));
    }
}

const fn check_literal(part: &Part<'_>, literal: &Literal, faults: &mut Faults<'_>) {
    if let Literal::Text(text) = literal
        && !is_plain(text, true)
    {
        faults.add(part.begin().str("a text may have no backslashes, and no control characters but line breaks"));
    }
}

/// Returns true if every server reads this text alike in every mode. A dialect writes line breaks as functions.
const fn is_plain(text: &str, lines: bool) -> bool {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'\\' || (bytes[i].is_ascii_control() && !(lines && bytes[i] == b'\n')) {
            return false;
        }
        i += 1;
    }
    true
}

const fn check_condition(part: &Part<'_>, condition: &Condition, faults: &mut Faults<'_>) {
    match condition {
        Condition::Live | Condition::Evicted | Condition::Deleted => {}
        Condition::Null(value) => check_expression(part, value, faults),
        Condition::OneOf(value, literals) => {
            check_expression(part, value, faults);
            if literals.is_empty() {
                faults.add(part.begin().str("a condition has nothing to compare with"));
            }
            let ty = type_of(part.table(), value);
            let mut i = 0;
            while i < literals.len() {
                check_literal(part, &literals[i], faults);
                if let Some(ty) = ty
                    && ty as u8 != literals[i].ty() as u8
                {
                    let text = part.begin().str("a condition compares ").str(ty.word()).str(" with ");
                    faults.add(text.str(literals[i].ty().word()).str(": cast it"));
                }
                i += 1;
            }
        }
        Condition::Stored(value, of) => {
            check_expression(part, value, faults);
            check_text(part, "`stored` looks for a uid, and its value is ", value, faults);
            if of.is_empty() {
                faults.add(part.begin().str("`stored` names no kind"));
            }
            let mut i = 0;
            while i < of.len() {
                if !is_known(part.kinds, &of[i]) {
                    let text = of[i].named(part.begin().str("kind "));
                    faults.add(text.str(" is not in the registry: add it there, or take it out of the condition"));
                }
                i += 1;
            }
        }
        Condition::Not(inner) => check_condition(part, inner, faults),
        Condition::All(all) | Condition::Any(all) => {
            if all.is_empty() {
                faults.add(part.begin().str("a list of conditions is empty"));
            }
            let mut i = 0;
            while i < all.len() {
                check_condition(part, &all[i], faults);
                i += 1;
            }
        }
    }
}

/// Fails if the kinds fill a column with values of different types, or none of them says which.
const fn check_type(view: &View, column: &ViewColumn, faults: &mut Faults<'_>) {
    let mut first = None;
    let mut s = 0;
    let mut reported = false;
    while s < view.sources.len() {
        let source = &view.sources[s];
        let ty = match value_of(source, column.name) {
            Some(expression) => {
                reported |= is_unknown(source.kind.table(), expression);
                type_of(source.kind.table(), expression)
            }
            None => {
                reported = true;
                None
            }
        };
        if let Some(ty) = ty {
            let wanted = match (column.ty, first) {
                (Some(declared), _) => Some(declared),
                (None, first) => first,
            };
            if let Some(wanted) = wanted
                && wanted as u8 != ty as u8
            {
                let text = of_part(view, source, column.name).str("it is ").str(ty.word()).str(" here and ");
                let text =
                    text.str(wanted.word()).str(if column.ty.is_some() { " in the view" } else { " of another kind" });
                faults.add(text.str(": cast it"));
            }
            if first.is_none() {
                first = Some(ty);
            }
        }
        s += 1;
    }
    if first.is_none() && column.ty.is_none() && !reported && !view.sources.is_empty() {
        faults.add(of_column(view, column.name).str("every kind gives NULL: say what it holds"));
    }
}

/// Returns true if an expression names a column that does not exist, which is reported already.
const fn is_unknown(table: &Table, expression: &Expression) -> bool {
    match expression {
        Expression::Column(name) => column_type(table, name).is_none(),
        Expression::Coalesce(all) | Expression::Concat(all) => {
            let mut i = 0;
            while i < all.len() {
                if is_unknown(table, &all[i]) {
                    return true;
                }
                i += 1;
            }
            false
        }
        Expression::Case(branches, otherwise) => {
            let mut i = 0;
            while i < branches.len() {
                if is_unknown(table, &branches[i].1) {
                    return true;
                }
                i += 1;
            }
            is_unknown(table, otherwise)
        }
        Expression::Cast(..) | Expression::Null | Expression::Literal(_) | Expression::Setting(_) => false,
    }
}

const fn value_of<'a>(source: &'a ViewSource, column: &str) -> Option<&'a Expression> {
    let mut v = 0;
    while v < source.values.len() {
        if source.values[v].0.eq_ignore_ascii_case(column) {
            return Some(&source.values[v].1);
        }
        v += 1;
    }
    None
}

/// Returns the type of an expression; `None` if it is always NULL, or names a column that does not exist.
pub const fn type_of(table: &Table, expression: &Expression) -> Option<ViewType> {
    match expression {
        Expression::Null => None,
        Expression::Literal(literal) => Some(literal.ty()),
        Expression::Column(name) => match column_type(table, name) {
            Some(ty) => Some(ViewType::from_sql_type(ty)),
            None => None,
        },
        Expression::Setting(_) | Expression::Concat(_) => Some(ViewType::Text),
        Expression::Coalesce(all) => common(table, all, all.len()),
        Expression::Cast(_, to) => Some(*to),
        Expression::Case(branches, otherwise) => {
            let mut i = 0;
            while i < branches.len() {
                if let Some(ty) = type_of(table, &branches[i].1) {
                    return Some(ty);
                }
                i += 1;
            }
            type_of(table, otherwise)
        }
    }
}

/// Returns true if values of one type can be cast to another.
const fn may_become(from: ViewType, to: ViewType) -> bool {
    match to {
        ViewType::Text => !matches!(from, ViewType::Bytes),
        ViewType::Integer => matches!(from, ViewType::Integer | ViewType::Number | ViewType::Text),
        ViewType::Time => matches!(from, ViewType::Time | ViewType::Text),
        ViewType::Number | ViewType::Bytes | ViewType::Json => false,
    }
}

impl Literal {
    const fn ty(&self) -> ViewType {
        match self {
            Literal::Text(_) => ViewType::Text,
            Literal::Integer(_) => ViewType::Integer,
        }
    }
}

impl ViewType {
    /// Returns the view type for columns of an SQL type.
    pub(crate) const fn from_sql_type(ty: SqlType) -> Self {
        match ty {
            SqlType::Boolean | SqlType::Int | SqlType::BigInt | SqlType::IntUnsigned | SqlType::BigIntUnsigned => {
                ViewType::Integer
            }
            SqlType::Double => ViewType::Number,
            SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => ViewType::Text,
            SqlType::DateTime => ViewType::Time,
            SqlType::LongBlob => ViewType::Bytes,
            SqlType::Json => ViewType::Json,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_views, checked, find};
    use crate::Kind;
    use crate::fixture::MODEL;
    use crate::kind::Definition;
    use crate::schema::Table;
    use crate::view::{Condition, Expression, Literal, View, ViewColumn, ViewSource, ViewType};
    use Expression::{Case, Cast, Coalesce, Column, Concat, Null, Setting};

    const OTHER_TABLE: Table = Table::derived("Other", "other", MODEL.table().columns, MODEL.table().keys);
    const OTHER: Kind =
        Kind::new(Definition { kind: "Other", table: &OTHER_TABLE, ..*MODEL.definition() }, *MODEL.functions());
    const STRANGER: Kind = Kind::new(Definition { kind: "Stranger", ..*MODEL.definition() }, *MODEL.functions());
    const KINDS: &[Kind] = &[MODEL, OTHER];

    const GOOD: View = View {
        name: "everything",
        columns: &[ViewColumn::new("name"), ViewColumn::new("size"), ViewColumn::new("none").ty(ViewType::Time)],
        sources: &[
            ViewSource::of(MODEL, &[("name", Column("NAME")), ("size", Expression::integer(1)), ("none", Null)]),
            ViewSource::of(OTHER, &[("none", Null), ("name", Setting("region")), ("size", Column("res_version"))])
                .filter(Condition::Any(&[
                    Condition::OneOf(Column("name"), &[Literal::Text("a")]),
                    Condition::Stored(Concat(&[Column("name"), Expression::text("\n")]), &[MODEL]),
                ])),
        ],
    };

    /// The mistakes of a view of one column.
    fn mistakes(value: Expression, filter: Option<Condition>) -> Vec<String> {
        let values: &'static [(&str, Expression)] = vec![("a", value)].leak();
        let sources: &'static [ViewSource] = vec![ViewSource { kind: MODEL, values, filter }].leak();
        const COLUMNS: &[ViewColumn] = &[ViewColumn::new("a")];
        all(&[View { name: "one", columns: COLUMNS, sources }])
    }

    fn all(views: &[View]) -> Vec<String> {
        let errors = check_views(KINDS, views).err().unwrap_or_default();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_view_without_a_mistake_is_taken_in_a_constant_and_at_run_time() {
        const VIEWS: &[View] = checked(KINDS, &[GOOD]);
        assert_eq!(check_views(KINDS, VIEWS), Ok(()));
    }

    #[test]
    fn every_mistake_in_an_expression_is_named_with_its_place() {
        let head = "view `one`, kind `michelangelo.api/v2 Model`, column `a`: ";
        for (value, says) in [
            (Column("colour"), "there is no column `colour` in table `model`"),
            (
                Setting(""),
                "`` cannot be the name of a setting: it has 1 to 64 bytes, no backslashes and no control characters",
            ),
            (Expression::text("a\\b"), "a text may have no backslashes, and no control characters but line breaks"),
            (Expression::text("a\tb"), "a text may have no backslashes, and no control characters but line breaks"),
            (Concat(&[]), "`concat` has no values"),
            (
                Concat(&[Expression::Literal(Literal::Text("a\nb")), Null, Column("res_version")]),
                "`concat` joins texts, and one of its values is an integer: cast it",
            ),
            (
                Case(&[(Condition::Stored(Column("create_time"), &[MODEL]), Null)], &Column("name")),
                "`stored` looks for a uid, and its value is a time: cast it",
            ),
            (Case(&[(Condition::Stored(Column("name"), &[]), Null)], &Column("name")), "`stored` names no kind"),
            (
                Case(&[(Condition::Stored(Column("name"), &[OTHER, STRANGER]), Null)], &Column("name")),
                "kind `michelangelo.api/v2 Stranger` is not in the registry: add it there, or take it out of the condition",
            ),
            (Cast(&Column("name"), ViewType::Json), "a value is cast to text, an integer or a time, not to JSON"),
            (Cast(&Column("proto"), ViewType::Text), "bytes cannot become text"),
            (Cast(&Column("create_time"), ViewType::Integer), "a time cannot become an integer"),
            (
                Coalesce(&[Column("name"), Expression::Literal(Literal::Integer(1))]),
                "one value is text and another an integer: cast one of them",
            ),
            (
                Case(&[(Condition::Live, Column("name"))], &Column("create_time")),
                "one value is text and another a time: cast one of them",
            ),
            (
                Case(&[(Condition::OneOf(Column("create_time"), &[Literal::Text("x")]), Null)], &Column("name")),
                "a condition compares a time with text: cast it",
            ),
            (
                Case(&[(Condition::OneOf(Column("name"), &[]), Null)], &Column("name")),
                "a condition has nothing to compare with",
            ),
            (Case(&[(Condition::Any(&[]), Null)], &Column("name")), "a list of conditions is empty"),
        ] {
            assert_eq!(mistakes(value, None), [format!("{head}{says}")]);
        }
        assert_eq!(mistakes(Null, None), ["view `one`, column `a`: every kind gives NULL: say what it holds"]);
        let filter = Condition::Not(&Condition::Null(Column("colour")));
        assert_eq!(
            mistakes(Column("name"), Some(filter)),
            ["view `one`, kind `michelangelo.api/v2 Model`, filter: there is no column `colour` in table `model`"]
        );
    }

    #[test]
    fn all_mistakes_of_all_views_are_told_at_once() {
        const BAD: View = View {
            name: "model_labels",
            columns: &[ViewColumn::new("a"), ViewColumn::new("A"), ViewColumn::new("b c"), ViewColumn::new("d")],
            sources: &[
                ViewSource::of(MODEL, &[("a", Column("name")), ("d", Null), ("e", Null), ("b c", Column("uid"))]),
                ViewSource::of(OTHER, &[("a", Column("create_time")), ("b c", Column("uid")), ("b c", Null)]),
                ViewSource::of(STRANGER, &[("a", Null), ("b c", Null), ("d", Null)]),
            ],
        };
        let found =
            all(&[GOOD, BAD, View { name: "Everything", ..GOOD }, View { name: "", columns: &[], sources: &[] }]);
        let model = "kind `michelangelo.api/v2 Model`";
        let expected = [
            format!("view `model_labels`: this is the name of a table of {model}; give the view another one"),
            "view `model_labels`, column `A`: there are two columns of this name".into(),
            "view `model_labels`, column `b c`: its name may only have letters and digits of ASCII and underscores".into(),
            format!("view `model_labels`, {model}, column `e`: the view has no such column"),
            "view `model_labels`, kind `michelangelo.api/v2 Other`, column `b c`: it is filled twice".into(),
            "view `model_labels`, kind `michelangelo.api/v2 Other`, column `d`: nothing fills it: give an expression, or NULL".into(),
            "view `model_labels`: kind `michelangelo.api/v2 Stranger` is not in the registry: add it there, or take it out of the view".into(),
            "view `model_labels`, kind `michelangelo.api/v2 Other`, column `a`: it is a time here and text of another kind: cast it".into(),
            "view `model_labels`, kind `michelangelo.api/v2 Other`, column `A`: it is a time here and text of another kind: cast it".into(),
            "view `Everything`: there are two views of this name".into(),
            "view ``: its name is empty".into(),
            "view ``: it has no columns".into(),
            "view ``: it has no kinds".into(),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_view_has_no_more_columns_than_a_table() {
        let columns = |count: usize| (0..count).map(|c| ViewColumn::new(format!("c{c}").leak())).collect::<Vec<_>>();
        let names = |count: usize| (0..count).map(|c| (&*format!("c{c}").leak(), Column("name"))).collect::<Vec<_>>();
        let view = |count: usize| View {
            columns: columns(count).leak(),
            sources: vec![ViewSource { kind: MODEL, values: names(count).leak(), filter: None }].leak(),
            ..GOOD
        };
        assert_eq!(all(&[view(1017)]), [""; 0]);
        assert_eq!(
            all(&[view(1018)]),
            ["view `everything`: it has 1018 columns, InnoDB allows 1017: make several views of it"]
        );
    }

    #[test]
    fn one_pass_finds_every_mistake() {
        const COLUMNS: usize = 900;
        let names = || (0..COLUMNS).map(|c| &*format!("c{c}").leak());
        let columns: &'static [ViewColumn] =
            names().map(|name| ViewColumn::new(name).ty(ViewType::Text)).collect::<Vec<_>>().leak();
        let values: &'static [(&str, Expression)] =
            names().map(|name| (name, Column("none"))).collect::<Vec<_>>().leak();
        let sources: &'static [ViewSource] = vec![ViewSource { kind: MODEL, values, filter: None }].leak();
        let views = [View { name: "wide", columns, sources }];
        assert_eq!(find(KINDS, &views, &mut []), COLUMNS);
        let mut kept = vec![None; COLUMNS];
        assert_eq!(find(KINDS, &views, &mut kept), COLUMNS);
        let places = kept.iter().zip(names()).filter(|(text, name)| {
            text.is_some_and(|text| text.as_str().contains(&format!("column `{name}`: there is no column `none`")))
        });
        assert_eq!(places.count(), COLUMNS);
    }

    #[test]
    fn the_first_mistake_is_a_compile_error_of_a_constant() {
        let long: &'static str = "v".repeat(60).leak();
        let views: &'static [View] = vec![View { name: long, ..GOOD }].leak();
        let panicked = std::panic::catch_unwind(|| checked(KINDS, views)).unwrap_err();
        let message = format!("view `{long}`: its name has 60 bytes and may have 59");
        assert_eq!(panicked.downcast_ref::<String>(), Some(&message));
        const TYPED: View = View { columns: &[GOOD.columns[0].ty(ViewType::Integer)], ..GOOD };
        let found = all(&[TYPED]);
        assert!(
            found.iter().any(|text| text.ends_with("it is text here and an integer in the view: cast it")),
            "{found:?}"
        );
    }
}
