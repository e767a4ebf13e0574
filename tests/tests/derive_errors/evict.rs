//! Rules of evictions that a file spells in another way, or not at all.

use ingester_core::Ingestable;
use serde::Deserialize;

#[derive(Ingestable, Deserialize)]
#[ingest(group = "a.example.com", version = "v1", kind = "Wrong", namespaced = false)]
#[ingest(evict)] //~ ERROR `evict` takes options in parentheses
#[ingest(evict(nam = "a", after = "1d"))] //~ ERROR `#[ingest(evict)]` has no option `nam`: did you mean `name`?
#[ingest(evict(name = "a", when()))] //~ ERROR nothing is selected: add `field_selector` or `label_selector`
#[ingest(evict(name = "b", when(field = "a=b")))] //~ ERROR `#[ingest(evict(when))]` has no option `field`
#[ingest(evict(name = "c", keep_last(by = ["name"])))] //~ ERROR `count` is missing: how many objects of each group stay
#[ingest(evict(name = "d", keep_last(count = 0)))] //~ ERROR `count` takes a number from 1
#[ingest(evict(name = "e", after = "a day"))] //~ ERROR `after` is how long ago the time of `since` must be: a duration such as
#[ingest(evict(name = "f", after = "1d", namespaces = ["ml"]))] //~ ERROR objects of this kind are in no namespace: leave out what the rule says of namespaces
#[ingest(evict(name = "g", when(field_selector = "name")))] //~ ERROR expected `=`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `in (...)` or `notin (...)` behind `name`
#[ingest(evict(name = "h", after = "1d", after = "2d"))] //~ ERROR `after` is given twice
struct Wrong {}

fn main() {}
