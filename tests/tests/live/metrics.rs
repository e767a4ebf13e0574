//! Reads Prometheus' text format, as far as the tests need.

use anyhow::{Context as _, Result};

/// One sample: a series and its value.
#[derive(Clone, Debug)]
struct Sample {
    /// Name and labels: `workqueue_depth{name="ingester_Model"}`.
    series: String,
    value: f64,
}

/// All samples of one scrape.
#[derive(Clone, Debug)]
pub(crate) struct Metrics(Vec<Sample>);

impl Metrics {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let samples = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
            let (series, value) = line.rsplit_once(' ').with_context(|| format!("no metric: {line}"))?;
            Ok(Sample { series: series.to_owned(), value: value.parse().with_context(|| line.to_owned())? })
        });
        samples.collect::<Result<_>>().map(Metrics)
    }

    fn find_samples<'m>(&'m self, name: &'m str, labels: &'m [&'m str]) -> impl Iterator<Item = &'m Sample> {
        self.0.iter().filter(move |sample| {
            let (family, rest) = sample.series.split_at(sample.series.find('{').unwrap_or(sample.series.len()));
            family == name && labels.iter().all(|label| rest.contains(label))
        })
    }

    /// Whether a metric of this name has a series with these labels: `controller="ingester_Model"`.
    pub(crate) fn has(&self, name: &str, labels: &[&str]) -> bool {
        self.find_samples(name, labels).next().is_some()
    }

    /// The sum of all series of this name with these labels; 0 if there are none.
    pub(crate) fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        self.find_samples(name, labels).map(|sample| sample.value).sum()
    }
}

#[test]
fn the_series_of_a_metric_are_found_by_name_and_label() -> Result<()> {
    let metrics = Metrics::parse("# HELP a b\na 1\na_total{k=\"x\",r=\"y\"} 2\na_total{k=\"z\",r=\"y\"} 3.5\n\n")?;
    assert!(metrics.has("a", &[]) && metrics.has("a_total", &["k=\"x\""]));
    assert!(!metrics.has("b", &[]) && !metrics.has("a_total", &["k=\"y\""]));
    let sums = [metrics.sum("a", &[]), metrics.sum("a_total", &["r=\"y\""]), metrics.sum("none", &[])];
    assert_eq!(sums, [1.0, 5.5, 0.0]);
    Ok(())
}
