//! The export of spans over OTLP, in a program with the feature `otlp`.
//!
//! May use: nothing.

#[cfg(feature = "otlp")]
mod otlp;

#[cfg(feature = "otlp")]
pub(crate) use otlp::Export;

/// The export of a program without the feature: there is none.
#[cfg(not(feature = "otlp"))]
pub(crate) enum Export {}

#[cfg(not(feature = "otlp"))]
impl Export {
    /// Returns `None`.
    ///
    /// # Errors
    /// Never.
    pub(crate) fn of_environment() -> anyhow::Result<Option<Self>> {
        Ok(None)
    }

    /// Never called, as there is no value.
    pub(crate) fn layer(&self) -> Box<dyn tracing_subscriber::Layer<tracing_subscriber::Registry> + Send + Sync> {
        match *self {}
    }

    /// Does nothing.
    pub(crate) fn end(_: Option<Self>) {}
}
