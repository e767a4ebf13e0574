//! First mistakes: what rustc says of them names the remedy, and proposes nothing that the derives refuse.

use ingester_core::Ingestable;
use serde::Deserialize;

// Where rustc would propose to change code of the derive (`#[index(with = (by_value).to_string())]`, `derive(Ingestable.expect("REASON"))`),
// it says the signature instead. Its proposal for a misspelt field is taken: see the next struct.
#[derive(Ingestable, Deserialize)]
#[ingest(group = "", version = "v1", kind = "Widget", namespaced, filter = maybe)] //~ ERROR mismatched types
//~| NOTE expected fn pointer `for<'a> fn(&'a Widget) -> bool`
struct Widget {
    #[index]
    owner: Owner, //~ ERROR `Owner` cannot be stored in a column
    //~| NOTE `Indexed` (a struct whose fields with `#[index]` are)
    #[index(path = "tem")] //~ ERROR no field `tem` on type `&Owner`
    //~| NOTE a field with a similar name exists
    team: Owner,
    #[index(with = text_by_value)] //~ ERROR mismatched types
    //~| NOTE expected fn pointer `fn(&_) -> _`
    text: String,
    #[index(with = text_by_value)] //~ ERROR mismatched types
    //~| NOTE expected fn pointer `fn(&_) -> _`
    maybe_text: Option<String>,
    #[index(path = "team", column = "by_path", with = text_by_value)] //~ ERROR mismatched types
    //~| NOTE expected fn pointer `fn(&_) -> _`
    last: Owner,
    #[index(with = number_by_value)] //~ ERROR mismatched types
    //~| NOTE expected fn pointer `fn(&_) -> _`
    number: i32,
}

// Right, but for the derive that is forgotten.
#[derive(Ingestable)]
#[ingest(group = "", version = "v1", kind = "Pod", namespaced)]
struct Pod {
    //~^ ERROR `Pod` cannot be read from an object's JSON
    //~| NOTE this struct does not derive `Deserialize`
    //~| NOTE objects are read by serde: add `serde::Deserialize` to the derives of `Pod`
    #[index(path = team)]
    #[index(path = home.street)]
    owner: Owner,
}

fn text_by_value(text: String) -> String {
    text
}

fn number_by_value(number: i32) -> i32 {
    number
}

fn maybe(_: &Widget) -> Option<bool> {
    Some(true)
}

#[derive(Deserialize)]
struct Owner {
    team: String,
    home: Home,
}

#[derive(Deserialize)]
struct Home {
    street: String,
}

fn main() {}
