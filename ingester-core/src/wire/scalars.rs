//! The columns of integers, times and durations.

use super::{Duration, Int64, Time, Timestamp};
use crate::schema::{Shape, SqlType};
use crate::value::{ColumnValue, Literal, Scalar, Value, Values, class};

impl ColumnValue for Int64 {
    const SHAPE: Shape = Shape::scalar(SqlType::BigInt);

    fn write(&self, out: &mut Values) {
        out.push(Value::Int(self.0));
    }
}

impl Scalar for Int64 {
    type Class = class::Integers;
}

impl Literal<class::Integers> for Int64 {}
impl Literal<class::Anything> for Int64 {}

macro_rules! moments {
    ($($time:ty)*) => { $(
        impl ColumnValue for $time {
            const SHAPE: Shape = Shape::scalar(SqlType::DateTime);

            fn write(&self, out: &mut Values) {
                out.push(Value::Time(self.micros()));
            }
        }

        impl Scalar for $time {
            type Class = class::Moments;
        }

        impl Literal<class::Moments> for $time {}
        impl Literal<class::Anything> for $time {}
    )* };
}

moments! { Timestamp Time }

impl ColumnValue for Duration {
    const SHAPE: Shape = Shape::scalar(SqlType::BigInt);

    /// Nanoseconds.
    fn write(&self, out: &mut Values) {
        out.push(Value::Int(self.0));
    }
}

impl Scalar for Duration {
    type Class = class::Integers;
}

impl Literal<class::Integers> for Duration {}
impl Literal<class::Anything> for Duration {}
