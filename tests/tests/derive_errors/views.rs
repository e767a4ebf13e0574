//! Views over what is not there.

use ingester_core::view::{self, Expression, View, ViewColumn, ViewSource};
use ingester_core::{Ingestable, Kind};
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "example.com", version = "v1", kind = "Widget", namespaced)]
struct Widget {
    #[index]
    colour: String,
}

const KINDS: &[Kind] = &[Kind::of::<Widget>()];

const fn of(columns: &'static [ViewColumn], sources: &'static [ViewSource]) -> View {
    View { name: "all", columns, sources }
}

const UNKNOWN: View = of(
    &[ViewColumn::new("colour")],
    &[ViewSource::of(Kind::of::<Widget>(), &[("colour", Expression::Column("color"))])],
);

const MISSING: View = of(&[ViewColumn::new("colour"), ViewColumn::new("size")], &[
    ViewSource::of(Kind::of::<Widget>(), &[("colour", Expression::Column("colour"))]),
]);

const COLUMN: &[View] = view::checked(KINDS, &[UNKNOWN]);
//~^ ERROR view `all`, kind `example.com/v1 Widget`, column `colour`: there is no column `color` in table `widget`

const VALUE: &[View] = view::checked(KINDS, &[MISSING]);
//~^ ERROR view `all`, kind `example.com/v1 Widget`, column `size`: nothing fills it: give an expression, or NULL

const NAME: &[View] = view::checked(KINDS, &[View { name: "widget_labels", ..UNKNOWN }]);
//~^ ERROR view `widget_labels`: this is the name of a table of kind `example.com/v1 Widget`; give the view another one

fn main() {
    println!("{COLUMN:?} {VALUE:?} {NAME:?}");
}
