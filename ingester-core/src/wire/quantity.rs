//! Kubernetes' quantities (`500m`, `128Mi`, `1e3`) as columns of exact integers.
//!
//! A quantity has at most three decimal places and is at most 2^63-1 (the API's documentation of `Quantity`), so thousandths lose
//! nothing: `0.5` CPUs are 500. BIGINT is exact on every database, and can be summed and compared. SQLite has no DECIMAL, and a DOUBLE is
//! not exact. Bytes and counts are better kept in whole units, by [`units`], as the function `quantity` of a declared column gives them.
//! <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>

use crate::schema::{Shape, Unit};
use crate::value::{ColumnValue, Scalar, Value, Values, class};
use ingester_wire::quantity::PARTS;
#[doc(inline)]
pub use ingester_wire::quantity::{decimal, float, parse};
use k8s_openapi::apimachinery::pkg::api::resource;
use serde::{Deserialize, Deserializer};
use std::fmt;

/// A type whose values are quantities, as text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a quantity",
    label = "neither a text nor a `Quantity`",
    note = "`unit` and the functions of `wire::quantity` are for a `String`, `wire::Quantity` or k8s-openapi's `Quantity`, also in an `Option`"
)]
pub trait QuantityText {
    /// The text.
    fn quantity(&self) -> &str;
}

impl QuantityText for resource::Quantity {
    fn quantity(&self) -> &str {
        &self.0
    }
}

impl QuantityText for Quantity {
    fn quantity(&self) -> &str {
        &self.0
    }
}

/// A quantity as objects of all CRDs have it: a text, or a number where the schema allows both (`x-kubernetes-int-or-string`). k8s-openapi's
/// `Quantity` refuses numbers. For fields with `#[index(unit = "...")]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantity(pub String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl serde::de::Visitor<'_> for Reading {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity, as a text or a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<Quantity, E> {
        Ok(Quantity(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Quantity, E> {
        Ok(Quantity(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Quantity, E> {
        Ok(Quantity(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Quantity, E> {
        Ok(Quantity(number.to_string()))
    }
}

impl QuantityText for str {
    fn quantity(&self) -> &str {
        self
    }
}

impl QuantityText for String {
    fn quantity(&self) -> &str {
        self
    }
}

/// A quantity in thousandths: a column of type BIGINT. An object with one of 9.2 * 10^15 or more (8 PiB) does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(i128);

impl ColumnValue for Thousandths {
    const SHAPE: Shape = Shape::quantity(Unit::Milli);

    fn write(&self, out: &mut Values) {
        out.push(stored(self.0));
    }
}

/// A quantity in whole units: a column of type BIGINT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(i64);

impl ColumnValue for Units {
    const SHAPE: Shape = Shape::quantity(Unit::Whole);

    fn write(&self, out: &mut Values) {
        out.push(Value::Int(self.0));
    }
}

impl Scalar for Thousandths {
    type Class = class::Integers;
}

impl Scalar for Units {
    type Class = class::Integers;
}

/// A number of a column of type BIGINT. The row's check refuses what does not fit, and names the column.
pub fn stored(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::Int(number),
        Err(_) if number < 0 => Value::Int(i64::MIN),
        Err(_) => Value::UInt(u64::try_from(number).unwrap_or(u64::MAX)),
    }
}

/// For `#[index(with = quantity::thousandths)]`: a CPU of `0.5` or `500m` is 500. `None` for a text that is not a quantity. Finer fractions
/// are rounded away from zero, as Kubernetes does.
pub fn thousandths<Q: QuantityText + ?Sized>(quantity: &Q) -> Option<Thousandths> {
    parse(quantity.quantity()).map(|number| Thousandths(counted(number, Unit::Milli)))
}

/// For `#[index(with = quantity::units)]`: `128Mi` is 134217728. `None` for a text that is not a quantity. Fractions are rounded away from
/// zero, as Kubernetes does.
pub fn units<Q: QuantityText + ?Sized>(quantity: &Q) -> Option<Units> {
    let number = counted(parse(quantity.quantity())?, Unit::Whole);
    Some(Units(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })))
}

/// For `#[index(with = quantity::number)]`: the nearest DOUBLE, which the function `quantity` of a declared column gives, too. `None` for
/// a text that is not a quantity.
pub fn number<Q: QuantityText + ?Sized>(quantity: &Q) -> Option<f64> {
    parse(quantity.quantity()).map(float)
}

/// A quantity of `#[index(unit = "...")]`, counted in thousandths or in whole units: a column of type BIGINT. An object whose text is
/// not a quantity, or whose number does not fit, is rejected, as with the function `quantity` of a declared column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<const MILLI: bool>(Result<i128, Box<str>>);

impl<const MILLI: bool> Counted<MILLI> {
    const UNIT: Unit = if MILLI { Unit::Milli } else { Unit::Whole };
}

impl<const MILLI: bool> ColumnValue for Counted<MILLI> {
    const SHAPE: Shape = Shape::quantity(Self::UNIT);
    const OPTIONAL: bool = true;

    fn write(&self, out: &mut Values) {
        out.push(match &self.0 {
            Ok(number) => stored(*number),
            // The default of a type without a special value for what is absent.
            Err(text) if text.is_empty() => Value::Null,
            // The row's check refuses a text in a column of numbers, and names the column.
            Err(text) => Value::text(&**text),
        });
    }
}

impl<const MILLI: bool> Scalar for Counted<MILLI> {
    type Class = class::Integers;
}

/// For `#[index(unit = "...")]`.
pub fn in_unit<const MILLI: bool, Q: QuantityText + ?Sized>(quantity: &Q) -> Counted<MILLI> {
    let text = quantity.quantity();
    Counted(parse(text).map(|number| counted(number, Counted::<MILLI>::UNIT)).ok_or_else(|| text.into()))
}

/// How many of the unit a number of [`parse`] is, rounded away from zero.
pub fn counted(number: i128, unit: Unit) -> i128 {
    let by = PARTS / unit.of_one();
    let quotient = number / by;
    if number % by == 0 { quotient } else { quotient + number.signum() }
}

#[cfg(test)]
mod tests {
    use super::{counted, parse, thousandths, units};
    use crate::schema::Unit;

    #[test]
    fn a_quantity_is_a_text_or_a_number() {
        let read =
            |text: &str| crate::json::from_str::<Option<super::Quantity>>(text).map(|found| found.map(|its| its.0));
        for (text, quantity) in
            [("\"500m\"", Some("500m")), ("4", Some("4")), ("-1", Some("-1")), ("0.5", Some("0.5")), ("null", None)]
        {
            assert_eq!(read(text).unwrap().as_deref(), quantity, "{text}");
        }
        assert!(read("true").is_err() && read("[]").is_err());
    }

    #[test]
    fn whole_numbers_are_rounded_up() {
        for (text, whole) in [("500m", 1), ("1", 1), ("1001m", 2), ("-500m", -1), ("0", 0)] {
            assert_eq!(parse(text).map(|number| counted(number, Unit::Whole)), Some(whole), "{text}");
        }
    }

    #[test]
    fn columns_have_thousandths_or_units() {
        let all = ["0.5", "250m", "1.0001", "-1n", "8Ei", "no"].map(|text| thousandths(text).map(|found| found.0));
        let of_8_ei = 9_223_372_036_854_775_808_000;
        assert_eq!(all, [Some(500), Some(250), Some(1001), Some(-1), Some(of_8_ei), None]);
        let all = ["128Mi", "500m", "-500m", "8Ei", "-1e20", ""].map(|text| units(text).map(|found| found.0));
        assert_eq!(all, [Some(134_217_728), Some(1), Some(-1), Some(i64::MAX), Some(i64::MIN), None]);
    }
}
