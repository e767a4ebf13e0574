//! The `FileDescriptorSet` of an API, read on first use.

use super::descriptor::{DescriptorError, Descriptors};
use std::sync::OnceLock;

/// The descriptors of one API, as `protoc --include_imports --descriptor_set_out` writes them. They are read once, on
/// first use.
///
/// ```ignore
/// pub static DESCRIPTORS: DescriptorSet = DescriptorSet::new(include_bytes!("../proto/descriptors.bin"));
/// ```
pub struct DescriptorSet {
    bytes: &'static [u8],
    read: OnceLock<Result<Descriptors, DescriptorError>>,
}

/// The feature that adds the reader of descriptors.
#[cfg(not(feature = "protobuf"))]
const FEATURE: &str = "the feature `protobuf` of ingester-core";

impl DescriptorSet {
    /// The set in these bytes. A constant of it does not compile without the feature `protobuf`.
    ///
    /// # Panics
    /// Without the feature `protobuf`.
    pub const fn new(bytes: &'static [u8]) -> Self {
        if !cfg!(feature = "protobuf") {
            panic!("a kind with a protobuf message needs the feature `protobuf` of ingester-core");
        }
        DescriptorSet { bytes, read: OnceLock::new() }
    }

    /// For the derive only, which does not know whether the crate has a set.
    #[doc(hidden)]
    pub const fn __descriptors(&'static self) -> &'static Self {
        self
    }

    /// The descriptors.
    ///
    /// # Errors
    /// When the bytes are not a descriptor set, or lack something that they refer to.
    pub fn get(&self) -> Result<&Descriptors, &DescriptorError> {
        self.read.get_or_init(|| Descriptors::read(self.bytes)).as_ref()
    }
}

impl std::fmt::Debug for DescriptorSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DescriptorSet({} bytes)", self.bytes.len())
    }
}

impl Descriptors {
    /// Reads a serialized `FileDescriptorSet`.
    ///
    /// # Errors
    /// When it is not one, or lacks a file that another one imports; without the feature `protobuf`, always.
    pub fn read(bytes: &[u8]) -> Result<Self, DescriptorError> {
        #[cfg(feature = "protobuf")]
        return super::reflect::read(bytes);
        #[cfg(not(feature = "protobuf"))]
        Err(DescriptorError { reason: format!("{} bytes, which only {FEATURE} reads", bytes.len()) })
    }
}
