//! Collects the objects of a large import in a temporary file, and returns them in the order of their uids.
//!
//! [`ingester_store::spool`] says why. An import is large once it has read more bytes than the database has memory for tables, or will read
//! more. An object takes about 70 bytes of memory besides.

use super::{Origin, SpoolPlace};
use ingester_store::spool::{SpoolFile, SpoolPosition};

/// The objects in the file.
pub(super) struct SpooledDocuments {
    at: SpoolPlace,
    /// The number of bytes that are read before objects are collected.
    after: u64,
    file: Option<SpoolFile>,
    documents: Vec<SpooledDocument>,
}

/// An object in the file.
struct SpooledDocument {
    /// The index of its kind.
    kind: usize,
    uid: [u8; UID],
    origin: Origin,
    position: SpoolPosition,
}

/// The length of a uid that Kubernetes gives. Objects with other uids are not collected.
const UID: usize = 36;

impl SpooledDocuments {
    /// For an import that reads about `expected` bytes into a database with `pool` bytes of memory for tables. `None`: not known.
    pub(super) fn new(at: SpoolPlace, expected: Option<u64>, pool: Option<u64>) -> Option<Self> {
        let pool = pool.filter(|_| at.limit > 0)?;
        let after = match expected {
            Some(expected) if expected <= pool => return None,
            Some(_) => 0,
            None => pool,
        };
        Some(SpooledDocuments { at, after, file: None, documents: Vec::new() })
    }

    /// Returns true if objects are collected after so many bytes were read.
    pub(super) fn collects(&self, read: u64) -> bool {
        read >= self.after
    }

    /// Adds the text of an object. Returns false, and adds nothing, if it must be written at once.
    pub(super) fn add(&mut self, kind: usize, uid: &str, origin: &Origin, text: &str) -> bool {
        let Ok(uid) = uid.as_bytes().try_into() else { return false };
        let file = match self.file.take() {
            Some(file) => file,
            None => match SpoolFile::create(&self.at.folder) {
                Ok(file) => file,
                Err(error) => return self.give_up(&error),
            },
        };
        let file = self.file.insert(file);
        let Some(position) = file.add(text) else { return false };
        self.documents.push(SpooledDocument { kind, uid, origin: origin.clone(), position });
        if file.has_much()
            && let Err(error) = file.write_out()
        {
            // The objects that were added are delivered: a file that cannot be written can still be read.
            self.give_up(&error);
        }
        true
    }

    /// Collects nothing more.
    fn give_up(&mut self, error: &std::io::Error) -> bool {
        self.after = u64::MAX;
        self.at.warn(error);
        false
    }

    /// Returns true if the objects must be taken out before more are added.
    pub(super) fn is_full(&self) -> bool {
        self.after == u64::MAX || self.file.as_ref().is_some_and(|file| file.bytes() >= self.at.limit)
    }

    /// Takes out the objects by kind and uid. Objects with one uid stay in the order in which they were read.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Origin, std::io::Result<String>)> + use<> {
        let file = self.file.take();
        let mut documents = std::mem::take(&mut self.documents);
        documents.sort_by_key(|document| (document.kind, document.uid));
        let read = move |document: SpooledDocument| {
            let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
            let text = file.as_ref().ok_or_else(missing).and_then(|file| file.read(document.position));
            (document.origin, text)
        };
        documents.into_iter().map(read)
    }
}
