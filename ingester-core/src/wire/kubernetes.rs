//! The columns of k8s-openapi's own types, for projections that use them.

use super::quantity;
use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Literal, Micros, Scalar, Value, Values, class};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

macro_rules! moments {
    ($($time:ty)*) => { $(
        impl ColumnValue for $time {
            const SHAPE: Shape = Shape::scalar(SqlType::DateTime);

            fn write(&self, out: &mut Values) {
                out.push(Value::Time(Micros(self.0.as_microsecond())));
            }
        }

        impl Scalar for $time {
            type Class = class::Moments;
        }

        impl Literal<class::Moments> for $time {}
        impl Literal<class::Anything> for $time {}
    )* };
}

moments! { Time MicroTime }

/// BIGINT, in [thousandths](quantity::thousandths). NULL for a text that is not a quantity.
impl ColumnValue for Quantity {
    const SHAPE: Shape = quantity::Thousandths::SHAPE;
    const OPTIONAL: bool = true;

    fn write(&self, out: &mut Values) {
        quantity::thousandths(self).write(out);
    }
}

impl Scalar for Quantity {
    type Class = class::Integers;
}

/// VARCHAR(255): the text, or the number as text.
impl ColumnValue for IntOrString {
    const SHAPE: Shape = Shape::scalar(SqlType::VarChar(255));

    fn write(&self, out: &mut Values) {
        out.push(match self {
            IntOrString::Int(number) => Value::text(number.to_string()),
            IntOrString::String(text) => Value::text(text.as_str()),
        });
    }
}

impl Scalar for IntOrString {
    type Class = class::Texts;
}

impl Literal<class::Texts> for IntOrString {}
impl Literal<class::Anything> for IntOrString {}
