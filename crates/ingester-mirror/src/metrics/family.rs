//! Declares metrics: one line has name, labels, help and buckets; registration and series are generated from it.

use prometheus::core::Collector;
use prometheus::{HistogramOpts, Opts, Registry, Result};

/// All series of one metric.
pub(super) trait Family: Sized {
    /// One of them.
    type Series;

    /// Creates the metric and registers it. Histograms have `buckets`; for other metrics there are none.
    ///
    /// # Errors
    /// If another one has its name, or a name is not valid. [`Metrics::new`](super::Metrics::new) registers all of them.
    fn register(on: &Registry, name: &str, help: &str, labels: &[&str], buckets: &[&[f64]]) -> Result<Self>;

    /// The series with these values of the labels. It exists from then on.
    fn create_series(&self, values: &[&str]) -> Self::Series;
}

/// Counters of one name.
pub(super) type Counters = prometheus::IntCounterVec;

/// Gauges of one name.
pub(super) type Gauges = prometheus::IntGaugeVec;

/// Gauges of one name, in seconds with fractions.
pub(super) type Seconds = prometheus::GaugeVec;

/// Counters of one name, in seconds with fractions.
pub(super) type SecondsTotals = prometheus::CounterVec;

/// Histograms of one name.
pub(super) type Histograms = prometheus::HistogramVec;

macro_rules! family {
    ($family:ty, $series:ty, $options:expr) => {
        impl Family for $family {
            type Series = $series;

            fn register(on: &Registry, name: &str, help: &str, labels: &[&str], buckets: &[&[f64]]) -> Result<Self> {
                let options: fn(&str, &str, &[&[f64]]) -> _ = $options;
                registered(on, <$family>::new(options(name, help, buckets), labels)?)
            }

            fn create_series(&self, values: &[&str]) -> $series {
                self.with_label_values(values)
            }
        }
    };
}

family!(Counters, prometheus::IntCounter, |name, help, _| Opts::new(name, help));
family!(Gauges, prometheus::IntGauge, |name, help, _| Opts::new(name, help));
family!(Seconds, prometheus::Gauge, |name, help, _| Opts::new(name, help));
family!(SecondsTotals, prometheus::Counter, |name, help, _| Opts::new(name, help));
family!(Histograms, prometheus::Histogram, |name, help, buckets| {
    HistogramOpts::new(name, help).buckets(buckets.concat())
});

fn registered<C: Collector + Clone + 'static>(on: &Registry, family: C) -> Result<C> {
    on.register(Box::new(family.clone()))?;
    Ok(family)
}

/// The subject that has one set of series of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) enum SeriesSubject {
    /// The process.
    Process,
    /// Each kind.
    Kind,
    /// Each kind's queue, as client-go names it.
    Queue,
    /// Each kind's controller, as controller-runtime names it.
    Controller,
}

impl SeriesSubject {
    pub(super) fn labels(self) -> &'static [&'static str] {
        match self {
            SeriesSubject::Process => &[],
            SeriesSubject::Kind => &["kind"],
            SeriesSubject::Queue => &["name"],
            SeriesSubject::Controller => &["controller"],
        }
    }

    /// The labels' values for a kind.
    pub(super) fn values(self, kind: &str) -> Vec<String> {
        match self {
            SeriesSubject::Process => Vec::new(),
            SeriesSubject::Kind => vec![kind.to_owned()],
            SeriesSubject::Queue | SeriesSubject::Controller => vec![format!("ingester_{kind}")],
        }
    }
}

/// Declares the metrics of one subject. `Series of Families` names two structs with the same fields: one for the families, which are
/// registered once, and one for their series of one kind. A metric with one more label has an array of series, one for each value:
///
/// ```text
/// written: Counters by Kind, "ingester_rows_written_total", "Rows inserted or updated";
/// skipped: Counters ["reason" in SKIPS] by Kind, "ingester_rows_skipped_total", "Rows not written";
/// lag: Histograms by Kind, "ingester_sync_lag_seconds", "How long an object takes", LAG_SECONDS;
/// ```
macro_rules! metrics {
    (
        $(#[$doc:meta])*
        $series:ident of $families:ident:
        $($field:ident: $family:ident $([$label:literal in $values:expr])? by $by:ident, $name:literal, $help:literal
            $(, $buckets:ident)?;)*
    ) => {
        $(#[$doc])*
        pub(super) struct $series {
            $($field: metrics!(@type $family $(, $values)?),)*
        }

        /// The same, for all kinds.
        pub(super) struct $families {
            $($field: $family,)*
        }

        impl $families {
            pub(super) fn register(on: &prometheus::Registry) -> prometheus::Result<Self> {
                use $crate::metrics::family::{Family, SeriesSubject};
                Ok($families {
                    $($field: <$family as Family>::register(
                        on,
                        $name,
                        $help,
                        &[SeriesSubject::$by.labels(), &[$($label)?]].concat(),
                        &[$($buckets)?],
                    )?,)*
                })
            }

            /// The series of a kind. They exist from then on.
            pub(super) fn for_kind(&self, kind: &str) -> $series {
                use $crate::metrics::family::SeriesSubject;
                $series { $($field: metrics!(@series self.$field, SeriesSubject::$by.values(kind), $family $(, $values)?),)* }
            }
        }
    };
    (@type $family:ident) => { <$family as $crate::metrics::family::Family>::Series };
    (@type $family:ident, $values:expr) => { [<$family as $crate::metrics::family::Family>::Series; $values.len()] };
    (@series $family:expr, $of:expr, $type:ident) => {{
        let of: Vec<String> = $of;
        let of: Vec<&str> = of.iter().map(String::as_str).collect();
        <$type as $crate::metrics::family::Family>::create_series(&$family, &of)
    }};
    (@series $family:expr, $of:expr, $type:ident, $values:expr) => {{
        let of: Vec<String> = $of;
        let of: Vec<&str> = of.iter().map(String::as_str).collect();
        $values.map(|value| <$type as $crate::metrics::family::Family>::create_series(&$family, &[&of[..], &[value]].concat()))
    }};
}

pub(super) use metrics;
