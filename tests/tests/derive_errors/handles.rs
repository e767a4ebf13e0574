//! Handles that are compared with the wrong values, or used for the wrong kind.

use ingester_core::query::{Handle, PartOf, Predicate, Sort};
use ingester_core::{ColumnValue, Indexed, Ingestable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Widget", status = "WidgetStatus")]
struct WidgetSpec {
    #[index]
    colour: String,
    #[index]
    size: Option<i32>,
    #[index]
    place: Option<Place>,
    #[index]
    mode: Mode,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct WidgetStatus {
    #[index]
    ready: bool,
}

#[derive(CustomResource, Ingestable, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Gadget", status = "GadgetStatus")]
struct GadgetSpec {
    #[index]
    number: i64,
}

#[derive(Indexed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct GadgetStatus {
    #[index]
    done: bool,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Place {
    street: String,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct Person {
    name: String,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
enum Mode {
    Fast,
}

#[derive(ColumnValue, Serialize, Deserialize, JsonSchema, Clone, Debug)]
enum Phase {
    On,
}

/// A query as the store has it.
struct Query<K>(PhantomData<K>);

impl<K> Query<K> {
    fn filter<S: PartOf<K>>(self, _: Predicate<S>) -> Self {
        self
    }

    fn order_by<S: PartOf<K>>(self, _: Sort<S>) -> Self {
        self
    }
}

fn right(widgets: Query<Widget>) -> Query<Widget> {
    widgets
        .filter(Widget::colour().eq("red").and(WidgetStatus::ready().eq(true)))
        .filter(Widget::mode().eq(Mode::Fast).or(Widget::place().part(Place::street()).like("a%")))
        .order_by(Widget::create_time().desc())
}

fn wrong(widgets: Query<Widget>) {
    Widget::size().eq("red"); //~ ERROR `str` cannot be compared with a column of `Integers`
    Widget::colour().eq(5); //~ ERROR `{integer}` cannot be compared with a column of `Texts`
    Widget::create_time().gt("yesterday"); //~ ERROR `str` cannot be compared with a column of `Moments`
    Widget::mode().eq(Phase::On); //~ ERROR `Phase` cannot be compared with a column of `NamesOf<Mode>`
    Widget::colour().is_in([1, 2]); //~ ERROR `{integer}` cannot be compared with a column of `Texts`
    Widget::size().like("1%"); //~ ERROR a column of `Integers` is not text, and a pattern is for text
    Widget::place().eq("here"); //~ ERROR `Place` is not one column that can be compared or ordered by
    Widget::place().part(Person::name()); 
    //~^ ERROR mismatched types
    //~| NOTE expected `Handle<Place, _>`, found `Handle<Person, String>`
    WidgetSpec::colour().eq("red"); //~ ERROR no function or associated item named `colour` found for struct `WidgetSpec`
    //~| NOTE there is an associated function `__the_columns_of_WidgetSpec_are_functions_of_Widget` with a similar name
    WidgetSpec::create_time().desc(); //~ ERROR no function or associated item named `create_time` found for struct `WidgetSpec`
    //~| NOTE there is an associated function `__the_columns_of_WidgetSpec_are_functions_of_Widget` with a similar name
    Widget::colour().part(Place::street()); //~ ERROR a value of `String` has no columns of that struct
    widgets
        .filter(Gadget::number().eq(5)) //~ ERROR a column of `Gadget` is not one of `Widget`
        .filter(GadgetStatus::done().eq(true)) //~ ERROR a column of `GadgetStatus` is not one of `Widget`
        .filter(Place::street().eq("x")) //~ ERROR a column of `Place` is not one of `Widget`
        .order_by(Gadget::create_time().desc()); //~ ERROR a column of `Gadget` is not one of `Widget`
}

/// A function of the name is there already, and one that says so.
#[derive(Indexed, Deserialize)]
struct Part {
    #[index]
    name: String, //~ ERROR duplicate definitions with name `name`
    //~| ERROR multiple applicable items in scope
}

impl Part {
    fn name(&self) -> &str {
        &self.name
    }
}

#[derive(Indexed, Deserialize)]
#[ingest(handles = false)]
struct Silent {
    #[index]
    name: String,
}

impl Silent {
    fn name(&self) -> &str {
        &self.name
    }
}

const NAME: Handle<Silent, String> = Handle::named("name");

fn main() {}
