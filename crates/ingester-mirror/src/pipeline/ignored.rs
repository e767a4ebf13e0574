//! Reports annotations that request to take an object out of the cluster but have no effect because its kind is not evictable.

use super::{ObjectRef, Pipeline};
use ingester_core::object::Meta;

impl Pipeline {
    /// Reports the annotations once for an object, and again if they come back after somebody removed them.
    pub(super) fn report_ignored(&self, meta: &Meta) {
        let ignored = self.unit.rules().ignored(meta);
        let is_new = self.known().ignores(&meta.uid, ignored.is_some());
        let Some(annotation) = ignored.filter(|_| is_new) else { return };
        let kind = &self.unit.kind;
        self.unit.metrics.annotation_ignored();
        tracing::warn!(namespace = %meta.namespace, name = %meta.name, %annotation,
            "Annotation ignored: the kind is not evictable, so the object stays in the cluster");
        let api_version = kind.api_version();
        let version = meta.resource_version.to_string();
        let object = ObjectRef::from_meta(meta);
        self.unit.publisher.annotation_ignored(kind, object.subject(&api_version, &version), annotation);
    }
}
