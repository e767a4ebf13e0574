//! One pass over an object's text that gives the values of all columns.
//!
//! The rules of decoding are the same as for structs: null is absent, an integer may be written as a string, and a value of another type is
//! an error of its object, with the path.

use super::path::{Function, Step};
use super::recipe::{ColumnType, Element, Node, Recipe, Slot, SlotUse};
use ingester_core::json::{self, Reader, TokenKind};
use ingester_core::kind::Declared;
use ingester_core::object::Object;
use ingester_core::schema::{Form, SqlType, Unit};
use ingester_core::value::{Value, Values, stored_text};
use ingester_core::wire::{Time, quantity, resources};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The values of a slot so far.
#[derive(Clone, Debug, Default)]
enum SlotValue {
    #[default]
    Nothing,
    Value(Value),
    Count(i64),
    Sum(i128),
    Text(String),
    /// Keys and values of many, see [`SlotUse::Many`].
    Many(Vec<(Box<str>, Box<str>)>),
    /// For a condition: it holds.
    Holds,
    /// Something of another type, which is a mistake of the object if the path counts.
    Wrong(json::Error),
}

/// A value on its way through the functions.
enum Item<'a> {
    Json(Reader<'a>),
    Text(Cow<'a, str>),
    /// In billionths.
    Number(i128),
}

impl Declared for Recipe {
    fn spelled(&self) -> &str {
        &self.spelled
    }

    fn decode(&self, object: &Object, out: &mut Values) -> Result<bool, json::Error> {
        let found = object.unread().filter(|_| !self.from_start).and_then(|reader| self.rest(reader).ok());
        let found = match found.filter(|found| self.wrong(found).is_none()) {
            Some(found) => found,
            // Anything unusual is found again here, where the path of the mistake is known.
            None => {
                object.parts()?;
                match self.whole(object.text()) {
                    Ok(found) => found,
                    // An object that is left out may have any shape.
                    Err(_) if self.leaves_out(object.text()) => return Ok(false),
                    Err(error) => return Err(error.locate(object.text())),
                }
            }
        };
        let has_row = all_hold(&found, &self.filter);
        match self.wrong(&found) {
            // An object that is left out may have any shape.
            Some(_) if !has_row => return Ok(false),
            Some(error) if !self.tolerant => return Err(error.clone().locate(object.text())),
            _ => {}
        }
        let reason = |error: &json::Error| error.clone().locate(object.text()).to_string();
        let mut values = found;
        for column in &self.columns {
            // Another of its paths must not stand in for the value.
            if let Some(error) = self.wrong_of(&values, column.slots.clone()) {
                out.push_unfit(reason(error));
                continue;
            }
            let first = column.slots.clone().find_map(|slot| {
                let Slot { functions, target, guards, default } = &self.slots[slot];
                let SlotUse::Column(ty) = target else { return None };
                if !all_hold(&values, guards) {
                    return None;
                }
                match end(std::mem::take(&mut values[slot]), functions, *ty) {
                    Value::Null => Some(default.clone()).filter(|default| *default != Value::Null),
                    value => Some(value),
                }
            });
            out.push(match (first, &column.default) {
                (Some(value), _) => value,
                (None, Value::Null) if column.slots.clone().any(|slot| all_hold(&values, &self.slots[slot].guards)) => {
                    column.empty.clone()
                }
                (None, default) => default.clone(),
            });
        }
        for column in &self.many {
            if let Some(error) = self.wrong_of(&values, column.slots.clone()) {
                out.push_many_unfit(reason(error));
                continue;
            }
            let mut slots = column.slots.clone().filter(|slot| all_hold(&values, &self.slots[*slot].guards));
            let first = slots.find(|slot| matches!(&values[*slot], SlotValue::Many(many) if !many.is_empty()));
            let found = first.map(|slot| std::mem::take(&mut values[slot]));
            out.push_many(if let Some(SlotValue::Many(many)) = found { many } else { Vec::new() });
        }
        Ok(has_row)
    }
}

impl Recipe {
    /// Returns true if the conditions do not hold for an object that has a value of a wrong type for its column.
    fn leaves_out(&self, text: &str) -> bool {
        let Some(conditions) = &self.conditions else { return false };
        conditions.whole(text).is_ok_and(|found| !found.iter().all(|found| matches!(found, SlotValue::Holds)))
    }

    /// The mistake in a value that counts.
    fn wrong<'f>(&self, found: &'f [SlotValue]) -> Option<&'f json::Error> {
        self.wrong_of(found, 0..self.slots.len())
    }

    /// The mistake in a value of one of these slots that counts.
    fn wrong_of<'f>(&self, found: &'f [SlotValue], mut slots: Range<usize>) -> Option<&'f json::Error> {
        if self.asked.is_empty() && !self.tolerant {
            return None;
        }
        slots.find_map(|slot| match &found[slot] {
            SlotValue::Wrong(error) if all_hold(found, &self.slots[slot].guards) => Some(error),
            _ => None,
        })
    }

    /// Returns true if a value of a wrong type is noted in this slot. Then the object's other values are read, too.
    fn notes_wrong(&self, slot: usize) -> bool {
        let Slot { guards, target, .. } = &self.slots[slot];
        !guards.is_empty() || self.tolerant && !matches!(target, SlotUse::Condition(_))
    }

    /// Reads the members after the metadata.
    fn rest(&self, mut reader: Reader<'_>) -> Result<Vec<SlotValue>, json::Error> {
        let mut found = vec![SlotValue::Nothing; self.slots.len()];
        self.members(&self.nodes[0], &mut reader, &mut found, true)?;
        reader.finish()?;
        Ok(found)
    }

    /// Reads the whole object.
    fn whole(&self, text: &str) -> Result<Vec<SlotValue>, json::Error> {
        let mut found = vec![SlotValue::Nothing; self.slots.len()];
        let mut reader = Reader::new(text);
        reader.begin_object()?;
        self.members(&self.nodes[0], &mut reader, &mut found, false)?;
        reader.finish()?;
        Ok(found)
    }

    /// Reads the rest of an object. In the `tail` of the root, no key from before it may come again.
    fn members(
        &self,
        node: &Node,
        reader: &mut Reader<'_>,
        found: &mut [SlotValue],
        tail: bool,
    ) -> Result<(), json::Error> {
        let each = node.elements.iter().find(|(element, _)| *element == Element::Each);
        // A bit a member; if there are more members than bits, the others are not checked for coming twice.
        let mut seen = 0_u64;
        while let Some(key) = reader.next_key()? {
            if reader.peek()? == TokenKind::Null {
                reader.null()?;
                continue;
            }
            if tail && matches!(&*key, "apiVersion" | "kind" | "metadata") {
                return Err(json::Error::duplicate(reader.offset(), &key));
            }
            let Some(place) = node.members.iter().position(|(member, _)| **member == *key) else {
                match each {
                    Some((_, below)) => self.value(*below, reader, found)?,
                    None => reader.skip()?,
                }
                continue;
            };
            let bit = 1_u64.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0);
            if seen & bit != 0 {
                return Err(json::Error::duplicate(reader.offset(), &key));
            }
            seen |= bit;
            if let Some((_, below)) = each {
                self.value(*below, &mut reader.clone(), found)?;
            }
            self.value(node.members[place].1, reader, found)?;
        }
        Ok(())
    }

    /// Reads a value, whatever it is.
    fn value(&self, node: usize, reader: &mut Reader<'_>, found: &mut [SlotValue]) -> Result<(), json::Error> {
        let node = &self.nodes[node];
        if reader.peek()? == TokenKind::Null {
            return reader.null();
        }
        let inner = !node.members.is_empty() || !node.elements.is_empty();
        let (last, others) = match node.sinks.split_last() {
            Some((last, others)) if !inner => (Some(*last), others),
            _ => (None, &node.sinks[..]),
        };
        for slot in others {
            self.sink(*slot, &mut reader.clone(), found)?;
        }
        if let Some(slot) = last {
            return self.sink(slot, reader, found);
        }
        let each = node.elements.iter().any(|(element, _)| *element == Element::Each);
        match reader.peek()? {
            TokenKind::Object if !node.members.is_empty() || each => {
                reader.begin_object()?;
                self.members(node, reader, found, false)
            }
            TokenKind::Array if !node.elements.is_empty() => self.elements(node, reader, found),
            _ => {
                let error = reader.mismatch(match (node.members.is_empty(), each) {
                    (true, true) => "an array or an object",
                    (true, false) => "an array",
                    (false, _) => "an object",
                });
                let below = || node.through.iter().filter(|slot| !node.sinks.contains(slot));
                if !below().all(|slot| self.notes_wrong(*slot)) {
                    return Err(error);
                }
                for slot in below() {
                    found[*slot] = SlotValue::Wrong(error.clone());
                }
                reader.skip()
            }
        }
    }

    fn elements(&self, node: &Node, reader: &mut Reader<'_>, found: &mut [SlotValue]) -> Result<(), json::Error> {
        let back = node.elements.iter().filter_map(|(element, _)| match element {
            Element::Back(place) => usize::try_from(*place).ok(),
            _ => None,
        });
        let back = back.max().unwrap_or(0);
        let mut last = VecDeque::new();
        let mut matched = vec![false; node.elements.len()];
        // Elements that stand in if nothing matches.
        let mut spare = Vec::new();
        let mut place = 0;
        reader.begin_array()?;
        while reader.next_element()? {
            if reader.peek()? == TokenKind::Null {
                reader.null()?;
                continue;
            }
            let here = reader.clone();
            reader.skip()?;
            for ((element, below), matched) in node.elements.iter().zip(&mut matched) {
                let wanted = match element {
                    Element::Each => true,
                    Element::Front(wanted) => *wanted == place,
                    Element::Back(_) => false,
                    Element::Match(names, literal, _) => !*matched && has(here.clone(), names, literal)?,
                };
                if wanted {
                    *matched = true;
                    self.value(*below, &mut here.clone(), found)?;
                } else if let Element::Match(.., Some(number)) = element
                    && *number == place
                    && !*matched
                {
                    spare.push((*below, here.clone()));
                }
            }
            if back > 0 {
                if last.len() == back {
                    last.pop_front();
                }
                last.push_back(here);
            }
            place += 1;
        }
        for (below, mut here) in spare {
            let place = node.elements.iter().position(|(_, other)| *other == below);
            if place.is_some_and(|place| !matched[place]) {
                self.value(below, &mut here, found)?;
            }
        }
        for (element, below) in &node.elements {
            if let Element::Back(wanted) = element
                && let Some(place) = usize::try_from(*wanted).ok().and_then(|wanted| last.len().checked_sub(wanted))
                && let Some(here) = last.get(place)
            {
                self.value(*below, &mut here.clone(), found)?;
            }
        }
        Ok(())
    }

    /// Gives a value to a slot.
    fn sink(&self, slot: usize, reader: &mut Reader<'_>, found: &mut [SlotValue]) -> Result<(), json::Error> {
        let Slot { functions, target, guards, .. } = &self.slots[slot];
        let notes_wrong = self.notes_wrong(slot);
        let found = &mut found[slot];
        let here = reader.clone();
        if let (true, true, SlotUse::Column(ty)) = (functions.is_empty(), guards.is_empty(), target) {
            match typed(reader, ty.ty) {
                Ok(value) => *found = SlotValue::Value(value),
                Err(error) if notes_wrong => {
                    *found = SlotValue::Wrong(error);
                    *reader = here;
                    reader.skip()?;
                }
                Err(error) => return Err(error),
            }
            return Ok(());
        }
        reader.skip()?;
        if matches!(found, SlotValue::Wrong(_)) {
            return Ok(());
        }
        match apply(functions, Item::Json(here), target, found) {
            // Only the end of the text shows if this slot counts.
            Err(error) if notes_wrong => {
                *found = SlotValue::Wrong(error);
                Ok(())
            }
            done => done,
        }
    }
}

/// True if the conditions of these slots hold.
fn all_hold(found: &[SlotValue], slots: &[usize]) -> bool {
    slots.iter().all(|slot| matches!(found[*slot], SlotValue::Holds))
}

/// Returns true if an element of an array has this value at these names.
fn has(mut element: Reader<'_>, names: &[Box<str>], literal: &str) -> Result<bool, json::Error> {
    for name in names {
        match member(element, name)? {
            Some(value) => element = value,
            None => return Ok(false),
        }
    }
    Ok(written(&mut element)?.is_some_and(|text| *text == *literal))
}

/// The value of a member; `None` if there is none, or this is not an object.
fn member<'a>(mut reader: Reader<'a>, name: &str) -> Result<Option<Reader<'a>>, json::Error> {
    if reader.peek()? != TokenKind::Object {
        return Ok(None);
    }
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if *key == *name {
            return Ok(Some(reader));
        }
        reader.skip()?;
    }
    Ok(None)
}

/// A text, and a number or a truth as it is written; `None` for others.
fn written<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, json::Error> {
    match reader.peek()? {
        TokenKind::String => reader.string().map(Some),
        TokenKind::Number | TokenKind::Bool => Ok(Some(reader.raw()?.into())),
        TokenKind::Object | TokenKind::Array | TokenKind::Null => Ok(None),
    }
}

/// Sends a value through functions to where they end.
fn apply(functions: &[Function], item: Item<'_>, target: &SlotUse, found: &mut SlotValue) -> Result<(), json::Error> {
    let Some((function, rest)) = functions.split_first() else {
        return keep(item, target, found);
    };
    let item = match function {
        Function::Json(steps) => {
            let text = match item {
                Item::Json(mut reader) if reader.peek()? == TokenKind::String => reader.string()?,
                Item::Text(text) => text,
                Item::Json(_) | Item::Number(_) => return Ok(()),
            };
            // The text in there is not the object's own, so it is not a mistake of the object.
            return match inside(&text, steps) {
                Some(reader) => apply(rest, Item::Json(reader), target, found).or(Ok(())),
                None => Ok(()),
            };
        }
        Function::Lower => match item {
            Item::Json(mut reader) => Item::Text(reader.string()?.to_lowercase().into()),
            Item::Text(text) => Item::Text(text.to_lowercase().into()),
            number @ Item::Number(_) => number,
        },
        Function::Text => match item {
            Item::Json(mut reader) => Item::Text(reader.printed()?),
            Item::Number(number) => Item::Text(quantity::decimal(number).into()),
            text @ Item::Text(_) => text,
        },
        Function::Quantity => Item::Number(number(&item, true)?),
        Function::Count => {
            let count = if let SlotValue::Count(count) = found { *count } else { 0 };
            *found = SlotValue::Count(count + 1);
            return Ok(());
        }
        Function::Sum => {
            let sum = if let SlotValue::Sum(sum) = found { *sum } else { 0 };
            *found = SlotValue::Sum(sum.saturating_add(number(&item, false)?));
            return Ok(());
        }
        Function::Join(between) => {
            let text = text_of(item)?;
            match found {
                SlotValue::Text(joined) => {
                    joined.push_str(between);
                    joined.push_str(&text);
                }
                _ => *found = SlotValue::Text(text.into_owned()),
            }
            return Ok(());
        }
        Function::Exists => {
            *found = SlotValue::Holds;
            return Ok(());
        }
        Function::Resources => Item::Text(decoded::<resources::PodSpec>(item)?.resources().to_string().into()),
        Function::Replicas => {
            Item::Text(resources::replicas(&decoded::<BTreeMap<String, resources::ReplicaSpec>>(item)?).into())
        }
    };
    apply(rest, item, target, found)
}

/// The value in JSON, as a struct has it.
fn decoded<T: Default + for<'de> Deserialize<'de>>(item: Item<'_>) -> Result<T, json::Error> {
    match item {
        Item::Json(mut reader) => {
            let at = reader.offset();
            T::deserialize(&mut reader).map_err(|error| error.place(at))
        }
        // No valid path gives this to such a function.
        Item::Text(_) | Item::Number(_) => Ok(T::default()),
    }
}

/// Stores the final value of a slot, unless a function combined many values before.
fn keep(item: Item<'_>, target: &SlotUse, found: &mut SlotValue) -> Result<(), json::Error> {
    match target {
        SlotUse::Column(ty) => {
            let value = match item {
                Item::Json(mut reader) => typed(&mut reader, ty.ty)?,
                Item::Text(text) => Value::text(text),
                Item::Number(number) => numeric(number, *ty),
            };
            if value != Value::Null {
                *found = SlotValue::Value(value);
            }
        }
        SlotUse::Many(form, ty) => {
            let mut many = if let SlotValue::Many(many) = std::mem::take(found) { many } else { Vec::new() };
            match (form, item) {
                (Form::Map, Item::Json(mut reader)) => {
                    if reader.peek()? != TokenKind::Object {
                        return Err(reader.mismatch("an object"));
                    }
                    reader.begin_object()?;
                    while let Some(key) = reader.next_key()? {
                        if reader.peek()? == TokenKind::Null {
                            reader.null()?;
                            continue;
                        }
                        let value = stored_text(&typed(&mut reader, ty.ty)?);
                        many.extend(value.map(|value| (key.trim_end_matches(' ').into(), value)));
                    }
                }
                (_, Item::Json(mut reader)) => {
                    many.extend(stored_text(&typed(&mut reader, ty.ty)?).map(|value| (value, Box::default())));
                }
                (_, Item::Text(text)) => {
                    many.extend(stored_text(&Value::text(text)).map(|value| (value, Box::default())))
                }
                (_, Item::Number(number)) => {
                    many.extend(stored_text(&numeric(number, *ty)).map(|value| (value, Box::default())));
                }
            }
            *found = SlotValue::Many(many);
        }
        SlotUse::Condition(literals) => {
            let holds = literals.is_empty()
                || match item {
                    Item::Json(mut reader) => {
                        written(&mut reader)?.is_some_and(|text| literals.iter().any(|literal| **literal == *text))
                    }
                    Item::Text(text) => literals.iter().any(|literal| **literal == *text),
                    Item::Number(_) => false,
                };
            if holds {
                *found = SlotValue::Holds;
            }
        }
    }
    Ok(())
}

/// The value of a column from what its slot found. A function that folds is not the last one if `lower` follows it.
fn end(found: SlotValue, functions: &[Function], ty: ColumnType) -> Value {
    match found {
        SlotValue::Value(value) => value,
        SlotValue::Holds => Value::Bool(true),
        SlotValue::Wrong(_) | SlotValue::Nothing | SlotValue::Many(_) => {
            match functions.iter().find(|function| function.folds()) {
                Some(Function::Exists) => Value::Bool(false),
                Some(Function::Count) => whole(0, ty.ty),
                _ => Value::Null,
            }
        }
        SlotValue::Count(count) => whole(i128::from(count), ty.ty),
        SlotValue::Sum(sum) => numeric(sum, ty),
        SlotValue::Text(text) if functions.last() == Some(&Function::Lower) => Value::text(text.to_lowercase()),
        SlotValue::Text(text) => Value::text(text),
    }
}

/// Where steps lead in a text that is itself JSON; `None` if it is not JSON, or has nothing there.
fn inside<'a>(text: &'a str, steps: &[Step]) -> Option<Reader<'a>> {
    let mut whole = Reader::new(text);
    whole.skip().and_then(|()| whole.finish()).ok()?;
    let mut reader = Reader::new(text);
    for step in steps {
        reader = match step {
            Step::Name(name) => member(reader, name).ok()??,
            Step::Index(index) => element(reader, *index)?,
            Step::Match(..) | Step::Each => return None,
        };
    }
    (reader.peek().ok()? != TokenKind::Null).then_some(reader)
}

/// An element of an array, from the end if the index is negative.
fn element(mut reader: Reader<'_>, index: i64) -> Option<Reader<'_>> {
    if reader.peek().ok()? != TokenKind::Array {
        return None;
    }
    reader.begin_array().ok()?;
    let mut elements = Vec::new();
    while reader.next_element().ok()? {
        // As in every list, null is absent.
        if reader.peek().ok()? != TokenKind::Null {
            elements.push(reader.clone());
        }
        reader.skip().ok()?;
    }
    let place = if index < 0 {
        elements.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    elements.into_iter().nth(place)
}

/// A number in billionths.
fn number(item: &Item<'_>, quantity: bool) -> Result<i128, json::Error> {
    let reader = match item {
        Item::Number(number) => return Ok(*number),
        Item::Text(text) => {
            return quantity::parse(text).ok_or_else(|| json::Error::value(0, format!("`{text}` is not a quantity")));
        }
        Item::Json(reader) => reader,
    };
    let (wanted, number) = match reader.clone().peek()? {
        TokenKind::Number => ("a number", quantity::parse(reader.clone().number()?)),
        TokenKind::String if quantity => ("a quantity such as 500m or 2Gi", quantity::parse(&reader.clone().string()?)),
        _ => ("a number", None),
    };
    number.ok_or_else(|| reader.mismatch(wanted))
}

fn text_of(item: Item<'_>) -> Result<Cow<'_, str>, json::Error> {
    match item {
        Item::Json(mut reader) => reader.string(),
        Item::Text(text) => Ok(text),
        Item::Number(number) => Ok(quantity::decimal(number).into()),
    }
}

/// A number in billionths as a value of a type, in its unit. Whole numbers are rounded up, as Kubernetes does.
fn numeric(number: i128, ColumnType { ty, unit }: ColumnType) -> Value {
    match ty {
        SqlType::Double => Value::Double(quantity::float(number)),
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => Value::text(quantity::decimal(number)),
        SqlType::Boolean
        | SqlType::Int
        | SqlType::BigInt
        | SqlType::IntUnsigned
        | SqlType::BigIntUnsigned
        | SqlType::DateTime
        | SqlType::LongBlob
        | SqlType::Json => whole(quantity::counted(number, unit.unwrap_or(Unit::Whole)), ty),
    }
}

/// A whole number as a value of a type; one that is too large is refused as any value that does not fit its column.
fn whole(number: i128, ty: SqlType) -> Value {
    match ty {
        SqlType::Double => Value::Double(number as f64),
        SqlType::BigIntUnsigned => u64::try_from(number).map_or(Value::Int(-1), Value::UInt),
        // The row refuses a value that does not fit its column, as for any other number.
        SqlType::Boolean
        | SqlType::Int
        | SqlType::BigInt
        | SqlType::IntUnsigned
        | SqlType::VarChar(_)
        | SqlType::Text
        | SqlType::MediumText
        | SqlType::DateTime
        | SqlType::LongBlob
        | SqlType::Json => match i64::try_from(number) {
            Ok(number) => Value::Int(number),
            Err(_) if number < 0 => Value::Int(i64::MIN),
            Err(_) => Value::UInt(u64::try_from(number).unwrap_or(u64::MAX)),
        },
    }
}

/// A value of a column's type, by the rules of the Rust types that give such columns.
fn typed(reader: &mut Reader<'_>, ty: SqlType) -> Result<Value, json::Error> {
    let at = reader.offset();
    let start = reader.clone();
    let value = match ty {
        SqlType::VarChar(_) | SqlType::Text | SqlType::MediumText => return Ok(Value::text(reader.string()?)),
        SqlType::Boolean => return reader.bool().map(Value::Bool),
        SqlType::Int => i32::deserialize(&mut *reader).map(|value| Value::Int(value.into())),
        SqlType::BigInt => i64::deserialize(&mut *reader).map(Value::Int),
        SqlType::BigIntUnsigned | SqlType::IntUnsigned => u64::deserialize(&mut *reader).map(Value::UInt),
        SqlType::Double => f64::deserialize(&mut *reader).map(Value::Double),
        SqlType::DateTime => Time::deserialize(&mut *reader).map(|time| Value::Time(time.micros())),
        SqlType::Json | SqlType::LongBlob => return Ok(Value::text(reader.raw()?)),
    };
    value.map_err(|error| match unread_quantity(start) {
        Some(text) if ty.holds_numbers() => json::Error::value(
            at,
            format!("`{text}` is a quantity, which {ty} does not read: end the path with `| quantity`"),
        ),
        _ => error.place(at),
    })
}

/// The text of a quantity, which no number is read from.
#[cold]
fn unread_quantity(mut reader: Reader<'_>) -> Option<Cow<'_, str>> {
    let text = reader.string().ok()?;
    quantity::parse(&text).map(|_| text)
}
